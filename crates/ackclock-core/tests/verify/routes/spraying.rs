//! Packets that are sprayed over equal paths: which they take, what may send them, and that nothing is lost of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Run, check_threads, extend, problems, run};

/// Two leaves with four hosts each and four spines; every host of the first leaf sends to one of the second.
fn leaf_spine(extra: Value) -> Value {
    let mut case = json!({
        "net": {"kind": "leaf-spine", "leaves": 2, "spines": 4, "hosts": 4, "rate": "1 Gbps", "delay": "5 us",
            "buffer": "60 pkt"},
        "tcp": {"min_rto": "5 ms"}, "equal_paths": "spray",
        "flows": (0..4).map(|i| json!({"src": format!("h{i}"), "dst": format!("h{}", i + 4), "recovery": "rack"})).collect::<Vec<_>>(),
        "duration": "20 ms",
    });
    extend(&mut case, extra);
    case
}

fn arrived(outcome: &Run, links: impl Fn(usize) -> String) -> Vec<f64> {
    (0..4).map(|i| outcome.link(&links(i)).arrived as f64).collect()
}

/// Chi-squared with 3 degrees of freedom is above 16.3 in one of a thousand.
#[test]
fn data_and_acknowledgements_are_spread_evenly_over_the_spines() {
    let outcome = run(leaf_spine(json!({})));
    for (from, to) in [("l0", "l1"), ("l1", "l0")] {
        let ups = arrived(&outcome, |i| format!("{from}->s{i}"));
        let downs = arrived(&outcome, |i| format!("s{i}->{to}"));
        let mean = ups.iter().sum::<f64>() / 4.0;
        assert!(mean > 400.0, "{mean}");
        let chi: f64 = ups.iter().map(|n| (n - mean).powi(2) / mean).sum();
        assert!(chi < 16.3, "{from} {ups:?}");
        for (up, down) in ups.iter().zip(downs) {
            assert!((up - down).abs() < 20.0, "{up} entered a spine and {down} left it");
        }
    }
}

/// With a hash two flows of four or more share a spine in nearly every draw; sprayed, each has its share of all.
#[test]
fn a_permutation_that_a_hash_lets_collide_fills_its_links() {
    let slowest = |choice: &str| -> f64 {
        let flow = |i: u32| {
            json!({"src": format!("h{i}"), "dst": format!("h{}", i + 4), "size": "1 MB", "cc": "dcqcn",
                "recovery": {"kind": "rack", "reo_wnd": "5 ms"}})
        };
        let mut case =
            leaf_spine(json!({"equal_paths": choice, "tcp": {"syn": false, "min_rto": "50 ms"},
            "flows": (0..4).map(flow).collect::<Vec<_>>(), "duration": "40 ms"}));
        case["net"]["buffer"] = json!("4000 pkt");
        let outcome = run(case);
        (0..4).map(|i| outcome.flow(i).sender.completed_s).fold(0.0, f64::max)
    };
    // A megabyte takes 8.2 ms of a link.
    let (hashed, sprayed) = (slowest("hash"), slowest("spray"));
    assert!(sprayed < 9e-3, "{sprayed}");
    assert!(hashed > 15e-3, "{hashed}");
}

#[test]
fn the_seed_decides_and_a_run_repeats() {
    let digest = |seed: u32| run(leaf_spine(json!({"seed": seed}))).results.digest;
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

/// Where there is one path, spraying is what a hash and the first path are, to the last bit.
#[test]
fn on_a_tree_spraying_changes_nothing() {
    let tree = |choice: &str| {
        let mut case = leaf_spine(
            json!({"equal_paths": choice, "record": {"tables": ["packets", "rtts", "windows"]}}),
        );
        case["net"]["spines"] = json!(1);
        let outcome = run(case);
        format!("{:?}", outcome.results)
    };
    assert!(tree("spray") == tree("first"));
    assert!(tree("spray") == tree("hash"));
    assert!(tree("spray") == tree("reps"));
}

#[test]
fn reordering_is_no_loss_to_rack_and_other_recoveries_are_refused() {
    let outcome = run(leaf_spine(
        json!({"flows": [{"src": "h0", "dst": "h4", "size": "2 MB", "recovery": "rack"}]}),
    ));
    let sender = &outcome.flow(0).sender;
    assert!(sender.completed_s > 0.0);
    // Alone on its paths nothing is dropped: what is sent again was overtaken before RACK had seen reordering.
    assert_eq!(outcome.flow(0).lost_data, 0);
    assert!(sender.retransmits < 30, "{}", sender.retransmits);

    let refused = |flow: Value| {
        let mut all = json!({"src": "h0", "dst": "h4"});
        extend(&mut all, flow);
        problems(&leaf_spine(json!({"flows": [all]})))
    };
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let found = refused(json!({"recovery": recovery}));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "flows[0].recovery");
        assert!(found[0].1.contains("overtaken") && found[0].1.contains("\"rack\""), "{found:?}");
    }
    assert_eq!(refused(json!({"transport": "quic"}))[0].0, "flows[0].quic.packet_threshold");
    assert!(
        refused(json!({"transport": "quic", "quic": {"packet_threshold": 100_000}})).is_empty()
    );
    assert!(refused(json!({"source": {"kind": "cbr", "rate": "1 Mbps"}})).is_empty());
    assert_eq!(refused(json!({"cc": "hpcc", "recovery": "rack"}))[0].0, "equal_paths");
    // Neighbours of one leaf have one path.
    assert!(refused(json!({"dst": "h1", "recovery": "sack"})).is_empty());
    let ledger = problems(&leaf_spine(json!({"record": {"tables": ["ledger"]}})));
    assert_eq!(ledger[0].0, "record.tables[0]");
}

#[test]
fn a_network_with_too_many_paths_is_refused() {
    // Twelve squares in a row: two paths through each, 4096 in all.
    let links: Vec<Value> = (0..12)
        .flat_map(|i| {
            let ends = [(format!("n{i}"), format!("u{i}")), (format!("u{i}"), format!("n{}", i + 1)),
                (format!("n{i}"), format!("d{i}")), (format!("d{i}"), format!("n{}", i + 1))];
            ends.map(|(a, b)| json!({"a": a, "b": b, "rate": "1 Mbps", "delay": "1 ms", "buffer": "9 pkt"}))
        })
        .collect();
    let case = |to: &str| {
        json!({"net": {"kind": "graph", "links": links}, "equal_paths": "spray", "duration": 1,
        "flows": [{"src": "n0", "dst": to, "recovery": "rack"}]})
    };
    let found = problems(&case("n12"));
    assert!(found[0].1.contains("more than 1024 shortest paths"), "{found:?}");
    assert!(problems(&case("n10")).is_empty());
}

prop_compose! {
    fn sprayed()(
        leaves in 2usize..4, spines in 1usize..5, hosts in 1usize..4,
        qdisc in prop::sample::select(vec!["fifo", "red", "codel", "fq", "priority"]),
        packets in 3u32..40, count in 1u32..9, seed in any::<u32>(), quic in any::<bool>(),
        cc in prop::sample::select(vec!["cubic", "dctcp", "swift", "dcqcn", "bbr3"]),
        delays in prop::collection::vec(1u32..200, 2), has_waits in any::<bool>(),
        choice in prop::sample::select(vec!["spray", "reps"]),
    ) -> Value {
        let transport = if quic {
            json!({"transport": "quic", "quic": {"packet_threshold": 5000, "ecn": true}})
        } else {
            json!({"recovery": "rack", "tcp": {"min_rto": "4 ms", "ecn": true, "accecn": true}})
        };
        let mut flow = json!({"id": "a", "between": "uniform-pairs", "count": count, "cc": cc, "size": "200 kB"});
        extend(&mut flow, transport.clone());
        let mut flows = vec![flow];
        if has_waits && !quic {
            let mut job = json!({"id": "job", "between": "ring-all-reduce", "size": "90 kB", "cc": cc});
            extend(&mut job, transport);
            flows.push(job);
        }
        json!({
            "net": {"kind": "leaf-spine", "leaves": leaves, "spines": spines, "hosts": hosts, "rate": "1 Gbps",
                "delay": format!("{} us", delays[0]), "buffer": format!("{packets} pkt"), "qdisc": qdisc},
            "equal_paths": choice, "seed": seed, "duration": "12 ms", "flows": flows,
            "record": {"tables": ["packets", "rtts"]},
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: crate::common::seed(), max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// Every run checks that packets are conserved, and the laws; on two threads it is the same to the last bit.
    #[test]
    fn sprayed_packets_are_conserved_on_any_number_of_threads(case in sprayed()) {
        let found = problems(&case);
        prop_assert!(found.is_empty(), "{found:?}");
        let outcome = run(case);
        check_threads(&outcome);
    }
}
