//! The digests of 60 fixed scenarios, kept for each platform beside this file.
//!
//! After a change that is meant to change results, `ACKCLOCK_KEEP_DIGESTS=1 cargo test -p ackclock-core --test
//! verify digests` rewrites the table of this platform; the commit says why (`CONTRIBUTING.md`, "Changes that
//! change results").

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{extend, run};

const CONTROLS: [&str; 22] = [
    "aimd",
    "aiad",
    "mimd",
    "miad",
    "aimad",
    "linear",
    "cubic",
    "binomial",
    "iiad",
    "sqrt",
    "aild",
    "rtt-squared",
    "decbit",
    "dctcp",
    "vegas",
    "fast",
    "fast-rate-reduction",
    "fast-corrected",
    "ledbat",
    "compound",
    "bbr",
    "bbr3",
];

const QUEUES: [&str; 20] = [
    "fifo",
    "red",
    "rio",
    "drr",
    "fq",
    "wf2q-plus",
    "priority",
    "wrr",
    "core-stateless",
    "sfq",
    "codel",
    "fq-codel",
    "pie",
    "green",
    "fred",
    "blue",
    "sfb",
    "sred",
    "afd",
    "rem",
];

/// Long and short flows and a source over a lossy bottleneck: every random stream is in use.
fn plain() -> Value {
    json!({
        "net": { "kind": "dumbbell", "pairs": 4, "rate": "5 Mbps", "rtts": ["20 ms", "30 ms", "50 ms", "80 ms"],
            "buffer": "30 pkt", "qdisc": "fifo", "loss": 0.0003 },
        "flows": [
            { "pair": 0, "count": 2, "stagger": "100 ms", "recovery": "sack" },
            { "pair": 1, "start_jitter": "50 ms" },
            { "pair": 3, "source": { "kind": "exponential-on-off", "rate": "2 Mbps" } },
        ],
        "traffic": [{ "generator": { "kind": "poisson", "rate": 5, "sizes": { "kind": "fixed", "mean": "20 kB" } } }],
        "duration": 6, "warmup": 1, "seed": 7,
    })
}

/// The scenarios by name.
fn cases() -> Vec<(String, Value)> {
    let mut cases = Vec::new();
    let mut add = |name: String, change: &dyn Fn(&mut Value)| {
        let mut case = plain();
        change(&mut case);
        cases.push((name, case));
    };
    for control in CONTROLS {
        add(format!("cc {control}"), &|case| {
            for flow in 0..2 {
                case["flows"][flow]["cc"] = json!(control);
                if control == "dctcp" {
                    case["flows"][flow]["tcp"] = json!({ "ecn": true, "accecn": true });
                }
            }
        });
    }
    for queue in QUEUES {
        add(format!("qdisc {queue}"), &|case| case["net"]["qdisc"] = json!(queue));
    }
    for era in ["1999", "2002", "2007", "ns2"] {
        for recovery in ["reno", "newreno", "sack"] {
            add(format!("era {era} {recovery}"), &|case| {
                case["era"] = json!(era);
                for flow in 0..2 {
                    case["flows"][flow]["recovery"] = json!(recovery);
                }
            });
        }
    }
    for source in ["exponential-on-off", "pareto-on-off", "tfrc"] {
        add(format!("source {source}"), &|case| {
            case["flows"][2]["source"] = json!(source);
        });
    }
    for (kind, size, key) in
        [("parking-lot", 3, "hops"), ("star", 6, "hosts"), ("ring", 6, "routers")]
    {
        add(format!("net {kind}"), &|case| {
            let link =
                json!({ "rate": "5 Mbps", "delay": "7 ms", "buffer": "30 pkt", "qdisc": "red" });
            case["net"] = json!({ "kind": kind, key: size });
            extend(&mut case["net"], link);
        });
    }
    cases
}

fn table_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/verify/determinism/digests-x86_64-linux-gnu.txt")
}

#[test]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")),
    ignore = "no digests of this platform are kept"
)]
fn digests_of_sixty_scenarios_are_those_of_this_platform_on_any_thread() {
    let cases = cases();
    assert_eq!(cases.len(), 60);
    let table = || -> String {
        let line = |(name, case): &(String, Value)| {
            format!("{:016x} {name}\n", run(case.clone()).results.digest)
        };
        cases.iter().map(line).collect()
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(table);
        (table(), other.join().unwrap())
    });
    assert_eq!(one, other, "two threads, two results");
    if std::env::var_os("ACKCLOCK_KEEP_DIGESTS").is_some() {
        fs::write(table_file(), &one).unwrap();
    }
    let kept = fs::read_to_string(table_file()).unwrap();
    let changed: Vec<_> = one.lines().zip(kept.lines()).filter(|(now, kept)| now != kept).collect();
    assert!(
        changed.is_empty() && one.lines().count() == kept.lines().count(),
        "now, kept: {changed:#?}"
    );
}

#[test]
fn no_two_of_the_sixty_scenarios_have_one_digest() {
    // So that each of them does what its name says.
    let kept = fs::read_to_string(table_file()).unwrap();
    let mut digests: Vec<&str> = kept.lines().map(|line| &line[..16]).collect();
    digests.sort_unstable();
    digests.dedup();
    // The default of some is another's rule: linear and AIMD, the two variants of FAST and FAST itself on a short
    // path, Compound and binomial without delay, and queues whose classes nobody defined and FIFO.
    assert!(digests.len() >= 53, "{} digests differ", digests.len());
}
