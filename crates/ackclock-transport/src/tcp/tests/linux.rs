//! What era `linux` has beside the RFCs, between sender and receiver.

use std::sync::{Arc, Mutex};

use super::wire::{Fate, Left, Setup};
use super::{Fixed, Mad, at, ms};
use crate::cc::{Ack, Congestion, CongestionControl, Signal, Window};
use crate::endpoint::Endpoint;
use crate::era::Era;
use crate::tcp::TcpConfig;
use crate::units::{BitRate, Span};
use crate::wire::Flags;

/// A sender of era `linux` over a path of 200 ms and 1000 segments a second, without a handshake.
fn setup() -> Setup {
    let mut setup = Setup::new("rack");
    setup.config = TcpConfig { syn: false, mss: 1000, ..TcpConfig::of_era(Era::Linux) };
    setup
}

/// IW 10. The first sixteen ACKs leave at once, so 10 and then 6 arrive alone; from then on one for two.
#[test]
fn the_first_sixteen_segments_are_acknowledged_one_by_one() {
    let mut wire = setup().build().started();
    wire.run(at(700));
    let each: Vec<u32> = wire.acks.iter().take(18).map(|&(_, seq, _)| seq).collect();
    assert_eq!(each, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20]);
}

/// 64240 / 1000 = 64 segments, and two more for each that is acknowledged.
#[test]
fn the_receiver_bounds_the_first_flight_and_opens_by_two_for_one() {
    let mut setup = setup();
    setup.cc = Some(Box::new(Fixed));
    setup.config.initial_window = 200;
    setup.config.offload = false;
    let mut wire = setup.build().started();
    wire.run(at(100));
    assert_eq!(wire.left.len(), 64);
    // The ACK of the first segment: una 1, window 66: 67 segments in all.
    wire.run(at(201));
    assert_eq!(wire.left.len(), 67);
}

/// Segment 0 of ten is lost. The first SACK, of segment 1, comes at 202 ms: SRTT 202 ms, RTTVAR 101 ms, RTO 202 + 404; that of
/// segment 2 at 203 ms: RTTVAR 76 ms, SRTT 202.125 ms, RTO 506.125. In era `rfc` nothing is measured before the repair.
#[test]
fn segments_that_are_sacked_and_left_once_are_measured() {
    for (era, first, second) in [(Era::Linux, 0.606, 0.506_125), (Era::Rfc, 1.0, 1.0)] {
        let mut setup =
            setup().script(
                |packet, n| {
                    if !packet.is_ack() && n == 0 { Fate::Drop } else { Fate::Deliver }
                },
            );
        setup.config.era = era;
        setup.config.quick_acks = 16;
        let mut wire = setup.build().started();
        let mut rto = |end| {
            wire.run(end);
            wire.sender.snapshot().rto_s
        };
        let (at_first, at_second) = (rto(at(202)), rto(at(203)));
        assert!((at_first - first).abs() < 1e-9, "{era:?}: {at_first}");
        assert!((at_second - second).abs() < 1e-9, "{era:?}: {at_second}");
    }
}

/// Notes what acknowledgements leave to it.
struct Heard(Arc<Mutex<Vec<u32>>>);

impl CongestionControl for Heard {
    fn on_ack(&mut self, _window: &mut Window, ack: &Ack) {
        self.0.lock().unwrap().push(ack.acked);
    }
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
}

/// cwnd 10, ssthresh 11: of the first ACK, of two segments, slow start uses one; the control gets the other, and
/// then whole ACKs.
#[test]
fn slow_start_leaves_to_the_control_what_is_beyond_ssthresh() {
    let heard = Arc::default();
    let mut setup = setup();
    setup.cc = Some(Box::new(Heard(Arc::clone(&heard))));
    setup.config.quick_acks = 0;
    setup.config.initial_ssthresh = 11.0;
    let mut wire = setup.build().started();
    wire.run(at(250));
    assert_eq!(heard.lock().unwrap()[..3], [1, 2, 2]);
    assert_eq!(wire.sender.snapshot().cwnd, 11.0);
}

/// The first flight, ten segments, is one burst. Then each ACK of two segments makes room for two, a burst; with one that
/// is left over the next makes room for three, of which the third leaves by itself.
#[test]
fn the_last_segment_of_a_burst_of_several_has_psh() {
    let mut setup = setup();
    setup.cc = Some(Box::new(Fixed));
    setup.config.quick_acks = 0;
    let mut wire = setup.build().started();
    let has_psh = |packet: &Left| packet.flags.has(Flags::PUSH);
    assert_eq!(
        wire.left.iter().map(has_psh).collect::<Vec<_>>(),
        [vec![false; 9], vec![true]].concat()
    );
    wire.run(at(5000));
    let after_first_flight = &wire.left[10..];
    assert!(after_first_flight.len() > 100 && after_first_flight.iter().any(has_psh));
    for together in after_first_flight.chunk_by(|a, b| a.at == b.at) {
        let marks: Vec<bool> = together.iter().map(has_psh).collect();
        let expected: &[bool] = match together.len() {
            1 => &[false],
            2 => &[false, true],
            _ => &[false, true, false],
        };
        assert_eq!(marks, expected, "{together:?}");
    }
}

/// A window that nothing changes, and no slow start.
struct Still;

impl CongestionControl for Still {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn uses_slow_start(&self) -> bool {
        false
    }
}

/// 800 segments of 1000 B in 0.2 s, or a little more: of that rate 2^-10 s are 3906 B. Twice as much is a burst of seven
/// segments while cwnd is below half of ssthresh, 1.2 times as much one of four.
#[test]
fn bursts_are_a_millisecond_at_twice_the_rate_in_slow_start_and_at_six_fifths_after_it() {
    for (ssthresh, segments) in [(f64::INFINITY, 7), (1599.0, 4), (1601.0, 7)] {
        let mut setup = setup();
        setup.cc = Some(Box::new(Still));
        setup.service = Span::from_micros(10);
        setup.config.window_autotuning = false;
        setup.config.quick_acks = 0;
        setup.config.initial_window = 800;
        setup.config.initial_ssthresh = ssthresh;
        let mut wire = setup.build().started();
        wire.run(at(205));
        let mut counts = [0; 64];
        for together in wire.left[800..].chunk_by(|a, b| a.at == b.at) {
            counts[together.len()] += 1;
        }
        let most = (0..64).max_by_key(|&len| counts[len]).unwrap();
        assert_eq!(most, segments, "{ssthresh}: {counts:?}");
    }
}

/// A round trip of 0.2 ms. 50 us after a flight of 61 there is room for 29 of 90, less than a third and less than a burst of
/// 64 KiB: the next ACK is 0.15 ms away, more than half an SRTT, so they leave. After 150 us it is 0.05 ms away: they wait.
#[test]
fn what_is_no_burst_waits_for_an_acknowledgement_within_half_a_round_trip() {
    for (us, leaves) in [(50, true), (150, false)] {
        let mut setup = setup();
        setup.cc = Some(Box::new(Still));
        setup.delay = Span::from_micros(100);
        setup.service = Span::from_micros(1);
        setup.config.window_autotuning = false;
        setup.config.initial_window = 90;
        let mut wire = setup.build();
        wire.call(true, |sender, _, ctx| {
            sender.supply_until(1, ctx);
            sender.start(ctx);
        });
        wire.run(at(1));
        wire.now = at(1);
        wire.call(true, |sender, _, ctx| sender.supply_until(62, ctx));
        assert_eq!(wire.left.len(), 62);
        let later = at(1) + Span::from_micros(us);
        wire.run(later);
        wire.now = later;
        wire.call(true, |sender, _, ctx| sender.supply_until(300, ctx));
        assert_eq!(wire.left.len(), if leaves { 91 } else { 62 }, "{us}");
    }
}

/// 100 segments, then nothing for two RTOs and a half, or for many: halved twice, or down to the initial window;
/// ssthresh is 3/4 of 100.
#[test]
fn idleness_halves_the_window_for_each_timeout() {
    for (timeouts, cwnd) in [(2.5, 25.0), (40.0, 10.0)] {
        let mut setup = setup().segments(100);
        setup.cc = Some(Box::new(Mad(100.0)));
        setup.config.initial_ssthresh = 2.0;
        let mut wire = setup.build();
        wire.call(true, |sender, _, ctx| {
            sender.supply_until(30, ctx);
            sender.start(ctx);
        });
        wire.run(at(1000));
        let sent = wire.left.last().unwrap().at;
        wire.run(sent + Span::from_seconds(timeouts * wire.sender.snapshot().rto_s));
        wire.call(true, |sender, _, ctx| sender.supply_until(31, ctx));
        let snapshot = wire.sender.snapshot();
        assert_eq!((snapshot.cwnd, snapshot.ssthresh), (cwnd, 75.0));
    }
}

/// SRTT 100 ms: Linux's minimum is for the variation, so RTO is 300 ms, not 200.
#[test]
fn the_smallest_rto_is_beyond_the_round_trip() {
    let config = TcpConfig::of_era(Era::Linux);
    let mut rto = crate::tcp::Rto::new(&config);
    for _ in 0..100 {
        rto.sample(ms(100), &config);
    }
    assert_eq!(rto.timeout(), ms(300));
}

/// Ends slow start at 14 segments with a cut to 7.
struct Cutter;

impl CongestionControl for Cutter {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_slow_start(&mut self, window: &mut Window, _ack: &Ack) {
        if window.cwnd >= 14.0 {
            *window = Window { cwnd: 7.0, ssthresh: 7.0 };
        }
    }
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
}

#[test]
fn a_control_that_ends_slow_start_with_a_cut_keeps_it() {
    let mut setup = setup();
    setup.cc = Some(Box::new(Cutter));
    let mut wire = setup.build().started();
    wire.run(at(1000));
    let snapshot = wire.sender.snapshot();
    assert_eq!((snapshot.cwnd, snapshot.ssthresh), (7.0, 7.0));
}

/// Halves at losses and marks, without growth.
struct Halves;

impl CongestionControl for Halves {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        window.ssthresh = (window.cwnd / 2.0).floor().max(2.0);
        window.cwnd = match event.signal {
            Signal::Rto { .. } => 1.0,
            // As RFC 3168 lets it: down to one.
            _ => (window.cwnd / 2.0).max(1.0).min(window.cwnd),
        };
    }
    fn uses_slow_start(&self) -> bool {
        false
    }
}

/// All is marked: 20, 10, 5, 2, and there it stays; nothing waits for the retransmission timer.
#[test]
fn marks_leave_two_segments() {
    let mut setup = setup();
    setup.cc = Some(Box::new(Halves));
    setup.config.initial_window = 20;
    setup.config.ecn = true;
    let setup = setup.script(|packet, _| if packet.is_ack() { Fate::Deliver } else { Fate::Mark });
    let mut wire = setup.build().started();
    wire.run(at(10_000));
    let snapshot = wire.sender.snapshot();
    assert_eq!((snapshot.cwnd, snapshot.timeouts, snapshot.ecn_reductions > 3), (2.0, 0, true));
    // Two segments a round trip of 201 ms, once it is there.
    assert!(wire.left.iter().filter(|p| p.at > at(5000)).count() > 40);
}

/// Twenty in flight, one lost: the window falls by one for every other segment that arrives, not at once.
#[test]
fn a_reduction_is_spread_over_a_round_trip() {
    let mut setup = setup().dropping(&[25]);
    setup.cc = Some(Box::new(Halves));
    setup.config.initial_window = 20;
    let mut wire = setup.build().started();
    let mut windows = Vec::new();
    for t in 200..700 {
        wire.run(at(t));
        let cwnd = wire.sender.snapshot().cwnd;
        if windows.last() != Some(&cwnd) {
            windows.push(cwnd);
        }
    }
    assert_eq!((windows[0], *windows.last().unwrap()), (20.0, 10.0));
    assert!(windows.len() > 6, "{windows:?}");
    assert!(windows.windows(2).all(|w| (w[0] - w[1]).abs() <= 2.0), "{windows:?}");
}

/// Paces 100 segments a second, in flight up to the window.
struct Paced;

impl CongestionControl for Paced {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn uses_slow_start(&self) -> bool {
        false
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate(100 * 8 * 1052))
    }
}

/// A fifth is lost, so that timers of repairs run all the time: in no second more leaves than the pacing rate lets, but one
/// segment that need not wait.
#[test]
fn timers_of_repairs_do_not_forgive_what_the_pacer_is_owed() {
    for era in [Era::Rfc, Era::Linux] {
        let mut setup = setup();
        setup.config.era = era;
        setup.cc = Some(Box::new(Paced));
        setup.config.initial_window = 30;
        let setup = setup.script(|packet, number| {
            if !packet.is_ack() && number % 5 == 3 { Fate::Drop } else { Fate::Deliver }
        });
        let mut wire = setup.build().started();
        wire.run(at(20_000));
        for second in 2..19 {
            let span = at(1000 * second)..at(1000 * second + 1000);
            let count = wire.left.iter().filter(|p| span.contains(&p.at)).count();
            assert!(count <= 103, "{era:?}, second {second}: {count}");
        }
    }
}
