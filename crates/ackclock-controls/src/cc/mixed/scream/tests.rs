//! Sequences computed by hand from the draft.

use super::*;
use crate::cc::RateSample;
use crate::cc::test_support::env;
use crate::era::Era;
use crate::near::near;

fn scream(l4s: bool, window: f64, inflection: f64) -> Scream {
    let params = ScreamParams { l4s, ..ScreamParams::default() };
    let mut control = Scream::new(params, &env(Era::Rfc)).unwrap();
    (control.window, control.inflection) = (window, inflection);
    control
}

fn ms(t: u64) -> Time {
    Time::ZERO + Span::from_millis(t)
}

fn react(control: &mut Scream, srtt: f64) -> f64 {
    let distance = control.distance();
    control.react(ms(1000), srtt, distance);
    control.window
}

/// Alpha 0.5 takes a quarter. 20 is far from 10: (8 x 10/10)^2 = 64, so 1. At the last congestion's window the least,
/// 0.1, counts as 0.25. With 50 ms the cut is half as large, as it may come twice a round trip.
#[test]
fn a_mark_of_l4s_takes_half_of_alpha_and_less_where_congestion_was_before() {
    let cut = |inflection: f64, srtt: f64, delay: f64| {
        let mut control = scream(true, 20.0, inflection);
        (control.alpha, control.is_marked, control.delay) = (0.5, true, delay);
        react(&mut control, srtt)
    };
    near::<12>(cut(10.0, 0.025, 0.0), 15.0);
    near::<12>(cut(20.0, 0.025, 0.0), 20.0 * (1.0 - 0.25 * 0.25));
    near::<12>(cut(20.0, 0.025, 0.016), 15.0); // delay of more than a quarter of 60 ms
    near::<12>(cut(10.0, 0.05, 0.0), 17.5);
}

/// What was answered is not answered again, however long nothing else comes.
#[test]
fn a_mark_or_a_loss_is_answered_once() {
    for is_lost in [false, true] {
        let mut control = scream(true, 20.0, 10.0);
        (control.alpha, control.is_marked, control.is_lost) = (0.5, !is_lost, is_lost);
        let answered = react(&mut control, 0.025);
        assert!(answered < 20.0);
        let distance = control.distance();
        for later in [1025, 1100, 3000] {
            control.react(ms(later), 0.025, distance);
            near::<12>(control.window, answered);
        }
    }
}

/// The mean delay of 45 ms is half-way from 30 to 60: half of a cut by half, and a fourth of that with 100 ms.
#[test]
fn losses_classic_marks_and_delay_have_their_factors() {
    let mut control = scream(false, 20.0, 10.0);
    control.is_lost = true;
    control.is_marked = true;
    near::<12>(react(&mut control, 0.025), 14.0);
    let mut control = scream(false, 20.0, 10.0);
    control.is_marked = true;
    near::<12>(react(&mut control, 0.025), 16.0);
    let mut control = scream(true, 20.0, 10.0);
    control.mean_delay = 0.045;
    near::<12>(react(&mut control, 0.1), 20.0 * (1.0 - 0.25 / 4.0));
    // Not again within 25 ms, and the inflection point stays until the window has grown.
    assert_eq!(control.inflection.to_bits(), 20.0f64.to_bits());
    control.mean_delay = 0.06;
    near::<12>(react(&mut control, 0.1), 18.75);
}

/// Ten segments acknowledged of a window of ten make one; long after congestion times 1 + 0.02 x 10.
#[test]
fn a_round_trip_adds_a_segment_and_two_per_cent_when_congestion_is_long_ago() {
    let grown = |inflection: f64, srtt: f64, congested_ms: u64| {
        let mut control = scream(true, 10.0, inflection);
        (control.acked, control.flight) = (10.0, 10.0);
        control.congested_at = ms(congested_ms);
        let distance = control.distance();
        control.grow(ms(10_000), srtt, distance);
        control.window - 10.0
    };
    near::<12>(grown(1.0, 0.025, 0), 1.2);
    near::<12>(grown(1.0, 0.025, 10_000), 1.0);
    // 1.25 s of the 2.5 s that 100 virtual round trips are.
    near::<12>(grown(1.0, 0.025, 8_750), 1.1);
    near::<12>(grown(1.0, 0.0125, 10_000), 0.5);
    near::<12>(grown(10.0, 0.025, 0), 0.25 * (1.0 + 0.2 * 0.1));
}

/// Six of ten segments without a mark make 0.6.
#[test]
fn what_was_marked_adds_nothing() {
    let mut control = scream(true, 10.0, 1.0);
    (control.acked, control.acked_marked, control.flight) = (10.0, 4.0, 10.0);
    control.congested_at = ms(10_000);
    control.grow(ms(10_000), 0.025, 1.0);
    near::<12>(control.window, 10.6);
}

/// Of 20 in flight a window of up to 31 may come in this round trip and in the next, not in the one after it.
#[test]
fn a_window_may_grow_for_what_was_in_flight_a_round_trip_before() {
    let mut control = scream(true, 10.0, 1.0);
    for (t, flight, window) in [(10_000, 20.0, 11.0), (10_025, 5.0, 12.0), (10_050, 5.0, 12.0)] {
        (control.acked, control.flight) = (control.window, flight);
        control.congested_at = ms(t);
        control.grow(ms(t), 0.025, 1.0);
        near::<9>(control.window, window);
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut control = scream(true, 10.0, 1.0);
    (control.acked, control.flight) = (10.0, 5.0);
    control.grow(ms(10_000), 0.025, 1.0);
    near::<12>(control.window, 10.0); // 1 + 1.5 x 5 = 8.5
}

/// Shares 0.4, then none: 0.4 / 8 = 0.05, then 0.05 x 127/128.
#[test]
fn alpha_rises_by_an_eighth_and_falls_by_a_128th() {
    let mut control = scream(true, 10.0, 1.0);
    let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
    for (t, marked) in [(100, 4), (200, 0)] {
        let counts = EcnCounts { acked: 10, marked, ..EcnCounts::at(ms(t)) };
        control.on_ecn_counts(&mut window, &counts);
        let sample = RateSample { has_data: true, newly_acked: 10, ..RateSample::default() };
        let srtt = Span::from_millis(25);
        control.on_ack(&mut window, &Ack { srtt, ..Ack::sampled(ms(t), 10, sample) });
    }
    near::<12>(control.alpha, 0.05 * 127.0 / 128.0);
}

/// Delays of 0 and 16 ms in turn, each 25 ms. From 60 and 0 ms on the largest falls by a sixteenth each time and the least
/// rises by a sixteenth of the distance: 56.25 and 3.516 ms, of whose distance 1/32 is 1.648 ms. Of 10 ms that is 16.5 %.
#[test]
fn delay_that_varies_makes_steps_smaller_and_less_in_flight() {
    let params = ScreamParams { l4s: true, reduce_jitter: true, ..ScreamParams::default() };
    let mut control = Scream::new(params, &env(Era::Rfc)).unwrap();
    control.measure_delay(0.0, ms(25), 0.025);
    near::<9>(control.jitter, 0.052_734_375 / 32.0);
    near::<9>(control.steadiness, 1.0 - 0.164_794_921_875);
    for turn in 2..2000 {
        control.measure_delay(0.016 * f64::from(turn % 2), ms(25 * u64::from(turn as u32)), 0.025);
    }
    // About the spread of what a filter of sixteen turns keeps of them.
    assert!((0.004..0.016).contains(&control.jitter), "{}", control.jitter);
    let steadiness = control.steadiness;
    (control.window, control.inflection) = (20.0, 10.0);
    (control.alpha, control.is_marked, control.delay) = (0.5, true, 0.0);
    near::<12>(react(&mut control, 0.025), 20.0 * (1.0 - 0.25 * steadiness.max(0.25)));
    (control.window, control.acked, control.flight) = (10.0, 10.0, 10.0);
    control.congested_at = ms(100_000);
    control.grow(ms(100_000), 0.025, 1.0);
    near::<12>(control.window, 10.0 + steadiness.max(0.1));
}

/// Ten segments of 1000 B in 25 ms are 3.2 Mbit/s: 3.2 / 1.02 / 1.2 = 2.614 Mbit/s of media, paced at one and a half of it, with
/// headers, and thirty segments may be in flight. Without media it is ten, and one and a half of 3.2 Mbit/s.
#[test]
fn media_gets_less_than_the_window_carries_and_more_may_be_in_flight() {
    let run = |has_media: bool| {
        let env = CcEnv { mss: 1000, wire_size: 1040, ..env(Era::Rfc) };
        let mut control = Scream::new(ScreamParams::default(), &env).unwrap();
        if has_media {
            let (min, max) = (BitRate(100_000), BitRate(20_000_000));
            control.take_media(MediaSource { min, max, period: 0.02 });
        }
        let begins = control.initial_window().unwrap();
        (control.window, control.inflection, control.grown_at) = (10.0, 1.0, ms(100));
        let mut window = Window { cwnd: begins, ssthresh: f64::INFINITY };
        let rtt = Some(Span::from_millis(25));
        let sample = RateSample { has_data: true, newly_acked: 1, rtt, ..RateSample::default() };
        let srtt = Span::from_millis(25);
        let ack = Ack { srtt, min_rtt: srtt, ..Ack::sampled(ms(100), 1, sample) };
        control.on_ack(&mut window, &ack);
        (begins, window.cwnd, control.media_rate(), control.pacing_rate().unwrap().bps())
    };
    let (begins, limit, rate, pace) = run(true);
    near::<9>(begins, 9.0);
    near::<9>(limit, 30.0);
    assert_eq!(rate, Some(BitRate(2_614_379)));
    near::<6>(pace / (2_614_379.0 * 1.5 * 1.04), 1.0);
    let (begins, limit, rate, pace) = run(false);
    near::<9>(begins, 3.0);
    near::<9>(limit, 10.0);
    assert_eq!(rate, None);
    near::<6>(pace / (3.2e6 * 1.5 * 1.04), 1.0);
}
