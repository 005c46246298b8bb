//! What the control says and hears: window, pacing, ECN, timer.

use std::sync::{Arc, Mutex};

use super::wire::{Fate, Setup};
use super::{Fixed, Halving, Log, Mad, at, ms};
use crate::cc::{Ack, Congestion, CongestionControl, Signal, Window};
use crate::endpoint::Endpoint;
use crate::units::{BitRate, Span, Time};
use crate::wire::{Flags, Packet};

fn is_first(packet: &Packet, seq: u32) -> bool {
    let again = packet.flags.has(Flags::RETX) || packet.flags.has(Flags::SYN);
    !packet.is_ack() && !again && packet.seq == seq
}

#[test]
fn a_window_of_marks_reduces_once_and_cwr_ends_the_echo() {
    let mut setup = Setup::new("sack").segments(100).script(|packet, _| {
        if (20..30).contains(&packet.seq) && !packet.is_ack() { Fate::Mark } else { Fate::Deliver }
    });
    setup.config.ecn = true;
    setup.config.initial_window = 10;
    setup.config.initial_ssthresh = 10.0;
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let end = wire.sender.snapshot();
    assert_eq!((end.ecn_reductions, end.recoveries, end.retransmits), (1, 0, 0));
    let cwr: Vec<u32> =
        wire.left.iter().filter(|p| p.flags.has(Flags::CWR)).map(|p| p.seq).collect();
    assert_eq!(cwr.len(), 1);
    // The echo begins with 20 and goes on to the segment before the one with CWR.
    let echoed: Vec<u32> =
        wire.acks.iter().filter(|a| a.2.has(Flags::ECE)).map(|a| a.1 - 1).collect();
    assert_eq!(echoed, (20..cwr[0]).collect::<Vec<_>>());
    assert!(wire.left.iter().all(|p| p.flags.has(Flags::ECT)));
}

#[test]
fn a_loss_in_the_window_of_a_mark_does_not_reduce_again() {
    for recovery in ["reno", "newreno", "sack"] {
        let mut setup = Setup::new(recovery).segments(200).script(|packet, _| {
            if is_first(packet, 20) {
                Fate::Mark
            } else if is_first(packet, 24) || is_first(packet, 120) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        setup.config.ecn = true;
        setup.config.initial_window = 10;
        setup.config.initial_ssthresh = 10.0;
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        let signals: Vec<Signal> = wire.log.lock().unwrap().iter().map(|e| e.signal).collect();
        assert_eq!(signals, [Signal::EcnEcho, Signal::FastRetransmit { lost: 1 }], "{recovery}");
        // No retransmission is ECN-capable, and the later reduction sends its own CWR.
        assert!(wire.resent().iter().all(|p| !p.flags.has(Flags::ECT) && !p.flags.has(Flags::CWR)));
        assert_eq!(wire.left.iter().filter(|p| p.flags.has(Flags::CWR)).count(), 2);
    }
}

/// The segment that says so (CWR) is the first that was sent after a reduction: its loss is of another window.
#[test]
fn a_loss_of_the_first_segment_after_a_marked_window_reduces_again() {
    let mut setup = Setup::new("sack").segments(200).script(|packet, _| {
        if is_first(packet, 20) {
            Fate::Mark
        } else if packet.flags.has(Flags::CWR) && !packet.flags.has(Flags::RETX) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    setup.config.ecn = true;
    setup.config.initial_window = 10;
    setup.config.initial_ssthresh = 10.0;
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let signals: Vec<Signal> = wire.log.lock().unwrap().iter().map(|e| e.signal).collect();
    assert_eq!(signals[..2], [Signal::EcnEcho, Signal::FastRetransmit { lost: 1 }]);
}

#[test]
fn a_paced_flow_sends_at_its_rate() {
    let mut setup = Setup::new("sack").segments(50).config(|c| c.initial_window = 100);
    setup.cc = Some(Box::new(Halving { log: Log::default(), pacing: Some(BitRate(1_040_000)) }));
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let times: Vec<Time> = wire.left.iter().map(|p| p.at).collect();
    assert_eq!(times, (0..50).map(|i| at(8 * i)).collect::<Vec<_>>());
}

/// One burst of the whole window would otherwise take more memory than a machine has.
#[test]
fn a_window_in_range_is_cut_to_what_may_be_in_flight() {
    let mut setup = Setup::new("sack").segments(40);
    setup.cc = Some(Box::new(Mad(2e9)));
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    assert_eq!(wire.sender.failure(), None);
    assert_eq!(wire.sender.snapshot().cwnd, 8_388_608.0);
}

#[test]
fn an_absurd_window_stops_the_flow_with_a_sentence() {
    for value in [f64::NAN, 0.5, 1e12] {
        let mut setup = Setup::new("sack");
        setup.cc = Some(Box::new(Mad(value)));
        let mut wire = setup.build().started();
        wire.run(at(10_000));
        let failure = wire.sender.failure().unwrap();
        for phrase in ["control test", &value.to_string(), "0.201 s", "flow 0"] {
            assert!(failure.contains(phrase), "{failure:?} does not name {phrase}");
        }
        assert_eq!(wire.left.len(), 1);
        assert_eq!(wire.sender.deadline().at, Time::MAX);
    }
}

#[test]
fn a_burst_bound_limits_new_segments_per_acknowledgement() {
    let lost_acks = |packet: &Packet, _| {
        // Only the last acknowledgement of the first window gets through.
        if packet.is_ack() && packet.seq < 20 { Fate::Drop } else { Fate::Deliver }
    };
    for (bound, burst) in [(0, 21), (4, 4)] {
        let mut wire = Setup::new("sack")
            .config(|c| {
                c.initial_window = 20;
                c.max_burst = bound;
            })
            .script(lost_acks)
            .build()
            .started();
        wire.run(at(221));
        assert_eq!(wire.left.len(), 20 + burst);
    }
}

struct Watch {
    acks: Arc<Mutex<Vec<Ack>>>,
    ticks: Arc<Mutex<Vec<Time>>>,
}

impl CongestionControl for Watch {
    fn on_ack(&mut self, _window: &mut Window, ack: &Ack) {
        self.acks.lock().unwrap().push(*ack);
    }
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn uses_slow_start(&self) -> bool {
        false
    }
    fn timer_interval(&self) -> Option<Span> {
        Some(ms(20))
    }
    fn on_timer(&mut self, _window: &mut Window, now: Time) {
        self.ticks.lock().unwrap().push(now);
    }
}

#[test]
fn a_control_hears_rate_round_and_flight_and_its_timer_runs() {
    let acks = Arc::new(Mutex::new(Vec::new()));
    let ticks = Arc::new(Mutex::new(Vec::new()));
    let mut setup = Setup::new("sack").config(|c| c.initial_window = 100);
    setup.cc = Some(Box::new(Watch { acks: Arc::clone(&acks), ticks: Arc::clone(&ticks) }));
    let mut wire = setup.build().started();
    wire.run(at(2101));
    let acks = acks.lock().unwrap();
    let last = acks.last().unwrap();
    assert!((last.delivery_rate - 100.0 / 0.201).abs() < 1e-6, "{}", last.delivery_rate);
    assert_eq!((last.in_flight, last.acked, last.min_rtt), (99, 1, ms(201)));
    assert_eq!(last.newest.in_flight, 100);
    assert_eq!(last.newest.sent_at, at(2101) - ms(201));
    // Acknowledgements of segment 0, 100, 200, .. begin rounds: at 201, 402, .. 2010 ms.
    assert_eq!(last.round, 10);
    assert!(acks.iter().all(|ack| ack.delivery_rate <= 1000.0 && !ack.app_limited));
    let expected: Vec<Time> = (1..=105).map(|i| at(20 * i)).collect();
    assert_eq!(*ticks.lock().unwrap(), expected);
}

struct Listener(Arc<Mutex<Vec<Congestion>>>);

impl CongestionControl for Listener {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, event: &Congestion) {
        self.0.lock().unwrap().push(*event);
    }
    fn uses_slow_start(&self) -> bool {
        false
    }
}

/// Of the first window each segment waits 1 ms longer than the one before it, 201 to 210 ms; later ones do not wait.
#[test]
fn a_control_hears_round_trip_times_with_a_congestion() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let mut setup =
        Setup::new("sack").dropping(&[15]).segments(60).config(|c| c.initial_window = 10);
    setup.cc = Some(Box::new(Listener(Arc::clone(&events))));
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let events = events.lock().unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].min_rtt, ms(201));
    assert!(events[0].srtt > ms(201) && events[0].srtt < ms(210), "{:?}", events[0].srtt);
}

#[test]
fn data_that_the_application_was_late_with_is_marked_as_such() {
    let acks = Arc::new(Mutex::new(Vec::new()));
    let mut setup = Setup::new("sack").segments(100).config(|c| c.initial_window = 10);
    setup.cc = Some(Box::new(Watch { acks: Arc::clone(&acks), ticks: Arc::default() }));
    let mut wire = setup.build();
    wire.call(true, |sender, _, ctx| {
        sender.supply_until(3, ctx);
        sender.start(ctx);
    });
    wire.run(at(100));
    wire.call(true, |sender, _, ctx| sender.supply_until(5, ctx));
    wire.run(at(2000));
    let limited: Vec<bool> = acks.lock().unwrap().iter().map(|ack| ack.app_limited).collect();
    assert_eq!(limited, [false, false, false, true, true]);
}

#[test]
fn the_window_is_constant_in_fast_recovery() {
    let mut wire = Setup::new("newreno").dropping(&[15, 18, 21]).segments(80).build().started();
    wire.run(at(60_000));
    let entered = wire.record.tables.states.iter().find(|row| row.state == "recovery").unwrap().at;
    let left = wire.record.tables.states.iter().find(|row| row.state == "avoidance").unwrap().at;
    let mut in_recovery =
        wire.record.tables.windows.iter().filter(|row| row.at >= entered && row.at < left);
    assert!(in_recovery.clone().count() > 10);
    assert!(in_recovery.all(|row| row.cwnd == row.ssthresh));
    let after = wire.record.tables.windows.iter().find(|row| row.at >= left).unwrap();
    assert_eq!(after.cwnd, after.ssthresh);
}

#[test]
fn the_acknowledgement_that_ecn_answers_does_not_grow_the_window() {
    let mut setup = Setup::new("sack")
        .segments(60)
        .script(|packet, _| if is_first(packet, 20) { Fate::Mark } else { Fate::Deliver });
    setup.config.ecn = true;
    setup.config.initial_window = 10;
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let reduced = wire.record.tables.windows.iter().find(|row| row.ssthresh.is_finite()).unwrap();
    assert_eq!(reduced.cwnd, reduced.ssthresh);
}

/// 1040 bytes at 4160 bit/s take 2 s; the timer expires after 1 s and need not wait for the pacer.
#[test]
fn what_a_timeout_resends_does_not_wait_for_the_pacer() {
    let mut setup = Setup::new("sack").dropping(&[0]).segments(5);
    setup.cc = Some(Box::new(Halving { log: Log::default(), pacing: Some(BitRate(4160)) }));
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    assert_eq!(wire.resent()[0].at, at(1000));
    assert!(wire.sender.snapshot().completed_s > 0.0);
}

#[test]
fn a_flow_out_of_profile_says_so_on_every_data_packet_and_on_no_acknowledgement() {
    let mut setup = Setup::new("sack").dropping(&[7]).segments(20);
    setup.config.out_of_profile = true;
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    assert_eq!(wire.resent().len(), 1);
    assert!(wire.left.iter().all(|p| p.flags.has(Flags::OUT)));
    assert!(wire.acks.iter().all(|a| !a.2.has(Flags::OUT)));
}

/// RFC 3168 section 6.1.2: the window cannot be reduced below one segment, so each mark makes the next
/// segment wait for the retransmission timer (1 s here), which is no timeout.
#[test]
fn a_mark_at_a_window_of_one_segment_makes_the_next_one_wait_for_the_timer() {
    let mut setup = Setup::new("sack")
        .segments(4)
        .script(|_, number| if number == 2 { Fate::Deliver } else { Fate::Mark });
    setup.cc = Some(Box::new(Fixed));
    setup.config.ecn = true;
    let mut wire = setup.build().started();
    wire.run(at(10_000));
    let left: Vec<(Time, u32)> = wire.left.iter().map(|p| (p.at, p.seq)).collect();
    // Segment 2 has no mark: CWR ends the echo, and segment 3 follows its acknowledgement.
    assert_eq!(left, [(at(0), 0), (at(1201), 1), (at(2402), 2), (at(2603), 3)]);
    let end = wire.sender.snapshot();
    assert_eq!((end.timeouts, end.retransmits, end.recoveries), (0, 0, 0));
    assert!(end.completed_s > 0.0);
}

/// A window of one segment at 16 kbit/s: half a second for each.
struct SlowPacer;

impl CongestionControl for SlowPacer {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate(16_640))
    }
}

#[test]
fn a_sender_that_waits_for_ecn_does_not_wait_for_its_pacer() {
    let mut setup = Setup::new("sack").segments(2).script(|_, _| Fate::Mark);
    setup.cc = Some(Box::new(SlowPacer));
    setup.config.ecn = true;
    setup.config.initial_ssthresh = 1.0;
    let mut wire = setup.build().started();
    wire.run(at(10_000));
    let left: Vec<(Time, u32)> = wire.left.iter().map(|p| (p.at, p.seq)).collect();
    assert_eq!(left, [(at(0), 0), (at(1201), 1)]);
}
