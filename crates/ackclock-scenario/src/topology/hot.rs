//! HOT: the heuristically optimal router-level topology that comes with Orbis, built exactly.
//!
//! **Source**: L. Li, D. Alderson, W. Willinger, J. Doyle, "A first-principles approach to understanding the
//! Internet's router-level topology", SIGCOMM 2004, doi:10.1145/1015467.1015470; the instance is that of
//! P. Mahadevan et al., "Orbis", SIGCOMM 2007, doi:10.1145/1282380.1282417, which McCullough et al. 2010 use.
//!
//! **Rule**
//! ```text
//! 49 backbone routers on a circle: router i is linked to i+1 and i+7 (modulo 49)
//! 122 access routers, each with one link to its backbone router (table `LEAVES`)
//! 768 edge nodes, each with one link to its access router
//! ```
//! Deviations: none; the graph is isomorphic to the published one. McCullough et al. count 989 links; it has 988.

use super::adjacency::Adjacency;
use super::{Layout, Topology, drawn};
use crate::error::Problem;
use crate::scenario::Hot;

/// For each backbone router the number of edge nodes at each of its access routers.
#[rustfmt::skip]
const LEAVES: [&[u32]; 49] = [
    &[90, 23, 22, 19, 18, 16],
    &[10],
    &[4, 4],
    &[4, 4],
    &[4, 4],
    &[4, 4],
    &[5, 4],
    &[3],
    &[4, 4],
    &[4, 4, 3],
    &[14],
    &[15, 4, 4, 3, 3, 3],
    &[3],
    &[3, 3],
    &[3, 3, 3, 3],
    &[5, 4, 4, 4, 3],
    &[4, 4, 3],
    &[3],
    &[3, 3],
    &[47, 3],
    &[31, 22, 21, 18],
    &[16],
    &[6, 4],
    &[4, 4, 4],
    &[3, 3, 3, 3],
    &[3, 3, 3, 3, 3],
    &[3],
    &[3, 3, 3, 3],
    &[3],
    &[6, 4],
    &[4, 4, 4],
    &[3, 3, 3, 3],
    &[3],
    &[5, 4],
    &[3, 3, 3, 3],
    &[3],
    &[6, 4],
    &[4, 4, 4],
    &[5, 4],
    &[3, 3, 3, 3],
    &[3],
    &[5, 4],
    &[4, 4, 4],
    &[3],
    &[3, 3, 3, 3],
    &[3],
    &[4, 3],
    &[3, 3, 3, 3],
    &[10],
];

impl Topology for Hot {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        let (graph, names) = graph();
        drawn::layout_named(
            path,
            &graph,
            names,
            self.capacities,
            &drawn::Links {
                rate: self.rate,
                delay: self.delay,
                buffer: self.buffer,
                qdisc: &self.qdisc,
            },
        )
    }
}

fn graph() -> (Adjacency, Vec<String>) {
    let backbone = LEAVES.len() as u32;
    let mut graph = Adjacency::new(LEAVES.len());
    let mut names: Vec<String> = (0..backbone).map(|i| format!("r{i}")).collect();
    for i in 0..backbone {
        graph.add_link(i, (i + 1) % backbone);
    }
    for i in 0..backbone {
        graph.add_link(i, (i + 7) % backbone);
    }
    let mut access = Vec::new();
    for (router, groups) in (0..backbone).zip(LEAVES) {
        for &leaves in groups {
            let node = graph.add_node();
            graph.add_link(router, node);
            names.push(format!("a{}", access.len()));
            access.push((node, leaves));
        }
    }
    let mut edges = 0;
    for (node, leaves) in access {
        for _ in 0..leaves {
            let leaf = graph.add_node();
            graph.add_link(node, leaf);
            names.push(format!("e{edges}"));
            edges += 1;
        }
    }
    (graph, names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::edge_nodes::{depths, leaves};

    #[test]
    fn it_has_the_published_counts_and_three_tiers_of_links() {
        let (graph, names) = graph();
        assert_eq!((graph.nodes(), graph.links().len(), names.len()), (939, 988, 939));
        assert_eq!(leaves(&graph).iter().filter(|l| **l).count(), 768);
        assert_eq!(graph.radius(), 8);
        let depths = depths(&graph).unwrap();
        let tiers: Vec<usize> =
            (1..=4).map(|d| depths.iter().filter(|x| **x == d).count()).collect();
        assert_eq!(tiers, [768, 122, 98, 0]);
        // The node of degree 91 has 90 edge nodes and one link up.
        assert_eq!((0..939).map(|n| graph.degree(n)).max(), Some(91));
    }
}
