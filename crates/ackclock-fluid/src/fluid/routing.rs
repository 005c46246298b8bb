//! Shortest paths for many flows at once.
//!
//! One search per source, which ends when all of its destinations are reached. Links are tried in the
//! order of their numbers and a path is replaced only by a shorter one, so that equal inputs give
//! equal routes.
//!
//! **Source**: E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959,
//! doi:10.1007/BF01386390; breadth-first where all links cost the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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

/// Sources that a thread takes at a time.
const CHUNK: usize = 64;

/// Shortest paths from `from[i]` to `to[i]`, on all processors where there are many sources: the same on any number.
pub fn shortest_paths(map: &Map<'_>, from: &[u32], to: &[u32]) -> Routes {
    let ways = Ways::of(map);
    let (flow_offsets, flows) =
        super::net::group(map.nodes, from.iter().enumerate().map(|(i, &u)| (u, i as u32)));
    let members = |source: u32| {
        let range = flow_offsets[source as usize]..flow_offsets[source as usize + 1];
        &flows[range.start as usize..range.end as usize]
    };
    let sources: Vec<u32> =
        (0..map.nodes as u32).filter(|&source| !members(source).is_empty()).collect();
    let chunks: Vec<&[u32]> = sources.chunks(CHUNK).collect();
    let find = |chunk: &[u32], search: &mut Search<'_>| {
        let mut paths = Paths::default();
        for &source in chunk {
            search.find(source, members(source), to, &mut paths);
        }
        paths
    };
    let parts = for_each_chunk(&chunks, || Search::new(&ways), find);

    // Paths are in the order of sources: they are put into that of flows.
    let mut ranges = vec![(0u32, 0u32, 0u32); from.len()];
    for (part, (paths, chunk)) in parts.iter().zip(&chunks).enumerate() {
        let mut begin = 0;
        let flows = chunk.iter().flat_map(|&source| members(source));
        for (&flow, &end) in flows.zip(&paths.ends) {
            ranges[flow as usize] = (part as u32, begin, end);
            begin = end;
        }
    }
    let mut routes = Routes { offsets: vec![0], ..Routes::default() };
    routes.hops.reserve_exact(parts.iter().map(|paths| paths.links.len()).sum());
    for (flow, &(part, begin, end)) in ranges.iter().enumerate() {
        if begin == end {
            routes.unreachable.push(flow as u32);
        }
        routes.hops.extend_from_slice(&parts[part as usize].links[begin as usize..end as usize]);
        routes.offsets.push(routes.hops.len() as u32);
    }
    routes
}

/// The results of `find` for each chunk, in their order, on as many threads as there are processors; each thread has one
/// `search`.
fn for_each_chunk<S, T: Send>(
    chunks: &[&[u32]],
    search: impl Fn() -> S + Sync,
    find: impl Fn(&[u32], &mut S) -> T + Sync,
) -> Vec<T> {
    let processors = thread::available_parallelism().map_or(1, Into::into);
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut search, mut results) = (search(), Vec::new());
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(index) else { return results };
            results.push((index, find(chunk, &mut search)));
        }
    };
    let mut results = thread::scope(|scope| {
        let helpers: Vec<_> =
            (1..processors.min(chunks.len())).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for helper in helpers {
            // A panic there goes on here.
            results.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|result| result.0);
    results.into_iter().map(|result| result.1).collect()
}

/// A link out of a node.
#[derive(Clone, Copy)]
struct Way {
    next: u32,
    link: u32,
}

/// The links out of each node, in the order of their numbers.
struct Ways<'a> {
    map: &'a Map<'a>,
    offsets: Vec<u32>,
    list: Vec<Way>,
}

impl<'a> Ways<'a> {
    fn of(map: &'a Map<'a>) -> Self {
        let links = map.src.iter().enumerate().map(|(i, &node)| (node, i as u32));
        let (offsets, links) = super::net::group(map.nodes, links);
        let list = links.iter().map(|&link| Way { next: map.dst[link as usize], link }).collect();
        Self { map, offsets, list }
    }

    fn out(&self, node: u32) -> &[Way] {
        let range = self.offsets[node as usize]..self.offsets[node as usize + 1];
        &self.list[range.start as usize..range.end as usize]
    }
}

/// Paths one after another: their links, and where each ends.
#[derive(Default)]
struct Paths {
    links: Vec<u32>,
    ends: Vec<u32>,
}

/// What one search after another uses.
struct Search<'a> {
    ways: &'a Ways<'a>,
    /// The number of the search that reached a node last, from 1 on: what else is kept of the node is of that one.
    reached: Vec<u32>,
    /// The number of the last search that is to reach it.
    wanted: Vec<u32>,
    number: u32,
    /// Link by which each node is reached.
    by: Vec<u32>,
    distance: Vec<f64>,
    queue: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(ways: &'a Ways<'a>) -> Self {
        let nodes = ways.map.nodes;
        let distances = if ways.map.cost.is_empty() { 0 } else { nodes };
        Self {
            ways,
            reached: vec![0; nodes],
            wanted: vec![0; nodes],
            number: 0,
            by: vec![NONE; nodes],
            distance: vec![0.0; distances],
            queue: Vec::new(),
        }
    }

    /// Adds the path of each of `flows` from `source`, empty where there is none.
    fn find(&mut self, source: u32, flows: &[u32], to: &[u32], paths: &mut Paths) {
        self.number += 1;
        let mut missing = 0;
        for &flow in flows {
            let wanted = &mut self.wanted[to[flow as usize] as usize];
            missing += usize::from(*wanted != self.number);
            *wanted = self.number;
        }
        self.reached[source as usize] = self.number;
        if self.ways.map.cost.is_empty() {
            self.breadth_first(source, missing);
        } else {
            self.dijkstra(source, missing);
        }
        for &flow in flows {
            let begin = paths.links.len();
            let mut node = to[flow as usize];
            if self.reached[node as usize] == self.number {
                while node != source {
                    let link = self.by[node as usize];
                    paths.links.push(link);
                    node = self.ways.map.src[link as usize];
                }
            }
            paths.links[begin..].reverse();
            paths.ends.push(paths.links.len() as u32);
        }
    }

    fn breadth_first(&mut self, source: u32, mut missing: usize) {
        self.queue.clear();
        self.queue.push(source);
        let mut first = 0;
        while let Some(&node) = self.queue.get(first) {
            first += 1;
            for &Way { next, link } in self.ways.out(node) {
                if self.reached[next as usize] == self.number {
                    continue;
                }
                self.reached[next as usize] = self.number;
                self.by[next as usize] = link;
                self.queue.push(next);
                if self.wanted[next as usize] == self.number {
                    missing -= 1;
                    if missing == 0 {
                        return;
                    }
                }
            }
        }
    }

    fn dijkstra(&mut self, source: u32, mut missing: usize) {
        self.distance[source as usize] = 0.0;
        let mut heap = BinaryHeap::from([Reverse((0u64, source))]);
        while let Some(Reverse((bits, node))) = heap.pop() {
            let distance = f64::from_bits(bits);
            if distance > self.distance[node as usize] {
                continue;
            }
            missing -= usize::from(node != source && self.wanted[node as usize] == self.number);
            if missing == 0 {
                return;
            }
            for &Way { next, link } in self.ways.out(node) {
                let length = distance + self.ways.map.cost[link as usize];
                let far = next as usize;
                if self.reached[far] != self.number || length < self.distance[far] {
                    self.reached[far] = self.number;
                    self.distance[far] = length;
                    self.by[far] = link;
                    heap.push(Reverse((length.to_bits(), next)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// More sources than a thread takes at a time: a flow's path does not depend on which others there are, and no path
        /// of fewer hops, or of less cost, exists (by the iteration of Bellman and Ford).
        #[test]
        fn each_path_is_shortest_whatever_others_there_are(
            ends in prop::collection::vec((0u32..150, 0u32..150), 50..500),
            weights in prop::collection::vec(0u32..9, 500),
            pairs in prop::collection::vec((0u32..150, 0u32..150), 200..400),
            has_costs in any::<bool>(),
        ) {
            let (src, dst): (Vec<u32>, Vec<u32>) = ends.into_iter().unzip();
            let (from, to): (Vec<u32>, Vec<u32>) =
                pairs.into_iter().filter(|pair| pair.0 != pair.1).unzip();
            let costs: Vec<f64> = weights[..src.len()].iter().map(|&w| f64::from(w)).collect();
            let cost = if has_costs { &costs[..] } else { &[] };
            let map = Map { nodes: 150, src: &src, dst: &dst, cost };
            let all = shortest_paths(&map, &from, &to);
            let mut lengths = std::collections::HashMap::new();
            for i in 0..from.len() {
                let alone = shortest_paths(&map, &from[i..=i], &to[i..=i]);
                let path = &all.hops[all.offsets[i] as usize..all.offsets[i + 1] as usize];
                prop_assert_eq!(path, &alone.hops[..]);
                let length_of = |link: u32| cost.get(link as usize).copied().unwrap_or(1.0);
                let least = lengths.entry(from[i]).or_insert_with(|| {
                    let mut least = vec![f64::INFINITY; 150];
                    least[from[i] as usize] = 0.0;
                    for _ in 0..150 {
                        for (link, (&a, &b)) in src.iter().zip(&dst).enumerate() {
                            least[b as usize] =
                                least[b as usize].min(least[a as usize] + length_of(link as u32));
                        }
                    }
                    least
                });
                let least = least[to[i] as usize];
                prop_assert_eq!(path.is_empty(), least.is_infinite());
                if !path.is_empty() {
                    prop_assert_eq!(path.iter().map(|&link| length_of(link)).sum::<f64>(), least);
                    prop_assert_eq!(src[path[0] as usize], from[i]);
                    prop_assert_eq!(dst[path[path.len() - 1] as usize], to[i]);
                    prop_assert!(path.windows(2).all(|two| dst[two[0] as usize] == src[two[1] as usize]));
                }
            }
        }
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
