//! Packets whose payload is cut off where queues are full: what becomes of them, and of the bytes.

use std::collections::BTreeMap;

use ackclock_core::packet::{Event, LedgerCount};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{check_threads, extend, problems, run};

/// Senders at one switch, and one receiver behind it.
fn incast(senders: usize, packets: u32, extra: Value) -> Value {
    let flow = |i: usize| {
        json!({"src": format!("h{i}"), "dst": format!("h{senders}"), "size": "400 kB", "cc": "dctcp",
            "recovery": {"kind": "rack", "tlp": false}})
    };
    let mut case = json!({
        "net": {"kind": "star", "hosts": senders + 1, "rate": "1 Gbps", "delay": "5 us", "buffer": format!("{packets} pkt"),
            "qdisc": {"kind": "trim", "mark_min": 9000, "mark_max": 9000}},
        "tcp": {"trimming": true, "ecn": true, "accecn": true, "min_rto": "10 ms", "syn": false, "delayed_ack": 1},
        "flows": (0..senders).map(flow).collect::<Vec<_>>(), "duration": "80 ms",
    });
    extend(&mut case, extra);
    case
}

/// Nothing is dropped and no timer expires: every loss is known by the header that goes on, and repaired.
#[test]
fn an_incast_is_repaired_by_nacks_without_timeouts() {
    let outcome = run(incast(8, 40, json!({})));
    let trims: u64 = outcome.results.links.iter().map(|link| link.trims).sum();
    assert!(trims > 50, "{trims}");
    let mut headers = 0;
    for flow in 0..8 {
        let result = outcome.flow(flow);
        assert!(result.sender.completed_s > 0.0, "flow {flow}");
        assert_eq!((result.sender.timeouts, result.lost_data, result.lost_acks), (0, 0, 0));
        assert_eq!(result.receiver.delivered_bytes, 400_000);
        // What was cut off was sent again, once each time.
        assert_eq!(
            result.sender.retransmits,
            result.receiver.trimmed_packets + result.receiver.duplicate_packets
        );
        headers += result.receiver.trimmed_packets;
    }
    assert_eq!(headers, trims);
    // Without trimming the same queue drops, and waits for timers.
    let dropping = run(incast(
        8,
        40,
        json!({"tcp": {"ecn": true, "accecn": true, "min_rto": "10 ms", "syn": false, "delayed_ack": 1}}),
    ));
    assert!(dropping.results.links.iter().all(|link| link.trims == 0));
    assert!(dropping.results.links.iter().map(|link| link.drops).sum::<u64>() > 50);
}

/// A queue that is never full is one that drops none, to the last bit.
#[test]
fn a_queue_that_is_never_full_is_drop_tail() {
    let with = |qdisc: Value| {
        let mut case =
            incast(2, 4000, json!({"record": {"tables": ["packets", "rtts", "windows"]}}));
        case["net"]["qdisc"] = qdisc;
        case["tcp"]["trimming"] = json!(true);
        let outcome = run(case);
        assert!(outcome.results.links.iter().all(|link| link.trims + link.drops == 0));
        (outcome.results.digest, format!("{:?}", outcome.results.tables))
    };
    // Both begin transmissions at events; plain FIFO computes them.
    let like_fifo = json!({"kind": "priority", "classes": [{"takes": {"acks": true}}, {}]});
    assert!(with(json!({"kind": "trim", "data": 1.0})) == with(like_fifo));
    let (fifo, trim) = (with(json!("fifo")), with(json!("trim")));
    assert_eq!(fifo.0, trim.0);
    assert!(fifo.1 == trim.1);
}

#[test]
fn bytes_that_were_cut_off_are_in_the_ledger_and_the_queues() {
    let outcome = run(incast(
        6,
        30,
        json!({"record": {"tables": ["packets", "ledger", "queues"]}, "duration": "20 ms"}),
    ));
    let rows = &outcome.results.tables.packets;
    let cut: u64 =
        rows.iter().filter(|row| row.event == Event::Trim).map(|row| u64::from(row.size)).sum();
    assert!(cut > 10_000, "{cut}");
    let mut ledger = LedgerCount::new(&outcome.plan);
    ledger.count(rows);
    let ledger = ledger.finish();
    let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
    for (key, size) in &ledger {
        *bytes.entry(key.link).or_default() += size;
    }
    for (l, link) in outcome.results.links.iter().enumerate() {
        assert_eq!(bytes.get(&(l as u32)).copied().unwrap_or_default(), link.departed_bytes);
    }
    // All of it was sent once, over the link of its host, and is lost at the port of the receiver.
    let port = outcome.link_id("r->h6");
    let lost: u64 =
        ledger.iter().filter(|(key, _)| key.lost_at == Some(port)).map(|row| row.1).sum();
    assert_eq!(lost, cut);
}

#[test]
fn a_recovery_without_nacks_is_refused() {
    let case = incast(2, 30, json!({"flows": [{"src": "h0", "dst": "h2", "recovery": "sack"}]}));
    let found = problems(&case);
    assert_eq!(found[0].0, "flows[0].recovery");
    assert!(found[0].1.contains("tcp.trimming"), "{found:?}");
    let case = incast(
        2,
        30,
        json!({"flows": [{"src": "h0", "dst": "h2", "recovery": "rack"}], "era": "2002"}),
    );
    assert!(!problems(&case).is_empty());
}

prop_compose! {
    fn trimmed()(
        leaves in 2usize..4, spines in 1usize..4, hosts in 1usize..4, packets in 3u32..40, data in 0.2f64..1.0,
        cc in prop::sample::select(vec!["cubic", "dctcp", "nscc", "swift", "bbr3", "dcqcn"]),
        seed in any::<u32>(), count in 1u32..12, choice in prop::sample::select(vec!["spray", "hash"]),
        reo_wnd in prop::sample::select(vec!["0 s", "1 ms"]), has_waits in any::<bool>(),
    ) -> Value {
        let flow = |more: Value| {
            let mut flow = json!({"cc": cc, "recovery": {"kind": "rack", "reo_wnd": reo_wnd}});
            extend(&mut flow, more);
            flow
        };
        let mut flows = vec![flow(json!({"id": "a", "between": "uniform-pairs", "count": count, "size": "150 kB"}))];
        if has_waits {
            flows.push(flow(json!({"id": "job", "between": "ring-all-reduce", "size": "60 kB"})));
        }
        json!({
            "net": {"kind": "leaf-spine", "leaves": leaves, "spines": spines, "hosts": hosts, "rate": "1 Gbps",
                "delay": "5 us", "buffer": format!("{packets} pkt"), "qdisc": {"kind": "trim", "data": data, "mark_min": 5000}},
            "tcp": {"trimming": true, "ecn": true, "accecn": true, "min_rto": "3 ms"},
            "equal_paths": choice, "seed": seed, "duration": "15 ms", "flows": flows, "record": {"tables": ["packets"]},
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: crate::common::seed(), max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// Every run checks that packets are conserved, and the laws; a wait that is over is a law, too.
    #[test]
    fn trimmed_packets_are_conserved_on_any_number_of_threads(case in trimmed()) {
        let found = problems(&case);
        prop_assert!(found.is_empty(), "{found:?}");
        let outcome = run(case);
        let trims: u64 = outcome.results.links.iter().map(|link| link.trims).sum();
        let rows = outcome.results.tables.packets.iter().filter(|row| row.event == Event::Trim).count();
        prop_assert_eq!(rows as u64, trims);
        check_threads(&outcome);
    }
}
