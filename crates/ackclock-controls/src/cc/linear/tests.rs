use super::*;
use crate::cc::test_support::env;
use crate::near::near;
use crate::registry::Spec;
use crate::units::Time;

fn make<N: Named>(json: serde_json::Value, era: Era) -> Linear<N> {
    let serde_json::Value::Object(table) = json else { panic!("a table") };
    Linear::new(serde_json::from_value(table.into()).unwrap(), &env(era)).unwrap()
}

fn ack(control: &mut impl CongestionControl, window: &mut Window, acks: u32, each: u32) -> f64 {
    for _ in 0..acks {
        control.on_ack(window, &Ack::at(Time::ZERO, each));
    }
    window.cwnd
}

fn event(control: &mut impl CongestionControl, window: &mut Window, signal: Signal) -> (f64, f64) {
    let flight = window.cwnd as u32;
    control.on_congestion(window, &Congestion::at(Time::ZERO, signal, flight));
    (window.cwnd, window.ssthresh)
}

const LOSS: Signal = Signal::FastRetransmit { lost: 1 };
const AVOIDING: Window = Window { cwnd: 10.0, ssthresh: 2.0 };

#[test]
fn a_round_of_ten_acknowledgements_takes_aimd_from_10_to_11_exactly() {
    let mut control = make::<AimdParams>(serde_json::json!({}), Era::Rfc);
    let mut window = AVOIDING;
    near::<9>(ack(&mut control, &mut window, 5, 1), 10.5);
    assert_eq!(ack(&mut control, &mut window, 5, 1), 11.0);
    // The next round has eleven segments; delayed acknowledgements make no difference: five of
    // two segments and one of one.
    ack(&mut control, &mut window, 5, 2);
    assert_eq!(ack(&mut control, &mut window, 1, 1), 12.0);
    // One acknowledgement over two rounds of 12 and 13 segments.
    assert_eq!(ack(&mut control, &mut window, 1, 25), 14.0);
}

#[test]
fn ns2_divides_by_the_present_window_and_counts_acknowledgements() {
    // 10 + 1/10 = 10.1, + 1/10.1 = 10.19901, ... after ten 10.95865 (each divides by the last
    // sum); five delayed acknowledgements of two segments give 10.49038, half as much.
    let mut control = make::<AimdParams>(serde_json::json!({}), Era::Y2002);
    let mut window = AVOIDING;
    let ten = ack(&mut control, &mut window, 10, 1);
    assert!((ten - TEN_ACKS).abs() < 1e-5, "{ten}");
    let mut window = AVOIDING;
    let five = ack(&mut control, &mut window, 5, 2);
    assert!((five - FIVE_ACKS).abs() < 1e-5, "{five}");
}
const TEN_ACKS: f64 = 10.958_65;
const FIVE_ACKS: f64 = 10.490_38;

#[test]
fn multiplicative_increase_is_exact_per_round_in_both_counts() {
    // MIMD(1.125): 16 acknowledgements take 16 to 18; each adds 0.125.
    for era in [Era::Rfc, Era::Y2002] {
        let mut control = make::<MimdParams>(serde_json::json!({}), era);
        let mut window = Window { cwnd: 16.0, ssthresh: 2.0 };
        near::<9>(ack(&mut control, &mut window, 16, 1), 18.0);
    }
    // MAIMD: 1 + 1.1 x 20 = 23.
    let mut control = make::<MaimdParams>(serde_json::json!({}), Era::Rfc);
    let mut window = Window { cwnd: 20.0, ssthresh: 2.0 };
    near::<9>(ack(&mut control, &mut window, 20, 1), 23.0);
}

#[test]
fn cuts_are_those_of_the_paper() {
    let start = Window { cwnd: 20.0, ssthresh: 2.0 };
    let cut = |mut control: Box<dyn CongestionControl>| {
        let mut window = start;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 20));
        (window.cwnd, window.ssthresh)
    };
    let none = || serde_json::json!({});
    assert_eq!(cut(Box::new(make::<AimdParams>(none(), Era::Rfc))), (10.0, 10.0));
    assert_eq!(cut(Box::new(make::<AiadParams>(none(), Era::Rfc))), (17.0, 17.0));
    assert_eq!(cut(Box::new(make::<MimdParams>(none(), Era::Rfc))), (16.0, 16.0));
    assert_eq!(cut(Box::new(make::<MiadParams>(none(), Era::Rfc))), (17.0, 17.0));
    // AIMAD: 0.9 x 20 - 1; MAIMD: 0.8 x 20.
    assert_eq!(cut(Box::new(make::<AimadParams>(none(), Era::Rfc))), (17.0, 17.0));
    assert_eq!(cut(Box::new(make::<MaimdParams>(none(), Era::Rfc))), (16.0, 16.0));
}

#[test]
fn a_fast_retransmit_leaves_two_segments_and_an_ecn_echo_one() {
    // RFC 5681, equation 4 and section 3.2: cwnd is set to ssthresh, which is at least two segments.
    // RFC 3168, section 6.1.2, knows a window of one that is halved no further. ns-2 has no floor of two.
    for (era, signal, left) in [
        (Era::Rfc, LOSS, 2.0),
        (Era::Rfc, Signal::EcnEcho, 1.0),
        (Era::Ns2, LOSS, 1.0),
        (Era::Y1999, Signal::EcnEcho, 1.0),
    ] {
        let mut control = make::<AiadParams>(serde_json::json!({"first_cut": "rule"}), era);
        let mut window = Window { cwnd: 3.0, ssthresh: 2.0 };
        assert_eq!(event(&mut control, &mut window, signal), (left, 2.0), "{era:?}, {signal:?}");
    }
    // A window that is smaller stays.
    let mut control = make::<AimdParams>(serde_json::json!({}), Era::Rfc);
    let mut window = Window { cwnd: 1.0, ssthresh: 2.0 };
    assert_eq!(event(&mut control, &mut window, LOSS), (1.0, 2.0));
}

#[test]
fn a_timeout_leaves_one_segment_and_a_repeated_one_holds_ssthresh() {
    let mut control = make::<AimdParams>(serde_json::json!({"b": 0.8}), Era::Rfc);
    let mut window = Window { cwnd: 20.0, ssthresh: 30.0 };
    let rto = |consecutive| Signal::Rto { consecutive };
    assert_eq!(event(&mut control, &mut window, rto(1)), (1.0, 16.0));
    assert_eq!(event(&mut control, &mut window, rto(2)), (1.0, 16.0));
    // ns-2 cuts again, from the window of 1 to its floor.
    let mut control = make::<AimdParams>(serde_json::json!({"b": 0.8}), Era::Ns2);
    let mut window = Window { cwnd: 20.0, ssthresh: 30.0 };
    assert_eq!(event(&mut control, &mut window, rto(1)), (1.0, 10.0));
    assert_eq!(event(&mut control, &mut window, rto(2)), (1.0, 2.0));
}

#[test]
fn ns2_halves_at_the_first_cut_and_in_slow_start_whatever_the_rule() {
    let mut control = make::<AimdParams>(serde_json::json!({"b": 0.8}), Era::Ns2);
    let mut window = Window { cwnd: 40.0, ssthresh: 20.0 };
    assert_eq!(event(&mut control, &mut window, LOSS), (20.0, 20.0)); // first
    window.cwnd = 30.0;
    assert_eq!(event(&mut control, &mut window, LOSS), (24.0, 24.0)); // by the rule
    window.cwnd = 20.0;
    assert_eq!(event(&mut control, &mut window, LOSS), (10.0, 10.0)); // in slow start
    window.cwnd = 30.0;
    event(&mut control, &mut window, Signal::Rto { consecutive: 1 });
    window.cwnd = 30.0;
    // The first loss after a timeout is cut by the rule.
    assert_eq!(event(&mut control, &mut window, LOSS), (24.0, 24.0));
}

#[test]
fn a_window_moved_by_someone_else_starts_a_new_round() {
    let mut control = make::<AimdParams>(serde_json::json!({}), Era::Rfc);
    let mut window = AVOIDING;
    ack(&mut control, &mut window, 5, 1);
    window.cwnd = 4.0; // restart after idle
    assert_eq!(ack(&mut control, &mut window, 4, 1), 5.0);
}

#[test]
fn an_ecn_echo_and_an_unused_window_do_not_grow() {
    let mut control = make::<AimdParams>(serde_json::json!({}), Era::Rfc);
    let mut window = AVOIDING;
    control.on_ack(&mut window, &Ack { ecn_echo: true, ..Ack::at(Time::ZERO, 1) });
    control.on_ack(&mut window, &Ack { app_limited: true, ..Ack::at(Time::ZERO, 1) });
    assert_eq!(window, AVOIDING);
}

#[test]
fn a_bad_parameter_is_named_in_one_sentence() {
    let error = |kind: &str, field: &str, value: f64| {
        let table = serde_json::json!({"kind": kind, field: value});
        let serde_json::Value::Object(table) = table else { unreachable!() };
        crate::cc::build(&Spec::Table(table), &env(Era::Rfc), "cc").err().unwrap()[0].to_string()
    };
    for (kind, field, value, expected) in [
        ("aimd", "a", 0.0, "a: 0.0 is out of range; expected more than 0"),
        ("aimd", "b", 1.0, "more than 0 and less than 1"),
        ("aiad", "d", -3.0, "d: -3.0 is out of range"),
        ("mimd", "a", 1.0, "more than 1"),
        ("aimad", "a_d", 1.0, "at most 0"),
        ("maimd", "b_i", 0.9, "more than 1"),
        ("linear", "a_i", 0.0, "never grows"),
        ("linear", "b_d", 1.0, "never shrinks"),
    ] {
        let message = error(kind, field, value);
        assert!(message.starts_with("cc.") && message.contains(expected), "{message}");
    }
}
