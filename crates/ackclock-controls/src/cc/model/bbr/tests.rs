//! Sequences computed by hand: 1000-byte segments, a path of 400 segments/s and 100 ms, so a BDP of 40 segments.

use super::*;
use crate::cc::test_support::{env, round_ack};
use crate::era::Era;
use crate::near::near;

struct Bench {
    control: Bbr,
    window: Window,
    now: Time,
    delivered: u64,
}

impl Bench {
    fn new() -> Self {
        let mut control = Bbr::new(BbrParams::default(), &env(Era::Rfc)).unwrap();
        control.take_stream(Stream::new(1, Purpose::Control, 0));
        let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        control.on_start(&window, Time::ZERO, Span::from_millis(100));
        Self { control, window, now: Time::ZERO, delivered: 0 }
    }

    fn acknowledge(&mut self, acked: u32, inflight: u32, change: impl Fn(&mut RateSample)) {
        let ack = round_ack(self.now, &mut self.delivered, acked, inflight, change);
        self.control.on_ack(&mut self.window, &ack);
    }

    /// An acknowledgement that ends a round, 100 ms and a picosecond after the one before.
    fn round(&mut self, acked: u32, inflight: u32) {
        self.now += Span(100_000_000_001);
        self.acknowledge(acked, inflight, |_| ());
    }

    fn probing() -> Self {
        let mut bench = Self::new();
        for acked in [10, 20, 40, 40, 40, 40] {
            assert_eq!(bench.control.phase(), "startup");
            bench.round(acked, 80);
        }
        assert_eq!(bench.control.phase(), "drain");
        near::<9>(bench.control.pacing_rate, 400.0 * LN_2 / 2.0);
        // 40 and three quanta of two segments each.
        bench.round(40, 47);
        assert_eq!(bench.control.phase(), "drain");
        bench.round(40, 43);
        assert_eq!(bench.control.phase(), "probe-bw");
        bench
    }
}

/// 2/ln 2 times ten segments in 100 ms.
#[test]
fn the_first_pacing_rate_is_that_of_the_initial_window() {
    let rate = Bench::new().control.pacing_rate().unwrap().0;
    assert_eq!(rate, 2_400_644); // 288.539 segments/s of 8320 bits
}

/// Each phase lasts a round trip: 1.25 until 1.25 BDP are in flight, 0.75 until the BDP is, six of 1.
#[test]
fn the_gain_goes_through_its_cycle() {
    let mut bench = Bench::probing();
    let first = bench.control.pacing_gain;
    assert!(first == 1.0 || first == 1.25, "{first}");
    while bench.control.pacing_gain != 1.25 {
        bench.round(40, 46);
    }
    bench.round(40, 4);
    near::<9>(bench.control.pacing_gain, 1.25); // 44 in flight before: not yet 50 and three quanta
    bench.round(40, 20);
    near::<9>(bench.control.pacing_gain, 0.75); // 60
    bench.round(40, 46);
    let mut gains = Vec::new();
    for _ in 0..7 {
        gains.push(bench.control.pacing_gain);
        bench.round(40, 46);
    }
    assert_eq!(gains, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
}

/// Two BDPs and three quanta (of one segment at 3.2 Mbit/s and less; here two).
#[test]
fn the_window_is_twice_the_bdp_and_three_quanta() {
    let mut bench = Bench::probing();
    for _ in 0..4 {
        bench.round(40, 46);
    }
    near::<9>(bench.window.cwnd, 2.0 * 40.0 + 6.0);
}

/// The largest rate is forgotten ten rounds later.
#[test]
fn the_rate_is_that_of_ten_rounds() {
    let mut bench = Bench::probing();
    for _ in 0..9 {
        bench.round(30, 46);
    }
    near::<9>(bench.control.btlbw, 400.0);
    bench.round(30, 46);
    near::<9>(bench.control.btlbw, 300.0);
}

/// Fast recovery: what is in flight and what is delivered; from the second round on the window grows again; at
/// its end it is what it was.
#[test]
fn recovery_conserves_packets_for_a_round() {
    let mut bench = Bench::probing();
    for _ in 0..4 {
        bench.round(40, 46);
    }
    let before = bench.window.cwnd;
    let event = Congestion::at(bench.now, Signal::FastRetransmit { lost: 3 }, 50);
    bench.control.on_congestion(&mut bench.window, &event);
    bench.acknowledge(1, 46, |sample| (sample.newly_lost, sample.prior_delivered) = (3, 0));
    near::<9>(bench.window.cwnd, 47.0);
    bench.acknowledge(1, 45, |sample| sample.prior_delivered = 0);
    near::<9>(bench.window.cwnd, 47.0);
    bench.round(5, 41);
    near::<9>(bench.window.cwnd, 52.0);
    bench.control.on_recovery_end(&mut bench.window, bench.now);
    near::<9>(bench.window.cwnd, before);
}

/// Ten seconds without a smaller round trip: four segments for 200 ms and a round.
#[test]
fn the_round_trip_is_measured_again_after_ten_seconds() {
    let mut bench = Bench::probing();
    for _ in 0..4 {
        bench.round(40, 46);
    }
    let before = bench.window.cwnd;
    bench.now += Span::from_millis(11_000);
    bench.acknowledge(1, 46, |sample| sample.rtt = Some(Span::from_millis(110)));
    assert_eq!((bench.control.phase(), bench.window.cwnd), ("probe-rtt", 4.0));
    near::<9>(bench.control.rtprop, 0.11);
    for _ in 0..2 {
        bench.round(4, 4);
        assert_eq!((bench.control.phase(), bench.window.cwnd), ("probe-rtt", 4.0));
    }
    bench.round(4, 4);
    assert_eq!(bench.control.phase(), "probe-bw");
    assert!(bench.window.cwnd >= before.min(80.0));
}

/// One segment below 1.2 Mbit/s, two below 24 Mbit/s, then those of a millisecond, at most 64 KiB.
#[test]
fn the_quantum_is_a_millisecond_within_its_bounds() {
    let mut control = Bench::new().control;
    let rates = [140.0, 150.0, 2_900.0, 3_000.0, 10_000.0, 1e6];
    for (rate, quantum) in rates.into_iter().zip([1.0, 2.0, 2.0, 3.0, 10.0, 65.536]) {
        control.pacing_rate = rate;
        control.set_send_quantum();
        near::<9>(control.send_quantum, quantum);
    }
}

/// 2 x 40 and three quanta of two segments; 20 came at once where the epoch began.
#[test]
fn aggregated_acknowledgements_widen_the_window_of_linux_once_the_pipe_is_full() {
    let mut control = Bbr::new(BbrParams::default(), &env(Era::Linux)).unwrap();
    (control.btlbw, control.rtprop, control.cwnd_gain) = (400.0, 0.1, 2.0);
    control.send_quantum = 2.0;
    let now = Time::ZERO + Span::from_millis(100);
    control.linux.as_mut().unwrap().on_ack(now, false, 20.0, 400.0, 500.0);
    near::<9>(control.target(), 86.0);
    control.filled_pipe = true;
    near::<9>(control.target(), 106.0);
}

/// 80 in flight when recovery begins with 70 left and 4 delivered: 74. A recovery that follows at once takes nothing more; one
/// that follows an open state, and one after a timeout, do.
#[test]
fn recoveries_in_a_row_conserve_packets_once() {
    let loss = Signal::FastRetransmit { lost: 1 };
    let mut bench = Bench::probing();
    bench.round(40, 40);
    let before = bench.window.cwnd;
    let begin = |bench: &mut Bench, signal: Signal, inflight: u32| {
        let event = Congestion::at(bench.now, signal, inflight);
        bench.control.on_congestion(&mut bench.window, &event);
        bench.acknowledge(4, inflight, |sample| sample.prior_delivered = 0);
        bench.window.cwnd
    };
    near::<9>(begin(&mut bench, loss, 30), 34.0);
    bench.round(40, 40);
    let second = bench.window.cwnd;
    assert!(second > 40.0, "{second}");
    assert!(begin(&mut bench, loss, 20) >= second, "the second in a row");
    bench.control.on_recovery_end(&mut bench.window, bench.now);
    assert!(bench.window.cwnd >= before);
    near::<9>(begin(&mut bench, loss, 20), 24.0);
    begin(&mut bench, Signal::Rto { consecutive: 1 }, 20);
    near::<9>(begin(&mut bench, loss, 10), 14.0);
}

/// In era linux 25 of 125 lost in each round are a policer: from the eighth on the rate is that of what came through.
#[test]
fn era_linux_follows_the_rate_of_a_policer() {
    for era in [Era::Rfc, Era::Linux] {
        let mut bench = Bench::new();
        bench.control = Bbr::new(BbrParams::default(), &env(era)).unwrap();
        let mut lost = 0;
        for _ in 0..9 {
            bench.now += Span::from_millis(125);
            lost += 10;
            bench.acknowledge(40, 40, |sample| {
                (sample.newly_lost, sample.total_lost) = (10, lost);
                sample.delivery_rate = 400.0;
            });
        }
        let bw = bench.control.bw();
        near::<6>(bw, if era == Era::Linux { 320.0 } else { 400.0 });
    }
}
