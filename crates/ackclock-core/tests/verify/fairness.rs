//! Schedulers against max-min shares and delay bounds; linear controls against Chiu and Jain.

use std::collections::HashMap;

use ackclock_core::packet::Event;
use serde_json::{Value, json};

use crate::common::{Run, cbr, run, wire};

fn share_link(qdisc: Value, flows: &[Value], buffer: &str) -> Run {
    run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "1 ms", "buffer": buffer, "qdisc": qdisc})),
        "flows": flows, "duration": 11, "warmup": 1, "record": {"tables": ["packets"]},
    }))
}

/// Bytes whose transmission began in the window, by flow.
fn bytes_served(outcome: &Run) -> Vec<f64> {
    let mut bytes = vec![0.0; outcome.plan.flows.len()];
    for row in outcome
        .packets("a->b")
        .filter(|r| r.event == Event::Departure && r.at >= outcome.plan.warmup)
    {
        bytes[row.flow as usize] += f64::from(row.size);
    }
    bytes
}

#[test]
fn schedulers_give_max_min_shares() {
    // Demands 1, 2, 6, 9 Mb/s of 10: the first two are met, the others get (10 - 3) / 2 = 3.5 each
    // (Bertsekas & Gallager, section 6.5.2). Over any interval in which two classes are backlogged
    // they differ by at most Q + 2 Max under DRR (Shreedhar & Varghese 1995, theorem 2; Q the
    // quantum) and 2 Max under FQ (each within Max of GPS at both ends: Parekh & Gallager 1993,
    // theorem 1 and corollary); a class that is met is within one such difference of its arrivals.
    // Each class is then within the sum of the differences to the others, four of them at most.
    let demands = [(1e6, 200), (2e6, 1500), (6.01e6, 1000), (9.03e6, 333)];
    let flows: Vec<Value> = demands.iter().map(|&(rate, size)| cbr("a", "b", rate, size)).collect();
    for (qdisc, bound) in [
        (json!({"kind": "drr", "quantum": 500}), 500.0 + 3000.0),
        (json!({"kind": "drr", "quantum": 1500}), 1500.0 + 3000.0),
        (json!("fq"), 3000.0),
    ] {
        let outcome = share_link(qdisc.clone(), &flows, "200 pkt");
        let bytes = bytes_served(&outcome);
        println!("{qdisc}: {:?}", bytes.iter().map(|b| b * 8.0 / 1e7).collect::<Vec<_>>());
        for (i, share) in [1e6, 2e6, 3.5e6, 3.5e6].into_iter().enumerate() {
            assert!((bytes[i] - share * 10.0 / 8.0).abs() <= bound, "{qdisc} {i}: {}", bytes[i]);
        }
        assert!((bytes[2] - bytes[3]).abs() <= bound, "{qdisc}");
        assert_eq!(
            outcome.flow(0).lost_data + outcome.flow(1).lost_data,
            0,
            "{qdisc}: who takes less loses nothing"
        );
    }
}

#[test]
fn weights_divide_the_link_as_given() {
    // Keys of class `stream`: flow i's data is 2 i. Shares 3 : 1 : 0.5 of 10 Mb/s; 2 Max as above.
    let flows = [cbr("a", "b", 9e6, 1500), cbr("a", "b", 9e6, 700), cbr("a", "b", 9e6, 300)];
    let outcome =
        share_link(json!({"kind": "fq", "weights": [3, 1, 1, 1, 0.5, 1]}), &flows, "300 pkt");
    let bytes = bytes_served(&outcome);
    println!("{bytes:?}");
    let total: f64 = bytes.iter().sum();
    for (bytes, weight) in bytes.iter().zip([3.0, 1.0, 0.5]) {
        // Over the interval each is within 2 Max of its GPS share.
        assert!((bytes - total * weight / 4.5).abs() <= 3000.0, "{bytes} {weight}");
    }
}

#[test]
fn a_leaky_bucket_among_greedy_flows_meets_its_delay_bound() {
    // Parekh & Gallager, ToN 1(3), 1993: a session with bucket sigma and guaranteed rate g >= rho is
    // delayed at most sigma / g in GPS, and Max / C more in packet GPS. Four equal classes: g = C / 4.
    // Bursts of 10 x 1000 B every 40 ms: sigma = 10 kB, rho = 2 Mb/s <= 2.5 Mb/s.
    let bursts: Vec<Value> = (0..250)
        .flat_map(|k| (0..10).map(move |_| json!([0.5 + 0.04 * f64::from(k), 1000])))
        .collect();
    let flows = [
        json!({"src": "a", "dst": "b", "source": {"kind": "trace", "packets": bursts}}),
        cbr("a", "b", 20e6, 1500),
        cbr("a", "b", 20e6, 1500),
        cbr("a", "b", 20e6, 500),
    ];
    let delay = |qdisc: Value| {
        let outcome = share_link(qdisc, &flows, "400 pkt");
        assert_eq!(outcome.flow(0).lost_data, 0);
        let mut arrived: HashMap<u32, u64> = HashMap::new();
        let mut worst = 0.0f64;
        for row in outcome.packets("a->b").filter(|r| r.flow == 0) {
            match row.event {
                Event::Arrival => drop(arrived.insert(row.seq, row.at.0)),
                _ => worst = worst.max((row.at.0 - arrived[&row.seq]) as f64 * 1e-12 + 0.8e-3),
            }
        }
        assert_eq!(arrived.len(), 2500);
        worst
    };
    let bound = 80_000.0 / 2.5e6 + 12_000.0 / 10e6;
    let worst = delay(json!("fq"));
    println!("worst delay {worst:.6} s, bound {bound:.6} s");
    assert!(worst <= bound, "{worst} {bound}");
    // The bound is nearly attained: the greedy are greedy.
    assert!(worst > 0.8 * bound, "{worst} {bound}");
}

/// Two flows that hear of congestion together: RED with an average that is the queue itself marks
/// every packet from 60 to 120 waiting (the base round trip holds 20, so the link stays busy), so
/// both see marks in the same round trip and cut once.
fn together(cc: Value, tcp: Value, scale: f64) -> Run {
    let red = json!({"kind": "red", "min_th": 60.0 * scale, "max_th": 60.0 * scale + 0.001, "w_q": 1, "max_p": 1,
        "gentle": true, "ecn": true, "mark_p": 1, "wait": false, "bytes": false});
    run(json!({
        "net": {"kind": "dumbbell", "pairs": 2, "rate": 12e6 * scale, "rtt": "20 ms", "buffer": "unlimited",
            "access_rate": 240e6 * scale, "qdisc": red},
        "flows": [{"pair": 0, "cc": cc, "tcp": {"initial_ssthresh": 48.0 * scale}},
                  {"pair": 1, "cc": cc, "tcp": {"initial_ssthresh": 12.0 * scale}}],
        "tcp": tcp, "duration": 60, "warmup": 40,
        "record": {"tables": ["flow_samples"], "interval": "10 ms"},
    }))
}

/// Mean windows of the two flows between two times.
fn windows(outcome: &Run, from: f64, to: f64) -> [f64; 2] {
    let mut sums = [0.0; 2];
    let samples = outcome.results.flow_samples.rows();
    let rows = (from * 100.0) as usize..(to * 100.0) as usize;
    for k in rows.clone() {
        for (f, sum) in sums.iter_mut().enumerate() {
            *sum += f64::from(samples[2 * k + f].cwnd) / rows.len() as f64;
        }
    }
    sums
}

#[test]
fn chiu_and_jain_aimd_becomes_fair_aiad_keeps_differences_mimd_ratios() {
    // Chiu & Jain, Computer Networks and ISDN Systems 17(1), 1989, section 3: under common binary
    // feedback additive steps keep the difference of two windows, multiplicative steps their ratio;
    // so AIMD halves the difference with every cut and AIAD and MIMD never change what they keep.
    // A cut starts from what is in flight, a whole number of segments, so each may move a difference
    // by a part of a segment: under AIMD what is left of all of these is at most 1 / (1 - b) = 2.
    // Under AIAD they hit both windows alike and cancel: the same 2 segments are allowed after all cuts
    // together.
    let tcp = json!({"ecn": true, "delayed_ack": 1, "initial_window": 2});
    let outcome = together(json!("aimd"), tcp.clone(), 1.0);
    let [a, b] = windows(&outcome, 1.0, 3.0);
    assert!(a > 1.5 * b, "they begin apart: {a} {b}");
    let [a, b] = windows(&outcome, 40.0, 60.0);
    println!("aimd: {a:.2} {b:.2}, goodputs {:.0} {:.0}", outcome.goodput(0), outcome.goodput(1));
    assert!((a - b).abs() < 2.0, "{a} {b}");
    // Two segments of difference and the part of a segment that is not sent.
    let ratio = outcome.goodput(0) / outcome.goodput(1);
    assert!((ratio - 1.0).abs() < 3.0 / a.min(b), "goodputs follow: {ratio}");
    assert_eq!(outcome.flow(0).lost_data + outcome.flow(1).lost_data, 0);

    let outcome = together(json!({"kind": "aiad", "a": 1, "d": 8}), tcp.clone(), 1.0);
    let ([a, b], [c, d]) = (windows(&outcome, 3.0, 6.0), windows(&outcome, 50.0, 60.0));
    let cuts = outcome.flow(0).sender.ecn_reductions;
    println!("aiad: {:.2} then {:.2} after {cuts} cuts", a - b, c - d);
    assert!(a - b > 10.0 && cuts > 50, "{a} {b} {cuts}");
    assert!(((c - d) - (a - b)).abs() < 2.0, "{a} {b} {c} {d}");

    // The part of a segment that a cut loses is a larger share of the smaller window d: a drift of the
    // ratio by up to 1 / (0.8 d) per cut. Ten times the rate makes that small.
    let outcome = together(json!({"kind": "mimd", "a": 1.02, "b": 0.8}), tcp, 10.0);
    let ([a, b], [c, d]) = (windows(&outcome, 3.0, 6.0), windows(&outcome, 30.0, 40.0));
    let cuts = outcome.flow(1).sender_at_warmup.ecn_reductions;
    let drift = cuts as f64 / (0.8 * d);
    println!("mimd: {:.3} then {:.3} after {cuts} cuts; drift up to {drift:.3}", a / b, c / d);
    assert!(a / b > 1.5 && cuts > 20 && drift < 0.4, "{a} {b} {cuts} {drift}");
    assert!((c / d / (a / b)).ln().abs() < drift, "{a} {b} {c} {d}");
}

#[test]
fn weights_that_look_like_one_for_each_flow_are_doubted() {
    let doubts = |weights: Value, classes: &str| {
        let outcome = run(json!({
            "net": {"kind": "dumbbell", "pairs": 3, "rate": 1e6, "rtt": 0.1, "qdisc": {"kind": "fq", "weights": weights}},
            "flows": [{"pair": 0, "count": 3}], "classes": classes, "duration": 1,
        }));
        ackclock_core::compile::warnings(&outcome.plan)
    };
    let sentence = "the weights of link r0->r1 go to classes, of which each flow has two: 1 to the data of f0, \
        2 to the acknowledgements of f0, 3 to the data of f1; with classes = \"flow\" they go to flows";
    assert_eq!(doubts(json!([1, 2, 3]), "stream"), [sentence]);
    // As many as there are streams, or with 1 for every acknowledgement: meant so.
    for weights in [json!([1, 2, 3, 4, 5, 6]), json!([2, 1, 3]), json!([])] {
        assert_eq!(doubts(weights, "stream").len(), 0);
    }
    assert_eq!(doubts(json!([1, 2, 3]), "flow").len(), 0);
}
