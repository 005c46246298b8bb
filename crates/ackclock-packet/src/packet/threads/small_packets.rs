//! Packets of few bytes on fast and short links: lookahead is a matter of single bytes there.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{planned, results};
use crate::packet::setup::build::smallest_packet;
use crate::packet::setup::partition::tests::results as results_on;
use crate::packet::threads::{Threads, run_on};
use crate::packet::{RegistryOnly, Results};

/// Time for a hundred windows, or a thousand packets of ten bytes.
fn duration_s(rate: f64, delay_s: f64) -> f64 {
    (200.0 * delay_s).max(1e5 / rate)
}

/// Some round trips of a network, whose flows send small packets.
fn scenario(era: &str, net: (&str, &str, f64, f64), tcp: &Value, flow: &Value) -> Value {
    let (kind, qdisc, rate, delay_s) = net;
    let mut net = json!({
        "kind": kind, "rate": rate, "delay": delay_s, "buffer": "20 pkt", "qdisc": qdisc,
    });
    match kind {
        "dumbbell" => net["pairs"] = json!(3),
        "parking-lot" => net["hops"] = json!(3),
        _ => net["hosts"] = json!(5),
    }
    let mut flows = vec![flow.clone(), flow.clone()];
    flows[1]["pair"] = json!(1);
    json!({
        "era": era, "seed": 151, "net": net, "flows": flows, "tcp": tcp,
        "duration": duration_s(rate, delay_s), "record": { "tables": ["packets"] },
    })
}

/// That no packet is smaller than what lookahead counts with, and that every way to run it does the same.
fn assert_same(scenario: &Value) {
    let plan = planned(scenario.clone());
    let least: Vec<u16> = plan.flows.iter().map(smallest_packet).collect();
    let run = |threads| -> Results {
        run_on(&plan, &RegistryOnly, threads, &mut |_| true, None).unwrap().0
    };
    let rows = run(Threads::One).tables.packets;
    assert!(!rows.is_empty(), "no packets of {scenario}");
    for row in rows {
        assert!(row.size >= least[row.flow as usize], "{row:?} of {scenario}");
    }
    assert!(results_on(&plan, true) == results_on(&plan, false), "partitions of {scenario}");
    if !scenario["era"].as_str().unwrap().starts_with("ns2") {
        assert!(results(&plan, 2).0 == results(&plan, 1).0, "threads of {scenario}");
    }
}

/// ns-2 adds no header to the first packet of a flow: it is one byte, of which 10 Gbit/s take 0.8 ns.
#[test]
fn a_first_packet_without_a_header_does_not_overtake_the_clock() {
    for era in ["2007", "2002", "1999", "ns2"] {
        let tcp = json!({ "mss": 1, "syn": false, "timestamps": false });
        let flow = json!({ "pair": 0, "cc": "aimd" });
        assert_same(&scenario(era, ("parking-lot", "fifo", 1e10, 1e-3), &tcp, &flow));
    }
}

/// A packet that leaves at 0 has the timestamp of the next tick, as 0 would be none: a sample of 400 ns may be two ticks
/// of 62.5 ns short.
#[test]
fn samples_of_the_first_tick_are_no_fault() {
    let tcp = json!({ "mss": 1, "header": 0, "ack_size": 1, "timestamps": true, "eifel": false, "receiver_window": 40 });
    for syn in [false, true] {
        let mut tcp = tcp.clone();
        tcp["syn"] = json!(syn);
        assert_same(&scenario("rfc", ("star", "fifo", 4e11, 1e-7), &tcp, &json!({ "pair": 0 })));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn small_packets_on_fast_links_are_the_same_on_every_partition(
        era in prop::sample::select(vec!["rfc", "linux", "quic", "ns2", "2007", "2002", "1999"]),
        kind in prop::sample::select(vec!["dumbbell", "parking-lot", "star"]),
        qdisc in prop::sample::select(vec!["fifo", "fq", "red"]),
        (rate, delay_s) in (
            prop::sample::select(vec![1e8, 1e10, 4e11]),
            prop::sample::select(vec![1e-9, 1e-7, 1e-5, 1e-3]),
        ),
        sizes in (
            prop::sample::select(vec![1u32, 2, 39, 100]),
            prop::sample::select(vec![0u32, 1, 40]),
            prop::sample::select(vec![1u32, 4, 40]),
        ),
        (syn, timestamps) in (any::<bool>(), any::<bool>()),
        size in prop::sample::select(vec![None, Some(1), Some(39), Some(5001)]),
        has_source in any::<bool>(),
    ) {
        let (mss, header, ack_size) = sizes;
        let tcp = json!({
            "mss": mss, "header": header, "ack_size": ack_size, "syn": syn, "timestamps": timestamps,
            "eifel": false, "receiver_window": 40,
        });
        let mut flow = json!({ "pair": 0 });
        if has_source {
            // 500 of one byte.
            let rate = 4000.0 / duration_s(rate, delay_s);
            flow["source"] = json!({ "kind": "cbr", "rate": rate, "packet": 1 });
        } else if let Some(size) = size {
            flow["size"] = json!(size);
        }
        assert_same(&scenario(era, (kind, qdisc, rate, delay_s), &tcp, &flow));
    }
}
