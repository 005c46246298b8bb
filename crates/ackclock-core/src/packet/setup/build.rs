//! From the plan to a simulation that is ready to run.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;

use crate::agenda::Agenda;
use crate::compile::{LinkSettings, Plan, PlanFlow, PlanLink, PlanSender, Schedule};
use crate::error::Problem;
use crate::impairment::{self, Impairment, ImpairmentEnv};
use crate::memory::{give_back, in_large_pages};
use crate::outbox::Outbox;
use crate::packet::network::end::{End, Losses};
use crate::packet::network::impaired::Impaired;
use crate::packet::network::link::{Hazards, Link};
use crate::packet::network::rate::{Opportunities, Rate, Steps};
use crate::packet::outcome::observe::{Baseline, Marks, Observer};
use crate::packet::process::channel_heads::Heads;
use crate::packet::process::clock::{Timers, Timescale};
use crate::packet::process::event::{Key, Kind, Stage, What};
use crate::packet::process::logical_process::{Clock, Pending, Process};
use crate::packet::setup::custom::{Custom, Place};
use crate::packet::setup::endpoints;
use crate::packet::setup::partition::{Cut, followers, lookaheads};
use crate::packet::setup::routes::{Ground, Laid, Router};
use crate::packet::storage::ticket::Options;
use crate::packet::storage::wire_queue::Store;
use crate::packet::turn::prefetch::Scout;
use crate::packet::turn::simulator::Sim;
use crate::packet::turn::stub_hosts::Stubs;
use crate::qdisc::{self, QdiscEnv, QueueDisc};
use crate::record::FlowSamples;
use crate::registry::build_or_tell_all;
use crate::rng::{Purpose, Stream};
use crate::scenario::{Era, Table};
use crate::units::{Bytes, Span};

/// No packet is smaller unless a flow says so.
const SMALLEST_PACKET: u16 = 40;

/// Problems of the algorithms' parameters, without laying out the run.
///
/// Flows of one generator, and copies of one flow, have the same algorithms: one of them is built.
pub(in crate::packet) fn problems(plan: &Plan, custom: &dyn Custom) -> Vec<Problem> {
    let mut problems = Vec::new();
    links(plan, custom, &mut problems);
    let mut last = "";
    for (i, flow) in plan.flows.iter().enumerate() {
        // What a source makes depends on when it starts.
        let is_like_last = &*flow.path == last && matches!(*flow.sender, PlanSender::Tcp { .. });
        last = &flow.path;
        if !is_like_last && let Err(found) = endpoints::build(plan, i as u32, custom) {
            problems.extend(found);
        }
    }
    told_once(problems)
}

fn told_once(mut problems: Vec<Problem>) -> Vec<Problem> {
    let mut told = HashSet::new();
    problems.retain(|problem| told.insert((problem.path.clone(), problem.message.clone())));
    problems
}

/// Links with their disciplines, as far as these can be.
fn links(plan: &Plan, custom: &dyn Custom, problems: &mut Vec<Problem>) -> Vec<Link> {
    let mut links = Vec::with_capacity(plan.links.len());
    in_large_pages(&links);
    let round_trips: Arc<[Span]> = plan.round_trips().into();
    let (through, keys) = (plan.flows_through(), OnceCell::new());
    let mut known = None;
    for (i, link) in plan.links.iter().enumerate() {
        let is_fifo = link.settings.qdisc.kind() == "fifo";
        let passing = || keys.get_or_init(|| plan.keys_through())[i].as_slice().into();
        let mut limit = link.limit;
        let is_impaired = !link.settings.impairments.is_empty();
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
            era: plan.era,
        };
        match discipline(plan, link, i as u32, &env, custom, &mut known) {
            Ok(disc) => {
                let mut built = build_link(plan, link, i as u64, disc);
                if is_impaired {
                    match impairments(link) {
                        Ok(chain) => {
                            let rng = Stream::new(plan.seed, Purpose::Impairment, i as u64);
                            built.impair(Impaired::new(chain, rng));
                        }
                        Err(found) => problems.extend(found),
                    }
                }
                links.push(built);
            }
            Err(found) => problems.extend(found),
        }
    }
    links
}

/// The discipline of a link, if it is any other than the computed FIFO. The last settings of such a FIFO
/// are `known`: they need not be checked again.
fn discipline<'a>(
    plan: &Plan,
    link: &'a PlanLink,
    index: u32,
    env: &QdiscEnv,
    custom: &dyn Custom,
    known: &mut Option<&'a Arc<LinkSettings>>,
) -> Result<Option<Box<dyn QueueDisc>>, Vec<Problem>> {
    let LinkSettings { qdisc, qdisc_path, .. } = &*link.settings;
    let place = Place { index, name: &link.named(&plan.nodes), path: qdisc_path };
    if let Some(made) = custom.qdisc(qdisc, env, place) {
        return made.map(Some).map_err(|problem| vec![problem]);
    }
    if known.is_some_and(|known| Arc::ptr_eq(known, &link.settings)) {
        return Ok(None);
    }
    // The plain FIFO is computed ahead; its parameters are checked as any other discipline's.
    let built = build_or_tell_all(qdisc, |spec| qdisc::build(spec, env, qdisc_path))?;
    if qdisc.kind() != "fifo" || !link.settings.impairments.is_empty() {
        return Ok(Some(built));
    }
    *known = Some(&link.settings);
    Ok(None)
}

/// The impairments of a link's wire.
fn impairments(link: &PlanLink) -> Result<Vec<Box<dyn Impairment>>, Vec<Problem>> {
    let LinkSettings { impairments, impairments_path, .. } = &*link.settings;
    let env = ImpairmentEnv { delay: link.delay };
    let (mut chain, mut problems) = (Vec::new(), Vec::new());
    for (i, spec) in impairments.iter().enumerate() {
        let path = format!("{impairments_path}[{i}]");
        match build_or_tell_all(spec, |spec| impairment::build(spec, &env, &path)) {
            Ok(made) => chain.push(made),
            Err(found) => problems.extend(found),
        }
    }
    if link.delay.0 == 0 {
        let message = "need a link with a delay of more than 0 s";
        problems.push(Problem::new(&**impairments_path, message));
    }
    if problems.is_empty() { Ok(chain) } else { Err(problems) }
}

/// Flows from which on it is worth the while to give back what making the plan and the run has left.
const MANY: usize = 5000;

pub(in crate::packet) fn build(plan: &Plan, custom: &dyn Custom) -> Result<Sim, Vec<Problem>> {
    let mut sim = lay_out(plan, custom, Cut::of)?;
    if plan.flows.len() >= MANY {
        give_back();
        use_large_pages(&mut sim, plan.flows.len());
    }
    Ok(sim)
}

/// Puts what packets touch into large pages. Tables that asked for them when they were made have them, unless
/// the allocator gave them memory that had been in use.
fn use_large_pages(sim: &mut Sim, flows: usize) {
    sim.wires.reserve(2 * flows);
    sim.options.reserve(flows);
    in_large_pages(&sim.processes);
    in_large_pages(&sim.clocks);
    in_large_pages(&sim.links);
    in_large_pages(&sim.channels);
    in_large_pages(&sim.hops);
    in_large_pages(&sim.ends);
    in_large_pages(&sim.rngs);
}

/// Lays out a run whose network `cut` cuts into processes.
pub(in crate::packet) fn lay_out(
    plan: &Plan,
    custom: &dyn Custom,
    cut: impl Fn(&Plan, &[Link], &[u64], &[bool]) -> Cut,
) -> Result<Sim, Vec<Problem>> {
    let scale = Timescale::of(plan.era);
    let mut problems = Vec::new();
    let mut links = links(plan, custom, &mut problems);
    let mut pairs = Vec::with_capacity(plan.flows.len());
    for i in 0..plan.flows.len() {
        match endpoints::build(plan, i as u32, custom) {
            Ok(pair) => pairs.push(pair),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(told_once(problems));
    }

    let smallest = plan.flows.iter().map(smallest_packet).min().unwrap_or(SMALLEST_PACKET);
    // Of each link the shortest time from an arrival there to one at the far end.
    let shortest: Vec<u64> = links.iter().map(|link| link.shortest(smallest.max(1))).collect();
    let follows = followers(plan, &links);
    let cut = cut(plan, &links, &shortest, &follows);
    let mut processes = Vec::with_capacity(cut.is_cluster.len());
    in_large_pages(&processes);
    processes.extend(cut.is_cluster.iter().map(|_| Process::new()));
    let stages: Vec<Stage> =
        (0..links.len()).map(|l| cut.stage(l, plan.links[l].from.index())).collect();
    for (link, &stage) in links.iter_mut().zip(&stages) {
        link.stage = stage;
    }
    let route_lengths = plan.flows.iter().map(|flow| flow.route.len() + flow.ack_route.len() + 2);
    let steps = route_lengths.sum();
    let ground = Ground { cut: &cut, shortest: &shortest, stages: &stages, follows: &follows };
    let mut router = Router::new(ground, steps);
    let mut ends = Vec::with_capacity(2 * plan.flows.len());
    let mut rngs = Vec::with_capacity(2 * plan.flows.len());
    in_large_pages(&ends);
    in_large_pages(&rngs);
    let end_time = scale.word(plan.duration.0);
    for (i, (flow, (sender, receiver))) in plan.flows.iter().zip(pairs).enumerate() {
        let homes = [flow.src, flow.dst].map(|node| cut.node_process[node.index()]);
        let routes = [(&flow.route, homes[1]), (&flow.ack_route, homes[0])];
        let purposes = [Purpose::Sender, Purpose::Receiver];
        for (side, endpoint) in [sender, receiver].into_iter().enumerate() {
            let route = router.lay(routes[side].0, routes[side].1, (2 * i + 1 - side) as u32);
            let process = homes[side];
            let id = (2 * i + side) as u32;
            processes[process as usize].endpoints.push(id);
            // Receivers listen from the start; senders start at their time.
            if side == 0 && flow.start.0 <= plan.duration.0 {
                let what = What::new(Kind::Start, id);
                processes[process as usize].stages[Stage::Node as usize].locals.push(Key::new(
                    scale.word(flow.start.0),
                    flow.start.0,
                    what.0,
                ));
            }
            rngs.push(Stream::new(plan.seed, purposes[side], i as u64));
            ends.push(End {
                endpoint: Some(endpoint),
                route,
                pending: u64::MAX,
                sent: 0,
                received: 0,
            });
        }
    }
    let Laid { hops, channels, stretches } = router.finish(&mut processes);
    let outlets = lookaheads(stretches, &stages, &cut, &mut processes);
    let stubs = Stubs::new(&outlets, &mut processes);
    for (_, time) in processes.iter_mut().flat_map(|p| &mut p.sources) {
        *time = scale.word(*time);
    }
    for (l, link) in links.iter().enumerate() {
        let process = &mut processes[cut.link_process[l] as usize];
        if let Some(managed) = &link.disc
            && let Some(interval) = managed.disc.timer_interval()
        {
            let what = What::new(Kind::Disc, l as u32);
            process.stages[link.stage as usize].locals.push(Key::new(
                scale.word(interval.0.max(1)),
                interval.0,
                what.0,
            ));
        }
    }

    relays(&links, &cut.link_process, &mut processes);
    for (process, &is_cluster) in processes.iter_mut().zip(&cut.is_cluster) {
        // The links of a cluster are all of its second stage.
        let heads = if is_cluster { Heads::one } else { Heads::many };
        for pending in &mut process.stages {
            pending.heads = heads(pending.channels.len());
            pending.lookahead = scale.word(pending.lookahead);
        }
    }

    let warmup = scale.word(plan.warmup.0);
    let marks_of = |table, count| {
        let sampled = plan.record.tables.contains(&table);
        let interval = plan.record.interval.filter(|_| sampled).map(|every| every.0.max(1));
        Marks::new(scale, interval, plan.warmup.0, count)
    };
    let marks = marks_of(Table::FlowSamples, processes.len());
    let link_marks = marks_of(Table::LinkSamples, links.len());
    for process in &mut processes {
        process.next_mark = marks.first();
        process.settle_down();
    }
    for link in &mut links {
        link.mark_at(link_marks.first());
    }
    let observer = observer(plan);
    let process_count = processes.len();
    let mut scout = Scout::new(process_count);
    if processes.iter().any(Process::is_cluster) {
        scout.survey(&ends, &hops, &links);
    }
    Ok(Sim {
        processes,
        links,
        channels,
        wires: Store::new(),
        hops,
        ends,
        rngs,
        losses: vec![Losses::default(); plan.flows.len()],
        keys: plan.keys.clone(),
        observer,
        agenda: Agenda::new(process_count),
        scale,
        timers: Timers::new(scale, 2 * plan.flows.len()),
        clocks: vec![Clock::default(); process_count],
        end: end_time,
        warmup,
        marks,
        link_marks,
        beyond: Vec::new(),
        out: Outbox::default(),
        options: Options::default(),
        dropped: Vec::new(),
        next_local: u64::MAX,
        batch: Box::default(),
        activations: 0,
        events: 0,
        failure: None,
        scout,
        stubs,
        running: u32::MAX,
    })
}

/// A size that no packet of the flow falls below: bounds every link's lookahead from below.
fn smallest_packet(flow: &PlanFlow) -> u16 {
    let size = match &*flow.sender {
        PlanSender::Tcp { .. } => {
            let mss = u64::from(flow.tcp.mss.max(1));
            let last = flow.size.map_or(mss, |size| size.0.saturating_sub(1) % mss + 1);
            (last + u64::from(flow.tcp.header)).min(u64::from(flow.tcp.ack_size))
        }
        // A trace may hold packets of any size.
        PlanSender::Source(spec) if spec.kind() == "trace" => 1,
        PlanSender::Source(spec) => spec
            .params()
            .get("packet")
            .and_then(|packet| Bytes::deserialize(packet).ok())
            .map_or(u64::from(SMALLEST_PACKET), |packet| packet.0),
    };
    size.min(u64::from(SMALLEST_PACKET)) as u16
}

fn observer(plan: &Plan) -> Observer {
    let record = &plan.record;
    let has = |t: Table| record.tables.contains(&t);
    let rows = record.interval.map_or(0, |every| (plan.duration.0 / every.0.max(1) + 1) as usize);
    let mut observer = Observer {
        scale: Timescale::of(plan.era),
        want_packets: has(Table::Packets) || has(Table::Queues),
        want_queues: has(Table::Queues),
        want_drops: has(Table::Drops),
        flow_samples: has(Table::FlowSamples).then(|| FlowSamples::new(plan.flows.len(), rows)),
        link_samples: has(Table::LinkSamples).then(|| Vec::with_capacity(rows * plan.links.len())),
        base: if plan.warmup.0 == 0 {
            Baseline::default()
        } else {
            Baseline::of(plan.flows.len(), plan.links.len())
        },
        ..Observer::default()
    };
    observer.recorder.wanted = crate::record::Wanted {
        windows: has(Table::Windows),
        rtts: has(Table::Rtts),
        states: has(Table::States),
        drops: has(Table::Drops),
        packets: has(Table::Packets) || has(Table::Queues),
    };
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

fn build_link(plan: &Plan, link: &PlanLink, index: u64, disc: Option<Box<dyn QueueDisc>>) -> Link {
    let mut limit = link.limit;
    // ns-2's drop-tail counts the packet in service.
    if plan.era == Era::Ns2 && limit.packets != u32::MAX {
        limit.packets = limit.packets.saturating_sub(1);
    }
    let LinkSettings { mtu, schedule, loss, drop, .. } = &*link.settings;
    let rate = match schedule {
        None => Rate::Constant(link.rate),
        Some(Schedule::Steps(steps)) => {
            let steps: Vec<_> = steps.iter().map(|&(t, r)| (t.0, r)).collect();
            Rate::Steps(Box::new(Steps::new(link.rate, &steps)))
        }
        Some(Schedule::Mahimahi(ms)) => Rate::Opportunities(Box::new(Opportunities::new(ms))),
    };
    let rng = Stream::new(plan.seed, Purpose::Qdisc, index);
    let mut built = Link::new(Timescale::of(plan.era), rate, link.delay.0, limit, disc, rng);
    let loss = (*loss > 0.0).then(|| (*loss, Stream::new(plan.seed, Purpose::Loss, index)));
    let hazardous = loss.is_some() || !drop.is_empty() || *mtu != u16::MAX;
    let watched = plan.record.tables.iter().any(|t| matches!(t, Table::Packets | Table::Queues));
    if hazardous || watched {
        let listed = drop.iter().copied().collect();
        built.watch(hazardous.then_some(Hazards { loss, listed, mtu: *mtu }));
    }
    built
}

/// Finds the stages that are one computed FIFO link.
fn relays(links: &[Link], link_process: &[u32], processes: &mut [Process]) {
    let mut count = vec![0u32; processes.len()];
    for (l, link) in links.iter().enumerate().filter(|(_, link)| link.stage == Stage::Entry) {
        let process = link_process[l] as usize;
        count[process] += 1;
        let alone = count[process] == 1 && link.disc.is_none();
        processes[process].stages[Stage::Entry as usize].relay =
            if alone { l as u32 } else { Pending::NO_RELAY };
    }
}
