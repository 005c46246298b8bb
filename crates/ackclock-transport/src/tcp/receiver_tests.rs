use super::*;
use crate::era::Era;
use crate::record::Recorder;
use crate::rng::{Purpose, Stream};

struct Bench {
    receiver: Receiver,
    now: Time,
}

fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

impl Bench {
    fn new(change: impl FnOnce(&mut ReceiverParts)) -> Self {
        let config = TcpConfig::of_era(Era::Rfc);
        let mut setup = ReceiverParts { flow: FlowId(0), config, sack: true, size: None };
        change(&mut setup);
        Self { receiver: Receiver::new(&setup), now: Time::ZERO }
    }

    fn call(&mut self, f: impl FnOnce(&mut Receiver, &mut EndpointCtx<'_>)) -> Option<Packet> {
        let mut out = crate::outbox::Outbox::default();
        let mut ctx = EndpointCtx {
            now: self.now,
            out: &mut out,
            rng: &mut Stream::new(1, Purpose::Receiver, 0),
            record: &mut Recorder::default(),
            ports: &crate::wire::NO_RECORDS,
        };
        f(&mut self.receiver, &mut ctx);
        let mut out = out.take();
        assert!(out.len() <= 1, "at most one acknowledgement per event");
        out.pop()
    }

    fn packet(&mut self, packet: Packet) -> Option<Packet> {
        self.call(|receiver, ctx| receiver.on_packet(packet, ctx))
    }

    fn data(&mut self, seq: u32) -> Option<Packet> {
        self.arrive_flagged(seq, Flags::default())
    }

    fn arrive_flagged(&mut self, seq: u32, flags: Flags) -> Option<Packet> {
        self.packet(Packet::new(FlowId(0), seq, 1500, flags))
    }

    fn arrive_stamped(&mut self, seq: u32, ts: u32) -> Option<Packet> {
        let mut packet = Packet::new(FlowId(0), seq, 1500, Flags::default());
        packet.options.tcp_mut().timestamps = Some(Timestamps { sender: ts, receiver: 0 });
        self.packet(packet)
    }

    fn timer(&mut self) -> Option<Packet> {
        self.call(Endpoint::on_timer)
    }
}

#[test]
fn every_second_segment_is_acknowledged_and_the_odd_one_after_the_timeout() {
    let mut bench = Bench::new(|_| {});
    assert_eq!(bench.data(0), None);
    assert_eq!(bench.data(1).map(|a| a.seq), Some(2));
    assert_eq!(bench.receiver.deadline(), Deadline::NEVER);
    bench.now = Time::ZERO + ms(10);
    assert_eq!(bench.data(2), None);
    let due = Deadline { at: Time::ZERO + ms(210), armed: bench.now };
    assert_eq!(bench.receiver.deadline(), due);
    bench.now = due.at;
    assert_eq!(bench.timer().map(|a| a.seq), Some(3));
    assert_eq!(bench.timer(), None);
}

/// RFC 9293 section 3.8.6.3: an acknowledgement waits for a bounded time, counted from the first segment
/// that it is to acknowledge.
#[test]
fn the_timeout_runs_from_the_first_pending_segment_however_many_may_wait() {
    let mut bench = Bench::new(|setup| setup.config.delayed_ack = 4);
    for (seq, arrival_ms) in [(0, 10), (1, 60), (2, 150)] {
        bench.now = Time::ZERO + ms(arrival_ms);
        assert_eq!(bench.data(seq), None);
        assert_eq!(bench.receiver.deadline().at, Time::ZERO + ms(210));
    }
    bench.now = Time::ZERO + ms(210);
    assert_eq!(bench.timer().map(|a| a.seq), Some(3));
    // Four segments do not wait for it, and it starts anew with the next.
    for (seq, arrival_ms) in [(3, 300), (4, 310), (5, 320)] {
        bench.now = Time::ZERO + ms(arrival_ms);
        assert_eq!(bench.data(seq), None);
    }
    assert_eq!(bench.data(6).map(|a| a.seq), Some(7));
    bench.now = Time::ZERO + ms(400);
    assert_eq!(bench.data(7), None);
    assert_eq!(bench.receiver.deadline().at, Time::ZERO + ms(600));
}

#[test]
fn out_of_order_duplicate_gap_filling_and_last_segments_are_acknowledged_at_once() {
    let mut bench = Bench::new(|setup| setup.size = Some(Bytes(4 * 1460 + 1)));
    assert_eq!(bench.data(1).map(|a| a.seq), Some(0)); // out of order
    assert_eq!(bench.data(3).map(|a| a.seq), Some(0));
    assert_eq!(bench.data(0).map(|a| a.seq), Some(2)); // fills part of a gap
    assert_eq!(bench.data(0).map(|a| a.seq), Some(2)); // duplicate below
    assert_eq!(bench.data(3).map(|a| a.seq), Some(2)); // duplicate beyond the gap
    assert_eq!(bench.data(2).map(|a| a.seq), Some(4)); // fills the gap
    assert_eq!(bench.data(4).map(|a| a.seq), Some(5)); // last, although nothing else is pending
    let end = bench.receiver.snapshot();
    assert_eq!(end.delivered_bytes, 5841);
    assert_eq!((end.delivered_packets, end.received_packets, end.duplicate_packets), (5, 7, 2));
    assert!(bench.receiver.is_complete());
}

/// RFC 2018 section 4: eight segments, the first lost; then the case where every second is lost.
#[test]
fn the_examples_of_rfc_2018() {
    let mut bench = Bench::new(|_| {});
    for seq in 1..8 {
        let ack = bench.data(seq).unwrap();
        assert_eq!((ack.seq, ack.sack_blocks()), (0, &[(1, seq + 1)][..]));
    }

    // The 2nd, 4th, 6th and 8th of segments 0..8 are lost; 0 arrives in order.
    let mut bench = Bench::new(|setup| setup.config.delayed_ack = 1);
    assert_eq!(bench.data(0).unwrap().sack_blocks(), []);
    assert_eq!(bench.data(2).unwrap().sack_blocks(), [(2, 3)]);
    assert_eq!(bench.data(4).unwrap().sack_blocks(), [(4, 5), (2, 3)]);
    assert_eq!(bench.data(6).unwrap().sack_blocks(), [(6, 7), (4, 5), (2, 3)]);
    // The 4th arrives late and joins two blocks, then the 2nd fills the first gap.
    let ack = bench.data(3).unwrap();
    assert_eq!((ack.seq, ack.sack_blocks()), (1, &[(2, 5), (6, 7)][..]));
    let ack = bench.data(1).unwrap();
    assert_eq!((ack.seq, ack.sack_blocks()), (5, &[(6, 7)][..]));
}

#[test]
fn only_the_three_most_recent_blocks_are_reported_and_older_ones_come_back() {
    let mut bench = Bench::new(|_| {});
    for seq in [2, 4, 6, 8] {
        bench.data(seq);
    }
    assert_eq!(bench.data(10).unwrap().sack_blocks(), [(10, 11), (8, 9), (6, 7)]);
    assert_eq!(bench.data(9).unwrap().sack_blocks(), [(8, 11), (6, 7), (4, 5)]);
    // Extending an old block puts it first.
    assert_eq!(bench.data(3).unwrap().sack_blocks(), [(2, 5), (8, 11), (6, 7)]);
}

/// RFC 2018 section 4: after the block with the segment that caused the ACK come the blocks most recently reported,
/// here 50 before 60, however many others were reported since and have become one.
#[test]
fn blocks_reported_before_many_that_have_merged_keep_their_order() {
    let mut bench = Bench::new(|_| {});
    for seq in [60, 50, 100, 101, 103, 104, 106, 107, 109, 110, 102, 105] {
        bench.data(seq);
    }
    assert_eq!(bench.data(108).unwrap().sack_blocks(), [(100, 111), (50, 51), (60, 61)]);
}

fn echo_of(ack: &Packet) -> u32 {
    ack.timestamps().unwrap().sender
}

#[test]
fn blocks_and_timestamps_have_their_size_on_the_wire() {
    let mut bench = Bench::new(|setup| setup.config.timestamps = true);
    assert_eq!(bench.arrive_stamped(2, 7).unwrap().size, 40 + 12 + 12);
    assert_eq!(bench.arrive_stamped(4, 8).unwrap().size, 40 + 12 + 20);
    let mut plain = Bench::new(|setup| setup.sack = false);
    let ack = plain.data(2).unwrap();
    assert_eq!((ack.size, ack.sack_blocks().len()), (40, 0));
}

/// RFC 7323 section 4.3, cases A, B and C.
#[test]
fn the_echoed_timestamp_is_that_of_the_earliest_unacknowledged_segment() {
    let mut delayed = Bench::new(|setup| setup.config.timestamps = true);
    delayed.arrive_stamped(0, 1);
    assert_eq!(echo_of(&delayed.arrive_stamped(1, 2).unwrap()), 1); // A: delayed ACK echoes the first

    let mut holes = Bench::new(|setup| {
        setup.config.timestamps = true;
        setup.config.delayed_ack = 1;
    });
    assert_eq!(echo_of(&holes.arrive_stamped(0, 1).unwrap()), 1);
    assert_eq!(echo_of(&holes.arrive_stamped(2, 3).unwrap()), 1); // B: out of order echoes the last in order
    assert_eq!(echo_of(&holes.arrive_stamped(3, 4).unwrap()), 1);
    assert_eq!(echo_of(&holes.arrive_stamped(1, 5).unwrap()), 5); // C: the segment that fills the hole
    assert_eq!(echo_of(&holes.arrive_stamped(0, 2).unwrap()), 5); // older than TS.Recent
}

#[test]
fn congestion_is_echoed_until_the_window_is_reduced() {
    let mut bench = Bench::new(|_| {});
    let ece = |ack: Option<Packet>| ack.map(|a| a.flags.has(Flags::ECE));
    assert_eq!(ece(bench.data(0)), None);
    assert_eq!(ece(bench.arrive_flagged(1, Flags::CE)), Some(true)); // the change is reported at once
    assert_eq!(ece(bench.data(2)), Some(true));
    bench.data(3);
    assert_eq!(ece(bench.data(4)), Some(true));
    bench.arrive_flagged(5, Flags::CWR);
    assert_eq!(ece(bench.data(6)), Some(false));
    assert_eq!(ece(bench.arrive_flagged(7, Flags::CWR | Flags::CE)), Some(true));
}

#[test]
fn a_request_is_answered_each_time() {
    let mut bench = Bench::new(|_| {});
    for _ in 0..2 {
        let answer = bench.arrive_flagged(0, Flags::SYN).unwrap();
        assert!(answer.flags.has(Flags::SYN | Flags::ACK));
        assert_eq!((answer.seq, answer.size), (0, 40));
    }
    assert_eq!(bench.receiver.snapshot().received_packets, 0);
}

/// RFC 7323 section 5.5: after half a turn of the clock a new timestamp looks older than the one kept.
#[test]
fn a_timestamp_after_a_long_silence_is_echoed() {
    let mut bench = Bench::new(|setup| {
        setup.config.timestamps = true;
        setup.config.delayed_ack = 1;
    });
    let mut echo = |s: u64, seq: u32| {
        bench.now = Time::ZERO + ms(1000 * s);
        bench.arrive_stamped(seq, timestamp(bench.now)).map(|ack| echo_of(&ack))
    };
    let timestamp_at = |s: u64| Some(timestamp(Time::ZERO + ms(1000 * s)));
    assert_eq!(echo(1, 0), timestamp_at(1));
    assert_eq!(echo(181, 1), timestamp_at(181));
    assert_eq!(echo(182, 2), timestamp_at(182));
}

fn linux() -> Bench {
    Bench::new(|setup| setup.config = TcpConfig::of_era(Era::Linux))
}

/// Beyond a gap: three ACKs at once, then one for what arrives within a millisecond; filling the gap ends
/// the wait.
#[test]
fn acknowledgements_beyond_a_gap_are_compressed_after_three() {
    let mut bench = linux();
    for seq in 0..16 {
        assert!(bench.data(seq).is_some());
    }
    let acked: Vec<bool> = (17..22).map(|seq| bench.data(seq).is_some()).collect();
    assert_eq!(acked, [true, true, true, false, false]);
    assert_eq!(bench.receiver.deadline().at, Time::ZERO + ms(1));
    bench.now = Time::ZERO + ms(1);
    let ack = bench.timer().unwrap();
    assert_eq!((ack.seq, ack.sack_blocks()), (16, &[(17, 22)][..]));
    assert!(bench.data(22).is_none());
    assert_eq!(bench.data(16).map(|ack| ack.seq), Some(23));
    assert_eq!(bench.receiver.deadline(), Deadline::NEVER);
    // A new gap begins with three at once.
    assert!(bench.data(25).is_some());
}

/// 5 % of a round trip of 10 ms is less than a millisecond.
#[test]
fn compressed_acknowledgements_wait_for_a_twentieth_of_a_short_round_trip() {
    let mut bench = linux();
    bench.now = Time::ZERO + ms(110);
    for seq in 0..16 {
        bench.data(seq);
    }
    for seq in 17..20 {
        bench.data(seq);
    }
    let mut packet = Packet::new(FlowId(0), 20, 1500, Flags::default());
    let receiver = timestamp(Time::ZERO + ms(100));
    packet.options.tcp_mut().timestamps = Some(Timestamps { sender: 0, receiver });
    assert!(bench.packet(packet).is_none());
    assert_eq!(bench.receiver.deadline().at, Time::ZERO + ms(110) + Span::from_micros(500));
}

/// Sixteen ACKs are quick at the beginning, and after a duplicate, and after 200 ms without data.
#[test]
fn acknowledgements_are_quick_again_after_a_duplicate_and_after_a_pause() {
    let mut bench = linux();
    let quick = |bench: &mut Bench, from: u32| {
        (from..from + 40).take_while(|&seq| bench.data(seq).is_some()).count()
    };
    assert_eq!(quick(&mut bench, 0), 16);
    // Segment 16 waits; 17 makes two.
    assert_eq!(bench.data(17).map(|ack| ack.seq), Some(18));
    assert!(bench.data(3).is_some());
    assert_eq!(quick(&mut bench, 18), 15);
    bench.now = Time::ZERO + ms(201);
    assert_eq!(bench.data(34).map(|ack| ack.seq), Some(35));
    assert_eq!(quick(&mut bench, 35), 15);
}

/// Era linux, after the quick ACKs: of two segments the second is acknowledged. One with PSH is by itself, so that a
/// burst after an odd segment does not leave its own last one waiting; beyond a gap PSH changes nothing.
#[test]
fn a_segment_with_psh_is_acknowledged_at_once() {
    let mut bench = Bench::new(|setup| {
        setup.config = TcpConfig::of_era(Era::Linux);
        setup.config.quick_acks = 0;
    });
    let answered =
        |bench: &mut Bench, seq, flags| bench.arrive_flagged(seq, flags).map(|ack| ack.seq);
    let none = Flags::default();
    assert_eq!(answered(&mut bench, 0, none), None);
    assert_eq!(answered(&mut bench, 1, none), Some(2));
    assert_eq!(answered(&mut bench, 2, Flags::PUSH), Some(3));
    // Three at once, then those beyond the gap wait, with PSH too.
    for seq in 4..7 {
        assert_eq!(answered(&mut bench, seq, none), Some(3));
    }
    assert_eq!(answered(&mut bench, 7, Flags::PUSH), None);
}

/// Each third segment is acknowledged, and one that ends a frame; what comes after it is counted anew.
#[test]
fn the_end_of_a_frame_of_media_is_acknowledged_at_once() {
    let mut bench = Bench::new(|setup| {
        (setup.config.frame_acks, setup.config.delayed_ack) = (true, 3);
    });
    let answered: Vec<Option<u32>> = (0..8)
        .map(|seq| {
            let flags = if seq == 3 { Flags::PUSH } else { Flags::default() };
            bench.arrive_flagged(seq, flags).map(|ack| ack.seq)
        })
        .collect();
    assert_eq!(answered, [None, None, Some(3), Some(4), None, None, Some(7), None]);
}

#[test]
fn without_the_options_of_linux_psh_is_ignored() {
    let mut bench = Bench::new(|_| {});
    assert!(bench.arrive_flagged(0, Flags::PUSH).is_none());
    assert!(bench.arrive_flagged(1, Flags::default()).is_some());
}

/// The header of a segment is answered by a NACK that acknowledges nothing, one of a segment that is here by an ACK.
#[test]
fn a_header_without_payload_is_answered_at_once() {
    let mut bench = Bench::new(|_| {});
    bench.data(0);
    let nack = bench.arrive_flagged(3, Flags::TRIMMABLE | Flags::TRIMMED).unwrap();
    assert!(nack.flags.has(Flags::ACK | Flags::NACK) && nack.seq == 3);
    assert!(nack.sack_blocks().is_empty());
    assert!(bench.data(2).is_some());
    let ack = bench.arrive_flagged(2, Flags::TRIMMABLE | Flags::TRIMMED).unwrap();
    assert!(!ack.flags.has(Flags::NACK) && ack.seq == 1);
    assert_eq!(ack.sack_blocks(), [(2, 3)]);
    let state = bench.receiver.snapshot();
    assert_eq!((state.received_packets, state.trimmed_packets, state.duplicate_packets), (2, 2, 0));
}
