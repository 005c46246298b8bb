//! Builds the observer of a plan: what is recorded, of which flows and links, and when samples are taken.

use crate::compile::{Plan, PlanFlow, PlanSender};
use crate::ids::LinkId;
use crate::packet::outcome::beginning::{self, Beginning};
use crate::packet::outcome::marks::Marks;
use crate::packet::outcome::observe::{Baseline, Observer};
use crate::packet::outcome::piece::HandedOn;
use crate::packet::process::clock::Clock;
use crate::record::{FlowDelays, FlowSamples, Recorder, Requested, Table};
use crate::units::Span;

/// Builds the observer of a run with so many processes.
pub(crate) fn build_observer<C: Clock>(plan: &Plan, processes: usize) -> Observer<C> {
    let record = &plan.record;
    let has = |t: Table| record.tables.contains(&t);
    let unrecorded = beginning::interval(plan);
    let interval_of =
        |table| record.interval.filter(|_| has(table)).map(|every| every.0.max(1)).or(unrecorded);
    let intervals = [interval_of(Table::FlowSamples), interval_of(Table::LinkSamples)];
    let marks_of = |interval, count| Marks::new(interval, plan.warmup.0, count);
    let rows = record.interval.map_or(0, |every| (plan.duration.0 / every.0.max(1) + 1) as usize);
    let mut observer = Observer {
        want_queues: has(Table::Queues),
        flow_samples: has(Table::FlowSamples).then(|| FlowSamples::new(plan.flows.len(), rows)),
        link_samples: has(Table::LinkSamples).then(|| Vec::with_capacity(rows * plan.links.len())),
        base: if plan.warmup.0 == 0 {
            Baseline::default()
        } else {
            Baseline::of(plan.flows.len(), plan.links.len())
        },
        beginning: unrecorded
            .and(intervals[0].zip(intervals[1]))
            .map(|(ends, links)| Beginning::new(plan, ends, links)),
        warmup: C::word(plan.warmup.0),
        end_marks: marks_of(intervals[0], processes),
        link_marks: marks_of(intervals[1], plan.links.len()),
        recorder: Recorder::default(),
        flow_filter: Vec::new(),
        link_filter: Vec::new(),
        pieces: HandedOn::default(),
    };
    observer.recorder.requested = Requested::by(&record.tables);
    observer.recorder.measured_from = plan.warmup;
    observer.recorder.delays = measure_delays(plan);
    if let Some(flows) = &record.flows {
        let mut keep = vec![false; plan.flows.len()];
        for flow in flows {
            keep[*flow as usize] = true;
        }
        observer.recorder.keep.clone_from(&keep);
        observer.flow_filter = keep;
    }
    if let Some(names) = &record.links {
        observer.link_filter =
            plan.links.iter().map(|l| names.contains(&l.name(&plan.nodes))).collect();
    }
    observer
}

/// The most flows of a run whose delays are counted: at most 7.7 kB each.
const MOST_FLOWS: usize = 10_000;

/// Room for the delays of every flow, which are round trips or, of sources without TCP, ways.
fn measure_delays(plan: &Plan) -> Vec<FlowDelays> {
    if plan.flows.len() > MOST_FLOWS {
        return Vec::new();
    }
    let way = |route: &[LinkId]| {
        route.iter().fold(0u64, |sum, l| sum.saturating_add(plan.links[l.index()].delay.0))
    };
    let propagation = |flow: &PlanFlow| match &*flow.sender {
        PlanSender::Source { .. } | PlanSender::Branch { .. } => way(&flow.route),
        // What is acknowledged ahead of its arrival takes less than that.
        _ if flow.tcp.optimistic_acks.is_some_and(|ahead| ahead > 0) => 0,
        _ => way(&flow.route).saturating_add(way(&flow.ack_route)),
    };
    let flows = plan.flows.iter();
    flows
        .map(|flow| FlowDelays { propagation: Span(propagation(flow)), ..FlowDelays::default() })
        .collect()
}
