//! Links that fail and come back, and routes that change during a run: which packets are lost, and which way the others
//! take.

use ackclock_core::compile::Direction;
use ackclock_core::wire::DropReason;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Run, check_threads, extend, problems, run};

/// From s to d over a, which is the first of two equal ways, or over b. A packet of 1000 B leaves s each 10 ms, the
/// 800 packets of 7.995 s; it is on the wire from s to a for 50 ms.
fn two_ways(extra: Value) -> Value {
    let link = |a: &str, b: &str, delay: &str| json!({"a": a, "b": b, "rate": "100 Mbps", "delay": delay, "buffer": "50 pkt"});
    let mut case = json!({
        "net": {"kind": "graph", "links": [link("s", "a", "50 ms"), link("a", "d", "5 ms"), link("s", "b", "20 ms"),
            link("b", "d", "5 ms")]},
        "flows": [{"src": "s", "dst": "d", "source": {"kind": "cbr", "rate": "800 kbps", "packet": 1000}}],
        "duration": "7995 ms",
    });
    extend(&mut case, extra);
    case
}

/// The link from s to a fails at 2.005 s and is back at 5.005 s.
fn failing(in_flight: &str) -> Value {
    json!([{"link": "s->a", "down": [{"from": 2.005, "until": 5.005}], "in_flight": in_flight}])
}

/// Packets that arrived at the links from s to a and to b, that a failed link dropped, that were lost on its wire, and that
/// came to d.
fn count(outcome: &Run) -> [u64; 5] {
    let [a, b] = ["s->a", "s->b"].map(|name| outcome.link(name));
    let dropped = |reason| a.drops_by_reason[reason as usize];
    let received = outcome.flow(0).receiver.received_packets;
    [a.arrived, b.arrived, dropped(DropReason::Down), dropped(DropReason::Wire), received]
}

/// Packets 0 to 200 leave before 2.005 s, 201 to 500 before 5.005 s, 501 to 799 later; of the last, six (794 on) are
/// under way over a at the end.
#[test]
fn a_flow_that_moves_sends_over_each_way_what_it_sends_in_its_time() {
    let moves =
        json!([{"at": 2.005, "route": ["s", "b", "d"]}, {"at": 5.005, "route": ["s", "a", "d"]}]);
    let mut case = two_ways(json!({}));
    case["flows"][0]["moves"] = moves;
    assert_eq!(count(&run(case)), [500, 300, 0, 0, 794]);
}

/// Without routing 201 to 500 reach a link that has failed; 196 to 200 are on its wire when it fails.
#[test]
fn what_reaches_a_failed_link_is_lost_and_what_is_under_way_as_stated() {
    let lost = run(two_ways(json!({"links": failing("lost")})));
    assert_eq!(count(&lost), [800, 0, 300, 5, 800 - 305 - 6]);
    assert_eq!(lost.flow(0).lost_data, 305);
    let delivered = run(two_ways(json!({"links": failing("delivered")})));
    assert_eq!(count(&delivered), [800, 0, 300, 0, 800 - 300 - 6]);
    // `lost` is what is left out.
    let mut left_out = two_ways(json!({"links": failing("lost")}));
    left_out["links"][0].as_object_mut().unwrap().remove("in_flight");
    assert_eq!(run(left_out).results.digest, lost.results.digest);
}

/// Routing notices 100 ms later: until then 201 to 210 are lost, 211 to 510 take the other way, and 511 on the first.
#[test]
fn routing_avoids_a_failed_link_and_returns_to_it_so_much_later() {
    let case = two_ways(json!({"links": failing("lost"), "reroute_after": "100 ms"}));
    assert_eq!(count(&run(case)), [500, 300, 10, 5, 800 - 15 - 6]);
    let at_once = two_ways(json!({"links": failing("delivered"), "reroute_after": "0 s"}));
    assert_eq!(count(&run(at_once)), [500, 300, 0, 0, 794]);
}

#[test]
fn a_named_route_stays_and_where_there_is_no_other_way_so_does_that_of_routing() {
    let mut case = two_ways(json!({"links": failing("lost"), "reroute_after": "100 ms"}));
    case["flows"][0]["route"] = json!(["s", "a", "d"]);
    assert_eq!(count(&run(case)), [800, 0, 300, 5, 489]);
    let both = json!([{"link": ["s->a", "s->b"], "down": [{"from": 2.005, "until": 5.005}]}]);
    let case = two_ways(json!({"links": both, "reroute_after": "100 ms"}));
    assert_eq!(count(&run(case)), [800, 0, 300, 5, 489]);
}

#[test]
fn nothing_changes_where_nothing_fails() {
    let plain = run(two_ways(json!({}))).results.digest;
    let same = |extra: Value| run(two_ways(extra)).results.digest == plain;
    assert!(same(json!({"reroute_after": "1 s"})));
    assert!(same(json!({"links": [{"link": "*", "down": []}], "reroute_after": "1 s"})));
    assert!(same(
        json!({"links": [{"link": "*", "down": [{"from": 8}], "in_flight": "delivered"}]})
    ));
    assert!(!same(
        json!({"links": [{"link": "*", "down": [{"from": 7}], "in_flight": "delivered"}]})
    ));
}

/// Over 20 Mbit/s and 40 ms, from 20 s to 40 s over 10 Mbit/s and 120 ms: CUBIC fills the bottleneck of each way for most of
/// its time, and cannot send more than it carries. Acknowledgements take the way of the data.
#[test]
fn a_connection_that_is_handed_over_fills_the_bottleneck_of_each_way() {
    let link = |a: &str, b: &str, rate: &str, delay: &str| json!({"a": a, "b": b, "rate": rate, "delay": delay, "buffer": "100 pkt"});
    let routes =
        |at: u32, by: &str| json!({"at": at, "route": ["s", by, "d"], "ack_route": ["d", by, "s"]});
    let outcome = run(json!({
        "net": {"kind": "graph", "links": [link("s", "a", "1 Gbps", "1 ms"), link("a", "d", "20 Mbps", "19 ms"),
            link("s", "b", "1 Gbps", "1 ms"), link("b", "d", "10 Mbps", "59 ms")]},
        "flows": [{"src": "s", "dst": "d", "cc": "cubic", "moves": [routes(20, "b"), routes(40, "a")]}],
        "duration": "60 s",
    }));
    for (name, most_bits) in [("a->d", 20e6 * 40.2), ("b->d", 10e6 * 20.2)] {
        let bits = outcome.link(name).departed_bytes as f64 * 8.0;
        assert!(bits < most_bits && bits > 0.9 * most_bits, "{name}: {bits}");
    }
    let [ahead, back] = ["d->a", "d->b"].map(|name| outcome.link(name).arrived);
    assert!(ahead > 30_000 && back > 7_000, "{ahead} {back}");
}

/// With a hash, flows over a spine that fails go on over the others, and all arrives.
#[test]
fn flows_over_equal_paths_leave_a_spine_that_fails() {
    let case = json!({
        "net": {"kind": "leaf-spine", "leaves": 2, "spines": 4, "hosts": 8, "rate": "1 Gbps", "delay": "5 us", "buffer": "200 pkt"},
        "flows": (0..8).map(|i| json!({"src": format!("h{i}"), "dst": format!("h{}", i + 8), "size": "4 MB",
            "tcp": {"min_rto": "5 ms"}})).collect::<Vec<_>>(),
        "links": [{"link": ["*->s1", "s1->*"], "down": [{"from": "10 ms"}]}],
        "reroute_after": "1 ms", "duration": "1 s",
    });
    let outcome = run(case);
    assert!((0..8).all(|i| outcome.flow(i).sender.completed_s > 0.0));
    let fifth = |spine: u32| outcome.link(&format!("l0->s{spine}")).departed;
    // Of 32 MB a spine would carry a quarter, 5500 packets of 1500 B.
    assert!(fifth(1) < 2_000 && fifth(1) > 0, "{}", fifth(1));
    assert!([0, 2, 3].map(fifth).iter().sum::<u64>() > 20_000);
}

/// With a hash each direction of a flow draws for itself, after a failure as before it: with the spine that failed both are
/// back on their first ways.
#[test]
fn data_and_acknowledgements_return_to_their_own_ways() {
    let outcome = run(json!({
        "net": {"kind": "leaf-spine", "leaves": 2, "spines": 4, "hosts": 8, "rate": "1 Gbps", "delay": "5 us", "buffer": "200 pkt"},
        "flows": (0..8).map(|i| json!({"src": format!("h{i}"), "dst": format!("h{}", i + 8), "size": "10 kB"}))
            .collect::<Vec<_>>(),
        "links": [{"link": ["*->s1", "s1->*"], "down": [{"from": "10 ms", "until": "15 ms"}]}],
        "reroute_after": "1 ms", "duration": "20 ms",
    }));
    let mut moved = [0, 0];
    for flow in &outcome.plan.flows {
        for (direction, moved) in [Direction::Data, Direction::Acks].into_iter().zip(&mut moved) {
            let further = flow.further.as_ref();
            let moves = further.and_then(|further| further.moves(direction)).unwrap_or_default();
            assert!(moves.last().is_none_or(|&(_, path)| path == 0), "{moves:?}");
            *moved += usize::from(!moves.is_empty());
        }
    }
    assert!(moved.iter().all(|&flows| flows > 1), "{moved:?}");
}

#[test]
fn a_wrong_failure_or_move_is_answered_by_its_key() {
    let first = |extra: Value| problems(&two_ways(extra)).into_iter().next().unwrap();
    let down = |times: Value| first(json!({"links": [{"link": "s->a", "down": times}]})).0;
    assert_eq!(down(json!([{"from": 2, "until": 1}])), "links[0].down[0].until");
    assert_eq!(down(json!([{"from": 2, "until": 3}, {"from": 1}])), "links[0].down[1].from");
    assert_eq!(down(json!([{"from": 2}, {"from": 3}])), "links[0].down[1].from");
    let moved = |moves: Value| {
        let mut case = two_ways(json!({}));
        case["flows"][0]["moves"] = moves;
        problems(&case).into_iter().next().unwrap().0
    };
    let way = json!(["s", "b", "d"]);
    assert_eq!(moved(json!([{"at": 1}])), "flows[0].moves[0]");
    assert_eq!(
        moved(json!([{"at": 1, "route": way}, {"at": 1, "route": way}])),
        "flows[0].moves[1].at"
    );
    assert_eq!(moved(json!([{"at": 1, "route": ["s", "d"]}])), "flows[0].moves[0].route[1]");
    let sprayed = json!({"equal_paths": "spray", "reroute_after": 1});
    assert_eq!(first(sprayed).0, "reroute_after");
    let mut timeless =
        two_ways(json!({"links": [{"link": "s->a", "delay": 0, "down": [{"from": 1}]}]}));
    assert_eq!(problems(&timeless)[0].0, "links[0].in_flight");
    timeless["links"][0]["in_flight"] = json!("delivered");
    assert!(problems(&timeless).is_empty());
}

prop_compose! {
    /// Flows on a ring of routers with hosts, whose links fail at random times.
    fn troubled()(
        routers in 3u32..7, flows in 1u32..6, quic in any::<bool>(), seed in any::<u32>(), packets in 3u32..40,
        qdisc in prop::sample::select(vec!["fifo", "codel", "fq"]), in_flight in prop::sample::select(vec!["lost", "delivered"]),
        failures in prop::collection::vec((0u32..7, 0u32..900, 1u32..400), 1..5), late in 0u32..80,
        cc in prop::sample::select(vec!["cubic", "bbr3", "reno"]), has_jitter in any::<bool>(),
    ) -> Value {
        let link = |number: u32| {
            let (a, b) = (number % routers, (number + 1) % routers);
            json!([format!("r{a}->r{b}"), format!("r{b}->r{a}")])
        };
        let mut links: Vec<Value> = failures.iter().map(|&(number, from, length)| json!({
            "link": link(number), "in_flight": in_flight,
            "down": [{"from": format!("{from} ms"), "until": format!("{} ms", from + length)}],
        })).collect();
        if has_jitter {
            links.push(json!({"link": "r0->r1", "impairments": [{"kind": "jitter", "mean": "2 ms"}]}));
        }
        let flows: Vec<Value> = (0..flows).map(|i| {
            let mut flow = json!({"src": format!("h{}", i % routers), "dst": format!("h{}", (i + 1) % routers), "cc": cc});
            if quic {
                flow["transport"] = json!("quic");
            }
            flow
        }).collect();
        json!({
            "net": {"kind": "ring", "routers": routers, "span": 1, "rate": "20 Mbps", "delay": "3 ms",
                "buffer": format!("{packets} pkt"), "qdisc": qdisc},
            "links": links, "reroute_after": format!("{late} ms"), "seed": seed, "duration": "1 s", "flows": flows,
            "record": {"tables": ["packets", "rtts"]},
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: crate::common::seed(), max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// Every run checks that packets are conserved, and the laws; on two threads it is the same to the last bit.
    #[test]
    fn packets_are_conserved_on_any_number_of_threads_while_links_fail(case in troubled()) {
        let found = problems(&case);
        prop_assert!(found.is_empty(), "{found:?}");
        let outcome = run(case);
        check_threads(&outcome);
    }
}
