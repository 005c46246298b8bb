//! Queue management inside the engine against its own equations.

use serde_json::{Value, json};

use crate::common::{Run, cbr, mean_and_error, run, wire};

#[test]
fn red_settles_where_its_drop_rate_sheds_the_overload() {
    // Floyd & Jacobson, ToN 1(4), 1993, section 4: p_b = max_p (avg - min) / (max - min), and with
    // drops spread uniformly the gap between two drops is uniform on 1 .. 1/p_b, mean (1/p_b + 1)/2.
    // The queue neither grows nor shrinks when one packet in so many is dropped as the load R exceeds
    // C: (1/p_b + 1)/2 = 1 / (1 - C/R). With R = 1.05 C: 21, p_b = 1/41, avg = 20 + 60/4.1 = 34.63.
    // The mean queue equals the mean average. Eight seeds; four standard errors (chance 0.5 %), and
    // the curvature of 2 p_b / (1 + p_b) under a spread of the average of 10 packets (17 % of the
    // range): half of 4 (0.017)^2 on 0.048 is 1.2 % of the distance from min, 0.2 packets.
    let law = 20.0 + 60.0 / 4.1;
    let mut queues = Vec::new();
    let mut losses = Vec::new();
    for seed in 1..=8 {
        let outcome = run(json!({
            "net": wire(json!({"rate": "8 Mbps", "delay": "1 ms", "buffer": "500 pkt",
                "qdisc": {"kind": "red", "min_th": 20, "max_th": 80, "max_p": 0.1, "w_q": 0.002, "gentle": false, "wait": false, "bytes": false}})),
            "flows": [cbr("a", "b", 8.4e6, 1000)], "duration": 120, "warmup": 20, "seed": seed,
        }));
        let link = outcome.link("a->b");
        assert_eq!(
            link.drops,
            link.drops_by_reason[ackclock_core::wire::DropReason::Early as usize]
        );
        queues.push(link.queue_mean);
        losses.push(link.window_drops as f64 / link.window_arrived as f64);
    }
    let (queue, error) = mean_and_error(&queues);
    let (loss, _) = mean_and_error(&losses);
    println!("queue {queue:.3} +- {error:.3}, law {law:.3}; loss {loss:.5}, law {:.5}", 1.0 / 21.0);
    assert!(error < 1.0, "{error}");
    assert!((queue - law).abs() < 4.0 * error + 0.2, "{queue} +- {error}, {law}");
    // What is not dropped is served; the queue's change of at most 80 packets is all that may differ.
    assert!((loss - 1.0 / 21.0).abs() < 80.0 / 105_000.0, "{loss}");
}

fn ecn_flows(qdisc: Value, ecn: bool) -> Run {
    run(json!({
        "net": {"kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "200 pkt", "qdisc": qdisc},
        "flows": [{"pair": 0, "count": 2, "cc": "aimd"}], "tcp": {"ecn": ecn},
        "duration": 30, "warmup": 5,
    }))
}

#[test]
fn marks_take_the_place_of_drops() {
    // RFC 3168 section 7 and each discipline's own text: what would be dropped early is marked.
    for qdisc in [
        json!({"kind": "red", "ecn": true, "min_th": 5, "max_th": 50}),
        json!({"kind": "codel", "ecn": true}),
        json!({"kind": "fq-codel", "ecn": true}),
        json!({"kind": "pie", "ecn": true}),
    ] {
        let with = ecn_flows(qdisc.clone(), true);
        let without = ecn_flows(qdisc.clone(), false);
        let (a, b) = (with.link("r0->r1"), without.link("r0->r1"));
        println!("{qdisc}: {} marks, {} drops; without ECN {} drops", a.marks, a.drops, b.drops);
        assert!(a.marks > 10 && a.window_drops == 0, "{qdisc}: {} {}", a.marks, a.drops);
        assert!(b.marks == 0 && b.window_drops > 10, "{qdisc}");
        for i in 0..2 {
            let flow = with.flow(i);
            let base = &flow.sender_at_warmup;
            assert!(flow.sender.ecn_reductions > base.ecn_reductions, "{qdisc}");
            assert_eq!(flow.sender.recoveries, base.recoveries, "{qdisc}");
            assert_eq!(flow.sender.retransmits, base.retransmits, "{qdisc}");
        }
    }
}

#[test]
fn codel_keeps_the_standing_queue_at_its_target() {
    // RFC 8289 section 3: CoDel acts on the minimum over an interval (100 ms); a good queue has one at or
    // below the target (5 ms) within an interval. One Reno flow with BDP 100 packets: each drop halves
    // the window, so minima above the target never last; when one does for an interval there is a
    // drop, felt a round trip (100 ms and the queue) later. So of all stretches of 100 ms those with
    // a minimum above 5 ms come in runs of at most: the interval, the round trip, one partly at
    // either end: 4. FIFO of the same buffer has runs as long as its sawtooth.
    let longest = |qdisc: &str| {
        let outcome = run(json!({
            "net": wire(json!({"rate": "12 Mbps", "delay": "49.5 ms", "buffer": "300 pkt", "qdisc": qdisc, "back_qdisc": "fifo"})),
            "flows": [{"src": "a", "dst": "b", "cc": "aimd"}], "tcp": {"delayed_ack": 1},
            "duration": 100, "warmup": 20, "record": {"tables": ["link_samples"], "interval": "1 ms"},
        }));
        let id = outcome.link_id("a->b") as usize;
        let links = outcome.plan.links.len();
        let queue: Vec<u32> = outcome
            .results
            .link_samples
            .iter()
            .skip(id)
            .step_by(links)
            .skip(20_000)
            .map(|s| s.queue_packets)
            .collect();
        // A packet takes 1 ms: more than 5 waiting is more than 5 ms.
        let (mut run, mut longest) = (0, 0);
        for stretch in queue.chunks(100) {
            run = if stretch.iter().min().unwrap() > &5 { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        (longest, outcome.link("a->b").delay_mean_s, outcome.link("a->b").utilisation)
    };
    let (codel, delay, used) = longest("codel");
    let (fifo, long, _) = longest("fifo");
    println!(
        "codel: runs of {codel}, mean delay {delay:.4} s, utilisation {used:.4}; fifo: runs of {fifo}, {long:.4} s"
    );
    assert!(codel <= 4, "{codel}");
    assert!(fifo > 10 * codel.max(1), "{fifo}");
    // A sawtooth that is cut near BDP + target uses at least the 75 % of a queue without room.
    assert!(used > 0.75 && delay < long / 4.0, "{used} {delay} {long}");
}

#[test]
fn pie_holds_the_delay_at_its_reference() {
    // RFC 8033 section 4.2 adds alpha (delay - target) + beta (delay - old delay) to the probability
    // every 15 ms. Under a load that does not respond, 1.25 C, p must be 0.2 = 1 - C/R in the mean, so
    // over a window of 80 s = 5333 updates the sum of alpha (delay - target) is the change of p, at
    // most 0.1 either way (scaling is 1 above p = 0.1): the mean delay differs from the target by
    // at most 0.1 / (0.125 x 5333) = 0.15 ms and the change of the delay itself. Estimates are of the
    // packet that leaves, means of all: one packet's time (0.8 ms) at most.
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "1 ms", "buffer": "500 pkt", "qdisc": "pie"})),
        "flows": [cbr("a", "b", 12.5e6, 1000)], "duration": 100, "warmup": 20,
    }));
    let link = outcome.link("a->b");
    let loss = link.window_drops as f64 / link.window_arrived as f64;
    println!("delay {:.3} ms, loss {loss:.5}", link.delay_mean_s * 1e3);
    assert!((link.delay_mean_s - 15e-3).abs() < 0.15e-3 + 0.8e-3, "{}", link.delay_mean_s);
    // All that is not served is dropped, give or take what waits: 500 of 125,000.
    assert!((loss - 0.2).abs() < 500.0 / 125_000.0, "{loss}");
}

#[test]
fn fq_codel_lets_a_sparse_flow_pass() {
    // RFC 8290 section 4.2: a flow that sends less than its share is always in the list of new queues,
    // served before the old. It waits for the packet in transmission (1.2 ms) and, when flows that
    // fell silent return, for one quantum (1514 B) of each of the four: 1.2 + 4 x 1.21 ms at most.
    let flows = json!([
        {"src": "a", "dst": "b", "count": 4, "stagger": "10 ms", "cc": "aimd"},
        cbr("a", "b", 1e5, 200),
    ]);
    let worst = |qdisc: &str| {
        let outcome = run(json!({
            "net": wire(json!({"rate": "10 Mbps", "delay": "10 ms", "buffer": "100 pkt", "qdisc": qdisc})),
            "flows": flows, "duration": 20, "record": {"tables": ["packets"], "flows": [4]},
        }));
        let mut arrived = std::collections::HashMap::new();
        let mut waits = Vec::new();
        for row in outcome.packets("a->b") {
            match row.event.name() {
                "arrival" => drop(arrived.insert(row.seq, row.at)),
                "departure" => waits.push(row.at.since(arrived[&row.seq]).seconds()),
                _ => {}
            }
        }
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        (mean, waits.iter().copied().fold(0.0, f64::max), outcome.flow(4).lost_data)
    };
    let (mean, max, lost) = worst("fq-codel");
    let (fifo_mean, _, _) = worst("fifo");
    println!("mean {mean:.6}, max {max:.6}, lost {lost}; fifo mean {fifo_mean:.6}");
    assert_eq!(lost, 0);
    assert!(max < 1.2e-3 + 4.0 * 1.2112e-3 && mean <= 1.2e-3, "{mean} {max}");
    assert!(fifo_mean > 10.0 * mean, "{fifo_mean}");
}

#[test]
fn ecn_shakes_hands_as_rfc_3168_says() {
    const ACK: u16 = 1;
    const SYN: u16 = 2;
    const ECT: u16 = 4;
    const CE: u16 = 8;
    const ECE: u16 = 16;
    const CWR: u16 = 32;
    const RETX: u16 = 64;
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "20 ms", "buffer": "200 pkt",
            "qdisc": {"kind": "red", "ecn": true, "min_th": 5, "max_th": 50}, "drop": [500, 3000]})),
        "flows": [{"src": "a", "dst": "b", "cc": "aimd"}], "tcp": {"ecn": true, "delayed_ack": 1, "initial_ssthresh": 30},
        "duration": 20, "record": {"tables": ["packets"]},
    }));
    let flow = outcome.flow(0);
    assert_eq!(flow.lost_data, 2, "only the listed packets are lost");
    assert!(flow.sender.ecn_reductions > 3, "{}", flow.sender.ecn_reductions);
    let mut retransmissions = 0;
    for row in outcome.packets("a->b") {
        if row.flags & RETX != 0 {
            retransmissions += 1;
            assert_eq!(row.flags & (ECT | CE), 0, "6.1.5: no ECT on a retransmission");
        } else if row.flags & SYN != 0 {
            assert_eq!(row.flags & (ECT | CE), 0, "6.1.1: no ECT on a request");
        } else {
            assert_ne!(row.flags & ECT, 0, "new data is ECN-capable");
        }
    }
    assert!(retransmissions >= 2);
    assert!(
        outcome.packets("b->a").all(|r| r.flags & (ECT | CE) == 0),
        "6.1.4: no ECT on a pure ACK"
    );
    // The receiver echoes from the first CE until it sees CWR, then stops; the sender sets CWR on the
    // first new segment after each reduction.
    let (marks, sent_cwr) = outcome
        .packets("a->b")
        .filter(|r| r.event.name() == "departure")
        .fold((0, 0), |(m, c), r| {
            (m + u64::from(r.flags & CE != 0), c + u64::from(r.flags & CWR != 0))
        });
    assert_eq!(marks, outcome.link("a->b").marks);
    let base = flow.sender.ecn_reductions;
    assert!(sent_cwr >= base && sent_cwr <= base + flow.sender.recoveries, "{sent_cwr} {base}");
    // Echoes come in runs; each run is begun by a mark and ended by CWR.
    let echoes: Vec<bool> = outcome
        .packets("b->a")
        .filter(|r| r.event.name() == "arrival" && r.flags & ACK != 0 && r.flags & SYN == 0)
        .map(|r| r.flags & ECE != 0)
        .collect();
    let runs = echoes.windows(2).filter(|w| !w[0] && w[1]).count() as u64;
    assert!(runs > 0 && runs <= marks && runs <= sent_cwr + 1, "{runs} {marks} {sent_cwr}");
}
