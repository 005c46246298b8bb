//! The packet engine in era `ns2` against what ns-2.35 did, event by event.

use ackclock_core::packet::Event;
use ackclock_core::units::{Bytes, Time};

use crate::cases::{difference, engine, folder, micros, parse_us, rows, single_cases};

/// A packet at the bottleneck.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    us: u64,
    flow: u32,
    seq: u32,
    size: u32,
}

/// Kinds of event by their names in the reference, arrivals first.
const KINDS: [&str; 4] = ["arr", "dep", "drop", "rx"];

/// Events of ns-2 and of the engine, by kind, in order of time; the engine's with their exact times.
struct Bottleneck {
    expected: [Vec<Row>; 4],
    seen: [Vec<(Time, Row)>; 4],
    /// Per flow: bytes delivered, packets sent, retransmitted, timeouts, cuts, cuts by ECN.
    expected_totals: Vec<[u64; 6]>,
    totals: Vec<[u64; 6]>,
}

impl Bottleneck {
    fn of(name: &str) -> Self {
        let folder = folder().join(name);
        let mut expected: [Vec<Row>; 4] = Default::default();
        for r in rows(&folder.join("bottleneck_events.csv.gz")) {
            let number = |i: usize| r[i].parse::<u32>().expect("a number");
            let kind = KINDS.iter().position(|k| *k == r[1]).expect("a kind of event");
            let us = parse_us(&r[0]);
            expected[kind].push(Row { us, flow: number(2), seq: number(3), size: number(4) });
        }
        let (plan, results) = engine::run(engine::four_flows(&folder));
        let link = &plan.links[plan.link("r0->r1").expect("the bottleneck").index()];
        let mut seen: [Vec<(Time, Row)>; 4] = Default::default();
        for p in &results.tables.packets {
            let size = u32::from(p.size);
            let row = |at| (at, Row { us: micros(at), flow: p.flow, seq: p.seq, size });
            let kind = match p.event {
                Event::Arrival => 0,
                Event::Departure => 1,
                Event::Drop | Event::Loss => 2,
                Event::Trim => unreachable!("no queue of this network trims"),
            };
            seen[kind].push(row(p.at));
            let far = p.at + link.rate.transmission(Bytes(u64::from(p.size))) + link.delay;
            if p.event == Event::Departure && far <= plan.duration {
                seen[3].push(row(far));
            }
        }
        let expected_totals = rows(&folder.join("flows_out.csv"))
            .iter()
            .map(|r| std::array::from_fn(|i| r[i + 1].parse().expect("a count")))
            .collect();
        let totals = results.flows.iter().enumerate().map(|(i, f)| {
            let s = &f.sender;
            let requests = seen[0].iter().filter(|r| (r.1.flow, r.1.seq) == (i as u32, 0)).count();
            // ns-2's sink counts the 40 bytes of the request, its sender requests as packets.
            [
                f.receiver.delivered_bytes + 40,
                s.sent_packets + requests as u64,
                s.retransmits + requests as u64 - 1,
                s.timeouts,
                s.recoveries + s.timeouts + s.ecn_reductions,
                s.ecn_reductions,
            ]
        });
        let totals = totals.collect();
        Self { expected, seen, expected_totals, totals }
    }

    /// The first difference in events of a kind: when, and in words.
    fn difference(&self, kind: usize) -> Option<(u64, String)> {
        let seen: Vec<Row> = self.seen[kind].iter().map(|s| s.1.clone()).collect();
        let (row, us, text) = difference(&self.expected[kind], &seen, |r| r.us, same)?;
        Some((us, format!("{} {row} at {us} us: {text}", KINDS[kind])))
    }
}

fn same(a: &Row, b: &Row) -> bool {
    a.us.abs_diff(b.us) <= 1 && Row { us: 0, ..a.clone() } == Row { us: 0, ..b.clone() }
}

fn check(name: &str) {
    let case = Bottleneck::of(name);
    for kind in 0..KINDS.len() {
        assert_eq!(case.difference(kind), None);
    }
    assert_eq!(case.totals, case.expected_totals);
    let count: usize = case.expected.iter().map(Vec::len).sum();
    println!("{name}: {count} events agree");
}

mod needs_data {
    use super::*;

    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn every_send_drop_and_window_of_a_lone_flow() {
        let folder = folder();
        let cases = single_cases(&folder);
        assert!(!cases.is_empty(), "no case in {}", folder.display());
        let mut failures = Vec::new();
        for case in &cases {
            let seen = engine::observe(case);
            match case.compare(&seen) {
                Ok(()) => println!(
                    "{}: {} sends, {} drops, {} windows agree",
                    case.name,
                    seen.sends.len(),
                    seen.drops.len(),
                    seen.states.len()
                ),
                Err(difference) => failures.push(difference),
            }
        }
        assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures.join("\n"));
    }

    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn every_packet_of_four_flows_at_a_drr_bottleneck() {
        check("multi_drr");
    }

    /// In a shared queue the order of simultaneous arrivals is the order of departures; at 4.073925 s the
    /// rounding of ns-2's clock decides it.
    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn every_packet_of_four_flows_at_a_drop_tail_bottleneck() {
        check("multi_droptail");
    }
}
