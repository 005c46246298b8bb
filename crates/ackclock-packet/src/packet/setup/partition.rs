//! Partitions a network into processes, and computes the lookahead of each.

use rustc_hash::FxHashMap;
use rustworkx_core::petgraph::unionfind::UnionFind;

use crate::compile::{Direction, Plan, PlanFlow, PlanLink};
use crate::ids::{LinkId, NodeId};
use crate::packet::network::link::Link;
use crate::packet::process::clock::Clock;
use crate::packet::process::event::Stage;
use crate::packet::process::logical_process::{Pending, Process};

/// A link is short if a packet passes it in less time than the transmission of so many packets.
const SHORT: u64 = 4;

/// A process that packets reach in less time than the transmission of so many has small batches. On
/// networks of campuses and backbones neither number matters much; with one bottleneck, larger ones cost
/// time.
const FEW: u64 = 8;

/// The processes of a run, and the nodes and links of each.
pub(crate) struct Partition {
    /// By process, whether it is a cluster.
    pub(crate) is_cluster: Vec<bool>,
    /// By link.
    pub(crate) link_process: Vec<u32>,
    /// By node, where it has endpoints or is part of a cluster; otherwise `u32::MAX`.
    pub(crate) node_process: Vec<u32>,
    /// Whether stubs run before their outlets (`turn/stub_hosts.rs`), or as other processes; results are the
    /// same.
    pub(crate) stubs_wait: bool,
    /// By process, the thread that runs it; empty if there is one thread.
    pub(crate) homes: Vec<u16>,
}

impl Partition {
    /// Divides the network into processes: a node with endpoints together with its outgoing links and the
    /// links from routers to it; every other link alone. Nodes joined by a short link are one process where
    /// batches would be small.
    ///
    /// `shortest` has each link's shortest time, `follows` as from [`find_followers`].
    pub(crate) fn of<C: Clock>(
        plan: &Plan,
        links: &[Link<C>],
        shortest: &[u64],
        follows: &[bool],
    ) -> Self {
        Self::on_threads(plan, links, shortest, follows, &[])
    }

    /// The same for a run that several threads share, given by node the thread that runs it: no process has nodes of
    /// two threads.
    pub(crate) fn on_threads<C: Clock>(
        plan: &Plan,
        links: &[Link<C>],
        shortest: &[u64],
        follows: &[bool],
        homes: &[u16],
    ) -> Self {
        let mut partition = Self::in_clusters(plan, links, shortest, follows, homes);
        if !homes.is_empty() {
            partition.homes = vec![0; partition.is_cluster.len()];
            // A process of a link alone is where the link begins.
            for (link, &process) in plan.links.iter().zip(&partition.link_process) {
                partition.homes[process as usize] = homes[link.from.index()];
            }
            for (&home, &process) in homes.iter().zip(&partition.node_process) {
                if let Some(of) = partition.homes.get_mut(process as usize) {
                    *of = home;
                }
            }
        }
        partition
    }

    fn in_clusters<C: Clock>(
        plan: &Plan,
        links: &[Link<C>],
        shortest: &[u64],
        follows: &[bool],
        homes: &[u16],
    ) -> Self {
        let partition = Self::apart(plan);
        let packet = |l: usize| {
            links[l].rate.shortest(plan.links[l].mean_packet.try_into().unwrap_or(u16::MAX))
        };
        let within = |time: u64, packets: u64, l: usize| time < packets.saturating_mul(packet(l));
        let short: Vec<usize> =
            (0..links.len()).filter(|&l| within(shortest[l], SHORT, l)).collect();
        if short.is_empty() {
            return partition;
        }
        let nearest = partition.shortest_times_to(plan, shortest, follows);
        let mut joint = UnionFind::new(plan.nodes.len());
        for l in short {
            let [from, to] = [plan.links[l].from, plan.links[l].to].map(NodeId::index);
            if within(nearest[partition.link_process[l] as usize], FEW, l)
                && homes.get(from) == homes.get(to)
            {
                joint.union(from, to);
            }
        }
        let mut sizes = vec![0; plan.nodes.len()];
        for node in 0..plan.nodes.len() {
            sizes[joint.find(node)] += 1;
        }
        let group = |node| Some(joint.find(node)).filter(|&group| sizes[group] > 1);
        Self::by_group(plan, &(0..plan.nodes.len()).map(group).collect::<Vec<_>>())
    }

    /// Divides the network without clusters.
    pub(crate) fn apart(plan: &Plan) -> Self {
        Self::by_group(plan, &vec![None; plan.nodes.len()])
    }

    /// Divides the network, given the cluster of nodes that each node belongs to.
    fn by_group(plan: &Plan, group: &[Option<usize>]) -> Self {
        // The queues of a switch share its memory, so they are in one process.
        let mut has_endpoints = match &plan.switches {
            Some(switches) => switches.is_switch.clone(),
            None => vec![false; plan.nodes.len()],
        };
        for flow in &plan.flows {
            has_endpoints[flow.src.index()] = true;
            has_endpoints[flow.dst.index()] = true;
        }
        let mut is_cluster = Vec::new();
        let mut next = |cluster| {
            is_cluster.push(cluster);
            is_cluster.len() as u32 - 1
        };
        let mut of_group = FxHashMap::default();
        let of_node = |node: usize| match group[node] {
            Some(group) => *of_group.entry(group).or_insert_with(|| next(true)),
            None if has_endpoints[node] => next(false),
            None => u32::MAX,
        };
        let node_process: Vec<u32> = (0..plan.nodes.len()).map(of_node).collect();
        let of_link = |link: &PlanLink| {
            let ends = [link.from, link.to].map(|node| node_process[node.index()]);
            match ends {
                [from, _] if from != u32::MAX => from,
                [_, to] if to != u32::MAX => to,
                _ => next(false),
            }
        };
        let link_process = plan.links.iter().map(of_link).collect();
        // What stubs wait for is a link alone.
        let stubs_wait = plan.switches.is_none();
        Self { is_cluster, link_process, node_process, stubs_wait, homes: Vec::new() }
    }

    /// By process, the shortest time in which a packet reaches it from another.
    fn shortest_times_to(&self, plan: &Plan, shortest: &[u64], follows: &[bool]) -> Vec<u64> {
        let mut nearest = vec![u64::MAX; self.is_cluster.len()];
        for flow in &plan.flows {
            let data = flow.paths(Direction::Data).map(|path| (path, flow.dst));
            let acks = flow.paths(Direction::Acks).map(|path| (path, flow.src));
            for (route, last) in data.chain(acks) {
                for (stretch, next) in split_into_stretches(route, follows) {
                    let to = match next {
                        Some(next) => self.link_process[next],
                        None => self.node_process[last.index()],
                    };
                    if self.link_process[stretch[0].index()] != to {
                        let time = shortest_time_of(stretch, shortest);
                        nearest[to as usize] = nearest[to as usize].min(time);
                    }
                }
            }
        }
        nearest
    }

    /// The stage of its process that a link belongs to.
    pub(crate) fn stage(&self, link: usize, from: usize) -> Stage {
        let process = self.link_process[link];
        if self.node_process[from] == process || self.is_cluster[process as usize] {
            Stage::Node
        } else {
            Stage::Entry
        }
    }
}

/// Splits a route into stretches that packets pass at once, each with the link that follows.
pub(crate) fn split_into_stretches<'a>(
    route: &'a [LinkId],
    follows: &'a [bool],
) -> impl Iterator<Item = (&'a [LinkId], Option<usize>)> {
    let mut remaining = route;
    route.chunk_by(|_, next| follows[next.index()]).map(move |stretch| {
        remaining = &remaining[stretch.len()..];
        (stretch, remaining.first().map(|next| next.index()))
    })
}

/// The shortest time of a stretch.
pub(crate) fn shortest_time_of(stretch: &[LinkId], shortest: &[u64]) -> u64 {
    stretch.iter().fold(0, |time, link| time.saturating_add(shortest[link.index()]))
}

/// Finds the links that packets enter at once after another: plain FIFO links that only one other link
/// leads to.
pub(crate) fn find_followers<C: Clock>(plan: &Plan, links: &[Link<C>]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Before {
        Nothing,
        One(LinkId),
        Many,
    }
    let mut before = vec![Before::Nothing; links.len()];
    for route in plan.flows.iter().flat_map(PlanFlow::all_paths) {
        for (i, link) in route.iter().enumerate() {
            let link_state = &mut before[link.index()];
            *link_state = match (*link_state, i.checked_sub(1).map(|i| route[i])) {
                (Before::Nothing, Some(link_before)) => Before::One(link_before),
                (Before::One(previous), Some(link_before)) if previous == link_before => {
                    Before::One(previous)
                }
                _ => Before::Many,
            };
        }
    }
    let is_plain = |l: usize| links[l].disc.is_none();
    (0..links.len()).map(|l| is_plain(l) && matches!(before[l], Before::One(_))).collect()
}

/// From a link to the process that packets reach next, the shortest time.
pub(crate) type Stretch = (u32, u32, u64);

/// Packets that could arrive in a window of a cluster, were its links all busy, from which on it handles them in
/// batches: with a quarter of that, a batch costs as much as ordering packets one by one. Tests have small networks.
const MANY: f64 = if cfg!(test) { 0.5 } else { 64.0 };

/// By process, how long the windows are whose packets it handles in one batch, if it is a cluster that does so; otherwise
/// 0. `stretches` are as for [`set_lookaheads`].
///
/// Within the shortest time from one link of a cluster to the next no packet has an effect on another link, so that all
/// that arrive in such a window can be one batch.
pub(crate) fn find_windows<C: Clock>(
    plan: &Plan,
    links: &[Link<C>],
    stretches: &[Stretch],
    partition: &Partition,
) -> Vec<u64> {
    let mut windows = vec![u64::MAX; partition.is_cluster.len()];
    for &(_, to, time) in stretches.iter().filter(|s| partition.link_process[s.0 as usize] == s.1) {
        windows[to as usize] = windows[to as usize].min(time);
    }
    let mut packets = vec![0.0; windows.len()];
    for ((link, built), &process) in plan.links.iter().zip(links).zip(&partition.link_process) {
        let packet = built.rate.shortest(link.mean_packet.try_into().unwrap_or(u16::MAX));
        packets[process as usize] += windows[process as usize] as f64 / packet.max(1) as f64;
    }
    for (p, (window, packets)) in windows.iter_mut().zip(packets).enumerate() {
        if !partition.is_cluster[p] || packets < MANY {
            *window = 0;
        }
    }
    windows
}

/// Sets the lookahead and the sources of each process, from the stretches that begin with its links: an
/// event at a node reaches another process over one of them; an event at a link that leads to the node has
/// to pass the node first. What stays in a cluster needs no lookahead.
///
/// Returns by process its outlet, if it is a stub; otherwise [`Pending::NO_OUTLET`].
pub(crate) fn set_lookaheads(
    mut stretches: Vec<Stretch>,
    stages: &[Stage],
    partition: &Partition,
    processes: &mut [Process],
) -> Vec<u32> {
    let home = |l: usize| partition.link_process[l];
    let inner = |l: usize, to: u32| home(l) == to && stages[l] == Stage::Entry;
    // The shortest of several ways is first.
    stretches.sort_unstable();
    stretches.dedup_by_key(|&mut (l, to, _)| (l, to));
    let all: Vec<_> = stretches
        .into_iter()
        .map(|(l, to, time)| (l as usize, to, time))
        .filter(|&(l, to, _)| home(l) != to || !partition.is_cluster[to as usize])
        .collect();
    for &(l, _, time) in all.iter().filter(|s| !inner(s.0, s.1)) {
        let lookahead = &mut processes[home(l) as usize].stages[stages[l] as usize].lookahead;
        *lookahead = time.min(*lookahead);
    }
    let mut sources: Vec<_> =
        all.iter().filter(|s| !inner(s.0, s.1)).map(|&(l, to, time)| (to, home(l), time)).collect();
    sources.sort_unstable();
    // The shortest of several ways between two processes is first.
    sources.dedup_by_key(|&mut (to, from, _)| (to, from));
    let outlets = find_outlets(&sources, partition, processes);
    replace_stubs(&mut sources, &outlets);
    for (to, from, time) in sources {
        processes[to as usize].sources.push((from, time));
    }
    for &(_, to, time) in all.iter().filter(|s| inner(s.0, s.1)) {
        let stages = &mut processes[to as usize].stages;
        stages[0].lookahead = stages[0].lookahead.min(time.saturating_add(stages[1].lookahead));
    }
    outlets
}

/// A process, a source of its packets, and the shortest time from there.
type Source = (u32, u32, u64);

/// By process, its outlet, if it is a stub: a host that leads to one process, which has no endpoints.
fn find_outlets(sources: &[Source], partition: &Partition, processes: &[Process]) -> Vec<u32> {
    const SEVERAL: u32 = Pending::NO_OUTLET - 1;
    let mut leads_to = vec![Pending::NO_OUTLET; processes.len()];
    for &(to, from, _) in sources {
        let single_target = &mut leads_to[from as usize];
        *single_target = if *single_target == Pending::NO_OUTLET { to } else { SEVERAL };
    }
    let is_host = |p: usize| !processes[p].endpoints.is_empty();
    let outlet = |(p, &to): (usize, &u32)| {
        let is_stub = to < SEVERAL
            && is_host(p)
            && !is_host(to as usize)
            && partition.stubs_wait
            && partition.homes.get(p) == partition.homes.get(to as usize)
            && !partition.is_cluster[p]
            && !partition.is_cluster[to as usize];
        if is_stub { to } else { Pending::NO_OUTLET }
    };
    leads_to.iter().enumerate().map(outlet).collect()
}

/// Replaces each stub, as a source of its outlet, by the sources of the stub.
fn replace_stubs(sources: &mut Vec<Source>, outlets: &[u32]) {
    let times_out: FxHashMap<u32, u64> = sources
        .iter()
        .filter(|&&(_, from, _)| outlets[from as usize] != Pending::NO_OUTLET)
        .map(|&(_, from, time)| (from, time))
        .collect();
    let past = |&(to, from, time): &Source| {
        Some((outlets[to as usize], from, time.saturating_add(*times_out.get(&to)?)))
    };
    let more: Vec<_> = sources.iter().filter_map(past).collect();
    sources.retain(|&(_, from, _)| outlets[from as usize] == Pending::NO_OUTLET);
    sources.extend(more);
    sources.sort_unstable();
    sources.dedup_by_key(|&mut (to, from, _)| (to, from));
}

#[cfg(test)]
pub(crate) mod tests;
