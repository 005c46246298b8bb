//! Classes, priorities, hierarchies, core-stateless routers and the options of packets, in whole runs.

use serde_json::{Value, json};

use crate::common::{Run, cbr, extend, problems, run, wire};

fn on_link(qdisc: Value, flows: Value) -> Value {
    json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "1 ms", "buffer": "100 pkt", "qdisc": qdisc})),
        "flows": flows, "duration": 11, "warmup": 1,
    })
}

fn flow_with_id(id: &str, rate: f64, more: Value) -> Value {
    let mut flow = cbr("a", "b", rate, 1000);
    extend(&mut flow, json!({ "id": id }));
    extend(&mut flow, more);
    flow
}

fn megabits(outcome: &Run, count: usize) -> Vec<f64> {
    (0..count).map(|i| outcome.goodput(i) / 1e6).collect()
}

/// Link-sharing (Bennett & Zhang 1997, section 2): what flow `a2` leaves goes to `a1` of the same agency, not
/// to the other agency. Agency a has 3/4 of 10 Mbit/s: a2 needs 1.5, a1 gets the other 6; b has 2.5.
#[test]
fn what_a_class_leaves_goes_to_its_siblings() {
    let tree = json!({ "kind": "hpfq", "classes": [
        { "name": "a", "weight": 3, "classes": [
            { "takes": { "flows": ["a1"] } }, { "takes": { "flows": ["a2"] } },
        ] },
        { "name": "b", "takes": { "dscp": ["af11"] } },
    ] });
    let flows = json!([
        flow_with_id("a1", 9e6, json!({})),
        flow_with_id("a2", 1.5e6, json!({})),
        flow_with_id("b1", 9e6, json!({ "dscp": "af11" })),
    ]);
    let outcome = run(on_link(tree, flows));
    for (got, due) in megabits(&outcome, 3).iter().zip([6.0, 1.5, 2.5]) {
        // Of 10 Mbit over 10 s a packet or two at each end.
        assert!((got - due).abs() < 0.01, "{got} {due}");
    }
    assert_eq!(outcome.flow(1).lost_data, 0);
}

#[test]
fn strict_priority_starves_and_weighted_does_not() {
    let flows = json!([
        flow_with_id("low", 8e6, json!({})),
        flow_with_id("high", 9e6, json!({ "dscp": 46 })),
    ]);
    let strict = json!({ "kind": "priority", "classes": [{ "takes": { "dscp": ["ef"] } }, {}] });
    let rates = megabits(&run(on_link(strict, flows.clone())), 2);
    assert!((rates[1] - 9.0).abs() < 0.01 && (rates[0] - 1.0).abs() < 0.02, "{rates:?}");
    let weighted = json!({ "kind": "wrr", "classes": [
        { "takes": { "dscp": ["ef"] }, "weight": 3 }, {},
    ] });
    let rates = megabits(&run(on_link(weighted, flows)), 2);
    assert!((rates[1] - 7.5).abs() < 0.01 && (rates[0] - 2.5).abs() < 0.01, "{rates:?}");
}

/// Two routers in a row: the first labels and knows flows, the second goes by the labels. Flows of 2, 4 and
/// 8 Mbit/s over 10 Mbit/s: max-min is 2, 4, 4.
#[test]
fn labels_of_the_edge_reach_the_core() {
    let flows: Vec<Value> = [2e6, 4e6, 8e6].iter().map(|&rate| cbr("a", "c", rate, 1000)).collect();
    let outcome = run(json!({
        "net": { "kind": "graph", "links": [
            { "a": "a", "b": "b", "rate": "100 Mbps", "delay": "1 ms", "buffer": "64 kB",
              "qdisc": "core-stateless" },
            { "a": "b", "b": "c", "rate": "10 Mbps", "delay": "1 ms", "buffer": "64 kB",
              "qdisc": "core-stateless" },
        ] },
        "flows": flows, "duration": 30, "warmup": 5,
    }));
    for (got, due) in megabits(&outcome, 3).iter().zip([2.0, 4.0, 4.0]) {
        assert!((got - due).abs() < 0.1 * due, "{got} {due}");
    }
    let flow_states = ["a->b", "b->c"].map(|link| outcome.link(link).state.flows);
    assert_eq!(flow_states, [3, 0]);
}

/// Five FAST flows, each started when those before it are steady; each keeps `alpha` packets in the queue.
fn late_comers(qdisc: &str, tcp: Value) -> Vec<f64> {
    let flow = |i: usize| json!({ "pair": i, "start": 20 * i, "cc": { "kind": "fast", "alpha": 50 }, "tcp": tcp });
    let flows: Vec<Value> = (0..4).map(flow).collect();
    let outcome = run(json!({
        "net": { "kind": "dumbbell", "pairs": 4, "rate": "50 Mbps", "delay": "20 ms",
                 "buffer": "2000 pkt", "access_rate": "1 Gbps", "qdisc": qdisc },
        "flows": flows, "duration": 120, "warmup": 100,
    }));
    megabits(&outcome, 4)
}

/// Late-comers mistake the queue that they find for propagation and take more than the others (Low et al.
/// 2002; the papers on persistent congestion); with the accumulated queueing time, or with priority for first
/// packets, all get the same.
#[test]
fn queueing_that_is_known_does_no_harm_to_the_first() {
    let spread = |rates: &[f64]| {
        let most = rates.iter().copied().fold(0.0, f64::max);
        most / rates.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let unknown = late_comers("fifo", json!({}));
    assert!(spread(&unknown) > 1.8, "{unknown:?}");
    for qdisc in ["fifo", "fq"] {
        let informed = late_comers(qdisc, json!({ "aqt": true }));
        assert!(spread(&informed) < 1.1, "{qdisc}: {informed:?}");
    }
    let first = late_comers("priority", json!({ "first_priority": 1, "delayed_ack": 1 }));
    assert!(spread(&first) < 1.2, "{first:?}");
}

#[test]
fn what_is_wrong_with_classes_is_reported_where_it_is() {
    let refusal = |qdisc: Value, more: Value| {
        let all = problems(&on_link(qdisc, json!([flow_with_id("one", 1e6, more)])));
        let [(path, message)] = &all[..] else { panic!("{all:?}") };
        (path.clone(), message.clone())
    };
    let tree = json!({ "kind": "hpfq", "classes": [{ "takes": { "flows": ["onne"] } }] });
    let (path, message) = refusal(tree, json!({}));
    assert_eq!(path, "net.links[0].qdisc.classes[0].takes.flows[0]");
    assert!(message.ends_with("no flow has this id; did you mean \"one\"?"), "{message}");
}
