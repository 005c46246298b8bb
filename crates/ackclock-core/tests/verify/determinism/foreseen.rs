//! Departures that are computed when packets arrive are those that a queue yields packet by packet. Where packets are
//! recorded, links call their queues packet by packet.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::common::{Run, check_threads, extend, run};

/// Disciplines that judge packets on arrival, some until waits become long.
fn judging() -> impl Strategy<Value = Value> {
    let marks = json!({"kind": "codel", "ecn": true, "ce_threshold": "2 ms", "target": "4 ms", "interval": "30 ms"});
    select(vec![
        json!("red"),
        json!({"kind": "red", "ecn": true, "min_th": 2, "max_th": 9, "w_q": 0.3, "adaptive": true}),
        json!({"kind": "red", "ecn": true, "min_th": 5, "max_th": 6, "w_q": 1}),
        json!({"kind": "green", "rtt": "timestamps"}),
        json!({"kind": "blue", "ecn": true, "d1": 0.2, "d2": 0.1, "freeze": "5 ms"}),
        json!({"kind": "sred", "zombies": 20}),
        json!("codel"),
        marks.clone(),
        json!({"kind": "codel", "ce_threshold": "1 ms", "target": "1000 s"}),
        json!({"kind": "codel", "ecn": true, "ce_threshold": "3 ms", "ce_selector": "ect1", "interval": "20 ms"}),
    ])
}

prop_compose! {
    /// Two links after one another and one that leads to the second, loaded by senders and sources, both ways; behind them a
    /// plain link, which packets enter as soon as they are sent to it.
    fn loaded()(
        qdiscs in prop::collection::vec(judging(), 3), rates in prop::collection::vec(1_000_000u64..20_000_000, 3),
        buffer in select(vec!["9 pkt", "70 pkt", "40 kB"]), era in select(vec!["rfc", "linux", "2002", "ns2", "quic"]),
        ccs in prop::collection::vec(select(vec!["reno", "cubic", "bbr", "dctcp", "copa"]), 3), ecn in any::<bool>(),
        load in 200_000u64..9_000_000, seed in any::<u32>(), steps in any::<bool>(),
        // Near nodes are handled packet by packet, far ones in batches.
        far in select(vec![1.0, 15.0]),
    ) -> Value {
        let link = |a: &str, b: &str, i: usize| json!({"a": a, "b": b, "rate": rates[i], "delay": far * 0.001_000_017 * (i + 1) as f64,
            "buffer": buffer, "qdisc": qdiscs[i]});
        let mut links = vec![link("a", "q", 0), link("q", "z", 1), link("b", "q", 2)];
        if steps {
            links[1]["schedule"] = json!({"steps": [{"at": 0.7, "rate": rates[1] / 3 + 1}, {"at": 1.3, "rate": rates[1]}]});
        }
        links.push(json!({"a": "z", "b": "y", "rate": rates[0] / 2 + 5_000_000, "delay": far * 0.000_700_003, "buffer": "60 pkt"}));
        let flow = |src: &str, dst: &str, i: usize| {
            let is_dctcp = ccs[i] == "dctcp";
            json!({"src": src, "dst": dst, "cc": ccs[i], "start": 0.01 * i as f64,
                "tcp": {"ecn": ecn || is_dctcp, "accecn": is_dctcp, "timestamps": era != "quic" && i == 0}})
        };
        json!({
            "net": {"kind": "graph", "links": links}, "era": era, "seed": seed, "duration": 2, "warmup": 0.5,
            "flows": [flow("a", "y", 0), flow("b", "y", 1), flow("y", "a", 2),
                {"src": "b", "dst": "y", "source": {"kind": "exponential-on-off", "rate": load, "packet": 777}}],
        })
    }
}

/// All that is known of links after a run.
fn links(run: &Run) -> String {
    format!("{:?}\n{:?}", run.results.links, run.results.link_samples)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, rng_seed: crate::common::seed(), max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn computed_departures_are_those_of_the_queue(scenario in loaded()) {
        let problems = crate::common::problems(&scenario);
        // Not every era has ECN counts, or room for 9 packets of its sizes.
        prop_assume!(problems.is_empty());
        let with = |tables: &[&str]| {
            let mut scenario = scenario.clone();
            extend(&mut scenario, json!({"record": {"interval": "7 ms", "tables": tables}}));
            run(scenario)
        };
        let computed = with(&["link_samples"]);
        let queued = with(&["link_samples", "packets"]);
        prop_assert_eq!(links(&computed), links(&queued));
        prop_assert_eq!(computed.results.digest, queued.results.digest);
        prop_assert!(computed.results.events <= queued.results.events);
        check_threads(&computed);
    }
}

/// That the two ways are two: without packets recorded most departures under RED take no event.
#[test]
fn computed_departures_take_no_events() {
    let scenario = |tables: &[&str]| {
        json!({"net": {"kind": "dumbbell", "pairs": 4, "rate": "10 Mbps", "qdisc": "red", "buffer": "60 pkt"},
            "flows": [{"pair": 0}, {"pair": 1}, {"pair": 2}, {"pair": 3}], "duration": 5, "record": {"tables": tables}})
    };
    let (computed, queued) = (run(scenario(&[])).results, run(scenario(&["packets"])).results);
    assert_eq!(computed.digest, queued.digest);
    let departed = computed.links.iter().map(|link| link.departed).max().unwrap();
    assert!(
        computed.events + departed / 2 < queued.events,
        "{} {}",
        computed.events,
        queued.events
    );
}

/// In a symmetrical network packets arrive exactly when transmissions end, all the time.
#[test]
fn ties_are_decided_as_they_are_packet_by_packet() {
    for qdisc in [
        json!({"kind": "codel", "ecn": true, "ce_threshold": "60 us", "target": "200 us", "interval": "1 ms"}),
        json!({"kind": "red", "ecn": true, "min_th": 3, "max_th": 20, "w_q": 1}),
        json!({"kind": "blue", "threshold": 30, "freeze": "100 us", "d1": 0.1, "d2": 0.05}),
    ] {
        let with = |tables: &[&str]| {
            run(json!({
                "net": {"kind": "fat-tree", "k": 4, "rate": "10 Gbps", "delay": "1 us", "buffer": "60 pkt", "qdisc": qdisc},
                "links": [{"link": "h*->*", "buffer": "200 pkt", "qdisc": qdisc}],
                "tcp": {"ecn": true, "accecn": true, "min_rto": "5 ms"},
                "flows": [{"pair": 0, "count": 16, "stagger": "3 us", "cc": "dctcp"}],
                "duration": "8 ms", "record": {"interval": "100 us", "tables": tables},
            }))
        };
        let (computed, queued) = (with(&["link_samples"]), with(&["link_samples", "packets"]));
        assert_eq!(links(&computed), links(&queued), "{qdisc}");
        assert_eq!(computed.results.digest, queued.results.digest, "{qdisc}");
        check_threads(&computed);
        assert!(computed.results.links.iter().any(|link| link.marks + link.drops > 100));
    }
}
