use proptest::prelude::*;

use super::*;
use crate::ids::FlowId;
use crate::qdisc::{QdiscCtx, QueueDisc};
use crate::units::Bytes;
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
        let arrivals: Vec<_> =
            std::iter::from_fn(|| live.take()).map(|left| (left.time, left.packet.seq)).collect();
        let (ack, first, second) = (us(11_400), us(11_800), us(12_600));
        assert_eq!(arrivals, [(ack, 1), (first, 0), (second, 1)], "{qdisc}");
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
        .map(|left| (left.packet.seq, left.dropped, left.time))
        .collect();
    let overflow = Some(DropReason::Overflow);
    assert_eq!(dropped, [(3, overflow, us(3_000_000)), (4, overflow, us(3_000_000))]);
    let flow = live.flows()[1];
    assert_eq!((flow.entered, flow.lost, flow.window_lost), ([5, 0], [2, 0], 2));
    let (_, results) = live.finish().unwrap();
    assert_eq!((results.links[0].arrived, results.links[0].departed), (5, 3));
    assert_eq!((results.tables.drops.len(), results.links[0].window_drops), (2, 2));
}

#[test]
fn the_window_begins_at_the_end_of_the_warm_up() {
    let mut live = Live::new(&plan(&"fifo".into(), "10 pkt", &["link_samples"])).unwrap();
    // Between 2 and 10 s, 1000 packets of 0.8 ms: a tenth of the time.
    for n in 0..1250u64 {
        live.enter(data(0, n as u32), us(n * 8_000));
    }
    // One enters at 2 s.
    assert_eq!(live.flows()[0].window_entered, 1000);
    let (_, results) = live.finish().unwrap();
    assert!((results.links[0].utilisation - 0.1).abs() < 1e-9);
    assert_eq!((results.links[0].arrived, results.links[0].window_arrived), (1250, 1000));
    // Two directions, samples at 0, 0.5 ... 10 s.
    assert_eq!(results.link_samples.len(), 2 * 21);
    assert_eq!(results.link_samples[2 * 20].departed_bytes, 1_250_000);
}

/// Drops all that waits every 10 ms, and sends nothing.
struct Purge(Vec<Packet>);

impl QueueDisc for Purge {
    fn enqueue(&mut self, packet: Packet, _ctx: &mut QdiscCtx<'_>) {
        self.0.push(packet);
    }
    fn dequeue(&mut self, _ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        None
    }
    fn ready_at(&self) -> Option<Time> {
        Some(Time::MAX)
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn backlog(&self) -> Bytes {
        Bytes(self.0.iter().map(|packet| u64::from(packet.size)).sum())
    }
    fn timer_interval(&self) -> Option<Span> {
        Some(Span::from_millis(10))
    }
    fn on_timer(&mut self, ctx: &mut QdiscCtx<'_>) {
        for packet in self.0.drain(..) {
            ctx.drop(packet, DropReason::Early);
        }
    }
}

#[test]
fn what_a_timer_drops_leaves_at_that_time_and_is_counted() {
    // PIE's timer runs, with 10 ms.
    let pie = serde_json::json!({ "kind": "pie", "update": "10 ms" });
    let mut live = Live::new(&plan(&pie, "10 pkt", &[])).unwrap();
    live.links.list[0].disc.as_mut().unwrap().disc = Box::new(Purge(Vec::new()));
    live.enter(data(0, 0), us(2_003_000));
    live.enter(data(1, 1), us(2_004_000));
    live.advance(us(2_010_000));
    let drops: Vec<_> = std::iter::from_fn(|| live.take())
        .map(|left| (left.time, left.packet.seq, left.dropped))
        .collect();
    let early = Some(DropReason::Early);
    assert_eq!(drops, [(us(2_010_000), 0, early), (us(2_010_000), 1, early)]);
    assert_eq!((live.under_way(), live.flows()[1].window_lost), (0, 1));
    let (_, results) = live.finish().unwrap();
    assert_eq!(results.links[0].drops, 2);
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
                    arrivals.push(left.time.0);
                }
            }
            prop_assert_eq!(n as u64 + 1, taken + live.under_way() );
        }
        // All that waits has left by then, however late the caller looks.
        live.advance(us(now + 40_000 + late));
        while let Some(left) = live.take() {
            taken += 1;
            if left.dropped.is_none() {
                arrivals.push(left.time.0);
            }
        }
        prop_assert_eq!(taken, gaps.len() as u64);
        prop_assert!(arrivals.windows(2).all(|pair| pair[1] >= pair[0] + us(800).0));
        live.finish().unwrap();
    }
}

/// By hand: a packet that leaves the link before 5 ms is held 20 ms, one after it not at all, and none is overtaken.
#[test]
fn delay_steps_hold_packets_after_their_transmission() {
    for (keeps_order, expected) in
        [(true, [31_800, 31_800, 31_800]), (false, [14_800, 16_800, 31_800])]
    {
        let text = serde_json::json!({
            "duration": 10, "era": "linux",
            "net": { "kind": "graph", "links": [{
                "a": "s", "b": "r", "rate": 1e7, "delay": 0.01, "buffer": "10 pkt",
                "impairments": [{ "kind": "delay-steps", "keep_order": keeps_order, "steps": [
                    { "at": 0, "extra": "20 ms" }, { "at": "3 ms", "extra": "0 ms" }] }] }] },
            "flows": [{ "src": "s", "dst": "r" }],
        })
        .to_string();
        let mut live = Live::new(&crate::api::planned(&text).unwrap()).unwrap();
        for (seq, entry_us) in [(0, 1000), (1, 4000), (2, 6000)] {
            live.enter(data(0, seq), us(entry_us));
        }
        assert_eq!(live.under_way(), 3);
        live.advance(us(900_000));
        let mut arrivals: Vec<_> =
            std::iter::from_fn(|| live.take()).map(|left| left.time).collect();
        arrivals.sort_unstable();
        assert_eq!(arrivals, expected.map(us), "{keeps_order}");
        live.finish().unwrap();
    }
}
