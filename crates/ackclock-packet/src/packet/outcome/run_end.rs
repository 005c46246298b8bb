//! From the last state of a run to its results.

use crate::compile::{Plan, PlanSender};
use crate::packet::network::branch::Groups;
use crate::packet::network::end::Flows;
use crate::packet::network::fabric::Fabric;
use crate::packet::network::link::Link;
use crate::packet::network::links::Links;
use crate::packet::network::route::Routes;
use crate::packet::network::wires::Wires;
use crate::packet::outcome::beginning::FoundWarmUp;
use crate::packet::outcome::fabric as flow_control;
use crate::packet::outcome::laws;
use crate::packet::outcome::ledger::Ledger;
use crate::packet::outcome::observe::Observer;
use crate::packet::outcome::piece::Take;
use crate::packet::outcome::results::{FlowResult, LinkResult, Results};
use crate::packet::process::clock::Clock;
use crate::packet::process::logical_process::Process;
use crate::units::{Span, Time};

/// The state of a run at its end.
pub(crate) struct EndedRun<C> {
    pub(crate) links: Links<C>,
    pub(crate) wires: Wires,
    pub(crate) flows: Flows<C>,
    pub(crate) routes: Routes,
    pub(crate) groups: Box<Groups>,
    pub(crate) fabric: Box<Fabric>,
    pub(crate) processes: Vec<Process>,
    pub(crate) observer: Observer<C>,
    /// The end of simulated time.
    pub(crate) end: u64,
    /// Turns of processes.
    pub(crate) turns: u64,
    /// Local events handled.
    pub(crate) events: u64,
    /// How a clock went back, if one did.
    pub(crate) clock_fault: Option<Box<str>>,
}

impl<C: Clock> EndedRun<C> {
    /// Takes the last samples, makes the results, and checks that they are possible. The recorded rows that are left
    /// are in the results, or go to `take`, whose answer no longer matters.
    ///
    /// # Errors
    /// If packets were not conserved or another law of `outcome/laws.rs` is broken.
    pub(crate) fn finish(mut self, plan: &Plan, take: Option<Take<'_>>) -> Result<Results, String> {
        if let Some(fault) = &self.clock_fault {
            return Err(fault.to_string());
        }
        let Self { links, wires, flows, processes, observer, end, fabric, routes, .. } = &mut self;
        for (p, process) in processes.iter_mut().enumerate() {
            observer.sample_ends(p, process, &flows.ends, *end);
        }
        for l in 0..links.list.len() {
            observer.sample_link(l, &mut links.list, *end);
            links.list[l].settle(*end + 1);
        }
        let frames = if fabric.is_used() {
            flow_control::count_frames(wires, routes, 2 * plan.flows.len())
        } else {
            0
        };
        let on_wires = (wires.count() + links.held()) as u64 - frames;
        let mut ledger = Ledger::new(on_wires);
        let links = &links.list;
        let mut link_results = Vec::with_capacity(links.len());
        for (l, link) in links.iter().enumerate() {
            link_results.push(ledger.add_link(link, l, *end, &observer.base, plan)?);
        }
        let mut flow_results: Vec<FlowResult> =
            (0..plan.flows.len()).map(|f| ledger.add_flow(flows, f, &observer.base)).collect();
        let mut held = plan.held.iter().map(|held| held.0 as usize).peekable();
        for (f, (flow, result)) in plan.flows.iter().zip(&mut flow_results).enumerate() {
            if held.next_if_eq(&f).is_none() {
                result.start_s = flow.start.seconds();
            }
        }
        ledger.balance()?;
        flow_control::check(fabric, links, plan, frames)?;
        let pfc = flow_control::results(fabric, links, *end);
        ledger.add_pauses(&pfc);
        let deadlock = flow_control::find_deadlock(fabric, links, plan);
        let storms = flow_control::find_storms(links, plan, *end);

        let hops = links.iter().map(Link::arrived).sum();
        self.check_branches()?;
        self.check_flows(plan)?;
        let Self { mut observer, end, .. } = self;
        if let Some(take) = take {
            observer.hand_on(end.saturating_add(1), take);
        }
        if let Some(fault) = observer.pieces.fault {
            return Err(fault.into());
        }
        // Departures that were computed may lie beyond the end. Without pieces these are all rows.
        let after_end = Time(plan.duration.0.saturating_add(1));
        let tables = observer.recorder.tables.take_before(after_end);
        let warm_ups = find_warm_ups(&observer, &link_results);
        let mut results = Results {
            window_s: Span(plan.duration.0 - plan.warmup.0).seconds(),
            packet_hops: hops,
            events: hops + self.events,
            activations: self.turns,
            flows: flow_results,
            links: link_results,
            warnings: Vec::new(),
            warm_ups,
            pfc,
            digest: ledger.digest,
            most_held_rows: observer.pieces.most_held,
            tables,
            delays: observer.recorder.delays,
            flow_samples: observer.flow_samples.unwrap_or_default(),
            link_samples: observer.link_samples.unwrap_or_default(),
        };
        laws::check(&results, plan)?;
        results.warnings = find_suspect_outcomes(&results, plan);
        results.warnings.extend(deadlock.into_iter().chain(storms));
        Ok(results)
    }
}

/// Looks for a warm-up of what the lasting flows got, and of the queue of the link that was used most.
fn find_warm_ups<C: Clock>(observer: &Observer<C>, links: &[LinkResult]) -> Vec<FoundWarmUp> {
    let Some(beginning) = &observer.beginning else { return Vec::new() };
    let use_of = |&link: &usize| links[link].utilisation;
    let busiest = (0..links.len()).rev().max_by(|a, b| use_of(a).total_cmp(&use_of(b)));
    let [ends_s, links_s] =
        [&observer.end_marks, &observer.link_marks].map(|marks| Span(marks.interval()).seconds());
    beginning.find(ends_s, links_s, busiest)
}

/// Reports outcomes that are possible, but so unlikely that the scenario should be checked.
fn find_suspect_outcomes(results: &Results, plan: &Plan) -> Vec<String> {
    let mut warnings = Vec::new();
    for (flow, flow_result) in plan.flows.iter().zip(&results.flows) {
        let end = flow.stop.map_or(plan.duration, |stop| stop.min(plan.duration));
        let active = end.seconds() - flow_result.start_s.max(plan.warmup.seconds());
        if flow_result.sender.ecn_failures > 0 {
            warnings.push(format!(
                "flow {}: its sender ended ECN, as the counts in acknowledgements were not those of what it had \
                 sent (RFC 9000, 13.4.2.1)",
                flow.name
            ));
        }
        let is_branch = matches!(*flow.sender, PlanSender::Branch { .. });
        if active > 5.0 && !is_branch && flow_result.receiver.delivered_packets == 0 {
            warnings.push(format!("flow {}: nothing was delivered in {active:.1} s", flow.name));
        }
    }
    warnings.truncate(100);
    warnings.extend(find_endless_waits(results, plan));
    warnings
}

/// Reports flows that wait for others until the end.
fn find_endless_waits(results: &Results, plan: &Plan) -> Option<String> {
    let has_begun = |flow: u32| !results.flows[flow as usize].start_s.is_nan();
    let mut held: Vec<u32> = plan.held.iter().map(|held| held.0).collect();
    held.retain(|&flow| !has_begun(flow));
    let name = |flow: u32| &plan.flows[flow as usize].name;
    let first = *held.first()?;
    let waits_for = plan.waits.iter().filter(|wait| wait.flow == first).map(|wait| wait.end / 2);
    let others: Vec<u32> = waits_for.collect();
    // One that has begun is under way; otherwise it waits itself.
    let other = others.iter().find(|&&other| has_begun(other)).or(others.first())?;
    let many = match held.len() {
        1 => format!("flow {} has", name(first)),
        count => format!("flow {} and {} more have", name(first), count - 1),
    };
    Some(format!("{many} not begun: flow {}, which it waits for, was not complete", name(*other)))
}
