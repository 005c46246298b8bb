//! The typical packet of a link is the largest of what crosses it, whatever sends it: what buffers must hold
//! and queue disciplines go by.

use serde_json::{Value, json};

use crate::common::{extend, problems, run, wire};

/// A flow over a wire of 1 Mbit/s; `more` is said of the scenario.
fn scenario(flow: &Value, link: Value, more: Value) -> Value {
    let mut wire_of = json!({"rate": "1 Mbps", "delay": "5 ms", "buffer": "unlimited"});
    extend(&mut wire_of, link);
    let mut flow = flow.clone();
    extend(&mut flow, json!({"src": "a", "dst": "b"}));
    let mut all = json!({"net": wire(wire_of), "flows": [flow], "duration": "3 s"});
    extend(&mut all, more);
    all
}

/// Every kind of sender, its era, and the largest packets that it and its other end send, by hand.
fn senders() -> Vec<(Value, &'static str, [u32; 2])> {
    let source = |source: Value| json!({"source": source});
    vec![
        (source(json!({"kind": "cbr", "rate": "32 kbps", "packet": "160 B"})), "rfc", [160, 0]),
        (source(json!({"kind": "cbr", "rate": "90 kbps", "packet": "9000 B"})), "ns2", [9000, 0]),
        (source(json!({"kind": "exponential-on-off", "rate": "64 kbps"})), "rfc", [210, 0]),
        (
            source(json!({"kind": "pareto-on-off", "rate": "64 kbps", "packet": "77 B"})),
            "rfc",
            [77, 0],
        ),
        (
            source(json!({"kind": "trace", "packet": 300, "packets": [[0.1, 20], [0.2, 250]]})),
            "rfc",
            [250, 0],
        ),
        (
            source(json!({"kind": "trace", "packet": 300, "packets": [[0.1, 20], [0.2, 301]]})),
            "rfc",
            [300, 0],
        ),
        (source(json!({"kind": "tfrc", "packet": "1200 B"})), "rfc", [1200, 40]),
        (source(json!({"kind": "packet-pair", "packet": "700 B"})), "rfc", [700, 40]),
        (source(json!({"kind": "fire-hose", "packet": "800 B"})), "rfc", [800, 40]),
        (
            source(
                json!({"kind": "coded", "source": {"kind": "cbr", "rate": "32 kbps", "packet": "99 B"}}),
            ),
            "rfc",
            [99, 0],
        ),
        (json!({}), "rfc", [1500, 40]),
        (json!({"size": "100 B"}), "rfc", [140, 40]),
        (json!({"tcp": {"timestamps": true}}), "rfc", [1512, 52]),
        (json!({}), "linux", [1500, 52]),
        (json!({"tcp": {"timestamps": true}}), "ns2", [1000, 40]),
        (json!({"transport": "quic"}), "rfc", [1228, 1228]),
    ]
}

#[test]
fn the_typical_packet_of_a_link_is_the_largest_that_crosses_it() {
    for (flow, era, by_hand) in senders() {
        let outcome =
            run(scenario(&flow, json!({}), json!({"era": era, "record": {"tables": ["packets"]}})));
        for (i, name) in ["a->b", "b->a"].into_iter().enumerate() {
            let typical = outcome.plan.links[outcome.link_id(name) as usize].mean_packet;
            let largest = outcome.packets(name).map(|row| u32::from(row.size)).max();
            assert_eq!(typical, largest.unwrap_or(1500), "{flow} {era} {name}");
            if by_hand[i] > 0 {
                assert_eq!(typical, by_hand[i], "{flow} {era} {name}");
            }
        }
    }
}

#[test]
fn a_buffer_of_one_packet_passes_and_one_of_a_byte_less_is_refused() {
    for (flow, era, [size, _]) in senders() {
        let of = |bytes: u32| {
            let buffer = json!({"buffer": format!("{bytes} B"), "back_buffer": "unlimited"});
            scenario(&flow, buffer, json!({"era": era}))
        };
        // ns-2's drop-tail never quite fills a buffer of bytes.
        let least = if era == "ns2" { size + 1 } else { size };
        assert_eq!(problems(&of(least)), [], "{flow} {era}");
        let outcome = run(of(least));
        assert!(outcome.flow(0).receiver.received_packets > 0, "{flow} {era}");
        let refused = problems(&of(least - 1));
        let [(path, message)] = &refused[..] else { panic!("{flow} {era}: {refused:?}") };
        assert_eq!(path, "net.links[0].buffer");
        let needs =
            if era == "ns2" { format!("at least {least} B") } else { format!("({size} B)") };
        assert!(message.contains(&needs), "{message}");
    }
}

#[test]
fn a_buffer_of_one_packet_holds_none_in_ns2s_drop_tail() {
    let of = |buffer: &str, qdisc: &str| {
        let link = json!({"buffer": buffer, "qdisc": qdisc, "back_buffer": "unlimited"});
        scenario(&json!({}), link, json!({"era": "ns2"}))
    };
    let refused = problems(&of("1 pkt", "fifo"));
    assert_eq!(refused.len(), 1);
    assert!(refused[0].1.contains("expected at least 2 packets"), "{refused:?}");
    // What is given by time holds one packet whatever it comes to.
    for buffer in ["2 pkt", "1 us"] {
        assert_eq!(problems(&of(buffer, "fifo")), []);
        assert!(run(of(buffer, "fifo")).flow(0).receiver.received_packets > 100, "{buffer}");
    }
}

#[test]
fn parameters_left_out_are_those_of_the_packets_that_cross() {
    let voice = json!({"count": 4, "source": {"kind": "exponential-on-off", "rate": "40 kbps", "packet": 160}});
    for (kind, key, more) in [
        ("codel", "mtu", json!({})),
        ("pie", "mean_packet", json!({})),
        ("red", "mean_packet", json!({"min_th": 5, "max_th": 15})),
        ("drr", "quantum", json!({})),
        ("wrr", "quantum", json!({})),
    ] {
        let digest = |value: Option<u32>| {
            let mut qdisc = json!({"kind": kind});
            extend(&mut qdisc, more.clone());
            if let Some(value) = value {
                extend(&mut qdisc, json!({key: value}));
            }
            let link = json!({"rate": "64 kbps", "buffer": "20 kB", "qdisc": qdisc});
            run(scenario(&voice, link, json!({"duration": "60 s"}))).results.digest
        };
        assert_eq!(digest(None), digest(Some(160)), "{kind}");
        if kind == "codel" {
            assert_ne!(digest(None), digest(Some(1500)), "{kind}");
        }
    }
}
