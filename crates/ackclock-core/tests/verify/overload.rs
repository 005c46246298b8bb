//! Constant rates against a queue: what goes in, comes out or is lost, to the packet.

use std::collections::HashMap;

use serde_json::json;

use crate::common::{Run, cbr, run, wire};

#[test]
fn the_excess_is_lost_and_the_link_is_full() {
    // R = 12.5 Mb/s into C = 10 Mb/s: loss 1 - C/R = 0.2. Over a window of T = 9 s R T / 8000 B x 8
    // = 14062.5 packets arrive and C T / 8000 = 11250 leave; each count may be off by the one packet
    // under way at either edge and the queue by one place.
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "5 ms", "buffer": "20 pkt"})),
        "flows": [cbr("a", "b", 12.5e6, 1000)], "duration": 10, "warmup": 1,
    }));
    let link = outcome.link("a->b");
    assert!((link.utilisation - 1.0).abs() < 1e-9, "{}", link.utilisation);
    assert!((link.window_arrived as f64 - 14_062.5).abs() <= 1.0, "{}", link.window_arrived);
    assert!((link.window_drops as f64 - 2812.5).abs() <= 2.0, "{}", link.window_drops);
    assert!((outcome.goodput(0) - 10e6).abs() <= 8000.0 / 9.0, "{}", outcome.goodput(0));
    // The queue moves between full and one less: an arrival every 0.64 ms, a departure every 0.8 ms.
    assert!(link.queue_mean > 19.0 && link.queue_mean <= 20.0, "{}", link.queue_mean);
    assert_eq!(link.queue_p99, 20.0);
    // A packet that is admitted waits behind 19 packets and the rest of the one in service.
    assert!(link.delay_mean_s > 19.0 * 0.8e-3 && link.delay_mean_s <= 20.0 * 0.8e-3);
}

#[test]
fn below_the_capacity_nothing_waits_and_nothing_is_lost() {
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "5 ms", "buffer": "1 pkt"})),
        "flows": [cbr("a", "b", 9e6, 1000)], "duration": 10, "warmup": 1,
    }));
    let link = outcome.link("a->b");
    // 9 s x 9 Mb/s / 8000 b = 10125 packets, give or take the one at each edge.
    assert!((link.utilisation - 0.9).abs() < 1.0 / 11_250.0, "{}", link.utilisation);
    assert_eq!((link.drops, link.queue_mean, link.delay_mean_s), (0, 0.0, 0.0));
}

#[test]
fn every_packet_is_accounted_for_flow_by_flow_whatever_the_discipline() {
    for qdisc in ["fifo", "red", "drr", "fq", "sfq", "codel", "pie", "fq-codel", "rio"] {
        let outcome = run(json!({
            "net": wire(json!({"rate": "10 Mbps", "delay": "5 ms", "buffer": "30 pkt", "qdisc": qdisc})),
            "flows": [cbr("a", "b", 5_000_001.0, 1000), cbr("a", "b", 4_000_003.0, 400),
                      cbr("a", "b", 3_000_007.0, 1500), {"src": "a", "dst": "b"}],
            "duration": 10, "warmup": 1, "record": {"tables": ["packets"]},
        }));
        for i in 0..4 {
            let flow = outcome.flow(i);
            let sent = if i < 3 { flow.sender.sent_packets } else { flow.sender.sent_packets + 1 }; // SYN
            let received = if i < 3 {
                flow.receiver.delivered_packets
            } else {
                flow.receiver.received_packets + 1
            };
            assert_eq!(sent, received + flow.lost_data + flow.under_way[0], "{qdisc}, flow {i}");
        }
        let link = outcome.link("a->b");
        assert_eq!(link.arrived, link.departed + link.drops + link.waiting, "{qdisc}");
        let lost: u64 = outcome.results.flows.iter().map(|f| f.lost_data).sum();
        assert_eq!(lost, link.drops, "{qdisc}");
        // RED goes by an average that lags behind: it still drops when the queue has all but drained, and
        // now and then drains it. Whatever it does, the link is idle only while nothing waits.
        let idle = idle_while_nothing_waits(&outcome, 1.0);
        assert!((link.utilisation + idle / 9.0 - 1.0).abs() < 1e-3, "{qdisc}: {idle} s idle");
        let most = if qdisc == "red" { 1e-2 } else { 1e-3 };
        assert!((link.utilisation - 1.0).abs() < most, "{qdisc}: {}", link.utilisation);
    }
}

/// How long the link of 10 Mb/s has been idle since `from`; each time the packet that ends it has come
/// at that very moment, so that nothing had waited.
fn idle_while_nothing_waits(outcome: &Run, from: f64) -> f64 {
    let (mut came, mut free, mut idle) = (HashMap::new(), 0, 0);
    for row in outcome.packets("a->b") {
        let packet = (row.flow, row.seq);
        match row.event.name() {
            "arrival" => {
                came.insert(packet, row.at.0);
            }
            "departure" => {
                if row.at.0 > free && row.at.seconds() >= from {
                    assert_eq!(came[&packet], row.at.0, "a packet waits at an idle link");
                    idle += row.at.0 - free;
                }
                // 8 bits in 0.8 us.
                free = row.at.0 + u64::from(row.size) * 800_000;
            }
            _ => {}
        }
    }
    idle as f64 / 1e12
}

#[test]
fn losses_of_flows_in_the_window_are_those_of_the_links() {
    // The two tables cut the run at the same time: what flows lost in the window, links dropped in it.
    // Nothing but data crosses the forward link.
    for warmup in [0.0, 1.0, 1.234_567, 4.5] {
        let outcome = run(json!({
            "net": {"kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "5 pkt"},
            "flows": [
                {"pair": 0, "source": {"kind": "cbr", "rate": "11 Mbps", "packet": 200}},
                {"pair": 1, "source": {"kind": "cbr", "rate": "9 Mbps", "packet": 300}},
            ],
            "duration": 5, "warmup": warmup,
        }));
        let flows: u64 = outcome.results.flows.iter().map(|f| f.window_lost_data).sum();
        let links: u64 = outcome.results.links.iter().map(|l| l.window_drops).sum();
        assert_eq!(flows, links, "warmup {warmup}");
    }
}

#[test]
fn a_packet_above_the_mtu_is_lost_and_the_books_say_why() {
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "5 ms", "buffer": "30 pkt", "mtu": 999})),
        "flows": [cbr("a", "b", 1e6, 1000), cbr("a", "b", 1e6, 999)], "duration": 1,
    }));
    assert_eq!(outcome.flow(0).lost_data, outcome.flow(0).sender.sent_packets);
    assert_eq!(outcome.flow(1).lost_data, 0);
    let too_big = ackclock_core::wire::DropReason::TooBig as usize;
    assert_eq!(outcome.link("a->b").drops_by_reason[too_big], outcome.flow(0).lost_data);
}

#[test]
fn listed_arrivals_are_dropped_and_no_others() {
    let outcome = run(json!({
        "net": wire(json!({"rate": "10 Mbps", "delay": "5 ms", "buffer": "30 pkt", "drop": [3, 0, 7, 3]})),
        "flows": [cbr("a", "b", 1e6, 1000)], "duration": 1, "record": {"tables": ["drops"]},
    }));
    let lost: Vec<u32> = outcome.results.tables.drops.iter().map(|d| d.seq).collect();
    assert_eq!(lost, [0, 3, 7]);
}

#[test]
fn random_losses_are_as_many_as_requested_and_independent() {
    // n = 10^5 arrivals, p = 0.01: n p = 1000, standard deviation sqrt(n p (1 - p)) = 31.5; and
    // runs of two: n p^2 = 10, standard deviation about sqrt(10) (Poisson). Four deviations each.
    let outcome = run(json!({
        "net": wire(json!({"rate": "100 Mbps", "delay": "5 ms", "buffer": "30 pkt", "loss": 0.01})),
        "flows": [cbr("a", "b", 80e6, 1000)], "duration": 10, "record": {"tables": ["drops"]},
    }));
    let lost: Vec<u32> = outcome.results.tables.drops.iter().map(|d| d.seq).collect();
    assert!((lost.len() as f64 - 1000.0).abs() < 126.0, "{}", lost.len());
    let pairs = lost.windows(2).filter(|w| w[1] == w[0] + 1).count();
    assert!((pairs as f64 - 10.0).abs() < 12.7, "{pairs}");
}

#[test]
fn a_rate_far_too_low_neither_panics_nor_wraps_the_clock() {
    // 10 bit/s where 10 Mb/s were meant: each packet takes 20 minutes, the queue ten years.
    for buffer in ["100000 pkt", "unlimited"] {
        let outcome = run(json!({
            "net": wire(json!({"rate": 10, "delay": "5 ms", "buffer": buffer})),
            "flows": [cbr("a", "b", 1e9, 1500)], "duration": 1,
        }));
        assert_eq!(outcome.flow(0).receiver.delivered_packets, 0);
        assert_eq!(outcome.link("a->b").departed, 1);
    }
}

#[test]
fn mean_delay_is_that_of_the_packets_that_left_under_any_discipline() {
    // 2 C into an unlimited queue for 4 s: packet k arrives at k/2 and leaves at k (in service times
    // of 1 ms); those that begin by t = 4000 wait k/2, on average 1 s.
    for qdisc in [json!("fifo"), json!({"kind": "drr", "quantum": 65_535})] {
        let outcome = run(json!({
            "net": wire(json!({"rate": "8 Mbps", "delay": "5 ms", "buffer": "unlimited", "qdisc": qdisc})),
            "flows": [cbr("a", "b", 16e6, 1000)], "duration": 4,
        }));
        let delay = outcome.link("a->b").delay_mean_s;
        assert!((delay - 1.0).abs() < 0.001, "{qdisc}: {delay}");
    }
}
