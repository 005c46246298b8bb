use super::*;
use crate::cc::test_support::env;
use crate::era::Era;
use crate::near::near;

/// 1000-byte segments of 8320 bits on the wire, a path of 100 ms.
struct Bench {
    control: C4,
    window: Window,
    delivered: u64,
    clock_ms: u64,
}

impl Bench {
    fn new(params: C4Params) -> Self {
        let control = C4::new(params, &env(Era::Rfc)).unwrap();
        let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        Self { control, window, delivered: 0, clock_ms: 0 }
    }

    /// An acknowledgement of `acked` segments, delivered in a round trip; the packet left `before` deliveries ago.
    fn ack(&mut self, acked: u32, rtt_ms: u64, before: u64, in_flight: u32) {
        let rtt = Span::from_millis(rtt_ms);
        let sample = RateSample {
            has_data: true,
            newly_acked: acked,
            delivered: u64::from(acked),
            prior_delivered: self.delivered - before,
            rtt: Some(rtt),
            ..RateSample::default()
        };
        self.delivered += u64::from(acked);
        self.clock_ms += rtt_ms;
        let ack = Ack {
            delivered: self.delivered,
            srtt: rtt,
            in_flight,
            sample: Some(sample),
            ..Ack::at(Time::ZERO + Span::from_millis(self.clock_ms), acked)
        };
        self.control.on_ack(&mut self.window, &ack);
    }

    /// An era: all that left in the one before is acknowledged at once.
    fn era(&mut self, acked: u32, rtt_ms: u64) {
        self.ack(acked, rtt_ms, 0, acked);
    }

    fn lose(&mut self, count: u32) {
        let now = Time::ZERO + Span::from_millis(self.clock_ms);
        for seq in 0..count {
            let lost = Lost { sent_at: now, ..Lost::at(now, seq) };
            self.control.on_lost(&mut self.window, &lost);
        }
    }

    /// R = 800 segments/s, M = 100 ms, the first of two eras of Cruising.
    fn cruising() -> Self {
        let mut bench = Self::new(C4Params::default());
        for acked in [10, 20, 40, 80] {
            bench.era(acked, 100);
        }
        let control = &mut bench.control;
        (control.state, control.alpha) = (State::Cruising, 1.0);
        control.cruises_left = 2;
        control.begin_era();
        control.reset_growth();
        control.rounds.restart(bench.delivered);
        near::<9>(control.nominal_rate, 800.0);
        near::<9>(control.nominal_max_rtt, 0.1);
        bench
    }
}

/// 10 segments in 100 ms: R = 100 segments/s; cwnd = 10 + 10, paced at 200 segments/s. With 5, 100 segments/s would be
/// 832,000 bit/s.
#[test]
fn initial_grows_with_what_is_acknowledged_and_paces_at_a_mebibit_or_more() {
    let mut bench = Bench::new(C4Params::default());
    assert!(bench.control.pacing_rate().is_none());
    bench.era(10, 100);
    near::<9>(bench.window.cwnd, 20.0);
    assert_eq!(bench.control.pacing_rate().unwrap().0, 1_664_000);
    let mut slow = Bench::new(C4Params::default());
    slow.era(5, 100);
    assert_eq!(slow.control.pacing_rate().unwrap().0, 1_048_576);
}

/// 4/1024 s of the pacing rate, 2 segments or more and 64 KiB at most, leave at once after a pause, one of them in any case:
/// of 800 segments/s 3.1, of 100 segments/s 0.4 and of 100,000 segments/s 390.6 where 65.5 fill 64 KiB. Else they leave singly.
#[test]
fn a_quantum_is_what_may_leave_at_once_after_a_pause() {
    let mut bench = Bench::cruising();
    for (rate, budget) in [(800.0, 2), (100.0, 1), (100_000.0, 64)] {
        bench.control.nominal_rate = rate;
        assert_eq!(bench.control.burst_budget(), budget);
        assert_eq!(bench.control.send_quantum(), 1);
    }
}

/// 10, 20, 40, 80 segments add as much to the window of 10, 81 too, as the era before had an increase; 82 add 82/8 and 83
/// 83/64: 252.546875. M is half of that at 830 segments/s: 152.137 ms; the window 15/16 of it with 15 ms more.
#[test]
fn initial_ends_after_three_eras_whose_rate_did_not_rise_by_a_quarter() {
    let mut bench = Bench::new(C4Params::default());
    for acked in [10, 20, 40, 80, 81, 82, 83] {
        assert_eq!(bench.control.phase(), "initial");
        bench.era(acked, 100);
    }
    assert_eq!(bench.control.phase(), "c4-recovery");
    near::<9>(bench.control.nominal_max_rtt, 252.546_875 / 1660.0);
    near::<6>(bench.window.cwnd, 778.125 * (0.152_136_671_687 + 0.015));
}

/// Two eras of Cruising, a probe at 17/16; as the rate rises in the Recovery after it, a push; as it rises by all of its
/// gain, another; then Initial.
#[test]
fn a_probe_that_raises_the_rate_is_followed_by_pushes_and_these_by_initial() {
    let mut bench = Bench::cruising();
    let mut phases = Vec::new();
    for acked in [80, 80, 80, 85, 80, 103, 80, 126] {
        bench.era(acked, 100);
        phases.push((bench.control.phase(), bench.control.alpha));
    }
    let recovery = ("c4-recovery", 15.0 / 16.0);
    let push = ("pushing", 1256.0 / 1024.0);
    let expected = [
        ("cruising", 1.0),
        ("probing", 17.0 / 16.0),
        recovery,
        push,
        recovery,
        push,
        recovery,
        ("initial", 2.0),
    ];
    assert_eq!(phases, expected);
}

#[test]
fn a_probe_that_raises_nothing_is_followed_by_cruising() {
    let mut bench = Bench::cruising();
    let mut phases = Vec::new();
    for _ in 0..7 {
        bench.era(80, 100);
        phases.push(bench.control.phase());
    }
    let once = ["cruising", "probing", "c4-recovery", "cruising"];
    assert_eq!(phases[..4], once);
    assert_eq!(phases[4..], once[..3]);
}

/// From 800 segments/s a push of 1.2266 aims at 981; 950 are above 800 (1 + 0.75 x 0.2266) = 936 and begin the era anew,
/// 940 do not.
#[test]
fn a_push_goes_on_while_the_rate_rises_by_most_of_its_gain() {
    for (acked, goes_on) in [(95, true), (93, false)] {
        let mut bench = Bench::cruising();
        let control = &mut bench.control;
        (control.state, control.alpha) = (State::Pushing, PUSH_ALPHA);
        control.reset_growth();
        control.begin_era();
        bench.ack(acked, 100, 1, 80);
        assert_eq!(bench.control.phase(), "pushing");
        near::<9>(bench.control.rate_before, if goes_on { 950.0 } else { 800.0 });
    }
}

/// 0 at 50 kB/s, 0.4702 half-way to 1 MB/s, 963/1024 there, 0.9702 at 5.5 MB/s, 1 from 10 MB/s on.
#[test]
fn the_sensitivity_is_linear_between_its_points() {
    let mut control = Bench::new(C4Params::default()).control;
    let points = [
        (20.0, 0.0),
        (50.0, 0.0),
        (525.0, 0.470_214_843_75),
        (1000.0, 0.940_429_687_5),
        (5500.0, 0.970_214_843_75),
        (10_000.0, 1.0),
        (20_000.0, 1.0),
    ];
    for (rate, expected) in points {
        control.nominal_rate = rate; // of 1000 bytes
        near::<9>(control.sensitivity(), expected);
    }
}

/// At 800 segments/s s = 0.94043 x 750/950 = 0.742444: threshold 0.02 + 0.257556 / 2 = 0.14878; losses in a row make 1/16,
/// 0.1211, 0.1760. A quarter by (1 + s) / 2 is 0.217806: R = 625.756, M = 78.2194 ms.
#[test]
fn the_third_loss_in_a_row_lowers_rate_and_round_trip_by_sensitivity() {
    let mut bench = Bench::cruising();
    bench.lose(2);
    bench.ack(0, 100, 1, 80);
    near::<9>(bench.control.nominal_rate, 800.0);
    bench.lose(1);
    bench.ack(0, 100, 1, 80);
    near::<3>(bench.control.nominal_rate, 625.756);
    near::<6>(bench.control.nominal_max_rtt, 0.078_219_4);
    assert_eq!(bench.control.phase(), "c4-recovery");
    // Losses of what left before Recovery change nothing.
    let before = Lost::at(Time::ZERO, 0);
    for _ in 0..20 {
        bench.control.on_lost(&mut bench.window, &before);
    }
    bench.ack(0, 100, 1, 80);
    near::<9>(bench.control.alpha, 15.0 / 16.0);
}

/// After a probe a round trip above M + 11 ms is a signal in Recovery: 7/8, and a new era. In Cruising it is none.
#[test]
fn delay_slows_the_recovery_after_a_push_and_nothing_else() {
    let mut bench = Bench::cruising();
    bench.ack(10, 150, 1, 80);
    assert_eq!(bench.control.phase(), "cruising");
    near::<9>(bench.control.nominal_rate, 800.0);
    for _ in 0..3 {
        bench.era(80, 100);
    }
    assert_eq!(bench.control.phase(), "c4-recovery");
    bench.ack(10, 180, 1, 80);
    near::<9>(bench.control.alpha, 7.0 / 8.0);
    near::<9>(bench.control.nominal_rate, 800.0);
}

/// The rate of what came since the last Recovery takes the place of R after two of them with signals.
#[test]
fn two_congested_recoveries_lower_the_rate_to_what_came() {
    let mut bench = Bench::cruising();
    for lowered in [false, true] {
        let control = &mut bench.control;
        (control.state, control.alpha, control.congested) = (State::Recovery, RECOVERY_ALPHA, true);
        control.begin_era();
        control.recent_rate = 0.0;
        bench.era(70, 100);
        near::<9>(bench.control.nominal_rate, if lowered { 700.0 } else { 800.0 });
    }
}

/// Between two Recoveries with signals one without, or one after which the rate has risen: the two are not in a row.
#[test]
fn congested_recoveries_count_in_a_row() {
    for (congested, acked) in [(false, 70), (true, 95)] {
        let mut bench = Bench::cruising();
        for (congested, acked) in [(true, 70), (congested, acked), (true, 70)] {
            let control = &mut bench.control;
            control.reset_growth();
            (control.state, control.alpha, control.congested) =
                (State::Recovery, RECOVERY_ALPHA, congested);
            // The push before it raised the rate.
            if acked == 95 {
                (control.push_alpha, control.nominal_rate) = (PUSH_ALPHA, 950.0);
            }
            control.begin_era();
            control.recent_rate = 0.0;
            bench.era(acked, 100);
        }
        near::<9>(bench.control.nominal_rate, if congested { 950.0 } else { 800.0 });
    }
}

/// 100 segments in 100 ms for two eras in which the flight is full; then Recovery, and Cruising at what came.
#[test]
fn a_saved_window_is_tried_for_two_eras() {
    let mut bench = Bench::new(C4Params { saved_cwnd: Some(100.0), ..C4Params::default() });
    bench.era(5, 100);
    assert_eq!(bench.control.phase(), "resuming");
    near::<9>(bench.window.cwnd, 100.0);
    assert_eq!(bench.control.pacing_rate().unwrap().0, 8_320_000);
    bench.ack(5, 100, 0, 50);
    for (acked, phase) in [(100, "resuming"), (100, "c4-recovery"), (100, "cruising")] {
        bench.era(acked, 100);
        assert_eq!(bench.control.phase(), phase);
    }
    near::<9>(bench.control.nominal_rate, 1000.0);
}

#[test]
fn a_timeout_leaves_the_rate() {
    let mut bench = Bench::cruising();
    let timeout = Congestion::at(Time::ZERO, Signal::Rto { consecutive: 1 }, 80);
    bench.control.on_congestion(&mut bench.window, &timeout);
    near::<9>(bench.window.cwnd, 2.0);
    bench.ack(2, 100, 1, 2);
    near::<9>(bench.control.nominal_rate, 800.0);
    near::<9>(bench.window.cwnd, 800.0 * 0.115);
}
