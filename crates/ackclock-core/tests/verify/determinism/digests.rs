//! The digests and tables of fixed scenarios, one for each algorithm, kept for each platform beside this file.
//!
//! A line is the digest of a run, a fingerprint of the columns of all tables that can be recorded, and its name. The
//! columns are listed before, each after a `#`: one that is not listed yet is in no fingerprint, as an algorithm that
//! is new has no line.
//! After a change that is meant to change results, `ACKCLOCK_KEEP_DIGESTS=1 cargo test -p ackclock-core --test
//! verify digests` rewrites the table of this platform; the commit says why (`CONTRIBUTING.md`, "Changes that
//! change results").

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use ackclock_core::{api, cc, qdisc, recovery, slow_start};

use serde_json::{Value, json};

use crate::common::{extend, problems};

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
        "record": { "tables": ["windows", "rtts", "states", "drops", "queues", "packets", "flow_samples", "link_samples",
            "probes", "probe_series", "ledger"] },
    })
}

/// A small data centre, in which transfers meet at one host and cross each other.
fn data_centre(net: Value, control: &str, more: Value) -> Value {
    let by_nack = json!({ "kind": "rack", "tlp": false, "reo_wnd": "10 ms" });
    let recovery = if control == "nscc" { by_nack } else { json!("sack") };
    let mut case = json!({
        "net": { "kind": "fat-tree", "k": 4, "rate": "10 Gbps", "delay": "1 us", "buffer": "100 pkt" },
        "tcp": { "syn": false, "delayed_ack": 1, "ecn": true, "accecn": true, "min_rto": "1 ms" },
        "flows": [
            { "between": "incast", "size": "60 kB", "cc": control, "recovery": recovery },
            { "between": "ring-all-reduce", "size": "200 kB", "start": "50 us", "cc": control, "recovery": recovery },
        ],
        "duration": 0.002, "seed": 7, "record": plain()["record"],
    });
    // Packets whose routes change are in no ledger.
    case["record"]["tables"].as_array_mut().unwrap().retain(|table| table != "ledger");
    extend(&mut case["net"], net);
    extend(&mut case, more);
    case
}

/// The scenarios by name.
fn cases() -> Vec<(String, Value)> {
    let mut cases = Vec::new();
    let mut add = |name: String, change: &dyn Fn(&mut Value)| {
        let mut case = plain();
        change(&mut case);
        cases.push((name, case));
    };
    for control in cc::names().into_iter().filter(|&control| control != "none") {
        add(format!("cc {control}"), &|case| {
            for flow in 0..2 {
                case["flows"][flow]["cc"] = json!(control);
            }
            if control == "dctcp" || !problems(case).is_empty() {
                for flow in 0..2 {
                    case["flows"][flow]["tcp"] = json!({ "ecn": true, "accecn": true });
                }
            }
        });
    }
    for queue in qdisc::names() {
        add(format!("qdisc {queue}"), &|case| case["net"]["qdisc"] = json!(queue));
        add(format!("qdisc {queue}, ECN, other rates"), &|case| {
            case["net"]["qdisc"] = json!(queue);
            case["net"]["schedule"] =
                json!({ "steps": [{ "at": 3, "rate": "2 Mbps" }, { "at": 5, "rate": "8 Mbps" }] });
            case["flows"][0]["tcp"] = json!({ "ecn": true });
        });
    }
    for rule in slow_start::names() {
        add(format!("slow_start {rule}"), &|case| {
            for flow in 0..2 {
                case["flows"][flow]["slow_start"] = json!(rule);
            }
        });
    }
    for rule in recovery::names() {
        add(format!("recovery {rule}"), &|case| {
            for flow in 0..2 {
                case["flows"][flow]["recovery"] = json!(rule);
            }
        });
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
    for era in ["quic", "linux"] {
        add(format!("era {era}"), &|case| {
            case["era"] = json!(era);
            for flow in 0..2 {
                case["flows"][flow].as_object_mut().unwrap().remove("recovery");
            }
        });
    }
    add("era quic, ECN".to_string(), &|case| {
        case["era"] = json!("quic");
        case["quic"] = json!({ "ecn": true });
        case["net"]["qdisc"] = json!({ "kind": "codel", "ecn": true });
        for flow in 0..2 {
            case["flows"][flow].as_object_mut().unwrap().remove("recovery");
        }
    });
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
    let centres = [
        (
            "pauses, hpcc",
            "hpcc",
            json!({}),
            json!({ "switches": { "memory": "300 kB", "alpha": 0.125, "pfc": {} } }),
        ),
        (
            "marks and pauses, dcqcn",
            "dcqcn",
            json!({ "qdisc": { "kind": "codel", "ecn": true, "ce_threshold": "16 us" } }),
            json!({ "switches": { "memory": "300 kB", "alpha": 0.125, "pfc": {} } }),
        ),
        (
            "trimmed and sprayed, nscc",
            "nscc",
            json!({ "qdisc": { "kind": "trim" } }),
            json!({ "equal_paths": "spray", "tcp": { "trimming": true } }),
        ),
        (
            "a link fails, swift",
            "swift",
            json!({}),
            json!({
                "links": [{ "link": "e0->a*", "down": [{ "from": "100 us", "until": "400 us" }], "in_flight": "lost" }],
                "reroute_after": "100 us",
            }),
        ),
    ];
    for (name, control, net, more) in centres {
        cases.push((format!("data centre: {name}"), data_centre(net, control, more)));
    }
    for (rule, control) in [("rccc", "nscc"), ("rccc", "none"), ("homa", "none")] {
        let trims = json!({ "qdisc": { "kind": "trim" } });
        let sprays = json!({ "equal_paths": "spray" });
        let mut case = data_centre(trims, control, sprays);
        case["tcp"]["trimming"] = json!(true);
        for flow in case["flows"].as_array_mut().unwrap() {
            flow["credits"] = json!(rule);
            flow["recovery"] = json!({ "kind": "rack", "tlp": false, "reo_wnd": "10 ms" });
        }
        cases.push((format!("data centre: credits {rule}, {control}"), case));
    }
    cases
}

/// FNV-1a of the text of all tables.
fn fingerprint(tables: &[(&'static str, api::Columns)]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in format!("{tables:?}").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

/// The line of a case, of those columns that are kept, or of all; they are added to `columns`.
fn line(
    name: &str,
    case: &Value,
    kept: Option<&BTreeSet<String>>,
    columns: &mut BTreeSet<String>,
) -> String {
    let run = api::run(&case.to_string(), &mut |_, _| true);
    let mut output = run.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let summary: Value = serde_json::from_str(&output.summary).unwrap();
    for (table, columns_of_table) in &mut output.tables {
        columns_of_table.retain(|(column, _)| {
            let listed = format!("# {table}.{column}\n");
            let is_kept = kept.is_none_or(|kept| kept.contains(&listed));
            if is_kept {
                columns.insert(listed);
            }
            is_kept
        });
    }
    output.tables.retain(|(_, columns)| !columns.is_empty());
    format!("{} {:016x} {name}\n", summary["digest"].as_str().unwrap(), fingerprint(&output.tables))
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
fn digests_and_tables_are_those_of_this_platform_on_any_thread() {
    let cases = cases();
    assert!(cases.len() >= 60);
    let is_written = std::env::var_os("ACKCLOCK_KEEP_DIGESTS").is_some();
    let kept = (!is_written).then(|| {
        let recorded = fs::read_to_string(table_file()).unwrap();
        let columns = recorded.split_inclusive('\n').filter(|line| line.starts_with('#'));
        columns.map(str::to_owned).collect()
    });
    let table = || -> String {
        let mut columns = BTreeSet::new();
        let line = |(name, case): &(String, Value)| line(name, case, kept.as_ref(), &mut columns);
        let lines: String = cases.iter().map(line).collect();
        columns.into_iter().chain([lines]).collect()
    };
    let (lines, other) = std::thread::scope(|scope| {
        let other = scope.spawn(table);
        (table(), other.join().unwrap())
    });
    assert_eq!(lines, other, "two threads, two results");
    if is_written {
        fs::write(table_file(), &lines).unwrap();
    }
    // What is new has no line yet.
    let recorded = fs::read_to_string(table_file()).unwrap();
    let lost: Vec<_> =
        recorded.lines().filter(|line| !lines.lines().any(|now| now == *line)).collect();
    assert!(lost.is_empty(), "these changed or are gone: {lost:#?}");
}

#[test]
fn few_of_the_scenarios_have_one_digest() {
    // So that each of them does what its name says. Digest and tables together: where they are alike, the default of
    // one is another's rule, as of linear and AIMD, or of queues whose classes nobody defined and FIFO.
    let table = fs::read_to_string(table_file()).unwrap();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let mut digests_of_lines: Vec<&str> = lines.clone().map(|line| &line[..33]).collect();
    let all = digests_of_lines.len();
    digests_of_lines.sort_unstable();
    digests_of_lines.dedup();
    assert!(60 * digests_of_lines.len() >= 53 * all, "{} of {all} differ", digests_of_lines.len());
    let mut digests: Vec<&str> = lines.map(|line| &line[..16]).collect();
    digests.sort_unstable();
    digests.dedup();
    assert!(digests.len() >= 53, "{} digests differ", digests.len());
}
