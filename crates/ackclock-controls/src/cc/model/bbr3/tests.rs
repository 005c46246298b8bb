//! Sequences computed by hand from the draft: 1000-byte segments, a path of 400 segments/s and 100 ms, so a BDP
//! of 40 segments.

use serde_json::json;

use super::*;
use crate::cc::test_support::{env, round_ack};
use crate::era::Era;
use crate::near::near;
use crate::registry::refusal;

const RTT_MS: u64 = 100;

struct Bench {
    control: Bbr3,
    window: Window,
    now: Time,
    delivered: u64,
    rounds: u64,
}

impl Bench {
    fn new() -> Self {
        let mut control = Bbr3::new(Bbr3Params::default(), &env(Era::Rfc)).unwrap();
        control.take_stream(Stream::new(1, Purpose::Control, 0));
        let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        control.on_start(&window, Time::ZERO, Span::from_millis(RTT_MS));
        Self { control, window, now: Time::ZERO, delivered: 0, rounds: 0 }
    }

    /// One acknowledgement that ends a round, 100 ms later: `rate` segments/s delivered, `inflight` left.
    fn round_with(&mut self, rate: f64, inflight: u32, change: impl Fn(&mut RateSample)) {
        self.now += Span::from_millis(RTT_MS);
        // Always a picosecond less, so that the round trip is always fresh.
        self.rounds += 1;
        let rtt = Span(Span::from_millis(RTT_MS).0 - self.rounds);
        let acked = (rate / 10.0) as u32;
        let ack = round_ack(self.now, &mut self.delivered, acked, inflight, |sample| {
            sample.delivery_rate = rate;
            sample.rtt = Some(rtt);
            change(sample);
        });
        self.control.on_ack(&mut self.window, &ack);
    }

    fn round(&mut self, rate: f64, inflight: u32) {
        self.round_with(rate, inflight, |_| ());
    }

    fn lose(&mut self, seq: u32, tx_in_flight: u32, lost: u64) {
        let packet =
            Lost { tx_in_flight, lost, delivered: self.delivered, ..Lost::at(self.now, seq) };
        self.control.on_lost(&mut self.window, &packet);
    }

    fn signal(&mut self, signal: Signal) {
        let event = Congestion::at(self.now, signal, 40);
        self.control.on_congestion(&mut self.window, &event);
    }

    fn draining() -> Self {
        let mut bench = Self::new();
        for rate in [100.0, 200.0, 400.0, 400.0, 410.0, 400.0] {
            assert_eq!(bench.control.phase(), "startup");
            bench.round(rate, 80);
        }
        assert_eq!(bench.control.phase(), "drain");
        bench
    }

    /// In CRUISE, with 410 segments/s the largest rate: BDP 41.
    fn cruising() -> Self {
        let mut bench = Self::draining();
        // DOWN ends with the same acknowledgement: there is no queue.
        bench.round(400.0, 40);
        assert_eq!(bench.control.phase(), "probe-bw-cruise");
        bench
    }

    fn probing() -> Self {
        let mut bench = Self::cruising();
        bench.now += Span::from_millis(3000);
        bench.round(400.0, 40);
        assert_eq!(bench.control.phase(), "probe-bw-refill");
        bench.round(400.0, 40);
        assert_eq!(bench.control.phase(), "probe-bw-up");
        bench
    }

    fn probe(&self, name: &str) -> f64 {
        let mut latest = f64::NAN;
        self.control.probes(&mut |probe, value| {
            if probe == name {
                latest = value;
            }
        });
        latest
    }
}

/// 10 segments in the handshake's 100 ms, times 2.77: 277 segments/s of 1040 bytes on the wire.
#[test]
fn the_first_pacing_rate_is_that_of_the_initial_window() {
    assert_eq!(Bench::new().control.pacing_rate(), Some(BitRate(2_304_640)));
    let mut unknown = Bbr3::new(Bbr3Params::default(), &env(Era::Rfc)).unwrap();
    let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
    unknown.on_start(&window, Time::ZERO, Span::ZERO);
    // Without one, 1 ms is taken.
    assert_eq!(unknown.pacing_rate(), Some(BitRate(230_464_000)));
}

/// 100, 200, 400 grow; 400, 410, 400 do not: the third of them ends Startup.
#[test]
fn three_rounds_without_growth_end_startup() {
    let bench = Bench::draining();
    assert_eq!((bench.probe("full_bw_now"), bench.probe("full_bw_reached")), (1.0, 1.0));
    near::<9>(bench.probe("max_bw_bps"), 410.0 * 8000.0);
    near::<9>(bench.probe("pacing_rate_bps"), 0.5 * 410.0 * 0.99 * 8000.0);
    near::<9>(bench.probe("min_rtt_s"), 0.1);
}

#[test]
fn rounds_that_the_application_limits_do_not_count() {
    let mut bench = Bench::new();
    for _ in 0..20 {
        bench.round_with(100.0, 10, |sample| sample.is_app_limited = true);
    }
    assert_eq!(bench.control.phase(), "startup");
    near::<9>(bench.probe("max_bw_bps"), 100.0 * 8000.0);
}

/// The BDP of 41 segments is in flight no longer, or three rounds have passed.
#[test]
fn drain_ends_with_the_queue_or_after_three_rounds() {
    let mut bench = Bench::draining();
    bench.round(400.0, 42);
    assert_eq!(bench.control.phase(), "drain");
    bench.round(400.0, 40);
    assert_eq!(bench.control.phase(), "probe-bw-cruise");
    let mut slow = Bench::draining();
    for _ in 0..3 {
        slow.round(400.0, 60);
        assert_eq!(slow.control.phase(), "drain");
    }
    slow.round(400.0, 60);
    assert_eq!(slow.control.phase(), "probe-bw-down");
    near::<9>(slow.probe("pacing_rate_bps"), 0.9 * 410.0 * 0.99 * 8000.0);
}

/// UP: gain 1.25, and 2.25 BDP plus 2 segments for the window: 94.25, reached by what is acknowledged.
#[test]
fn a_probe_raises_rate_and_window() {
    let mut bench = Bench::probing();
    near::<9>(bench.probe("pacing_rate_bps"), 1.25 * 410.0 * 0.99 * 8000.0);
    for _ in 0..2 {
        bench.round(400.0, 50);
        assert_eq!(bench.control.phase(), "probe-bw-up");
    }
    near::<9>(bench.window.cwnd, 2.25 * 41.0 + bench.probe("extra_acked") + 2.0);
    bench.round(400.0, 50);
    assert_eq!(bench.control.phase(), "probe-bw-down");
}

/// The second of 50 is more than 2 %: 49 segments went well, the losses before take the share of this one.
#[test]
fn losses_above_the_threshold_end_a_probe_and_bound_what_is_in_flight() {
    let mut bench = Bench::probing();
    bench.round(420.0, 50);
    bench.lose(7, 51, 1);
    assert_eq!(bench.control.phase(), "probe-bw-up");
    bench.lose(9, 51, 2);
    assert_eq!(bench.control.phase(), "probe-bw-down");
    near::<9>(bench.probe("inflight_longterm"), 50.0);
    // Headroom of 15 %: 42.5 in CRUISE; that much may be in flight before.
    bench.round(400.0, 43);
    assert_eq!(bench.control.phase(), "probe-bw-down");
    bench.round(400.0, 41);
    assert_eq!(bench.control.phase(), "probe-bw-cruise");
    bench.round(400.0, 41);
    near::<9>(bench.window.cwnd, 42.5);
}

/// One loss of 49 in flight passes 2 % within the packet: 48 + 0.02 x 48 / 0.98.
#[test]
fn the_threshold_is_passed_within_a_packet() {
    let mut bench = Bench::probing();
    bench.round(420.0, 48);
    bench.lose(7, 49, 1);
    near::<9>(bench.probe("inflight_longterm"), 48.0 + 0.96 / 0.98);
}

/// A probe that the losses bounded at 20 keeps 0.7 of the BDP.
#[test]
fn a_probe_is_never_answered_by_less_than_beta() {
    let mut bench = Bench::probing();
    bench.round(400.0, 20);
    bench.lose(7, 20, 1);
    near::<9>(bench.probe("inflight_longterm"), 0.7 * 41.0);
}

/// 410 -> max(300, 0.7 x 410) = 300, then max(100, 210) = 210; REFILL forgets it.
#[test]
fn losses_while_cruising_lower_the_short_term_bounds_once_a_round() {
    let mut bench = Bench::cruising();
    bench.round(300.0, 30);
    let cwnd = bench.window.cwnd;
    bench.lose(7, 30, 1);
    bench.round(300.0, 30);
    near::<9>(bench.probe("bw_shortterm_bps"), 300.0 * 8000.0);
    near::<9>(bench.probe("inflight_shortterm"), (0.7 * cwnd).max(30.0));
    bench.round(100.0, 10);
    bench.lose(8, 10, 1);
    bench.round(100.0, 10);
    near::<9>(bench.probe("bw_shortterm_bps"), 210.0 * 8000.0);
    near::<9>(bench.probe("bw_bps"), 210.0 * 8000.0);
    bench.now += Span::from_millis(3000);
    bench.round(100.0, 10);
    assert_eq!(bench.control.phase(), "probe-bw-refill");
    near::<9>(bench.probe("bw_bps"), 410.0 * 8000.0);
}

/// After a probe that went too high the next stops at the bound, and is followed by one that does not.
#[test]
fn a_probe_after_one_that_was_too_high_is_careful() {
    let mut bench = Bench::probing();
    bench.round(420.0, 50);
    bench.lose(7, 51, 2);
    bench.round(400.0, 40);
    bench.round(400.0, 40);
    assert_eq!(bench.control.phase(), "probe-bw-cruise");
    bench.now += Span::from_millis(3000);
    bench.round(400.0, 40);
    bench.round(400.0, 40);
    assert_eq!(bench.control.phase(), "probe-bw-up");
    bench.round(400.0, 50);
    assert_eq!(bench.control.phase(), "probe-bw-down");
    bench.round(400.0, 45);
    assert_eq!(bench.control.phase(), "probe-bw-refill");
    bench.round(400.0, 40);
    bench.round(400.0, 50);
    assert_eq!(bench.control.phase(), "probe-bw-up");
    // This one ends by three rounds without growth: no third follows, the cycle goes on.
    for _ in 0..5 {
        if bench.control.phase() == "probe-bw-up" {
            bench.round(400.0, 30);
        }
    }
    assert_eq!(bench.control.phase(), "probe-bw-down");
    bench.round(400.0, 30);
    assert_eq!(bench.control.phase(), "probe-bw-cruise");
}

/// Six ranges and more than 2 % lost in a round of recovery end Startup; a seventh of one range does not.
#[test]
fn losses_end_startup_when_they_are_many_and_apart() {
    for (step, phase) in [(2, "drain"), (1, "startup")] {
        let mut bench = Bench::new();
        bench.round_with(100.0, 20, |sample| sample.is_app_limited = true);
        bench.signal(Signal::FastRetransmit { lost: 1 });
        for i in 0..6 {
            bench.lose(10 + step * i, 20, u64::from(i) + 1);
        }
        bench.round_with(120.0, 20, |sample| {
            (sample.lost, sample.in_recovery, sample.is_app_limited) = (6, true, true);
        });
        assert_eq!(bench.control.phase(), phase, "ranges {step} apart");
        if phase == "drain" {
            // The BDP is 120 x 0.1 = 12, and 12 were delivered in the round.
            near::<9>(bench.probe("inflight_longterm"), 12.0);
            bench.signal(Signal::Spurious);
            assert_eq!(bench.control.phase(), "startup");
            assert!(bench.probe("inflight_longterm").is_nan(), "no bound again");
        }
    }
}

/// Without selective acknowledgements ranges are not known: any loss in recovery ends Startup.
#[test]
fn a_loss_without_selective_acknowledgements_ends_startup() {
    for (newly_lost, phase) in [(1, "drain"), (0, "startup")] {
        let mut bench = Bench::new();
        bench.round_with(100.0, 20, |sample| sample.is_app_limited = true);
        bench.signal(Signal::FastRetransmit { lost: 1 });
        bench.round_with(120.0, 20, |sample| {
            (sample.has_selective_acks, sample.newly_lost) = (false, newly_lost);
            (sample.in_recovery, sample.is_app_limited) = (true, true);
        });
        assert_eq!(bench.control.phase(), phase);
    }
}

#[test]
fn a_spurious_loss_in_a_probe_gives_back_bounds_and_probes_again() {
    let mut bench = Bench::probing();
    bench.round(420.0, 50);
    let before = bench.window.cwnd;
    bench.signal(Signal::FastRetransmit { lost: 2 });
    bench.lose(7, 51, 2);
    assert_eq!(bench.control.phase(), "probe-bw-down");
    bench.round(400.0, 45);
    assert!(bench.window.cwnd < before);
    bench.signal(Signal::Spurious);
    assert_eq!(bench.control.phase(), "probe-bw-refill");
    assert!(bench.probe("inflight_longterm").is_nan(), "no bound again");
    assert!(bench.window.cwnd >= before);
}

/// The third loss comes when the second has ended the probe: what was before the episode is given back all the same.
/// So it is when a second timeout follows the first.
#[test]
fn what_a_spurious_episode_gives_back_is_of_before_the_episode() {
    let mut bench = Bench::probing();
    bench.round(420.0, 50);
    bench.signal(Signal::FastRetransmit { lost: 3 });
    for seq in 0..4 {
        bench.lose(7 + seq, 51, 1 + u64::from(seq));
    }
    assert_eq!(bench.control.phase(), "probe-bw-down");
    bench.signal(Signal::Spurious);
    assert_eq!(bench.control.phase(), "probe-bw-refill");
    assert!(bench.probe("inflight_longterm").is_nan(), "no bound again");
    let mut late = Bench::probing();
    late.round(420.0, 50);
    late.signal(Signal::Rto { consecutive: 1 });
    for seq in 0..40 {
        late.lose(7 + seq, 51, 1 + u64::from(seq));
    }
    late.signal(Signal::Rto { consecutive: 2 });
    late.signal(Signal::Spurious);
    assert_eq!(late.control.phase(), "probe-bw-refill");
    assert!(late.probe("inflight_longterm").is_nan(), "no bound again");
}

/// Five seconds without a smaller round trip: half a BDP for 200 ms and a round, then CRUISE as before.
#[test]
fn the_round_trip_is_measured_again_after_five_seconds() {
    let mut bench = Bench::cruising();
    let before = bench.window.cwnd;
    bench.now += Span::from_millis(5000);
    bench.round(400.0, 40);
    assert_eq!(bench.control.phase(), "probe-rtt");
    near::<9>(bench.window.cwnd, 20.5);
    assert!(bench.control.holds_back());
    // In flight 20: 200 ms begin, and two rounds pass in them.
    for _ in 0..3 {
        bench.round(200.0, 20);
        assert_eq!(bench.control.phase(), "probe-rtt");
    }
    bench.round(200.0, 20);
    assert_eq!(bench.control.phase(), "probe-bw-cruise");
    assert!(bench.window.cwnd >= before.min(41.0), "{}", bench.window.cwnd);
}

#[test]
fn an_idle_flow_need_not_measure_the_round_trip() {
    let mut bench = Bench::cruising();
    bench.now += Span::from_millis(6000);
    bench.control.on_restart(&mut bench.window, bench.now);
    near::<9>(bench.probe("idle_restart"), 1.0);
    near::<9>(bench.probe("pacing_rate_bps"), 410.0 * 0.99 * 8000.0);
    bench.round(400.0, 40);
    assert_ne!(bench.control.phase(), "probe-rtt");
    near::<9>(bench.probe("idle_restart"), 0.0);
}

/// After a timeout one segment beyond what is in flight; at the end of recovery the window as it was.
#[test]
fn a_timeout_leaves_one_segment_and_its_end_gives_the_window_back() {
    let mut bench = Bench::cruising();
    let before = bench.window.cwnd;
    let mut event = Congestion::at(bench.now, Signal::Rto { consecutive: 1 }, 40);
    event.pipe = 0;
    bench.control.on_congestion(&mut bench.window, &event);
    near::<9>(bench.window.cwnd, 1.0);
    bench.control.on_recovery_end(&mut bench.window, bench.now);
    near::<9>(bench.window.cwnd, before);
}

/// 41 segments are expected in 100 ms; 60 at once are 60 beyond expectation, as the interval begins anew.
#[test]
fn aggregation_adds_to_the_window() {
    let mut bench = Bench::cruising();
    for _ in 0..3 {
        bench.round_with(400.0, 41, |sample| sample.newly_acked = 60);
    }
    assert!(bench.probe("extra_acked") >= 60.0, "{}", bench.probe("extra_acked"));
    assert!(bench.window.cwnd > 2.0 * 41.0 + 50.0, "{}", bench.window.cwnd);
}

/// 2742 segments/s are 2.7 in a millisecond; a hundred times as many are more than 64 KiB.
#[test]
fn the_quantum_is_a_millisecond_within_its_bounds() {
    let mut bench = Bench::new();
    bench.round(1000.0, 10);
    assert_eq!(bench.control.send_quantum(), 2);
    bench.round(100_000.0, 10);
    assert_eq!(bench.control.send_quantum(), 65);
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    for (params, expected) in [
        (json!({ "beta": 1 }), "beta: 1 is out of range; expected more than 0 and less than 1"),
        (
            json!({ "headroom": 1 }),
            "headroom: 1 is out of range; expected at least 0 and less than 1",
        ),
        (
            json!({ "startup_pacing_gain": 1 }),
            "startup_pacing_gain: 1 is out of range; expected more than 1",
        ),
        (
            json!({ "probe_rtt_interval": 0 }),
            "probe_rtt_interval: 0 s is out of range; expected more than 0 s",
        ),
    ] {
        assert_eq!(refusal::<CcEnv, Bbr3>(params, &env(Era::Rfc)), expected);
    }
}

/// Losses while cruising bound rate and flight for a short time; measuring the round trip forgets both.
#[test]
fn measuring_the_round_trip_forgets_the_short_term_bounds() {
    let mut bench = Bench::cruising();
    bench.round(300.0, 30);
    bench.lose(7, 30, 1);
    bench.round(300.0, 30);
    near::<9>(bench.probe("bw_shortterm_bps"), 300.0 * 8000.0);
    assert!(bench.probe("inflight_shortterm").is_finite());
    // The probe for the rate is not due: the wait begins anew.
    bench.control.cycle_stamp = bench.now + Span::from_millis(60_000);
    bench.now += Span::from_millis(5000);
    bench.round(300.0, 30);
    assert_eq!(bench.control.phase(), "probe-rtt");
    for _ in 0..10 {
        if bench.control.phase() == "probe-rtt" {
            bench.round(150.0, 10);
        }
    }
    assert_eq!(bench.control.phase(), "probe-bw-cruise");
    assert!(bench.control.bw_shortterm.is_infinite());
    assert!(bench.control.inflight_shortterm.is_infinite());
}
