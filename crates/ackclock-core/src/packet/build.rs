//! From the plan to a simulation that is ready to run.

use std::collections::{HashMap, VecDeque};

use serde::Deserialize;

use super::endpoints;
use super::link::{Counts, Fifo, Hazards, Link, Service, Store};
use super::lp::{Channel, Key, Kind, Process, Stage, What};
use super::observe::{Baseline, FlowSample, LinkSample, Observer};
use super::occupancy::Occupancy;
use super::rate::{Constant, Opportunities, Rate, Steps};
use super::ring::Ring;
use super::sim::{End, Hop, IDLE, Losses, Sim};
use super::tournament::Tournament;
use crate::compile::{Plan, PlanFlow, PlanLink, PlanSender, Schedule};
use crate::error::Problem;
use crate::ids::LinkId;
use crate::pool::Outbox;
use crate::qdisc::{self, QdiscEnv};
use crate::rng::{Purpose, Stream};
use crate::scenario::{Era, Table};
use crate::units::Bytes;

/// No packet is smaller unless a flow says so.
const SMALLEST_PACKET: u16 = 40;

pub(super) fn build(plan: &Plan) -> Result<Sim, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut links = Vec::with_capacity(plan.links.len());
    for (i, link) in plan.links.iter().enumerate() {
        match build_link(plan, link, i as u64) {
            Ok(link) => links.push(link),
            Err(problem) => problems.push(problem),
        }
    }
    let mut pairs = Vec::with_capacity(plan.flows.len());
    for i in 0..plan.flows.len() {
        match endpoints::build(plan, i as u32) {
            Ok(pair) => pairs.push(pair),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        problems.dedup_by(|a, b| a.message == b.message && a.path == b.path);
        return Err(problems);
    }

    let (mut processes, link_process, node_process) = partition(plan, &links);
    let smallest = plan.flows.iter().map(smallest_packet).min().unwrap_or(SMALLEST_PACKET);
    let leads_to_node = |l: usize| node_process[plan.links[l].to.index()] == link_process[l];
    for (l, link) in links.iter_mut().enumerate() {
        let of_node = node_process[plan.links[l].from.index()] == link_process[l];
        link.stage = if of_node { Stage::Node } else { Stage::Entry };
    }
    lookaheads(&mut links, &link_process, &leads_to_node, smallest.max(1), &mut processes);

    let mut router =
        Router { hops: vec![Hop::DELIVER], channels: Vec::new(), known: HashMap::new() };
    let mut ends = Vec::with_capacity(2 * plan.flows.len());
    let end_time = plan.duration.0;
    for (i, (flow, (sender, receiver))) in plan.flows.iter().zip(pairs).enumerate() {
        let homes = [node_process[flow.src.index()], node_process[flow.dst.index()]];
        let routes = [(&flow.route, homes[1]), (&flow.ack_route, homes[0])];
        let purposes = [Purpose::Sender, Purpose::Receiver];
        for (side, endpoint) in [sender, receiver].into_iter().enumerate() {
            let route =
                router.lay(routes[side].0, routes[side].1, &link_process, &links, &mut processes);
            let process = homes[side];
            let id = (2 * i + side) as u32;
            processes[process as usize].endpoints.push(id);
            // Receivers listen from the start; senders start at their time.
            if side == 0 && flow.start.0 <= end_time {
                let what = What::new(Kind::Start, id);
                processes[process as usize].stages[Stage::Node as usize].locals.push(Key::new(
                    flow.start.0,
                    flow.start.0,
                    what.0,
                ));
            }
            ends.push(End {
                endpoint: Some(endpoint),
                rng: Stream::new(plan.seed, purposes[side], i as u64),
                route,
                pending: u64::MAX,
                sent: 0,
                received: 0,
            });
        }
    }
    for (l, link) in links.iter().enumerate() {
        let process = &mut processes[link_process[l] as usize];
        process.links.push(l as u32);
        if let Store::Disc(disc) = &link.store
            && let Some(interval) = disc.timer_interval()
        {
            let what = What::new(Kind::Disc, l as u32);
            process.stages[link.stage as usize].locals.push(Key::new(
                interval.0.max(1),
                interval.0,
                what.0,
            ));
        }
    }

    for pending in processes.iter_mut().flat_map(|p| &mut p.stages) {
        pending.heads = Tournament::new(pending.channels as usize);
    }

    let record = &plan.record;
    let sampled =
        record.tables.iter().any(|t| matches!(t, Table::FlowSamples | Table::LinkSamples));
    let interval = record.interval.filter(|_| sampled).map_or(u64::MAX, |s| s.0.max(1));
    let warmup = plan.warmup.0;
    for process in &mut processes {
        process.next_mark = if interval == u64::MAX { warmup } else { 0 };
    }
    let observer = observer(plan, interval);
    let process_count = processes.len();
    Ok(Sim {
        processes,
        links,
        channels: router.channels,
        hops: router.hops,
        ends,
        losses: vec![Losses::default(); plan.flows.len()],
        keys: plan.keys.clone(),
        observer,
        agenda: Tournament::new(process_count),
        end: end_time,
        interval,
        warmup,
        out: Outbox::default(),
        dropped: Vec::new(),
        hops_done: 0,
        activations: 0,
        events: 0,
        failure: None,
    })
}

/// A size that no packet of the flow falls below: bounds every link's lookahead from below.
fn smallest_packet(flow: &PlanFlow) -> u16 {
    let size = match &flow.sender {
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

fn observer(plan: &Plan, interval: u64) -> Observer {
    let record = &plan.record;
    let has = |t: Table| record.tables.contains(&t);
    let rows = if interval == u64::MAX { 0 } else { (plan.duration.0 / interval + 1) as usize };
    let mut observer = Observer {
        want_packets: has(Table::Packets),
        want_drops: has(Table::Drops),
        flow_samples: has(Table::FlowSamples)
            .then(|| vec![FlowSample::default(); rows * plan.flows.len()]),
        link_samples: has(Table::LinkSamples)
            .then(|| vec![LinkSample::default(); rows * plan.links.len()]),
        base: Baseline {
            ends: vec![crate::tcp::Snapshot::default(); 2 * plan.flows.len()],
            links: vec![Counts::default(); plan.links.len()],
            bits_in_service: vec![0.0; plan.links.len()],
            losses: vec![Losses::default(); plan.flows.len()],
        },
        ..Observer::default()
    };
    observer.recorder.wanted = crate::record::Wanted {
        windows: has(Table::Windows),
        rtts: has(Table::Rtts),
        states: has(Table::States),
        drops: has(Table::Drops),
        packets: has(Table::Packets),
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
        observer.link_filter = plan.links.iter().map(|l| names.contains(&l.name)).collect();
    }
    observer
}

fn build_link(plan: &Plan, link: &PlanLink, index: u64) -> Result<Link, Problem> {
    let mut limit = link.limit;
    // ns-2's drop-tail counts the packet in service.
    if plan.era == Era::Ns2 && limit.packets != u32::MAX {
        limit.packets = limit.packets.saturating_sub(1);
    }
    let store = if link.qdisc.kind() == "fifo" {
        // Parameters are checked as any other discipline's.
        qdisc::build(&link.qdisc, &env(plan, link), &link.qdisc_path)?;
        Store::Fifo(Fifo::new(limit))
    } else {
        Store::Disc(qdisc::build(&link.qdisc, &env(plan, link), &link.qdisc_path)?)
    };
    let rate = match &link.schedule {
        None => Rate::Constant(Constant::new(link.rate)),
        Some(Schedule::Steps(steps)) => Rate::Steps(Steps::new(
            link.rate,
            &steps.iter().map(|&(t, r)| (t.0, r)).collect::<Vec<_>>(),
        )),
        Some(Schedule::Mahimahi(ms)) => Rate::Opportunities(Opportunities::new(ms)),
    };
    let loss = (link.loss > 0.0).then(|| (link.loss, Stream::new(plan.seed, Purpose::Loss, index)));
    let hazardous = loss.is_some() || !link.drop.is_empty() || link.mtu != u16::MAX;
    let end = if matches!(store, Store::Fifo(_)) { 0 } else { IDLE };
    Ok(Link {
        store,
        rate,
        delay: link.delay.0,
        stage: Stage::Entry,
        service: Service { start: 0, end },
        counts: Counts::default(),
        occupancy: Occupancy::default(),
        watched: hazardous || plan.record.tables.contains(&Table::Packets),
        hazards: hazardous.then(|| {
            Box::new(Hazards { loss, listed: VecDeque::from(link.drop.clone()), mtu: link.mtu })
        }),
        rng: Stream::new(plan.seed, Purpose::Qdisc, index),
    })
}

fn env(plan: &Plan, link: &PlanLink) -> QdiscEnv {
    QdiscEnv {
        rate: link.rate,
        delay: link.delay,
        limit: link.limit,
        mean_packet: link.mean_packet,
        keys: plan.key_count,
        era: plan.era,
    }
}

/// Cuts the network into processes: each node with endpoints takes its outgoing links and those that
/// routers have to it, every other link stands alone. Returns the processes, the process of each link, and of each node that
/// has endpoints.
fn partition(plan: &Plan, links: &[Link]) -> (Vec<Process>, Vec<u32>, Vec<u32>) {
    let mut has_endpoints = vec![false; plan.nodes.len()];
    for flow in &plan.flows {
        has_endpoints[flow.src.index()] = true;
        has_endpoints[flow.dst.index()] = true;
    }
    let mut processes = Vec::new();
    let mut node_process = vec![u32::MAX; plan.nodes.len()];
    let mut link_process = vec![u32::MAX; links.len()];
    for (node, _) in has_endpoints.iter().enumerate().filter(|(_, has)| **has) {
        node_process[node] = processes.len() as u32;
        processes.push(Process::new());
    }
    for (l, link) in plan.links.iter().enumerate() {
        link_process[l] = if has_endpoints[link.from.index()] {
            node_process[link.from.index()]
        } else if has_endpoints[link.to.index()] {
            node_process[link.to.index()]
        } else {
            processes.push(Process::new());
            processes.len() as u32 - 1
        };
    }
    (processes, link_process, node_process)
}

/// How long each process may wait: what happens at the node reaches another process over one of its
/// outgoing links, what happens at a link that leads to the node has to pass that link first.
fn lookaheads(
    links: &mut [Link],
    link_process: &[u32],
    leads_to_node: &dyn Fn(usize) -> bool,
    smallest: u16,
    processes: &mut [Process],
) {
    let flight = |link: &Link| link.delay.saturating_add(link.rate.shortest(smallest));
    for (l, link) in links.iter().enumerate().filter(|(l, _)| !leads_to_node(*l)) {
        let own = &mut processes[link_process[l] as usize].stages[link.stage as usize].lookahead;
        *own = flight(link).min(*own);
    }
    for (l, link) in links.iter().enumerate().filter(|(l, _)| leads_to_node(*l)) {
        let stages = &mut processes[link_process[l] as usize].stages;
        stages[0].lookahead =
            stages[0].lookahead.min(flight(link).saturating_add(stages[1].lookahead));
    }
}

/// Lays routes into the flat table and opens the channels they need.
struct Router {
    hops: Vec<Hop>,
    channels: Vec<Channel>,
    known: HashMap<(u32, u32, u32), u32>,
}

impl Router {
    /// Appends a route that ends at the node of process `last`; its first position.
    fn lay(
        &mut self,
        route: &[LinkId],
        last: u32,
        link_process: &[u32],
        links: &[Link],
        processes: &mut [Process],
    ) -> u32 {
        let first = self.hops.len() as u32;
        for (i, link) in route.iter().enumerate() {
            let (to, stage) = match route.get(i + 1) {
                Some(next) => (link_process[next.index()], links[next.index()].stage),
                None => (last, Stage::Node),
            };
            let channels = &mut self.channels;
            let channel = *self.known.entry((link.0, to, stage as u32)).or_insert_with(|| {
                let pending = &mut processes[to as usize].stages[stage as usize];
                channels.push(Channel {
                    queue: Ring::new(),
                    to,
                    stage,
                    from: link.0,
                    entrant: pending.channels,
                });
                pending.channels += 1;
                channels.len() as u32 - 1
            });
            self.hops.push(Hop { link: link.0, channel });
        }
        self.hops.push(Hop::DELIVER);
        first
    }
}
