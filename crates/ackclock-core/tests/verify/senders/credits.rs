//! Credits of receivers: who sends when, what a loss of grants does, and where they are refused.

use ackclock_core::packet::Event;
use ackclock_core::wire::Flags;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Run, check_threads, extend, problems, run};

/// Senders at one switch, and one receiver behind it: 10 Gbit/s, a round trip of 20 us and three packets.
fn incast(sizes_kb: &[u32], credits: Value, extra: Value) -> Value {
    let senders = sizes_kb.len();
    let flow = |i: usize| {
        json!({"src": format!("h{i}"), "dst": format!("h{senders}"), "size": format!("{} kB", sizes_kb[i]),
            "credits": credits, "recovery": {"kind": "rack", "tlp": false, "reo_wnd": "1 ms"}})
    };
    let mut case = json!({
        "net": {"kind": "star", "hosts": senders + 1, "rate": "10 Gbps", "delay": "5 us", "buffer": "2000 pkt"},
        "tcp": {"min_rto": "2 ms", "syn": false, "delayed_ack": 1},
        "flows": (0..senders).map(flow).collect::<Vec<_>>(), "duration": "40 ms",
    });
    extend(&mut case, extra);
    case
}

fn completions(outcome: &Run) -> Vec<f64> {
    let flows = 0..outcome.plan.flows.len();
    flows.map(|flow| outcome.flow(flow).sender.completed_s * 1e6).collect()
}

/// Of eight senders what leaves unheard waits at the receiver's port; from then on credit comes at 99 % of its rate, and the queue
/// falls by the rest. All are served in turn, so they end together.
#[test]
fn an_incast_waits_once_and_its_queue_falls_by_one_in_a_hundred() {
    let outcome = run(incast(&[500; 8], json!("rccc"), json!({"record": {"tables": ["packets"]}})));
    let port = outcome.link_id("r->h8");
    // Packets that wait, at most, and at some times.
    let (mut queue, mut longest, mut later) = (0_i64, 0, vec![(1000.0, 0), (3000.0, 0)]);
    for row in outcome.results.tables.packets.iter().filter(|row| row.link == port) {
        match row.event {
            Event::Arrival => queue += 1,
            Event::Departure => queue -= 1,
            _ => {}
        }
        longest = longest.max(queue);
        for (time_us, waiting) in &mut later {
            if row.at.seconds() * 1e6 <= *time_us {
                *waiting = queue;
            }
        }
    }
    // 1.5 times what the path holds, 16 packets and three, are 29 of each at the start.
    assert!((150..240).contains(&longest), "{longest}");
    // In 2 ms 1667 packets leave and 1650 come.
    let drained = later[0].1 - later[1].1;
    assert!(later[0].1 <= longest && (12..=22).contains(&drained), "{later:?}");
    let ends = completions(&outcome);
    let (first, last) =
        (ends.iter().copied().fold(f64::MAX, f64::min), ends.iter().copied().fold(0.0, f64::max));
    // 8 times 343 packets of 1500 B at 10 Gbit/s take 3293 us.
    assert!((3293.0..1.03 * 3293.0).contains(&last), "{last}");
    assert!(first > 0.95 * last, "{first} and {last}");
}

/// Homa serves the message with the least left: each ends about when those that are not longer would all be through the port.
#[test]
fn homa_ends_short_messages_first() {
    let sizes = [100, 200, 300, 400, 500];
    let rule = json!({"kind": "homa", "overcommitment": 1});
    let ends = completions(&run(incast(&sizes, rule, json!({}))));
    let packet_us = 1500.0 * 8.0 / 10e9 * 1e6;
    let mut before = 0.0;
    for (size, end) in sizes.iter().zip(&ends) {
        let own = (f64::from(*size) * 1000.0 / 1460.0).ceil() * packet_us;
        before += own;
        // What the longer ones send unheard, 19 packets each, comes between.
        let between = 4.0 * 19.0 * packet_us;
        assert!((before..before + between + 30.0).contains(end), "{size} kB: {end}, {before}");
    }
    // In turn, they would be through at about the same time: 1500 kB take 1233 us.
    let in_turn = completions(&run(incast(&sizes, json!("rccc"), json!({}))));
    assert!(in_turn[0] > 2.0 * ends[0], "{in_turn:?} and {ends:?}");
}

/// A grant only gives credit: acknowledgements are what they are without.
#[test]
fn grants_travel_beside_acknowledgements() {
    let outcome = run(incast(&[300], json!("rccc"), json!({"record": {"tables": ["packets"]}})));
    let back = outcome.link_id("h1->r");
    let sent = |is_grant: bool| {
        let rows = outcome.results.tables.packets.iter();
        rows.filter(|row| row.link == back && row.event == Event::Arrival)
            .filter(|row| Flags(row.flags).has(Flags::GRANT) == is_grant)
            .count() as u64
    };
    // 206 packets, each acknowledged.
    assert_eq!(sent(false), 206);
    assert!(sent(true) > 300 / 16, "{}", sent(true));
    assert_eq!(outcome.flow(0).receiver.acks_sent, sent(false) + sent(true));
}

#[test]
fn what_no_receiver_of_tcp_gives_is_refused() {
    let flow = |more: Value| {
        let mut case = incast(&[100], json!("rccc"), json!({}));
        extend(&mut case["flows"][0], more);
        problems(&case)
    };
    let first = |found: Vec<(String, String)>| found.into_iter().next().unwrap_or_default();
    let (key, message) = first(flow(json!({"transport": "quic"})));
    assert!(
        key == "flows[0].credits" && message.contains("transport = \"tcp\""),
        "{key} {message}"
    );
    let (key, message) = first(flow(json!({"credits": null, "cc": "none"})));
    assert!(
        key == "flows[0].cc" && message.contains("expected credits beside it"),
        "{key} {message}"
    );
    let (key, _) = first(flow(json!({"tcp": {"optimistic_acks": 3}})));
    assert_eq!(key, "flows[0].tcp.optimistic_acks");
    let (key, message) = first(flow(json!({"credits": "rcc"})));
    assert!(key == "flows[0].credits" && message.contains("rccc"), "{key} {message}");
    let mut case = incast(&[100], json!("rccc"), json!({"era": "2002"}));
    case["flows"][0].as_object_mut().unwrap().remove("recovery");
    assert!(
        problems(&case).iter().any(|(key, _)| key == "flows[0].credits"),
        "{:?}",
        problems(&case)
    );
}

prop_compose! {
    fn lossy()(
        sizes in prop::collection::vec(1u32..200, 1..6), rule in prop::sample::select(vec!["rccc", "homa"]),
        cc in prop::sample::select(vec!["none", "nscc", "cubic", "dctcp", "bbr3"]),
        loss in prop::sample::select(vec![0.0, 0.01, 0.1]), buffer in 4u32..60, trims in any::<bool>(), seed in any::<u32>(),
    ) -> Value {
        let qdisc = if trims { json!({"kind": "trim"}) } else { json!("fifo") };
        let mut case = incast(&sizes, json!(rule), json!({"seed": seed, "duration": "1 s", "links": [{"link": "*", "loss": loss}],
            "tcp": {"min_rto": "2 ms", "max_rto": "50 ms", "initial_rto": "20 ms", "syn": false, "delayed_ack": 1, "trimming": trims, "ecn": true,
                "accecn": true}}));
        extend(&mut case["net"], json!({"buffer": format!("{buffer} pkt"), "qdisc": qdisc}));
        for flow in case["flows"].as_array_mut().unwrap() {
            flow["cc"] = json!(cc);
        }
        case
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, rng_seed: crate::common::seed(), max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// Whatever is lost, data, answers and grants, no flow waits for ever for credit that is not on its way.
    #[test]
    fn a_lost_grant_ends_no_transfer(case in lossy()) {
        let found = problems(&case);
        prop_assert!(found.is_empty(), "{found:?}");
        let outcome = run(case);
        for flow in 0..outcome.plan.flows.len() {
            let result = outcome.flow(flow);
            prop_assert!(result.sender.completed_s > 0.0, "{:?}", result.sender);
            prop_assert_eq!(result.receiver.delivered_bytes, outcome.plan.flows[flow].size.unwrap().0);
        }
        check_threads(&outcome);
    }
}
