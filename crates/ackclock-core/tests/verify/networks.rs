//! Drawn networks as users get them: what holds for every seed, the published HOT graph, and traffic
//! patterns on them in the packet engine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

use ackclock_core::scenario::Net;
use ackclock_core::topology::{Layout, Topology as _};
use proptest::prelude::*;
use rustworkx_core::petgraph::algo::is_isomorphic_matching;
use rustworkx_core::petgraph::graph::UnGraph;
use serde_json::{Value, json};

fn layout(net: Value) -> Layout {
    let net: Net = serde_json::from_value(net).expect("the network has the right form");
    net.layout("net").expect("the network can be had")
}

type Neighbours = BTreeMap<String, BTreeSet<String>>;

fn neighbours<'a>(links: impl IntoIterator<Item = (&'a str, &'a str)>) -> Neighbours {
    let mut all = Neighbours::new();
    for (a, b) in links {
        all.entry(a.to_owned()).or_default().insert(b.to_owned());
        all.entry(b.to_owned()).or_default().insert(a.to_owned());
    }
    all
}

fn of(layout: &Layout) -> Neighbours {
    neighbours(layout.links.iter().map(|l| (layout.name(l.a), layout.name(l.b))))
}

fn hops(graph: &Neighbours, from: &[&str]) -> BTreeMap<String, u64> {
    let mut hops: BTreeMap<String, u64> = from.iter().map(|n| ((*n).to_owned(), 0)).collect();
    let mut open: VecDeque<String> = from.iter().map(|n| (*n).to_owned()).collect();
    while let Some(node) = open.pop_front() {
        let next = hops[&node] + 1;
        for other in &graph[&node] {
            if !hops.contains_key(other) {
                hops.insert(other.clone(), next);
                open.push_back(other.clone());
            }
        }
    }
    hops
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn networks_with_edge_nodes_are_whole_and_rated_by_depth(
        kind in prop::sample::select(vec!["erdos-renyi", "barabasi"]),
        nodes in 20u32..120, density in 1.2f64..6.0, edge_nodes in 150u32..400, seed in 0u64..1000,
    ) {
        let edges = (f64::from(nodes) * density) as u32;
        let made = layout(json!({
            "kind": kind, "nodes": nodes, "edges": edges, "edge_nodes": edge_nodes, "seed": seed,
            "capacities": "arithmetic", "rate": 7,
        }));
        let graph = of(&made);
        prop_assert_eq!(graph.len(), made.nodes.len());
        let leaves: Vec<&str> =
            graph.iter().filter(|(_, n)| n.len() == 1).map(|(n, _)| n.as_str()).collect();
        prop_assert_eq!(leaves.len() as u32, edge_nodes);
        prop_assert!(leaves.iter().all(|n| n.starts_with('e')));
        // One piece, and every rate 7 times one more than the nearer end's way to a leaf.
        let depth = hops(&graph, &leaves);
        prop_assert_eq!(depth.len(), graph.len());
        for link in &made.links {
            let [a, b] = [link.a, link.b].map(|end| depth[made.name(end)]);
            prop_assert_eq!(link.rate.0, 7 * (1 + a.min(b)));
        }
        // No leaf hangs on a leaf, unless there is nothing else.
        for leaf in leaves {
            let at = graph[leaf].first().expect("a leaf has a neighbour");
            prop_assert!(graph[at].len() > 1);
        }
        prop_assert_eq!(made.hosts().len() as u32, edge_nodes);
    }
}

#[test]
fn seeds_give_different_networks_and_each_always_the_same() {
    let net = |seed| {
        layout(
            json!({"kind": "barabasi", "nodes": 60, "edges": 90, "edge_nodes": 100, "seed": seed}),
        )
    };
    assert_eq!(net(1), net(1));
    assert_ne!(net(1), net(2));
}

/// The folder of the published HOT graph.
fn published_hot() -> PathBuf {
    crate::reference_data::folder("data/topologies/hot_orbis")
}

/// Nodes that are no leaves, each with its number of leaves, and the links between them. Leaves of one
/// node can be exchanged, so two graphs are isomorphic where these are.
fn collapse_leaves(graph: &Neighbours) -> UnGraph<usize, ()> {
    let mut tree = UnGraph::new_undirected();
    let mut index = BTreeMap::new();
    for (node, near) in graph.iter().filter(|(_, near)| near.len() > 1) {
        let leaves = near.iter().filter(|n| graph[*n].len() == 1).count();
        index.insert(node, tree.add_node(leaves));
    }
    for (node, near) in graph {
        for other in near.iter().filter(|other| *other > node) {
            if let (Some(a), Some(b)) = (index.get(node), index.get(other)) {
                tree.add_edge(*a, *b, ());
            }
        }
    }
    tree
}

#[test]
fn a_traffic_pattern_fills_a_packet_run_and_shifts_with_the_seed_only() {
    let scenario = |seed: u64| {
        json!({
            "net": {"kind": "erdos-renyi", "nodes": 12, "edges": 40, "edge_nodes": 20,
                    "rate": "1 Mbps", "capacities": "geometric"},
            "flows": [
                {"between": "uniform-pairs", "count": 30, "id": "u"},
                {"between": {"kind": "exponential-pairs", "exponent": 0.3}, "count": 5},
            ],
            "duration": "2 s", "seed": seed,
        })
    };
    let run = crate::common::run(scenario(1));
    assert_eq!(run.plan.flows.len(), 35);
    assert!((0..35).map(|i| run.goodput(i)).sum::<f64>() > 1e6);
    let ends = |r: &crate::common::Run| -> Vec<(u32, u32)> {
        r.plan.flows.iter().map(|f| (f.src.0, f.dst.0)).collect()
    };
    assert_eq!(ends(&run), ends(&crate::common::run(scenario(1))));
    let other = crate::common::run(scenario(2));
    assert_ne!(ends(&run), ends(&other));
    assert_eq!(run.plan.nodes, other.plan.nodes);
}

/// In the map only `c` and `d` have one neighbour; a star's hub is a router, not a host.
#[test]
fn a_pattern_connects_all_nodes_of_a_map_and_only_hosts_where_there_are_hosts() {
    let link = |a: &str, b: &str| json!({"a": a, "b": b, "rate": "1 Mbps", "delay": "1 ms"});
    let hosts_of = |net: &Value, hosts: Value| -> BTreeSet<u32> {
        let run = crate::common::run(json!({
            "net": net, "duration": "1 ms",
            "flows": [{"between": "uniform-pairs", "hosts": hosts, "count": 100, "start": "2 ms"}],
        }));
        run.plan.flows.iter().flat_map(|f| [f.src.0, f.dst.0]).collect()
    };
    let mut links = [link("a", "b"), link("b", "c"), link("a", "d"), link("a", "d")];
    links[3]["id"] = json!("second");
    let map = json!({"kind": "graph", "links": links});
    assert_eq!(hosts_of(&map, Value::Null), BTreeSet::from([0, 1, 2, 3]));
    assert_eq!(hosts_of(&map, json!("leaves")), BTreeSet::from([2, 3]));
    assert_eq!(hosts_of(&map, json!(["d", "b"])), BTreeSet::from([1, 3]));
    let star = json!({"kind": "star", "hosts": 3, "rate": "1 Mbps", "delay": "1 ms"});
    assert_eq!(hosts_of(&star, Value::Null).len(), 3);
    assert_eq!(hosts_of(&star, json!("all")).len(), 4);
}

/// Each arrival draws its ends anew: transfers between any two of eight hosts, and incasts of three to one, at one time each.
#[test]
fn a_generator_draws_the_ends_of_each_arrival() {
    let run = crate::common::run(json!({
        "net": {"kind": "star", "hosts": 8, "rate": "1 Gbps", "delay": "1 us"}, "duration": "1 ms",
        "traffic": [
            {"generator": {"kind": "poisson", "rate": 1e6, "count": 400, "start": "2 us",
                "sizes": {"kind": "fixed", "mean": "1 B"}},
             "flow": {"between": "uniform-pairs", "count": 1, "start": "1 s"}},
            {"generator": {"kind": "poisson", "rate": 1e5, "count": 20,
                "sizes": {"kind": "fixed", "mean": "1 B"}},
             "flow": {"between": {"kind": "incast", "random": true}, "count": 3, "start": "1 s"}},
        ],
    }));
    let (single, incast) = run.plan.flows.split_at(400);
    let pairs: BTreeSet<(u32, u32)> = single.iter().map(|f| (f.src.0, f.dst.0)).collect();
    // 56 pairs: 400 draws miss one of them 0.04 times on average.
    assert!(pairs.len() >= 54 && pairs.iter().all(|(src, dst)| src != dst), "{pairs:?}");
    assert_eq!(incast.len(), 60);
    for senders in incast.chunks(3) {
        let different: BTreeSet<u32> = senders.iter().map(|f| f.src.0).collect();
        assert_eq!(different.len(), 3);
        assert!(senders.iter().all(|f| f.dst == senders[0].dst && f.start == senders[0].start));
    }
    let receivers: BTreeSet<u32> = incast.iter().map(|f| f.dst.0).collect();
    assert!(receivers.len() > 4, "{receivers:?}");
}

#[test]
fn what_a_pattern_cannot_do_is_reported_at_its_place() {
    let refused = |flow: Value, traffic: Value| -> Vec<String> {
        let scenario = json!({
            "net": {"kind": "star", "hosts": 3, "rate": "1 Mbps", "delay": "1 ms"},
            "flows": [flow], "traffic": traffic, "duration": "1 s",
        });
        ackclock_core::api::check(&scenario.to_string())
            .into_iter()
            .map(|p| format!("{}: {}", p.path, p.message))
            .collect()
    };
    let both = refused(json!({"between": "uniform-pairs", "pair": 0}), json!([]));
    assert!(both[0].starts_with("flows[0].between: draws both ends"), "{both:?}");
    let unknown = refused(json!({"between": "uniform"}), json!([]));
    assert!(
        unknown[0].contains("did you mean \"uniform-pairs\"")
            || unknown[0].contains("uniform-pairs"),
        "{unknown:?}"
    );
    let hosts =
        |hosts: Value| refused(json!({"between": "uniform-pairs", "hosts": hosts}), json!([]));
    let messages = hosts(json!("leafs"));
    assert_eq!(
        messages,
        ["flows[0].hosts: is \"leafs\"; expected \"all\", \"leaves\" or a list of nodes"]
    );
    let twice = hosts(json!(["h0", "h0"]));
    assert_eq!(twice, ["flows[0].hosts: names \"h0\" twice; expected different nodes"]);
    let nowhere = hosts(json!(["h0", "nowhere", "h7"]));
    let paths: Vec<&str> = nowhere.iter().filter_map(|message| message.split(':').next()).collect();
    assert_eq!(paths, ["flows[0].hosts[1]", "flows[0].hosts[2]"]);
    let alone = refused(json!({"pair": 0, "hosts": "all"}), json!([]));
    assert_eq!(alone, ["flows[0].hosts: has no effect without between; expected both"]);
    let generated =
        |flow: Value| refused(json!({"pair": 0}), json!([{"generator": "poisson", "flow": flow}]));
    assert_eq!(
        generated(json!({"between": "uniform-pairs", "pair": 0})),
        ["traffic[0].flow.between: draws both ends; expected neither pair, src nor dst beside it"]
    );
    assert_eq!(
        generated(json!({"hosts": "all"})),
        ["traffic[0].flow.hosts: has no effect without between; expected both"]
    );
    let collective = generated(json!({"between": "ring-all-reduce", "size": 1000}));
    assert!(collective[0].contains("which no generator makes"), "{collective:?}");
}

mod needs_data {
    use super::*;

    #[test]
    #[ignore = "needs topologies/hot_orbis (ACKCLOCK_DATA)"]
    fn hot_is_isomorphic_to_the_graph_published_with_orbis() {
        let folder = published_hot();
        let text = std::fs::read_to_string(folder.join("edges.csv")).expect("the file can be read");
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|l| l.split(',').collect()).collect();
        let published = neighbours(rows.iter().map(|r| (r[0], r[1])));
        let hot = layout(json!({"kind": "hot"}));
        assert_eq!(rows.len(), hot.links.len());
        let (ours, theirs) = (collapse_leaves(&of(&hot)), collapse_leaves(&published));
        assert_eq!((theirs.node_count(), theirs.edge_count()), (171, 220));
        assert!(is_isomorphic_matching(&ours, &theirs, |a, b| a == b, |(), ()| true));

        // The assigned capacities are the same, as a multiset: geometric, with 100 Mb/s leaves.
        let mut published_rates: Vec<u64> =
            rows.iter().map(|r| r[2].parse().expect("a rate")).collect();
        let mut rates: Vec<u64> = hot.links.iter().map(|l| l.rate.0).collect();
        published_rates.sort_unstable();
        rates.sort_unstable();
        assert_eq!(published_rates, rates);
    }
}
