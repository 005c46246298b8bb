//! Barabasi: nodes come one by one and prefer nodes that have many links.
//!
//! **Source**: R. Albert, A.-L. Barabási, Rev. Mod. Phys. 74, 2002, section VII, doi:10.1103/RevModPhys.74.47,
//! as used by McCullough et al. 2010, section 6.1: "iteratively add nodes one by one and probabilistically
//! attach them to (e/n) other nodes with probability in proportion to the node degrees".
//!
//! **Rule**
//! ```text
//! node i is linked to m(i) = floor((i+1) e/n) - floor(i e/n) different earlier nodes (all of them if fewer)
//! each drawn with probability degree / sum of degrees; with equal chances while no node has a link
//! ```
//! Deviations: e/n need not be whole, and the paper does not say how it is rounded; m(i) spreads the e links
//! evenly. Later nodes with m(i) = 0 stay alone and go with the smaller components.

use std::sync::LazyLock;

use super::adjacency::Adjacency;
use super::{Layout, Topology, drawn};
use crate::error::Problem;
use crate::registry::Ranges;
use crate::rng::{Purpose, Stream};
use crate::scenario::Barabasi;

static RANGES: LazyLock<Ranges<3>> =
    LazyLock::new(|| Ranges::of::<Barabasi>(["nodes", "edges", "edge_nodes"]));

impl Topology for Barabasi {
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
        let most = u64::from(self.nodes) * u64::from(self.nodes - 1) / 2;
        drawn::check_edges(path, self.edges, most, self.nodes)?;
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
    let mut graph = Adjacency::new(nodes as usize);
    // Each node as often as it has links: a uniform draw from here prefers by degree.
    let mut ends: Vec<u32> = Vec::with_capacity(2 * edges as usize);
    let quota = |i: u32| {
        let (i, e, n) = (u64::from(i), u64::from(edges), u64::from(nodes));
        ((i + 1) * e / n - i * e / n) as usize
    };
    for node in 1..nodes {
        let degree = quota(node).min(node as usize);
        let mut neighbours: Vec<u32> = Vec::with_capacity(degree);
        // Nodes without links cannot be drawn by degree; those that can may be fewer than wanted.
        let reachable = (0..node).filter(|n| graph.degree(*n) > 0).take(degree).count();
        while neighbours.len() < degree.min(reachable) {
            let pick = ends[rng.below(ends.len() as u64) as usize];
            if !neighbours.contains(&pick) {
                neighbours.push(pick);
            }
        }
        while neighbours.len() < degree {
            let pick = rng.below(u64::from(node)) as u32;
            if !neighbours.contains(&pick) {
                neighbours.push(pick);
            }
        }
        for other in neighbours {
            graph.add_link(other, node);
            ends.extend([other, node]);
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw_graph(nodes: u32, edges: u32, seed: u64) -> Adjacency {
        base(nodes, edges, &mut Stream::new(seed, Purpose::Topology, 0))
    }

    #[test]
    fn one_link_for_each_node_makes_a_tree_and_a_fraction_adds_its_share() {
        let tree = draw_graph(500, 500, 1);
        assert_eq!(tree.links().len(), 499);
        assert_eq!(tree.largest_component().nodes(), 500);
        // m = 1, 2, 1, 2, ..: node 0 has nobody to link to, node 1 only one of its two.
        assert_eq!(draw_graph(500, 750, 1).links().len(), 748);
    }

    #[test]
    fn the_third_node_of_a_tree_chooses_evenly_and_the_fourth_by_degree() {
        // Nodes 0-1 linked; 2 joins either with 1/2. Then its host has degree 2 of 4: node 3 joins it with 1/2.
        let runs = 20_000;
        let (mut first, mut hub) = (0, 0);
        for seed in 0..runs {
            let tree = draw_graph(4, 4, seed);
            let host = tree.neighbours(2)[0];
            first += u32::from(host == 0);
            hub += u32::from(tree.neighbours(3)[0] == host);
        }
        // Three standard deviations of a fair coin over 20000: 212.
        assert!((f64::from(first) - 10_000.0).abs() < 212.0, "{first}");
        assert!((f64::from(hub) - 10_000.0).abs() < 212.0, "{hub}");
    }

    #[test]
    fn degrees_follow_the_exact_law_of_preferential_attachment() {
        // Bollobás et al. 2001: for m links per node the share of degree k tends to
        // 2 m (m + 1) / (k (k + 1) (k + 2)): with m = 2, 1/2 of degree 2, 1/5 of 3, 1/10 of 4.
        let n = 40_000;
        let graph = draw_graph(n, 2 * n, 5);
        let share = |k| (0..n).filter(|i| graph.degree(*i) == k).count() as f64 / f64::from(n);
        // Three standard deviations of a share near 1/2 of 40000 are 0.0075.
        for (k, expected) in [(2, 0.5), (3, 0.2), (4, 0.1)] {
            assert!((share(k) - expected).abs() < 0.0075, "{k}: {}", share(k));
        }
    }
}
