//! `links`: what is different at single directions of links, in networks of any shape.

use ackclock_core::wire::DropReason;
use serde_json::{Value, json};

use crate::common::{Run, extend, problems, run};

fn parking_lot(links: Value) -> Value {
    json!({
        "net": {"kind": "parking-lot", "hops": 2, "rate": "10 Mbps", "delay": "5 ms", "buffer": "20 pkt"},
        "flows": [{"pair": 0, "count": 3, "cc": "aimd"}],
        "links": links,
        "duration": "5 s",
        "seed": 7,
    })
}

#[test]
fn a_delay_that_is_taken_from_under_a_trace_is_reported() {
    let mistakes = problems(&parking_lot(json!([
        {"link": "r0->r1", "schedule": {"mahimahi": [1, 2]}},
        {"link": "r*->r1", "delay": 0},
    ])));
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    assert_eq!(mistakes[0].0, "links[1].delay");
    assert!(mistakes[0].1.contains("\"r0->r1\" has delivery opportunities"));
}

/// The same network link by link, where a link's keys say all that can be changed.
fn spelled_out(first: Value, last: Value) -> Value {
    let hop = |a: &str, b: &str, more: Value| {
        let mut link =
            json!({"a": a, "b": b, "rate": "10 Mbps", "delay": "5 ms", "buffer": "20 pkt"});
        extend(&mut link, more);
        link
    };
    let access = |a: &str, b: &str| json!({"a": a, "b": b, "rate": "100 Mbps", "delay": "1 ms", "buffer": "unlimited"});
    let mut links = vec![hop("r0", "r1", first), hop("r1", "r2", last)];
    for (i, (from, to)) in [("r0", "r2"), ("r0", "r1"), ("r1", "r2")].into_iter().enumerate() {
        links.extend([access(&format!("s{i}"), from), access(to, &format!("d{i}"))]);
    }
    let flow = |i: u32| json!({"src": format!("s{i}"), "dst": format!("d{i}"), "cc": "aimd"});
    // Nodes in the order of the shape, by which processes and ties are ordered.
    let nodes = ["r0", "r1", "r2", "s0", "d0", "s1", "d1", "s2", "d2"].map(|id| json!({"id": id}));
    let mut scenario = parking_lot(json!([]));
    scenario["net"] = json!({"kind": "graph", "nodes": nodes, "links": links});
    scenario["flows"] = (0..3).map(flow).collect();
    scenario
}

fn digest(run: &Run) -> u64 {
    run.results.digest
}

#[test]
fn a_changed_shape_is_the_network_that_says_so_link_by_link() {
    let steps =
        json!({"steps": [{"at": "1 s", "rate": "3 Mbps"}, {"at": "2 s", "rate": "8 Mbps"}]});
    let changed = parking_lot(json!([
        {"link": "r0->r1", "loss": 0.01, "qdisc": "red", "schedule": steps.clone()},
        {"link": "r1->r2", "rate": "4 Mbps", "buffer": "9 pkt", "drop": [30, 10, 10]},
        {"link": ["r1->r0", "r2->r1"], "loss": 0.02},
    ]));
    let plain = spelled_out(
        json!({"loss": 0.01, "back_loss": 0.02, "qdisc": "red", "back_qdisc": "fifo", "schedule": steps}),
        json!({"rate": "4 Mbps", "back_rate": "10 Mbps", "buffer": "9 pkt", "back_buffer": "20 pkt",
            "drop": [10, 30], "back_loss": 0.02}),
    );
    assert_eq!(digest(&run(changed.clone())), digest(&run(plain)));
    assert_ne!(digest(&run(changed)), digest(&run(parking_lot(json!([])))));
}

#[test]
fn the_last_change_counts_setting_by_setting() {
    let once = parking_lot(json!([{"link": "r0->r1", "loss": 0.05, "mtu": 1500}]));
    let twice = parking_lot(json!([
        {"link": "*", "loss": 0.3},
        {"link": "*", "loss": 0.0},
        {"link": "r0->*", "loss": 0.4, "mtu": 1500},
        {"link": "r0->s*", "loss": 0.0, "mtu": 65535},
        {"link": ["r0->r1", "r0->r1"], "loss": 0.05},
    ]));
    assert_eq!(digest(&run(once)), digest(&run(twice)));
}

#[test]
fn a_direction_may_have_a_delay_of_its_own() {
    // Up 300 ms, down 5 ms: the round trip is theirs and four access links' of 1 ms.
    let mut scenario = parking_lot(json!([{"link": "r0->r1", "delay": "300 ms"}]));
    scenario["flows"] = json!([{"pair": 1, "size": "1 kB"}]);
    let srtt = run(scenario).flow(0).sender.srtt_s;
    assert!((0.309..0.315).contains(&srtt), "{srtt}");
}

/// A link loses half of what arrives from 2 s to 4 s, in networks of any shape and both clocks; each count is
/// within four standard deviations of the binomial law, and the runs are those without loss until then.
#[test]
fn loss_follows_its_schedule_in_networks_of_any_shape() {
    let steps = json!({"steps": [{"at": "2 s", "loss": 0.5}, {"at": "4 s", "loss": 0}]});
    let source = json!({"kind": "cbr", "rate": "8 Mbps", "packet": 1000});
    let dumbbell = json!({"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "20 ms"});
    let wire = |key: &str| {
        let mut link = json!({"a": "a", "b": "b", "rate": "10 Mbps", "delay": "5 ms"});
        extend(&mut link, json!({key: steps.clone()}));
        json!({"kind": "graph", "links": [link]})
    };
    let mut shaped = dumbbell.clone();
    extend(&mut shaped, json!({"schedule": steps.clone()}));
    let pair = json!({"pair": 0, "source": source.clone()});
    let ends = |src: &str, dst: &str| json!({"src": src, "dst": dst, "source": source.clone()});
    let change = json!([{"link": "r0->r1", "schedule": steps.clone()}]);
    let lot = json!({"kind": "parking-lot", "hops": 2, "rate": "10 Mbps", "delay": "5 ms"});
    let cases = [
        (shaped, pair.clone(), json!([]), "r0->r1"),
        (dumbbell, pair.clone(), change.clone(), "r0->r1"),
        (lot, pair, change, "r0->r1"),
        (wire("schedule"), ends("a", "b"), json!([]), "a->b"),
        (wire("back_schedule"), ends("b", "a"), json!([]), "b->a"),
    ];
    for era in ["rfc", "ns2"] {
        for (net, flow, links, lossy) in &cases {
            let outcome = run(json!({
                "net": net, "flows": [flow], "links": links, "era": era, "duration": "6 s",
                "record": {"tables": ["packets"]},
            }));
            let mut counts = [[0u32; 2]; 3];
            for row in outcome.packets(lossy) {
                let period = match row.at.seconds() {
                    ..2.0 => 0,
                    ..4.0 => 1,
                    _ => 2,
                };
                match row.event.name() {
                    "arrival" => counts[period][0] += 1,
                    "drop" => counts[period][1] += 1,
                    _ => {}
                }
            }
            let [[first, 0], [arrived, lost], [last, 0]] = counts else {
                panic!("{era} {net}: {counts:?}")
            };
            assert!(first.min(arrived).min(last) >= 1980, "{counts:?}");
            let deviation = f64::from(arrived).sqrt() / 2.0;
            let excess = f64::from(lost) - f64::from(arrived) / 2.0;
            assert!(excess.abs() < 4.0 * deviation, "{era} {net}: {counts:?}");
        }
    }
}

/// What a schedule says of loss changes nothing else: a constant ratio step by step is that ratio, a step with rate
/// and loss is both, and the two may come from different places.
#[test]
fn steps_of_loss_and_of_rate_are_two_settings() {
    let of = |links: Value| digest(&run(parking_lot(links)));
    let loss = |more: Value| {
        let mut change = json!({"link": "r0->r1"});
        extend(&mut change, more);
        change
    };
    let constant = of(json!([loss(json!({"loss": 0.02}))]));
    let steps = json!({"steps": [{"at": 0, "loss": 0.02}, {"at": "3 s", "loss": 0.02}]});
    assert_eq!(of(json!([loss(json!({"schedule": steps}))])), constant);
    let both = json!({"steps": [{"at": "1 s", "rate": "3 Mbps", "loss": 0.1}]});
    let rate = json!({"steps": [{"at": "1 s", "rate": "3 Mbps"}]});
    let ratio = json!({"steps": [{"at": "1 s", "loss": 0.1}]});
    let together = of(json!([loss(json!({"schedule": both}))]));
    for order in [[&rate, &ratio], [&ratio, &rate]] {
        let changes: Vec<Value> = order.map(|s| loss(json!({"schedule": s.clone()}))).into();
        assert_eq!(of(json!(changes)), together);
    }
    assert_ne!(of(json!([loss(json!({"schedule": rate}))])), together);
    // A trace of opportunities keeps what it is when its link gets losses.
    let trace = loss(json!({"schedule": {"mahimahi": [1, 3, 5]}}));
    let lossy = run(parking_lot(json!([trace, loss(json!({"schedule": ratio}))])));
    assert!(lossy.link("r0->r1").drops_by_reason[DropReason::Random as usize] > 20);
}

/// On both clocks one packet is in transmission when the rate becomes zero, and no other departs after it.
#[test]
fn nothing_departs_in_an_outage_that_does_not_end() {
    for (era, qdisc) in [("rfc", "fifo"), ("rfc", "drr"), ("ns2", "fifo"), ("ns2", "drr")] {
        let departed = |duration: &str| {
            let outage = json!({"steps": [{"at": "2 s", "rate": 0}]});
            let change = json!({"link": "r0->r1", "qdisc": qdisc, "schedule": outage});
            let mut scenario = parking_lot(json!([change]));
            extend(&mut scenario, json!({"era": era, "duration": duration}));
            run(scenario).results.links[0].departed
        };
        // Timeouts of the senders bring further packets to the link between the two times.
        let (early, late) = (departed("2.5 s"), departed("12 s"));
        assert!(early > 1000, "{era} {qdisc}: {early}");
        assert_eq!(early, late, "{era} {qdisc}");
    }
}

#[test]
fn mistakes_are_reported_with_what_was_expected() {
    for (change, path, phrases) in [
        (json!({"link": "r0->r9", "loss": 0.1}), "links[0].link", ["\"r0->r9\"", "did you mean"]),
        (json!({"link": "q*", "loss": 0.1}), "links[0].link", ["no link \"q*\"", "r0->r1"]),
        (json!({"link": ["r0->r1", "x"], "loss": 0.1}), "links[0].link[1]", ["\"x\"", "r0->r1"]),
        (json!({"link": [], "loss": 0.1}), "links[0].link", ["is empty", "at least one"]),
        (json!({"link": "r0->r1"}), "links[0]", ["changes nothing", "loss"]),
        (json!({"link": "*", "loss": 1.5}), "links[0].loss", ["1.5 is out of range", "0 to 1"]),
        (
            json!({"link": "*", "rate": 0}),
            "links[0].rate",
            ["0 bit/s is out of range", "more than 0"],
        ),
        (
            json!({"link": "*", "delay": "10000000 s"}),
            "links[0].delay",
            ["10000000 s is out of range", "to 9000000 s"],
        ),
        (json!({"link": "*", "mtu": 70000}), "links[0].mtu", ["70000 B is out of range", "65535"]),
        (
            json!({"link": "*", "buffer": "0 pkt"}),
            "links[0].buffer",
            ["\"0 pkt\"", "more than zero"],
        ),
        (json!({"link": "*", "buffer": "9 B"}), "links[0].buffer", ["is 9 B", "one packet"]),
        (
            json!({"link": "*", "weight": -1}),
            "links[0].weight",
            ["-1 is out of range", "more than 0"],
        ),
        (json!({"link": "*", "qdisc": "codl"}), "links[0].qdisc", ["\"codl\"", "\"codel\""]),
        (
            json!({"link": "*", "qdisc": {"kind": "red", "max_p": 3}}),
            "links[0].qdisc.max_p",
            ["3 is out of range", "at most 1"],
        ),
        (
            json!({"link": "*", "schedule": {"steps": []}}),
            "links[0].schedule.steps",
            ["is empty", "one step"],
        ),
        (
            json!({"link": "*", "schedule": {"steps": [{"at": 1}]}}),
            "links[0].schedule.steps[0]",
            ["changes nothing", "rate or loss"],
        ),
        (
            json!({"link": "*", "schedule": {"steps": [{"at": 1, "loss": 0}, {"at": 2, "loss": 2}]}}),
            "links[0].schedule.steps[1].loss",
            ["2 is out of range", "0 to 1"],
        ),
        (
            json!({"link": "r0->r1", "delay": 0, "schedule": {"mahimahi": [1, 2]}}),
            "links[0].schedule",
            ["needs a link", "more than zero"],
        ),
    ] {
        let mistakes = problems(&parking_lot(json!([change])));
        assert_eq!(mistakes.len(), 1, "{change}: {mistakes:?}");
        assert_eq!(mistakes[0].0, path, "{change}: {mistakes:?}");
        for phrase in phrases {
            assert!(
                mistakes[0].1.contains(phrase),
                "{change}: {:?} has no {phrase}",
                mistakes[0].1
            );
        }
    }
}
