//! Global max-min fairness by progressive filling.
//!
//! All flows grow together. When a link is full, the flows on it stop, on all of their links; when a
//! flow has its demand, it stops alone. Links wait in a heap by the level at which they would
//! be full. A level only rises when flows elsewhere stop, so an entry of the heap may be too low but
//! never too high: it is looked at again when it comes up. Each hop of each flow is touched once.
//!
//! **Source**: Bertsekas, Gallager, "Data Networks", 2nd ed., section 6.5.2.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{FluidNet, or};

/// A link during filling.
#[derive(Clone, Copy)]
pub(super) struct Filling {
    /// Capacity that flows which stopped have left.
    pub(super) left: f64,
    /// Weight of the flows that still grow.
    pub(super) weight: f64,
    /// Number of flows that still grow.
    pub(super) growing: u32,
}

impl Filling {
    /// The level at which the link would be full.
    #[inline]
    pub(super) fn level(&self) -> f64 {
        // Rounding may take a hair more than there was.
        self.left.max(0.0) / self.weight
    }

    /// A flow stops growing at `rate`.
    #[inline]
    pub(super) fn stop(&mut self, rate: f64, weight: f64) {
        self.left -= rate;
        self.weight -= weight;
        self.growing -= 1;
    }
}

/// Links by the level at which they would be full, lowest first.
#[derive(Default)]
pub(super) struct Levels(BinaryHeap<Reverse<(u64, u32)>>);

impl Levels {
    pub(super) fn of(links: &[Filling]) -> Self {
        let entry = |(link, filling): (usize, &Filling)| {
            (filling.growing > 0).then(|| Reverse((key(filling.level()), link as u32)))
        };
        Self(links.iter().enumerate().filter_map(entry).collect())
    }

    /// The link that is full first, and its level; `None` when no link is left that will fill.
    pub(super) fn next(&mut self, links: &[Filling]) -> Option<(f64, usize)> {
        loop {
            let mut top = self.0.peek_mut()?;
            let Reverse((old, link)) = *top;
            let filling = &links[link as usize];
            if filling.growing == 0 {
                std::collections::binary_heap::PeekMut::pop(top);
                continue;
            }
            let level = filling.level();
            if key(level) <= old {
                return Some((level, link as usize));
            }
            *top = Reverse((key(level), link));
        }
    }
}

/// Orders rates that are not negative as their bits.
#[inline]
fn key(level: f64) -> u64 {
    level.to_bits()
}

/// The links before any flow has stopped.
pub(super) fn start(net: &FluidNet) -> Vec<Filling> {
    (0..net.links())
        .map(|link| {
            let crossing = net.crossing(link);
            let weight = if net.weight.is_empty() {
                crossing.len() as f64
            } else {
                crossing.iter().map(|&flow| net.weight[flow as usize]).sum()
            };
            Filling { left: net.capacity[link], weight, growing: crossing.len() as u32 }
        })
        .collect()
}

/// Flows with a finite demand by the level at which they have it, lowest last.
pub(super) fn demands_by_level(net: &FluidNet, demand: &[f64]) -> Vec<(f64, u32)> {
    let mut order: Vec<(f64, u32)> = demand
        .iter()
        .enumerate()
        .filter(|(_, d)| d.is_finite())
        .map(|(flow, d)| (d / net.weight(flow), flow as u32))
        .collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    order
}

/// The global max-min allocation: no flow can get more but at the cost of one that has, per weight,
/// no more than it. `demand` bounds each flow; empty: nothing does.
pub fn max_min(net: &FluidNet, demand: &[f64]) -> Vec<f64> {
    let mut links = start(net);
    let mut rate = vec![f64::NAN; net.flows()];
    let mut demands = demands_by_level(net, demand);
    let mut levels = Levels::of(&links);
    let stop = |flow: usize, level_reached: f64, links: &mut [Filling], rate: &mut [f64]| {
        rate[flow] = level_reached;
        let weight = net.weight(flow);
        for &link in net.route(flow) {
            links[link as usize].stop(level_reached, weight);
        }
    };
    loop {
        let full = levels.next(&links);
        let level = full.map_or(f64::INFINITY, |(level, _)| level);
        if let Some(&(least_demand, flow)) = demands.last()
            && least_demand <= level
        {
            demands.pop();
            if rate[flow as usize].is_nan() {
                stop(
                    flow as usize,
                    or(demand, flow as usize, f64::INFINITY),
                    &mut links,
                    &mut rate,
                );
            }
            continue;
        }
        let Some((level, link)) = full else { break };
        for &flow in net.crossing(link) {
            if rate[flow as usize].is_nan() {
                stop(flow as usize, level * net.weight(flow as usize), &mut links, &mut rate);
            }
        }
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three links in a row; flow 0 over all of them, one flow on each.
    fn parking_lot() -> FluidNet {
        FluidNet::new(vec![1.0, 2.0, 4.0], vec![0, 3, 4, 5, 6], vec![0, 1, 2, 0, 1, 2], vec![])
            .unwrap()
    }

    #[test]
    fn the_parking_lot_of_the_textbook() {
        // Link 0 fills at 1/2; then 2 - 1/2 and 4 - 1/2 are left for the others.
        assert_eq!(max_min(&parking_lot(), &[]), [0.5, 0.5, 1.5, 3.5]);
    }

    #[test]
    fn a_flow_that_demands_less_leaves_the_rest() {
        assert_eq!(
            max_min(&parking_lot(), &[0.25, f64::INFINITY, 1.0, 0.5]),
            [0.25, 0.75, 1.0, 0.5]
        );
    }

    #[test]
    fn weights_divide_the_level() {
        let net = FluidNet::new(vec![6.0], vec![0, 1, 2], vec![0, 0], vec![1.0, 2.0]).unwrap();
        assert_eq!(max_min(&net, &[]), [2.0, 4.0]);
    }
}
