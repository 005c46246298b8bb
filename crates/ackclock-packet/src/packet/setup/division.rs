//! Which thread runs which part of a network: about equal shares of the predicted work, cut where few packets pass
//! and delays are long.

use rustworkx_core::petgraph::unionfind::UnionFind;

use crate::compile::{Passages, Plan, passages};
use crate::packet::setup::cut::{Graph, Growth};
use crate::units::PS_PER_S;

/// What things cost on one thread, in seconds; only their proportions decide where a network is cut.
mod cost {
    /// A packet at a plain FIFO, at another discipline, at an end of a flow.
    pub(super) const FIFO: f64 = 50e-9;
    pub(super) const DISCIPLINE: f64 = 120e-9;
    pub(super) const END: f64 = 150e-9;
    /// A packet that goes to another thread, in addition.
    pub(super) const CROSSING: f64 = 100e-9;
    /// A round in which two threads wait for each other, each of the length of a delay between them.
    pub(super) const ROUND: f64 = 500e-9;
}

/// How much heavier than the mean a part may be: where a network hangs together, equal parts may be worse.
const SLACKS: [f64; 4] = [1.02, 1.08, 1.16, 1.3];

/// Parts are about equal if the largest has at most so many times the mean.
const FAIR: f64 = 1.25;

/// The threads of a run.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// By node, its thread.
    pub(crate) homes: Vec<u16>,
    /// Threads that have work.
    pub(crate) threads: usize,
    /// The predicted speed-up.
    pub(crate) speedup: f64,
    /// The largest share of the work that a thread has.
    pub(crate) largest: f64,
    /// The shortest time between threads [s]; infinite if no packets go from one to another.
    pub(crate) lookahead_s: f64,
    /// Packets that go from one to another in that time.
    pub(crate) in_a_delay: f64,
    /// How often that time passes.
    pub(crate) rounds: f64,
    /// The predicted work of all threads [s].
    pub(crate) work_s: f64,
}

impl Division {
    /// What makes a division better: of few threads it is only if there is not work for more.
    fn rank(&self) -> (usize, f64) {
        (self.threads, self.speedup)
    }
}

/// What a run is predicted to do, and where.
pub(crate) struct Load {
    passages: Passages,
    /// By node [s].
    work: Vec<f64>,
}

impl Load {
    /// Predicts it.
    pub(crate) fn of(plan: &Plan) -> Self {
        let passages = passages(plan);
        Self { work: work_by_node(plan, &passages), passages }
    }

    /// The work of the run on one thread [s], and among how many equal parts it would be as much divided as it is among
    /// routers, each with the hosts that it alone reaches.
    pub(crate) fn among_routers(&self, plan: &Plan) -> (f64, f64) {
        let mut joint = UnionFind::new(plan.nodes.len());
        join_hosts(plan, &mut joint);
        let mut by_part = vec![0.0; plan.nodes.len()];
        for (node, work) in self.work.iter().enumerate() {
            by_part[joint.find_mut(node)] += work;
        }
        let total: f64 = by_part.iter().sum();
        let squares: f64 = by_part.iter().map(|work| work * work).sum();
        (total, if squares > 0.0 { total * total / squares } else { 1.0 })
    }
}

/// Joins each node that has one neighbour to it.
fn join_hosts(plan: &Plan, joint: &mut UnionFind<usize>) {
    const NOTHING: usize = usize::MAX;
    const SEVERAL: usize = usize::MAX - 1;
    let mut neighbour = vec![NOTHING; plan.nodes.len()];
    for link in &plan.links {
        let (neighbour_of, to) = (&mut neighbour[link.from.index()], link.to.index());
        *neighbour_of = if *neighbour_of == NOTHING || *neighbour_of == to { to } else { SEVERAL };
    }
    for (node, &other) in neighbour.iter().enumerate().filter(|of| *of.1 < SEVERAL) {
        joint.union(node, other);
    }
}

/// The predicted work of each node [s]: of the endpoints that it has and of its links.
fn work_by_node(plan: &Plan, load: &Passages) -> Vec<f64> {
    let mut work = vec![0.0; plan.nodes.len()];
    let mut has_endpoints = vec![false; plan.nodes.len()];
    for (flow, [there, back]) in plan.flows.iter().zip(&load.ends) {
        let [src, dst] = [flow.src.index(), flow.dst.index()];
        (has_endpoints[src], has_endpoints[dst]) = (true, true);
        work[src] += (there + back) * cost::END;
        work[dst] += there * cost::END;
    }
    for (link, &packets) in plan.links.iter().zip(&load.links) {
        let [from, to] = [link.from.index(), link.to.index()];
        // The link that leads from a router to a host is the host's (`setup/partition.rs`).
        let home = if !has_endpoints[from] && has_endpoints[to] { to } else { from };
        let has_queue = plan.has_queue(&link.settings);
        work[home] += packets * if has_queue { cost::DISCIPLINE } else { cost::FIFO };
    }
    work
}

/// Divides the network among so many threads at most. `shortest` has each link's shortest time.
///
/// Hosts stay with their router if parts are about equal then: a network of many hosts is small without them.
pub(crate) fn divide(plan: &Plan, load: &Load, shortest: &[u64], threads: usize) -> Division {
    let routers = divide_by(plan, load, shortest, threads, true);
    if routers.threads == threads && routers.largest * threads as f64 <= FAIR {
        return routers;
    }
    let hosts = divide_by(plan, load, shortest, threads, false);
    if hosts.rank() > routers.rank() { hosts } else { routers }
}

/// The same; `with_router`: a node that has one neighbour stays with it.
fn divide_by(
    plan: &Plan,
    load: &Load,
    shortest: &[u64],
    threads: usize,
    with_router: bool,
) -> Division {
    // A packet must take some time from thread to thread.
    let mut joint = UnionFind::new(plan.nodes.len());
    for (link, _) in plan.links.iter().zip(shortest).filter(|of| *of.1 == 0) {
        joint.union(link.from.index(), link.to.index());
    }
    if with_router {
        join_hosts(plan, &mut joint);
    }
    let mut numbers = vec![usize::MAX; plan.nodes.len()];
    let mut count = 0;
    let mut number = |node: usize| {
        let number = &mut numbers[joint.find_mut(node)];
        if *number == usize::MAX {
            *number = count;
            count += 1;
        }
        *number
    };
    let groups: Vec<usize> = (0..plan.nodes.len()).map(&mut number).collect();
    let graph = graph(plan, load, shortest, &groups, count);
    let ways = [Growth::ByBond, Growth::ByDistance].into_iter();
    let all = ways.flat_map(|by| SLACKS.map(|slack| graph.divide(threads, slack, by)));
    let mut divisions: Vec<Vec<u16>> = Vec::new();
    for homes in all {
        if !divisions.contains(&homes) {
            divisions.push(homes);
        }
    }
    let all = divisions.iter().map(|homes| assess(plan, load, shortest, &graph, &groups, homes));
    // Of equal ones the first.
    let best = all.reduce(|best, next| if next.rank() > best.rank() { next } else { best });
    best.unwrap_or_else(|| assess(plan, load, shortest, &graph, &groups, &vec![0; count]))
}

/// What a division into parts amounts to; `groups` are of nodes that stay together.
fn assess(
    plan: &Plan,
    load: &Load,
    shortest: &[u64],
    graph: &Graph,
    groups: &[usize],
    node_homes: &[u16],
) -> Division {
    let work_s: f64 = graph.weights.iter().sum();
    let count = node_homes.iter().max().map_or(0, |&most| usize::from(most) + 1);
    let loads = graph.loads(node_homes, count);
    // Threads without work are left out.
    let mut numbers = vec![0u16; count];
    let mut used = 0;
    for (number, load) in numbers.iter_mut().zip(&loads) {
        *number = used;
        used += u16::from(*load > 0.0);
    }
    let last = used.saturating_sub(1);
    let homes: Vec<u16> =
        groups.iter().map(|&group| numbers[usize::from(node_homes[group])].min(last)).collect();
    let crosses =
        |l: &usize| homes[plan.links[*l].from.index()] != homes[plan.links[*l].to.index()];
    let cut: Vec<usize> =
        (0..plan.links.len()).filter(crosses).filter(|&l| load.passages.links[l] > 0.0).collect();
    let crossing: f64 = cut.iter().map(|&l| load.passages.links[l]).sum();
    let lookahead = cut.iter().map(|&l| shortest[l]).min();
    let rounds = lookahead.map_or(0.0, |time| plan.duration.0 as f64 / time.max(1) as f64);
    let in_a_delay = if rounds > 0.0 { crossing / rounds } else { 0.0 };
    let most = loads.iter().fold(0.0, |most: f64, &load| most.max(load));
    let shared = most + crossing * cost::CROSSING / f64::from(used.max(1)) + rounds * cost::ROUND;
    Division {
        homes,
        threads: usize::from(used.max(1)),
        speedup: if shared > 0.0 { work_s / shared } else { 1.0 },
        largest: if work_s > 0.0 { most / work_s } else { 1.0 },
        lookahead_s: lookahead.map_or(f64::INFINITY, |time| time as f64 / PS_PER_S as f64),
        in_a_delay,
        rounds,
        work_s,
    }
}

/// So many groups of nodes with their work, bound by links.
fn graph(plan: &Plan, load: &Load, shortest: &[u64], groups: &[usize], count: usize) -> Graph {
    let mut graph = Graph::new(count);
    for (&group, work) in groups.iter().zip(&load.work) {
        graph.weights[group] += work;
    }
    for ((link, &packets), &time) in plan.links.iter().zip(&load.passages.links).zip(shortest) {
        if packets > 0.0 {
            let rounds = plan.duration.0 as f64 / time.max(1) as f64;
            let bond = packets * cost::CROSSING + rounds * cost::ROUND;
            graph.bind(groups[link.from.index()], groups[link.to.index()], bond);
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use serde_json::json;

    fn divide_net(net: &serde_json::Value, flows: &serde_json::Value, threads: usize) -> Division {
        let scenario = json!({ "net": net, "flows": flows, "duration": "2 s" });
        let plan = compile(&serde_json::from_value(scenario).unwrap()).unwrap();
        let shortest: Vec<u64> = plan.links.iter().map(|link| link.delay.0).collect();
        divide(&plan, &Load::of(&plan), &shortest, threads)
    }

    #[test]
    fn a_dumbbell_is_divided_at_its_bottleneck() {
        let net = json!({ "kind": "dumbbell", "pairs": 20, "rate": "100 Mbps", "delay": "20 ms",
                          "access_delay": "1 ms" });
        let division = divide_net(&net, &json!([{ "pair": 0, "count": 20 }]), 2);
        assert_eq!(division.threads, 2);
        assert!((division.lookahead_s - 0.02).abs() < 1e-9, "{division:?}");
        assert!(division.largest < 0.65, "{division:?}");
        // 100 Mbit/s are 167 packets of 1500 B in 20 ms, and half as many to as many acknowledgements.
        assert!((50.0..400.0).contains(&division.in_a_delay), "{division:?}");
    }

    #[test]
    fn islands_are_divided_among_threads_and_need_not_wait() {
        let links: Vec<_> = (0..8)
            .map(|i| json!({ "a": format!("a{i}"), "b": format!("b{i}"), "rate": 1e7, "delay": 0.01 }))
            .collect();
        let flows: Vec<_> =
            (0..8).map(|i| json!({ "src": format!("a{i}"), "dst": format!("b{i}") })).collect();
        let net = json!({ "kind": "graph", "links": links });
        let division = divide_net(&net, &json!(flows), 4);
        assert_eq!((division.threads, division.lookahead_s), (4, f64::INFINITY));
        assert!((division.largest - 0.25).abs() < 0.01 && division.speedup > 3.8, "{division:?}");
        // More threads than there is work for.
        assert!(divide_net(&net, &json!(flows), 64).threads <= 16);
    }

    /// 2 s are 200,000 delays of 10 us. Two threads that wait for each other as often take at least 0.1 s for it, at 0.5 us,
    /// whatever they have to do: 166,667 packets of 1500 B at 1 Gbit/s, and as many ACKs, are less than 0.2 s.
    #[test]
    fn waits_between_threads_cost_what_they_take() {
        let two = |delay: f64| {
            let net = json!({ "kind": "graph", "links": [{ "a": "a", "b": "b", "rate": 1e9, "delay": delay,
                              "buffer": "100 pkt" }] });
            let cbr = json!({ "kind": "cbr", "rate": 9e8 });
            divide_net(
                &net,
                &json!([{ "src": "a", "dst": "b", "source": cbr },
                                  { "src": "b", "dst": "a", "source": cbr }]),
                2,
            )
        };
        let (short, long) = (two(1e-5), two(1e-2));
        assert_eq!((short.threads, long.threads), (2, 2));
        let shared = |division: &Division| division.work_s / division.speedup;
        assert!(shared(&short) > 0.1 && short.work_s < 0.2, "{short:?}");
        assert!(shared(&long) < shared(&short) - 0.09, "{long:?}");
    }

    #[test]
    fn a_link_without_any_delay_is_not_cut() {
        let net =
            json!({ "kind": "graph", "links": [{ "a": "a", "b": "b", "rate": 1e7, "delay": 0 }] });
        let division = divide_net(&net, &json!([{ "src": "a", "dst": "b" }]), 2);
        assert_eq!(division.threads, 1);
    }
}
