//! REPS: packets take paths again that worked. Slow and failed paths lose their share, equal ones keep it.

use serde_json::{Value, json};

use crate::common::{Run, extend, problems, run};

/// Two hosts, four spines between their leaves; the way down from the last spine has a tenth of the others' rate.
fn slow_spine(choice: &str, extra: Value) -> Value {
    let link = |a: &str, b: &str, rate: &str| json!({"a": a, "b": b, "rate": rate});
    let mut links = vec![link("a", "l0", "1 Gbps"), link("l1", "b", "1 Gbps")];
    for spine in ["s0", "s1", "s2", "s3"] {
        links.push(link("l0", spine, "1 Gbps"));
        links.push(link(spine, "l1", if spine == "s3" { "100 Mbps" } else { "1 Gbps" }));
    }
    for link in &mut links {
        // A third of the buffer is for data.
        extend(
            link,
            json!({"delay": "5 us", "buffer": "300 kB",
            "qdisc": {"kind": "trim", "data": 0.3333, "mark_min": "10 kB", "mark_max": "40 kB"}}),
        );
    }
    let mut case = json!({
        "net": {"kind": "graph", "links": links}, "equal_paths": choice, "duration": "1 s",
        "tcp": {"syn": false, "trimming": true, "min_rto": "4 ms", "tick": "1 us"},
        "flows": [{"src": "a", "dst": "b", "size": "5 MB", "cc": "nscc",
            "recovery": {"kind": "rack", "tlp": false, "reo_wnd": "10 ms"}}],
    });
    extend(&mut case, extra);
    case
}

/// Packets by spine.
fn by_spine(outcome: &Run) -> [f64; 4] {
    [0, 1, 2, 3].map(|i| outcome.link(&format!("l0->s{i}")).arrived as f64)
}

/// 3,425 packets of 1,500 bytes: 41.1 ms of a link of 1 Gbit/s.
#[test]
fn a_slow_path_rules_packets_that_are_sprayed_and_not_those_that_learn() {
    for seed in 1..4 {
        let ends = |choice: &str| {
            let outcome = run(slow_spine(choice, json!({"seed": seed})));
            let packets = by_spine(&outcome);
            let total: f64 = packets.iter().sum();
            assert_eq!((total, outcome.flow(0).lost_data), (3425.0, 0));
            (outcome.flow(0).sender.completed_s, packets[3], packets[3] / total)
        };
        let (sprayed_s, slow, share) = ends("spray");
        // Four standard deviations of a share of a quarter.
        assert!((share - 0.25).abs() < 0.03, "{share}");
        // What takes the slow way needs that long.
        assert!(sprayed_s > 0.95 * slow * 1500.0 * 8.0 / 1e8, "{sprayed_s}");
        let (learned_s, _, share) = ends("reps");
        // Half of the share, so half of the time that the slow way rules.
        assert!(share < 0.125, "{share}");
        assert!((0.0411..sprayed_s / 2.0).contains(&learned_s), "{learned_s} {sprayed_s}");
    }
}

/// What is lost was noted before the path failed (eight places), or drawn: after each timeout nothing is for 10 ms, then
/// sixteen packets are.
#[test]
fn a_path_that_fails_is_tried_after_each_freeze_and_no_more() {
    for seed in 1..6 {
        let fails = json!({"links": [{"link": "l0->s1", "down": [{"from": 0.01}]}], "seed": seed});
        let flow = |choice: &str| {
            let outcome = run(slow_spine(choice, fails.clone()));
            (outcome.flow(0).lost_data, outcome.flow(0).sender.completed_s)
        };
        let (lost, _) = flow("spray");
        assert!(lost > 50, "{lost}");
        let (lost, completed_s) = flow("reps");
        let freezes = ((completed_s - 0.01) / 0.01).ceil();
        assert!((1.0..=8.0 + 16.0 * freezes).contains(&(lost as f64)), "{lost} {completed_s}");
        // Sprayed packets are lost to the end, 4 MB then.
        assert!(completed_s > 0.0411 && completed_s < 0.2, "{completed_s}");
    }
}

#[test]
fn labels_of_core_stateless_queues_and_routes_that_change_are_refused() {
    let queues = |qdisc: Value| {
        let extra = json!({"links": [{"link": "s0->l1", "qdisc": qdisc}]});
        problems(&slow_spine("reps", extra))
    };
    for qdisc in [json!("core-stateless"), json!({"kind": "csfq"})] {
        let found = queues(qdisc);
        assert_eq!(found[0].0, "equal_paths", "{found:?}");
        assert!(found[0].1.contains("core-stateless"), "{found:?}");
    }
    let late = problems(&slow_spine("reps", json!({"reroute_after": 1})));
    assert!(late[0].1.contains("equal_paths = \"reps\""), "{late:?}");
}
