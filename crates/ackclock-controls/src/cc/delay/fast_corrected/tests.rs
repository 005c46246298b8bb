//! The correction against flows at rest worked out by hand.

use serde_json::json;

use super::*;
use crate::cc::test_support::env;
use crate::era::Era;
use crate::registry::refusal;

fn control(theta: f64) -> FastCorrected {
    let fast = FastParams { alpha: 50.0, ..FastParams::default() };
    let params = FastCorrectedParams { fast, theta, ..FastCorrectedParams::default() };
    FastCorrected::new(params, &env(Era::Rfc)).unwrap()
}

fn samples(pairs: &[(f64, f64)]) -> Samples {
    let mut all = Samples::default();
    for &(flight, rtt) in pairs {
        all.push(flight, rtt);
    }
    all
}

/// At rest with `n` fair flows, C = 12500 segments/s, alpha = 50, true propagation 30 ms: what a
/// probe of one round trip would see if the others kept their rates.
fn probe(n: f64, theta: f64) -> (Probe, f64) {
    let (capacity, alpha, true_base) = (12_500.0, 50.0, 0.030);
    let a = f64::midpoint((1.0 + 4.0 * n).sqrt(), -1.0);
    let rtt = true_base + alpha * (n + 1.0 + a) / capacity;
    let rate = capacity / (1.0 + a);
    let change = -theta * rate * rtt / capacity;
    let probe = Probe {
        began: Time::ZERO,
        ends: Time::ZERO + Span::from_seconds(rtt),
        window: rate * rtt,
        rtt,
        samples: samples(&[((1.0 - theta) * rate * rtt, rtt + change)]),
    };
    (probe, true_base)
}

#[test]
fn number_of_flows_capacity_and_propagation_come_out_exactly() {
    for n in [1.0, 4.0, 8.0, 40.0] {
        for theta in [-0.9, -0.5, -0.1, 0.1] {
            let mut control = control(theta);
            let (probe, true_base) = probe(n, theta);
            // It took the queue of the others for propagation.
            control.fast.correct(true_base + n * 50.0 / 12_500.0, 0);
            let solution = control.solve(&probe).unwrap();
            assert!((solution.flows - n).abs() < 1e-6, "{n} {theta}: {solution:?}");
            assert!((solution.capacity - 12_500.0).abs() < 1e-4, "{solution:?}");
            assert!((solution.base - true_base).abs() < 1e-9, "{solution:?}");
            // w = x r with x = C / (n + 1) and r = D + (n + 1) alpha / C.
            let fair = 12_500.0 / (n + 1.0) * (true_base + (n + 1.0) * 50.0 / 12_500.0);
            assert!((solution.window - fair).abs() < 1e-4, "{solution:?} {fair}");
        }
    }
}

#[test]
fn alone_nothing_is_corrected() {
    let mut control = control(-0.5);
    control.fast.correct(0.030, 0);
    let solution = control.solve(&probe(0.0, -0.5).0).unwrap();
    assert!(solution.flows.abs() < 1e-9 && (solution.base - 0.030).abs() < 1e-12, "{solution:?}");
}

#[test]
fn a_measurement_that_cannot_be_is_discarded() {
    let mut control = control(-0.5);
    control.fast.correct(0.030, 0);
    let (good, _) = probe(4.0, -0.5);
    let flight = 1.5 * good.window;
    for pairs in [&[][..], &[(flight, good.rtt)], &[(flight, good.rtt - 0.001)]] {
        assert_eq!(control.solve(&Probe { samples: samples(pairs), ..good }), None);
    }
    // So small a change would mean more flows than the delay has room for.
    let disturbed = samples(&[(flight, good.rtt + 1e-4)]);
    assert_eq!(control.solve(&Probe { samples: disturbed, ..good }), None);
}

#[test]
fn a_line_does_not_mind_a_queue_that_others_have_moved_before_the_probe() {
    // Four flows were there. Meanwhile they took 6 segments out of the queue, 0.48 ms.
    let (clean, true_base) = probe(4.0, -0.5);
    let (flight, rtt) = clean.samples.last;
    let along = |fraction: f64| {
        let rtt_sample = clean.rtt + fraction * (rtt - clean.rtt) - 0.000_48;
        (clean.window + fraction * (flight - clean.window), rtt_sample)
    };
    let moved = Probe { samples: samples(&[0.2, 0.5, 0.7, 1.0].map(along)), ..clean };
    let mut control = control(-0.5);
    control.fast.correct(true_base + 4.0 * 50.0 / 12_500.0, 0);
    assert!((control.solve(&moved).unwrap().flows - 4.0).abs() < 1e-6);
    // dr is 10.50 ms in place of 10.98 ms, so R = 2.679 in place of 2.562: n = 4.50.
    control.reading = Reading::Last;
    assert!((control.solve(&moved).unwrap().flows - 4.50).abs() < 0.01);
}

#[test]
fn the_probe_lets_half_a_segment_more_leave_per_acknowledgement_and_then_takes_it_back() {
    let mut control = control(-0.5);
    control.fast.correct(0.040, 0);
    let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
    let time = |ms| Time::ZERO + Span::from_millis(ms);
    let probe =
        Probe { began: time(0), ends: time(50), window: 100.0, rtt: 0.050, samples: samples(&[]) };
    control.probe = Some(probe);
    let ack = |now, sent: u64, rtt: u64| {
        let none = Ack::at(time(0), 1).newest;
        let newest = crate::cc::SentRecord { sent_at: time(sent), in_flight: 140, ..none };
        Ack { rtt: Some(Span::from_millis(rtt)), newest, ..Ack::at(time(now), 10) }
    };
    control.on_ack(&mut window, &ack(10, 0, 50));
    assert_eq!(window.cwnd, 105.0);
    control.on_ack(&mut window, &ack(20, 0, 50));
    assert_eq!((window.cwnd, control.phase()), (110.0, "probe"));
    // Past its end: the old window again. A segment of 40 ms counts, one of 60 ms ends it.
    control.on_ack(&mut window, &ack(95, 40, 55));
    assert_eq!(window.cwnd, 100.0);
    control.on_ack(&mut window, &ack(130, 60, 70));
    // R = 40 x 50 / (100 x 5) = 4, n = 12, C = 4 x 100 / 0.05 = 8000, D = 40 - 75 ms < 0: discarded.
    assert_eq!((window.cwnd, control.discarded, control.left), (100.0, 1, 1));
    control.probe = Some(probe);
    control.on_ack(&mut window, &ack(95, 40, 60));
    control.on_ack(&mut window, &ack(130, 60, 70));
    // R = 2, n = 2, C = 4000, D = 40 - 25 = 15 ms, w = 50 + 0.015 x 4000 / 3 = 70.
    assert!((window.cwnd - 70.0).abs() < 1e-9 && control.left == 0, "{}", window.cwnd);
    assert!((control.fast.base() - 0.015).abs() < 1e-12);
}

#[test]
fn values_out_of_range_are_named() {
    for (params, expected) in [
        (json!({ "attempts": 0 }), "attempts: 0 is out of range; expected at least 1"),
        (json!({ "theta": 0 }), "theta: 0 is out of range; expected a value other than 0"),
        (json!({ "theta": 1 }), "theta: 1 is out of range; expected at least -1 and less than 1"),
        (
            json!({ "t_epsilon": 2 }),
            "t_epsilon: 2 is out of range; expected more than 0 and at most 1",
        ),
        (json!({ "measurements": 0 }), "measurements: 0 is out of range"),
        (json!({ "stable_rounds": 1 }), "stable_rounds: 1 is out of range; expected at least 2"),
        (json!({ "stable_tolerance": 1 }), "stable_tolerance: 1 is out of range"),
        (json!({ "gamma": 2 }), "gamma: 2 is out of range"),
    ] {
        let message = refusal::<CcEnv, FastCorrected>(params, &env(Era::Rfc));
        assert!(message.starts_with(expected), "{message}");
    }
}

/// Footnote 5 of the source: drops are avoided by smaller values of theta in later measurements.
#[test]
fn a_lossy_probe_makes_theta_smaller_and_another_loss_does_not() {
    let params = FastCorrectedParams { theta_backoff: 0.5, ..FastCorrectedParams::default() };
    let mut control = FastCorrected::new(params, &env(Era::Rfc)).unwrap();
    let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
    let lost = crate::cc::Signal::FastRetransmit { lost: 1 };
    for (probing, theta, discarded) in [(false, -0.5, 0), (true, -0.25, 1), (true, -0.125, 2)] {
        control.probe = probing.then_some(probe(4.0, -0.5).0);
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 100));
        assert_eq!((control.theta, control.discarded), (theta, discarded));
    }
    // The next probe lets 1 + 1/8 segments leave for each that is acknowledged.
    let (next, _) = probe(4.0, -0.125);
    window.cwnd = next.window;
    control.go_on(next, &mut window, &Ack::at(Time::ZERO, 8));
    assert!((window.cwnd - next.window - 1.0).abs() < 1e-12, "{}", window.cwnd);
}
