//! Builds a simulation from a plan.

use std::collections::HashSet;

use crate::compile::{Direction, Plan, PlanConnection, PlanFlow, PlanSender};
use crate::error::Problem;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::memory::{release_free_memory, use_large_pages};
use crate::multicast::MEMBERSHIP_BYTES;
use crate::packet::network::end::{Choice, End, Flows, Paths};
use crate::packet::network::fabric::Fabric;
use crate::packet::network::link::Link;
use crate::packet::network::links::Links;
use crate::packet::network::recycle::Recycling;
use crate::packet::network::route::Routes;
use crate::packet::network::waits::Waits;
use crate::packet::network::wires::Wires;
use crate::packet::process::channel_heads::Heads;
use crate::packet::process::clock::{Clock, Picoseconds};
use crate::packet::process::event::{Key, Kind, Stage, What};
use crate::packet::process::logical_process::{Pending, Process};
use crate::packet::process::schedule::Schedule;
use crate::packet::process::stubs::Stubs;
use crate::packet::setup::custom::{Custom, Tactics};
use crate::packet::setup::endpoints;
use crate::packet::setup::fabric::{Queues, build_fabric};
use crate::packet::setup::groups::build_groups;
use crate::packet::setup::links::{build_each, build_links, shortest_times_of};
use crate::packet::setup::observer::build_observer;
use crate::packet::setup::partition::{Partition, find_followers, find_windows, set_lookaheads};
use crate::packet::setup::routes::{Laid, Layout, Router};
use crate::packet::turn::batch::Batch;
use crate::packet::turn::border::Border;
use crate::packet::turn::prefetcher::Prefetcher;
use crate::packet::turn::simulator::{Cause, Sim, Tally};
use crate::rng::{Purpose, Stream};
use crate::traffic::source::Bundles;
use crate::wire::PathRecords;

/// No packet is smaller unless a flow says so.
const SMALLEST_PACKET: u16 = 40;

/// Finds bad parameters of algorithms, without building the run.
///
/// Flows of one generator, and copies of one flow, have the same algorithms: one of them is built.
pub(crate) fn find_problems(plan: &Plan, custom: &dyn Custom) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut queues = Vec::new();
    build_each::<Picoseconds>(plan, custom, &mut problems, |mut link| {
        if plan.switches.is_some() {
            queues.push(Queues::of(&mut link));
        }
    });
    if problems.is_empty() {
        problems.extend(build_fabric(plan, &queues).err().into_iter().flatten());
    }
    let mut last = "";
    let bundles = Bundles::default();
    for (i, flow) in plan.flows.iter().enumerate() {
        // What a source sends depends on when it starts.
        let is_like_last = &*flow.path == last && is_transport(&flow.sender);
        last = &flow.path;
        if !is_like_last
            && let Err(new_problems) = endpoints::build(plan, i as u32, custom, &bundles)
        {
            problems.extend(new_problems);
        }
    }
    without_duplicates(problems)
}

/// Keeps the first of equal problems.
fn without_duplicates(mut problems: Vec<Problem>) -> Vec<Problem> {
    let mut first_seen = HashSet::new();
    problems.retain(|problem| first_seen.insert((problem.path.clone(), problem.message.clone())));
    problems
}

/// Flows from which on spare memory of compiling and building is released, and large pages are used.
const MANY: usize = 5000;

/// Builds a run.
///
/// # Errors
/// Bad parameters of algorithms.
pub(crate) fn build<C: Clock>(plan: &Plan, custom: &dyn Custom) -> Result<Sim<C>, Vec<Problem>> {
    let mut sim = build_with(plan, custom, Partition::of, |_| true)?;
    use_large_tables(&mut sim, plan.flows.len());
    Ok(sim)
}

/// Moves the tables of a run of many flows to large pages.
pub(crate) fn use_large_tables<C: Clock>(sim: &mut Sim<C>, flows: usize) {
    if flows < MANY {
        return;
    }
    release_free_memory();
    // Tables that requested large pages when they were allocated have them, unless the allocator reused memory.
    sim.wires.use_large_pages(flows);
    sim.links.use_large_pages();
    sim.routes.use_large_pages();
    use_large_pages(&sim.schedule.processes);
    use_large_pages(&sim.schedule.progress);
    use_large_pages(&sim.flows.ends);
    use_large_pages(&sim.flows.rngs);
}

/// The shortest time of each link, from an arrival there to one at its far end.
pub(crate) fn shortest_times(plan: &Plan) -> Vec<u64> {
    let of_flows = plan.flows.iter().map(smallest_packet);
    let last_of = |connection: &PlanConnection| {
        let flow = &plan.flows[connection.flows.start as usize];
        let last = flow.tcp.mss - connection.parts(flow).missing_bytes();
        (last + flow.tcp.header).min(u32::from(SMALLEST_PACKET)) as u16
    };
    let smallest = of_flows.chain(plan.connections.iter().map(last_of)).min();
    shortest_times_of(plan, smallest.unwrap_or(SMALLEST_PACKET).max(1))
}

/// Builds a run by the given tactics.
///
/// # Errors
/// Bad parameters of algorithms.
pub(crate) fn build_by<C: Clock>(
    plan: &Plan,
    custom: &dyn Custom,
    tactics: Tactics,
) -> Result<Sim<C>, Vec<Problem>> {
    let partition = |plan: &Plan, links: &[Link<C>], shortest: &[u64], follows: &[bool]| {
        let partition = if tactics.clusters {
            Partition::of(plan, links, shortest, follows)
        } else {
            Partition::apart(plan)
        };
        Partition { stubs_wait: tactics.stubs && partition.stubs_wait, ..partition }
    };
    let mut sim = build_with(plan, custom, partition, |_| true)?;
    (sim.prefetcher.processes, sim.prefetcher.packets) = (tactics.prefetch, tactics.prefetch);
    Ok(sim)
}

/// Builds a run whose network `partition` divides into processes; endpoints at nodes that are not `is_local` are left
/// out.
pub(crate) fn build_with<C: Clock>(
    plan: &Plan,
    custom: &dyn Custom,
    partition: impl Fn(&Plan, &[Link<C>], &[u64], &[bool]) -> Partition,
    is_local: impl Fn(NodeId) -> bool,
) -> Result<Sim<C>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut links = build_links::<C>(plan, custom, &mut problems);
    let mut pairs = Vec::with_capacity(plan.flows.len());
    let mut builder = endpoints::Builder::new(plan, custom);
    for (i, flow) in (0..).zip(&plan.flows) {
        match builder.build(i, [flow.src, flow.dst].map(&is_local)) {
            Ok(pair) => pairs.push(pair),
            Err(new_problems) => problems.extend(new_problems),
        }
    }
    if !problems.is_empty() {
        return Err(without_duplicates(problems));
    }
    let queues: Vec<Queues> = if plan.switches.is_some() {
        links.iter_mut().map(Queues::of).collect()
    } else {
        Vec::new()
    };
    let mut fabric = build_fabric(plan, &queues)?;

    let shortest = shortest_times(plan);
    let follows = find_followers(plan, &links);
    let partition = partition(plan, &links, &shortest, &follows);
    let mut processes = Vec::with_capacity(partition.is_cluster.len());
    use_large_pages(&processes);
    processes.extend(partition.is_cluster.iter().map(|_| Process::new()));
    for (l, link) in links.iter_mut().enumerate() {
        link.stage = partition.stage(l, plan.links[l].from.index());
        link.foresee();
    }
    let stages: Vec<Stage> = links.iter().map(|link| link.stage).collect();
    let layout =
        Layout { partition: &partition, shortest: &shortest, stages: &stages, follows: &follows };
    let ports = build_records(plan, &pairs);
    let are_alike = |a: usize, b: usize| links[a].is_alike(&links[b]);
    let (laid, mut ends) =
        lay_routes::<C>(plan, pairs, layout, &mut processes, &mut fabric, are_alike);
    let windows = find_windows(plan, &links, &laid.stretches, &partition);
    let outlets = set_lookaheads(laid.stretches, &stages, &partition, &mut processes);
    let stubs = Stubs::new(&outlets, &mut processes);
    for (_, time) in processes.iter_mut().flat_map(|p| &mut p.sources) {
        *time = C::word(*time);
    }
    let groups = build_groups::<C>(plan, &partition, &mut processes)?;
    start_discipline_timers(&links, &partition, &mut processes);
    find_relays(&links, &partition, &mut processes);
    let observer = build_observer::<C>(plan, processes.len());
    for ((process, &is_cluster), window) in
        processes.iter_mut().zip(&partition.is_cluster).zip(windows)
    {
        for pending in &mut process.stages {
            let channels = pending.channels.len();
            // The links of a cluster are all of its second stage.
            pending.heads = match (is_cluster, window) {
                (false, _) => Heads::for_batches(channels),
                (true, 0) => Heads::single(channels),
                (true, window) => Heads::for_windows(channels, C::word(window)),
            };
            pending.lookahead = C::word(pending.lookahead);
        }
        process.next_mark = observer.end_marks.first();
        process.shrink();
    }
    for link in &mut links {
        link.set_mark(observer.link_marks.first());
    }

    let waits = Waits::new::<C>(plan, &mut ends.list);
    let mut flows = Flows::new(ends.list, ends.rngs, waits, ends.paths);
    flows.connect(plan.connections.iter().map(|connection| connection.flows.clone()));
    let routes = Routes::new(laid.hops);
    let mut prefetcher = Prefetcher::new(&processes);
    if partition.is_cluster.contains(&true) {
        prefetcher.note_addresses(&flows.ends, &routes, &links);
    }
    Ok(Sim {
        links: Links::new(links, plan.keys.clone()),
        routes,
        wires: Wires::new(laid.channels),
        flows,
        groups: Box::new(groups),
        fabric: Box::new(fabric),
        ports: Box::new(ports),
        schedule: Schedule::new(processes, stubs, C::word(plan.duration.0)),
        observer,
        batch: Box::<Batch>::default(),
        prefetcher,
        tally: Tally::default(),
        cause: Cause::Local(Key::NEVER),
        failure: None,
        border: Box::new(Border { homes: partition.homes, ..Border::default() }),
    })
}

/// Room for what ports note of the packets of flows that read it.
fn build_records(plan: &Plan, pairs: &[endpoints::Pair]) -> PathRecords {
    let mut records = PathRecords::default();
    if plan.reads_ports {
        for (i, (flow, (sender, _))) in plan.flows.iter().zip(pairs).enumerate() {
            let packets = sender.as_ref().map_or(0, |sender| sender.reported_packets());
            if packets > 0 {
                let segments =
                    flow.size.map_or(u64::MAX, |size| size.0 / u64::from(flow.tcp.mss) + 1);
                let packets = u64::from(packets).min(segments) as u32;
                let longest = flow.paths(Direction::Data).map(<[LinkId]>::len).max();
                records.add(FlowId(i as u32), packets, longest.unwrap_or(0));
            }
        }
    }
    records
}

/// The ends of all flows and their random numbers.
struct Ends {
    list: Vec<End>,
    rngs: Vec<Stream>,
    /// The paths of each end, where some end has several.
    paths: Vec<Paths>,
}

/// Lays the routes of all flows, and enters their endpoints and starts into the processes.
fn lay_routes<C: Clock>(
    plan: &Plan,
    pairs: Vec<endpoints::Pair>,
    layout: Layout<'_>,
    processes: &mut [Process],
    fabric: &mut Fabric,
    are_alike: impl Fn(usize, usize) -> bool,
) -> (Laid, Ends) {
    let route_lengths = plan.flows.iter().flat_map(PlanFlow::all_paths).map(|path| path.len() + 1);
    let pauses: usize = fabric.switches.iter().map(|memory| memory.ingress.len()).sum();
    let mut router = Router::new(layout, route_lengths.sum::<usize>() + 2 * pauses);
    let count = 2 * plan.flows.len();
    let mut ends = Ends {
        list: Vec::with_capacity(count),
        rngs: Vec::with_capacity(count),
        paths: Vec::new(),
    };
    let has_several = plan.flows.iter().any(|flow| flow.further.is_some());
    let mut held = plan.held.iter().map(|held| held.0 as usize).peekable();
    use_large_pages(&ends.list);
    use_large_pages(&ends.rngs);
    for (i, (flow, (sender, receiver))) in plan.flows.iter().zip(pairs).enumerate() {
        let is_held = held.next_if_eq(&i).is_some();
        let homes = [flow.src, flow.dst].map(|node| layout.partition.node_process[node.index()]);
        let ways = [(Direction::Data, homes[1]), (Direction::Acks, homes[0])];
        let purposes = [Purpose::Sender, Purpose::Receiver];
        let mut data_routes: Box<[u32]> = Box::default();
        for (side, endpoint) in [sender, receiver].into_iter().enumerate() {
            let (direction, last) = ways[side];
            let mut lay = |path| router.lay(path, last, (2 * i + 1 - side) as u32);
            let id = (2 * i + side) as u32;
            let route = if has_several {
                let routes: Box<[u32]> = flow.paths(direction).map(lay).collect();
                let first = routes[0];
                if side == 0 {
                    data_routes.clone_from(&routes);
                }
                let moves = flow.further.as_ref().and_then(|further| further.moves(direction));
                let rng = || Stream::new(plan.seed, Purpose::Spray, u64::from(id));
                let learns = flow.recycles_paths() && data_routes.len() > 1;
                let choice = if let Some(moves) = moves {
                    let moves = moves.iter().map(|&(time, path)| (time.0, path)).collect();
                    Choice::Moved { present: 0, moves }
                } else if !learns {
                    Choice::Drawn(rng())
                } else if side == 0 {
                    Choice::Recycled(Box::new(Recycling::new(rng())))
                } else {
                    Choice::Echoing(rng(), data_routes.clone())
                };
                ends.paths.push(Paths { routes, choice });
                first
            } else {
                lay(flow.first_path(direction))
            };
            let process = &mut processes[homes[side] as usize];
            process.endpoints.push(id);
            // Receivers listen from the beginning; senders start at their time.
            // The receivers of a multicast group join at theirs.
            let starts = match &*flow.sender {
                PlanSender::Branch { has_receiver, .. } => side == 1 && *has_receiver,
                _ => side == 0,
            };
            if starts && flow.start.0 <= plan.duration.0 && !is_held {
                let event = What::new(Kind::Start, id);
                let key = Key::new(C::word(flow.start.0), flow.start.0, event.0);
                process.stages[Stage::Node as usize].locals.push(key);
            }
            ends.rngs.push(Stream::new(plan.seed, purposes[side], i as u64));
            let branch_packet = match endpoint {
                Some(_) => 0,
                None => flow.tcp.wire_size() as u16,
            };
            ends.list.push(End::new(endpoint, route, branch_packet));
        }
    }
    lay_pauses(plan, layout, &mut router, fabric, &mut ends.list);
    (router.finish(processes, are_alike), ends)
}

/// Lays the ways of pause frames: each over one link, to an end that is no flow's.
fn lay_pauses(
    plan: &Plan,
    layout: Layout<'_>,
    router: &mut Router<'_>,
    fabric: &mut Fabric,
    ends: &mut Vec<End>,
) {
    let Fabric { switches, pausers, .. } = fabric;
    for memory in switches {
        memory.process = layout.partition.node_process[memory.node as usize];
        for ingress in &mut memory.ingress {
            let end = ends.len() as u32;
            pausers.push(ingress.link);
            let to = plan.links[ingress.link as usize].from;
            let process = layout.partition.node_process[to.index()];
            ingress.route = router.lay(&[LinkId(ingress.back)], process, end);
            ends.push(End::new(None, ingress.route, 0));
        }
    }
}

/// Enters the first timers of queue disciplines.
fn start_discipline_timers<C: Clock>(
    links: &[Link<C>],
    partition: &Partition,
    processes: &mut [Process],
) {
    for (l, link) in links.iter().enumerate() {
        let process = &mut processes[partition.link_process[l] as usize];
        if let Some(managed) = &link.disc
            && let Some(interval) = managed.disc.timer_interval()
        {
            let event = What::new(Kind::Disc, l as u32);
            let key = Key::new(C::word(interval.0.max(1)), interval.0, event.0);
            process.stages[link.stage as usize].locals.push(key);
        }
    }
}

/// Whether a flow has a congestion control, whose parameters its copies share.
fn is_transport(sender: &PlanSender) -> bool {
    matches!(sender, PlanSender::Tcp { .. } | PlanSender::Quic { .. })
}

/// A lower bound of the packets of a flow, which bounds the lookahead of links from below.
pub(crate) fn smallest_packet(flow: &PlanFlow) -> u16 {
    let size = match &*flow.sender {
        // ns-2 sends whole packets, and adds no header to the first of a flow.
        PlanSender::Tcp { .. } if flow.tcp.era.is_ns2() => {
            u64::from(flow.tcp.mss.max(1).min(flow.tcp.ack_size))
        }
        PlanSender::Tcp { .. } | PlanSender::Quic { .. } => {
            let mss = u64::from(flow.tcp.mss.max(1));
            let last = flow.size.map_or(mss, |size| size.0.saturating_sub(1) % mss + 1);
            (last + u64::from(flow.tcp.header)).min(u64::from(flow.tcp.ack_size))
        }
        PlanSender::Branch { .. } => {
            u64::from(flow.tcp.wire_size()).min(u64::from(MEMBERSHIP_BYTES))
        }
        PlanSender::Source { packets, .. } => {
            let answer = if packets.answer == 0 { u16::MAX } else { packets.answer };
            u64::from(packets.smallest.min(answer))
        }
    };
    size.min(u64::from(SMALLEST_PACKET)) as u16
}

/// Finds the stages that are one computed FIFO link.
fn find_relays<C: Clock>(links: &[Link<C>], partition: &Partition, processes: &mut [Process]) {
    let mut count = vec![0u32; processes.len()];
    for (l, link) in links.iter().enumerate().filter(|(_, link)| link.stage == Stage::Entry) {
        let process = partition.link_process[l] as usize;
        count[process] += 1;
        let alone = count[process] == 1 && link.disc.is_none();
        processes[process].stages[Stage::Entry as usize].relay =
            if alone { l as u32 } else { Pending::NO_RELAY };
    }
}
