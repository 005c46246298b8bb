//! How the loads toward one destination change when links fail.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Igp, Matrix, Tree};

/// Changes of traffic below this part of all traffic to the destination are rounding.
const ROUNDING: f64 = 1e-13;

/// What is remembered of one failure; entries are valid where `epoch` is that of the failure.
pub(super) struct Repair {
    epoch: u32,
    failed: Vec<u32>,
    changed: Vec<u32>,
    cut: Vec<u32>,
    queued: Vec<u32>,
    /// Next hops that are left.
    live: Vec<u32>,
    /// New distance of nodes that are cut.
    distance: Vec<f64>,
    /// New traffic of nodes that are cut.
    traffic: Vec<f64>,
    /// Change of the traffic of other nodes.
    change: Vec<f64>,
    cut_nodes: Vec<u32>,
    /// Nodes that lose a next hop.
    changed_nodes: Vec<u32>,
    settled: Vec<u32>,
    near: BinaryHeap<Reverse<(u64, u32)>>,
    far: BinaryHeap<(u64, u32)>,
}

impl Repair {
    pub(super) fn new(igp: &Igp) -> Self {
        let n = igp.nodes;
        Self {
            epoch: 0,
            failed: vec![0; igp.links()],
            changed: vec![0; n],
            cut: vec![0; n],
            queued: vec![0; n],
            live: vec![0; n],
            distance: vec![0.0; n],
            traffic: vec![0.0; n],
            change: vec![0.0; n],
            cut_nodes: Vec::new(),
            changed_nodes: Vec::new(),
            settled: Vec::new(),
            near: BinaryHeap::new(),
            far: BinaryHeap::new(),
        }
    }

    /// Fails `links`: `add` gets the changes of loads; returns the volume that has no path any more.
    ///
    /// `tree` holds the traffic before, `volume` what each node itself has for the destination; the pairs `more` lose
    /// their given paths and are routed from then on.
    #[expect(clippy::too_many_arguments, reason = "network, routes, demands, and what fails")]
    pub(super) fn fail(
        &mut self,
        igp: &Igp,
        tree: &Tree,
        volume: &[f64],
        matrix: &Matrix,
        more: &[u32],
        links: &[u32],
        mut add: impl FnMut(u32, f64),
    ) -> f64 {
        let carries =
            |&l: &u32| tree.on_path(igp, l) && tree.traffic[igp.src[l as usize] as usize] > 0.0;
        if more.is_empty() && !links.iter().any(carries) {
            return 0.0;
        }
        self.find_routes(igp, tree, links);
        self.withdraw(igp, tree, &mut add);
        let mut lost = 0.0;
        for &pair in more {
            let (from, volume) = (matrix.from[pair as usize], matrix.volume[pair as usize]);
            if tree.distance[from as usize].is_infinite() || !self.reaches(from) {
                lost += volume;
            } else if self.is_cut(from) {
                self.traffic[from as usize] += volume;
            } else {
                self.shift(tree, from, volume);
            }
        }
        lost += self.reroute(igp, tree, volume, &mut add);
        self.run_down(igp, tree, &mut add);
        lost
    }

    /// Finds the routes that are left when `links` fail.
    pub(super) fn find_routes(&mut self, igp: &Igp, tree: &Tree, links: &[u32]) {
        self.epoch += 1;
        self.cut_off(igp, tree, links);
        self.measure(igp, tree);
    }

    /// Nodes whose next hops are others after the failure.
    pub(super) fn changed_nodes(&self) -> &[u32] {
        &self.changed_nodes
    }

    /// Whether a node's next hops are others after the failure.
    #[inline]
    pub(super) fn is_changed(&self, node: u32) -> bool {
        self.changed[node as usize] == self.epoch
    }

    /// Whether a node that reached the destination still does.
    #[inline]
    pub(super) fn reaches(&self, node: u32) -> bool {
        !self.is_cut(node) || self.distance[node as usize].is_finite()
    }

    /// Writes the links that a node with changed next hops now sends over.
    pub(super) fn next_hops(&self, igp: &Igp, tree: &Tree, node: u32, out: &mut Vec<u32>) {
        let here = self.distance_of(tree, node);
        out.clear();
        out.extend(igp.out.of(node).iter().filter(|&&link| self.leads_on(igp, tree, here, link)));
    }

    /// The distance of a node after the failure.
    #[inline]
    fn distance_of(&self, tree: &Tree, node: u32) -> f64 {
        if self.is_cut(node) { self.distance[node as usize] } else { tree.distance[node as usize] }
    }

    /// Whether a link from a node at distance `here` is on a shortest path after the failure.
    #[inline]
    fn leads_on(&self, igp: &Igp, tree: &Tree, here: f64, link: u32) -> bool {
        let there = self.distance_of(tree, igp.dst[link as usize]);
        self.failed[link as usize] != self.epoch && here == igp.cost[link as usize] + there
    }

    /// Finds the nodes that lose all of their next hops, and those that lose some.
    fn cut_off(&mut self, igp: &Igp, tree: &Tree, links: &[u32]) {
        self.cut_nodes.clear();
        self.changed_nodes.clear();
        for &link in links {
            if self.failed[link as usize] != self.epoch {
                self.failed[link as usize] = self.epoch;
                if tree.on_path(igp, link) {
                    self.lose(tree, igp.src[link as usize]);
                }
            }
        }
        let mut next = 0;
        while next < self.cut_nodes.len() {
            let node = self.cut_nodes[next];
            next += 1;
            for &link in igp.into.of(node) {
                if self.failed[link as usize] != self.epoch && tree.on_path(igp, link) {
                    self.lose(tree, igp.src[link as usize]);
                }
            }
        }
    }

    fn lose(&mut self, tree: &Tree, node: u32) {
        let i = node as usize;
        if self.changed[i] != self.epoch {
            self.changed[i] = self.epoch;
            self.live[i] = tree.hops[i];
            self.changed_nodes.push(node);
        }
        self.live[i] -= 1;
        if self.live[i] == 0 {
            self.cut[i] = self.epoch;
            self.cut_nodes.push(node);
        }
    }

    #[inline]
    fn is_cut(&self, node: u32) -> bool {
        self.cut[node as usize] == self.epoch
    }

    /// Finds the new distances of the nodes that are cut, nearest first in `settled`.
    fn measure(&mut self, igp: &Igp, tree: &Tree) {
        for &node in &self.cut_nodes {
            let mut best = f64::INFINITY;
            for &link in igp.out.of(node) {
                let to = igp.dst[link as usize];
                if self.failed[link as usize] != self.epoch && self.cut[to as usize] != self.epoch {
                    best = best.min(igp.cost[link as usize] + tree.distance[to as usize]);
                }
            }
            self.distance[node as usize] = best;
            self.traffic[node as usize] = 0.0;
            if best.is_finite() {
                self.near.push(Reverse((best.to_bits(), node)));
            }
        }
        self.settled.clear();
        while let Some(Reverse((bits, node))) = self.near.pop() {
            let distance = f64::from_bits(bits);
            if distance > self.distance[node as usize] {
                continue;
            }
            self.settled.push(node);
            for &link in igp.into.of(node) {
                let before = igp.src[link as usize];
                let length = distance + igp.cost[link as usize];
                if self.failed[link as usize] != self.epoch
                    && self.is_cut(before)
                    && length < self.distance[before as usize]
                {
                    self.distance[before as usize] = length;
                    self.near.push(Reverse((length.to_bits(), before)));
                }
            }
        }
    }

    /// Takes the old traffic of the nodes that are cut off their old links.
    fn withdraw(&mut self, igp: &Igp, tree: &Tree, add: &mut impl FnMut(u32, f64)) {
        for i in 0..self.cut_nodes.len() {
            let node = self.cut_nodes[i];
            let traffic = tree.traffic[node as usize];
            if traffic == 0.0 {
                continue;
            }
            let share = traffic / f64::from(tree.hops[node as usize]);
            for &link in igp.out.of(node) {
                if tree.on_path(igp, link) {
                    add(link, -share);
                    self.shift(tree, igp.dst[link as usize], -share);
                }
            }
        }
        // Nodes that keep some of their next hops divide anew, whether their traffic changes or not.
        for i in 0..self.changed_nodes.len() {
            self.shift(tree, self.changed_nodes[i], 0.0);
        }
    }

    /// Changes the traffic of a node that is not cut, and has it looked at.
    fn shift(&mut self, tree: &Tree, node: u32, by: f64) {
        let i = node as usize;
        if node == tree.destination || self.is_cut(node) {
            return;
        }
        if self.queued[i] != self.epoch {
            self.queued[i] = self.epoch;
            self.change[i] = 0.0;
            self.far.push((tree.distance[i].to_bits(), node));
        }
        self.change[i] += by;
    }

    /// Sends the volumes of the nodes that are cut over their new routes.
    fn reroute(
        &mut self,
        igp: &Igp,
        tree: &Tree,
        volume: &[f64],
        add: &mut impl FnMut(u32, f64),
    ) -> f64 {
        let mut lost = 0.0;
        for &node in &self.cut_nodes {
            let cut_volume = volume[node as usize];
            if self.distance[node as usize].is_finite() {
                self.traffic[node as usize] += cut_volume;
            } else {
                lost += cut_volume;
            }
        }
        for i in (0..self.settled.len()).rev() {
            let node = self.settled[i];
            let traffic = self.traffic[node as usize];
            if traffic == 0.0 {
                continue;
            }
            let here = self.distance[node as usize];
            let hops =
                igp.out.of(node).iter().filter(|&&l| self.leads_on(igp, tree, here, l)).count();
            let share = traffic / hops as f64;
            for &link in igp.out.of(node) {
                if self.leads_on(igp, tree, here, link) {
                    add(link, share);
                    let to = igp.dst[link as usize];
                    if self.is_cut(to) {
                        self.traffic[to as usize] += share;
                    } else {
                        self.shift(tree, to, share);
                    }
                }
            }
        }
        lost
    }

    /// Runs the changes of all other nodes down to the destination, farthest first.
    fn run_down(&mut self, igp: &Igp, tree: &Tree, add: &mut impl FnMut(u32, f64)) {
        let least = ROUNDING * tree.traffic[tree.destination as usize];
        while let Some((_, node)) = self.far.pop() {
            let i = node as usize;
            let (change, old) = (self.change[i], tree.traffic[i]);
            let hops = f64::from(tree.hops[i]);
            if self.changed[i] != self.epoch {
                if change.abs() > least {
                    for &link in igp.out.of(node) {
                        if tree.on_path(igp, link) {
                            add(link, change / hops);
                            self.shift(tree, igp.dst[link as usize], change / hops);
                        }
                    }
                }
                continue;
            }
            let (before, after) = (old / hops, (old + change) / f64::from(self.live[i]));
            for &link in igp.out.of(node) {
                if !tree.on_path(igp, link) {
                    continue;
                }
                let to = igp.dst[link as usize];
                let alive = self.failed[link as usize] != self.epoch && !self.is_cut(to);
                let by = if alive { after - before } else { -before };
                if by != 0.0 {
                    add(link, by);
                    self.shift(tree, to, by);
                }
            }
        }
    }
}
