//! Builds the links of a plan: rates, limits, queue disciplines, impairments, hazards.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::compile::{LinkSettings, Plan, PlanLink, Schedule};
use crate::era::Era;
use crate::error::Problem;
use crate::impairment::{self, Impairment, ImpairmentEnv};
use crate::memory::use_large_pages;
use crate::packet::network::failure::Failure;
use crate::packet::network::impaired::Impaired;
use crate::packet::network::link::Link;
use crate::packet::network::pausable::Pausable;
use crate::packet::network::rare::{Hazards, Loss};
use crate::packet::network::rate::{Opportunities, Rate, Steps};
use crate::packet::process::clock::Clock;
use crate::packet::setup::custom::{Custom, Place};
use crate::qdisc::{self, Limit, QdiscEnv, QueueDisc};
use crate::rng::{Purpose, Stream};
use crate::units::Span;

/// Builds the links with their disciplines and impairments; adds what is wrong to `problems`.
pub(crate) fn build_links<C: Clock>(
    plan: &Plan,
    custom: &dyn Custom,
    problems: &mut Vec<Problem>,
) -> Vec<Link<C>> {
    let mut links = Vec::with_capacity(plan.links.len());
    use_large_pages(&links);
    build_each(plan, custom, problems, |link| links.push(link));
    links
}

/// Builds the links one after another; what is only checked needs no room for all.
pub(crate) fn build_each<C: Clock>(
    plan: &Plan,
    custom: &dyn Custom,
    problems: &mut Vec<Problem>,
    mut take: impl FnMut(Link<C>),
) {
    let round_trips: Arc<[Span]> = plan.round_trips().into();
    let (through, keys, facts) = (plan.flows_through(), OnceCell::new(), OnceCell::new());
    let mut last_settings = None;
    let is_watched = plan.is_watched();
    for (i, link) in plan.links.iter().enumerate() {
        let is_fifo = link.settings.qdisc.kind() == "fifo";
        let passing = || keys.get_or_init(|| plan.keys_through())[i].as_slice().into();
        let facts_of = || Arc::clone(facts.get_or_init(|| plan.facts()));
        // The memory of a switch limits its queues together, and what a host has to send waits there while it is paused.
        let is_unlimited = plan
            .switches
            .as_ref()
            .is_some_and(|all| all.pfc.is_some() || all.is_switch[link.from.index()]);
        let mut limit = if is_unlimited { Limit::NONE } else { link.limit };
        let is_impaired = link.settings.is_impaired();
        // ns-2's drop-tail counts the packet in service.
        if is_impaired && is_fifo && plan.era == Era::Ns2 && limit.packets != u32::MAX {
            limit.packets = limit.packets.saturating_sub(1).max(1);
        }
        let env = QdiscEnv {
            rate: link.rate,
            delay: link.delay,
            limit,
            mean_packet: link.mean_packet,
            keys: plan.key_count,
            passing: if is_fifo && !is_impaired { Arc::default() } else { passing() },
            flows: through[i],
            round_trips: Arc::clone(&round_trips),
            facts: if link.settings.has_classes() { facts_of() } else { Arc::default() },
            era: plan.era,
        };
        match build_discipline(plan, link, i as u32, &env, custom, &mut last_settings) {
            Ok(disc) => {
                let disc = match disc {
                    Some(disc) if plan.switches.is_some() => {
                        Some(Box::new(Pausable::new(disc)) as Box<dyn QueueDisc>)
                    }
                    disc => disc,
                };
                let mut built = build_link(plan, link, i as u64, disc, is_watched);
                if is_impaired {
                    match build_impairments(link) {
                        Ok(chain) => {
                            let rng = Stream::new(plan.seed, Purpose::Impairment, i as u64);
                            built.impair(Impaired::new(chain, rng));
                        }
                        Err(new_problems) => problems.extend(new_problems),
                    }
                }
                take(built);
            }
            Err(new_problems) => problems.extend(new_problems),
        }
    }
}

/// Builds the discipline of a link, unless it is the computed FIFO. `last_settings` are the last settings of a
/// computed FIFO: they are checked once.
fn build_discipline<'a>(
    plan: &Plan,
    link: &'a PlanLink,
    index: u32,
    env: &QdiscEnv,
    custom: &dyn Custom,
    last_settings: &mut Option<&'a Arc<LinkSettings>>,
) -> Result<Option<Box<dyn QueueDisc>>, Vec<Problem>> {
    let LinkSettings { qdisc, qdisc_path, .. } = &*link.settings;
    let location = Place { index, name: &link.named(&plan.nodes), path: qdisc_path };
    if let Some(discipline) = custom.qdisc(qdisc, env, location) {
        return discipline.map(Some).map_err(|problem| vec![problem]);
    }
    if last_settings.is_some_and(|last_settings| Arc::ptr_eq(last_settings, &link.settings)) {
        return Ok(None);
    }
    // The parameters of the computed FIFO are checked as those of any other discipline.
    let built = qdisc::build(qdisc, env, qdisc_path)?;
    if plan.has_queue(&link.settings) {
        return Ok(Some(built));
    }
    *last_settings = Some(&link.settings);
    Ok(None)
}

/// Builds the impairments of a link's wire.
fn build_impairments(link: &PlanLink) -> Result<Vec<Box<dyn Impairment>>, Vec<Problem>> {
    let LinkSettings { impairments, impairments_path, failures, .. } = &*link.settings;
    let env = ImpairmentEnv { delay: link.delay };
    let (mut chain, mut problems) = (Vec::new(), Vec::new());
    for (i, spec) in impairments.iter().enumerate() {
        let path = format!("{impairments_path}[{i}]");
        match impairment::build(spec, &env, &path) {
            Ok(impairment) => chain.push(impairment),
            Err(new_problems) => problems.extend(new_problems),
        }
    }
    if failures.lose_in_flight() {
        chain.push(Box::new(Failure::new(failures, link.delay)));
    }
    if link.delay.0 == 0 && !impairments.is_empty() {
        let message = "need a link with a delay of more than 0 s";
        problems.push(Problem::new(&**impairments_path, message));
    }
    if problems.is_empty() { Ok(chain) } else { Err(problems) }
}

fn build_rate(link: &PlanLink) -> Rate {
    match &link.settings.schedule {
        None => Rate::Constant(link.rate),
        Some(Schedule::Steps(steps)) => {
            let steps: Vec<_> = steps.iter().map(|&(t, r)| (t.0, r)).collect();
            Rate::Steps(Box::new(Steps::new(link.rate, &steps)))
        }
        Some(Schedule::Mahimahi(ms)) => Rate::Opportunities(Box::new(Opportunities::new(ms))),
    }
}

/// The shortest time of each link, from an arrival there to one at its far end, for packets of `size` or more [ps]. A
/// packet that an impairment holds continues at its release, without a transmission.
pub(crate) fn shortest_times_of(plan: &Plan, size: u16) -> Vec<u64> {
    let shortest = |link: &PlanLink| {
        let is_impaired = link.settings.is_impaired();
        let transmission = if is_impaired { 0 } else { build_rate(link).shortest(size) };
        link.delay.0.saturating_add(transmission)
    };
    plan.links.iter().map(shortest).collect()
}

fn build_link<C: Clock>(
    plan: &Plan,
    link: &PlanLink,
    index: u64,
    disc: Option<Box<dyn QueueDisc>>,
    is_watched: bool,
) -> Link<C> {
    let mut limit = link.limit;
    // ns-2's drop-tail counts the packet in service, and is never quite filled by bytes.
    if plan.era == Era::Ns2 {
        if limit.packets != u32::MAX {
            limit.packets = limit.packets.saturating_sub(1);
        }
        if limit.bytes != u64::MAX {
            limit.bytes = limit.bytes.saturating_sub(1);
        }
    }
    let LinkSettings { mtu, loss, losses, drop, failures, .. } = &*link.settings;
    let rng = Stream::new(plan.seed, Purpose::Qdisc, index);
    let mut built = Link::new(build_rate(link), link.delay.0, limit, disc, rng);
    let loss = Loss::new(*loss, losses, || Stream::new(plan.seed, Purpose::Loss, index));
    let fails = !failures.times.is_empty();
    let hazardous = loss.is_some() || !drop.is_empty() || *mtu != u16::MAX || fails;
    if hazardous || is_watched {
        let dropped_arrivals = drop.iter().copied().collect();
        let down = failures.times.iter().map(|&(from, until)| (from.0, until.0)).collect();
        let hazards = Hazards { loss, listed: dropped_arrivals, mtu: *mtu, down };
        built.watch(hazardous.then_some(hazards));
    }
    built
}
