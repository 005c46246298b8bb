//! ns-2's senders and sinks against what ns-2.35 did, event by event, in a small network of this
//! test's own.

#[path = "ns2_cases/net.rs"]
mod net;
mod ns2_cases;

use ackclock_core::ids::FlowId;
use ackclock_core::tcp::ns2::{Ns2Parts, Ns2Sender, Ns2Sink};

use net::{Flow, Link, Net, What};
use ns2_cases::{Aimd, DropRow, Observed, SingleCase, micros};

/// Link 1 is the bottleneck.
fn run(case: &SingleCase) -> Observed {
    let access = || Link::new(case.access_rate, case.access_delay, case.access_limit);
    let mut bottleneck = Link::new(case.rate, case.delay, case.limit);
    bottleneck.listed.clone_from(&case.listed_drops);
    let back = Link::new(case.rate, case.delay, case.reverse_limit);
    let flow = FlowId(0);
    let sender = Ns2Sender::new(Ns2Parts {
        flow,
        config: case.config.clone(),
        options: case.options.clone(),
        variant: case.variant,
        size: None,
        stop: None,
        cc: Box::new(Aimd { a: 1.0, b: 0.5 }),
    });
    let flow = Flow {
        sender,
        sink: Ns2Sink::new(flow, case.config.clone(), case.sack),
        start: case.start,
        data_path: vec![0, 1],
        ack_path: vec![2, 3],
    };
    let mut net = Net::new(vec![access(), bottleneck, back, access()], vec![flow]);
    net.run(case.end);
    let drops = net
        .log
        .iter()
        .filter(|r| r.what == What::Drop)
        .map(|r| DropRow { us: micros(r.at), seq: r.seq })
        .collect();
    Observed {
        sends: net.sends.into_iter().map(|(_, r)| r).collect(),
        drops,
        states: net.states.into_iter().map(|(_, r)| r).collect(),
    }
}

#[test]
fn every_send_drop_and_state_of_a_lone_flow_agrees_with_ns2() {
    let Some(folder) = ns2_cases::folder_or_skip("ns2_single_flow") else { return };
    let cases = ns2_cases::single_cases(&folder);
    assert!(!cases.is_empty(), "no case in {}", folder.display());
    let mut failures = Vec::new();
    for case in &cases {
        let seen = run(case);
        match case.compare(&seen) {
            Ok(()) => println!(
                "{}: {} sends, {} drops, {} states agree",
                case.name,
                seen.sends.len(),
                seen.drops.len(),
                seen.states.len()
            ),
            Err(difference) => failures.push(difference),
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
