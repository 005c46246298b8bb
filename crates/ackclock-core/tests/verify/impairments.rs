//! Impairments of wires in runs: what they do to flows, and what they leave alone.

use ackclock_core::wire::DropReason;
use serde_json::{Value, json};

use crate::common::{Run, cbr, problems, run, wire};

/// 200 packets of 1000 B a second over a link of 10 Mbit/s and 10 ms.
fn datagrams(impairments: Value, seconds: u32) -> Run {
    let mut flow = cbr("a", "b", 1.6e6, 1000);
    flow["id"] = json!("cbr");
    let link = json!({"rate": "10 Mbps", "delay": "10 ms", "buffer": "100 pkt", "impairments": impairments});
    run(
        json!({"net": wire(link), "flows": [flow], "duration": seconds, "record": {"tables": ["packets", "drops"]}}),
    )
}

fn transfer(impairments: Value, more: Value) -> Run {
    let link = json!({"rate": "10 Mbps", "delay": "10 ms", "buffer": "100 pkt", "impairments": impairments});
    let mut flow = json!({"src": "a", "dst": "b", "cc": "aimd", "recovery": "sack"});
    crate::common::extend(&mut flow, more);
    run(json!({"net": wire(link), "flows": [flow], "duration": "20 s", "seed": 3}))
}

fn lost(run: &Run, reason: DropReason) -> u64 {
    run.link("a->b").drops_by_reason[reason as usize]
}

/// A jitter of constant length is a longer link: the same run but for what is under way at the end.
#[test]
fn a_constant_hold_is_a_longer_wire() {
    let hold = json!([{"kind": "jitter", "shape": "uniform", "mean": "7 ms", "spread": 0}]);
    let delayed = transfer(hold, json!({}));
    let rtt = |run: &Run| run.flow(0).sender.rtt_min_s;
    let plain = transfer(json!([]), json!({}));
    assert!(
        (rtt(&delayed) - rtt(&plain) - 0.007).abs() < 1e-9,
        "{} {}",
        rtt(&delayed),
        rtt(&plain)
    );
    assert_eq!(delayed.flow(0).sender.timeouts, plain.flow(0).sender.timeouts);
}

/// With p = 0.02, r = 0.2 and all lost in the bad state the loss ratio is 0.02 / 0.22 = 9.1 %.
#[test]
fn bursty_loss_is_counted_on_the_wire_and_its_packets_have_departed() {
    let bursts = json!([{"kind": "gilbert-elliott", "to_bad": 0.02, "to_good": 0.2}]);
    let outcome = datagrams(bursts, 100);
    let link = outcome.link("a->b");
    let wire = lost(&outcome, DropReason::Wire);
    assert_eq!((link.drops, link.departed), (wire, link.arrived));
    // Losses in bursts of 5 on average: the variance is about (2 / 0.22 - 1) times the binomial one.
    let (n, p) = (link.departed as f64, 0.02 / 0.22);
    let error = (n * p * (1.0 - p) * (2.0 / 0.22 - 1.0)).sqrt();
    assert!((wire as f64 - n * p).abs() < 5.0 * error, "{wire} of {n}");
    assert_eq!(outcome.flow(0).lost_data, wire);
    assert_eq!(outcome.results.tables.drops.len() as u64, wire);
}

#[test]
fn copies_reach_the_receiver_and_are_no_more_goodput() {
    let outcome =
        transfer(json!([{"kind": "duplicate", "probability": 0.1}]), json!({"size": "3 MB"}));
    let flow = outcome.flow(0);
    assert_eq!(flow.receiver.delivered_bytes, 3_000_000);
    // 2055 segments, five standard deviations of the binomial: 68.
    let copies = flow.receiver.duplicate_packets;
    assert!(copies.abs_diff(206) < 68, "{copies}");
    assert_eq!(flow.sender.timeouts, 0);
}

/// Three duplicate acknowledgements come when a packet is three packets late (RFC 5681 section 3.2): at
/// 10 Mbit/s and 1500 B that is 3.6 ms; 2 ms are no reason to send anything again.
#[test]
fn reordering_causes_fast_retransmits_when_it_is_deep_enough() {
    let late = |extent: &str| {
        let spec = json!([{"kind": "reorder", "probability": 0.01, "extent": extent}]);
        transfer(spec, json!({"tcp": {"receiver_window": 15}}))
    };
    let (shallow, deep) = (late("2 ms"), late("12 ms"));
    assert_eq!(shallow.flow(0).sender.retransmits, 0);
    assert!(deep.flow(0).sender.retransmits > 20, "{}", deep.flow(0).sender.retransmits);
    // Nothing was lost: what was sent again came twice.
    assert_eq!(deep.link("a->b").drops, 0);
    assert!(deep.flow(0).receiver.duplicate_packets > 20);
}

/// Of 200 packets a second, frames of 20 ms hold four.
#[test]
fn aggregated_packets_arrive_together() {
    let outcome = datagrams(json!([{"kind": "aggregation", "interval": "20 ms"}]), 10);
    assert_eq!(outcome.link("a->b").drops, 0);
    let thin = |thin_acks: bool| {
        let spec = json!([{"kind": "aggregation", "interval": "20 ms", "thin_acks": thin_acks}]);
        let link = json!({"rate": "10 Mbps", "delay": "10 ms", "buffer": "100 pkt", "back_impairments": spec});
        let flow = json!({"src": "a", "dst": "b", "cc": "aimd", "recovery": "sack"});
        run(json!({"net": wire(link), "flows": [flow], "duration": "20 s"}))
    };
    let (all, newest) = (thin(false), thin(true));
    let thinned = newest.link("b->a").drops_by_reason[DropReason::Thinned as usize];
    assert_eq!(all.link("b->a").drops, 0);
    assert_eq!(thinned, newest.flow(0).lost_acks);
    // At most one acknowledgement in 20 ms gets through: 1000 in 20 s.
    let through = newest.link("b->a").departed - thinned;
    assert!(through <= 1001, "{through}");
    assert!(newest.goodput(0) > 0.9 * all.goodput(0), "{} {}", newest.goodput(0), all.goodput(0));
}

/// After a step down, packets on the short path overtake those on the long one.
#[test]
fn a_shorter_path_overtakes() {
    let steps = json!([{"kind": "delay-steps", "steps": [
        {"at": "1 s", "extra": "30 ms"}, {"at": "2 s", "extra": "0 s"}, {"at": "3 s", "extra": "30 ms"}]}]);
    let outcome = transfer(steps, json!({"stop": "4 s"}));
    assert!(outcome.flow(0).receiver.duplicate_packets + outcome.flow(0).sender.retransmits > 0);
    assert_eq!(outcome.link("a->b").drops_by_reason[DropReason::Wire as usize], 0);
}

#[test]
fn link_layer_retransmission_turns_loss_into_delay() {
    let arq = |attempts: u32| json!([{"kind": "arq", "loss": 0.2, "attempts": attempts, "turnaround": "2 ms"}]);
    let once = transfer(arq(1), json!({}));
    let often = transfer(arq(10), json!({}));
    assert!(lost(&once, DropReason::Wire) > 20);
    // 0.2^10 of some 15000 packets.
    assert_eq!(lost(&often, DropReason::Wire), 0);
    assert!(often.goodput(0) > 5.0 * once.goodput(0));
}

#[test]
fn mistakes_name_the_list_and_the_parameter() {
    let of = |impairments: Value, delay: &str| {
        let link = json!({"rate": "10 Mbps", "delay": delay, "impairments": impairments});
        let flow = json!({"src": "a", "dst": "b"});
        let mistakes = problems(&json!({"net": wire(link), "flows": [flow], "duration": 1}));
        mistakes.into_iter().map(|(path, message)| format!("{path}: {message}")).collect::<Vec<_>>()
    };
    let sentences = of(json!(["jiter"]), "1 ms");
    assert!(
        sentences[0].contains("impairments[0]") && sentences[0].contains("\"jitter\""),
        "{sentences:?}"
    );
    let sentences = of(json!([{"kind": "duplicate", "probability": 2}]), "1 ms");
    assert!(
        sentences[0].contains("impairments[0]") && sentences[0].contains("probability"),
        "{sentences:?}"
    );
    let sentences = of(json!(["jitter"]), "0 s");
    assert!(sentences[0].contains("delay of more than 0 s"), "{sentences:?}");
}
