//! Where packets go: given routes, ties, and the standard shapes.

mod changing;
mod equal_paths;
mod reps;
mod spraying;

use ackclock_core::packet::Event;
use serde_json::{Value, json};

use crate::common::{Run, cbr, run};

/// The links at which a flow's data (or acknowledgements) arrived, in order.
fn path(outcome: &Run, flow: u32, ack: bool) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for row in &outcome.results.tables.packets {
        let name = outcome.plan.links[row.link as usize].name(&outcome.plan.nodes);
        if row.flow == flow
            && row.event == Event::Arrival
            && (row.flags & 1 == 1) == ack
            && !links.contains(&name)
        {
            links.push(name);
        }
    }
    links
}

fn net() -> Value {
    // A square a - {b, c} - d with the longer way a - e - f - d of less delay.
    let link = |a: &str, b: &str, delay: &str, weight: f64| json!({"a": a, "b": b, "rate": "10 Mbps", "delay": delay, "buffer": "50 pkt", "weight": weight});
    json!({"kind": "graph", "nodes": [{"id": "a"}, {"id": "c"}, {"id": "b"}, {"id": "d"}], "links": [
        link("a", "b", "10 ms", 1.0), link("b", "d", "10 ms", 1.0), link("a", "c", "10 ms", 5.0), link("c", "d", "10 ms", 5.0),
        link("a", "e", "1 ms", 1.0), link("e", "f", "1 ms", 1.0), link("f", "d", "1 ms", 1.0),
    ]})
}

fn run_routed(routing: &str, extra: Value) -> Run {
    let mut flow = json!({"src": "a", "dst": "d", "size": "20 kB"});
    crate::common::extend(&mut flow, extra);
    run(
        json!({"net": net(), "routing": routing, "flows": [flow], "duration": 3, "record": {"tables": ["packets"]}}),
    )
}

#[test]
fn routes_minimise_the_requested_metric() {
    // Hops: two ways of two; c comes before b in the list of nodes.
    let outcome = run_routed("hops", json!({}));
    assert_eq!(path(&outcome, 0, false), ["a->c", "c->d"]);
    assert_eq!(path(&outcome, 0, true), ["d->c", "c->a"]);
    assert_eq!(path(&run_routed("delay", json!({})), 0, false), ["a->e", "e->f", "f->d"]);
    assert_eq!(path(&run_routed("weight", json!({})), 0, false), ["a->b", "b->d"]);
    assert!(outcome.flow(0).sender.completed_s > 0.0);
}

#[test]
fn given_routes_are_obeyed_either_way() {
    let outcome =
        run_routed("hops", json!({"route": ["a", "b", "d"], "ack_route": ["d", "f", "e", "a"]}));
    assert_eq!(path(&outcome, 0, false), ["a->b", "b->d"]);
    assert_eq!(path(&outcome, 0, true), ["d->f", "f->e", "e->a"]);
    assert!(outcome.flow(0).sender.completed_s > 0.0);
    // The smallest round trip: 10 + 10 + 3 ms, a request and its answer of 40 B (32 us) at five links.
    let least = outcome.flow(0).sender.rtt_min_s;
    assert!((least - (0.023 + 5.0 * 32e-6)).abs() < 1e-9, "{least}");
}

#[test]
fn a_way_round_a_loop_is_a_way() {
    let outcome = run_routed("hops", json!({"route": ["a", "b", "d", "c", "a", "e", "f", "d"]}));
    assert_eq!(path(&outcome, 0, false), ["a->b", "b->d", "d->c", "c->a", "a->e", "e->f", "f->d"]);
    assert!(outcome.flow(0).sender.completed_s > 0.0);
}

fn shape(net: Value, flows: &[Value]) -> Run {
    run(json!({"net": net, "flows": flows, "duration": "0.5 s", "record": {"tables": ["packets"]}}))
}

fn pair(i: u32) -> Value {
    json!({"pair": i, "source": {"kind": "cbr", "rate": 1e5, "packet": 500}})
}

#[test]
fn pairs_of_the_shapes_cross_the_links_they_should() {
    let all: Vec<Value> = (0..4).map(pair).collect();
    let outcome =
        shape(json!({"kind": "dumbbell", "pairs": 4, "rate": "10 Mbps", "rtt": "20 ms"}), &all);
    for i in 0..4 {
        assert_eq!(
            path(&outcome, i, false),
            [format!("s{i}->r0"), "r0->r1".into(), format!("r1->d{i}")]
        );
    }
    let outcome =
        shape(json!({"kind": "parking-lot", "hops": 3, "rate": "10 Mbps", "delay": "5 ms"}), &all);
    assert_eq!(path(&outcome, 0, false), ["s0->r0", "r0->r1", "r1->r2", "r2->r3", "r3->d0"]);
    for i in 1..4u32 {
        let hop = format!("r{}->r{i}", i - 1);
        assert_eq!(
            path(&outcome, i, false),
            [format!("s{i}->r{}", i - 1), hop, format!("r{i}->d{i}")]
        );
    }
    let five: Vec<Value> = (0..5).map(pair).collect();
    let outcome = shape(
        json!({"kind": "ring", "routers": 5, "rate": "10 Mbps", "delay": "5 ms", "span": 2}),
        &five,
    );
    for i in 0..5u32 {
        let (next, last) = ((i + 1) % 5, (i + 2) % 5);
        assert_eq!(
            path(&outcome, i, false),
            [
                format!("h{i}->r{i}"),
                format!("r{i}->r{next}"),
                format!("r{next}->r{last}"),
                format!("r{last}->h{last}")
            ]
        );
    }
    let outcome =
        shape(json!({"kind": "star", "hosts": 4, "rate": "10 Mbps", "delay": "5 ms"}), &all);
    for i in 0..4u32 {
        assert_eq!(path(&outcome, i, false), [format!("h{i}->r"), format!("r->h{}", (i + 1) % 4)]);
    }
}

#[test]
fn parallel_links_need_names_and_the_first_is_taken() {
    let outcome = run(json!({
        "net": {"kind": "graph", "links": [
            {"a": "a", "b": "b", "id": "one", "rate": "1 Mbps", "delay": "1 ms", "buffer": "9 pkt"},
            {"a": "a", "b": "b", "id": "two", "rate": "1 Mbps", "delay": "1 ms", "buffer": "9 pkt"}]},
        "flows": [cbr("a", "b", 1e5, 500), cbr("b", "a", 1e5, 500)], "duration": "0.5 s", "record": {"tables": ["packets"]},
    }));
    assert_eq!(path(&outcome, 0, false), ["one"]);
    assert_eq!(path(&outcome, 1, false), ["one:back"]);
}
