//! Losses, timers and reductions, computed by hand.

use super::wire::{Fate, Setup};
use super::{at, ms};
use crate::cc::{Ack, Congestion, CongestionControl, SentRecord, Signal, Window};
use crate::endpoint::Endpoint;
use crate::quic::sent::{Outage, SentPackets};
use crate::quic::{QuicConfig, rtt::Rtt};
use crate::scenario::QuicOptions;
use crate::scoreboard::Stamp;
use crate::units::{Span, Time};
use crate::wire::Flags;

fn stamp(sent_at: Time) -> Stamp {
    let record = SentRecord { sent_at, delivered: 0, delivered_at: sent_at, in_flight: 1 };
    Stamp { record, app_limited: false }
}

/// The example of RFC 9002 section 7.6.2, a second later, after a sample at 0.5 s: #1 to #9 leave at 1, 2, 3, 4, 5, 6,
/// 7, 9 and 13 s, #1 is acknowledged at 2.2 s, #9 at 13.2 s. #2 to #8 are lost; 7 s passed between the first and the
/// last of them.
#[test]
fn the_rfc_s_example_of_persistent_congestion_lasts_seven_seconds() {
    let config = QuicConfig::of(&QuicOptions::default());
    let (mut sent, mut outage) = (SentPackets::default(), Outage::default());
    let mut rtt = Rtt::new(&config);
    rtt.sample(ms(200), Span::ZERO, at(500));
    let send = |sent: &mut SentPackets, s: u64| sent.send(0, stamp(at(1000 * s)));
    send(&mut sent, 1);
    send(&mut sent, 2);
    sent.acknowledge((0, 1), |_| ());
    for s in [3, 4, 5, 6, 7, 9, 13] {
        send(&mut sent, s);
    }
    sent.acknowledge((8, 9), |_| ());
    let (mut lost, mut longest) = (Vec::new(), Span::ZERO);
    let due = sent.detect_lost(&config, rtt.loss_delay(&config), at(13_200), |gone| {
        lost.push(gone.number + 1);
        longest = longest.max(outage.on_lost(&gone, rtt.first_sample()));
    });
    assert_eq!((lost, due), ((2..=8).collect(), None));
    assert_eq!(longest, ms(7000));
    assert_eq!(sent.in_flight(), 0);
    // Their late acknowledgement is noticed once.
    let mut late = 0;
    sent.find_late((2, 5), |_| late += 1);
    sent.find_late((2, 5), |_| late += 1);
    assert_eq!(late, 3);
}

/// Ten packets leave at 201 ms, a round trip of 201 ms each, a millisecond apart. Number 2 is dropped: number 5 is the
/// third above it. The receiver answers 3, 4, 5, ... at once while 2 is missing.
#[test]
fn a_packet_three_below_the_largest_is_lost_and_its_data_leave_with_a_new_number() {
    let mut wire = Setup::new().segments(10).dropping(&[2]).start();
    wire.run(at(100_000));
    let log = wire.log.lock().unwrap();
    assert_eq!(log.events.len(), 1);
    assert_eq!(log.events[0].signal, Signal::FastRetransmit { lost: 1 });
    // Number 5 arrives at 201 + 6 + 100 ms, its ACK 100 ms later.
    assert_eq!(log.events[0].now, at(407));
    assert_eq!(wire.again(), [(10, 2)]);
    let snapshot = wire.sender.snapshot();
    assert_eq!((snapshot.sent_packets, snapshot.retransmits, snapshot.recoveries), (11, 1, 1));
    assert!(snapshot.completed_s > 0.0 && wire.receiver.is_complete());
    let numbers: Vec<u32> = wire.data().map(|p| p.seq).collect();
    assert_eq!(numbers, (0..11).collect::<Vec<_>>());
}

/// RFC 9002, appendix B.5: what left at the time of the reduction, as the segment sent again, does not grow the window: after
/// its ACK it is half of what it was, 10 and the three packets acknowledged before, as 2 is lost.
#[test]
fn what_leaves_with_a_reduction_does_not_grow_the_window() {
    let mut wire = Setup::new().segments(10).dropping(&[2]).start();
    wire.run(at(100_000));
    assert_eq!(wire.again(), [(10, 2)]);
    let resent = wire.data().find(|packet| packet.seq == 10).unwrap().at;
    assert_eq!(resent, wire.log.lock().unwrap().events[0].now);
    let snapshot = wire.sender.snapshot();
    assert!(snapshot.completed_s > 0.0 && snapshot.ssthresh > 2.0);
    assert_eq!(snapshot.cwnd, snapshot.ssthresh);
}

/// Of ten packets number 8 is dropped: only one follows, so time decides. They leave at 201 ms; the ACK of 9
/// comes at 411 ms with a sample of 210 ms, the largest: 201 + 9/8 x 210 = 437.25 ms.
#[test]
fn without_three_later_packets_a_packet_is_lost_after_nine_eighths_of_the_round_trip() {
    let mut wire = Setup::new().segments(10).dropping(&[8]).start();
    wire.run(at(100_000));
    let log = wire.log.lock().unwrap();
    assert_eq!(log.events.len(), 1);
    assert_eq!(log.events[0].now, Time(437_250_000_000));
    assert_eq!(wire.again(), [(10, 8)]);
    assert_eq!(wire.sender.snapshot().timeouts, 0);
}

/// All is lost from 500 ms on. Between two probes the period doubles; nothing is declared lost and no
/// window is reduced.
#[test]
fn the_probe_timeout_doubles_and_reduces_nothing() {
    let mut wire = Setup::new()
        .script(|_, now| if now >= at(500) { Fate::Drop } else { Fate::Deliver })
        .start();
    wire.run(at(60_000));
    let snapshot = wire.sender.snapshot();
    assert!(wire.log.lock().unwrap().events.is_empty());
    let mut times: Vec<Time> = wire.data().filter(|p| p.at > at(1000)).map(|p| p.at).collect();
    // Two packets a probe.
    assert!(times.windows(2).step_by(2).all(|pair| pair[0] == pair[1]));
    times.dedup();
    assert!(snapshot.timeouts >= times.len() as u64);
    let gaps: Vec<Span> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(gaps.len() >= 5);
    for pair in gaps.windows(2) {
        assert_eq!(pair[1], pair[0] * 2);
    }
}

/// The path is dead from 500 ms to 20 s. A probe then gets through; all that had left before it is lost, over more
/// than three probe timeouts: the window is the minimum, ssthresh is halved once. The path is 300 ms longer then, and
/// the smallest round trip is that of the probe.
#[test]
fn an_outage_of_three_probe_timeouts_cuts_the_window_to_two() {
    let mut wire = Setup::new()
        .script(|packet, now| match (packet.is_ack(), now) {
            (false, now) if now >= at(20_000) => Fate::Late(ms(300)),
            (false, now) if now >= at(500) => Fate::Drop,
            _ => Fate::Deliver,
        })
        .start();
    wire.run(at(19_999));
    let before = wire.sender.snapshot().cwnd;
    while wire.sender.outages() == 0 {
        let next = wire.now + ms(50);
        wire.run(next);
        wire.now = next;
        assert!(wire.now < at(60_000), "never");
    }
    let snapshot = wire.sender.snapshot();
    assert_eq!(wire.sender.outages(), 1);
    let signals: Vec<Signal> = wire.log.lock().unwrap().events.iter().map(|e| e.signal).collect();
    assert!(matches!(signals[..], [Signal::FastRetransmit { .. }, Signal::Rto { consecutive: 1 }]));
    assert_eq!(snapshot.ssthresh, before / 2.0);
    let least: Vec<Span> = wire.log.lock().unwrap().events.iter().map(|e| e.min_rtt).collect();
    assert!(least[0] <= ms(201 + 10) && least[1] >= ms(501), "{least:?}");
    // Two, and one for the packet that the ACK acknowledges: the recovery period is over (appendix B.8).
    let cut = wire.record.tables.windows.iter().find(|row| row.ssthresh < before).unwrap();
    assert_eq!(cut.cwnd, 3.0);
}

/// Three packets of one flight are dropped: one reduction. One of the next flight: another.
#[test]
fn losses_of_one_flight_reduce_once() {
    let mut wire = Setup::new().segments(60).dropping(&[2, 4, 7, 25]).start();
    wire.run(at(100_000));
    let log = wire.log.lock().unwrap();
    assert_eq!(log.events.len(), 2, "{:?}", log.events);
    assert_eq!(wire.sender.snapshot().recoveries, 2);
    let again: Vec<u32> = wire.again().iter().map(|&(_, segment)| segment).collect();
    assert_eq!(again.len(), 4);
    assert_eq!(again[..3], [2, 4, 7]);
}

/// Number 3 is 60 ms late: it is declared lost and its data sent again; then it arrives.
#[test]
fn a_late_packet_is_noticed_and_not_sent_a_third_time() {
    let mut wire = Setup::new()
        .segments(30)
        .script(|packet, _| {
            let is_data = !packet.is_ack() && !packet.flags.has(Flags::SYN);
            if is_data && packet.seq == 3 { Fate::Late(ms(60)) } else { Fate::Deliver }
        })
        .start();
    wire.run(at(100_000));
    assert_eq!(wire.sender.late(), 1);
    assert_eq!(wire.sender.snapshot().retransmits, 1);
    assert_eq!(wire.receiver.snapshot().duplicate_packets, 1);
    assert!(wire.receiver.is_complete());
}

/// One mark in the first flight of ten: one reduction, no loss, as many packets as segments.
#[test]
fn a_mark_reduces_once_per_round_trip() {
    let mut wire = Setup::new()
        .segments(40)
        .config(|config| config.ecn = true)
        .script(|packet, _| {
            if !packet.is_ack() && (2..6).contains(&packet.seq) {
                Fate::Mark
            } else {
                Fate::Deliver
            }
        })
        .start();
    wire.run(at(100_000));
    let log = wire.log.lock().unwrap();
    let signals: Vec<Signal> = log.events.iter().map(|event| event.signal).collect();
    assert_eq!(signals, [Signal::EcnEcho]);
    let snapshot = wire.sender.snapshot();
    assert_eq!((snapshot.ecn_reductions, snapshot.retransmits, snapshot.sent_packets), (1, 0, 40));
}

/// The first two requests are dropped; they leave at 0 and, by the initial PTO of 999 ms, at 999 and 2997 ms. The
/// answer to the third gives a sample of 201 ms: no ambiguity.
#[test]
fn the_sample_of_a_repeated_handshake_is_that_of_the_request_answered() {
    let mut wire = Setup::new()
        .segments(1)
        .script(|packet, now| {
            let early = packet.flags.has(Flags::SYN) && now < at(2000);
            if early { Fate::Drop } else { Fate::Deliver }
        })
        .start();
    wire.run(at(100_000));
    assert_eq!(wire.data().next().unwrap().at, at(2997 + 201));
    assert_eq!(wire.record.tables.rtts[0].rtt, ms(201));
    assert_eq!(wire.sender.snapshot().timeouts, 2);
}

/// RFC 9002 section 7.7: with N = 1.25, SRTT 201 ms and a window of 10 packets the packets after the burst are
/// 201 / 12.5 = 16.08 ms apart.
#[test]
fn packets_are_paced_at_a_quarter_above_the_window_s_rate_after_a_burst() {
    let mut wire = Setup::new()
        .config(|config| (config.pacing_factor, config.pacing_burst) = (1.25, 4))
        .start();
    wire.run(at(300));
    let times: Vec<Time> = wire.data().map(|p| p.at).collect();
    assert_eq!(times.iter().filter(|&&t| t == at(201)).count(), 4);
    for pair in times[3..].windows(2) {
        let gap = pair[1].since(pair[0]).seconds();
        assert!((gap - 0.01608).abs() < 1e-9, "{gap}");
    }
}

/// Has one window for ever.
struct Fixed(f64);

impl CongestionControl for Fixed {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn initial_window(&self) -> Option<f64> {
        Some(self.0)
    }
    fn uses_slow_start(&self) -> bool {
        false
    }
}

/// Of a window with a fraction only whole packets are in flight: RFC 9002, section 7, "MUST NOT send a packet if it would
/// cause `bytes_in_flight` to be larger than the congestion window".
#[test]
fn no_packet_leaves_for_which_the_window_has_part_of_the_room() {
    for (window, packets) in [(2.0, 2), (2.5, 2), (2.99, 2), (3.0, 3), (7.5, 7)] {
        let setup = Setup { cc: Some(Box::new(Fixed(window))), ..Setup::new() };
        let mut wire = setup.segments(100).start();
        for round in 1..=5u64 {
            wire.run(at(200 * round + 150));
            assert_eq!(wire.data().count() as u64, packets * round, "{window} {round}");
        }
    }
}
