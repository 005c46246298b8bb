use proptest::prelude::*;

use super::*;
use crate::ids::FlowId;
use crate::wire::Flags;

/// 10 Mbit/s and 10 ms each way: 1000 bytes take 0.8 ms.
fn plan(qdisc: &serde_json::Value, buffer: &str, tables: &[&str]) -> Plan {
    let text = serde_json::json!({
        "duration": 10, "warmup": 2, "seed": 3, "era": "linux",
        "net": { "kind": "graph", "links": [
            { "a": "s", "b": "r", "rate": 1e7, "delay": 0.01, "buffer": buffer, "qdisc": qdisc }] },
        "flows": [{ "src": "s", "dst": "r" }, { "src": "s", "dst": "r" }],
        "record": { "tables": tables, "interval": 0.5 },
    })
    .to_string();
    crate::api::planned(&text).unwrap()
}

fn data(flow: u32, seq: u32) -> Packet {
    Packet::new(FlowId(flow), seq, 1000, Flags::ECT)
}

fn us(us: u64) -> Time {
    Time(us * 1_000_000)
}

#[test]
fn a_packet_arrives_after_its_transmission_and_its_propagation() {
    for qdisc in ["fifo", "codel"] {
        let mut live = Live::new(&plan(&qdisc.into(), "10 pkt", &[])).unwrap();
        live.enter(data(0, 0), us(1000));
        live.enter(data(1, 1), us(1000));
        live.enter(Packet::new(FlowId(0), 1, 500, Flags::ACK), us(1000));
        // A caller who looks far too late finds the same times.
        live.advance(us(900_000));
        let seen: Vec<_> =
            std::iter::from_fn(|| live.take()).map(|left| (left.at, left.packet.seq)).collect();
        let (ack, first, second) = (us(11_400), us(11_800), us(12_600));
        assert_eq!(seen, [(ack, 1), (first, 0), (second, 1)], "{qdisc}");
        assert_eq!(live.under_way(), 0);
    }
}

#[test]
fn what_finds_no_room_is_dropped_at_once_and_counted_by_flow() {
    let mut live = Live::new(&plan(&"fifo".into(), "2 pkt", &["drops", "queues"])).unwrap();
    for seq in 0..5 {
        live.enter(data(1, seq), us(3_000_000));
    }
    let dropped: Vec<_> = std::iter::from_fn(|| live.take())
        .map(|left| (left.packet.seq, left.dropped, left.at))
        .collect();
    let overflow = Some(DropReason::Overflow);
    assert_eq!(dropped, [(3, overflow, us(3_000_000)), (4, overflow, us(3_000_000))]);
    let flow = live.flows()[1];
    assert_eq!((flow.entered, flow.lost, flow.window_lost), ([5, 0], [2, 0], 2));
    let (_, results) = live.finish().unwrap();
    assert_eq!((results.links[0].arrived, results.links[0].departed), (5, 3));
    assert_eq!((results.drops.len(), results.links[0].window_drops), (2, 2));
}

#[test]
fn the_window_begins_at_the_end_of_the_warm_up() {
    let mut live = Live::new(&plan(&"fifo".into(), "10 pkt", &["link_samples"])).unwrap();
    // Between 2 and 10 s, 1000 packets of 0.8 ms: a tenth of the time.
    for n in 0..1250u64 {
        live.enter(data(0, n as u32), us(n * 8_000));
    }
    let (_, results) = live.finish().unwrap();
    assert!((results.links[0].utilisation - 0.1).abs() < 1e-9);
    assert_eq!((results.links[0].arrived, results.links[0].window_arrived), (1250, 1000));
    // Two directions, samples at 0, 0.5 ... 10 s.
    assert_eq!(results.link_samples.len(), 2 * 21);
    assert_eq!(results.link_samples[2 * 20].departed_bytes, 1_250_000);
}

proptest! {
    #[test]
    fn packets_are_conserved_and_keep_to_the_rate(
        kind in prop::sample::select(vec!["fifo", "red", "codel", "fq-codel", "drr", "pie", "dualpi2", "cake"]),
        gaps in prop::collection::vec((0u64..1500, 0u32..2, any::<bool>()), 1..300),
        late in 1u64..50_000,
    ) {
        let mut live = Live::new(&plan(&kind.into(), "20 pkt", &["packets"])).unwrap();
        let (mut now, mut taken, mut arrivals) = (0, 0u64, Vec::new());
        for (n, &(gap, flow, capable)) in gaps.iter().enumerate() {
            now += gap;
            let flags = if capable { Flags::ECT } else { Flags::default() };
            live.enter(Packet::new(FlowId(flow), n as u32, 1000, flags), us(now));
            while let Some(left) = live.take() {
                taken += 1;
                if left.dropped.is_none() {
                    arrivals.push(left.at.0);
                }
            }
            prop_assert_eq!(n as u64 + 1, taken + live.under_way() );
        }
        // All that waits has left by then, however late the caller looks.
        live.advance(us(now + 40_000 + late));
        while let Some(left) = live.take() {
            taken += 1;
            if left.dropped.is_none() {
                arrivals.push(left.at.0);
            }
        }
        prop_assert_eq!(taken, gaps.len() as u64);
        prop_assert!(arrivals.windows(2).all(|pair| pair[1] >= pair[0] + us(800).0));
        live.finish().unwrap();
    }
}
