//! The packet engine in era `ns2` against what ns-2.35 did, event by event.

#[path = "ns2_cases/engine.rs"]
mod engine;
mod ns2_cases;

use ackclock_core::packet::Event;
use ackclock_core::units::Bytes;

use ns2_cases::{difference, folder_or_skip, micros, parse_us, rows, single_cases};

#[test]
fn every_send_drop_and_window_of_a_lone_flow() {
    let Some(folder) = folder_or_skip("ns2_agreement") else { return };
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

/// What happened to a packet at the bottleneck.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    us: u64,
    flow: u32,
    seq: u32,
    size: u32,
}

/// Kinds of event by their names in the reference.
const KINDS: [&str; 4] = ["arr", "dep", "drop", "rx"];

/// By kind of event, in order of time.
fn at_bottleneck(name: &str) -> Option<[[Vec<Row>; 4]; 2]> {
    let folder = folder_or_skip(name)?.join(name);
    let mut expected: [Vec<Row>; 4] = Default::default();
    for r in rows(&folder.join("bottleneck_events.csv.gz")) {
        let number = |i: usize| r[i].parse::<u32>().expect("a number");
        let kind = KINDS.iter().position(|k| *k == r[1]).expect("a kind of event");
        let us = parse_us(&r[0]);
        expected[kind].push(Row { us, flow: number(2), seq: number(3), size: number(4) });
    }
    let (plan, results) = engine::run(engine::four_flows(&folder));
    let link = plan.links.iter().find(|l| l.name == "r0->r1").expect("the bottleneck");
    let mut seen: [Vec<Row>; 4] = Default::default();
    for p in &results.packets {
        let row = |us| Row { us, flow: p.flow, seq: p.seq, size: u32::from(p.size) };
        let kind = match p.event {
            Event::Arrival => 0,
            Event::Departure => 1,
            Event::Drop => 2,
        };
        seen[kind].push(row(micros(p.at)));
        if p.event == Event::Departure {
            let far = p.at + link.rate.transmission(Bytes(u64::from(p.size))) + link.delay;
            if far <= plan.duration {
                seen[3].push(row(micros(far)));
            }
        }
    }
    Some([expected, seen])
}

fn same(a: &Row, b: &Row) -> bool {
    a.us.abs_diff(b.us) <= 1 && Row { us: 0, ..a.clone() } == Row { us: 0, ..b.clone() }
}

fn four_flows_agree(name: &str) {
    let Some([expected, seen]) = at_bottleneck(name) else { return };
    let mut differences = Vec::new();
    for kind in 0..4 {
        if let Some((row, us, text)) = difference(&expected[kind], &seen[kind], |r| r.us, same) {
            differences.push((us, format!("{} {row} at {us} us: {text}", KINDS[kind])));
        }
    }
    differences.sort();
    let count: usize = expected.iter().map(Vec::len).sum();
    assert!(differences.is_empty(), "{name}: {count} events, {differences:#?}");
    println!("{name}: {count} events at the bottleneck agree");
}

#[test]
fn every_packet_of_four_flows_at_a_drop_tail_bottleneck() {
    four_flows_agree("multi_droptail");
}

#[test]
fn every_packet_of_four_flows_at_a_drr_bottleneck() {
    four_flows_agree("multi_drr");
}
