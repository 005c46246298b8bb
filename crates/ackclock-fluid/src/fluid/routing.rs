//! Shortest paths for many flows at once.
//!
//! One search per source, which ends when all of its destinations are reached. Links are tried in the
//! order of their numbers and a path is replaced only by a shorter one, so that equal inputs give
//! equal routes.
//!
//! **Source**: E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959,
//! doi:10.1007/BF01386390; breadth-first where all links cost the same.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Directed links between numbered nodes.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    /// Number of nodes.
    pub nodes: usize,
    /// Where each link begins.
    pub src: &'a [u32],
    /// Where each link ends.
    pub dst: &'a [u32],
    /// What each link costs, 0 or more; empty: all the same.
    pub cost: &'a [f64],
}

/// Routes of flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routes {
    /// Where each flow's route begins in `hops`, and the end.
    pub offsets: Vec<u32>,
    /// Links of all routes.
    pub hops: Vec<u32>,
    /// Flows without any path; their routes are empty.
    pub unreachable: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Shortest paths from `from[i]` to `to[i]`.
pub fn shortest_paths(map: &Map<'_>, from: &[u32], to: &[u32]) -> Routes {
    let (out_offsets, out_links) =
        super::net::group(map.nodes, map.src.iter().enumerate().map(|(i, &u)| (u, i as u32)));
    let (flow_offsets, flows) =
        super::net::group(map.nodes, from.iter().enumerate().map(|(i, &u)| (u, i as u32)));
    let mut search = Search {
        map,
        out: |node: u32| {
            &out_links[out_offsets[node as usize] as usize..out_offsets[node as usize + 1] as usize]
        },
        by: vec![NONE; map.nodes],
        distance: vec![f64::INFINITY; map.nodes],
        reached: Vec::new(),
    };
    // Routes in the order of sources first, then put into the order of flows.
    let mut path_links: Vec<u32> = Vec::new();
    let mut ranges = vec![(0u32, 0u32); from.len()];
    let mut is_target = vec![false; map.nodes];
    for source in 0..map.nodes as u32 {
        let members = &flows
            [flow_offsets[source as usize] as usize..flow_offsets[source as usize + 1] as usize];
        if members.is_empty() {
            continue;
        }
        let mut missing = 0;
        for &flow in members {
            let target = &mut is_target[to[flow as usize] as usize];
            missing += usize::from(!*target);
            *target = true;
        }
        search.from(source, &mut is_target, missing);
        for &flow in members {
            let begin = path_links.len() as u32;
            let mut node = to[flow as usize];
            is_target[node as usize] = false;
            while node != source {
                let link = search.by[node as usize];
                if link == NONE {
                    path_links.truncate(begin as usize);
                    break;
                }
                path_links.push(link);
                node = map.src[link as usize];
            }
            path_links[begin as usize..].reverse();
            ranges[flow as usize] = (begin, path_links.len() as u32);
        }
    }
    let mut routes = Routes { offsets: vec![0], ..Routes::default() };
    routes.hops.reserve_exact(path_links.len());
    for (flow, &(begin, end)) in ranges.iter().enumerate() {
        if begin == end {
            routes.unreachable.push(flow as u32);
        }
        routes.hops.extend_from_slice(&path_links[begin as usize..end as usize]);
        routes.offsets.push(routes.hops.len() as u32);
    }
    routes
}

struct Search<'a, F> {
    map: &'a Map<'a>,
    out: F,
    /// Link by which each node is reached.
    by: Vec<u32>,
    distance: Vec<f64>,
    /// Nodes that hold something of the last search.
    reached: Vec<u32>,
}

impl<'a, F: Fn(u32) -> &'a [u32]> Search<'_, F> {
    /// Finds the ways from a source until `missing` wanted nodes are reached.
    fn from(&mut self, source: u32, is_target: &mut [bool], missing: usize) {
        for &node in &self.reached {
            self.by[node as usize] = NONE;
            self.distance[node as usize] = f64::INFINITY;
        }
        self.reached.clear();
        self.reached.push(source);
        self.distance[source as usize] = 0.0;
        if self.map.cost.is_empty() {
            self.breadth_first(source, is_target, missing);
        } else {
            self.dijkstra(source, is_target, missing);
        }
    }

    fn breadth_first(&mut self, source: u32, is_target: &[bool], mut missing: usize) {
        let mut queue = VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            for &link in (self.out)(node) {
                let next = self.map.dst[link as usize];
                if self.distance[next as usize].is_infinite() {
                    self.distance[next as usize] = 0.0;
                    self.by[next as usize] = link;
                    self.reached.push(next);
                    queue.push_back(next);
                    missing -= usize::from(is_target[next as usize]);
                    if missing == 0 {
                        return;
                    }
                }
            }
        }
    }

    fn dijkstra(&mut self, source: u32, is_target: &[bool], mut missing: usize) {
        let mut heap = BinaryHeap::from([Reverse((0u64, source))]);
        while let Some(Reverse((bits, node))) = heap.pop() {
            let distance = f64::from_bits(bits);
            if distance > self.distance[node as usize] {
                continue;
            }
            missing -= usize::from(node != source && is_target[node as usize]);
            if missing == 0 {
                return;
            }
            for &link in (self.out)(node) {
                let next = self.map.dst[link as usize] as usize;
                let length = distance + self.map.cost[link as usize];
                if length < self.distance[next] {
                    if self.distance[next].is_infinite() {
                        self.reached.push(next as u32);
                    }
                    self.distance[next] = length;
                    self.by[next] = link;
                    heap.push(Reverse((length.to_bits(), next as u32)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A square 0-1-2-3-0, both ways, and 4 apart; links 0->1, 1->0, 1->2, 2->1, 2->3, 3->2, 3->0, 0->3.
    const SRC: [u32; 8] = [0, 1, 1, 2, 2, 3, 3, 0];
    const DST: [u32; 8] = [1, 0, 2, 1, 3, 2, 0, 3];

    fn routes(cost: &[f64], from: &[u32], to: &[u32]) -> Routes {
        shortest_paths(&Map { nodes: 5, src: &SRC, dst: &DST, cost }, from, to)
    }

    #[test]
    fn routes_have_fewest_hops_and_missing_ones_are_reported() {
        let paths = routes(&[], &[0, 3, 0, 0], &[2, 1, 4, 3]);
        assert_eq!(paths.offsets, [0, 2, 4, 4, 5]);
        assert_eq!(paths.hops, [0, 2, 5, 3, 7]);
        assert_eq!(paths.unreachable, [2]);
    }

    #[test]
    fn costs_outweigh_hops() {
        // 0->1 costs 5: the way round is 3.
        let mut cost = [1.0; 8];
        cost[0] = 5.0;
        let paths = routes(&cost, &[0, 1], &[1, 0]);
        assert_eq!(paths.hops, [7, 5, 3, 1]);
    }
}
