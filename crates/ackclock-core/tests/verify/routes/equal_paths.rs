//! Flows over equal paths: what they take, and that packets are conserved on the way.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::{Run, extend, run};

fn fat_tree(extra: Value) -> Run {
    let mut case = json!({
        "net": {"kind": "fat-tree", "k": 4, "rate": "1 Gbps", "delay": "5 us", "buffer": "50 pkt",
            "qdisc": {"kind": "red", "min_th": 20, "max_th": 21, "w_q": 1.0, "ecn": true}},
        "tcp": {"ecn": true, "accecn": true, "min_rto": "5 ms"},
        "flows": [{"pair": 0, "cc": "dctcp", "count": 16}],
        "duration": "10 ms",
    });
    extend(&mut case, extra);
    run(case)
}

/// The core switch that a flow's data crosses.
fn core(outcome: &Run, flow: usize) -> String {
    let links = &outcome.plan.flows[flow].route;
    assert_eq!(links.len(), 6, "host, edge, aggregation, core, aggregation, edge, host");
    outcome.plan.nodes[outcome.plan.links[links[2].index()].to.index()].clone()
}

fn cores(outcome: &Run) -> Vec<String> {
    (0..16).map(|flow| core(outcome, flow)).collect()
}

#[test]
fn flows_of_a_fat_tree_are_spread_over_its_core_by_seed_and_all_arrive() {
    let outcome = fat_tree(json!({}));
    let different: BTreeSet<String> = cores(&outcome).into_iter().collect();
    assert!(different.len() >= 3, "{different:?}");
    assert_ne!(cores(&outcome), cores(&fat_tree(json!({"seed": 2}))));
    for flow in 0..16 {
        assert!(outcome.flow(flow).receiver.delivered_packets > 0, "flow {flow}");
        let data = &outcome.plan.flows[flow].route;
        assert!(data.iter().all(|link| outcome.results.links[link.index()].arrived > 0));
    }
    // Twice the same.
    assert_eq!(outcome.results.digest, fat_tree(json!({})).results.digest);
}

#[test]
fn one_path_for_all_is_the_first_and_slower() {
    let first = fat_tree(json!({"equal_paths": "first"}));
    assert_eq!(BTreeSet::from_iter(cores(&first)).len(), 1);
    let sum = |outcome: &Run| -> u64 {
        (0..16).map(|f| outcome.flow(f).receiver.delivered_packets).sum()
    };
    assert!(sum(&first) < sum(&fat_tree(json!({}))) / 2);
}

#[test]
fn a_flow_that_is_added_moves_no_other() {
    let outcome = fat_tree(json!({}));
    let more = fat_tree(json!({"flows": [{"pair": 0, "cc": "dctcp", "count": 16}, {"pair": 3}]}));
    assert_eq!(cores(&outcome), cores(&more));
}

#[test]
fn a_graph_spreads_flows_only_if_the_scenario_says_so() {
    let link = |a: &str, b: &str| json!({"a": a, "b": b, "rate": "10 Mbps", "delay": "1 ms", "buffer": "20 pkt"});
    let square = |extra: Value| {
        let mut case = json!({
            "net": {"kind": "graph", "links": [
                link("a", "b"), link("b", "d"), link("a", "c"), link("c", "d")]},
            "flows": [{"src": "a", "dst": "d", "count": 40}], "duration": "0.2 s",
        });
        extend(&mut case, extra);
        let outcome = run(case);
        let via = |flow: usize| outcome.plan.flows[flow].route[0].0;
        (0..40).filter(|&flow| via(flow) == 0).count()
    };
    assert_eq!(square(json!({})), 40);
    let share = square(json!({"equal_paths": "hash"}));
    assert!((10..=30).contains(&share), "{share}");
}
