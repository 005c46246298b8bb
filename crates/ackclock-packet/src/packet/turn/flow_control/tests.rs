//! Priority flow control and shared memories in whole runs.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::compile::{Plan, compile};
use crate::packet::{RegistryOnly, Results, Threads, run, run_on};

fn planned(scenario: &Value) -> Plan {
    compile(&serde_json::from_value(scenario.clone()).unwrap()).unwrap()
}

fn run_of(scenario: &Value) -> (Plan, Results) {
    let plan = planned(scenario);
    let results = run(&plan, &mut |_| true).unwrap();
    (plan, results)
}

fn cbr(src: &str, dst: &str, rate: &str, packet: u32) -> Value {
    json!({ "src": src, "dst": dst, "source": { "kind": "cbr", "rate": rate, "packet": packet } })
}

/// Two senders, each at the rate of its link, to one receiver of a switch.
fn two_to_one(packet: u32, delay: &str, switches: &Value) -> Value {
    json!({
        "duration": "2 ms", "switches": switches,
        "net": { "kind": "star", "hosts": 3, "rate": "10 Gbps", "delay": delay, "buffer": "unlimited" },
        "flows": [cbr("h0", "h2", "10 Gbps", packet), cbr("h1", "h2", "10 Gbps", packet)],
    })
}

fn link_of(plan: &Plan, name: &str) -> usize {
    plan.link(name).unwrap().index()
}

/// A sender at the rate of its link, to a receiver so slow that next to nothing leaves the switch before the pause takes
/// effect: what arrives until then is rate (2 delay + response + (MTU + 64 B) / rate) + 2 MTU at most, of which less than
/// three packets are not used, as nothing delays the pause frame here and packets are whole.
#[test]
fn a_lossless_class_loses_nothing_and_needs_the_headroom_of_the_closed_form() {
    for (packet, delay, delay_s, response) in [
        (1500, "1 us", 1e-6, 0.0),
        (1000, "5 us", 5e-6, 2e-6),
        (300, "700 ns", 700e-9, 0.0),
        (4000, "20 us", 20e-6, 0.0),
    ] {
        let link =
            |a: &str, b: &str, rate: &str| json!({ "a": a, "b": b, "rate": rate, "delay": delay });
        let (plan, results) = run_of(&json!({
            "duration": "1 ms", "switches": { "pfc": { "xoff": 100_000, "response": response } },
            "net": { "kind": "graph", "links": [link("a", "s", "10 Gbps"), link("s", "b", "10 Mbps")] },
            "flows": [cbr("a", "b", "10 Gbps", packet)],
        }));
        assert_eq!(results.links.iter().map(|l| l.drops).sum::<u64>(), 0);
        let expected = 10e9 / 8.0 * (2.0 * delay_s + response) + 64.0 + 3.0 * f64::from(packet);
        let link_result = &results.pfc[link_of(&plan, "a->s")];
        assert!(
            (link_result.headroom as f64 - expected).abs() <= 1.0,
            "{link_result:?}, expected {expected}"
        );
        assert_eq!((link_result.pauses, link_result.frames, link_result.drops), (1, 1, 0));
        assert!(link_result.most_headroom <= link_result.headroom, "{link_result:?}");
        assert!(
            link_result.most_headroom + 3 * u64::from(packet) > link_result.headroom,
            "{link_result:?}"
        );
    }
}

/// Two bursts of 20 packets fill a queue above X-OFF and leave it within the 100 us that a frame takes to have effect: each pause
/// ends when the frame after it does, as long after it as both were apart, and nothing waits for ever.
#[test]
fn frames_that_are_under_way_together_have_their_effects_in_their_order() {
    let link =
        |a: &str, b: &str, rate: &str| json!({ "a": a, "b": b, "rate": rate, "delay": "1 us" });
    let burst = |start: &str, stop: &str| {
        let mut flow = cbr("a", "b", "10 Gbps", 1000);
        (flow["start"], flow["stop"]) = (json!(start), json!(stop));
        flow
    };
    let (plan, results) = run_of(&json!({
        "duration": "1 ms", "switches": { "pfc": { "xoff": 5000, "response": "100 us" } },
        "net": { "kind": "graph", "links": [link("a", "s", "10 Gbps"), link("s", "b", "5 Gbps")] },
        "flows": [burst("0 us", "16 us"), burst("300 us", "316 us")],
    }));
    let from_a = link_of(&plan, "a->s");
    assert_eq!(results.links[from_a].departed, 40);
    let paused = &results.pfc[from_a];
    assert_eq!((paused.pauses, paused.frames), (2, 4));
    // X-OFF is passed by the 11th packet, of which half have left; X-ON, 3000 B, is reached when 17 of 20 have.
    assert!((15e-6..20e-6).contains(&(paused.paused_s / 2.0)), "{paused:?}");
}

/// Two senders share one link: each is paused half of the time, but for the first fill.
#[test]
fn two_senders_to_one_link_are_each_paused_half_of_the_time() {
    for (packet, delay) in [(1500, "1 us"), (1000, "5 us"), (4000, "20 us")] {
        let switches = json!({ "pfc": { "xoff": 100_000 } });
        let (plan, results) = run_of(&two_to_one(packet, delay, &switches));
        assert_eq!(results.links.iter().map(|l| l.drops).sum::<u64>(), 0);
        for name in ["h0->r", "h1->r"] {
            let link_result = &results.pfc[link_of(&plan, name)];
            assert!(
                link_result.pauses > 1 && link_result.frames >= 2 * link_result.pauses - 1,
                "{link_result:?}"
            );
            assert!(link_result.most_headroom <= link_result.headroom, "{link_result:?}");
            assert!((0.8e-3..1.02e-3).contains(&link_result.paused_s), "{link_result:?}");
        }
        let out = &results.links[link_of(&plan, "r->h2")];
        assert!(out.utilisation > 0.97, "{out:?}");
    }
}

#[test]
fn too_little_headroom_loses_packets_and_is_no_fault() {
    let switches = json!({ "pfc": { "xoff": 30_000, "headroom": 3000 } });
    let (plan, results) = run_of(&two_to_one(1500, "5 us", &switches));
    let link_result = &results.pfc[link_of(&plan, "h0->r")];
    assert!(link_result.drops > 0 && link_result.most_headroom == 3000, "{link_result:?}");
    assert_eq!(
        results.links[link_of(&plan, "r->h2")].drops,
        results.pfc.iter().map(|l| l.drops).sum::<u64>()
    );
}

/// Choudhury & Hahne 1998: one overloaded queue holds alpha B / (1 + alpha).
#[test]
fn an_overloaded_port_gets_its_share_of_the_memory() {
    for (alpha, share) in [(1.0, 0.5), (4.0, 0.8), (0.25, 0.2)] {
        let switches = json!({ "memory": 100_000, "alpha": alpha });
        let (plan, results) = run_of(&two_to_one(1000, "1 us", &switches));
        let out = &results.links[link_of(&plan, "r->h2")];
        assert!(out.drops > 0);
        let waiting = out.waiting as f64 * 1000.0;
        assert!((waiting - share * 100_000.0).abs() <= 2000.0, "{waiting} of {share}");
    }
}

/// Two flows over one link between switches: one to a receiver that two others overload, one to an idle receiver. With
/// PFC the second waits behind the first.
#[test]
fn a_pause_blocks_an_innocent_flow() {
    let scenario = |switches: Value| {
        let link = |a: &str, b: &str| json!({ "a": a, "b": b, "rate": "10 Gbps", "delay": "1 us", "buffer": "100 pkt" });
        json!({
            "duration": "5 ms", "warmup": "1 ms", "switches": switches,
            "net": { "kind": "graph", "links": [
                link("a", "s"), link("v", "s"), link("s", "t"), link("b", "t"), link("c", "t"), link("t", "x"), link("t", "y"),
            ] },
            "flows": [cbr("a", "x", "5 Gbps", 1000), cbr("v", "y", "5 Gbps", 1000),
                      cbr("b", "x", "10 Gbps", 1000), cbr("c", "x", "10 Gbps", 1000)],
        })
    };
    let goodput = |results: &Results, f: usize| {
        results.flows[f].window_bytes() as f64 * 8.0 / results.window_s / 1e9
    };
    let (_, lossy) = run_of(&scenario(json!({ "memory": 400_000 })));
    assert!(goodput(&lossy, 1) > 4.9, "{}", goodput(&lossy, 1));
    let (plan, lossless) = run_of(&scenario(json!({ "memory": 400_000, "pfc": {} })));
    assert_eq!(lossless.links.iter().map(|l| l.drops).sum::<u64>(), 0);
    // x shares its link among three that come in: a gets a third of 10 Gbit/s, and v as much, as the two alternate.
    assert!((goodput(&lossless, 1) - 10.0 / 3.0).abs() < 0.2, "{}", goodput(&lossless, 1));
    let link_result = &lossless.pfc[link_of(&plan, "s->t")];
    assert!(link_result.paused_s > 1e-3, "{link_result:?}");
}

/// The same with a class for the innocent flow: only the other one is paused.
#[test]
fn a_pause_of_one_class_lets_the_other_pass() {
    let classes = json!({ "kind": "priority", "classes": [
        { "name": "bulk", "takes": { "dst": ["x"] } }, { "name": "others" } ] });
    let link = |a: &str, b: &str| json!({ "a": a, "b": b, "rate": "10 Gbps", "delay": "1 us", "qdisc": classes.clone() });
    let scenario = json!({
        "duration": "5 ms", "warmup": "1 ms",
        "switches": { "memory": 400_000, "pfc": { "lossless": ["bulk"] } },
        "net": { "kind": "graph", "links": [
            link("a", "s"), link("v", "s"), link("s", "t"), link("b", "t"), link("c", "t"), link("t", "x"), link("t", "y"),
        ] },
        "flows": [cbr("a", "x", "5 Gbps", 1000), cbr("v", "y", "5 Gbps", 1000),
                  cbr("b", "x", "10 Gbps", 1000), cbr("c", "x", "10 Gbps", 1000)],
    });
    let (plan, results) = run_of(&scenario);
    assert!(results.flows[1].window_bytes() as f64 * 8.0 / results.window_s > 4.9e9);
    assert!(results.pfc[link_of(&plan, "s->t")].paused_s > 1e-3);
    assert_eq!(results.links.iter().map(|l| l.drops).sum::<u64>(), 0);
}

/// Five switches in a ring, from each a flow over the next two links: what waits at each switch waits for the next one.
fn ring(rate: &str) -> Value {
    let flow = |i: usize| cbr(&format!("h{i}"), &format!("h{}", (i + 2) % 5), rate, 1000);
    json!({
        "duration": "5 ms", "switches": { "pfc": { "xoff": 20_000 } },
        "net": { "kind": "ring", "routers": 5, "span": 2, "rate": "10 Gbps", "delay": "1 us" },
        "flows": (0..5).map(flow).collect::<Vec<_>>(),
    })
}

#[test]
fn a_circle_of_full_buffers_is_a_deadlock_and_reported() {
    let (_, results) = run_of(&ring("20 Gbps"));
    let warning = results.warnings.iter().find(|w| w.starts_with("deadlock")).unwrap();
    for i in 0..5 {
        assert!(warning.contains(&format!("r{i}->r{}", (i + 1) % 5)), "{warning}");
    }
    // Below the capacity of the ring nobody is paused.
    let (_, results) = run_of(&ring("4 Gbps"));
    assert_eq!(results.warnings, Vec::<String>::new());
    assert_eq!(results.pfc.iter().map(|l| l.frames).sum::<u64>(), 0);
}

/// A data centre with pauses.
fn data_centre(delay: &str, switches: &Value, seed: u64, qdisc: &str) -> Plan {
    let flow = |i: u64| {
        json!({ "src": format!("h{i}"), "dst": if i.is_multiple_of(3) { "h0" } else { "h9" }, "start": format!("{} us", (seed + i) % 7),
                "size": "200 kB", "cc": "reno" })
    };
    planned(&json!({
        "duration": "600 us", "seed": seed, "switches": switches,
        "net": { "kind": "fat-tree", "k": 4, "rate": "10 Gbps", "delay": delay, "qdisc": qdisc },
        "flows": (1..16).filter(|i| *i != 9).map(flow).collect::<Vec<_>>(),
        "tcp": { "initial_window": 100 },
        "record": { "tables": ["packets", "drops", "link_samples"], "interval": "250 us" },
    }))
}

fn described(mut results: Results) -> String {
    results.activations = 0;
    format!("{results:?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]
    /// One cluster, processes with lookahead, two and more threads.
    #[test]
    fn runs_with_pauses_are_the_same_on_any_number_of_threads(
        delay in prop_oneof![Just("5 us"), Just("20 us")],
        seed in 0u64..1000,
        xoff in prop::option::of(5_000u64..60_000),
        response in prop_oneof![Just("0 s"), Just("300 ns")],
    ) {
        let pfc = match xoff {
            Some(xoff) => json!({ "xoff": xoff, "response": response }),
            None => json!({ "response": response }),
        };
        let plan = data_centre(delay, &json!({ "memory": "2 MB", "alpha": 0.02, "pfc": pfc }), seed, "fifo");
        let on = |threads| run_on(&plan, &RegistryOnly, threads, &mut |_| true, None).unwrap();
        let (one, _) = on(Threads::One);
        prop_assert!(one.pfc.iter().map(|link| link.pauses).sum::<u64>() > 0);
        prop_assert_eq!(one.links.iter().map(|link| link.drops).sum::<u64>(), 0);
        let one = described(one);
        for threads in [2, 3] {
            let (several, used) = on(Threads::Always(threads));
            prop_assert!(used.threads > 1);
            prop_assert!(described(several) == one, "{} threads differ", used.threads);
        }
    }
}

/// The partition decides nothing.
#[test]
fn a_cluster_and_single_processes_give_the_same() {
    use crate::packet::{Tactics, run_by};
    let plan =
        data_centre("50 ns", &json!({ "memory": "2 MB", "alpha": 0.1, "pfc": {} }), 3, "fifo");
    let by = |clusters| {
        let tactics = Tactics { clusters, stubs: true, prefetch: false };
        described(run_by(&plan, &RegistryOnly, tactics).unwrap())
    };
    assert!(by(true) == by(false));
}

#[test]
fn each_wrong_value_gets_one_sentence() {
    let messages_of = |switches: Value| -> Vec<String> {
        let scenario = serde_json::from_value(two_to_one(1000, "1 us", &switches)).unwrap();
        let problems = match compile(&scenario) {
            Ok(plan) => crate::packet::check(&plan, &RegistryOnly),
            Err(problems) => problems,
        };
        problems.iter().map(ToString::to_string).collect()
    };
    for (switches, expected) in [
        (json!({}), "switches: sets nothing, expected memory, pfc or both"),
        (
            json!({ "pfc": {} }),
            "switches.pfc.xoff: is missing, expected it where switches.memory is left out",
        ),
        (
            json!({ "pfc": { "xoff": 5000, "xon": 6000 } }),
            "switches.pfc.xon: is 6000 B, expected at most X-OFF, 5000 B",
        ),
        (
            json!({ "memory": 100_000, "pfc": { "xon": 1 } }),
            "switches.pfc.xon: has no X-OFF beside it, expected switches.pfc.xoff",
        ),
        (
            json!({ "pfc": { "xoff": 1000 }, "alpha": 1 }),
            "switches.alpha: is a share of a memory, expected switches.memory",
        ),
        (
            json!({ "pfc": { "xoff": 1000, "lossless": ["a"] } }),
            "switches.pfc.lossless: leaves classes without a limit, expected switches.memory",
        ),
        (
            json!({ "memory": 5000, "pfc": {} }),
            "switches.memory: is 5000 B, expected more than 16692 B, the headroom of the 3 links to switch r (1 lossless of 1 classes)",
        ),
        (
            json!({ "memory": 500_000, "pfc": { "lossless": ["gold"] } }),
            "switches.pfc.lossless[0]: is \"gold\", but the discipline of link r->h0 has no classes that can be paused one by one",
        ),
    ] {
        assert_eq!(messages_of(switches), [expected]);
    }
}
