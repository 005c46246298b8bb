//! Runs on several threads beside runs on one.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::compile::compile;
use crate::packet::setup::partition::tests::{
    bundled_campuses, campuses, hosts_on_routers, impaired_campuses,
};

pub(super) fn planned(scenario: Value) -> Plan {
    compile(&serde_json::from_value(scenario).unwrap()).unwrap()
}

fn run(plan: &Plan, threads: Threads) -> (Results, Used) {
    run_on(plan, &RegistryOnly, threads, &mut |_| true, None).unwrap()
}

/// Everything that a run reports except the number of turns; and its threads.
pub(super) fn results(plan: &Plan, threads: usize) -> (String, usize) {
    let (mut results, used) = run(plan, Threads::Always(threads));
    results.activations = 0;
    (format!("{results:?}"), used.threads)
}

fn assert_same(plan: &Plan, threads: &[usize]) {
    let (on_one_thread, _) = results(plan, 1);
    for &threads in threads {
        let (several, used) = results(plan, threads);
        assert!(used > 1, "{threads} threads are one");
        assert!(several == on_one_thread, "{threads} threads, {used} used");
    }
}

/// A data centre, whose links are all short: one cluster for a run on one thread.
fn data_centre(kind: &str, qdisc: &str) -> Plan {
    let net = match kind {
        "fat-tree" => json!({ "kind": kind, "k": 4, "rate": "1 Gbps", "delay": "1 us",
                              "buffer": "50 pkt", "qdisc": qdisc }),
        _ => json!({ "kind": kind, "leaves": 3, "spines": 2, "hosts": 4, "rate": "1 Gbps",
                     "delay": "500 ns", "buffer": "50 pkt", "qdisc": qdisc }),
    };
    planned(json!({
        "duration": "4 ms", "seed": 3, "warmup": "1 ms", "net": net,
        "flows": [{ "between": { "kind": "uniform-pairs" }, "count": 24, "start_jitter": "500 us" }],
        "record": { "tables": ["packets", "drops", "flow_samples", "link_samples", "windows", "rtts", "states"],
                    "interval": "250 us" },
    }))
}

#[test]
fn a_dumbbell_is_the_same_on_any_number_of_threads() {
    for (era, qdisc) in [("rfc", "red"), ("2002", "fq")] {
        let plan = hosts_on_routers(7, era, qdisc, "dumbbell", &[30, 5, 60, 40]);
        assert_same(&plan, &[2, 3, 64]);
    }
}

#[test]
fn data_centres_are_the_same_on_any_number_of_threads() {
    for kind in ["fat-tree", "leaf-spine"] {
        for qdisc in ["fifo", "red"] {
            assert_same(&data_centre(kind, qdisc), &[2, 5]);
        }
    }
}

#[test]
fn fire_hoses_of_one_host_answer_each_other_alike_on_several_threads() {
    assert_same(&bundled_campuses(1, "full-share", 2e8), &[2, 4]);
}

/// The receivers of calls record frames, their senders windows and probes.
#[test]
fn calls_over_quic_are_the_same_on_any_number_of_threads() {
    let call = json!({ "pair": 0, "transport": "quic", "cc": "c4", "stop": "1 s", "streams": [
        { "id": "audio", "priority": 2, "fps": 50, "size": "80 B", "datagrams": true },
        { "id": "video", "priority": 4, "fps": 30, "group": 30, "first": "37500 B", "size": "3750 B" },
    ] });
    let plan = planned(json!({
        "duration": "2 s", "flows": [call, { "pair": 1 }],
        "net": { "kind": "dumbbell", "pairs": 2, "rate": "5 Mbps", "rtt": "40 ms" },
        "record": { "tables": ["frames", "windows", "rtts", "states", "probe_series", "packets"] },
    }));
    assert!(!run(&plan, Threads::One).0.tables.frames.is_empty());
    assert_same(&plan, &[2, 3]);
}

#[test]
fn a_run_whose_flows_all_end_early_ends() {
    let plan = planned(json!({
        "duration": "1000 s", "net": { "kind": "parking-lot", "hops": 3, "rate": "2 Mbps", "delay": "5 ms" },
        "flows": [{ "pair": 0, "size": "20 kB" }, { "pair": 1, "size": "30 kB", "start": "500 s" }],
    }));
    assert_same(&plan, &[2, 4]);
}

#[test]
fn what_cannot_be_divided_is_run_by_one_thread_and_said() {
    let reason_for = |plan: &Plan, threads| {
        let (_, used) = run(plan, threads);
        assert_eq!(used.threads, 1);
        used.reason.unwrap()
    };
    let ns2 = hosts_on_routers(7, "ns2", "fifo", "dumbbell", &[30, 5, 60, 40]);
    assert!(reason_for(&ns2, Threads::Exactly(2)).contains("ns-2"));
    let short = hosts_on_routers(7, "rfc", "fifo", "dumbbell", &[30, 5, 60, 40]);
    assert!(reason_for(&short, Threads::Auto(8)).contains("short"));
    assert_eq!(run(&short, Threads::One).1, Used { threads: 1, reason: None });
}

/// Two routers take turns; of a ring of routers with a host each half can run at a time.
#[test]
fn auto_divides_what_has_many_parts() {
    let chosen_for = |net: &serde_json::Value, flows: &serde_json::Value, duration: &str| {
        let scenario = json!({ "net": net, "flows": flows, "duration": duration });
        let plan = compile(&serde_json::from_value(scenario).unwrap()).unwrap();
        choose(&plan, &RegistryOnly, Threads::Auto(2)).map(|division| division.threads)
    };
    let count_chosen =
        |net: &serde_json::Value, flows: &serde_json::Value| chosen_for(net, flows, "30 s");
    let net = json!({ "kind": "dumbbell", "pairs": 20, "rate": "1 Gbps", "rtt": "40 ms" });
    let reason = count_chosen(&net, &json!([{ "pair": 0, "count": 20 }])).unwrap_err().unwrap();
    assert!(reason.contains("parts that take turns"), "{reason}");
    let link = |a: String, b: String| json!({ "a": a, "b": b, "rate": 3e8, "delay": 0.01 });
    let ring = (0..8).map(|i| link(format!("r{i}"), format!("r{}", (i + 1) % 8)));
    let hosts = (0..8).map(|i| link(format!("h{i}"), format!("r{i}")));
    let net = json!({ "kind": "graph", "links": ring.chain(hosts).collect::<Vec<_>>() });
    let to_next = |i| {
        json!({ "src": format!("h{i}"), "dst": format!("h{}", (i + 1) % 8), "source":
                    { "kind": "cbr", "rate": "200 Mbps", "packet": "500 B" } })
    };
    assert_eq!(count_chosen(&net, &json!((0..8).map(to_next).collect::<Vec<_>>())), Ok(2));
    // All of a data centre is one cluster on one thread.
    let centre = |k: u32| json!({ "kind": "fat-tree", "k": k, "rate": "10 Gbps", "delay": "1 us" });
    let flows = json!([{ "between": { "kind": "uniform-pairs" }, "count": 128 }]);
    assert_eq!(chosen_for(&centre(8), &flows, "100 ms"), Ok(2));
    // A small one has less work in a delay than two threads take to wait for each other.
    let reason = chosen_for(&centre(4), &flows, "100 ms").unwrap_err().unwrap();
    assert!(reason.contains("they are 0.0010 ms apart"), "{reason}");
}

/// On a busy machine each delay between threads takes some microseconds more than on one: a star of short delays took
/// many times as long.
#[test]
fn threads_that_would_wait_more_than_work_are_one() {
    let star = |delay: &str, hosts: u32, seconds: f64| {
        planned(json!({
            "duration": seconds, "flows": [{ "pair": 0, "count": hosts - 1 }],
            "net": { "kind": "star", "hosts": hosts, "rate": "100 Mbps", "delay": delay, "buffer": "100 pkt" },
        }))
    };
    let count_chosen =
        |plan: &Plan, threads| choose(plan, &RegistryOnly, threads).map(|of| of.threads);
    let reason = |plan: &Plan| count_chosen(plan, Threads::Exactly(2)).unwrap_err().unwrap();
    let short = star("16 us", 33, 10.0);
    assert!(reason(&short).contains("wait for each other"), "{}", reason(&short));
    assert_eq!(count_chosen(&short, Threads::Always(2)), Ok(2));
    // It does not depend on how long the run is, beyond some milliseconds.
    assert!(reason(&star("16 us", 33, 1000.0)).contains("wait for each other"));
    assert!(reason(&star("1 ms", 33, 0.002)).contains("longer to start"));
    assert_eq!(count_chosen(&star("1 ms", 33, 10.0), Threads::Exactly(2)), Ok(2));
    // More threads wait longer.
    let many = star("150 us", 65, 10.0);
    assert_eq!(count_chosen(&many, Threads::Exactly(2)), Ok(2));
    assert!(reason_of(count_chosen(&many, Threads::Exactly(16))).contains("wait for each other"));
}

fn reason_of(choice: Result<usize, Option<String>>) -> String {
    choice.unwrap_err().unwrap()
}

/// Runs a divided plan after a change of what its last thread has.
fn run_changed(change: impl FnOnce(&mut Sim<Divided>)) -> Result<Option<Results>, RunError> {
    let plan = hosts_on_routers(7, "rfc", "fifo", "dumbbell", &[30, 5, 60, 40]);
    let division = choose(&plan, &RegistryOnly, Threads::Always(3)).unwrap();
    assert_eq!(division.threads, 3);
    let mut sims = build_parts(&plan, &division).unwrap();
    change(&mut sims[2].0);
    run_parts(&plan, &division, sims, &mut |_| true, &mut None)
}

#[test]
fn a_fault_or_a_failure_in_any_thread_is_that_of_the_run() {
    assert!(matches!(run_changed(|_| ()), Ok(Some(_))));
    let fault = run_changed(|sim| sim.schedule.fault = Some("a clock went back".into()));
    assert!(matches!(fault, Err(RunError::Fault(text)) if text == "a clock went back"));
    // The run of one thread reports it, in its order.
    let failed = run_changed(|sim| sim.failure = Some("no window".into()));
    assert!(matches!(failed, Ok(None)));
}

#[test]
fn fewer_threads_than_requested_are_said() {
    let links: Vec<_> = (0..2)
        .map(|i| json!({ "a": format!("a{i}"), "b": format!("b{i}"), "rate": 1e7, "delay": 0.01 }))
        .collect();
    let flows = json!([{ "src": "a0", "dst": "b0" }, { "src": "a1", "dst": "b1" }]);
    let plan = planned(
        json!({ "duration": 1, "net": { "kind": "graph", "links": links }, "flows": flows }),
    );
    let (_, used) = run(&plan, Threads::Always(64));
    assert_eq!(used.threads, 4);
    assert_eq!(used.reason.unwrap(), "the network has work for 4 threads");
}

#[test]
fn progress_stops_all_threads() {
    let plan = hosts_on_routers(7, "rfc", "fifo", "dumbbell", &[30, 5, 60, 40]);
    let plan = Plan { duration: Time(plan.duration.0 * 1000), ..plan };
    let stopped = run_on(&plan, &RegistryOnly, Threads::Always(3), &mut |_| false, None);
    assert!(matches!(stopped, Err(RunError::Interrupted)));
}

#[test]
fn pieces_of_several_threads_are_the_tables_of_one() {
    let plan = campuses(5, "rfc", "fifo", 2e8);
    let mut tables = Vec::new();
    for threads in [1, 3] {
        let (mut packets, mut windows, mut samples) = (Vec::new(), Vec::new(), Vec::new());
        let mut take = |piece: crate::packet::Piece| {
            packets.extend(piece.events.packets);
            windows.extend(piece.events.windows);
            samples.extend(piece.link_samples.rows);
            true
        };
        let pieces = Pieces { rows: 100, take: &mut take };
        let threads = Threads::Always(threads);
        run_on(&plan, &RegistryOnly, threads, &mut |_| true, Some(pieces)).unwrap();
        assert!(!packets.is_empty() && !samples.is_empty());
        tables.push((packets, windows, samples));
    }
    assert!(tables[0] == tables[1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn results_do_not_depend_on_the_number_of_threads(
        seed in 0u64..1000,
        era in prop::sample::select(vec!["rfc", "2002"]),
        qdisc in prop::sample::select(vec!["fifo", "fq", "drr", "red", "codel"]),
        speed in prop::sample::select(vec![2e8, 1e9, 5e7]),
        threads in prop::sample::select(vec![2, 3, 4, 8]),
    ) {
        let plan = campuses(seed, era, qdisc, speed);
        let (several, used) = results(&plan, threads);
        prop_assert!(used > 1);
        prop_assert!(several == results(&plan, 1).0);
    }

    #[test]
    fn results_with_impairments_do_not_depend_on_the_number_of_threads(
        seed in 0u64..1000,
        qdisc in prop::sample::select(vec!["fifo", "fq", "codel"]),
        speed in prop::sample::select(vec![2e8, 5e7]),
        impairments in prop::sample::subsequence(
            vec!["jitter", "reorder", "duplicate", "gilbert-elliott", "arq", "aggregation"],
            1..4,
        ),
        threads in 2usize..6,
    ) {
        let plan = impaired_campuses(seed, "rfc", qdisc, speed, &impairments);
        prop_assert!(results(&plan, threads).0 == results(&plan, 1).0);
    }

    #[test]
    fn results_with_stubs_do_not_depend_on_the_number_of_threads(
        seed in 0u64..1000,
        qdisc in prop::sample::select(vec!["fifo", "fq", "red", "pie"]),
        kind in prop::sample::select(vec!["dumbbell", "parking-lot"]),
        delays in prop::collection::vec(0u64..90, 4),
        threads in prop::sample::select(vec![2, 3, 5, 16]),
    ) {
        let plan = hosts_on_routers(seed, "rfc", qdisc, kind, &delays);
        prop_assert!(results(&plan, threads).0 == results(&plan, 1).0);
    }
}
