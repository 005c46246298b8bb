//! A plain undirected graph while a network is being drawn: neighbours by node, links in order.

use std::collections::VecDeque;

use rustworkx_core::petgraph::graph::UnGraph;
use rustworkx_core::{centrality, connectivity};

/// Neighbours of each node, in the order in which links came; no loops, no parallel links.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Adjacency {
    neighbours: Vec<Vec<u32>>,
    links: Vec<(u32, u32)>,
}

impl Adjacency {
    pub(super) fn new(nodes: usize) -> Self {
        Self { neighbours: vec![Vec::new(); nodes], links: Vec::new() }
    }

    pub(super) fn nodes(&self) -> usize {
        self.neighbours.len()
    }

    pub(super) fn links(&self) -> &[(u32, u32)] {
        &self.links
    }

    pub(super) fn neighbours(&self, node: u32) -> &[u32] {
        &self.neighbours[node as usize]
    }

    pub(super) fn degree(&self, node: u32) -> usize {
        self.neighbours[node as usize].len()
    }

    /// Adds a node without links and gives its number.
    pub(super) fn add_node(&mut self) -> u32 {
        self.neighbours.push(Vec::new());
        (self.neighbours.len() - 1) as u32
    }

    /// Adds a link between two different nodes that have none yet.
    pub(super) fn add_link(&mut self, a: u32, b: u32) {
        debug_assert!(a != b && !self.neighbours[a as usize].contains(&b));
        self.neighbours[a as usize].push(b);
        self.neighbours[b as usize].push(a);
        self.links.push((a, b));
    }

    /// What is left where only some nodes are kept, numbered anew in their order.
    pub(super) fn keep(&self, is_kept: &[bool]) -> Self {
        let mut number = vec![0u32; self.nodes()];
        let mut count = 0;
        for (node, _) in is_kept.iter().enumerate().filter(|(_, stays)| **stays) {
            number[node] = count;
            count += 1;
        }
        let mut graph = Self::new(count as usize);
        for &(a, b) in &self.links {
            if is_kept[a as usize] && is_kept[b as usize] {
                graph.add_link(number[a as usize], number[b as usize]);
            }
        }
        graph
    }

    /// The component with most nodes; of equals, the one with the lowest node.
    pub(super) fn largest_component(&self) -> Self {
        let components = connectivity::connected_components(&self.library_graph());
        // Components come in the order of their lowest nodes, and of equals `max_by_key` takes the last.
        let largest = components.iter().rev().max_by_key(|component| component.len());
        let in_largest: Vec<bool> = (0..self.nodes())
            .map(|n| largest.is_some_and(|l| l.contains(&petgraph_index(n))))
            .collect();
        self.keep(&in_largest)
    }

    /// Betweenness of every node: shares of shortest paths between others that pass through it.
    pub(super) fn betweenness(&self) -> Vec<f64> {
        let graph = self.library_graph();
        centrality::betweenness_centrality(&graph, false, false, ONE_THREAD)
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// Betweenness of every link, in the order of `links`.
    pub(super) fn link_betweenness(&self) -> Vec<f64> {
        let graph = self.library_graph();
        centrality::edge_betweenness_centrality(&graph, false, ONE_THREAD)
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// Links on the shortest way from the nearest of `sources` to each node; `u32::MAX` where there is none.
    pub(super) fn hops_from(&self, sources: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut hops = vec![u32::MAX; self.nodes()];
        let mut waiting = VecDeque::new();
        for source in sources {
            hops[source as usize] = 0;
            waiting.push_back(source);
        }
        while let Some(node) = waiting.pop_front() {
            for &next in self.neighbours(node) {
                if hops[next as usize] == u32::MAX {
                    hops[next as usize] = hops[node as usize] + 1;
                    waiting.push_back(next);
                }
            }
        }
        hops
    }

    /// The greatest distance from a node, in a connected graph.
    pub(super) fn eccentricity(&self, node: u32) -> u32 {
        self.hops_from([node]).into_iter().max().unwrap_or(0)
    }

    /// The smallest eccentricity of all nodes.
    pub(super) fn radius(&self) -> u32 {
        (0..self.nodes() as u32).map(|n| self.eccentricity(n)).min().unwrap_or(0)
    }

    fn library_graph(&self) -> UnGraph<(), ()> {
        let mut graph = UnGraph::with_capacity(self.nodes(), self.links.len());
        for _ in 0..self.nodes() {
            graph.add_node(());
        }
        for &(a, b) in &self.links {
            graph.add_edge(petgraph_index(a as usize), petgraph_index(b as usize), ());
        }
        graph
    }
}

/// The library adds up in parallel above this many nodes, in an order that differs from run to run.
const ONE_THREAD: usize = usize::MAX;

fn petgraph_index(node: usize) -> rustworkx_core::petgraph::graph::NodeIndex {
    rustworkx_core::petgraph::graph::NodeIndex::new(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, links: &[(u32, u32)]) -> Adjacency {
        let mut graph = Adjacency::new(nodes);
        for &(a, b) in links {
            graph.add_link(a, b);
        }
        graph
    }

    #[test]
    fn of_equal_components_the_one_with_the_lowest_node_is_largest() {
        let two = graph(5, &[(1, 2), (3, 4)]);
        assert_eq!(two.largest_component(), graph(2, &[(0, 1)]));
        let path = graph(7, &[(0, 1), (2, 3), (3, 6)]);
        assert_eq!(path.largest_component(), graph(3, &[(0, 1), (1, 2)]));
    }

    #[test]
    fn betweenness_of_a_path_of_five_is_known() {
        let path = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        // Node 2 lies on the paths of 2 x 2 pairs, node 1 on those of 1 x 3.
        assert_eq!(path.betweenness(), [0.0, 3.0, 4.0, 3.0, 0.0]);
        // The two links in the middle part 2 nodes from 3, those at the ends 1 from 4.
        assert_eq!(path.link_betweenness(), [4.0, 6.0, 6.0, 4.0]);
        assert_eq!((path.radius(), path.eccentricity(0)), (2, 4));
    }
}
