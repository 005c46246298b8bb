//! The tables agree with the summary and with each other.

use std::collections::HashMap;

use ackclock_core::api::{self, Column};
use ackclock_core::packet::PacketRow;
use ackclock_core::wire::Flags;
use serde_json::{Value, json};

use crate::common::{column, run};

/// Whether a row is of a data packet: neither acknowledgement nor request.
fn data(row: &PacketRow) -> bool {
    !Flags(row.flags).has(Flags::ACK) && !Flags(row.flags).has(Flags::SYN)
}

fn scenario(qdisc: &str) -> Value {
    json!({
        "net": {"kind": "dumbbell", "pairs": 3, "rate": "5 Mbps", "rtts": ["20 ms", "40 ms", "60 ms"],
            "buffer": "15 pkt", "qdisc": qdisc},
        "flows": [{"pair": 0, "count": 2, "stagger": "0.3 s", "cc": "aimd"},
            {"pair": 2, "source": {"kind": "cbr", "rate": "1 Mbps"}}],
        "duration": 8,
        "record": {"interval": "100 ms", "tables": ["windows", "rtts", "states", "drops", "packets", "flow_samples", "link_samples"]},
    })
}

#[test]
fn tables_and_summary_agree() {
    for qdisc in ["fifo", "red", "fq-codel"] {
        let outcome = run(scenario(qdisc));
        let mut counts: HashMap<(u32, &str), u64> = HashMap::new();
        for row in &outcome.results.tables.packets {
            *counts.entry((row.link, row.event.name())).or_default() += 1;
        }
        let count = |l: usize, event| counts.get(&(l as u32, event)).copied().unwrap_or(0);
        for (l, link) in outcome.results.links.iter().enumerate() {
            assert_eq!(count(l, "arrival"), link.arrived, "{qdisc}");
            assert_eq!(count(l, "departure"), link.departed, "{qdisc}");
            assert_eq!(count(l, "drop"), link.drops, "{qdisc}");
            let rows = outcome.results.tables.drops.iter().filter(|d| d.link as usize == l).count();
            assert_eq!(rows as u64, link.drops);
        }
        assert!(outcome.results.tables.drops.len() > 10, "{qdisc}");
        assert!(outcome.results.tables.packets.is_sorted_by_key(|r| r.at));
        for i in 0..3 {
            let id = i as u32;
            let rtts: Vec<f64> = outcome
                .results
                .tables
                .rtts
                .iter()
                .filter(|r| r.flow.0 == id)
                .map(|r| r.rtt.seconds())
                .collect();
            let sender = &outcome.flow(i).sender;
            assert_eq!(rtts.len() as u64, sender.rtt_count);
            assert!((rtts.iter().sum::<f64>() - sender.rtt_sum_s).abs() < 1e-6);
            if i < 2 {
                let least = rtts.iter().copied().fold(f64::INFINITY, f64::min);
                assert!((least - sender.rtt_min_s).abs() < 1e-12);
                let last = outcome.results.tables.windows.iter().rfind(|w| w.flow.0 == id).unwrap();
                assert_eq!((last.cwnd, last.ssthresh), (sender.cwnd, sender.ssthresh));
            }
            let access = format!("s{i}->r0");
            let sent = outcome
                .packets(&access)
                .filter(|r| r.flow == id && r.event.name() == "arrival" && data(r));
            assert_eq!(sent.count() as u64, sender.sent_packets);
        }
        let recoveries =
            outcome.results.tables.states.iter().filter(|s| s.state == "recovery").count();
        let counted: u64 = outcome.results.flows.iter().map(|f| f.sender.recoveries).sum();
        assert_eq!(recoveries as u64, counted, "{qdisc}");
    }
}

#[test]
fn samples_are_the_counters_at_their_times() {
    let outcome = run(scenario("fifo"));
    let (flows, links) = (outcome.plan.flows.len(), outcome.plan.links.len());
    // 8 s / 0.1 s intervals, both ends included.
    let flow_samples = outcome.results.flow_samples.rows();
    assert_eq!(flow_samples.len(), 81 * flows);
    assert_eq!(outcome.results.flow_samples.len(), 81 * flows);
    assert_eq!(outcome.results.link_samples.len(), 81 * links);
    let bottleneck = outcome.link_id("r0->r1");
    for k in [0u64, 1, 17, 40, 79] {
        let time = k * 100_000_000_000;
        let sample = outcome.results.link_samples[k as usize * links + bottleneck as usize];
        let before = |event: &str| {
            outcome.packets("r0->r1").filter(|r| r.at.0 < time && r.event.name() == event).count()
                as u64
        };
        let (arrived, departed, dropped) = (before("arrival"), before("departure"), before("drop"));
        assert_eq!(sample.dropped_packets, dropped, "{k}");
        assert_eq!(u64::from(sample.queue_packets), arrived - departed - dropped, "{k}");
        for f in 0..flows {
            let sample = flow_samples[k as usize * flows + f];
            let sent = outcome
                .packets(&format!("s{f}->r0"))
                .filter(|r| {
                    r.at.0 < time && r.flow == f as u32 && r.event.name() == "arrival" && data(r)
                })
                .count() as u64;
            assert_eq!(sample.sent_packets, sent, "{k}, {f}");
        }
    }
}

#[test]
fn columns_of_a_table_are_equally_long_and_in_order_of_time() {
    let output = api::run(&scenario("codel").to_string(), &mut |_, _| true).unwrap();
    let len = |c: &Column| match c {
        Column::F64(v) => v.len(),
        Column::U64(v) => v.len(),
        Column::U32(v) => v.len(),
        Column::Bool(v) => v.len(),
        Column::Text(v) => v.len(),
        Column::Names(v) => v.len(),
    };
    assert_eq!(output.tables.len(), 9);
    for (name, table) in &output.tables {
        let rows = len(&table[0].1);
        assert!(rows > 0, "{name}");
        assert!(table.iter().all(|(_, c)| len(c) == rows), "{name}");
        if !["flows", "links"].contains(name) {
            let Column::F64(times) = column(table, "time_s") else { panic!("{name}") };
            assert!(times.is_sorted(), "{name}");
        }
    }
    let summary: Value = serde_json::from_str(&output.summary).unwrap();
    assert_eq!(summary["warnings"], json!([]));
    // What it says of them is in the tables.
    assert_eq!((&summary["flows"], &summary["links"]), (&Value::Null, &Value::Null));
    let flows = &output.tables.iter().find(|(name, _)| *name == "flows").unwrap().1;
    assert_eq!(len(&flows[0].1), 3);
}

#[test]
fn event_tables_keep_the_requested_flows_and_links() {
    let mut scenario = scenario("fifo");
    scenario["record"]["flows"] = json!([1]);
    scenario["record"]["links"] = json!(["r0->r1"]);
    let all = run(self::scenario("fifo"));
    let outcome = run(scenario);
    assert_eq!(outcome.results.digest, all.results.digest);
    let bottleneck = outcome.link_id("r0->r1");
    assert!(outcome.results.tables.packets.iter().all(|r| r.flow == 1 && r.link == bottleneck));
    let expected =
        all.results.tables.packets.iter().filter(|r| r.flow == 1 && r.link == bottleneck).count();
    assert_eq!(outcome.results.tables.packets.len(), expected);
    assert!(
        !outcome.results.tables.drops.is_empty()
            && outcome.results.tables.drops.iter().all(|r| r.flow == 1)
    );
    let tables = &outcome.results.tables;
    assert!(tables.windows.iter().all(|r| r.flow.0 == 1), "windows of other flows");
    assert!(tables.rtts.iter().all(|r| r.flow.0 == 1), "rtts of other flows");
    assert!(tables.states.iter().all(|r| r.flow.0 == 1), "states of other flows");
}

/// The last row of each variable in the series is what the table at the end has.
#[test]
fn the_series_of_probes_ends_with_the_probes_of_the_end() {
    let outcome = run(json!({
        "net": {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "1 bdp"},
        "flows": [{"pair": 0, "cc": "bbr3"}], "duration": 8,
        "record": {"tables": ["probe_series"]},
    }));
    let end = &outcome.flow(0).sender.probes;
    let rows = &outcome.results.tables.probe_series;
    assert!(rows.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert!(rows.len() > 100, "{}", rows.len());
    for &(name, value) in end {
        let last = rows.iter().rev().find(|row| row.probe == name).unwrap();
        assert_eq!(last.value.to_bits(), value.to_bits(), "{name}");
    }
    // Values that only change are followed step by step: rounds are counted one by one.
    let rounds = rows.iter().filter(|row| row.probe == "round_count").map(|row| row.value);
    assert!(rounds.clone().zip(rounds.skip(1)).all(|(a, b)| b == a + 1.0));
}

/// The rows of the ledger of a run: link, flow, acknowledgements or not, fate, holder, bytes.
fn ledger(scenario: &Value) -> Vec<(u32, u32, bool, &'static str, String, u64)> {
    let out = api::run(&scenario.to_string(), &mut |_, _| true).expect("runs");
    let (_, table) = out.tables.iter().find(|(name, _)| *name == "ledger").expect("recorded");
    let numbers = |name: &str| match column(table, name) {
        Column::U32(values) => values.clone(),
        _ => panic!("{name} has numbers"),
    };
    let (Column::Bool(acks), Column::Text(fates)) =
        (column(table, "is_ack"), column(table, "fate"))
    else {
        panic!("columns have other types")
    };
    let (Column::Names(holders), Column::U64(bytes)) =
        (column(table, "holder"), column(table, "sent_bytes"))
    else {
        panic!("columns have other types")
    };
    let (links, flows) = (numbers("link"), numbers("flow"));
    (0..bytes.len())
        .map(|i| (links[i], flows[i], acks[i], fates[i], holders[i].clone(), bytes[i]))
        .collect()
}

/// Worked by hand. 100 packets of 1000 B leave `a` at 8 Mbit/s and meet 4 Mbit/s with room for 5 at `b`. The k-th
/// arrives k ms after the first and the i-th that is accepted begins 2 i ms after it, so half of what comes after the
/// buffer is full is lost; all of the buffer is held by the only flow.
#[test]
fn a_narrow_second_link_makes_half_of_the_first_vain() {
    let scenario = json!({
        "net": {"kind": "graph", "links": [
            {"id": "wide", "a": "a", "b": "b", "rate": "8 Mbps", "delay": "1 ms", "buffer": "200 pkt"},
            {"id": "narrow", "a": "b", "b": "c", "rate": "4 Mbps", "delay": "1 ms", "buffer": "5 pkt"},
        ]},
        "flows": [{"id": "hose", "src": "a", "dst": "c", "stop": 0.1,
            "source": {"kind": "cbr", "rate": "8 Mbps", "packet": 1000}}],
        "duration": 1, "record": {"tables": ["ledger", "drops"]},
    });
    let outcome = run(scenario.clone());
    let (wide, narrow) = (outcome.link_id("wide"), outcome.link_id("narrow"));
    let (sent, drops) =
        (outcome.results.links[wide as usize].departed, outcome.results.tables.drops.len() as u64);
    assert!((40..=50).contains(&drops), "{drops}");
    let rows = ledger(&scenario);
    let hose = |link, fate, holder: &str, packets: u64| {
        (link, 0, false, fate, holder.to_owned(), packets * 1000)
    };
    assert_eq!(
        rows,
        [
            hose(wide, "useful", "", sent - drops),
            hose(wide, "lost", "hose", drops),
            hose(narrow, "useful", "", sent - drops),
        ]
    );
}

/// A transfer over a lossy path: its receiver has each segment once, and what it received again is what the ledger
/// calls duplicate; acknowledgements lost on the way back are lost at the link that had carried them.
#[test]
fn duplicates_and_lost_acknowledgements_are_those_that_the_ends_counted() {
    let mut duplicates = 0;
    for transport in ["tcp", "quic"] {
        let scenario = json!({
            "net": {"kind": "graph", "links": [
                {"a": "a", "b": "b", "rate": "10 Mbps", "delay": "5 ms", "buffer": "20 pkt"},
                {"a": "b", "b": "c", "rate": "10 Mbps", "delay": "5 ms", "buffer": "20 pkt", "loss": 0.02, "back_loss": 0.2},
            ]},
            "flows": [{"src": "a", "dst": "c", "size": 1_168_000, "transport": transport}],
            "duration": 60, "seed": 5, "record": {"tables": ["ledger", "packets"]},
        });
        let outcome = run(scenario.clone());
        let flow = outcome.flow(0);
        assert!(flow.sender.completed_s > 0.0, "{transport}");
        assert!(flow.lost_acks > 20, "{transport}: {flow:?}");
        duplicates += flow.receiver.duplicate_packets;
        let last = outcome.link_id("b->c");
        let rows = ledger(&scenario);
        let sum = |link, is_ack, fate| -> u64 {
            rows.iter().filter(|r| (r.0, r.2, r.3) == (link, is_ack, fate)).map(|r| r.5).sum()
        };
        let mut sizes: Vec<u64> = Vec::new();
        let mut seen_before: HashMap<u32, u32> = HashMap::new();
        for row in outcome.packets("b->c").filter(|r| data(r) && r.event.name() == "departure") {
            let times = seen_before.entry(row.segment).or_default();
            *times += 1;
            if *times > 1 {
                sizes.push(u64::from(row.size));
            }
        }
        assert_eq!(sizes.len() as u64, flow.receiver.duplicate_packets, "{transport}");
        assert_eq!(sum(last, false, "duplicate"), sizes.iter().sum::<u64>(), "{transport}");
        // Acknowledgements are lost before the link from c to b sends them, so they waste nothing; data lost at
        // b has been sent by the first link.
        assert_eq!(sum(outcome.link_id("c->b"), true, "lost"), 0);
        let lost: u64 = outcome
            .packets("b->c")
            .filter(|r| data(r) && r.event.name() == "drop")
            .map(|r| u64::from(r.size))
            .sum();
        assert!(lost > 0);
        assert_eq!(sum(outcome.link_id("a->b"), false, "lost"), lost, "{transport}");
        // Random losses are nobody's buffer.
        let is_named_lost =
            |r: &&(u32, u32, bool, &str, String, u64)| r.3 == "lost" && !r.4.is_empty();
        assert_eq!(rows.iter().filter(is_named_lost).count(), 0, "{transport}");
    }
    assert!(duplicates > 0);
}
