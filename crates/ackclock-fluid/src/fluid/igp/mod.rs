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
//! Demands may be given paths ([`Given`]), as label-switched paths and segment lists are. What is on one stays on it while all
//! of its links work, and is routed as all else when one fails.
//!
//! Path costs are compared exactly. Whole numbers, as IGPs have them, tie as routers see them tie.
//!
//! **Source**: J. Moy, "OSPF Version 2", RFC 2328 (shortest paths, equal cost); C. Hopps, "Analysis
//! of an Equal-Cost Multi-Path Algorithm", RFC 2992; G. Ramalingam, T. Reps, "An incremental
//! algorithm for a generalization of the shortest-path problem", J. Algorithms 21 (1996),
//! doi:10.1006/jagm.1996.0046, for the deletion of links.

mod failures;
mod given;
mod hashed;
mod loads;
mod repair;
mod tree;
mod weights;

#[cfg(test)]
mod properties;

pub use failures::{Failure, Impact, Watch, failures};
pub use given::Given;
pub use hashed::{Hashed, Routed, hashed_paths};
pub use loads::{Kept, Loads, kept, loads};
pub use weights::{Search, Weights, search_weights};

use std::borrow::Cow;

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
        Self::group(nodes, ends.iter().enumerate().map(|(i, &n)| (n, i as u32)))
    }

    /// Numbers by their keys, which are below `keys`.
    fn group(keys: usize, of: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let (offsets, links) = group(keys, of);
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
    to: Vec<u32>,
    volume: Vec<f64>,
    /// Pairs by destination that shortest paths are for: all but those on given paths.
    routed: Rows,
    fixed_paths: Given,
}

impl Matrix {
    /// Volumes from `from[i]` to `to[i]`.
    ///
    /// # Panics
    /// The arrays differ in length, or an end is not below `nodes`.
    pub fn new(nodes: usize, from: Vec<u32>, to: Vec<u32>, volume: Vec<f64>) -> Self {
        assert!(from.len() == to.len() && from.len() == volume.len(), "one entry for each pair");
        assert!(from.iter().chain(&to).all(|&n| (n as usize) < nodes), "ends are nodes");
        let routed = Rows::new(nodes, &to);
        Self { from, to, volume, routed, fixed_paths: Given::default() }
    }

    /// Puts pairs on given paths, in place of all that were given. None: the links of a path do not lead from one end
    /// of its pair to the other, or a pair has two paths.
    ///
    /// # Panics
    /// There is no such pair or link.
    #[must_use]
    pub fn with_given(mut self, igp: &Igp, fixed_paths: Given) -> Option<Self> {
        let mut is_given = vec![false; self.pairs()];
        for (pair, links) in fixed_paths.paths() {
            let pair = pair as usize;
            let mut node = self.from[pair];
            for &link in links {
                if igp.src[link as usize] != node {
                    return None;
                }
                node = igp.dst[link as usize];
            }
            if node != self.to[pair] || std::mem::replace(&mut is_given[pair], true) {
                return None;
            }
        }
        self.give(fixed_paths, &is_given);
        Some(self)
    }

    fn give(&mut self, fixed_paths: Given, is_given: &[bool]) {
        let hashed_pairs = (0..self.pairs()).filter(|&pair| !is_given[pair]);
        let to = hashed_pairs.map(|pair| (self.to[pair], pair as u32));
        self.routed = Rows::group(self.nodes(), to);
        self.fixed_paths = fixed_paths;
    }

    fn nodes(&self) -> usize {
        self.routed.offsets.len() - 1
    }

    /// Number of pairs.
    pub fn pairs(&self) -> usize {
        self.from.len()
    }

    /// The matrix while some links are up, an empty list: all. What other links break is on no given path.
    fn under(&self, up: &[bool]) -> Cow<'_, Self> {
        if up.is_empty() || self.fixed_paths.is_empty() {
            return Cow::Borrowed(self);
        }
        let left = self.fixed_paths.over(up);
        let mut is_given = vec![false; self.pairs()];
        left.paths().for_each(|(pair, _)| is_given[pair as usize] = true);
        let mut under = self.clone();
        under.give(left, &is_given);
        Cow::Owned(under)
    }

    /// Nodes that something is routed to.
    fn destinations(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.nodes() as u32).filter(|&n| !self.routed.of(n).is_empty())
    }

    /// Nodes that something is for, on given paths too.
    fn all_destinations(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.destinations().collect();
        nodes.extend(self.fixed_paths.paths().map(|(pair, _)| self.to[pair as usize]));
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Adds what is for a destination to the volumes of its sources.
    fn gather(&self, destination: u32, volume: &mut [f64]) {
        for &pair in self.routed.of(destination) {
            volume[self.from[pair as usize] as usize] += self.volume[pair as usize];
        }
    }

    /// Sets the volumes of a destination's sources back to 0.
    fn clear(&self, destination: u32, volume: &mut [f64]) {
        for &pair in self.routed.of(destination) {
            volume[self.from[pair as usize] as usize] = 0.0;
        }
    }

    /// Sends what is on given paths: `add` gets each link of each with what is offered there, and returns the part of
    /// it that the link passes on.
    fn send_given(&self, mut add: impl FnMut(u32, f64) -> f64) {
        for (pair, links) in self.fixed_paths.paths() {
            let mut rate = self.volume[pair as usize];
            for &link in links {
                rate *= add(link, rate);
            }
        }
    }
}

/// Whether an analysis goes on: called with what is done, of how much.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize) -> bool;

/// The caller's progress function returned false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;
