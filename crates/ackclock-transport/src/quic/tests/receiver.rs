//! When the receiver answers, and with what.

use super::at;
use crate::endpoint::{Endpoint, EndpointCtx};
use crate::ids::FlowId;
use crate::outbox::Outbox;
use crate::quic::{QuicConfig, QuicReceiver, QuicReceiverParts};
use crate::record::Recorder;
use crate::rng::{Purpose, Stream};
use crate::scenario::QuicOptions;
use crate::units::Time;
use crate::wire::{AckFrame, Flags, Options, Packet};

struct Bench {
    receiver: QuicReceiver,
    record: Recorder,
}

impl Bench {
    fn new(options: &QuicOptions) -> Self {
        let config = QuicConfig::of(options);
        let setup = QuicReceiverParts { flow: FlowId(0), config, size: None, streams: None };
        Self { receiver: QuicReceiver::new(&setup), record: Recorder::default() }
    }

    fn call(
        &mut self,
        now: Time,
        f: impl FnOnce(&mut QuicReceiver, &mut EndpointCtx<'_>),
    ) -> Option<Packet> {
        let mut out = Outbox::default();
        let rng = &mut Stream::new(1, Purpose::Receiver, 0);
        f(&mut self.receiver, &mut EndpointCtx::new(now, &mut out, rng, &mut self.record));
        let mut sent = out.take();
        assert!(sent.len() <= 1);
        sent.pop()
    }

    /// A packet arrives whose segment has the same number.
    fn data(&mut self, number: u32, ms: u64, flags: Flags) -> Option<Packet> {
        let mut packet = Packet::new(FlowId(0), number, 1228, flags);
        packet.options = Options::QuicData { segment: number, frame_part: None };
        self.call(at(ms), |receiver, ctx| receiver.on_packet(packet, ctx))
    }

    /// Which of these numbers, one each millisecond, are answered at once.
    fn find_answered(&mut self, numbers: &[u32]) -> Vec<u32> {
        let each = numbers.iter().zip(1..);
        each.filter(|&(&n, ms)| self.data(n, ms, Flags::default()).is_some())
            .map(|(&n, _)| n)
            .collect()
    }
}

fn frame_of(ack: &Packet) -> AckFrame {
    match ack.options {
        Options::QuicAck(frame) => frame,
        other => panic!("{other:?}"),
    }
}

/// The packets of an ACK that were ECN-capable, and those marked.
fn marks_of(ack: &Packet) -> (u32, u32) {
    let counts = frame_of(ack).counts().unwrap();
    (counts.capable, counts.marked)
}

/// The ranges of an ACK, newest first.
fn ranges(ack: &Packet) -> Vec<(u32, u32)> {
    let frame = frame_of(ack);
    let mut all = vec![(frame.first, ack.seq + 1)];
    all.extend_from_slice(frame.older());
    all
}

/// RFC 9000 section 13.2.2: every second packet; the odd one after `max_ack_delay`, 25 ms, of which 8 us are a unit.
#[test]
fn every_second_packet_is_acknowledged_and_the_odd_one_after_the_delay() {
    let mut bench = Bench::new(&QuicOptions::default());
    assert_eq!(bench.find_answered(&[0, 1, 2, 3, 4]), [1, 3]);
    assert_eq!(bench.receiver.deadline().at, at(5 + 25));
    let ack = bench.call(at(30), Endpoint::on_timer).unwrap();
    assert_eq!((ranges(&ack), frame_of(&ack).delay), (vec![(0, 5)], 25_000 / 8));
    assert_eq!(bench.receiver.deadline().at, Time::MAX);
}

/// RFC 9000 section 13.2.1: out of order in either way, and CE.
#[test]
fn a_gap_its_filling_and_a_mark_are_acknowledged_at_once() {
    let mut bench = Bench::new(&QuicOptions { ecn: Some(true), ..QuicOptions::default() });
    assert_eq!(bench.find_answered(&[0, 1, 3, 4, 2, 5, 6]), [1, 3, 2, 6]);
    // The first packet after an ACK waits without a mark, and is acknowledged at once with one.
    assert!(bench.data(7, 10, Flags::ECT).is_none());
    let ack = bench.data(8, 11, Flags::ECT).unwrap();
    assert_eq!((ranges(&ack), marks_of(&ack)), (vec![(0, 9)], (2, 0)));
    let ack = bench.data(9, 12, Flags::ECT | Flags::CE).unwrap();
    assert_eq!((ranges(&ack), marks_of(&ack)), (vec![(0, 10)], (3, 1)));
    let ack = bench.data(11, 13, Flags::ECT).unwrap();
    assert_eq!((ranges(&ack), marks_of(&ack)), (vec![(11, 12), (0, 10)], (4, 1)));
    // Header and tag 29 + 28 below, frame 10, one further range 4, counts 12.
    assert_eq!(ack.size, 83);
}

/// RFC 9000 section 13.2.5: the delay is that of the packet with the largest number, whichever packet is answered.
#[test]
fn the_delay_is_counted_from_the_packet_with_the_largest_number() {
    let mut bench = Bench::new(&QuicOptions::default());
    assert!(bench.data(0, 1, Flags::default()).is_none());
    assert_eq!(frame_of(&bench.data(2, 2, Flags::default()).unwrap()).delay, 0);
    let ack = bench.data(1, 6, Flags::default()).unwrap();
    assert_eq!((ranges(&ack), frame_of(&ack).delay), (vec![(0, 3)], 4000 / 8));
}

/// The example of draft-ietf-quic-ack-frequency for a reordering threshold of 3, with an ACK-eliciting threshold too
/// large to matter.
#[test]
fn a_reordering_threshold_of_three_answers_as_in_the_draft_s_table() {
    let mut bench = Bench::new(&QuicOptions {
        ack_eliciting_threshold: Some(100),
        reordering_threshold: Some(3),
        ..QuicOptions::default()
    });
    assert_eq!(bench.find_answered(&[0, 1, 3, 4, 5, 8, 9, 10]), [5, 9, 10]);
    let mut bench = Bench::new(&QuicOptions {
        ack_eliciting_threshold: Some(2),
        reordering_threshold: Some(0),
        ..QuicOptions::default()
    });
    // Three packets an ACK, whatever is missing.
    assert_eq!(bench.find_answered(&[0, 5, 3, 9, 2, 1]), [3, 1]);
}

#[test]
fn a_number_received_twice_or_older_than_all_ranges_remembered_is_ignored() {
    let mut bench = Bench::new(&QuicOptions::default());
    // Every other number: 33 ranges, of which the oldest is given up.
    for n in 0..33 {
        bench.data(2 * n, u64::from(n), Flags::default());
    }
    let ack = bench.data(66, 40, Flags::default()).unwrap();
    assert_eq!(ranges(&ack), [(66, 67), (64, 65), (62, 63), (60, 61)]);
    assert!(bench.data(1, 41, Flags::default()).is_none());
    assert!(bench.data(66, 42, Flags::default()).is_none());
    let snapshot = bench.receiver.snapshot();
    assert_eq!(
        (snapshot.received_packets, snapshot.duplicate_packets, snapshot.delivered_packets),
        (36, 2, 1)
    );
}
