//! Erdos-Renyi: links drawn with equal chances from all pairs of nodes.
//!
//! **Source**: P. Erdős, A. Rényi, "On random graphs. I", Publ. Math. 6, 1959, as used by McCullough et al.
//! 2010, section 6.1: "we insert e edges uniformly at random from among the set of n^2 possible edges".
//!
//! **Rule**
//! ```text
//! e different ordered pairs (u, v) of the n^2, every set of e equally likely (Floyd's sampling)
//! u = v gives no link; (u, v) and (v, u) give one
//! ```
//! Deviations: none. Whether the paper redraws loops is not stated; here they are lost, about e/n of them.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::adjacency::Adjacency;
use super::{Layout, Topology, drawn};
use crate::error::Problem;
use crate::registry::Ranges;
use crate::rng::{Purpose, Stream};
use crate::scenario::ErdosRenyi;

static RANGES: LazyLock<Ranges<3>> =
    LazyLock::new(|| Ranges::of::<ErdosRenyi>(["nodes", "edges", "edge_nodes"]));

impl Topology for ErdosRenyi {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        RANGES.check(
            path,
            [
                self.nodes.into(),
                self.edges.into(),
                // Left out there is nothing to check.
                self.edge_nodes.unwrap_or(1).into(),
            ],
        )?;
        let pairs = u64::from(self.nodes).pow(2);
        drawn::check_edges(path, self.edges, pairs, self.nodes)?;
        let mut rng = Stream::new(self.seed, Purpose::Topology, 0);
        let base = base(self.nodes, self.edges, &mut rng);
        let links = drawn::Links {
            rate: self.rate,
            delay: self.delay,
            buffer: self.buffer,
            qdisc: &self.qdisc,
        };
        let edge_nodes = self.edge_nodes.map(|count| (count, self.radius));
        drawn::network(path, &base, edge_nodes, self.capacities, &links, &mut rng)
    }
}

fn base(nodes: u32, edges: u32, rng: &mut Stream) -> Adjacency {
    let n = u64::from(nodes);
    let mut chosen_pairs = HashSet::with_capacity(edges as usize);
    let mut linked = HashSet::with_capacity(edges as usize);
    let mut graph = Adjacency::new(nodes as usize);
    // Floyd: of 0..=last one is drawn; if it is taken, `last` itself cannot be.
    for last in n * n - u64::from(edges)..n * n {
        let index = rng.below(last + 1);
        let pair = if chosen_pairs.insert(index) { index } else { last };
        chosen_pairs.insert(pair);
        let (a, b) = ((pair / n) as u32, (pair % n) as u32);
        if a != b && linked.insert((a.min(b), a.max(b))) {
            graph.add_link(a, b);
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_give_the_complete_graph() {
        let graph = base(30, 900, &mut Stream::new(1, Purpose::Topology, 0));
        assert_eq!(graph.links().len(), 30 * 29 / 2);
    }

    #[test]
    fn every_pair_is_as_likely_and_degrees_are_as_the_law_says() {
        // A pair {u, v} has a link unless both of its two ordered pairs are left out of 4000 of 40000:
        // 1 - (36000/40000) (35999/39999) = 0.19000. Mean links 19900 p = 3781, binomial to good
        // approximation: mean degree 199 p = 37.81, variance of a degree 199 p (1 - p) = 30.6.
        let p: f64 = 1.0 - 0.9 * 35_999.0 / 39_999.0;
        let mut links = 0.0;
        let mut degrees = Vec::new();
        for seed in 0..40 {
            let graph = base(200, 4000, &mut Stream::new(seed, Purpose::Topology, 0));
            links += graph.links().len() as f64 / 40.0;
            degrees.extend((0..200).map(|n| graph.degree(n) as f64));
        }
        // Fewer than binomial: 4000 draws are fixed. One standard deviation of the mean of 40 is under 9.
        assert!((links - 19_900.0 * p).abs() < 27.0, "{links}");
        let mean = degrees.iter().sum::<f64>() / degrees.len() as f64;
        let variance =
            degrees.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / degrees.len() as f64;
        let expected = 199.0 * p * (1.0 - p);
        // 8000 degrees: relative standard deviation of the variance sqrt(2/8000) = 1.6 %.
        assert!((variance / expected - 1.0).abs() < 0.06, "{variance} {expected}");
    }
}
