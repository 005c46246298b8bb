//! Links whose rate changes: steps, outages, delivery opportunities.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{Run, cbr, run, wire};

fn run_backlogged(
    schedule: Value,
    qdisc: &str,
    load: f64,
    packet: u32,
    duration: f64,
    warmup: f64,
) -> Run {
    run(json!({
        "net": wire(json!({"rate": "3 Mbps", "delay": "10 ms", "buffer": "50 pkt", "qdisc": qdisc, "schedule": schedule})),
        "flows": [cbr("a", "b", load, packet)], "duration": duration, "warmup": warmup,
        "record": {"tables": ["packets"]},
    }))
}

#[test]
fn a_backlogged_link_delivers_the_integral_of_its_rate() {
    // 3 Mb/s to 1 s, 8 to 2.5 s, 0 to 4 s, 1 to 5 s, 12 afterwards: by 7 s
    // 3 + 12 + 0 + 1 + 24 = 40 Mbit = 5,000,000 B. The packet in transmission is counted from its
    // beginning, so the count is above by less than one packet; in the utilisation it is exact.
    let steps = json!({"steps": [
        {"at": 1, "rate": 8e6}, {"at": 2.5, "rate": 0}, {"at": 4, "rate": 1e6}, {"at": 5, "rate": 12e6},
    ]});
    for qdisc in ["fifo", "drr"] {
        let outcome = run_backlogged(steps.clone(), qdisc, 20e6, 1000, 7.0, 0.0);
        let link = outcome.link("a->b");
        let excess = link.departed_bytes as f64 - 5_000_000.0;
        assert!((0.0..=1000.0).contains(&excess), "{qdisc}: {excess}");
        assert!((link.utilisation - 1.0).abs() < 1e-9, "{qdisc}: {}", link.utilisation);
        // Nothing leaves during the outage but the packet that was on its way into it.
        let silent = outcome.packets("a->b").filter(|r| {
            r.event.name() == "departure" && r.at.seconds() > 2.5 && r.at.seconds() < 4.0
        });
        assert_eq!(silent.count(), 0, "{qdisc}");
        // What arrives is what left a delay and a transmission before the end.
        let behind = link.departed_bytes - outcome.flow(0).receiver.delivered_bytes;
        assert!((behind as f64 - 12e6 / 8.0 * 0.01).abs() <= 2000.0, "{qdisc}: {behind}");
    }
}

#[test]
fn an_outage_for_ever_ends_nothing_but_delivery() {
    let steps = json!({"steps": [{"at": 1, "rate": 0}]});
    for qdisc in ["fifo", "fq-codel"] {
        let outcome = run(json!({
            "net": wire(json!({"rate": "3 Mbps", "delay": "10 ms", "buffer": "50 pkt", "qdisc": qdisc, "schedule": steps})),
            "flows": [{"src": "a", "dst": "b", "size": "1 MB"}], "duration": 100,
        }));
        let flow = outcome.flow(0);
        assert!(flow.sender.timeouts >= 5 && flow.sender.completed_s == 0.0, "{qdisc}");
        assert!(flow.receiver.delivered_packets < 300, "{qdisc}");
    }
}

#[test]
fn packets_leave_at_opportunities_and_only_then() {
    // Opportunities at 1, 3, 3, 10 ms of every 10 ms; packets of 1500 B, always waiting.
    // A packet leaves with its opportunity; its successor begins to wait at that moment.
    for qdisc in ["fifo", "drr"] {
        for warmup in [0.0, 0.2] {
            let outcome = run_backlogged(
                json!({"mahimahi": [1, 3, 3, 10]}),
                qdisc,
                20e6,
                1500,
                1.0005,
                warmup,
            );
            let link = outcome.link("a->b");
            // 100 periods of four, by 1.0005 s; one more packet waits in the transmitter.
            assert_eq!(link.departed, 401, "{qdisc}");
            assert!((link.utilisation - 1.0).abs() < 1e-9, "{qdisc}: {}", link.utilisation);
            // Arrivals are 10 ms behind the opportunities: those up to 990.5 ms, 99 periods.
            assert_eq!(outcome.flow(0).receiver.delivered_packets, 396, "{qdisc}");
            // Departures (beginnings) after the first are the opportunities before.
            let starts: Vec<u64> = outcome
                .packets("a->b")
                .filter(|r| r.event.name() == "departure")
                .map(|r| r.at.0 / 1_000_000_000)
                .collect();
            assert_eq!(starts[..6], [0, 1, 3, 3, 10, 11], "{qdisc}");
        }
    }
}

#[test]
fn two_small_packets_share_an_opportunity() {
    // 750 B: two to an opportunity, so twice as many packets and the same bytes.
    let outcome =
        run_backlogged(json!({"mahimahi": [1, 3, 3, 10]}), "fifo", 20e6, 750, 1.0005, 0.0);
    let bytes = outcome.link("a->b").departed_bytes;
    assert!((400 * 1500..=400 * 1500 + 1500).contains(&bytes), "{bytes}");
}

fn traces() -> PathBuf {
    crate::reference_data::folder("data/traces/mahimahi")
}

mod needs_data {
    use super::*;

    #[test]
    #[ignore = "needs traces/mahimahi (ACKCLOCK_DATA)"]
    fn a_real_trace_delivers_all_its_opportunities() {
        let folder = traces();
        // Some 18 s of a 3G uplink; a constant-rate flow always has a packet ready.
        for name in ["TMobile-UMTS-driving.up", "Verizon-EVDO-driving.down"] {
            let text = std::fs::read_to_string(folder.join(name)).unwrap();
            let times: Vec<u64> = text
                .lines()
                .map(|l| l.trim().parse().unwrap())
                .take_while(|t| *t < 20_000)
                .collect();
            let last = *times.last().unwrap();
            // The first packet arrives at 0 and may use an opportunity at 0 itself.
            let duration = (last as f64 + 0.5) / 1000.0;
            let outcome =
                run_backlogged(json!({"mahimahi": times}), "fifo", 100e6, 1500, duration, 0.0);
            let link = outcome.link("a->b");
            println!(
                "{name}: {} opportunities in {duration} s, {} departures, utilisation {}",
                times.len(),
                link.departed,
                link.utilisation
            );
            assert!(times.len() > 100);
            // All of them, those at 0 ms again as the trace begins anew, and the packet that waits for
            // the next.
            let again = times.iter().filter(|&&t| t == 0).count();
            assert_eq!(link.departed, (times.len() + again) as u64 + 1, "{name}");
            assert!((link.utilisation - 1.0).abs() < 1e-9, "{name}: {}", link.utilisation);
        }
    }
}
