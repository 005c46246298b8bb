//! Shortest paths from all nodes to one destination, and the traffic on them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Igp;

/// Distances to one destination, kept from one to the next so that nothing is allocated.
pub(super) struct Tree {
    pub(super) destination: u32,
    /// Distance of each node; infinite where there is no path.
    pub(super) distance: Vec<f64>,
    /// Nodes with a path, nearest first.
    pub(super) order: Vec<u32>,
    /// Number of next hops of each node.
    pub(super) hops: Vec<u32>,
    /// What each node sends on toward the destination.
    pub(super) traffic: Vec<f64>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Tree {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            destination: 0,
            distance: vec![f64::INFINITY; nodes],
            order: Vec::with_capacity(nodes),
            hops: vec![0; nodes],
            traffic: vec![0.0; nodes],
            heap: BinaryHeap::new(),
        }
    }

    /// Finds all distances to `destination` over links that are `up`.
    pub(super) fn grow(&mut self, igp: &Igp, destination: u32, up: impl Fn(u32) -> bool) {
        self.destination = destination;
        self.distance.fill(f64::INFINITY);
        self.hops.fill(0);
        self.order.clear();
        self.distance[destination as usize] = 0.0;
        self.heap.push(Reverse((0, destination)));
        while let Some(Reverse((bits, node))) = self.heap.pop() {
            let distance = f64::from_bits(bits);
            if distance > self.distance[node as usize] {
                continue;
            }
            self.order.push(node);
            for &link in igp.into.of(node) {
                let before = igp.src[link as usize] as usize;
                let length = distance + igp.cost[link as usize];
                if length.is_infinite() || !up(link) {
                    continue;
                }
                if length < self.distance[before] {
                    self.distance[before] = length;
                    self.hops[before] = 1;
                    self.heap.push(Reverse((length.to_bits(), before as u32)));
                } else if length == self.distance[before] {
                    self.hops[before] += 1;
                }
            }
        }
    }

    /// Whether a link lies on a shortest path, where it is up.
    #[inline]
    pub(super) fn on_path(&self, igp: &Igp, link: u32) -> bool {
        let (from, to) = (igp.src[link as usize], igp.dst[link as usize]);
        let here = self.distance[from as usize];
        here.is_finite()
            && from != self.destination
            && here == igp.cost[link as usize] + self.distance[to as usize]
    }

    /// Sends `volume` of each node to the destination; `add` gets the load of each link that is offered some and
    /// returns the part of it that the link passes on.
    ///
    /// Returns what has no path.
    pub(super) fn send(
        &mut self,
        igp: &Igp,
        volume: &[f64],
        up: impl Fn(u32) -> bool,
        mut add: impl FnMut(u32, f64) -> f64,
    ) -> f64 {
        self.traffic.copy_from_slice(volume);
        let mut reached = 0.0;
        for &node in self.order.iter().rev() {
            reached += volume[node as usize];
            let traffic = self.traffic[node as usize];
            if traffic == 0.0 || node == self.destination {
                continue;
            }
            let share = traffic / f64::from(self.hops[node as usize]);
            for &link in igp.out.of(node) {
                if self.on_path(igp, link) && up(link) {
                    self.traffic[igp.dst[link as usize] as usize] += share * add(link, share);
                }
            }
        }
        let all: f64 = volume.iter().sum();
        if self.order.len() == volume.len() { 0.0 } else { (all - reached).max(0.0) }
    }
}
