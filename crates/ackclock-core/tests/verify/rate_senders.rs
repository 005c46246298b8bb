//! Senders whose rate follows from reports: fire-hoses against the flow-level engine, coded packets, packet pair.

use ackclock_core::fluid::{FluidNet, Options, Policies, Routers, fixed_point};
use ackclock_core::policy::{self, PolicyEnv};
use ackclock_core::registry::Spec;
use ackclock_core::sharing::{self, SharingEnv};
use serde_json::{Value, json};

use crate::common::{Run, cbr, run, wire};

/// A network of directed links, and flows by their links; rates in Mbit/s.
struct Example {
    nodes: &'static str,
    capacity: Vec<f64>,
    flows: Vec<Vec<u32>>,
    /// Ends of links, for the packet engine.
    links: Vec<(&'static str, &'static str)>,
}

/// Sent and delivered rates of the flows in Mbit/s as the flow-level engine has them.
fn by_flow_level(example: &Example, policy: &str, sharing: &str) -> (Vec<f64>, Vec<f64>) {
    let starts = example.flows.iter().scan(0, |sum, hops| {
        *sum += hops.len() as u32;
        Some(*sum)
    });
    let starts: Vec<u32> = std::iter::once(0).chain(starts).collect();
    let net =
        FluidNet::new(example.capacity.clone(), starts, example.flows.concat(), vec![]).unwrap();
    let policy = policy::build(&Spec::from(policy), &PolicyEnv, "sender").unwrap();
    let sharing = sharing::build(&Spec::from(sharing), &SharingEnv, "sharing").unwrap();
    let solution =
        fixed_point(&net, &Policies::all(policy), &Routers::all(sharing), &[], &Options::default())
            .unwrap();
    (solution.outcome.demand.clone(), solution.outcome.goodputs(&net))
}

/// The same by packets: fire-hoses with packets of 1000 bytes, buffers of 40 packets, and random arrivals where the
/// links are FIFO: packets of constant rates would find a full buffer at a fixed phase.
fn by_packets(example: &Example, policy: &str, qdisc: &str) -> (Vec<f64>, Vec<f64>) {
    let nodes: Vec<Value> = example.nodes.split(' ').map(|id| json!({ "id": id })).collect();
    let links: Vec<Value> = example
        .links
        .iter()
        .zip(&example.capacity)
        .map(|((a, b), mbps)| {
            let jitter = json!({"kind": "jitter", "mean": "2 ms", "keep_order": false});
            let is_random = qdisc == "fifo" && (a.starts_with('S') || a.starts_with('T'));
            let impairments = if is_random { vec![jitter] } else { vec![] };
            // What comes back are reports: it needs a way, and some rate.
            json!({
                "a": a, "b": b, "rate": mbps * 1e6, "delay": "2 ms", "buffer": "40 pkt", "qdisc": qdisc,
                "back_rate": "100 Mbps", "back_qdisc": "fifo", "impairments": impairments,
            })
        })
        .collect();
    let flows: Vec<Value> = example
        .flows
        .iter()
        .enumerate()
        .map(|(i, hops)| {
            let (first, last) = (hops[0] as usize, hops[hops.len() - 1] as usize);
            json!({
                "src": example.links[first].0, "dst": example.links[last].1,
                "source": {"kind": "fire-hose", "policy": policy}, "start": 0.000_37 * i as f64,
            })
        })
        .collect();
    let outcome = run(json!({
        "net": {"kind": "graph", "nodes": nodes, "links": links}, "flows": flows,
        "duration": 15, "warmup": 8,
    }));
    let rate = |bytes: u64| bytes as f64 * 8.0 / outcome.results.window_s / 1e6;
    let sent = (0..flows.len()).map(|i| {
        rate(outcome.flow(i).sender.sent_bytes - outcome.flow(i).sender_at_warmup.sent_bytes)
    });
    (sent.collect(), (0..flows.len()).map(|i| outcome.goodput(i) / 1e6).collect())
}

/// The paper's figures 1 and 2: two senders of 20, whose flows share a link of 20; D1's link differs.
fn two_senders(to_d1: f64) -> Example {
    Example {
        nodes: "S1 S2 R1 R2 D1 D2",
        capacity: vec![20.0, 20.0, 20.0, to_d1, 2.0],
        flows: vec![vec![0, 2, 3], vec![1, 2, 4]],
        links: vec![("S1", "R1"), ("S2", "R1"), ("R1", "R2"), ("R2", "D1"), ("R2", "D2")],
    }
}

/// The paper's figure 3.
fn three_senders() -> Example {
    Example {
        nodes: "S1 S2 S3 R1 R2 R3 D1 D2 D3",
        capacity: vec![20.0, 20.0, 12.0, 20.0, 2.0, 20.0, 20.0, 20.0],
        flows: vec![vec![0, 2, 3, 6], vec![1, 2, 4], vec![5, 3, 7]],
        links: vec![
            ("S1", "R1"),
            ("S2", "R1"),
            ("R1", "R2"),
            ("R2", "R3"),
            ("R2", "D2"),
            ("S3", "R2"),
            ("R3", "D1"),
            ("R3", "D3"),
        ],
    }
}

/// One sender of 20 with three flows, and another flow on one of their bottlenecks.
fn many_flows() -> Example {
    Example {
        nodes: "S T R D1 D2 D3",
        capacity: vec![20.0, 20.0, 5.0, 2.0, 8.0],
        flows: vec![vec![0, 2], vec![0, 3], vec![0, 4], vec![1, 4]],
        links: vec![("S", "R"), ("T", "R"), ("R", "D1"), ("R", "D2"), ("R", "D3")],
    }
}

const POLICIES: [&str; 5] =
    ["naive", "full-balanced", "full-share", "naive-ratio", "limited-ratio"];

fn compare(example: &Example, policy: &str, [qdisc, sharing]: [&str; 2], tolerance: f64) {
    let (demand, goodput) = by_flow_level(example, policy, sharing);
    let (sent, delivered) = by_packets(example, policy, qdisc);
    println!(
        "{policy} {qdisc}: sent {sent:.3?}, {demand:.3?}; delivered {delivered:.3?}, {goodput:.3?}"
    );
    for (got, expected) in sent.iter().zip(&demand).chain(delivered.iter().zip(&goodput)) {
        assert!((got / expected - 1.0).abs() < tolerance, "{policy}: {got} is not {expected}");
    }
}

#[test]
fn fire_hoses_over_fq_settle_at_the_rates_of_the_flow_level_engine() {
    // A packet of the slowest flow, 2 Mbit/s, is 0.06 % of what it has in 7 s.
    for policy in POLICIES {
        for example in [two_senders(5.0), two_senders(20.0), three_senders(), many_flows()] {
            compare(&example, policy, ["fq", "max-min"], 0.005);
        }
    }
}

#[test]
fn fire_hoses_over_fifo_settle_at_the_rates_of_the_flow_level_engine() {
    // Not full-balanced: near its equilibrium an error of a goodput comes back as 0.875 of it, so noise is kept.
    for policy in ["naive", "full-share"] {
        for example in [two_senders(5.0), many_flows()] {
            compare(&example, policy, ["fifo", "proportional"], 0.05);
        }
    }
    // FIFO gives to each what it offers: any shares are an equilibrium of ratio senders, and theirs drift. The
    // ratio is kept, and the link is full.
    for policy in ["naive-ratio", "limited-ratio"] {
        let (sent, delivered) = by_packets(&two_senders(20.0), policy, "fifo");
        println!("{policy} fifo: sent {sent:.3?}, delivered {delivered:.3?}");
        assert!((delivered[1] - 2.0).abs() < 0.02, "{delivered:?}");
        assert!((sent[1] / delivered[1] - 1.2).abs() < 0.03, "{sent:?} {delivered:?}");
    }
}

#[test]
fn coded_goodput_is_what_arrives_over_one_plus_the_overhead_in_whole_blocks() {
    // A link that loses a fifth at random: nothing is sent again, and each arrival counts.
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "5 ms", "buffer": "unlimited", "loss": 0.2})),
        "flows": [{"src": "a", "dst": "b", "source": {
            "kind": "coded", "block": 100, "overhead": 0.05,
            "source": {"kind": "cbr", "rate": "8 Mbps", "packet": 1000},
        }, "stop": 100}],
        "duration": 101,
    }));
    let flow = outcome.flow(0);
    let (sent, arrived) = (flow.sender.sent_packets, flow.receiver.received_packets);
    assert_eq!(sent, 100_000);
    // Five standard deviations of a binomial number: 5 sqrt(100,000 x 0.16) = 632.
    assert!(arrived.abs_diff(80_000) < 632, "{arrived}");
    assert_eq!(flow.receiver.delivered_packets, 100 * (arrived / 105));
    assert_eq!(flow.receiver.delivered_bytes, 1000 * flow.receiver.delivered_packets);
    assert_eq!(flow.sender.retransmits, 0);
    // Two fire-hoses over one fair link: each gets half, less the overhead.
    let hose = json!({"kind": "coded", "block": 50, "overhead": 0.1, "source": "fire-hose"});
    let outcome = run(json!({
        "net": {"kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "qdisc": "fq", "buffer": "50 pkt"},
        "flows": [{"pair": 0, "source": hose}, {"pair": 1, "source": hose}],
        "duration": 60, "warmup": 20,
    }));
    for i in 0..2 {
        // A block of 50,000 bytes more or less in 40 s is 0.2 %.
        let share = outcome.goodput(i) / (5e6 / 1.1);
        assert!((share - 1.0).abs() < 0.005, "{share}");
    }
}

/// A probe of a flow's sender.
fn probe(outcome: &Run, flow: usize, name: &str) -> f64 {
    outcome.flow(flow).sender.probes.iter().find(|(n, _)| *n == name).expect("probe exists").1
}

#[test]
fn packet_pair_over_fq_estimates_its_fair_share_and_keeps_the_set_point() {
    for (pairs, rtt) in [(1, "20 ms"), (4, "20 ms"), (4, "100 ms")] {
        let flows: Vec<Value> = (0..pairs)
            .map(|i| json!({"pair": i, "source": "packet-pair", "start": 0.137 * f64::from(i)}))
            .collect();
        let outcome = run(json!({
            "net": {
                "kind": "dumbbell", "pairs": pairs, "rate": "10 Mbps", "rtt": rtt, "qdisc": "fq",
                "buffer": "200 pkt",
            },
            "flows": flows, "duration": 60, "warmup": 20,
        }));
        let share = 10e6 / f64::from(pairs);
        let link = &outcome.results.links
            [outcome.plan.links.iter().position(|l| l.rate.bps() < 2e7).unwrap()];
        println!("{pairs} {rtt}: queue {:.2}", link.queue_mean);
        for i in 0..pairs as usize {
            let estimate = probe(&outcome, i, "service_rate_bps") / share;
            let goodput = outcome.goodput(i) / share;
            println!(
                "  estimate {estimate:.4}, goodput {goodput:.4}, queue {:.2}",
                probe(&outcome, i, "queue_packets")
            );
            assert!((estimate - 1.0).abs() < 0.02, "{estimate}");
            assert!((goodput - 1.0).abs() < 0.02, "{goodput}");
        }
        // A pair leaves when the queue is at the set point of 5: with it there are 7, and on average 6. The
        // round trip includes a packet's transmission.
        let queue = link.queue_mean / f64::from(pairs);
        assert!((queue - 6.0).abs() < 1.0, "{queue}");
        assert_eq!(link.drops, 0);
    }
}

#[test]
fn packet_pair_over_fifo_takes_the_links_rate_for_its_share() {
    let estimate = |qdisc: &str| {
        let mut cross_traffic = cbr("x", "b", 6e6, 1000);
        cross_traffic["source"]["jitter"] = json!(1);
        let outcome = run(json!({
            "net": {"kind": "graph", "links": [
                {"a": "h", "b": "a", "rate": "100 Mbps", "delay": "1 ms"},
                {"a": "x", "b": "a", "rate": "100 Mbps", "delay": "1 ms"},
                {"a": "a", "b": "b", "rate": "10 Mbps", "delay": "10 ms", "buffer": "100 pkt", "qdisc": qdisc},
            ]},
            "flows": [{"src": "h", "dst": "b", "source": "packet-pair"}, cross_traffic],
            "duration": 60, "warmup": 20,
        }));
        println!(
            "{qdisc}: {:?} goodput {:.3}",
            outcome.flow(0).sender.probes,
            outcome.goodput(0) / 1e6
        );
        probe(&outcome, 0, "service_rate_bps") / 1e6
    };
    // Fair: 5 of 10, as the other flow offers 6.
    let fair = estimate("fq");
    assert!((fair - 5.0).abs() < 0.25, "{fair}");
    let fifo = estimate("fifo");
    assert!(fifo > 9.0, "{fifo}");
}
