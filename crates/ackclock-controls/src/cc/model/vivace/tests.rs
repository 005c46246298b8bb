//! Utilities, gradients and steps computed by hand.

use super::*;
use crate::cc::test_support::env;
use crate::era::Era;

fn vivace() -> Vivace {
    Vivace::new(VivaceParams::default(), &env(Era::Rfc)).unwrap()
}

fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9 * expected.abs().max(1.0), "{got} is not {expected}");
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// 100 Mbit/s: 100^0.9 = 10^1.8 = 63.0957...; a slope of 0.02 costs 900 x 100 x 0.02 = 1800, 1 % of loss 11.35.
#[test]
fn the_utility_is_that_of_the_paper() {
    let control = vivace();
    let plain = 10f64.powf(1.8);
    near(control.utility(100.0, 0.0, 0.0), plain);
    near(control.utility(100.0, 0.02, 0.0), plain - 1800.0);
    near(control.utility(100.0, 0.0, 0.01), plain - 11.35);
    // Below the filter, and falling delay.
    near(control.utility(100.0, 0.0099, 0.0), plain);
    near(control.utility(100.0, -0.5, 0.0), plain);
}

/// Section 3: with c = 11.35 random loss of up to 5 % is tolerated: t x^(t - 1) > c L at 1 Mbit/s means L < 0.0793; at
/// 10 Mbit/s L < 0.9 x 10^-0.1 / 11.35 = 0.06298.
#[test]
fn the_gradient_is_positive_below_the_loss_that_the_weight_tolerates() {
    let control = vivace();
    for (rate, most) in [(1.0, 0.0793), (10.0, 0.06298)] {
        for (loss, rises) in [(most * 0.99, true), (most * 1.01, false)] {
            let (low, high) = (rate * 0.9999, rate * 1.0001);
            let up = control.utility(high, 0.0, loss) > control.utility(low, 0.0, loss);
            assert_eq!(up, rises, "{rate} {loss}");
        }
    }
}

/// 100, 101, 102, 103 ms at 0, 10, 20, 30 ms: a slope of 0.1.
#[test]
fn the_slope_is_that_of_the_regression_line() {
    let mut interval = Interval::new(1.0, Outcome::None, at(50), at(150), 0);
    for i in 0..4 {
        assert_eq!(interval.has_slope(), i >= 2);
        interval.add(at(50 + 10 * i), Span::from_millis(100 + i));
    }
    near(interval.slope(), 0.1);
    interval.lost = 3;
    near(interval.loss(12), 0.25);
}

/// Gradients of 1 at 100 Mbit/s, theta 1: steps of 1, 1, 2, 3, 5, 7 Mbit/s, which the bound of 5 % leaves up to
/// 5. The seventh is cut to 5 % of the rate, and the next may take 15 %. A gradient of the other sign begins anew.
#[test]
fn confidence_grows_in_one_direction_and_the_bound_with_it() {
    let mut control = vivace();
    control.rate = 100.0;
    let steps: Vec<f64> = (0..5).map(|_| control.step(1.0)).collect();
    assert_eq!(steps, [1.0, 1.0, 2.0, 3.0, 5.0]);
    near(control.step(1.0), 5.0); // 7, bounded by 0.05 x 100
    assert_eq!(control.bounded, 1);
    near(control.step(1.0), 9.0); // 9 <= 0.15 x 100
    near(control.step(0.1), 1.1); // 11 x 0.1: within the first bound again
    assert_eq!(control.bounded, 0);
    near(control.step(-2.0), -2.0);
}

/// A path of 10 Mbit/s with 50 ms: packets of 1040 B at the paced rate, each acknowledged when the link has sent it.
/// The rate settles between 90 % and 110 % of the link's: a longer queue has a slope that costs more than any rate
/// gives.
#[test]
fn on_a_path_of_ten_megabits_it_settles_near_the_link_s_rate() {
    let mut control = vivace();
    let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
    control.on_start(&window, at(0), Span::from_millis(50));
    let service = Span::from_seconds(1040.0 * 8.0 / 10e6);
    let (mut now, mut free) = (at(0), at(0));
    let mut flying: std::collections::VecDeque<(Time, Time)> = std::collections::VecDeque::new();
    let mut rates = Vec::new();
    let (mut next_send, end) = (at(0), at(60_000));
    while now < end {
        let arrival = flying.front().map_or(Time::MAX, |&(time, _)| time);
        let may_send = (flying.len() as f64) < window.cwnd;
        if may_send && next_send <= arrival {
            now = now.max(next_send);
            free = free.max(now) + service;
            flying.push_back((free + Span::from_millis(50), now));
            control.on_sent(now, flying.len() as u32);
            next_send =
                now + Span::from_seconds(1040.0 * 8.0 / control.pacing_rate().unwrap().bps());
        } else {
            let Some((arrived, left)) = flying.pop_front() else { break };
            now = now.max(arrived);
            let rtt = arrived.since(left);
            let ack = Ack {
                rtt: Some(rtt),
                srtt: Span::from_millis(60),
                in_flight: flying.len() as u32,
                ..Ack::at(now, 1)
            };
            control.on_ack(&mut window, &ack);
            if now > at(30_000) {
                rates.push(control.rate);
            }
        }
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!((9.0..=11.0).contains(&mean), "{mean} Mbit/s");
}

/// Section 3: r (1 + epsilon) and r (1 - epsilon), one after the other, in an order that is drawn; epsilon is 0.05.
#[test]
fn both_sides_of_the_rate_are_tried() {
    for high in [false, true] {
        let mut control = vivace();
        control.rate = 10.0;
        control.phase = Phase::First { high };
        control.begin(10.0, Outcome::None, at(0));
        let end = control.intervals.back().unwrap().end;
        control.go_on(end);
        near(control.rate_now(), if high { 9.5 } else { 10.5 });
        assert!(matches!(control.phase, Phase::Second { high: second } if second != high));
    }
    let mut control = vivace();
    control.rate = 10.0;
    for _ in 0..20 {
        control.probe(at(0));
        let Phase::First { high } = control.phase else { panic!("the first of a pair") };
        near(control.rate_now(), if high { 10.5 } else { 9.5 });
    }
}

/// After a timeout the rate is the least one and doubles again.
#[test]
fn a_timeout_starts_anew() {
    let mut control = vivace();
    let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
    control.on_start(&window, at(0), Span::from_millis(100));
    control.probe(at(10));
    let signal = Signal::Rto { consecutive: 1 };
    control.on_congestion(&mut window, &Congestion::at(at(1000), signal, 10));
    assert_eq!((window.cwnd, control.phase()), (1.0, "starting"));
    // Four packets of 1040 B in 100 ms.
    near(control.rate, 0.3328);
}

/// A path from which nothing comes back: the rate doubles three times and no more, whatever is sent.
#[test]
fn without_outcomes_the_start_doubles_three_times_only() {
    let mut control = vivace();
    let window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
    control.on_start(&window, at(0), Span::from_millis(100));
    let first = control.rate;
    for ms in 0..5_000 {
        control.on_sent(at(ms), 10);
    }
    near(control.rate, 8.0 * first);
    // As long as outcomes come, four intervals on it is 16 times as fast.
    let mut control = vivace();
    control.on_start(&window, at(0), Span::from_millis(100));
    let mut window = window;
    for ms in 0..=400_u64 {
        control.on_sent(at(ms), 100);
        if ms >= 100 {
            let rtt = Some(Span::from_millis(100));
            control.on_ack(&mut window, &Ack { rtt, in_flight: 100, ..Ack::at(at(ms), 1) });
        }
    }
    near(control.rate, 16.0 * first);
    assert_eq!(control.phase(), "starting");
}

/// Ten packets come back, and the next ten, at twice the rate, are all lost: the utility fell, though there is no
/// sample of the round trip.
#[test]
fn an_interval_that_is_lost_as_a_whole_ends_the_start() {
    let mut control = vivace();
    let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
    control.on_start(&window, at(0), Span::from_millis(100));
    let first = control.rate;
    for i in 0..10 {
        control.on_sent(at(10 * i), i as u32);
    }
    for i in 0..10 {
        control.on_sent(at(100 + 10 * i), 10);
        let rtt = Some(Span::from_millis(100));
        control.on_ack(&mut window, &Ack { rtt, in_flight: 10, ..Ack::at(at(100 + 10 * i), 1) });
    }
    control.on_sent(at(200), 10);
    for packet in 0..10 {
        control.on_lost(&mut window, &Lost::at(at(300), packet));
    }
    control.on_ack(&mut window, &Ack { rtt: None, in_flight: 1, ..Ack::at(at(300), 1) });
    assert_eq!(control.phase(), "probing");
    near(control.rate, first);
}

/// Each decision may multiply the rate by a thousand: twelve of them are 10^36. The window stays one, from 1 to 2^31, and
/// the rate that of the largest; from there the way down is open.
#[test]
fn steps_without_a_bound_stay_in_the_range_of_windows() {
    let params =
        VivaceParams { step: 1e300, bound: 1e3, bound_step: 1e3, ..VivaceParams::default() };
    let mut control = Vivace::new(params, &env(Era::Rfc)).unwrap();
    let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
    control.on_start(&window, at(0), Span::from_millis(100));
    for _ in 0..12 {
        control.pair = [Some(0.0), Some(1e300)];
        control.decide(at(0));
        control.set_window(&mut window);
        assert!((1.0..=MAX_WINDOW).contains(&window.cwnd), "{window:?}");
        assert!(control.pacing_rate().is_some_and(|rate| rate.0 < u64::MAX));
    }
    // 2^31 segments of 1040 B in two round trips of 100 ms.
    near(control.rate, 2f64.powi(31) * 1040.0 * 8.0 / 0.2 / 1e6);
    control.pair = [Some(1e300), Some(0.0)];
    control.decide(at(0));
    near(control.rate, control.floor());
    // No number is no rate.
    control.pair = [Some(f64::NEG_INFINITY), Some(f64::NEG_INFINITY)];
    control.decide(at(0));
    control.set_window(&mut window);
    assert!((1.0..=MAX_WINDOW).contains(&window.cwnd), "{window:?}");
}
