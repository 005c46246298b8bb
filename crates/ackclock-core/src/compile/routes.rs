//! Routes: least sum of a metric, ties broken by the order of the nodes.
//!
//! The path from a node is followed greedily: among the neighbours that lie on a shortest path, the
//! one that comes first in the network. Hosts with one link are never transit, so distances are
//! found once per router that flows end at, not once per host.
//!
//! **Source**: Dijkstra 1959, doi:10.1007/BF01386390.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
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

/// Finds routes on one network.
pub(super) struct Routes {
    /// Outgoing links of each node, by far end.
    out: Vec<Vec<Edge>>,
    /// Incoming links of each node (far end = where they come from).
    into: Vec<Vec<Edge>>,
    distances: FxHashMap<u32, Rc<Vec<u64>>>,
    /// First link from a node towards an anchor.
    steps: FxHashMap<(u32, u32), Option<(u32, u32)>>,
}

impl Routes {
    /// From directed links (from, to, metric) in order of their ids.
    pub(super) fn new(nodes: usize, links: impl Iterator<Item = (u32, u32, u64)>) -> Self {
        let (mut out, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (link, (from, to, metric)) in links.enumerate() {
            out[from as usize].push(Edge { to, link: link as u32, metric });
            into[to as usize].push(Edge { to: from, link: link as u32, metric });
        }
        for edges in &mut out {
            edges.sort_by_key(|e| (e.to, e.link));
        }
        Self { out, into, distances: FxHashMap::default(), steps: FxHashMap::default() }
    }

    /// The links from `src` to `dst`; `None` if there is no way.
    pub(super) fn route(&mut self, src: NodeId, dst: NodeId) -> Option<Vec<LinkId>> {
        // The last router before a host with one link: distances to it serve all its hosts.
        let (anchor, last) = match self.into[dst.index()].as_slice() {
            [only] if only.to != src.0 && self.out[dst.index()].len() == 1 => {
                (only.to, Some(only.link))
            }
            _ => (dst.0, None),
        };
        let mut route = Vec::new();
        let mut at = src.0;
        while at != anchor {
            let (link, to) = self.step(at, anchor)?;
            route.push(LinkId(link));
            at = to;
            if route.len() > self.out.len() {
                return None;
            }
        }
        route.extend(last.map(LinkId));
        Some(route)
    }

    /// The link from `at` towards `anchor`, and its far end; looked for once.
    fn step(&mut self, at: u32, anchor: u32) -> Option<(u32, u32)> {
        // A host's only link needs no memory, and there may be very many hosts.
        if let [only] = self.out[at as usize].as_slice() {
            return Some((only.link, only.to));
        }
        if let Some(&known) = self.steps.get(&(at, anchor)) {
            return known;
        }
        let distances = self.distances(anchor);
        let best = self.out[at as usize]
            .iter()
            .filter(|e| distances[e.to as usize] != u64::MAX)
            .min_by_key(|e| (distances[e.to as usize].saturating_add(e.metric), e.to, e.link))
            .map(|e| (e.link, e.to));
        self.steps.insert((at, anchor), best);
        best
    }

    /// The link from `a` to `b`, if they are neighbours.
    pub(super) fn link(&self, a: u32, b: u32) -> Option<LinkId> {
        let edges = &self.out[a as usize];
        let first = edges.partition_point(|e| e.to < b);
        edges.get(first).filter(|e| e.to == b).map(|e| LinkId(e.link))
    }

    fn distances(&mut self, anchor: u32) -> Rc<Vec<u64>> {
        if let Some(known) = self.distances.get(&anchor) {
            return Rc::clone(known);
        }
        let mut distance = vec![u64::MAX; self.into.len()];
        let mut queue = BinaryHeap::from([Reverse((0u64, anchor))]);
        distance[anchor as usize] = 0;
        while let Some(Reverse((d, node))) = queue.pop() {
            if d > distance[node as usize] {
                continue;
            }
            for edge in &self.into[node as usize] {
                let next = d.saturating_add(edge.metric);
                if next < distance[edge.to as usize] {
                    distance[edge.to as usize] = next;
                    queue.push(Reverse((next, edge.to)));
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
        assert_eq!(route, [LinkId(4), LinkId(6)]); // 0->1, 1->3
    }

    #[test]
    fn the_metric_decides_and_islands_are_not_reached() {
        let mut routes =
            Routes::new(5, both(&[(0, 1, 10), (0, 2, 1), (2, 1, 1), (3, 4, 1)]).into_iter());
        assert_eq!(routes.route(NodeId(0), NodeId(1)).unwrap(), [LinkId(2), LinkId(4)]);
        assert!(routes.route(NodeId(0), NodeId(4)).is_none());
    }

    #[test]
    fn neighbours_are_one_link_apart_even_as_hosts() {
        let mut routes = Routes::new(2, both(&[(0, 1, 1)]).into_iter());
        assert_eq!(routes.route(NodeId(0), NodeId(1)).unwrap(), [LinkId(0)]);
        assert_eq!(routes.route(NodeId(1), NodeId(0)).unwrap(), [LinkId(1)]);
    }
}
