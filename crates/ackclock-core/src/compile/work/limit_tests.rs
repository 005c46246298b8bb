//! What cannot end, or would take all memory, is refused with its key; what is only dear, with its cost.

use serde_json::{Value, json};

use crate::api::{self, RunError};
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
        let found: Vec<_> = problems.iter().filter(|problem| problem.path == path).collect();
        assert!(found.len() == 1, "{changes:?}: {problems:?}");
        assert!(found[0].message.contains(expected), "{}", found[0]);
    }
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
