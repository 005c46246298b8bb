use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::dscp::Dscp;
use crate::ids::FlowId;
use crate::qdisc::FlowFacts;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::wire::{DropReason, Flags};

/// Flows from and to these hosts, with these code points.
fn between(flows: &[(&str, &str, u64)]) -> QdiscEnv {
    let facts = flows.iter().map(|&(src, dst, dscp)| FlowFacts {
        id: "f".into(),
        src: src.into(),
        dst: dst.into(),
        pair: None,
        dscp: Dscp::new(dscp).unwrap(),
        sender: "tcp".into(),
        control: None,
    });
    QdiscEnv { facts: facts.collect(), ..env() }
}

fn bench(table: serde_json::Value, env: &QdiscEnv) -> Bench<Cake> {
    Bench::new(Cake::new(serde_json::from_value(table).unwrap(), env).unwrap())
}

/// Sends `count` packets while every flow of `flows` always has three waiting; how many each sent.
fn shares(bench: &mut Bench<Cake>, flows: u32, count: usize) -> Vec<usize> {
    let mut waiting = vec![0; flows as usize];
    let mut sent = vec![0; flows as usize];
    for _ in 0..count {
        for flow in 0..flows {
            while waiting[flow as usize] < 3 {
                bench.arrive(flow, 1000);
                waiting[flow as usize] += 1;
            }
        }
        let packet = bench.depart().unwrap().packet;
        waiting[packet.flow.index()] -= 1;
        sent[packet.flow.index()] += 1;
    }
    sent
}

/// One flow of host a beside eight of host b.
fn one_beside_eight() -> QdiscEnv {
    let mut flows = vec![("a", "x", 0)];
    flows.extend([("b", "y", 0); 8]);
    between(&flows)
}

#[test]
fn a_host_with_eight_flows_gets_no_more_than_one_with_one() {
    for isolation in
        ["dual-srchost", "dual-dsthost", "triple-isolate", "hosts", "srchost", "dsthost"]
    {
        let mut bench = bench(json!({ "isolation": isolation }), &one_beside_eight());
        let sent = shares(&mut bench, 9, 9000);
        let eight: usize = sent[1..].iter().sum();
        // Equal, but for what is left over in turns.
        assert!(sent[0].abs_diff(eight) < 90, "{isolation}: {sent:?}");
    }
}

#[test]
fn the_flows_of_a_host_share_its_part() {
    let mut bench = bench(json!({}), &one_beside_eight());
    let sent = shares(&mut bench, 9, 18_000);
    assert!(sent[1..].iter().all(|&n| n.abs_diff(1125) < 60), "{sent:?}");
}

#[test]
fn without_hosts_each_flow_has_the_same() {
    let mut bench = bench(json!({ "isolation": "flows" }), &one_beside_eight());
    let sent = shares(&mut bench, 9, 9000);
    assert!(sent.iter().all(|&n| n.abs_diff(1000) < 30), "{sent:?}");
}

/// Hosts a and b send to x and y: a has flows to both. Its flow to y shares with nobody at y's side, and both ends
/// count: of a's two flows each has half a turn.
#[test]
fn triple_isolation_counts_the_busier_end() {
    let env = between(&[("a", "x", 0), ("a", "y", 0), ("b", "x", 0)]);
    let mut bench = bench(json!({}), &env);
    // Loads: a-x max(2, 2), a-y max(2, 1), b-x max(1, 2): each 2.
    let sent = shares(&mut bench, 3, 3000);
    assert!(sent.iter().all(|&n| n.abs_diff(1000) < 30), "{sent:?}");
}

#[test]
fn acknowledgements_are_of_the_host_that_sends_them() {
    let env = between(&[("a", "x", 0), ("b", "x", 0)]);
    let mut bench = bench(json!({ "isolation": "srchost" }), &env);
    for flow in [0, 1] {
        bench.arrive_with(flow, 40, Flags::ACK);
        bench.arrive_with(flow, 40, Flags::default());
    }
    // x has both acknowledgements in one queue; a and b have one packet each.
    let queues = bench.qdisc.tins[0].flows.iter().filter(|flow| flow.set == Set::Sparse).count();
    assert_eq!(queues, 3);
}

#[test]
fn the_shaper_sends_at_its_rate_and_saves_up_no_burst() {
    let mut bench = bench(json!({ "rate": "8 Mbps" }), &env());
    let mut departures = Vec::new();
    for start in [0, 50] {
        bench.now = Time::ZERO + Span::from_millis(start);
        for _ in 0..3 {
            bench.arrive(0, 1000);
        }
        while bench.qdisc_len() > 0 {
            if bench.depart().is_some() {
                departures.push(bench.now.since(Time::ZERO).0 / 1_000_000_000);
            } else {
                bench.now = bench.qdisc.ready_at().unwrap();
            }
        }
    }
    assert_eq!(departures, [0, 1, 2, 50, 51, 52]);
}

#[test]
fn the_shaper_counts_cells() {
    // 1000 + 10 B are 22 cells of 53 B, 1166 B: at 8 Mbit/s 1.166 ms.
    let table = json!({ "rate": "8 Mbps", "overhead": 10, "framing": "atm" });
    let mut bench = bench(table, &env());
    bench.arrive(0, 1000);
    bench.arrive(0, 1000);
    assert!(bench.depart().is_some() && bench.depart().is_none());
    assert_eq!(bench.qdisc.ready_at(), Some(Time::ZERO + Span::from_micros(1166)));
}

/// Packets of each code point among the first that are sent while all tins always wait.
fn by_tin(table: serde_json::Value, points: &[u64], count: usize) -> Vec<f64> {
    let flows: Vec<_> = points.iter().map(|&dscp| ("a", "x", dscp)).collect();
    let mut bench = bench(table, &between(&flows));
    let mut sent: BTreeMap<u32, usize> = BTreeMap::new();
    let mut waiting = vec![0; points.len()];
    for _ in 0..count {
        for (flow, waiting) in waiting.iter_mut().enumerate() {
            while *waiting < 3 {
                bench.arrive(flow as u32, 1000);
                *waiting += 1;
            }
        }
        let next = loop {
            match bench.depart() {
                Some(next) => break next,
                None => bench.now = bench.qdisc.ready_at().unwrap(),
            }
        };
        waiting[next.packet.flow.index()] -= 1;
        *sent.entry(next.packet.flow.0).or_default() += 1;
    }
    (0..points.len()).map(|flow| sent[&(flow as u32)] as f64 / count as f64).collect()
}

/// Best effort, bulk (CS1), video (CS3), voice (EF) under a shaper: each other tin has its share, best effort
/// the rest: 1/16, 1/2, 1/4.
#[test]
fn tins_have_priority_up_to_their_share_of_the_rate() {
    let got = by_tin(json!({ "rate": "8 Mbps", "tins": "diffserv4" }), &[0, 8, 24, 46], 8000);
    for (got, expected) in got.iter().zip([3.0 / 16.0, 1.0 / 16.0, 0.5, 0.25]) {
        assert!((got - expected).abs() < 0.01, "{got} {expected}");
    }
}

/// Without a shaper they share by weights 16, 1, 8, 4.
#[test]
fn tins_share_by_weight_without_a_shaper() {
    let got = by_tin(json!({ "tins": "diffserv4" }), &[0, 8, 24, 46], 29_000);
    for (got, weight) in got.iter().zip([16.0, 1.0, 8.0, 4.0]) {
        assert!((got - weight / 29.0).abs() < 0.005, "{got} {weight}");
    }
}

/// Acknowledgements 0, 2, 4, ... of a flow of TCP and one of QUIC wait while nothing leaves.
#[test]
fn the_ack_filter_leaves_two_of_tcp_or_one_and_all_of_quic() {
    let mut env = between(&[("a", "x", 0), ("b", "y", 0)]);
    let facts = env.facts.iter().cloned().enumerate();
    env.facts =
        facts.map(|(i, flow)| FlowFacts { sender: ["tcp", "quic"][i].into(), ..flow }).collect();
    for (filter, left) in [("off", 10), ("conservative", 2), ("aggressive", 1)] {
        let mut bench = bench(json!({ "ack_filter": filter }), &env);
        for number in 0..10 {
            for flow in [0, 1] {
                bench.pass(Packet::new(FlowId(flow), 2 * number, 40, Flags::ACK));
            }
        }
        assert!(bench.drops().iter().all(|&(_, reason)| reason == DropReason::Thinned), "{filter}");
        let sent: Vec<_> = std::iter::from_fn(|| bench.depart())
            .map(|left| (left.packet.flow.0, left.packet.seq))
            .collect();
        let of = |flow: u32| sent.iter().filter(|left| left.0 == flow).count();
        assert_eq!([of(0), of(1)], [left, 10], "{filter}");
        assert!(sent.contains(&(0, 18)), "{filter}");
        assert_eq!(bench.qdisc_len(), 0);
    }
}

/// Two code points, so two tins: a tin of which the filter takes packets is empty when its last has left.
#[test]
fn the_ack_filter_leaves_no_tin_waiting_for_what_it_dropped() {
    for table in [
        json!({ "tins": "diffserv4", "ack_filter": "aggressive" }),
        json!({ "tins": "diffserv4", "ack_filter": "aggressive", "rate": "1 Mbps" }),
    ] {
        let env = between(&[("a", "x", 0), ("b", "x", 46)]);
        let mut bench = bench(table.clone(), &env);
        for round in 0..3u32 {
            for number in 0..6 {
                for flow in [0, 1] {
                    bench.pass(Packet::new(FlowId(flow), 6 * round + number, 40, Flags::ACK));
                }
            }
            assert_eq!(bench.drops().len(), 10, "{table}");
            assert!(bench.qdisc.tins.iter().map(|tin| tin.packets).sum::<usize>() == 2, "{table}");
            let mut sent = Vec::new();
            while bench.qdisc_len() > 0 {
                match bench.depart() {
                    Some(left) => sent.push((left.packet.flow.0, left.packet.seq)),
                    None => bench.now = bench.qdisc.ready_at().unwrap(),
                }
            }
            sent.sort_unstable();
            assert_eq!(sent, [(0, 6 * round + 5), (1, 6 * round + 5)], "{table}");
            assert!(bench.depart().is_none());
        }
    }
}

#[test]
fn a_sparse_flow_goes_before_busy_ones() {
    let mut bench = bench(json!({ "isolation": "flows" }), &env());
    for _ in 0..10 {
        bench.arrive(0, 1000);
        bench.arrive(1, 1000);
    }
    for _ in 0..6 {
        bench.depart();
    }
    let late = bench.arrive(2, 1000);
    assert_eq!(bench.depart().unwrap().packet.seq, late);
}

#[test]
fn the_longest_queue_of_any_tin_loses_its_oldest_packet() {
    let env = QdiscEnv {
        limit: Limit { packets: 4, bytes: u64::MAX },
        ..between(&[("a", "x", 46), ("b", "x", 0)])
    };
    let mut bench = bench(json!({}), &env);
    for flow in [0, 0, 0, 1, 1] {
        bench.arrive(flow, 1000);
    }
    assert_eq!(bench.drops(), [(0, DropReason::PushedOut)]);
}

#[test]
fn a_queue_decays_before_it_is_free() {
    let mut bench = bench(json!({}), &env());
    bench.arrive(0, 1000);
    bench.depart();
    bench.depart();
    assert_eq!((bench.probe("busy"), bench.probe("decaying")), (0.0, 0.0));
    // It is found empty at its next turn, and an interval, 100 ms, after its last packet it is at rest.
    bench.arrive(1, 1000);
    bench.arrive(1, 1000);
    bench.depart();
    assert_eq!(bench.probe("decaying"), 1.0);
    bench.after(Span::from_millis(100));
    bench.depart();
    assert_eq!(bench.probe("decaying"), 0.0);
}

/// Without a shaper, from `sch_cake.c` (turns of 1024, 64 and 256 B, packets of 1000 B): what is left of the turns of best effort
/// and voice after each departure is 24 - 1000 and 0, (-976, -744), (-952, -488), (-928, -232) and (-904, 24): at the seventh the
/// turn is voice's again, and its queue, listed still, is found empty.
#[test]
fn the_queues_of_a_tin_without_packets_are_looked_at_in_its_turn() {
    let mut bench = bench(json!({}), &between(&[("a", "x", 0), ("b", "x", 46)]));
    bench.arrive(1, 1000);
    for _ in 0..12 {
        bench.arrive(0, 1000);
    }
    let decaying: Vec<f64> = (0..7)
        .map(|_| {
            bench.depart();
            bench.probe("decaying")
        })
        .collect();
    assert_eq!(decaying, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn aqms_suit_the_rate_of_their_tin() {
    // Bulk at 16 Mbit/s / 16: a packet of 1000 B takes 8 ms, the target is 12, the interval 100 + 12 - 5.
    let cake = bench(json!({ "rate": "16 Mbps" }), &env()).qdisc;
    let text = format!("{:?}", cake.tins[1].fresh);
    assert!(text.contains("target: Span(12000000000), interval: Span(107000000000)"), "{text}");
    // Voice at 4: 2 ms a packet, the target is 5, the interval 100, as `cake_config_diffserv3` gives it to every tin.
    let text = format!("{:?}", cake.tins[2].fresh);
    assert!(text.contains("target: Span(5000000000), interval: Span(100000000000)"), "{text}");
    // Turns of 300 B below 10 Mbit/s, of what is sent in 1/4096 s above.
    assert_eq!(cake.tins.iter().map(|tin| tin.quantum).collect::<Vec<_>>(), [488, 300, 300]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let refused = |table| refusal::<QdiscEnv, Cake>(table, &env());
    assert_eq!(
        refused(json!({ "overhead": 257 })),
        "overhead: 257 is out of range; expected from -64 to 256 (B)"
    );
    assert_eq!(
        refused(json!({ "rate": 0 })),
        "rate: 0 bit/s is out of range; expected more than 0 bit/s"
    );
}
