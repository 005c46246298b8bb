//! DCQCN where each packet is marked with one probability, against the fixed point of the fluid model.

use std::collections::VecDeque;

use super::{Dcqcn, DcqcnParams};
use crate::cc::test_support::env;
use crate::cc::{Ack, CcEnv, CongestionControl, EcnCounts, Window};
use crate::era::Era;
use crate::registry::About;
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};

const WIRE_BITS: f64 = 1040.0 * 8.0;
const LINE: u64 = 40_000_000_000;
const TIMER: f64 = 55e-6;
const COUNTER: f64 = 10e6 / 1040.0;
const RECOVERY: f64 = 5.0;

/// The marking probability at which one flow rests at `rate` packets a second, with `interval` seconds between
/// notifications at least, by bisection of equations (5) to (9) of
/// Zhu et al. 2016 with all derivatives 0.
fn marking_at(rate: f64, interval: f64) -> f64 {
    let additive = LINE as f64 * 1e-3 / WIRE_BITS;
    let (mut low, mut high) = (1e-7f64, 0.1f64);
    for _ in 0..200 {
        let p = (low * high).sqrt();
        let none = |packets: f64| (1.0 - p).powf(packets);
        let alpha = 1.0 - none(TIMER * rate);
        let notified = (1.0 - none(interval * rate)) / interval;
        // Events a second of the counter and of the timer.
        let counter = rate * p / (none(-COUNTER) - 1.0);
        let timer = rate * p / (none(-TIMER * rate) - 1.0);
        // What recovers C balances the cuts: (T - C) / 2 (counter + timer) = C alpha / 2 notified.
        let gap = rate * alpha * notified / (counter + timer);
        // What raises T balances that notifications lower it to C.
        let lowered = gap * notified;
        let raised =
            additive * (none(RECOVERY * COUNTER) * counter + none(RECOVERY * TIMER * rate) * timer);
        if lowered < raised { low = p } else { high = p }
    }
    (low * high).sqrt()
}

/// Mean rate in packets a second where each packet is marked with probability `p`, with a round trip of 20 us.
fn mean_rate(p: f64, interval: f64, seconds: f64) -> f64 {
    let env = CcEnv { line_rate: BitRate(LINE), ..env(Era::Rfc) };
    // The fluid model has no hyper increase.
    let hyper = Some(BitRate(LINE / 1000));
    let cnp_interval = Span::from_seconds(interval);
    let params = DcqcnParams { cnp_interval, hyper, ..DcqcnParams::default() };
    let mut control = Dcqcn::new(params, &env).unwrap();
    let mut stream = Stream::new(1, Purpose::Control, 0);
    let mut window = Window { cwnd: 1000.0, ssthresh: f64::INFINITY };
    let rtt = Span::from_micros(20);
    let mut under_way: VecDeque<(Time, bool)> = VecDeque::new();
    let (mut now, mut sent) = (Time::ZERO, 0u64);
    let (from, until) = (seconds / 5.0, seconds);
    while now.seconds() < until {
        while let Some(&(at, marked)) = under_way.front()
            && at <= now
        {
            under_way.pop_front();
            let counts = EcnCounts { acked: 1, marked: u32::from(marked), ..EcnCounts::at(at) };
            control.on_ecn_counts(&mut window, &counts);
            control.on_ack(&mut window, &Ack { srtt: rtt, ..Ack::at(at, 1) });
        }
        control.on_sent(now, 1);
        under_way.push_back((now + rtt, stream.uniform() < p));
        sent += u64::from(now.seconds() >= from);
        now += Span::from_seconds(WIRE_BITS / control.pacing_rate().unwrap().bps());
    }
    sent as f64 / (until - from)
}

/// The closed form for small p: the cube root of `R_AI` N^2 / (K C^2) (1/B + N / (55 us C))^2.
fn closed_form(rate: f64) -> f64 {
    let additive = LINE as f64 * 1e-3 / WIRE_BITS;
    let events = 1.0 / COUNTER + 1.0 / (TIMER * rate);
    (additive / (TIMER * rate * rate) * events * events).cbrt()
}

/// Two flows on 40 Gbit/s have 2.404 M packets a second each: `R_AI` 4807.7, 1/B = 1.040e-4, N/(55 us C) = 7.564e-3, so
/// p^3 = 4807.7 / (55e-6 x 5.779e12) x 5.88e-5 = 8.894e-10 and p = 9.62e-4. Additive increase after five periods
/// instead of after each is a factor of about exp(-5 x 55 us x 2.404e6 p) in it, which makes p smaller.
#[test]
fn the_closed_form_by_hand_is_the_fixed_point_but_for_fast_recovery() {
    let rate = 40e9 / WIRE_BITS / 2.0;
    let closed = closed_form(rate);
    assert!((closed / 9.62e-4 - 1.0).abs() < 2e-3, "{closed}");
    let solved = marking_at(rate, 50e-6);
    let recovery = (-5.0 * TIMER * rate * solved).exp();
    // Both sides are of first order in p otherwise: within what the first order leaves out, p x 50 us x rate.
    let corrected = closed * recovery.cbrt();
    assert!((solved / corrected - 1.0).abs() < 55e-6 * rate * closed, "{solved} {corrected}");
}

/// The fluid model takes means of products for products of means; 20 % of the rate were allowed for that before a run was
/// made.
#[test]
fn a_run_rests_where_the_fluid_model_does() {
    for share in [0.5, 0.25, 0.1] {
        let rate = 40e9 / WIRE_BITS * share;
        let mean = mean_rate(marking_at(rate, 1e-6), 1e-6, 0.5);
        assert!((mean / rate - 1.0).abs() < 0.2, "{share}: {mean} of {rate}");
    }
}

/// In the model any mark of a period keeps the timer from its event. In the rule those of the 50 us after a notification
/// do not, and the timer's 55 us are nearly over by then: the flow is faster than the model says, by a fifth here.
#[test]
fn marks_between_two_notifications_do_not_hold_the_timer_back_as_in_the_fluid_model() {
    let rate = 40e9 / WIRE_BITS * 0.5;
    let mean = mean_rate(marking_at(rate, 50e-6), 50e-6, 0.5);
    assert!(mean > 1.1 * rate, "{mean} of {rate}");
}
