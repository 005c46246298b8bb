//! Flows hashed to one of the equal next hops, as routers do it, in place of equal parts.
//!
//! A demand consists of a number of flows with equal parts of its volume. Each router hashes a flow and divides
//! the range of the hash evenly among its next hops, in the order of their links. So a flow takes one path, and the
//! parts of a demand at a router are multinomial over its next hops. The hash depends on the seed, the two ends, the
//! number of the flow and the router only: what fails elsewhere moves no flow of a router that keeps its next hops.
//!
//! **Source**: C. Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992, section 2 (hash-threshold).
//! Its section 3 finds that of a router that loses one of n next hops more flows move than those of the lost one;
//! so they do here.

use crate::rng::mix;

use super::repair::Repair;
use super::{Igp, Matrix, Tree};

/// Flows of each demand, and how routers hash them.
#[derive(Clone, Debug, PartialEq)]
pub struct Hashed {
    /// Number of flows of each pair, at least 1.
    pub flows: Vec<u32>,
    /// Number of each pair's first flow among those of the same two ends; an empty list: 0 for all.
    pub first: Vec<u32>,
    /// Seed of all hashes.
    pub seed: u64,
    /// Whether all routers use one hash function, so that a choice decides the later ones (polarisation).
    pub same: bool,
}

impl Hashed {
    /// The hashes of a pair's flows, before any router.
    #[inline]
    fn keys(&self, matrix: &Matrix, pair: u32) -> impl Iterator<Item = u64> + use<> {
        let pair = pair as usize;
        let ends = (u64::from(matrix.from[pair]) << 32) | u64::from(matrix.to[pair]);
        let base = mix(mix(self.seed) ^ ends);
        let first = self.first.get(pair).copied().unwrap_or(0);
        (first..first + self.flows[pair]).map(move |flow| mix(base.wrapping_add(u64::from(flow))))
    }

    /// Which of `hops` next hops a flow takes at a router.
    #[inline]
    fn choose(&self, key: u64, node: u32, hops: usize) -> usize {
        let salt = if self.same { 0 } else { u64::from(node) + 1 };
        ((u128::from(mix(key ^ mix(salt))) * hops as u128) >> 64) as usize
    }
}

/// Links by node in one list.
#[derive(Debug, Default)]
struct NextHops {
    begins: Vec<u32>,
    links: Vec<u32>,
}

impl NextHops {
    fn find(&mut self, igp: &Igp, tree: &Tree, up: impl Fn(u32) -> bool) {
        self.begins.clear();
        self.links.clear();
        for node in 0..igp.nodes as u32 {
            self.begins.push(self.links.len() as u32);
            if tree.hops[node as usize] > 0 {
                let next = igp.out.of(node).iter().filter(|&&l| tree.on_path(igp, l) && up(l));
                self.links.extend(next);
            }
        }
        self.begins.push(self.links.len() as u32);
    }

    #[inline]
    fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.links[self.begins[node] as usize..self.begins[node + 1] as usize]
    }

    /// Follows a flow from a node to the destination: `visit` gets each link that its hashes choose.
    #[inline]
    fn follow(
        &self,
        igp: &Igp,
        hashed: &Hashed,
        key: u64,
        [from, to]: [u32; 2],
        mut visit: impl FnMut(u32),
    ) {
        let mut node = from;
        while node != to {
            let hops = self.of(node);
            let link = hops[hashed.choose(key, node, hops.len())];
            visit(link);
            node = igp.dst[link as usize];
        }
    }
}

/// A flow toward the destination that is looked at.
#[derive(Clone, Copy, Debug)]
struct Flow {
    from: u32,
    key: u64,
    rate: f64,
}

/// Where flows go, one destination at a time; kept from one to the next so that little is allocated.
pub(super) struct Paths<'a> {
    hashed: &'a Hashed,
    next: NextHops,
    flows: Vec<Flow>,
    /// Where each flow's path begins in `links`, and the end.
    begins: Vec<u32>,
    links: Vec<u32>,
    /// By node, where flows pass it: their numbers, and the places of their next links in `links`.
    passes: Vec<u32>,
    passing: Vec<(u32, u32)>,
    /// By node, whether flows may pass it, whatever their hashes.
    may_pass: Vec<bool>,
    /// Of one failure: the first place from which each flow moves, and those that move.
    moves_from: Vec<u32>,
    moving: Vec<u32>,
    some: Vec<u32>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(hashed: &'a Hashed) -> Self {
        Self {
            hashed,
            next: NextHops::default(),
            flows: Vec::new(),
            begins: Vec::new(),
            links: Vec::new(),
            passes: Vec::new(),
            passing: Vec::new(),
            may_pass: Vec::new(),
            moves_from: Vec::new(),
            moving: Vec::new(),
            some: Vec::new(),
        }
    }

    /// Lists what is sent to the destination of `tree`; returns the volume without a path.
    fn gather(&mut self, igp: &Igp, tree: &Tree, matrix: &Matrix, up: impl Fn(u32) -> bool) -> f64 {
        self.next.find(igp, tree, up);
        self.flows.clear();
        let mut missing = 0.0;
        for &pair in matrix.routed.of(tree.destination) {
            let (from, volume) = (matrix.from[pair as usize], matrix.volume[pair as usize]);
            if tree.distance[from as usize].is_infinite() {
                missing += volume;
            } else if volume > 0.0 && from != tree.destination {
                let rate = volume / f64::from(self.hashed.flows[pair as usize]);
                let keys = self.hashed.keys(matrix, pair);
                self.flows.extend(keys.map(|key| Flow { from, key, rate }));
            }
        }
        missing
    }

    /// Sends all flows to the destination of `tree`: `add` gets each link of each flow with what the flow offers
    /// there, and returns the part that the link passes on. Returns the volume without a path.
    pub(super) fn send(
        &mut self,
        igp: &Igp,
        tree: &Tree,
        matrix: &Matrix,
        up: impl Fn(u32) -> bool,
        mut add: impl FnMut(u32, f64) -> f64,
    ) -> f64 {
        let missing = self.gather(igp, tree, matrix, up);
        for flow in &self.flows {
            let mut rate = flow.rate;
            let ends = [flow.from, tree.destination];
            self.next.follow(igp, self.hashed, flow.key, ends, |link| rate *= add(link, rate));
        }
        missing
    }

    /// As [`Self::send`] where all is passed on, and keeps the paths for [`Self::fail`].
    pub(super) fn lay(
        &mut self,
        igp: &Igp,
        tree: &Tree,
        matrix: &Matrix,
        mut add: impl FnMut(u32, f64),
    ) -> f64 {
        let missing = self.gather(igp, tree, matrix, |_| true);
        self.begins.clear();
        self.links.clear();
        for flow in &self.flows {
            self.begins.push(self.links.len() as u32);
            let ends = [flow.from, tree.destination];
            self.next.follow(igp, self.hashed, flow.key, ends, |link| {
                add(link, flow.rate);
                self.links.push(link);
            });
        }
        self.begins.push(self.links.len() as u32);
        self.passes.clear();
        self.passes.resize(igp.nodes + 1, 0);
        for &link in &self.links {
            self.passes[igp.src[link as usize] as usize + 1] += 1;
        }
        for node in 0..igp.nodes {
            self.passes[node + 1] += self.passes[node];
        }
        self.passing.clear();
        self.passing.resize(self.links.len(), (0, 0));
        let mut ends = self.passes.clone();
        for flow in 0..self.flows.len() {
            for hop in self.begins[flow]..self.begins[flow + 1] {
                let end = &mut ends[igp.src[self.links[hop as usize] as usize] as usize];
                self.passing[*end as usize] = (flow as u32, hop);
                *end += 1;
            }
        }
        self.moves_from.clear();
        self.moves_from.resize(self.flows.len(), u32::MAX);
        self.mark(igp, tree);
        missing
    }

    /// Marks all nodes on shortest paths from where flows begin.
    fn mark(&mut self, igp: &Igp, tree: &Tree) {
        self.may_pass.clear();
        self.may_pass.resize(igp.nodes, false);
        for flow in &self.flows {
            self.may_pass[flow.from as usize] = true;
        }
        for &node in tree.order.iter().rev() {
            if self.may_pass[node as usize] {
                for &link in self.next.of(node) {
                    self.may_pass[igp.dst[link as usize] as usize] = true;
                }
            }
        }
    }

    /// Fails `links` after [`Self::lay`], where the pairs `more` lose their given paths and are routed from then on:
    /// `add` gets the changes of loads; returns the volume that has no path any more.
    #[expect(clippy::too_many_arguments, reason = "network, routes, demands, and what fails")]
    pub(super) fn fail(
        &mut self,
        igp: &Igp,
        tree: &Tree,
        repair: &mut Repair,
        matrix: &Matrix,
        more: &[u32],
        links: &[u32],
        mut add: impl FnMut(u32, f64),
    ) -> f64 {
        // A router that loses a next hop hashes anew, though no flow may have taken that one.
        let may_carry =
            |&l: &u32| tree.on_path(igp, l) && self.may_pass[igp.src[l as usize] as usize];
        if more.is_empty() && !links.iter().any(may_carry) {
            return 0.0;
        }
        repair.find_routes(igp, tree, links);
        self.moving.clear();
        for &node in repair.changed_nodes() {
            for index in self.passes[node as usize]..self.passes[node as usize + 1] {
                let (flow, hop) = self.passing[index as usize];
                let first = &mut self.moves_from[flow as usize];
                if *first == u32::MAX {
                    self.moving.push(flow);
                }
                *first = hop.min(*first);
            }
        }
        let mut lost = 0.0;
        for i in 0..self.moving.len() {
            let number = self.moving[i] as usize;
            let first = std::mem::replace(&mut self.moves_from[number], u32::MAX) as usize;
            let flow = self.flows[number];
            let from = igp.src[self.links[first] as usize];
            for &link in &self.links[first..self.begins[number + 1] as usize] {
                add(link, -flow.rate);
            }
            lost += self.follow_after(igp, tree, repair, Flow { from, ..flow }, &mut add);
        }
        let hashed = self.hashed;
        for &pair in more {
            let from = matrix.from[pair as usize];
            let rate = matrix.volume[pair as usize] / f64::from(hashed.flows[pair as usize]);
            for key in hashed.keys(matrix, pair) {
                lost += self.follow_after(igp, tree, repair, Flow { from, key, rate }, &mut add);
            }
        }
        lost
    }

    /// Sends a flow over the routes after a failure; returns its rate if it has no path.
    fn follow_after(
        &mut self,
        igp: &Igp,
        tree: &Tree,
        repair: &Repair,
        flow: Flow,
        add: &mut impl FnMut(u32, f64),
    ) -> f64 {
        let mut node = flow.from;
        if tree.distance[node as usize].is_infinite() || !repair.reaches(node) {
            return flow.rate;
        }
        while node != tree.destination {
            let hops = if repair.is_changed(node) {
                repair.next_hops(igp, tree, node, &mut self.some);
                &self.some[..]
            } else {
                self.next.of(node)
            };
            let link = hops[self.hashed.choose(flow.key, node, hops.len())];
            add(link, flow.rate);
            node = igp.dst[link as usize];
        }
        0.0
    }

    /// All flows that were laid to the destination, which fails itself: their rates are taken off.
    pub(super) fn withdraw(&self, mut add: impl FnMut(u32, f64)) -> f64 {
        for (number, flow) in self.flows.iter().enumerate() {
            for &link in &self.links[self.begins[number] as usize..self.begins[number + 1] as usize]
            {
                add(link, -flow.rate);
            }
        }
        self.flows.iter().map(|flow| flow.rate).sum()
    }

    /// What arrives of each pair to the destination of `tree`, where `passed` is the part that each link passes on.
    pub(super) fn kept(
        &mut self,
        igp: &Igp,
        tree: &Tree,
        matrix: &Matrix,
        passed: &[f64],
        fraction: &mut [f64],
    ) {
        for &pair in matrix.routed.of(tree.destination) {
            let from = matrix.from[pair as usize];
            if tree.distance[from as usize].is_infinite() {
                fraction[pair as usize] = 0.0;
                continue;
            }
            let mut sum = 0.0;
            for key in self.hashed.keys(matrix, pair) {
                let mut left = 1.0;
                let ends = [from, tree.destination];
                self.next.follow(igp, self.hashed, key, ends, |link| left *= passed[link as usize]);
                sum += left;
            }
            fraction[pair as usize] = sum / f64::from(self.hashed.flows[pair as usize]);
        }
    }
}

/// Different paths of a demand, each with the number of flows on it.
type Counted = Vec<(Vec<u32>, u32)>;

/// Paths of demands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routed {
    /// Pair of each path; in the order of pairs.
    pub pair: Vec<u32>,
    /// Flows that take it.
    pub flows: Vec<u32>,
    /// Where each path begins in `hops`, and the end.
    pub offsets: Vec<u32>,
    /// Links of all paths.
    pub hops: Vec<u32>,
    /// Pairs with a volume and no path.
    pub unreachable: Vec<u32>,
}

/// The paths that the flows of all demands take: of `each` flow, in the order of flows, or those that are the same as
/// one.
pub fn hashed_paths(igp: &Igp, matrix: &Matrix, hashed: &Hashed, each: bool) -> Routed {
    let mut tree = Tree::new(igp.nodes);
    let mut next = NextHops::default();
    let mut routed: Vec<(u32, Counted)> = Vec::new();
    let mut out = Routed::default();
    for destination in matrix.destinations() {
        tree.grow(igp, destination, |_| true);
        next.find(igp, &tree, |_| true);
        for &pair in matrix.routed.of(destination) {
            let from = matrix.from[pair as usize];
            if matrix.volume[pair as usize] == 0.0 || from == destination {
                continue;
            }
            if tree.distance[from as usize].is_infinite() {
                out.unreachable.push(pair);
                continue;
            }
            let mut paths: Vec<Vec<u32>> = hashed
                .keys(matrix, pair)
                .map(|key| {
                    let mut path = Vec::new();
                    next.follow(igp, hashed, key, [from, destination], |link| path.push(link));
                    path
                })
                .collect();
            if !each {
                paths.sort_unstable();
            }
            let mut counted = Counted::new();
            for path in paths {
                match counted.last_mut() {
                    Some((last, count)) if !each && *last == path => *count += 1,
                    _ => counted.push((path, 1)),
                }
            }
            routed.push((pair, counted));
        }
    }
    for (pair, links) in matrix.fixed_paths.paths() {
        if matrix.volume[pair as usize] > 0.0 {
            let (times, of_each) = if each {
                (hashed.flows[pair as usize], 1)
            } else {
                (1, hashed.flows[pair as usize])
            };
            routed.push((pair, vec![(links.to_vec(), of_each); times as usize]));
        }
    }
    routed.sort_unstable_by_key(|&(pair, _)| pair);
    out.unreachable.sort_unstable();
    out.offsets.push(0);
    for (pair, paths) in routed {
        for (path, count) in paths {
            out.pair.push(pair);
            out.flows.push(count);
            out.hops.extend(path);
            out.offsets.push(out.hops.len() as u32);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::igp::{Failure, Watch, failures, kept, loads};

    const VOLUME: f64 = 6.0;

    /// Two levels of two next hops: 0 to {1, 2}, 1 to {3, 4}, 2 to {5, 6}, all to the last node; one demand.
    fn two_levels() -> (Igp, Matrix) {
        let links =
            [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6), (3, 7), (4, 7), (5, 7), (6, 7)];
        let (src, dst): (Vec<u32>, Vec<u32>) = links.into_iter().unzip();
        let cost = vec![1.0; src.len()];
        (Igp::new(8, src, dst, cost), Matrix::new(8, vec![0], vec![7], vec![VOLUME]))
    }

    fn load(flows: u32, seed: u64, same: bool, up: &[bool]) -> Vec<f64> {
        let (igp, matrix) = two_levels();
        let hashed = Hashed { flows: vec![flows], first: vec![], seed, same };
        loads(&igp, &matrix, Some(&hashed), up, &mut |_, _| true).unwrap().link
    }

    #[test]
    fn parts_have_the_mean_of_equal_parts_and_the_variance_of_the_binomial() {
        // The last four links get a quarter of n flows each: mean 1/4, variance 1/4 x 3/4 / n of the volume.
        let (seeds, flows) = (4000, 10u32);
        for link in 0..10 {
            let p = if link < 2 { 0.5 } else { 0.25 };
            let fractions: Vec<f64> =
                (0..seeds).map(|seed| load(flows, seed, false, &[])[link] / VOLUME).collect();
            let n = seeds as f64;
            let mean = fractions.iter().sum::<f64>() / n;
            let variance = fractions.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let expected: f64 = p * (1.0 - p) / f64::from(flows);
            // Four standard errors; a variance's is sqrt(2 / n) of it, nearly, for ten flows.
            assert!((mean - p).abs() < 4.0 * (expected / n).sqrt(), "{link}: {mean}");
            let error = 4.0 * (2.0 / n).sqrt();
            assert!((variance / expected - 1.0).abs() < error, "{link}: {variance} {expected}");
        }
    }

    #[test]
    fn one_flow_takes_one_path() {
        for seed in 0..50 {
            for same in [false, true] {
                let mut load_of_links = load(1, seed, same, &[]);
                assert!(
                    load_of_links.iter().all(|&l| l == 0.0 || l == VOLUME),
                    "{load_of_links:?}"
                );
                load_of_links.retain(|&l| l > 0.0);
                assert_eq!(load_of_links.len(), 3);
            }
        }
    }

    #[test]
    fn one_hash_for_all_routers_uses_half_of_the_paths() {
        // A flow of the upper half of the range is in the upper half at the next router, too.
        let load_of_links = load(1000, 7, true, &[]);
        assert_eq!((load_of_links[2], load_of_links[5]), (load_of_links[0], load_of_links[1]));
        assert_eq!((load_of_links[3], load_of_links[4]), (0.0, 0.0));
        assert!(load(1000, 7, false, &[]).iter().all(|&l| l > 0.2 * VOLUME));
    }

    #[test]
    fn only_flows_of_routers_that_lose_a_next_hop_move() {
        for seed in 0..50 {
            let before = load(40, seed, false, &[]);
            let mut up = [true; 10];
            up[2] = false;
            let after = load(40, seed, false, &up);
            // What went over 1 to 3 goes over 1 to 4; node 2 and its links see nothing.
            assert_eq!(after[..2], before[..2]);
            assert_eq!(after[4..6], before[4..6]);
            assert!((after[3] - before[0]).abs() < 1e-12);
        }
    }

    #[test]
    fn a_router_that_loses_a_next_hop_without_flows_hashes_anew() {
        // 0 to 1, 2 or 3, and on to 4: node 1 fails to reach it, and 0 has two next hops left of three.
        let links = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)];
        let (src, dst): (Vec<u32>, Vec<u32>) = links.into_iter().unzip();
        let igp = Igp::new(5, src, dst, vec![1.0; 6]);
        let matrix = Matrix::new(5, vec![0], vec![4], vec![VOLUME]);
        let failed = [Failure { links: vec![3], nodes: vec![] }];
        let up = [true, true, true, false, true, true];
        let watch = Watch { across: false, memory: 1 << 20 };
        let mut moved = 0;
        for seed in 0..60 {
            let hashed = Hashed { flows: vec![1], first: vec![], seed, same: false };
            let before = loads(&igp, &matrix, Some(&hashed), &[], &mut |_, _| true).unwrap().link;
            let after = loads(&igp, &matrix, Some(&hashed), &up, &mut |_, _| true).unwrap().link;
            let capacity = [1.0; 6];
            let report =
                failures(&igp, &matrix, Some(&hashed), &capacity, &failed, watch, &mut |_, _| true);
            assert_eq!(report.unwrap().worst, after, "{seed}");
            moved += u32::from(before[0] == 0.0 && before != after);
        }
        assert!(moved > 0);
    }

    #[test]
    fn what_arrives_is_the_mean_over_flows() {
        let (igp, matrix) = two_levels();
        let hashed = Hashed { flows: vec![8], first: vec![], seed: 3, same: false };
        let offered = load(8, 3, false, &[]);
        let mut capacity = [1e9; 10];
        capacity[0] = offered[0] / 2.0;
        let throughput =
            kept(&igp, &matrix, Some(&hashed), &capacity, &[], 50, &mut |_, _| true).unwrap();
        assert!(offered[0] > 0.0 && throughput.settled);
        assert!((throughput.fraction[0] - (1.0 - offered[0] / 2.0 / VOLUME)).abs() < 1e-12);
    }
}
