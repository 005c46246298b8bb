//! FAST against steps computed by hand and against its equilibrium.

use serde_json::json;

use super::*;
use crate::cc::SentRecord;
use crate::cc::test_support::env;
use crate::near::near;
use crate::registry::refusal;

fn fast(change: impl Fn(&mut FastParams)) -> Fast {
    let mut params = FastParams { alpha: 50.0, ..FastParams::default() };
    change(&mut params);
    Fast::new(params, &env(Era::Rfc)).unwrap()
}

fn ms(t: f64) -> Span {
    Span::from_seconds(t / 1000.0)
}

/// An acknowledgement at `now_ms` of `acked` segments in `round`, with its sample in ms.
fn ack(now_ms: f64, round: u64, acked: u32, rtt: f64) -> Ack {
    let newest = SentRecord { in_flight: 80, ..Ack::at(Time::ZERO, 1).newest };
    Ack { rtt: Some(ms(rtt)), round, newest, ..Ack::at(Time::ZERO + ms(now_ms), acked) }
}

#[test]
fn a_step_of_equation_2_by_hand() {
    // D = 100 ms, samples of 125 ms, every sample counts in full: q = 25 ms.
    // w = 100: 0.5 (0.8 x 100 + 50) + 0.5 x 100 = 115.
    let mut control = fast(|p| (p.rtt_weight, p.max_growth) = (Some(1.0), None));
    let mut window = Window { cwnd: 1.0, ssthresh: f64::INFINITY };
    control.on_ack(&mut window, &ack(0.0, 1, 0, 100.0));
    window.cwnd = 2.0; // 3/w = 1.5: the sample counts in full
    control.on_ack(&mut window, &ack(1.0, 1, 0, 125.0));
    assert_eq!(control.phase(), "avoidance");
    window.cwnd = 100.0;
    control.update(&mut window, &ack(2.0, 2, 0, 125.0), 0.125, true);
    near::<7>(window.cwnd, 115.0);
    near::<7>(control.queued, 20.0);
    // From 400 queued 80 > 50: 0.5 (320 + 50) + 200 = 385, at once.
    window.cwnd = 400.0;
    control.update(&mut window, &ack(3.0, 3, 0, 125.0), 0.125, true);
    near::<7>(window.cwnd, 385.0);
    // From 10: 0.5 (8 + 50) + 5 = 34, but no more than 20.
    window.cwnd = 10.0;
    control.update(&mut window, &ack(4.0, 4, 0, 125.0), 0.125, true);
    near::<7>(window.cwnd, 20.0);
}

#[test]
fn the_ns2_form_starts_from_the_window_at_sending_and_moves_in_every_other_round() {
    let mut control = fast(|p| {
        p.form = FastForm::Ns2;
        p.base_rtt = Some(ms(100.0));
        p.rtt_weight = Some(1.0);
    });
    let mut window = Window { cwnd: 3.0, ssthresh: f64::INFINITY };
    control.on_ack(&mut window, &ack(0.0, 1, 0, 125.0));
    window.cwnd = 100.0;
    control.mean = Some(0.125);
    // Round 1: frozen. 80 were in flight: 0.5 (0.8 x 80 + 50) + 50 = 107.
    control.on_ack(&mut window, &ack(50.0, 1, 1, 125.0));
    near::<7>(window.cwnd, 100.0);
    // Round 2, 10 ms after time 0: 7 segments over 100 x 10/125 = 8 acknowledgements.
    control.on_ack(&mut window, &ack(60.0, 2, 1, 125.0));
    near::<7>(window.cwnd, 100.875);
    // Less than 10 ms later: no new update, the same increase goes on, and ends at 107.
    for _ in 0..20 {
        control.on_ack(&mut window, &ack(61.0, 2, 1, 125.0));
    }
    near::<7>(window.cwnd, 107.0);
    // Up to 4 segments it doubles at most: from 4 with 80 in flight 0.5 (64 + 50) + 2 = 59, so 8.
    window.cwnd = 4.0;
    control.update(&mut window, &ack(62.0, 4, 1, 125.0), 0.125, true);
    near::<7>(window.cwnd + control.pending, 8.0);
    window.cwnd = 5.0;
    control.update(&mut window, &ack(63.0, 4, 1, 125.0), 0.125, true);
    near::<7>(window.cwnd + control.pending, 59.5);
}

/// The module for ns-2 leaves the window alone where alpha <= W (R - D) / R < beta. D = 375 ms, R = 500 ms and
/// W = 80: 20 segments are queued, exactly.
#[test]
fn the_ns2_form_holds_from_alpha_up_to_but_not_at_beta() {
    let after = |form, alpha, beta| {
        let mut control = fast(|p| {
            (p.form, p.alpha, p.beta) = (form, alpha, beta);
            p.base_rtt = Some(ms(375.0));
        });
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        control.sample(Some(ms(500.0)), window.cwnd);
        control.update(&mut window, &ack(70.0, 4, 1, 500.0), 0.5, true);
        assert_eq!(
            control.queued.to_bits(),
            if form == FastForm::Ns2 { 20f64 } else { 25.0 }.to_bits()
        );
        window.cwnd
    };
    for (alpha, beta) in [(20.0, 30.0), (10.0, 21.0), (19.0, 20.5)] {
        near::<7>(after(FastForm::Ns2, alpha, Some(beta)), 100.0);
    }
    // 0.5 (0.75 x 80 + alpha) + 50.
    near::<7>(after(FastForm::Ns2, 10.0, Some(20.0)), 85.0);
    near::<7>(after(FastForm::Ns2, 5.0, Some(19.0)), 82.5);
    near::<7>(after(FastForm::Ns2, 20.0, None), 90.0);
    near::<7>(after(FastForm::Ns2, 21.0, Some(30.0)), 90.5);
    // The published form moves in any case: 0.5 (0.75 x 100 + 20) + 50.
    near::<7>(after(FastForm::Published, 20.0, Some(30.0)), 97.5);
}

#[test]
fn below_the_threshold_the_window_grows_by_what_is_acknowledged() {
    let mut control = fast(|_| ());
    let mut window = Window { cwnd: 4.0, ssthresh: f64::INFINITY };
    for rtt in [100.0, 100.1, 100.2, 100.7] {
        control.on_ack(&mut window, &ack(1.0, 1, 1, rtt));
    }
    assert_eq!((window.cwnd, control.phase()), (8.0, "slow-start"));
    for _ in 0..50 {
        control.on_ack(&mut window, &ack(2.0, 1, 1, 101.5));
    }
    assert_eq!(control.phase(), "avoidance");
}

/// One link of `capacity` segments per second; each round all flows see the queue that their windows
/// leave. Returns each flow's rate over capacity.
fn share_link(
    flows: &mut [(Fast, Window)],
    capacity: f64,
    delay: f64,
    rounds: u64,
    from: u64,
) -> Vec<f64> {
    let mut rtt = delay;
    for round in from..from + rounds {
        let sum: f64 = flows.iter().map(|(_, w)| w.cwnd).sum();
        rtt = delay.max(sum / capacity);
        for (control, window) in flows.iter_mut() {
            let segments = window.cwnd as u32;
            for _ in 0..segments {
                control.on_ack(window, &ack(round as f64 * 1000.0 * rtt, round, 1, 1000.0 * rtt));
            }
        }
    }
    flows.iter().map(|(_, w)| w.cwnd / rtt / capacity).collect()
}

#[test]
fn alone_it_queues_alpha_and_the_second_of_two_gets_the_golden_part() {
    let begin = || (fast(|_| ()), Window { cwnd: 2.0, ssthresh: f64::INFINITY });
    let mut flows = vec![begin()];
    let (capacity, delay) = (10_000.0, 0.050);
    let alone = share_link(&mut flows, capacity, delay, 400, 1);
    near::<7>(alone[0], 1.0);
    assert!((flows[0].1.cwnd - 550.0).abs() < 1e-3, "{}", flows[0].1.cwnd);
    flows.push(begin());
    let both = share_link(&mut flows, capacity, delay, 2000, 401);
    let golden = f64::midpoint(5f64.sqrt(), -1.0);
    // The second sees the queue with its own first two segments in it, so a little more than 50.
    assert!((both[1] - golden).abs() < 0.01, "{both:?}");
    assert!((both[0] + both[1] - 1.0).abs() < 1e-9);
}

#[test]
fn flows_with_equal_errors_share_equally() {
    let begin = |w: f64| {
        (fast(|p| p.base_rtt = Some(ms(53.0))), Window { cwnd: w, ssthresh: f64::INFINITY })
    };
    let mut flows = vec![begin(10.0), begin(300.0), begin(900.0)];
    let shares = share_link(&mut flows, 10_000.0, 0.050, 3000, 1);
    for share in shares {
        assert!((share - 1.0 / 3.0).abs() < 1e-4, "{share}");
    }
}

#[test]
fn losses_halve_and_timeouts_leave_one_segment_or_in_ns2_two() {
    for (form, after) in [(FastForm::Published, 1.0), (FastForm::Ns2, 2.0)] {
        let mut control = fast(|p| p.form = form);
        let mut window = Window { cwnd: 40.0, ssthresh: f64::INFINITY };
        let event = |signal| Congestion::at(Time::ZERO, signal, 40);
        control.on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }));
        assert_eq!((window.cwnd, window.ssthresh), (20.0, 20.0));
        control.on_congestion(&mut window, &event(Signal::Rto { consecutive: 1 }));
        assert_eq!(window.cwnd, after);
    }
}

#[test]
fn values_out_of_range_are_named() {
    for (params, expected) in [
        (json!({ "alpha": 0 }), "alpha: 0 is out of range; expected more than 0 (segments)"),
        (json!({ "gamma": 1.5 }), "gamma: 1.5 is out of range; expected more than 0 and at most 1"),
        (json!({ "gamma": 0 }), "gamma: 0 is out of range; expected more than 0 and at most 1"),
        (json!({ "beta": 10 }), "beta: 10 is out of range; expected at least alpha, 100 segments"),
        (json!({ "interval": "0 ms" }), "interval: 0 ms is out of range; expected at least 1e-6 s"),
        (json!({ "every": 0 }), "every: 0 is out of range; expected at least 1 (round trips)"),
        (json!({ "max_growth": 1 }), "max_growth: 1 is out of range; expected more than 1"),
        (json!({ "base_rtt": 0 }), "base_rtt: 0 s is out of range; expected more than 0 s"),
    ] {
        assert_eq!(refusal::<CcEnv, Fast>(params, &env(Era::Rfc)), expected);
    }
}

/// The samples of two rounds still reflect the window before the correction.
#[test]
fn a_corrected_control_leaves_the_window_alone_for_two_rounds() {
    for (rtt, later) in [(125.0, 115.0), (100.0, 101.0)] {
        let mut control = fast(|p| (p.rtt_weight, p.max_growth) = (Some(1.0), None));
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        control.correct(0.100, 5);
        for (now_ms, round) in [(0.0, 5), (100.0, 6)] {
            control.on_ack(&mut window, &ack(now_ms, round, 1, rtt));
            near::<7>(window.cwnd, 100.0);
        }
        // Then equation (2), 0.5 (0.8 x 100 + 50) + 50, or below the threshold a segment more.
        control.on_ack(&mut window, &ack(200.0, 7, 1, rtt));
        near::<7>(window.cwnd, later);
    }
}

/// D = 375 ms, a sample of 500 ms: the queueing delay is 125 ms, exactly.
#[test]
fn the_multiplicative_increase_ends_at_its_threshold() {
    for (threshold, phase) in [(124.0, "avoidance"), (125.0, "avoidance"), (126.0, "slow-start")] {
        let mut control = fast(|p| {
            p.base_rtt = Some(ms(375.0));
            p.mi_threshold = ms(threshold);
        });
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        control.on_ack(&mut window, &ack(0.0, 1, 1, 500.0));
        assert_eq!(control.phase(), phase, "{threshold}");
    }
}
