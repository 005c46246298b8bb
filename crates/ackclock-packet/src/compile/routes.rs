//! Routes: least sum of a metric, ties broken by the order of the nodes or by a hash of the flow.
//!
//! The path from a node is followed greedily: among the neighbours that lie on a shortest path, the
//! one that comes first in the network, or with equal-cost multipath (ECMP) one that is drawn for
//! the flow. Parallel links count one by one. Hosts with one link are never transit, so distances are
//! found once per router that flows end at, not once per host.
//!
//! **Source**: Dijkstra 1959, doi:10.1007/BF01386390; C. Hopps, "Analysis of an Equal-Cost Multi-Path
//! Algorithm", RFC 2992: the range of a hash is divided evenly among the next hops. Deviation: the hash
//! is a fresh one at each node, so that no choice follows from one before ("polarisation" of switches
//! that share a hash function).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ids::{LinkId, NodeId};
use crate::rng::Stream;

/// A directed link as routing sees it. Metrics are whole numbers, so that sums compare exactly; over one of
/// [`FAILED`] no way leads, but from a host that has no other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: u32,
    pub(super) link: u32,
    pub(super) metric: u64,
}

/// In place of the metric of a link that has failed.
pub(super) const FAILED: u64 = u64::MAX;

/// Links by the node at one of their ends.
struct Fans {
    /// By node, where its links begin; at last their number.
    begins: Vec<u32>,
    edges: Vec<Edge>,
}

impl Fans {
    /// From nodes and links at them: those of one node keep their order.
    fn new(nodes: usize, links: impl Iterator<Item = (u32, Edge)> + Clone) -> Self {
        let mut ends = vec![0u32; nodes + 1];
        for (node, _) in links.clone() {
            ends[node as usize + 1] += 1;
        }
        for node in 0..nodes {
            ends[node + 1] += ends[node];
        }
        let begins = ends.clone();
        let mut edges = vec![Edge { to: 0, link: 0, metric: 0 }; begins[nodes] as usize];
        for (node, edge) in links {
            let cursor = &mut ends[node as usize];
            edges[*cursor as usize] = edge;
            *cursor += 1;
        }
        Self { begins, edges }
    }

    fn nodes(&self) -> usize {
        self.begins.len() - 1
    }

    fn range(&self, node: u32) -> Range<usize> {
        self.begins[node as usize] as usize..self.begins[node as usize + 1] as usize
    }

    fn of(&self, node: u32) -> &[Edge] {
        &self.edges[self.range(node)]
    }
}

/// A link and its far end.
type Step = (u32, u32);

/// There are more shortest paths than may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// Finds routes on one network.
pub(super) struct Routes {
    /// Outgoing links of each node, by far end.
    out: Fans,
    /// Incoming links of each node (far end = where they come from).
    into: Fans,
    distances: FxHashMap<u32, Rc<Vec<u64>>>,
    /// First link from a node towards an anchor.
    steps: FxHashMap<(u32, u32), Option<Step>>,
    /// All links from a node that lie on a shortest path towards an anchor, with their far ends.
    equal: FxHashMap<(u32, u32), Rc<[Step]>>,
    /// The route that is being found.
    route: Vec<LinkId>,
}

impl Routes {
    /// From directed links (from, to, metric) in order of their ids.
    pub(super) fn new(nodes: usize, links: impl Iterator<Item = (u32, u32, u64)> + Clone) -> Self {
        let links = links.zip(0..).map(|((from, to, metric), link)| (from, to, link, metric));
        let mut out = Fans::new(
            nodes,
            links.clone().map(|(from, to, link, metric)| (from, Edge { to, link, metric })),
        );
        let into = Fans::new(
            nodes,
            links.map(|(from, to, link, metric)| (to, Edge { to: from, link, metric })),
        );
        for node in 0..nodes as u32 {
            let range = out.range(node);
            out.edges[range].sort_by_key(|e| (e.to, e.link));
        }
        Self {
            out,
            into,
            distances: FxHashMap::default(),
            steps: FxHashMap::default(),
            equal: FxHashMap::default(),
            route: Vec::new(),
        }
    }

    /// The links from `src` to `dst`; `None` if there is no way. Of equal paths the first, or with `hash` one
    /// that it chooses node by node.
    pub(super) fn route(
        &mut self,
        src: NodeId,
        dst: NodeId,
        mut hash: Option<Stream>,
    ) -> Option<Box<[LinkId]>> {
        // The last router before a host with one link: distances to it serve all its hosts.
        let (anchor, last) = match self.into.of(dst.0) {
            [only] if only.to != src.0 && self.out.of(dst.0).len() == 1 => {
                (only.to, Some(only.link))
            }
            _ => (dst.0, None),
        };
        self.route.clear();
        let mut node = src.0;
        while node != anchor {
            let (link, to) = match &mut hash {
                Some(hash) => self.choose_link(node, anchor, hash)?,
                None => self.step(node, anchor)?,
            };
            self.route.push(LinkId(link));
            node = to;
            if self.route.len() > self.out.nodes() {
                return None;
            }
        }
        self.route.extend(last.map(LinkId));
        Some(self.route.as_slice().into())
    }

    /// Every shortest path from `src` to `dst` in the order of their nodes, parallel links one by one: none if
    /// there is no way.
    ///
    /// # Errors
    /// If there are more than `most`.
    pub(super) fn all(
        &mut self,
        src: NodeId,
        dst: NodeId,
        most: usize,
    ) -> Result<Vec<Box<[LinkId]>>, TooMany> {
        let mut paths = Vec::new();
        let mut route = Vec::new();
        self.extend_paths(src.0, dst.0, most, &mut route, &mut paths)?;
        Ok(paths)
    }

    /// Adds the paths from `node` on, each behind `route`.
    fn extend_paths(
        &mut self,
        node: u32,
        dst: u32,
        most: usize,
        route: &mut Vec<LinkId>,
        paths: &mut Vec<Box<[LinkId]>>,
    ) -> Result<(), TooMany> {
        if node == dst {
            if paths.len() == most {
                return Err(TooMany);
            }
            paths.push(route.as_slice().into());
            return Ok(());
        }
        let equal = match self.equal.get(&(node, dst)) {
            Some(equal) => Rc::clone(equal),
            None => self.find_equal(node, dst),
        };
        for &(link, to) in &*equal {
            route.push(LinkId(link));
            self.extend_paths(to, dst, most, route, paths)?;
            route.pop();
        }
        Ok(())
    }

    /// The link from `node` towards `anchor`, and its far end; looked for once.
    fn step(&mut self, node: u32, anchor: u32) -> Option<Step> {
        // A host's only link needs no memory, and there may be very many hosts.
        if let [only] = self.out.of(node) {
            return Some((only.link, only.to));
        }
        if let Some(&step) = self.steps.get(&(node, anchor)) {
            return step;
        }
        let distances = self.distances(anchor);
        let best = self
            .out
            .of(node)
            .iter()
            .map(|e| (distances[e.to as usize].saturating_add(e.metric), e.to, e.link))
            .filter(|&(distance, ..)| distance != u64::MAX)
            .min()
            .map(|(_, to, link)| (link, to));
        self.steps.insert((node, anchor), best);
        best
    }

    /// One of the links from `node` on shortest paths towards `anchor`, and its far end.
    fn choose_link(&mut self, node: u32, anchor: u32, hash: &mut Stream) -> Option<Step> {
        if let [only] = self.out.of(node) {
            return Some((only.link, only.to));
        }
        let equal = match self.equal.get(&(node, anchor)) {
            Some(equal) => Rc::clone(equal),
            None => self.find_equal(node, anchor),
        };
        match *equal {
            [] => None,
            // No draw where there is no choice.
            [only] => Some(only),
            ref several => Some(several[hash.below(several.len() as u64) as usize]),
        }
    }

    fn find_equal(&mut self, node: u32, anchor: u32) -> Rc<[Step]> {
        let distances = self.distances(anchor);
        let cost = |e: &Edge| match distances[e.to as usize] {
            u64::MAX => u64::MAX,
            distance => distance.saturating_add(e.metric),
        };
        let least = self.out.of(node).iter().map(cost).min().unwrap_or(u64::MAX);
        let shortest = self.out.of(node).iter().filter(|&e| cost(e) == least && least < u64::MAX);
        let equal: Rc<[Step]> = shortest.map(|e| (e.link, e.to)).collect();
        self.equal.insert((node, anchor), Rc::clone(&equal));
        equal
    }

    /// The link from `a` to `b`, if they are neighbours.
    pub(super) fn link(&self, a: u32, b: u32) -> Option<LinkId> {
        let edges = self.out.of(a);
        let first = edges.partition_point(|e| e.to < b);
        edges.get(first).filter(|e| e.to == b).map(|e| LinkId(e.link))
    }

    fn distances(&mut self, anchor: u32) -> Rc<Vec<u64>> {
        if let Some(distances) = self.distances.get(&anchor) {
            return Rc::clone(distances);
        }
        let mut distance = vec![u64::MAX; self.into.nodes()];
        let mut queue = BinaryHeap::from([Reverse((0u64, anchor))]);
        distance[anchor as usize] = 0;
        while let Some(Reverse((d, node))) = queue.pop() {
            if d > distance[node as usize] {
                continue;
            }
            for edge in self.into.of(node) {
                let next = d.saturating_add(edge.metric);
                if next < distance[edge.to as usize] {
                    distance[edge.to as usize] = next;
                    // Over a host with one link, which comes from here, nothing else is reached.
                    if !matches!(self.into.of(edge.to), [only] if only.to == node) {
                        queue.push(Reverse((next, edge.to)));
                    }
                }
            }
        }
        let distance = Rc::new(distance);
        self.distances.insert(anchor, Rc::clone(&distance));
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn both(edges: &[(u32, u32, u64)]) -> Vec<(u32, u32, u64)> {
        edges.iter().flat_map(|&(a, b, m)| [(a, b, m), (b, a, m)]).collect()
    }

    #[test]
    fn of_two_equal_paths_the_one_over_earlier_nodes_is_taken() {
        // 0 - {2, 1} - 3 with equal lengths, listed later node first.
        let mut routes =
            Routes::new(4, both(&[(0, 2, 1), (2, 3, 1), (0, 1, 1), (1, 3, 1)]).into_iter());
        let route = routes.route(NodeId(0), NodeId(3), None).unwrap();
        assert_eq!(*route, [LinkId(4), LinkId(6)]); // 0->1, 1->3
    }

    #[test]
    fn the_metric_decides_and_islands_are_not_reached() {
        let mut routes =
            Routes::new(5, both(&[(0, 1, 10), (0, 2, 1), (2, 1, 1), (3, 4, 1)]).into_iter());
        assert_eq!(routes.route(NodeId(0), NodeId(1), None).unwrap()[..], [LinkId(2), LinkId(4)]);
        assert!(routes.route(NodeId(0), NodeId(4), None).is_none());
    }

    #[test]
    fn neighbours_are_one_link_apart_even_as_hosts() {
        let mut routes = Routes::new(2, both(&[(0, 1, 1)]).into_iter());
        assert_eq!(routes.route(NodeId(0), NodeId(1), None).unwrap()[..], [LinkId(0)]);
        assert_eq!(routes.route(NodeId(1), NodeId(0), None).unwrap()[..], [LinkId(1)]);
    }

    /// Two leaves with `spines` spines between, and one host at each: 0 - 1 - {3, ..} - 2 - host.
    fn fabric(spines: u32) -> Routes {
        let host = 3 + spines;
        let mut edges = vec![(0, 1, 1), (2, host, 1)];
        edges.extend((3..host).flat_map(|spine| [(1, spine, 1), (spine, 2, 1)]));
        Routes::new(host as usize + 1, both(&edges).into_iter())
    }

    /// The spine that a flow goes over.
    fn spine(routes: &mut Routes, spines: u32, seed: u64, flow: u64) -> usize {
        let hash = Stream::new(seed, Purpose::Path, 2 * flow);
        let route = routes.route(NodeId(0), NodeId(3 + spines), Some(hash)).unwrap();
        assert_eq!(route.len(), 4);
        // After the links of the hosts come two links, of two directions each, for each spine.
        (route[1].index() - 4) / 4
    }

    #[test]
    fn flows_are_spread_evenly_over_equal_paths() {
        let (spines, flows) = (16, 32_000);
        let mut routes = fabric(spines);
        let mut count = [0u32; 16];
        (0..flows).for_each(|flow| count[spine(&mut routes, spines, 1, flow)] += 1);
        // Chi-squared with 15 degrees of freedom is above 37.7 in one of a thousand.
        let mean = flows as f64 / f64::from(spines);
        let chi: f64 = count.iter().map(|&n| (f64::from(n) - mean).powi(2) / mean).sum();
        assert!(chi < 37.7, "{count:?}");
    }

    #[test]
    fn eleven_flows_over_twenty_spines_all_differ_as_rarely_as_published() {
        // Alizadeh & Edsall 2013: 11 flows of 10 Gbit/s over 20 uplinks of 10 Gbit/s get 100 % throughput with
        // probability 3.27 %. The standard error of 20,000 draws is 0.13 %.
        let mut routes = fabric(20);
        let draws = 20_000;
        let differ = |seed: u64| {
            let mut used = 0u32;
            (0..11).for_each(|flow| used |= 1 << spine(&mut routes, 20, seed, flow));
            used.count_ones() == 11
        };
        let share = (0..draws).map(differ).filter(|&all| all).count() as f64 / draws as f64;
        assert!((share - 0.0327).abs() < 0.004, "{share}");
    }

    #[test]
    fn a_longer_path_is_never_chosen_and_parallel_links_count_one_by_one() {
        // 0 - 1 twice, and the longer 0 - 2 - 1.
        let mut routes =
            Routes::new(3, both(&[(0, 1, 1), (0, 1, 1), (0, 2, 1), (2, 1, 1)]).into_iter());
        let mut counts = [0; 2];
        for flow in 0..100 {
            let hash = Stream::new(1, Purpose::Path, flow);
            match *routes.route(NodeId(0), NodeId(1), Some(hash)).unwrap() {
                [LinkId(0)] => counts[0] += 1,
                [LinkId(2)] => counts[1] += 1,
                ref other => panic!("{other:?}"),
            }
        }
        assert!(counts[0] > 30 && counts[1] > 30, "{counts:?}");
        let mut islands = Routes::new(4, both(&[(0, 1, 1), (2, 3, 1)]).into_iter());
        let hash = Stream::new(1, Purpose::Path, 0);
        assert!(islands.route(NodeId(0), NodeId(3), Some(hash)).is_none());
    }
}
