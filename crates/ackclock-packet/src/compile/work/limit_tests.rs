//! What cannot end, or would take all memory, is refused with its key; what is only dear, with its cost.

use serde_json::{Value, json};

use crate::api::{self, Effort, RegistryOnly, RunError};
use crate::compile::Predicted;
use crate::memory::with_tables_of_at_most;

/// A dumbbell with one flow for a second, changed.
fn dumbbell(changes: &[(&str, Value)]) -> String {
    let mut scenario = json!({
        "duration": 1, "flows": [{ "pair": 0 }],
        "net": { "kind": "dumbbell", "pairs": 1, "rate": "1 Mbps", "rtt": "100 ms" },
    });
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        scenario.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    scenario.to_string()
}

#[test]
fn what_would_never_end_is_refused_with_its_key_and_the_limit() {
    let timer = |kind: &str, key: &str| json!({ "kind": kind, key: "1 ps" });
    let vectors = json!([{
        "generator": { "kind": "connection-vectors", "rate": 1.5e6, "prefill": 8e6 },
        "flow": { "pair": 0 },
    }]);
    let users = json!([{
        "generator": { "kind": "users", "users": 100_000, "downloads": 100_000 }, "flow": { "pair": 0 },
    }]);
    let mut cases = vec![
        (vec![("/tcp", json!({ "min_rto": 0, "max_rto": 0 }))], "tcp.max_rto", "1e-6 s"),
        (vec![("/tcp", json!({ "min_rto": 0, "max_rto": 1e-9 }))], "tcp.max_rto", "1e-6 s"),
        (vec![("/tcp", json!({ "initial_rto": 0 }))], "tcp.initial_rto", "1e-6 s"),
        // A timer of a clock runs out after a tick at the earliest.
        (vec![("/tcp", json!({ "min_rto": 0, "max_rto": 9e-4 }))], "tcp.max_rto", "tick"),
        (vec![("/tcp", json!({ "initial_window": u32::MAX }))], "tcp.initial_window", "1048576"),
        (
            vec![("/era", json!("quic")), ("/quic", json!({ "initial_window": u32::MAX }))],
            "quic.initial_window",
            "1048576",
        ),
        (vec![("/traffic", vectors)], "traffic[0].generator.prefill", "2e7 turns"),
        (vec![("/traffic", users)], "traffic[0].generator.downloads", "2e7 downloads"),
        (
            vec![("/flows/0/size", json!(1)), ("/flows/0/every", json!(1e-9))],
            "flows[0].every",
            "1e-6 s",
        ),
    ];
    for kind in ["pie", "afd", "rem", "fq-pie", "dualpi2"] {
        cases.push((vec![("/net/qdisc", timer(kind, "update"))], "net.qdisc.update", "1e-6 s"));
    }
    for (changes, path, expected) in cases {
        let problems = api::check(&dumbbell(&changes));
        let matching: Vec<_> = problems.iter().filter(|problem| problem.path == path).collect();
        assert!(matching.len() == 1, "{changes:?}: {problems:?}");
        assert!(matching[0].message.contains(expected), "{}", matching[0]);
    }
}

/// 10^300 transfers, none of which is drawn.
#[test]
fn more_transfers_than_flows_are_refused_before_they_are_drawn() {
    for kind in ["poisson", "connection-vectors"] {
        let generator = json!({ "kind": kind, "rate": 1e300, "pairs": u32::MAX });
        let traffic = json!([{ "generator": generator, "flow": { "pair": 0 } }]);
        let problems = api::check(&dumbbell(&[("/traffic", traffic)]));
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!(problem.path, "traffic[0].generator");
        assert!(problem.message.contains("makes more than 2000000 flows"), "{problem}");
    }
    // 10^6 connections in 1 s are few enough, but not with 10^4 turns each, which would be 160 GB.
    let generator = json!({ "kind": "connection-vectors", "rate": 5e5, "turns": 1e4 });
    let traffic = json!([{ "generator": generator, "flow": { "pair": 0 } }]);
    let problems = api::check(&dumbbell(&[("/traffic", traffic), ("/duration", json!(1))]));
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(problem.path, "traffic[0].generator.turns");
    assert!(problem.message.contains("5.00e9 turns in all, expected at most 2e7"), "{problem}");
    // One in 10^13 s, whose periods are not passed one by one.
    let generator = json!({ "kind": "poisson", "rate": 1e-13, "period": 1e-6, "pairs": u32::MAX });
    let traffic = json!([{ "generator": generator, "flow": { "pair": 0 } }]);
    assert_eq!(api::check(&dumbbell(&[("/traffic", traffic), ("/duration", json!(9e6))])), []);
}

/// Each key is the one that makes the run dear.
#[test]
fn what_is_too_dear_is_refused_with_its_cost_and_its_key() {
    let pie = json!({ "kind": "pie", "update": "1 us" });
    let source = json!([{ "pair": 0, "source": { "kind": "cbr", "rate": 1e15, "packet": 1 } }]);
    let cases = [
        (vec![("/duration", json!(1e6)), ("/net/qdisc", pie)], "net.qdisc.update"),
        (vec![("/flows", source)], "flows[0].source"),
        (
            vec![
                ("/duration", json!(9e6)),
                ("/flows/0/size", json!(1)),
                ("/flows/0/every", json!(1e-6)),
            ],
            "flows[0].every",
        ),
        (
            vec![("/duration", json!(9e6)), ("/flows/0/media", json!({ "fps": 1000 }))],
            "flows[0].media",
        ),
        (vec![("/net/rate", json!(1e15)), ("/duration", json!(1e3))], "flows[0]"),
    ];
    let day = Effort { most_cpu_s: 600.0, ..Effort::default() };
    for (changes, path) in cases {
        let text = dumbbell(&changes);
        assert!(api::check(&text).is_empty(), "{changes:?}");
        let Err(refused) = api::predict_with(&text, &RegistryOnly, 600.0) else {
            panic!("{changes:?} is predicted to be cheap")
        };
        let Err(RunError::Input(problems)) =
            api::run_with(&text, &RegistryOnly, day, &mut |_, _| false)
        else {
            panic!("{changes:?} runs")
        };
        assert_eq!(problems, refused);
        let [problem] = &refused[..] else { panic!("{refused:?}") };
        assert_eq!(problem.path, path, "{problem}");
        assert!(problem.message.contains("events") && problem.message.contains("10.000 min"));
        assert!(problem.message.contains("--no-limit"), "{problem}");
        // Without the limit it begins.
        assert!(api::predict_with(&text, &RegistryOnly, f64::INFINITY).is_ok());
    }
}

/// Where it can be as long as the run, too: nothing comes back to the source of an endless turn. What is done by then
/// counts, so that a prediction that is too low is corrected.
#[test]
fn a_trial_ends_within_a_turn_and_goes_on_at_its_rate() {
    let source = json!({ "kind": "cbr", "rate": 8e9, "packet": 1 });
    let text = dumbbell(&[("/flows/0/source", source), ("/net/delay", json!("10 ms"))]);
    let plan = api::planned(&text).unwrap();
    let predicted = crate::compile::predict(&plan);
    let short = Predicted { events: 2000.0, packet_hops: 1000.0, ..predicted.clone() };
    let corrected = crate::packet::correct(&plan, short, crate::packet::Patience::LONG);
    // 10^9 packets; the first link takes them all, the narrow one 10^6 / 8 / 1 of them.
    let real = 2e9;
    assert!((real / 3.0..real * 3.0).contains(&corrected.events), "{corrected:?}");
    assert!((real / 3.0..real * 3.0).contains(&predicted.events), "{predicted:?}");
}

/// A data centre is one process, whose events have no effect on another before the end: how far a trial came is when
/// its next event is. Timers of a slow link have theirs much later, too.
#[test]
fn a_trial_knows_how_far_it_came_in_one_process_and_on_slow_links() {
    let centre = json!({ "kind": "star", "hosts": 5, "rate": "100 Mbps", "delay": 1e-12, "buffer": "unlimited" });
    let slow = json!({ "kind": "parking-lot", "hops": 3, "rate": 1, "delay": 0.1, "buffer": "1 pkt", "qdisc": "dualpi2" });
    for (net, era, seconds) in [(&centre, "ns2", 3.0), (&slow, "2007", 1000.0)] {
        let text =
            dumbbell(&[("/net", net.clone()), ("/era", json!(era)), ("/duration", json!(seconds))]);
        let predicted = api::predict_with(&text, &RegistryOnly, f64::INFINITY).unwrap();
        let predicted: Value = serde_json::from_str(&predicted).unwrap();
        let real = api::run(&text, &mut |_, _| true).unwrap();
        let real: Value = serde_json::from_str(&real.summary).unwrap();
        let ratio =
            predicted["events"].as_f64().unwrap() / real["totals"]["events"].as_f64().unwrap();
        assert!((1.0 / 3.0..=3.0).contains(&ratio), "{ratio} of {text}");
    }
}

/// The packets on a link and in its queue are those of all flows together. A queue of a million packets, or windows of as
/// many, still count.
#[test]
fn memory_of_packets_under_way_does_not_grow_with_flows_that_share_a_link() {
    let bytes = |flows: u32, more: &[(&str, Value)]| {
        let mut changes = vec![
            ("/net/pairs", json!(flows)),
            ("/net/rate", json!(1e10)),
            ("/flows/0/count", json!(flows)),
            ("/duration", json!(100)),
        ];
        changes.extend_from_slice(more);
        crate::compile::predict(&api::planned(&dumbbell(&changes)).unwrap()).memory_bytes
    };
    // 10 Gbit/s for 0.1 s are 83,000 packets, 27 MB at 160 B each twice over; a flow takes 9 kB, and its window of ten.
    assert!(bytes(50_000, &[]) < 1.5e9, "{}", bytes(50_000, &[]));
    assert!(bytes(50_000, &[]) < 1.2 * (bytes(25_000, &[]) * 2.0));
    let windows = json!({ "initial_window": 1_000_000, "receiver_window": 1_000_000 });
    assert!(bytes(1, &[("/tcp", windows)]) > 1.5e8);
}

/// A control may open its window at once; the packets of one instant are bounded.
#[test]
fn a_window_that_explodes_ends_the_run_with_a_sentence() {
    let text = dumbbell(&[
        ("/flows/0/cc", json!({ "kind": "aimd", "a": 1e9 })),
        ("/tcp", json!({ "initial_ssthresh": 1 })),
        ("/net/buffer", json!("unlimited")),
    ]);
    let Err(RunError::Input(problems)) = api::run(&text, &mut |_, _| true) else { panic!("ends") };
    assert!(problems[0].message.contains("at one instant"), "{problems:?}");
}

/// Whichever table it is.
#[test]
fn a_table_for_which_there_is_no_memory_ends_the_run_with_a_sentence() {
    let burst = json!({ "initial_window": 2000 });
    let text = dumbbell(&[("/tcp", burst), ("/net/buffer", json!("unlimited"))]);
    assert!(api::run(&text, &mut |_, _| true).is_ok());
    let mut needed = std::collections::BTreeSet::new();
    for most in (6..17).map(|bits| 1 << bits) {
        match with_tables_of_at_most(most, || api::run(&text, &mut |_, _| true)) {
            Ok(_) => {}
            Err(RunError::Input(problems)) => {
                let [problem] = &problems[..] else { panic!("{problems:?}") };
                assert!(problem.message.contains("for which there is no memory"), "{problem}");
                needed.insert(problem.message.clone());
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(needed.len() > 4, "{needed:?}");
}
