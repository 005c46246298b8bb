//! Senders against the equations and properties that were published with them.

mod credits;
mod quic;
mod quic_losses;

use serde_json::{Value, json};

use crate::common::{Run, run, wire};

fn packets_per_second(outcome: &Run, flow: usize) -> f64 {
    let flow = outcome.flow(flow);
    let sent = flow.sender.sent_packets - flow.sender_at_warmup.sent_packets;
    sent as f64 / outcome.results.window_s
}

#[test]
fn tfrc_sends_at_the_rate_of_its_equation() {
    // Every hundredth packet lost: all loss intervals are 100 packets, p = 0.01. RFC 5348 section 3.1 with
    // R = 2 x 50 ms + 12 us (data) + 0.32 us (report) = 0.10001232 s:
    // 1 / (R (sqrt(0.02/3) + 12 sqrt(0.03/8) 0.01 (1 + 0.0032))) = 1 / (R 0.0890217) = 112.32 packets/s.
    // The least that may be off is a packet of the 11232; timestamps tick every 62.5 ns.
    let drop: Vec<u64> = (1..200).map(|k| 100 * k).collect();
    let outcome = run(json!({
        "net": wire(json!({"rate": "1 Gbps", "delay": "50 ms", "buffer": "unlimited", "drop": drop})),
        "flows": [{"src": "a", "dst": "b", "source": {"kind": "tfrc"}}], "duration": 120, "warmup": 20,
    }));
    let rate = packets_per_second(&outcome, 0);
    println!("{rate:.3} packets/s");
    assert!((rate / 112.32 - 1.0).abs() < 0.002, "{rate}");
    let flow = outcome.flow(0);
    assert_eq!(flow.sender.timeouts, 0);
    assert!((flow.sender.srtt_s - 0.100_012_32).abs() < 1e-6, "{}", flow.sender.srtt_s);
    // Once per round trip, and once more per loss event.
    let reports = flow.receiver.acks_sent as f64;
    assert!(reports > 900.0 && reports < 1600.0, "{reports}");
}

/// Coefficient of variation of the packets that enter the link per bin, after 20 s.
fn variation(outcome: &Run, bin: f64) -> f64 {
    let mut bins: Vec<f64> = Vec::new();
    for row in outcome.packets("a->b").filter(|row| row.at.seconds() >= 20.0) {
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
        let outcome = run(json!({
            "net": wire(json!({"rate": "1 Gbps", "delay": "50 ms", "buffer": "unlimited", "loss": 0.01})),
            "flows": [flow], "duration": 320, "warmup": 20, "record": {"tables": ["packets"]},
            "tcp": {"delayed_ack": 1, "initial_ssthresh": 10},
        }));
        [0.2, 0.5, 1.0].map(|bin| variation(&outcome, bin))
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
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "20 ms", "buffer": "100 pkt", "qdisc": "decbit"})),
        "flows": [{"src": "a", "dst": "b", "cc": "decbit"}],
        "tcp": {"delayed_ack": 1}, "duration": 150, "warmup": 50,
    }));
    let link = outcome.link("a->b");
    let present = link.utilisation + link.queue_mean;
    println!("utilisation {:.3}, packets at the link {present:.3}", link.utilisation);
    assert!(link.utilisation > 0.5, "{}", link.utilisation);
    assert!(present > 0.75 && present < 1.125, "{present}");
    assert!(link.marks > 0 && link.drops == 0);
    // Each mark is counted once: no reduction by ECN-Echo.
    assert_eq!(outcome.flow(0).sender.ecn_reductions, 0);
}

/// Goodputs of two DECbit flows on one link of 10 Mbit/s, the second of which starts 5 s later, with so much
/// exponential jitter on the way back.
fn share_of_decbit(rtt: &str, jitter: Option<&str>) -> [f64; 2] {
    let jitter: Vec<Value> = jitter
        .map(|mean| json!({"kind": "jitter", "shape": "exponential", "mean": mean}))
        .into_iter()
        .collect();
    let outcome = run(json!({
        "net": {
            "kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "rtt": rtt, "buffer": "200 pkt",
            "qdisc": "decbit", "back_impairments": jitter,
        },
        "flows": [{"pair": 0, "cc": "decbit"}, {"pair": 1, "cc": "decbit", "start": 5}],
        "tcp": {"delayed_ack": 1}, "duration": 300, "warmup": 100,
    }));
    [outcome.goodput(0) / 1e6, outcome.goodput(1) / 1e6]
}

#[test]
fn decbit_flows_that_start_at_different_times_get_equal_shares_where_arrivals_are_random() {
    // Ramakrishnan & Jain 1990, section 5: windows converge to equal ones whatever they began with. A window
    // moves by an eighth, more than the means over 200 s may differ. One packet at the link on average is a
    // utilisation of 1/2 where arrivals and departures are random.
    for rtt in ["20 ms", "50 ms", "100 ms"] {
        let [a, b] = share_of_decbit(rtt, Some("5 ms"));
        println!("{rtt}: {a:.2} and {b:.2} Mbit/s");
        assert!((a / b).max(b / a) < 1.125, "{a} {b}");
        assert!(a + b > 3.0 && a + b < 6.0, "{a} {b}");
    }
    // Without randomness windows arrive as trains, always at the same phase.
    let [a, b] = share_of_decbit("50 ms", None);
    println!("trains: {a:.2} and {b:.2} Mbit/s");
    assert!((a / b).max(b / a) > 3.0, "{a} {b}");
}

/// Mean goodputs of two Reno flows and of two FAST flows of this kind behind RED, in Mbit/s.
fn reno_and_fast(control: Value) -> (f64, f64) {
    let flow = |pair: u32, cc: Value| json!({"pair": pair, "cc": cc, "recovery": "sack", "start": 0.3 * f64::from(pair)});
    let reno = || json!("aimd");
    let outcome = run(json!({
        "net": {
            "kind": "dumbbell", "pairs": 4, "rate": "20 Mbps", "rtt": "50 ms", "buffer": "120 pkt",
            "qdisc": {"kind": "red", "min_th": 20, "max_th": 60, "max_p": 0.02, "gentle": true},
        },
        "flows": [flow(0, reno()), flow(1, reno()), flow(2, control.clone()), flow(3, control)],
        "tcp": {"delayed_ack": 1}, "duration": 300, "warmup": 100,
    }));
    let mean = |a, b| (outcome.goodput(a) + outcome.goodput(b)) / 2e6;
    (mean(0, 1), mean(2, 3))
}

#[test]
fn self_tuning_fast_gets_renos_rate_whatever_its_first_alpha() {
    // Tang, Wang, Hegde & Low 2005: the ratio of FAST's rate to Reno's depends on alpha, and an alpha exists for
    // every ratio. Four flows of equal losses and round trips: a quarter of the link each. Reno's own rate is
    // some 10 % below the square root law, which knows neither recovery nor the largest window of RED.
    for alpha in [5.0, 60.0] {
        let (reno, fast) = reno_and_fast(json!({"kind": "fast", "alpha": alpha}));
        let (reno_tuned, tuned) =
            reno_and_fast(json!({"kind": "fast-self-tuning", "alpha": alpha}));
        println!("alpha {alpha}: {:.2} untuned, {:.2} tuned", fast / reno, tuned / reno_tuned);
        assert!(if alpha < 10.0 { fast < 0.85 * reno } else { fast > 3.0 * reno });
        assert!((tuned / reno_tuned - 1.1).abs() < 0.2, "{tuned} {reno_tuned}");
    }
}

#[test]
fn with_weights_self_tuning_fast_flows_share_in_proportion_to_them() {
    // Tang, Wei & Low 2006: each rate is the weight over the common price of losses. 1 : 2.
    let flow = |pair: u32, weight: f64| {
        json!({
            "pair": pair, "cc": {"kind": "fast-self-tuning", "alpha": 20, "weight": weight},
            "recovery": "sack", "start": 0.3 * f64::from(pair),
        })
    };
    let outcome = run(json!({
        "net": {
            "kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "rtt": "50 ms", "buffer": "120 pkt",
            "qdisc": {"kind": "red", "min_th": 20, "max_th": 60, "max_p": 0.02, "gentle": true},
        },
        "flows": [flow(0, 0.5), flow(1, 1.0)],
        "tcp": {"delayed_ack": 1}, "duration": 500, "warmup": 200,
    }));
    let ratio = outcome.goodput(1) / outcome.goodput(0);
    println!("{ratio:.3}, {:?}", outcome.flow(1).sender.probes);
    assert!((ratio - 2.0).abs() < 0.3, "{ratio}");
}
