//! Properties of partitions, and of runs on different partitions.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::compile::compile;
use crate::era::Era;
use crate::packet::outcome::results::Results;
use crate::packet::process::channel_heads::Heads;
use crate::packet::process::clock::{Picoseconds, Seconds};
use crate::packet::setup::build::build_with;
use crate::packet::setup::custom::RegistryOnly;
use crate::packet::turn::simulator::{RunEnd, Sim};

fn build<C: Clock>(plan: &Plan) -> Sim<C> {
    build_with(plan, &RegistryOnly, Partition::of, |_| true).unwrap()
}

fn results_on<C: Clock>(plan: &Plan, is_default: bool) -> Results {
    let apart = |plan: &Plan, _: &[Link<C>], _: &[u64], _: &[bool]| Partition {
        stubs_wait: false,
        ..Partition::apart(plan)
    };
    let mut sim = if is_default {
        build::<C>(plan)
    } else {
        build_with(plan, &RegistryOnly, apart, |_| true).unwrap()
    };
    assert_eq!(sim.run(&|| None, &mut |_| true, None), RunEnd::Ended);
    sim.into_ended().finish(plan, None).unwrap()
}

/// Everything that a run reports except the number of turns.
pub(crate) fn results(plan: &Plan, is_default: bool) -> String {
    let mut results = if plan.era == Era::Ns2 {
        results_on::<Seconds>(plan, is_default)
    } else {
        results_on::<Picoseconds>(plan, is_default)
    };
    results.activations = 0;
    format!("{results:?}")
}

/// Campuses on a backbone, whose links are long or short by the speed of signals.
pub(crate) fn campuses(seed: u64, era: &str, qdisc: &str, speed: f64) -> Plan {
    impaired_campuses(seed, era, qdisc, speed, &[])
}

/// The same, with impairments on every wire.
pub(crate) fn impaired_campuses(
    seed: u64,
    era: &str,
    qdisc: &str,
    speed: f64,
    impairments: &[&str],
) -> Plan {
    let scenario = json!({
        "links": if impairments.is_empty() { json!([]) }
                 else { json!([{ "link": "*", "impairments": impairments }]) },
        "duration": "2 s", "seed": seed, "era": era, "routing": "delay",
        "net": { "kind": "tiers", "mans": 3, "lans": 3, "wan_nodes": 3, "wan_redundancy": 2,
                 "seed": seed,
                 "signal_speed": speed, "buffer": "20 pkt", "qdisc": qdisc },
        "flows": [{ "id": "tcp", "between": { "kind": "exponential-pairs", "exponent": 0 },
                    "count": 12, "start_jitter": "100 ms", "recovery": "sack" }],
        "record": { "tables": ["packets", "drops", "flow_samples", "link_samples", "windows"],
                    "interval": "50 ms" },
    });
    compile(&serde_json::from_value(scenario).unwrap()).unwrap()
}

/// Campuses whose flows are fire-hoses: those of one host read each other's goodputs.
pub(crate) fn bundled_campuses(seed: u64, policy: &str, speed: f64) -> Plan {
    let scenario = json!({
        "duration": "1 s", "seed": seed, "routing": "delay",
        "net": { "kind": "tiers", "mans": 3, "lans": 3, "wan_nodes": 3, "wan_redundancy": 2,
                 "seed": seed, "signal_speed": speed, "buffer": "20 pkt", "qdisc": "fq" },
        "flows": [{ "id": "hose", "between": { "kind": "exponential-pairs", "exponent": 0 },
                    "count": 24, "start_jitter": "100 ms",
                    "source": { "kind": "fire-hose", "policy": policy, "interval": "20 ms",
                                "capacity": "3 Mbps" } }],
        "record": { "tables": ["packets", "drops", "flow_samples", "link_samples"],
                    "interval": "50 ms" },
    });
    compile(&serde_json::from_value(scenario).unwrap()).unwrap()
}

#[test]
fn fire_hoses_of_one_host_answer_each_other_alike_on_every_partition() {
    for (seed, policy, speed) in [(1, "full-share", 2e8), (2, "limited-ratio", 5e7)] {
        let plan = bundled_campuses(seed, policy, speed);
        let mut links: Vec<_> = plan.flows.iter().map(|flow| flow.route[0]).collect();
        links.sort_unstable();
        links.dedup();
        assert!(links.len() < plan.flows.len(), "no host has two flows");
        assert!(results(&plan, true) == results(&plan, false), "{policy}");
    }
}

/// A fat tree whose links have one of three delays [ns] each.
fn near_switches(
    seed: u64,
    qdisc: &str,
    delays: &[u64],
    switches: Option<serde_json::Value>,
    loss: Option<f64>,
) -> Plan {
    let ns = |k: usize| format!("{} ns", delays[k]);
    let mut scenario = json!({
        "duration": "400 us", "seed": seed,
        "net": { "kind": "fat-tree", "k": 4, "rate": "10 Gbps", "delay": ns(0), "buffer": "30 pkt",
                 "qdisc": qdisc },
        "links": [{ "link": "h*->*", "delay": ns(1) }, { "link": "c*->*", "delay": ns(2), "loss": loss.unwrap_or(0.0) }],
        "flows": [
            { "pair": 0, "count": 16, "cc": "dctcp" },
            { "pair": 3, "count": 4, "start_jitter": "20 us", "cc": "cubic" },
            { "pair": 5, "source": { "kind": "cbr", "rate": "2 Gbps" } },
        ],
        "tcp": { "ecn": true, "accecn": true, "initial_window": 20, "min_rto": "1 ms" },
        "record": { "tables": ["packets", "drops", "flow_samples", "link_samples"], "interval": "40 us" },
    });
    if let Some(switches) = switches {
        scenario["switches"] = switches;
    }
    compile(&serde_json::from_value(scenario).unwrap()).unwrap()
}

/// TCP and datagrams, each flow between two hosts that no other flow uses, through routers.
pub(crate) fn hosts_on_routers(seed: u64, era: &str, qdisc: &str, kind: &str, ms: &[u64]) -> Plan {
    let ms = |k: usize| format!("{} ms", ms[k]);
    let net = if kind == "dumbbell" {
        json!({ "kind": kind, "pairs": 4, "rate": "2 Mbps", "delay": ms(0), "buffer": "9 pkt",
                "access_rate": "10 Mbps", "access_delay": ms(1), "qdisc": qdisc,
                "right_delays": [ms(2), "1 ms", ms(3), "200 ms"] })
    } else {
        json!({ "kind": kind, "hops": 3, "rate": "2 Mbps", "delay": ms(0), "buffer": "9 pkt",
                "access_rate": "10 Mbps", "access_delay": ms(1), "qdisc": qdisc })
    };
    let flow = |pair: usize| match pair {
        3 => json!({ "pair": 3, "source": { "kind": "exponential-on-off", "rate": "1 Mbps" } }),
        _ => json!({ "pair": pair, "start_jitter": "300 ms", "recovery": "sack" }),
    };
    let scenario = json!({
        "duration": "3 s", "seed": seed, "era": era, "warmup": "1 s", "net": net,
        "flows": (0..4).map(flow).collect::<Vec<_>>(),
        "record": { "tables": ["packets", "drops", "flow_samples", "link_samples", "windows"],
                    "interval": "50 ms" },
    });
    compile(&serde_json::from_value(scenario).unwrap()).unwrap()
}

/// On a dumbbell every host is one; where one router joins all, none is.
#[test]
fn hosts_whose_only_way_out_is_a_link_between_routers_are_stubs() {
    let count = |net: serde_json::Value| {
        let flows = json!([{ "pair": 0, "count": 3 }]);
        let scenario = json!({ "duration": "1 s", "net": net, "flows": flows });
        let plan = compile(&serde_json::from_value(scenario).unwrap()).unwrap();
        build::<Picoseconds>(&plan).schedule.stubs.count()
    };
    let dumbbell = json!({ "kind": "dumbbell", "pairs": 3, "rate": "10 Mbps", "delay": "20 ms" });
    let star = json!({ "kind": "star", "hosts": 6, "rate": "10 Mbps", "delay": "20 ms" });
    assert_eq!((count(dumbbell), count(star)), (6, 0));
}

#[test]
fn near_nodes_are_one_process_and_far_ones_are_not() {
    let count = |speed| {
        let sim = build::<Picoseconds>(&campuses(1, "rfc", "fifo", speed));
        let processes = &sim.schedule.processes;
        let clusters = processes.iter().filter(|process| process.is_cluster()).count();
        (clusters, processes.len())
    };
    let ((near, few), (far, many)) = (count(2e8), count(2e4));
    assert!(near > 0 && far == 0 && few < many, "{near} of {few}, {far} of {many}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn results_do_not_depend_on_the_partition(
        seed in 0u64..1000,
        ns2 in any::<bool>(),
        qdisc in prop::sample::select(vec!["fifo", "fq", "drr", "red", "codel"]),
        speed in prop::sample::select(vec![2e8, 1e9, 5e7]),
    ) {
        let plan = campuses(seed, if ns2 { "ns2" } else { "rfc" }, qdisc, speed);
        prop_assert!(results(&plan, true) == results(&plan, false));
    }

    #[test]
    fn results_do_not_depend_on_windows_in_which_a_cluster_takes_packets_of_many_links(
        seed in 0u64..1000,
        qdisc in prop::sample::select(vec!["fifo", "codel", "red", "fq", "pie"]),
        // Those that differ by transmissions of a packet make packets arrive at once over unequal links.
        delays in prop::collection::vec(prop_oneof![40u64..4000, (0u64..3).prop_map(|k| 100 + 1200 * k)], 3),
        switches in prop::option::of(prop::sample::select(vec![
            json!({ "memory": "200 kB", "alpha": 0.5 }),
            json!({ "memory": "2 MB", "alpha": 0.1, "pfc": { "response": "200 ns" } }),
        ])),
        loss in prop::option::of(Just(0.01)),
    ) {
        let plan = near_switches(seed, qdisc, &delays, switches, loss);
        let sim = build::<Picoseconds>(&plan);
        let mut heads = sim.schedule.processes.iter().map(|process| &process.stages[1].heads);
        prop_assert!(heads.any(|heads| matches!(heads, Heads::Windows(_))));
        prop_assert!(results(&plan, true) == results(&plan, false));
    }

    #[test]
    fn results_with_impairments_do_not_depend_on_the_partition(
        seed in 0u64..1000,
        era in prop::sample::select(vec!["rfc", "2002", "ns2"]),
        qdisc in prop::sample::select(vec!["fifo", "fq", "codel"]),
        speed in prop::sample::select(vec![2e8, 5e7]),
        impairments in prop::sample::subsequence(
            vec!["jitter", "reorder", "duplicate", "gilbert-elliott", "arq", "aggregation"],
            1..4,
        ),
    ) {
        let plan = impaired_campuses(seed, era, qdisc, speed, &impairments);
        prop_assert!(results(&plan, true) == results(&plan, false));
    }

    #[test]
    fn results_do_not_depend_on_whether_stubs_wait(
        seed in 0u64..1000,
        era in prop::sample::select(vec!["rfc", "ns2", "2002"]),
        qdisc in prop::sample::select(vec!["fifo", "fq", "red", "pie"]),
        kind in prop::sample::select(vec!["dumbbell", "parking-lot"]),
        delays in prop::collection::vec(30u64..90, 4),
    ) {
        let plan = hosts_on_routers(seed, era, qdisc, kind, &delays);
        let stubs = build::<Picoseconds>(&plan).schedule.stubs.count();
        prop_assert!(stubs > 3, "{stubs} stubs");
        prop_assert!(results(&plan, true) == results(&plan, false));
    }
}

/// Timers of sources fall on the times of samples, at which packets arrive elsewhere in the same cluster.
#[test]
fn samples_do_not_depend_on_the_partition_when_events_fall_on_them() {
    let scenario = json!({
        "net": { "kind": "star", "hosts": 5, "rate": "10 Mbps", "delay": "1 ms", "buffer": "1 bdp", "qdisc": "red" },
        "flows": [
            { "pair": 0, "start": 0.0123, "cc": "aimd" },
            { "pair": 0, "start": 0.0101, "source": "cbr" },
            { "pair": 0, "start": 0.0059, "cc": { "kind": "ledbat", "allowed_increase": 124 }, "slow_start": "none" },
            { "pair": 0, "source": "cbr" },
        ],
        "duration": 0.1, "seed": 0,
        "record": { "tables": ["flow_samples"], "interval": 0.01 },
    });
    let plan = compile(&serde_json::from_value(scenario).unwrap()).unwrap();
    assert!(results(&plan, true) == results(&plan, false));
}

/// Packets of two senders arrive at a switch at once, over links of 100 and 1300 ns, while that of a third leaves: of the
/// two that which was sent first is first, though its link has the larger number. There is room for one.
#[test]
fn of_packets_of_one_size_that_arrive_at_once_in_a_window_the_longer_on_its_way_is_first() {
    let link = |a: &str, ns: u32| {
        let delay = format!("{ns} ns");
        json!({ "a": a, "b": "s", "rate": "10 Gbps", "delay": delay, "buffer": "1 pkt" })
    };
    let flow = |src: &str, ns: u32| {
        json!({ "src": src, "dst": "c", "start": format!("{ns} ns"),
                "source": { "kind": "cbr", "rate": "100 Mbps", "packet": 1500 } })
    };
    let links = [link("a", 100), link("b", 1300), link("c", 100), link("d", 100)];
    let scenario = json!({
        "duration": "20 us", "net": { "kind": "graph", "links": links },
        "flows": [flow("a", 1200), flow("b", 0), flow("d", 600)],
    });
    let plan = compile(&serde_json::from_value(scenario).unwrap()).unwrap();
    let heads = &build::<Picoseconds>(&plan).schedule.processes[0].stages[1].heads;
    assert!(matches!(heads, Heads::Windows(_)));
    let lost: Vec<u64> =
        results_on::<Picoseconds>(&plan, true).flows.iter().map(|flow| flow.lost_data).collect();
    assert_eq!(lost, [1, 0, 0]);
}

/// A group over routers, some of which are one process with a host where links are short.
#[test]
fn trees_do_not_depend_on_the_partition() {
    for (era, qdisc, ms) in
        [("rfc", "fifo", [5, 3, 1, 9]), ("rfc", "fq", [0, 0, 7, 2]), ("ns2", "fifo", [4, 1, 2, 3])]
    {
        let plan = hosts_on_routers(3, era, qdisc, "dumbbell", &ms);
        let nodes = &plan.nodes;
        let mut scenario = json!({
            "duration": "3 s", "seed": 3, "era": era, "warmup": "1 s",
            "net": { "kind": "dumbbell", "pairs": 4, "rate": "2 Mbps", "delay": format!("{} ms", ms[0]),
                     "buffer": "9 pkt", "access_rate": "10 Mbps", "qdisc": qdisc,
                     "access_delay": format!("{} ms", ms[1]) },
            "flows": [{ "pair": 0 }, { "pair": 1 }],
        });
        let [first, second] = [2, 3].map(|pair| nodes[plan.flows[pair].dst.index()].clone());
        scenario["groups"] = json!([{
            "src": nodes[plan.flows[2].src.index()], "receivers": [first, second],
            "layers": ["200 kbps", "400 kbps", "800 kbps"],
            "control": { "kind": "rlm", "join_min": "300 ms", "detection": "200 ms" },
        }]);
        let plan = compile(&serde_json::from_value(scenario).unwrap()).unwrap();
        assert!(results(&plan, true) == results(&plan, false), "{era} {qdisc} {ms:?}");
    }
}
