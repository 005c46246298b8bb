//! Flows over QUIC beside flows over TCP, through the whole engine.

use serde_json::{Value, json};

use crate::common::{Run, extend, problems, run, wire};

/// One flow for 40 s over 10 Mbit/s and a round trip of 40 ms, with a buffer of one BDP.
fn alone(flow: Value, more: Value) -> Run {
    let mut all = json!({"src": "a", "dst": "b", "cc": "aimd"});
    extend(&mut all, flow);
    let mut scenario = json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "20 ms", "buffer": "1 bdp"})),
        "flows": [all], "duration": 40, "warmup": 10,
    });
    extend(&mut scenario, more);
    run(scenario)
}

#[test]
fn on_a_clean_path_quic_and_tcp_have_the_same_goodput() {
    // A buffer of one BDP keeps the link busy over a halving. Both send 1228 B for 1161 B of data, so a full link
    // carries 10 Mbit/s x 1161 / 1228 = 9.4544 Mbit/s of it. Half of 82 segments, path and buffer together, is just
    // the path: a link that waits for a packet or two in each of 17 halvings loses some 0.1 %, what is dropped in
    // them 0.1 %: 1 % for both.
    let tcp = alone(
        json!({"transport": "tcp", "tcp": {"mss": 1161, "header": 67}, "recovery": "sack"}),
        json!({}),
    );
    let quic = alone(json!({"transport": "quic"}), json!({}));
    let full = 10e6 * 1161.0 / 1228.0;
    for outcome in [&tcp, &quic] {
        println!("{:.4e} bit/s, {:?}", outcome.goodput(0), outcome.flow(0).sender);
        assert!((outcome.goodput(0) / full - 1.0).abs() < 0.01, "{}", outcome.goodput(0));
    }
    assert!((quic.goodput(0) / tcp.goodput(0) - 1.0).abs() < 0.005);
    // One loss a cycle of AIMD is one packet sent again, and no probe.
    let sender = &quic.flow(0).sender;
    assert_eq!((sender.timeouts, sender.retransmits > 0), (0, true));
    assert!(sender.retransmits <= quic.link("a->b").drops);
}

#[test]
fn a_flow_over_quic_and_one_over_tcp_share_a_link() {
    // The same control, packet size and round trip: one share is at most twice the other over 60 s.
    let flow = |more: Value| {
        let mut all = json!({"src": "a", "dst": "b", "cc": "aimd"});
        extend(&mut all, more);
        all
    };
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "20 ms", "buffer": "1 bdp"})),
        "flows": [
            flow(json!({"transport": "quic"})),
            flow(json!({"tcp": {"mss": 1161, "header": 67}, "start": "0.3 s"})),
        ],
        "duration": 120, "warmup": 20,
    }));
    let (quic, tcp) = (outcome.goodput(0), outcome.goodput(1));
    println!("quic {quic:.3e}, tcp {tcp:.3e} bit/s");
    assert!(quic < 2.0 * tcp && tcp < 2.0 * quic);
    assert!(quic + tcp > 0.97 * 10e6 * 1161.0 / 1228.0);
}

#[test]
fn in_era_quic_flows_are_carried_by_quic_and_an_era_without_it_refuses_it() {
    let era = alone(json!({}), json!({"era": "quic"}));
    let explicit = alone(json!({"transport": "quic"}), json!({}));
    assert_eq!(era.plan.era_name, "quic");
    assert_eq!(era.results.digest, explicit.results.digest);
    let tcp = alone(json!({"transport": "tcp"}), json!({"era": "quic"}));
    let rfc = alone(json!({}), json!({}));
    assert_eq!(tcp.results.digest, rfc.results.digest);
}

#[test]
fn a_transfer_of_one_round_trip_completes_in_two() {
    // A request and its answer, 1228 B each at 10 Mbit/s (0.9824 ms), then ten packets back to back and an ACK of
    // 67 B: 40 + 2 x 0.9824 ms, then 40 + 10 x 0.9824 + 0.0536 ms. The tenth packet is the second of a pair.
    let outcome = alone(json!({"transport": "quic", "size": 11_610}), json!({}));
    let completed_s = outcome.flow(0).sender.completed_s;
    assert!((completed_s - 0.091_842_4).abs() < 1e-6, "{completed_s}");
}

#[test]
fn what_a_flow_over_quic_cannot_have_is_refused_in_one_sentence() {
    let with = |flow: Value, more: Value| {
        let mut all = json!({"src": "a", "dst": "b"});
        extend(&mut all, flow);
        let mut scenario = json!({"net": wire(json!({"rate": "1 Mbps", "delay": "10 ms"})), "flows": [all], "duration": 1});
        extend(&mut scenario, more);
        problems(&scenario)
    };
    let only_mistake = |flow: Value, more: Value| {
        let mistakes = with(flow, more);
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        format!("{}: {}", mistakes[0].0, mistakes[0].1)
    };
    let none = || json!({});
    let quic = |mut more: Value| {
        extend(&mut more, json!({"transport": "quic"}));
        more
    };
    assert_eq!(
        only_mistake(quic(json!({"recovery": "sack"})), none()),
        "flows[0].recovery: has no meaning in a flow over QUIC, whose loss recovery is that of RFC 9002; expected none"
    );
    assert_eq!(
        only_mistake(quic(json!({"tcp": {"mss": 1000}})), none()),
        "flows[0].tcp: has no meaning in a flow over QUIC; expected its settings in quic"
    );
    assert_eq!(
        only_mistake(json!({"quic": {"ecn": true}}), none()),
        "flows[0].quic: has no meaning in a flow over TCP; expected transport = \"quic\" beside it"
    );
    assert_eq!(
        only_mistake(quic(none()), json!({"era": "ns2"})),
        "flows[0].transport: is \"quic\" in era ns2; expected era quic or rfc"
    );
    assert_eq!(
        only_mistake(quic(json!({"quic": {"max_datagram": 1000}})), none()),
        "flows[0].quic.max_datagram: 1000 is out of range; expected from 1200 to 65000 (B)"
    );
    assert_eq!(
        only_mistake(quic(none()), json!({"quic": {"time_threshold": 0.5}})),
        "quic.time_threshold: 0.5 is out of range; expected from 1 to 1000 (round trips)"
    );
    assert_eq!(
        only_mistake(quic(json!({"cc": "dctcp"})), none()),
        "flows[0].quic.ecn: dctcp needs counts of ECN marks, expected ecn = true"
    );
}
