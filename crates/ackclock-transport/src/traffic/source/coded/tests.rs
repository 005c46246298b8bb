use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ids::FlowId;
use crate::registry::refusal;
use crate::traffic::source::DatagramSink;
use crate::traffic::source::testing::{Hand, env, ms};
use crate::wire::Flags;

/// Blocks of 4 packets, decoded from 5.
fn decoder() -> Hand<Decoder> {
    Hand::new(Decoder::new(Box::new(DatagramSink::default()), 4, 5))
}

fn arrive(decoder: &mut Hand<Decoder>, numbers: &[u32]) -> (u64, u64, u64) {
    for &number in numbers {
        decoder.arrive(decoder.now, Packet::new(FlowId(0), number, 1000, Flags::DATAGRAM));
    }
    let snapshot = decoder.end.snapshot();
    (snapshot.delivered_packets, snapshot.delivered_bytes, snapshot.duplicate_packets)
}

#[test]
fn five_different_packets_decode_a_block_of_four_whichever_they_are() {
    let mut decoder = decoder();
    assert_eq!(arrive(&mut decoder, &[0, 1, 2, 3]), (0, 0, 0));
    assert_eq!(arrive(&mut decoder, &[4]), (4, 4000, 0));
    // Every other packet lost.
    assert_eq!(arrive(&mut decoder, &[6, 8, 10, 12]), (4, 4000, 0));
    assert_eq!(arrive(&mut decoder, &[14]), (8, 8000, 0));
    // A burst of losses longer than a block, then out of order.
    assert_eq!(arrive(&mut decoder, &[104, 102, 103, 101, 100]), (12, 12_000, 0));
    assert_eq!(decoder.end.snapshot().received_packets, 15);
}

#[test]
fn a_packet_that_arrives_twice_counts_once() {
    let mut decoder = decoder();
    assert_eq!(arrive(&mut decoder, &[0, 0, 1, 2, 1, 3]), (0, 0, 2));
    assert_eq!(arrive(&mut decoder, &[4, 4, 4]), (4, 4000, 4));
    // Numbers wrap.
    let last = u32::MAX;
    decoder.end.memory.next = last - 1;
    assert_eq!(arrive(&mut decoder, &[last - 1, last, 0, last, 0, 1]), (4, 4000, 6));
    assert_eq!(arrive(&mut decoder, &[2]), (8, 8000, 6));
}

#[test]
fn the_packets_needed_are_rounded_up() {
    for (block, overhead, needed) in
        [(1000, 0.03, 1030), (10, 0.03, 11), (100, 0.1, 110), (7, 0.0, 7), (1, 1.0, 2)]
    {
        let params = CodedParams { block, overhead, source: Spec::from("cbr") };
        assert_eq!(Coded::new(params, &env()).unwrap().needed, needed);
    }
}

#[test]
fn packets_leave_as_the_source_sends_them() {
    let source: Spec = serde_json::from_value(json!({"kind": "cbr", "rate": "8 Mbps"})).unwrap();
    let params = CodedParams { source, ..CodedParams::default() };
    let mut coded = Hand::new(Coded::new(params, &env()).unwrap());
    coded.start();
    coded.run(ms(4));
    assert_eq!(coded.times_ms(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(coded.end.snapshot().sent_packets, 4);
}

#[test]
fn a_bad_parameter_is_named() {
    for (params, expected) in [
        (json!({ "source": "coded" }), "source: is itself coded"),
        (json!({ "source": "fire-hoze" }), "source: there is no source \"fire-hoze\""),
        (json!({ "block": 0 }), "block: 0 is out of range"),
        (json!({ "overhead": -0.1 }), "overhead: -0.1 is out of range; expected at least 0"),
        (json!({ "overhead": 1e9 }), "overhead: 1000000000 is out of range; expected so small"),
        (json!({ "source": { "kind": "cbr", "rate": 0 } }), "source.rate: 0 bit/s is out of range"),
    ] {
        let message = refusal::<SourceEnv, Coded>(params, &env());
        assert!(message.starts_with(expected), "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    /// Whatever is lost, repeated or moved: a whole number of blocks, no more than arrived.
    #[test]
    fn goodput_is_the_different_arrivals_over_what_a_block_needs(
        fates in prop::collection::vec((0u32..4, 0usize..5), 0..300)
    ) {
        let mut numbers: Vec<u32> = Vec::new();
        for (number, &(copies, earlier)) in fates.iter().enumerate() {
            for _ in 0..copies {
                let place = numbers.len().saturating_sub(earlier);
                numbers.insert(place, number as u32);
            }
        }
        let different = fates.iter().filter(|(copies, _)| *copies > 0).count() as u64;
        let (packets, bytes, duplicates) = arrive(&mut decoder(), &numbers);
        prop_assert_eq!(packets, 4 * (different / 5));
        prop_assert_eq!(bytes, 1000 * packets);
        prop_assert_eq!(duplicates, numbers.len() as u64 - different);
    }
}
