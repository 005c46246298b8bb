//! ACK frames made by hand: what the sender believes of their delays and of their counts of ECN.

use super::wire::{Fate, Setup, Wire};
use super::{at, ms};
use crate::endpoint::{Endpoint, EndpointCtx};
use crate::ids::FlowId;
use crate::outbox::Outbox;
use crate::rng::{Purpose, Stream};
use crate::wire::{AckFrame, Flags, MarkCounts, Options, Packet};

/// Ten packets have left at 201 ms, the handshake took 201 ms; nothing else reaches either end.
fn ten_under_way(ecn: bool) -> Wire {
    let setup = Setup::new()
        .config(|config| config.ecn = ecn)
        .script(|packet, _| if packet.flags.has(Flags::SYN) { Fate::Deliver } else { Fate::Drop });
    let mut wire = setup.start();
    wire.run(at(210));
    assert_eq!(wire.data().count(), 10);
    wire
}

/// An ACK frame arrives; the packets that leave.
fn acknowledge(wire: &mut Wire, ms: u64, largest: u32, frame: AckFrame) -> Vec<Packet> {
    let mut out = Outbox::default();
    let rng = &mut Stream::new(1, Purpose::Sender, 0);
    let mut packet = Packet::new(FlowId(0), largest, 79, Flags::ACK);
    packet.options = Options::QuicAck(frame);
    let mut ctx = EndpointCtx::new(at(ms), &mut out, rng, &mut wire.record);
    wire.sender.on_packet(packet, &mut ctx);
    out.take().into_iter().collect()
}

/// An ACK of all up to `largest` with these counts, 200 ms after the packets left.
fn with_counts(wire: &mut Wire, largest: u32, counts: Option<(u32, u32)>) -> Vec<Packet> {
    let counts = counts.map(|(capable, marked)| MarkCounts { capable, marked });
    acknowledge(wire, 401, largest, AckFrame::new(0, 0, &[], counts))
}

/// RFC 9002 section 5.3: 350 ms, of which the peer says that it held 100; `max_ack_delay` is 25. SRTT is
/// 7/8 x 201 + 1/8 x 325 = 216.5 ms.
#[test]
fn a_delay_counts_up_to_the_longest_that_the_peer_may_take() {
    let mut wire = ten_under_way(false);
    acknowledge(&mut wire, 551, 9, AckFrame::new(0, 100_000 / 8, &[], None));
    let srtt = wire.sender.snapshot().srtt_s;
    assert!((srtt - 0.2165).abs() < 1e-12, "{srtt}");
}

/// 225 ms, of which the peer held the packet 20: a rate sample has the 205 that the path took; where that would lead
/// below the least of 201 ms, what was measured.
#[test]
fn a_rate_sample_is_without_the_delay_that_the_peer_reports() {
    for (delay_ms, expected_ms) in [(20, 205), (25, 225)] {
        let setup = Setup::new().script(|packet, _| {
            if packet.flags.has(Flags::SYN) { Fate::Deliver } else { Fate::Drop }
        });
        let mut wire = Setup { samples: true, ..setup }.start();
        wire.run(at(210));
        acknowledge(&mut wire, 426, 9, AckFrame::new(0, delay_ms * 1000 / 8, &[], None));
        assert_eq!(wire.log.lock().unwrap().rtts, [Some(ms(expected_ms))]);
    }
}

/// RFC 9000 section 13.4.2.1: counts that are too few, of more marks than packets, of more packets than were sent,
/// that fall, or are missing, end ECN; right ones keep it.
#[test]
fn counts_that_cannot_be_true_end_ecn_and_right_ones_keep_it() {
    let is_ect = |left: &[Packet]| {
        assert!(!left.is_empty());
        let marked = left.iter().filter(|packet| packet.flags.has(Flags::ECT)).count();
        assert!(marked == 0 || marked == left.len());
        marked > 0
    };
    for (first, second, is_kept) in [
        (Some((5, 0)), Some((9, 0)), true),
        (Some((5, 2)), Some((9, 4)), true),
        // More arrived than these ACKs are for.
        (Some((7, 0)), Some((9, 0)), false),
        (Some((7, 0)), Some((11, 3)), true),
        (Some((5, 0)), Some((8, 0)), false),
        (Some((5, 5)), Some((9, 10)), false),
        (Some((5, 1)), Some((9, 0)), false),
        (Some((5, 0)), None, false),
        (Some((5, 0)), Some((1_000_000, 0)), false),
    ] {
        let mut wire = ten_under_way(true);
        assert!(is_ect(&with_counts(&mut wire, 4, first)), "{first:?}");
        let left = with_counts(&mut wire, 8, second);
        assert_eq!(is_ect(&left), is_kept, "{first:?} {second:?}");
        let snapshot = wire.sender.snapshot();
        assert_eq!(snapshot.ecn_failures, u64::from(!is_kept), "{first:?} {second:?}");
    }
}

/// Section 13.4.2.1: "MUST NOT fail" by an ACK that does not raise the largest number acknowledged.
#[test]
fn an_ack_that_was_overtaken_does_not_end_ecn() {
    let mut wire = ten_under_way(true);
    with_counts(&mut wire, 8, Some((9, 0)));
    with_counts(&mut wire, 4, Some((5, 0)));
    assert_eq!(wire.sender.snapshot().ecn_failures, 0);
}
