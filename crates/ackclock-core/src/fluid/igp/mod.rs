//! Traffic of a matrix over link-state routes: loads of links, and what is left after failures.
//!
//! Each node sends what it has for a destination over all of its links that lie on a shortest path
//! (equal-cost multipath): in equal parts, or each flow over the one that its hash chooses ([`Hashed`]). Loads are those offered,
//! whether or not links can carry them. Routes to one destination do not depend on other destinations, so all
//! work is done one destination at a time, and memory does not grow with the number of pairs.
//!
//! After a failure only the nodes behind it are routed anew: those all of whose shortest paths used
//! what failed. No distance falls when links fail, so a node that keeps one of its next hops keeps
//! its distance, and the change of its traffic runs down the old routes. [`Igp::fail`] therefore costs as much
//! as the part that changes, and [`loads`] of the network without the failed links is what tests
//! compare it with.
//!
//! Path costs are compared exactly. Whole numbers, as IGPs have them, tie as routers see them tie.
//!
//! **Source**: J. Moy, "OSPF Version 2", RFC 2328 (shortest paths, equal cost); C. Hopps, "Analysis
//! of an Equal-Cost Multi-Path Algorithm", RFC 2992; G. Ramalingam, T. Reps, "An incremental
//! algorithm for a generalization of the shortest-path problem", J. Algorithms 21 (1996),
//! doi:10.1006/jagm.1996.0046, for the deletion of links.

mod failures;
mod hashed;
mod loads;
mod repair;
mod tree;
mod weights;

#[cfg(test)]
mod properties;

pub use failures::{Failure, Impact, Watch, failures};
pub use hashed::{Hashed, Routed, hashed_paths};
pub use loads::{Kept, Loads, kept, loads};
pub use weights::{Search, Weights, search_weights};

use super::net::group;
use tree::Tree;

/// Directed links between numbered nodes, with a cost each.
#[derive(Clone, Debug)]
pub struct Igp {
    nodes: usize,
    src: Vec<u32>,
    dst: Vec<u32>,
    cost: Vec<f64>,
    out: Rows,
    into: Rows,
}

/// Links by node.
#[derive(Clone, Debug)]
struct Rows {
    offsets: Vec<u32>,
    links: Vec<u32>,
}

impl Rows {
    fn new(nodes: usize, ends: &[u32]) -> Self {
        let (offsets, links) = group(nodes, ends.iter().enumerate().map(|(i, &n)| (n, i as u32)));
        Self { offsets, links }
    }

    #[inline]
    fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.links[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

impl Igp {
    /// A network; `cost` is above 0 and finite, or infinite for a link that no route uses.
    ///
    /// # Panics
    /// The arrays differ in length, or an end is no node.
    pub fn new(nodes: usize, src: Vec<u32>, dst: Vec<u32>, cost: Vec<f64>) -> Self {
        assert!(src.len() == dst.len() && src.len() == cost.len(), "one entry for each link");
        assert!(src.iter().chain(&dst).all(|&n| (n as usize) < nodes), "ends are nodes");
        let (out, into) = (Rows::new(nodes, &src), Rows::new(nodes, &dst));
        Self { nodes, src, dst, cost, out, into }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of directed links.
    pub fn links(&self) -> usize {
        self.src.len()
    }
}

/// A traffic matrix by destination.
#[derive(Clone, Debug)]
pub struct Matrix {
    from: Vec<u32>,
    volume: Vec<f64>,
    /// Pairs by destination.
    to: Rows,
}

impl Matrix {
    /// Volumes from `from[i]` to `to[i]`.
    ///
    /// # Panics
    /// The arrays differ in length, or an end is not below `nodes`.
    pub fn new(nodes: usize, from: Vec<u32>, to: &[u32], volume: Vec<f64>) -> Self {
        assert!(from.len() == to.len() && from.len() == volume.len(), "one entry for each pair");
        assert!(from.iter().chain(to).all(|&n| (n as usize) < nodes), "ends are nodes");
        let rows = Rows::new(nodes, to);
        Self { from, volume, to: rows }
    }

    /// Number of pairs.
    pub fn pairs(&self) -> usize {
        self.from.len()
    }

    /// Nodes that something is for.
    fn destinations(&self) -> impl Iterator<Item = u32> + '_ {
        (0..(self.to.offsets.len() - 1) as u32).filter(|&node| !self.to.of(node).is_empty())
    }

    /// Adds what is for a destination to the volumes of its sources.
    fn gather(&self, destination: u32, volume: &mut [f64]) {
        for &pair in self.to.of(destination) {
            volume[self.from[pair as usize] as usize] += self.volume[pair as usize];
        }
    }

    /// Sets the volumes of a destination's sources back to 0.
    fn clear(&self, destination: u32, volume: &mut [f64]) {
        for &pair in self.to.of(destination) {
            volume[self.from[pair as usize] as usize] = 0.0;
        }
    }
}

/// Whether an analysis goes on: called with what is done, of how much.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize) -> bool;

/// The caller's progress function returned false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;
