//! However the engine goes about a run, the results are the same: with and without clusters, stubs, prefetching and
//! computed FIFOs, alone and beside other runs.

use ackclock_core::compile::{self, Plan};
use ackclock_core::packet::{
    self, Custom, Event, Made, PacketRow, Place, RegistryOnly, Results, Tactics,
};
use ackclock_core::qdisc::{self, QdiscEnv, QueueDisc};
use ackclock_core::registry::Spec;
use ackclock_core::scenario::Scenario;
use ackclock_core::units::Bytes;
use serde_json::json;

use crate::documents::{MOST_EVENTS, small_flow, small_net};
use crate::input::Input;
use crate::schema::algorithm;
use crate::show;

/// Stores the packets of every FIFO instead of computing their departures.
struct StoredFifo;

impl Custom for StoredFifo {
    fn qdisc(&self, spec: &Spec, env: &QdiscEnv, location: Place<'_>) -> Made<dyn QueueDisc> {
        let built = (spec.kind() == "fifo").then(|| qdisc::build(spec, env, location.path))?;
        Some(built.map_err(|mut problems| problems.remove(0)))
    }
}

/// Segments of a flow in flight at most.
const MOST_WINDOW: u32 = 500;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mut net = small_net(&mut input);
    let is_fifo = input.flag();
    if is_fifo {
        net["qdisc"] = json!("fifo");
        // Odd rates, so that few events fall on one picosecond.
        net["rate"] = json!(*input.pick(&[1_234_567, 7_654_321, 654_323]));
        net["delay"] = json!(format!("{} ns", 10_007 * (1 + input.below(400))));
    }
    let mut flows: Vec<_> = (0..=input.below(4)).map(|_| small_flow(&mut input)).collect();
    let era = if is_fifo { "rfc" } else { *input.pick(&["rfc", "ns2", "2002", "1999"]) };
    for flow in flows.iter_mut().filter_map(|flow| flow.as_object_mut()) {
        if era == "rfc" && !flow.contains_key("source") && input.one_in(4) {
            flow.remove("recovery");
            flow.remove("tcp");
            flow.insert("transport".to_owned(), json!("quic"));
        }
    }
    let mut document = json!({
        "net": net, "flows": flows, "duration": 0.1, "warmup": input.share() * 0.09, "era": era,
        "seed": input.byte(),
        // A control whose windows grow 10^9 times fills the memory with recorded packets.
        "tcp": { "receiver_window": MOST_WINDOW }, "quic": { "receiver_window": MOST_WINDOW },
        "record": { "tables": ["packets", "drops", "windows", "flow_samples", "link_samples"], "interval": 0.01 },
    });
    if !is_fifo && input.one_in(3) {
        document["links"] =
            json!([{ "link": "*", "impairments": [algorithm(&mut input, "impairment")] }]);
    }
    show(&document);
    let Ok(scenario) = serde_json::from_value::<Scenario>(document) else { return };
    let Ok(plan) = compile::compile(&scenario) else { return };
    // Recorded packets take memory.
    if compile::predict(&plan).events > MOST_EVENTS {
        return;
    }
    let all = Tactics { clusters: true, stubs: true, prefetch: true };
    let Some(first) = results(&plan, &RegistryOnly, all) else { return };
    for tactics in [
        Tactics { clusters: false, ..all },
        Tactics { stubs: false, ..all },
        Tactics { prefetch: false, ..all },
        Tactics { clusters: false, stubs: false, prefetch: false },
    ] {
        let other = results(&plan, &RegistryOnly, tactics);
        let differs = other.map_or_else(
            || Some("one run failed".to_owned()),
            |other| difference(&everything(&first), &everything(&other)),
        );
        if let Some(differs) = differs {
            panic!("{tactics:?}: {differs}\nof {}", json!(scenario));
        }
    }
    let together = std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..2).map(|_| scope.spawn(|| results(&plan, &RegistryOnly, all))).collect();
        runs.into_iter()
            .all(|run| run.join().is_ok_and(|r| r.is_some_and(|r| r.digest == first.digest)))
    });
    assert!(together, "runs on two threads differ: {scenario:?}");
    if is_fifo && !plan.era.is_ns2() && !has_ties(&plan, &first.tables.packets) {
        let stored = results(&plan, &StoredFifo, all);
        let packets =
            |results: &Results| format!("{:?} {:016x}", results.tables.packets, results.digest);
        let differs = stored.map_or_else(
            || Some("one run failed".to_owned()),
            |stored| difference(&packets(&first), &packets(&stored)),
        );
        if let Some(differs) = differs {
            panic!("stored FIFO: {differs}\nof {}", json!(scenario));
        }
    }
}

/// Whether a packet arrives at a link exactly when a transmission there ends. A computed FIFO then lets what an
/// endpoint sends find the place that becomes free, and a stored one handles the events by when they were scheduled.
fn has_ties(plan: &Plan, packets: &[PacketRow]) -> bool {
    // A packet departs when its transmission begins.
    let mut ends = vec![None; plan.links.len()];
    packets.chunk_by(|a, b| a.at == b.at).any(|moment| {
        let is = |row: &&PacketRow, event| row.event == event;
        let tie = moment
            .iter()
            .filter(|row| is(row, Event::Arrival))
            .any(|row| ends[row.link as usize] == Some(row.at));
        for row in moment.iter().filter(|row| is(row, Event::Departure)) {
            let rate = plan.links[row.link as usize].rate;
            ends[row.link as usize] = Some(row.at + rate.transmission(Bytes(u64::from(row.size))));
        }
        tie
    })
}

/// Where two texts begin to differ, with what is there.
fn difference(first: &str, other: &str) -> Option<String> {
    let first_difference = first.bytes().zip(other.bytes()).position(|(a, b)| a != b);
    let index =
        first_difference.or((first.len() != other.len()).then(|| first.len().min(other.len())))?;
    let excerpt = |text: &str| {
        text.get(index.saturating_sub(300)..(index + 200).min(text.len())).unwrap_or("").to_owned()
    };
    Some(format!("byte {index}:\n{}\n{}", excerpt(first), excerpt(other)))
}

fn results(plan: &Plan, custom: &dyn Custom, tactics: Tactics) -> Option<Results> {
    match packet::run_by(plan, custom, tactics) {
        Ok(results) => Some(results),
        Err(packet::RunError::Fault(broken)) => panic!("{broken}"),
        Err(_) => None,
    }
}

/// All that a run reports but the number of turns.
fn everything(results: &Results) -> String {
    format!("{results:?}").replace(&format!("activations: {}", results.activations), "")
}
