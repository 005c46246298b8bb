//! ns-2 reference cases: the arrivals that ns-2.35 saw at a bottleneck, replayed into a discipline
//! of era `ns2`, must leave and be dropped in ns-2's order.
//!
//! The tests are ignored by default, as their data may be absent (see `reference_data`).

use super::testing::{Bench, env};
use super::{Limit, QdiscEnv, QueueDisc, build};
use crate::era::Era;
use crate::reference_data;
use crate::registry::Spec;
use crate::units::{BitRate, Span, Time};

/// Replays arrivals and departure times; compares which packet departs and which is dropped.
fn replay(case: &str, spec: &Spec, limit: Limit) {
    let text = reference_data::ns2(case, "bottleneck_events.csv.gz");
    let env = QdiscEnv { limit, era: Era::Ns2, rate: BitRate(2_000_000), ..env() };
    let mut bench = Bench::new(build(spec, &env, "qdisc").unwrap());
    // Number that the bench gave to each arrival -> ns-2's flow and sequence number.
    let mut names: Vec<(u32, u32)> = Vec::new();
    let mut drops = Vec::new();
    let (mut departures, mut dropped) = (0, 0);
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let name: (u32, u32) = (fields[2].parse().unwrap(), fields[3].parse().unwrap());
        bench.now = Time::ZERO + Span::from_seconds(fields[0].parse().unwrap());
        match fields[1] {
            "arr" => {
                assert!(drops.is_empty(), "{line}: ns-2 did not drop {drops:?}");
                bench.arrive(name.0, fields[4].parse().unwrap());
                names.push(name);
                drops = bench.drops().iter().map(|&(n, _)| names[n as usize]).collect();
            }
            "dep" => {
                let sent = bench.depart().map(|t| names[t.packet.seq as usize]);
                assert_eq!(sent, Some(name), "{line}");
                departures += 1;
            }
            "drop" => {
                assert!(!drops.is_empty(), "{line}: not dropped here");
                assert_eq!(drops.remove(0), name, "{line}");
                dropped += 1;
            }
            _ => {}
        }
    }
    assert_eq!(names.len(), departures + dropped + bench.qdisc.len());
    assert!(departures > 4000 && dropped > 100, "{departures} {dropped}");
}

mod needs_data {
    use super::*;

    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn drop_tail_agrees_with_ns2_packet_by_packet() {
        replay("multi_droptail", &"fifo".into(), Limit { packets: 20, bytes: u64::MAX });
    }

    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn drr_agrees_with_ns2_packet_by_packet() {
        let spec =
            serde_json::from_value(serde_json::json!({ "kind": "drr", "quantum": 1000 })).unwrap();
        replay("multi_drr", &spec, Limit { packets: u32::MAX, bytes: 20_000 });
    }
}
