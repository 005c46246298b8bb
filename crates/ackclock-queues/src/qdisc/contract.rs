//! What every discipline of the registry promises, tried on random operations.

mod foresight;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::testing::{Bench, env as plain, marked};
use super::{Limit, QdiscEnv, QueueDisc, build, catalogue};
use crate::era::Era;
use crate::registry::Spec;
use crate::units::Span;
use crate::wire::{DropReason, Flags};

const ERAS: [Era; 6] = [Era::Rfc, Era::Linux, Era::Y1999, Era::Y2002, Era::Y2007, Era::Ns2];

#[derive(Clone, Copy, Debug)]
enum Operation {
    Arrive { key: u32, size: u16, flags: u16 },
    Depart,
    Wait { us: u64 },
    Tick,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let (ect, out, l4s) = (Flags::ECT.0, Flags::OUT.0, Flags::ECT.0 | Flags::ECT_1.0);
    let flags = prop::sample::select(vec![0, ect, out, ect | out, l4s]);
    let operation = prop_oneof![
        6 => (0u32..6, prop_oneof![Just(40u16), Just(1000), 1u16..2000], flags)
            .prop_map(|(key, size, flags)| Operation::Arrive { key, size, flags }),
        4 => Just(Operation::Depart),
        2 => (1u64..30_000).prop_map(|us| Operation::Wait { us }),
        1 => Just(Operation::Tick),
    ];
    prop::collection::vec(operation, 1..300)
}

/// Flows 1 and 4 are of the code point EF.
fn env() -> QdiscEnv {
    let flows = [("f0", 0), ("f1", 46), ("f2", 0), ("f3", 0), ("f4", 46), ("f5", 0)];
    QdiscEnv { facts: marked(&flows), ..plain() }
}

/// A discipline with a timer is called so often at most, whatever of its parameters are as short as they may be: else a
/// run of a second may take days.
#[test]
fn no_timer_of_a_discipline_is_shorter_than_a_microsecond() {
    let least = |rule: &serde_json::Value| {
        let above = rule["exclusiveMinimum"].as_f64().map_or(0.0, |above| above + 1e-12);
        rule["minimum"].as_f64().unwrap_or(0.0).max(above)
    };
    let mut timed = Vec::new();
    for entry in catalogue() {
        let mut table = serde_json::Map::new();
        for (key, rule) in entry.params["properties"].as_object().into_iter().flatten() {
            if rule["x-quantity"] == "duration" {
                table.insert(key.clone(), least(rule).into());
            }
        }
        table.insert("kind".to_owned(), entry.info.name.into());
        let spec: Spec = serde_json::from_value(table.into()).unwrap();
        // Some parameters are wrong together.
        let Ok(disc) = build(&spec, &env(), "qdisc") else { continue };
        if let Some(interval) = disc.timer_interval() {
            assert!(interval >= Span::from_seconds(1e-6), "{spec:?}: {interval:?}");
            timed.push(entry.info.name);
        }
    }
    assert!(["pie", "rem", "afd", "fq-pie"].iter().all(|name| timed.contains(name)), "{timed:?}");
}

/// Every entry of the registry as it is, and the schedulers with every AQM inside.
fn specs() -> Vec<Spec> {
    let mut specs: Vec<Spec> = catalogue().iter().map(|e| Spec::from(e.info.name)).collect();
    for outer in ["drr", "fq", "wf2q-plus"] {
        for inner in super::aqm::inner_names(&env()) {
            let aqm = serde_json::json!({ "kind": inner, "ecn": true });
            let table = serde_json::json!({ "kind": outer, "aqm": aqm });
            specs.push(serde_json::from_value(table).unwrap());
        }
    }
    // RED and PIE with thresholds low enough to act in short runs.
    for table in [
        serde_json::json!({ "kind": "red", "min_th": 1, "max_th": 4, "w_q": 0.5, "ecn": true, "adaptive": true }),
        serde_json::json!({ "kind": "pie", "delay": "timestamp", "max_burst": 0, "ecn": true }),
        serde_json::json!({ "kind": "fq", "virtual_time": "scfq", "victim": "head", "longest": "packets" }),
        serde_json::json!({ "kind": "drr", "quantum": 7, "victim": "head", "longest": "packets" }),
        serde_json::json!({ "kind": "sfq", "rule": "share", "buckets": 3 }),
        serde_json::json!({ "kind": "rio", "w_q": 0.9, "out_min_th": 1, "out_max_th": 3, "ecn": true }),
        serde_json::json!({ "kind": "green", "count": "known", "n": 100, "rtt": "estimate", "draw": "packet", "ecn": true }),
        serde_json::json!({ "kind": "green", "count": "hits", "rtt": "handshake", "mss": 1000 }),
        serde_json::json!({ "kind": "green", "rtt": "timestamps" }),
        serde_json::json!({ "kind": "green", "window": "5 ms", "rtt": "table", "table": ["1 ms", "2 ms"] }),
        serde_json::json!({ "kind": "fred", "min_th": 1, "max_th": 4, "w_q": 0.5, "max_p": 1, "ecn": true }),
        serde_json::json!({ "kind": "fred", "min_th": 2, "max_th": 3, "w_q": 0.5, "many_flows": false }),
        serde_json::json!({ "kind": "blue", "d1": 0.5, "d2": 0.3, "freeze": "1 ms", "threshold": 2, "ecn": true }),
        serde_json::json!({ "kind": "sfb", "levels": 2, "bins": 3, "target": 1, "max": 3, "d1": 0.5, "d2": 0.2,
            "rehash": "50 ms", "warmup": "20 ms", "ecn": true }),
        serde_json::json!({ "kind": "sfb", "levels": 1, "bins": 2, "target": 1, "d1": 0.9, "rehash": "10 ms", "warmup": "10 ms" }),
        serde_json::json!({ "kind": "sred", "zombies": 5, "overwrite": 1, "max_p": 1, "ecn": true }),
        serde_json::json!({ "kind": "afd", "shadow": 4, "sample": 1, "target": 1, "ecn": true }),
        serde_json::json!({ "kind": "wf2q-plus", "victim": "head", "longest": "packets", "weights": [3, 0.5] }),
        serde_json::json!({ "kind": "hpfq", "victim": "head", "classes": [
            { "weight": 2, "classes": [
                { "takes": { "flows": ["f0"] }, "aqm": "codel" },
                { "takes": { "dscp": ["ef"] }, "weight": 0.3 },
                { "takes": { "acks": false, "flows": ["f2", "f3"] }, "split": true, "aqm": "pie" },
            ] },
            { "split": true },
        ] }),
        serde_json::json!({ "kind": "priority", "classes": [
            { "takes": { "dscp": ["ef"] }, "aqm": { "kind": "red", "min_th": 1, "max_th": 3, "ecn": true } },
            { "takes": { "flows": ["f0", "f?"] }, "aqm": { "kind": "pie", "update": "7 ms" } },
            {},
        ] }),
        serde_json::json!({ "kind": "wrr", "quantum": 70, "classes": [
            { "weight": 3, "takes": { "dscp": ["ef"] }, "aqm": "codel" }, { "weight": 0.7 },
        ] }),
        serde_json::json!({ "kind": "core-stateless", "weights": [2, 0.5], "k": "1 ms", "k_link": "1 ms",
            "k_congested": "1 ms", "threshold": 0 }),
        serde_json::json!({ "kind": "rem", "gamma": 1, "phi": 2, "target": 0, "ecn": true }),
        serde_json::json!({ "kind": "fq-codel", "queues": 3, "ce_threshold": "1 ms", "ce_selector": "ect1" }),
        serde_json::json!({ "kind": "fq-pie", "queues": 3, "quantum": 300, "max_burst": 0, "ecn": true }),
        serde_json::json!({ "kind": "dualpi2", "alpha": 5, "beta": 50, "update": "1 ms" }),
        serde_json::json!({ "kind": "dualpi2", "scheduler": "time-shifted", "identifier": "any-ect",
            "ecn": false, "drop_on_overload": false, "classic_buffer": "5 kB" }),
        serde_json::json!({ "kind": "cobalt", "target": "1 ms", "interval": "3 ms", "p_increase": 0.3,
            "p_decrease": 0.1 }),
        serde_json::json!({ "kind": "cake", "rate": "2 Mbps", "rtt": "4 ms", "queues": 3, "overhead": -20,
            "framing": "atm" }),
        serde_json::json!({ "kind": "cake", "tins": "diffserv4", "rtt": "4 ms", "queues": 10,
            "isolation": "dual-dsthost", "quantum": 300, "framing": "ptm", "mpu": 84 }),
        serde_json::json!({ "kind": "cake", "tins": "besteffort", "isolation": "flowblind" }),
        serde_json::json!({ "kind": "policer", "rate": "1 Mbps", "burst": "3 kB", "qdisc": "fq-codel" }),
        serde_json::json!({ "kind": "shaper", "rate": "3 Mbps", "burst": "4 kB", "latency": "9 ms",
            "qdisc": { "kind": "fq", "aqm": "pie" } }),
    ] {
        specs.push(serde_json::from_value(table).unwrap());
    }
    specs
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::NONE),
        (0u32..40).prop_map(|packets| Limit { packets, bytes: u64::MAX }),
        (0u64..30_000).prop_map(|bytes| Limit { packets: u32::MAX, bytes }),
        (1u32..20, 1000u64..20_000).prop_map(|(packets, bytes)| Limit { packets, bytes }),
    ]
}

/// The fate of a packet: when it left or was dropped, in the order in which that happened.
#[derive(Debug, PartialEq)]
enum Fate {
    Sent { seq: u32, marked: bool },
    Dropped { seq: u32, reason: DropReason },
}

/// Runs the operations, checking all along that the discipline's counts are those of the packets
/// that went in and did not come out. Returns what came out and the probes at the end.
fn run(spec: &Spec, env: &QdiscEnv, operations: &[Operation]) -> (Vec<Fate>, Vec<(String, f64)>) {
    let mut bench = Bench::new(build(spec, env, "qdisc").unwrap());
    let mut queued: BTreeMap<u32, (u16, crate::units::Time)> = BTreeMap::new();
    let mut fates = Vec::new();
    // Everything leaves at the end.
    let drain = std::iter::repeat_n(Operation::Depart, 2 * operations.len() + 1);
    for (i, operation) in operations.iter().copied().chain(drain).enumerate() {
        match operation {
            Operation::Arrive { key, size, flags } => {
                let seq = bench.arrive_with(key, size, Flags(flags));
                queued.insert(seq, (size, bench.now));
            }
            Operation::Depart => {
                let before = queued.len();
                match bench.depart() {
                    Some(sent) => {
                        let seq = sent.packet.seq;
                        let (size, arrived_at) =
                            queued.remove(&seq).expect("sent twice or never given");
                        assert_eq!((sent.packet.size, sent.at), (size, arrived_at));
                        let marked = sent.packet.flags.has(Flags::CE);
                        assert!(!marked || sent.packet.flags.has(Flags::ECT));
                        fates.push(Fate::Sent { seq, marked });
                    }
                    // Work conserving: nothing is sent only if nothing waits or all was dropped; or what
                    // waits is held back until later.
                    None if bench.dropped.len() < before => {
                        let later = bench.qdisc.ready_at().expect("idle with packets waiting");
                        assert!(later > bench.now, "held back until {later:?}");
                        if i >= operations.len() {
                            bench.now = later;
                        }
                    }
                    None => assert_eq!(bench.dropped.len(), before),
                }
            }
            Operation::Wait { us } => bench.after(Span::from_micros(us)),
            Operation::Tick => {
                if bench.qdisc.timer_interval().is_some() {
                    bench.tick();
                }
            }
        }
        for (seq, reason) in bench.drops() {
            queued.remove(&seq).expect("dropped twice or never given");
            fates.push(Fate::Dropped { seq, reason });
        }
        assert_eq!(bench.qdisc.len(), queued.len());
        let bytes: u64 = queued.values().map(|&(size, _)| u64::from(size)).sum();
        assert_eq!(bench.qdisc.backlog().0, bytes);
    }
    assert!(queued.is_empty(), "kept for ever: {queued:?}");
    let mut probes = Vec::new();
    bench.qdisc.probes(&mut |name, value| {
        assert!(value.is_finite(), "{name} is {value}");
        probes.push((name.to_owned(), value));
    });
    (fates, probes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packets_are_conserved_and_runs_repeat(operations in operations(), limit in limits()) {
        for spec in specs() {
            for era in ERAS {
                let env = QdiscEnv { limit, era, ..env() };
                // A discipline may refuse a link without a buffer.
                if limit.packets == 0 || limit.bytes == 0 {
                    let refused = build(&spec, &env, "qdisc").err();
                    if refused.is_some_and(|found| found[0].to_string().contains("buffer is 0")) {
                        continue;
                    }
                }
                let first = run(&spec, &env, &operations);
                let arrivals =
                    operations.iter().filter(|o| matches!(o, Operation::Arrive { .. })).count();
                prop_assert_eq!(first.0.len(), arrivals);
                prop_assert_eq!(first, run(&spec, &env, &operations));
            }
        }
    }

    #[test]
    fn nobody_holds_more_than_the_buffer(
        sizes in prop::collection::vec((0u32..6, 40u16..1500), 1..200),
        packets in 1u32..50,
        bytes in 1500u64..40_000,
    ) {
        for spec in specs() {
            let env = QdiscEnv { limit: Limit { packets, bytes }, ..env() };
            let mut bench = Bench::new(build(&spec, &env, "qdisc").unwrap());
            for &(key, size) in &sizes {
                bench.arrive(key, size);
                prop_assert!(bench.qdisc.len() as u64 <= u64::from(packets));
                prop_assert!(bench.qdisc.backlog().0 <= bytes);
            }
        }
    }
}

/// Of flow 0 wait three packets and 2100 bytes, of flow 1 one of 1500; the default of `priority` and `wrr` is one queue
/// for both. `priority` counts packets.
#[test]
fn schedulers_record_the_length_of_the_longest_queue() {
    for (kind, longest) in [
        ("cake", 2100.0),
        ("drr", 2100.0),
        ("fq", 2100.0),
        ("fq-codel", 2100.0),
        ("fq-pie", 2100.0),
        ("hpfq", 2100.0),
        ("priority", 4.0),
        ("wf2q-plus", 2100.0),
        ("wrr", 3600.0),
    ] {
        let mut bench = Bench::new(build(&Spec::from(kind), &env(), "qdisc").unwrap());
        assert_eq!(bench.probe("longest"), 0.0, "{kind}");
        for (flow, size) in [(0, 700), (1, 1500), (0, 700), (0, 700)] {
            bench.arrive(flow, size);
        }
        assert_eq!(bench.probe("longest"), longest, "{kind}");
    }
}

/// The first packet of a flow adds what is kept for it, more packets nothing, and each flow as much.
#[test]
fn the_state_of_per_flow_schedulers_grows_with_flows_not_with_packets() {
    for kind in ["drr", "fq", "hpfq", "wf2q-plus"] {
        let mut bench = Bench::new(build(&Spec::from(kind), &env(), "qdisc").unwrap());
        let mut states = vec![bench.qdisc.state()];
        for flow in 0..6 {
            bench.arrive(flow, 1000);
            let first = bench.qdisc.state();
            bench.arrive(flow, 1000);
            assert_eq!(bench.qdisc.state(), first, "{kind}");
            states.push(first);
        }
        let each = states[2].bytes - states[1].bytes;
        // A queue with its ends and counts, and the scheduler's number of it.
        assert!((32..512).contains(&each), "{kind}: {each}");
        for (n, state) in states.iter().enumerate().skip(1) {
            assert_eq!(state.flows, n as u64, "{kind}");
            assert_eq!(state.bytes, states[1].bytes + (n as u64 - 1) * each, "{kind}");
        }
        assert!(states[1].bytes >= states[0].bytes + 32, "{kind}: {states:?}");
    }
}

#[test]
fn every_default_is_a_valid_parameter_set_in_every_era() {
    for entry in catalogue() {
        let properties = entry.params["properties"].as_object().cloned().unwrap_or_default();
        let mut table = serde_json::Map::new();
        table.insert("kind".to_owned(), entry.info.name.into());
        for (name, schema) in properties {
            table.insert(name, schema["default"].clone());
        }
        for era in ERAS {
            let built = build(&Spec::Table(table.clone()), &QdiscEnv { era, ..env() }, "q");
            assert!(built.is_ok(), "{}: {:?}", entry.info.name, built.err());
        }
    }
}

#[test]
fn unknown_names_and_parameters_are_reported() {
    let error = |json: serde_json::Value| {
        let spec: Spec = serde_json::from_value(json).unwrap();
        build(&spec, &env(), "net.qdisc").map(|_| ()).unwrap_err()[0].to_string()
    };
    assert_eq!(
        error("fq-codl".into()),
        "net.qdisc: there is no queue discipline \"fq-codl\"; did you mean \"fq-codel\"?"
    );
    assert_eq!(
        error(serde_json::json!({ "kind": "drr", "quantun": 3 })),
        "net.qdisc.quantun: \"quantun\" is not a key here; did you mean \"quantum\"?"
    );
}
