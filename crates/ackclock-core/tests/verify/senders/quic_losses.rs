//! QUIC through whole runs: what is lost is sent again, what is marked is noticed, what is complete has arrived.

use ackclock_core::cc;
use ackclock_core::wire::Flags;
use serde_json::{Value, json};

use crate::common::{Run, extend, run};

/// One flow through 10 Mbit/s and a round trip of 100 ms with a buffer of one bandwidth-delay product.
fn bottleneck(net: Value, flow: Value) -> Value {
    let mut all = json!({
        "kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "100 ms", "buffer": "1 bdp",
    });
    extend(&mut all, net);
    let mut base_flow = json!({"pair": 0});
    extend(&mut base_flow, flow);
    json!({"era": "quic", "net": all, "flows": [base_flow], "duration": 10})
}

/// Whatever the control, the loss of any of the first twenty packets costs a flow less than half of what it has
/// without one, but for controls that take a loss in slow start for the capacity.
#[test]
fn the_loss_of_a_single_packet_stops_no_flow() {
    for name in ["cubic", "aimd", "bbr", "bbr3", "vegas", "prague", "copa", "ledbat"] {
        for dropped in [1, 2, 5, 10, 11, 20] {
            let outcome = run(bottleneck(
                json!({"drop": [dropped]}),
                json!({"cc": name, "quic": {"ecn": true}}),
            ));
            let goodput = outcome.goodput(0);
            let flow = outcome.flow(0);
            assert!(goodput > 1e6, "{name}, packet {dropped}: {goodput} bit/s");
            assert!(flow.sender.retransmits >= 1, "{name}, packet {dropped}");
        }
    }
}

/// Every control completes a transfer whose first data packet is lost, and the whole has arrived then.
#[test]
fn a_transfer_whose_first_packet_is_lost_completes_with_every_control() {
    for name in cc::names().into_iter().filter(|&name| name != "none") {
        let outcome = run(bottleneck(
            json!({"drop": [1]}),
            json!({"cc": name, "size": "200 kB", "quic": {"ecn": true}}),
        ));
        let flow = outcome.flow(0);
        assert!(flow.sender.completed_s > 0.0, "{name}: {:?}", flow.sender);
        assert_eq!(flow.receiver.delivered_bytes, 200_000, "{name}");
    }
}

/// At 30 % loss a packet needs 1 / 0.7 transmissions, and the window is hardly ever above its minimum of two: two
/// packets of 1161 B in 100 ms are 186 kbit/s; delayed ACKs and probe timeouts take from it.
#[test]
fn at_heavy_loss_a_flow_goes_on_at_about_its_minimum_window() {
    let mut scenario = bottleneck(json!({"loss": 0.3}), json!({"cc": "cubic"}));
    extend(&mut scenario, json!({"duration": 60}));
    let goodput = run(scenario).goodput(0);
    assert!((1e5..4e5).contains(&goodput), "{goodput}");
}

fn through_codel(flow: Value, quic: Value) -> Run {
    let net = json!({"rtt": "40 ms", "buffer": "200 pkt", "qdisc": {"kind": "codel", "ecn": true}});
    let mut scenario = bottleneck(net, flow);
    extend(&mut scenario, json!({"duration": 20, "quic": quic, "record": {"tables": ["packets"]}}));
    run(scenario)
}

/// All data are ECN-capable to the end, marks reduce the window, and nothing is lost or sent again.
#[test]
fn ecn_lasts_as_long_as_the_flow() {
    for control in ["cubic", "aimd", "bbr3"] {
        let outcome = through_codel(json!({"cc": control}), json!({"ecn": true}));
        let (flow, link) = (outcome.flow(0), outcome.link("r0->r1"));
        let is_data = |flags: Flags| !flags.has(Flags::ACK) && !flags.has(Flags::SYN);
        let data: Vec<Flags> =
            outcome.packets("r0->r1").map(|row| Flags(row.flags)).filter(|&f| is_data(f)).collect();
        assert!(data.len() > 5000 && data.iter().all(|f| f.has(Flags::ECT)), "{control}");
        assert!(link.marks > 5, "{control}: {} marks", link.marks);
        assert_eq!((link.drops, flow.sender.retransmits), (0, 0), "{control}");
        if control != "bbr3" {
            assert!(flow.sender.ecn_reductions > 3, "{control}");
        }
        assert!(outcome.results.warnings.is_empty(), "{:?}", outcome.results.warnings);
    }
    // Without ECN the same queue drops.
    let outcome = through_codel(json!({"cc": "cubic"}), json!({"ecn": false}));
    assert!(outcome.link("r0->r1").drops > 5);
}
