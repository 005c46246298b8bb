//! Routes: least sum of a metric, ties broken by the order of the nodes.
//!
//! The path from a node is followed greedily: among the neighbours that lie on a shortest path, the
//! one that comes first in the network. Hosts with one link are never transit, so distances are
//! found once per router that flows end at, not once per host.
//!
//! **Source**: Dijkstra 1959, doi:10.1007/BF01386390.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ids::{LinkId, NodeId};

/// A directed link as routing sees it. Metrics are whole numbers, so that sums compare exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: u32,
    pub(super) link: u32,
    pub(super) metric: u64,
}

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
            let place = &mut ends[node as usize];
            edges[*place as usize] = edge;
            *place += 1;
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

/// Finds routes on one network.
pub(super) struct Routes {
    /// Outgoing links of each node, by far end.
    out: Fans,
    /// Incoming links of each node (far end = where they come from).
    into: Fans,
    distances: FxHashMap<u32, Rc<Vec<u64>>>,
    /// First link from a node towards an anchor.
    steps: FxHashMap<(u32, u32), Option<(u32, u32)>>,
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
        let (distances, steps) = (FxHashMap::default(), FxHashMap::default());
        Self { out, into, distances, steps, route: Vec::new() }
    }

    /// The links from `src` to `dst`; `None` if there is no way.
    pub(super) fn route(&mut self, src: NodeId, dst: NodeId) -> Option<Box<[LinkId]>> {
        // The last router before a host with one link: distances to it serve all its hosts.
        let (anchor, last) = match self.into.of(dst.0) {
            [only] if only.to != src.0 && self.out.of(dst.0).len() == 1 => {
                (only.to, Some(only.link))
            }
            _ => (dst.0, None),
        };
        self.route.clear();
        let mut at = src.0;
        while at != anchor {
            let (link, to) = self.step(at, anchor)?;
            self.route.push(LinkId(link));
            at = to;
            if self.route.len() > self.out.nodes() {
                return None;
            }
        }
        self.route.extend(last.map(LinkId));
        Some(self.route.as_slice().into())
    }

    /// The link from `at` towards `anchor`, and its far end; looked for once.
    fn step(&mut self, at: u32, anchor: u32) -> Option<(u32, u32)> {
        // A host's only link needs no memory, and there may be very many hosts.
        if let [only] = self.out.of(at) {
            return Some((only.link, only.to));
        }
        if let Some(&known) = self.steps.get(&(at, anchor)) {
            return known;
        }
        let distances = self.distances(anchor);
        let best = self
            .out
            .of(at)
            .iter()
            .filter(|e| distances[e.to as usize] != u64::MAX)
            .min_by_key(|e| (distances[e.to as usize].saturating_add(e.metric), e.to, e.link))
            .map(|e| (e.link, e.to));
        self.steps.insert((at, anchor), best);
        best
    }

    /// The link from `a` to `b`, if they are neighbours.
    pub(super) fn link(&self, a: u32, b: u32) -> Option<LinkId> {
        let edges = self.out.of(a);
        let first = edges.partition_point(|e| e.to < b);
        edges.get(first).filter(|e| e.to == b).map(|e| LinkId(e.link))
    }

    fn distances(&mut self, anchor: u32) -> Rc<Vec<u64>> {
        if let Some(known) = self.distances.get(&anchor) {
            return Rc::clone(known);
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

    fn both(edges: &[(u32, u32, u64)]) -> Vec<(u32, u32, u64)> {
        edges.iter().flat_map(|&(a, b, m)| [(a, b, m), (b, a, m)]).collect()
    }

    #[test]
    fn of_two_equal_paths_the_one_over_earlier_nodes_is_taken() {
        // 0 - {2, 1} - 3 with equal lengths, listed later node first.
        let mut routes =
            Routes::new(4, both(&[(0, 2, 1), (2, 3, 1), (0, 1, 1), (1, 3, 1)]).into_iter());
        let route = routes.route(NodeId(0), NodeId(3)).unwrap();
        assert_eq!(*route, [LinkId(4), LinkId(6)]); // 0->1, 1->3
    }

    #[test]
    fn the_metric_decides_and_islands_are_not_reached() {
        let mut routes =
            Routes::new(5, both(&[(0, 1, 10), (0, 2, 1), (2, 1, 1), (3, 4, 1)]).into_iter());
        assert_eq!(routes.route(NodeId(0), NodeId(1)).unwrap()[..], [LinkId(2), LinkId(4)]);
        assert!(routes.route(NodeId(0), NodeId(4)).is_none());
    }

    #[test]
    fn neighbours_are_one_link_apart_even_as_hosts() {
        let mut routes = Routes::new(2, both(&[(0, 1, 1)]).into_iter());
        assert_eq!(routes.route(NodeId(0), NodeId(1)).unwrap()[..], [LinkId(0)]);
        assert_eq!(routes.route(NodeId(1), NodeId(0)).unwrap()[..], [LinkId(1)]);
    }
}
