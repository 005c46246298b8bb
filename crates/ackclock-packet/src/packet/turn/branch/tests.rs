//! Multicast trees in whole runs: graft delay and counts by hand, conservation, PLM and RLM.

use serde_json::{Value, json};

use crate::compile::{Plan, compile};
use crate::packet::outcome::results::Results;
use crate::packet::process::clock::Picoseconds;
use crate::packet::setup::build::build;
use crate::packet::setup::custom::RegistryOnly;
use crate::packet::turn::simulator::{RunEnd, Sim};

fn plan(scenario: &Value) -> Plan {
    compile(&serde_json::from_value(scenario.clone()).unwrap()).unwrap()
}

fn run_to_end(plan: &Plan) -> Sim<Picoseconds> {
    let mut sim = build::<Picoseconds>(plan, &RegistryOnly).unwrap();
    assert_eq!(sim.run(&|| None, &mut |_| true, None), RunEnd::Ended);
    sim
}

fn run(scenario: &Value) -> (Plan, Results) {
    let plan = plan(scenario);
    let results = run_to_end(&plan).into_ended().finish(&plan, None).unwrap();
    (plan, results)
}

/// The problems of a scenario, `path: message`.
fn problems(scenario: &Value) -> Vec<String> {
    let problems = crate::api::check(&scenario.to_string());
    problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

/// Links of 10 Mbit/s and 10 ms: s - r1 - a, r1 - r2 - b, r2 - c.
fn tree(groups: &Value) -> Value {
    let link = |a, b| json!({ "a": a, "b": b, "rate": "10 Mbps", "delay": "10 ms" });
    json!({
        "duration": "11 s",
        "net": { "kind": "graph", "links": [link("s", "r1"), link("r1", "a"), link("r1", "r2"),
                                            link("r2", "b"), link("r2", "c")] },
        "groups": groups,
    })
}

fn count_arrived(plan: &Plan, results: &Results, link: &str) -> u64 {
    results.links[plan.link(link).unwrap().index()].arrived
}

/// Packets delivered to each receiver of the first group.
fn count_delivered(plan: &Plan, results: &Results) -> Vec<u64> {
    let of = |&flow: &u32| results.flows[flow as usize].receiver.delivered_packets;
    plan.groups[0].receivers.iter().map(of).collect()
}

/// By hand: packet k of 1000 B leaves at 100 k ms, is at r1 at 100 k + 10.8 ms and at r2 at 100 k + 21.6 ms. A
/// message of 40 B takes 10.032 ms a link. a's join at 0 is at s at 20.064 ms: a gets packets 1 to 99. b's at
/// 2500 ms is at r1 at 2520.064 ms, after packet 25: b gets 26 to 99. c's at 5000 ms has to come to r2 only,
/// before packet 50 at 5021.6 ms: c gets 50 to 99.
#[test]
fn a_packet_passes_each_link_once_from_the_graft_on() {
    let (plan, results) = run(&tree(&json!([{
        "src": "s", "receivers": ["a", "b", "c"], "layers": ["80 kbps"], "packet": "1000 B",
        "stop": "9950 ms", "stagger": "2500 ms",
    }])));
    assert_eq!(count_delivered(&plan, &results), [99, 74, 50]);
    for (link, packets) in
        [("s->r1", 99), ("r1->a", 99), ("r1->r2", 74), ("r2->b", 74), ("r2->c", 50)]
    {
        assert_eq!(count_arrived(&plan, &results, link), packets, "{link}");
    }
    // b joins 8.5 s before the end and repeats its membership each second: nine messages. r2 passes on its
    // first, none of c's join, and those that are a second after its last.
    assert_eq!(count_arrived(&plan, &results, "b->r2"), 9);
    assert_eq!(count_arrived(&plan, &results, "r2->r1"), 9);
    let names: Vec<&str> = plan.flows.iter().map(|flow| &*flow.name).collect();
    assert_eq!(names, ["g0:r1", "g0:a", "g0:r2", "g0:b", "g0:c"]);
    assert!(results.warnings.is_empty(), "{:?}", results.warnings);
}

#[test]
fn receivers_get_the_layers_that_they_hold_and_branches_the_most_below_them() {
    let group = |receivers: &[&str], layers: u32| {
        json!({ "src": "s", "receivers": receivers, "control": { "kind": "fixed", "layers": layers },
                "layers": ["80 kbps", "160 kbps", "320 kbps"], "packet": "1000 B", "stop": "9950 ms" })
    };
    // 10, 20 and 40 packets a second. Layer 1 begins a third of 50 ms late, layer 2 two thirds of 25 ms; of each
    // layer the packets before the join at 20.064 ms (at r1: 10.032 ms before) are not seen.
    let (plan, results) = run(&tree(&json!([group(&["a"], 1), group(&["b", "c"], 3)])));
    assert_eq!(count_delivered(&plan, &results), [99]);
    let received = |name: &str| {
        let flow = plan.flows.iter().position(|flow| &*flow.name == name).unwrap();
        results.flows[flow].receiver.delivered_packets
    };
    assert_eq!(received("g1:b"), received("g1:c"));
    // Joined at 30.096 ms: layer 0 from 100 ms, layer 1 from 66.7 ms, layer 2 from 41.7 ms.
    assert_eq!(received("g1:b"), 99 + 198 + 397);
    assert_eq!(received("g1:r2"), received("g1:b"));
}

#[test]
fn a_lost_copy_is_noticed() {
    let plan =
        plan(&tree(&json!([{ "src": "s", "receivers": ["a", "b"], "layers": ["80 kbps"] }])));
    let mut sim = run_to_end(&plan);
    sim.groups.branches[1].copies += 1;
    let fault = sim.into_ended().finish(&plan, None).unwrap_err();
    assert!(fault.starts_with("branch 1: "), "{fault}");
    // Two errors that cancel in the sums of the whole run.
    let mut sim = run_to_end(&plan);
    sim.flows.ends[3].received += 1;
    sim.flows.ends[5].received -= 1;
    let fault = sim.into_ended().finish(&plan, None).unwrap_err();
    assert!(fault.contains("packets sent, but"), "{fault}");
}

/// A star: a source on 10 Mbit/s, receivers a, b, c on 1 Mbit/s, 300 and 120 kbit/s, 20 ms each. Layers are
/// B = 50, 100, 200, 400, 800 kbit/s in packets of 500 B.
fn star(qdisc: &str, control: &str, duration: &str) -> Value {
    let link = |a: &str, b: &str, rate: &str| json!({ "a": a, "b": b, "rate": rate, "delay": "20 ms", "qdisc": qdisc, "buffer": "20 pkt" });
    json!({
        "duration": duration,
        "net": { "kind": "graph", "links": [
            link("s", "h", "10 Mbps"), link("h", "a", "1 Mbps"), link("h", "b", "300 kbps"),
            link("h", "c", "120 kbps"), link("x", "h", "10 Mbps")] },
        "groups": [{ "src": "s", "receivers": ["a", "b", "c"], "control": control, "packet": "500 B",
                     "layers": ["50 kbps", "50 kbps", "100 kbps", "200 kbps", "400 kbps"] }],
        "record": { "tables": ["layers"] },
    })
}

/// Layers held by each receiver, its missing packets, and when it changed them last in seconds.
fn state(plan: &Plan, results: &Results) -> Vec<(u32, u64, f64)> {
    let of = |&flow: &u32| {
        let receiver = &results.flows[flow as usize].receiver;
        let rows = results.tables.layers.iter();
        let last = rows.filter(|row| row.flow.0 == flow).map(|row| row.at.seconds()).next_back();
        (receiver.layers, receiver.missing_packets, last.unwrap())
    };
    plan.groups[0].receivers.iter().map(of).collect()
}

/// Legout & Biersack's claims. The first pair arrives within a round trip of 80 ms and the interval of 160 ms
/// between pairs of the base layer, the next after the check interval of 1 s within 160 ms more; transmissions
/// take less than 100 ms.
#[test]
fn plm_converges_within_a_round_trip_and_a_check_interval_without_loss() {
    let (plan, results) = run(&star("fq", "plm", "20 s"));
    let receivers = state(&plan, &results);
    let layers_held: Vec<u32> = receivers.iter().map(|receiver| receiver.0).collect();
    assert_eq!(layers_held, [5, 3, 2], "{receivers:?}");
    for (_, missing, last_s) in receivers {
        assert_eq!(missing, 0);
        assert!((1.0..1.5).contains(&last_s), "{last_s}");
    }
    assert!(results.links.iter().all(|link| link.drops == 0));
}

/// A greedy source of packets of the same size leaves half of b's 300 kbit/s: 150, of which B(2) = 100 fit.
/// When it stops, b takes its three layers back.
#[test]
fn plm_holds_the_layers_that_fit_its_fair_share() {
    let mut scenario = star("fq", "plm", "30 s");
    scenario["flows"] = json!([{ "src": "x", "dst": "b", "start": "5 s", "stop": "20 s",
        "source": { "kind": "cbr", "rate": "1 Mbps", "packet": "500 B" } }]);
    let (plan, results) = run(&scenario);
    let flow = plan.groups[0].receivers[1];
    let layers_at = |second: f64| {
        let rows = results.tables.layers.iter().filter(|row| row.flow.0 == flow);
        rows.take_while(|row| row.at.seconds() <= second).last().unwrap().layers
    };
    assert_eq!(
        [layers_at(4.9), layers_at(10.0), layers_at(15.0), layers_at(19.9), layers_at(29.9)],
        [3, 2, 2, 2, 3]
    );
    // The drop of layers takes effect a round trip after the source begins.
    let receiver = &results.flows[flow as usize].receiver;
    assert_eq!(receiver.missing_packets, 0);
}

/// McCanne, Jacobson & Vetterli: the join experiments of RLM lose packets where those of PLM do not, fewer than
/// a receiver without control does, and the receiver returns to what its link carries.
#[test]
fn join_experiments_of_rlm_lose_packets_under_fifo() {
    let [rlm, all] = ["rlm", "all"].map(|control| {
        let (plan, results) = run(&star("fifo", control, "120 s"));
        let receivers = plan.groups[0].receivers.clone();
        receivers
            .iter()
            .map(|&flow| results.flows[flow as usize].receiver.clone())
            .collect::<Vec<_>>()
    });
    // a has room for all layers; b for three of five, c for two.
    assert!(rlm[0].layers == 5 && rlm[0].missing_packets == 0, "{:?}", rlm[0]);
    for i in [1, 2] {
        let (rlm, all) = (&rlm[i], &all[i]);
        assert!(rlm.missing_packets > 0 && rlm.layer_leaves > 0, "{rlm:?}");
        let loss = |state: &crate::endpoint::Snapshot| {
            state.missing_packets as f64 / (state.missing_packets + state.delivered_packets) as f64
        };
        assert!(loss(rlm) < loss(all) / 4.0, "{} {}", loss(rlm), loss(all));
    }
    // B(3) and B(2) for nearly the whole run.
    let bytes = |state: &crate::endpoint::Snapshot| state.delivered_bytes as f64 * 8.0 / 120.0;
    assert!((140_000.0..230_000.0).contains(&bytes(&rlm[1])), "{}", bytes(&rlm[1]));
    assert!((70_000.0..120_000.0).contains(&bytes(&rlm[2])), "{}", bytes(&rlm[2]));
}

/// Failed experiments of all receivers, and the mean of their goodputs in bit/s, of `n` receivers that learn
/// from one another or not: s - h of 250 kbit/s, with room for B(2) = 200 and not for B(3) = 400 kbit/s, and a
/// link from h to each.
fn shared_link(n: usize, is_shared: bool, seed: u64) -> (f64, f64) {
    let link = |a: &str, b: &str, rate: &str| json!({ "a": a, "b": b, "rate": rate, "delay": "20 ms", "buffer": "20 pkt" });
    let names: Vec<String> = (0..n).map(|i| format!("r{i}")).collect();
    let mut links = vec![link("s", "h", "250 kbps")];
    links.extend(names.iter().map(|name| link("h", name, "10 Mbps")));
    let (plan, results) = run(&json!({
        "duration": "200 s", "seed": seed,
        "net": { "kind": "graph", "links": links },
        "groups": [{ "src": "s", "receivers": names, "packet": "500 B", "stagger": "100 ms",
                     "layers": ["100 kbps", "100 kbps", "200 kbps"],
                     "control": { "kind": "rlm", "shared": is_shared } }],
    }));
    let receivers = plan.groups[0].receivers.iter();
    let states: Vec<_> = receivers.map(|&flow| &results.flows[flow as usize].receiver).collect();
    let bits: u64 = states.iter().map(|state| state.delivered_bytes * 8).sum();
    let leaves: u64 = states.iter().map(|state| state.layer_leaves).sum();
    (leaves as f64, bits as f64 / n as f64 / 200.0)
}

/// McCanne, Jacobson & Vetterli: thanks to shared learning the load of experiments does not grow with the group.
#[test]
fn failed_experiments_grow_less_than_receivers_where_they_learn_from_one_another() {
    let [few, many] = [4, 64].map(|n| shared_link(n, true, 1));
    let [few_alone, many_alone] = [4, 64].map(|n| shared_link(n, false, 1));
    // Sixteen times the receivers.
    assert!(many.0 < 5.0 * few.0, "{few:?} {many:?}");
    assert!(many_alone.0 > 8.0 * few_alone.0, "{few_alone:?} {many_alone:?}");
    assert!(many.0 < many_alone.0 / 3.0, "{many:?} {many_alone:?}");
    // Fewer experiments are made because they are of no use: B(2), but for the first 10 s.
    assert!(many.1 > 0.95 * 200_000.0 && many.1 > many_alone.1, "{many:?} {many_alone:?}");
}

/// Every run checks conservation by itself: for each branch, with drops, queues and impairments on all links.
#[test]
fn packets_are_conserved_behind_every_discipline_and_impairment() {
    for qdisc in ["fifo", "fq", "drr", "red", "codel", "fq-codel", "sfq"] {
        for impairments in [json!([]), json!(["duplicate", "jitter", "gilbert-elliott"])] {
            let mut scenario = star(qdisc, "rlm", "7 s");
            scenario["groups"][0]["control"] = json!({ "kind": "rlm", "join_min": "500 ms" });
            scenario["links"] = json!([{ "link": "*", "impairments": impairments }]);
            scenario["flows"] = json!([{ "src": "x", "dst": "b" }, { "src": "x", "dst": "c" }]);
            let (plan, results) = run(&scenario);
            assert!(
                count_delivered(&plan, &results).iter().all(|&packets| packets > 20),
                "{qdisc}"
            );
        }
    }
}

#[test]
fn wrong_groups_are_reported_by_key() {
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut scenario =
            tree(&json!([{ "src": "s", "receivers": ["a", "b"], "layers": ["1 Mbps"] }]));
        change(&mut scenario["groups"][0]);
        problems(&scenario)
    };
    assert!(wrong(&|_| ()).is_empty());
    for (key, value, begins) in [
        ("src", json!("t"), "groups[0].src: there is no node \"t\""),
        ("receivers", json!(["a", "bb"]), "groups[0].receivers[1]: there is no node \"bb\""),
        ("receivers", json!(["a", "r2", "b"]), "groups[0].receivers[1]: \"r2\" is on the way"),
        ("receivers", json!(["a", "a"]), "groups[0].receivers[1]: \"a\" is an earlier receiver"),
        ("receivers", json!(["s"]), "groups[0].receivers[0]: \"s\" is the source"),
        ("receivers", json!([]), "groups[0].receivers: is empty"),
        ("layers", json!([]), "groups[0].layers: has 0 rates"),
        ("layers", json!(["1 Mbps", 0]), "groups[0].layers[1]: 0 bit/s is out of range"),
        ("packet", json!("0 B"), "groups[0].packet: 0 B is out of range"),
        ("stop", json!("0 s"), "groups[0].stop: is not later"),
        ("control", json!("plmm"), "groups[0].control: there is no layer control \"plmm\""),
        (
            "control",
            json!({ "kind": "plm", "loss": 2 }),
            "groups[0].control.loss: 2 is out of range",
        ),
    ] {
        let problems = wrong(&|group| group[key] = value.clone());
        assert!(problems.len() == 1 && problems[0].starts_with(begins), "{problems:?}");
    }
    // Problems of the tree and of the control are reported together.
    let both = wrong(&|group| {
        group["src"] = json!("t");
        group["control"] = json!("plmm");
    });
    assert_eq!(both.len(), 2, "{both:?}");
}
