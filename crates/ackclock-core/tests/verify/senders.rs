//! Senders against the equations and properties that were published with them.

use serde_json::{Value, json};

use crate::common::{Run, run, wire};

fn packets_per_second(seen: &Run, flow: usize) -> f64 {
    let flow = seen.flow(flow);
    let sent = flow.sender.sent_packets - flow.sender_at_warmup.sent_packets;
    sent as f64 / seen.results.window_s
}

#[test]
fn tfrc_sends_at_the_rate_of_its_equation() {
    // Every hundredth packet lost: all loss intervals are 100 packets, p = 0.01. RFC 5348 section 3.1 with
    // R = 2 x 50 ms + 12 us (data) + 0.32 us (report) = 0.10001232 s:
    // 1 / (R (sqrt(0.02/3) + 12 sqrt(0.03/8) 0.01 (1 + 0.0032))) = 1 / (R 0.0890217) = 112.32 packets/s.
    // The least that may be off is a packet of the 11232; timestamps tick every 62.5 ns.
    let drop: Vec<u64> = (1..200).map(|k| 100 * k).collect();
    let seen = run(json!({
        "net": wire(json!({"rate": "1 Gbps", "delay": "50 ms", "buffer": "unlimited", "drop": drop})),
        "flows": [{"src": "a", "dst": "b", "source": {"kind": "tfrc"}}], "duration": 120, "warmup": 20,
    }));
    let rate = packets_per_second(&seen, 0);
    println!("{rate:.3} packets/s");
    assert!((rate / 112.32 - 1.0).abs() < 0.002, "{rate}");
    let flow = seen.flow(0);
    assert_eq!(flow.sender.timeouts, 0);
    assert!((flow.sender.srtt_s - 0.100_012_32).abs() < 1e-6, "{}", flow.sender.srtt_s);
    // Once per round trip, and once more per loss event.
    let reports = flow.receiver.acks_sent as f64;
    assert!(reports > 900.0 && reports < 1600.0, "{reports}");
}

/// Coefficient of variation of the packets that enter the link per bin, after 20 s.
fn variation(seen: &Run, bin: f64) -> f64 {
    let mut bins: Vec<f64> = Vec::new();
    for row in seen.packets("a->b").filter(|row| row.at.seconds() >= 20.0) {
        let i = ((row.at.seconds() - 20.0) / bin) as usize;
        bins.resize(bins.len().max(i + 1), 0.0);
        bins[i] += 1.0;
    }
    let mean = bins.iter().sum::<f64>() / bins.len() as f64;
    let variance = bins.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / bins.len() as f64;
    variance.sqrt() / mean
}

#[test]
fn the_rate_of_tfrc_changes_less_than_that_of_tcp() {
    // Floyd, Handley, Padhye & Widmer, SIGCOMM 2000, figure 10: on time scales of a few round trips TFRC's
    // coefficient of variation is below TCP's. Independent losses of 1 %, a round trip of 100 ms.
    let of = |flow: Value| {
        let seen = run(json!({
            "net": wire(json!({"rate": "1 Gbps", "delay": "50 ms", "buffer": "unlimited", "loss": 0.01})),
            "flows": [flow], "duration": 320, "warmup": 20, "record": {"tables": ["packets"]},
            "tcp": {"delayed_ack": 1, "initial_ssthresh": 10},
        }));
        [0.2, 0.5, 1.0].map(|bin| variation(&seen, bin))
    };
    let tfrc = of(json!({"src": "a", "dst": "b", "source": {"kind": "tfrc"}}));
    let tcp = of(json!({"src": "a", "dst": "b", "cc": "aimd", "recovery": "sack"}));
    println!("TFRC {tfrc:.3?}, TCP {tcp:.3?}");
    for (tfrc, tcp) in tfrc.into_iter().zip(tcp) {
        assert!(tfrc < 0.8 * tcp, "{tfrc} {tcp}");
    }
}

#[test]
fn decbit_keeps_about_one_packet_at_the_link() {
    // Ramakrishnan & Jain 1990: an average of one packet at the link, that in transmission included, is what
    // marks. The window moves by one packet up and an eighth down around that point. One packet on average is
    // a utilisation of 1/2 in M/M/1 and of 1 in D/D/1; trains of packets are in between.
    let seen = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "20 ms", "buffer": "100 pkt", "qdisc": "decbit"})),
        "flows": [{"src": "a", "dst": "b", "cc": "decbit"}],
        "tcp": {"delayed_ack": 1}, "duration": 150, "warmup": 50,
    }));
    let link = seen.link("a->b");
    let present = link.utilisation + link.queue_mean;
    println!("utilisation {:.3}, packets at the link {present:.3}", link.utilisation);
    assert!(link.utilisation > 0.5, "{}", link.utilisation);
    assert!(present > 0.75 && present < 1.125, "{present}");
    assert!(link.marks > 0 && link.drops == 0);
    // Each mark is counted once: no reduction by ECN-Echo.
    assert_eq!(seen.flow(0).sender.ecn_reductions, 0);
}
