//! The max-min allocation after one flow joined or left, found around that flow.
//!
//! An allocation is the max-min one if and only if it fits, and each flow has what it asks for or a
//! *bottleneck*: a full link on which no flow has more (per weight). That can be checked flow by
//! flow. So only some flows are let free, first the newcomer or those whose bottleneck the departed
//! flow shared; they are filled anew while all others hold still; then every flow on their links is
//! checked. Those that fail, and those with more on a full link than a free flow that fails, are let
//! free too, until none fails: then the allocation is the max-min one, because there is only one.
//! When a quarter of all hops is free, the whole network is filled instead.
//!
//! **Source**: the bottleneck criterion is Bertsekas, Gallager, "Data Networks", 2nd ed., section
//! 6.5.2; letting flows free around a change is our own.

use super::{FluidNet, max_min, or};

/// What changes when a flow joins or leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Updated {
    /// Flows whose rate is another now, with that rate. A flow that joined has the number after the
    /// last; one that left is not told, and the others keep their numbers.
    pub changed: Vec<(u32, f64)>,
    /// Flows that were filled anew.
    pub freed: usize,
    /// Whether the whole network was filled.
    pub whole: bool,
}

/// Rates nearer than this, relative to the larger, are the same.
const SAME: f64 = 1e-9;

/// Part of all hops beyond which filling the whole network is cheaper.
const PART: f64 = 0.25;

/// A flow joins with this route, weight and demand. `rate` is the max-min allocation before it.
pub fn add_flow(
    net: &FluidNet,
    demand: &[f64],
    rate: &[f64],
    route: &[u32],
    weight: f64,
    wanted: f64,
) -> Updated {
    let joined = Joined { route, weight, wanted };
    let change = Change { net, demand, joined: Some(joined), left: None };
    change.solve(rate, vec![net.flows() as u32])
}

/// A flow leaves. `rate` is the max-min allocation before.
pub fn remove_flow(net: &FluidNet, demand: &[f64], rate: &[f64], flow: usize) -> Updated {
    let change = Change { net, demand, joined: None, left: Some(flow as u32) };
    // Who shared a bottleneck with it may get more: whoever has most on a link that was full.
    let mut first = Vec::new();
    for &link in net.route(flow) {
        let crossing = net.crossing(link as usize);
        let per_weight = |f: u32| rate[f as usize] / net.weight(f as usize);
        let used: f64 = crossing.iter().map(|&f| rate[f as usize]).sum();
        if used < net.capacity[link as usize] * (1.0 - SAME) {
            continue;
        }
        let most = crossing.iter().map(|&f| per_weight(f)).fold(0.0, f64::max);
        let at_most = |f: &u32| *f != flow as u32 && per_weight(*f) >= most * (1.0 - SAME);
        first.extend(crossing.iter().copied().filter(at_most));
    }
    first.sort_unstable();
    first.dedup();
    change.solve(rate, first)
}

#[derive(Clone, Copy)]
struct Joined<'a> {
    route: &'a [u32],
    weight: f64,
    wanted: f64,
}

/// A network with one flow more or less.
struct Change<'a> {
    net: &'a FluidNet,
    demand: &'a [f64],
    joined: Option<Joined<'a>>,
    left: Option<u32>,
}

const NONE: u32 = u32::MAX;

/// A full link's level, as far as it has been looked at.
#[derive(Clone, Copy)]
struct Seen {
    /// Most per weight on the link if it is full, else infinity; NaN: not looked at.
    level: f64,
}

impl<'a> Change<'a> {
    fn route(&self, flow: u32) -> &'a [u32] {
        match self.joined {
            Some(joined) if flow as usize == self.net.flows() => joined.route,
            _ => self.net.route(flow as usize),
        }
    }

    fn weight(&self, flow: u32) -> f64 {
        match self.joined {
            Some(joined) if flow as usize == self.net.flows() => joined.weight,
            _ => self.net.weight(flow as usize),
        }
    }

    fn wanted(&self, flow: u32) -> f64 {
        match self.joined {
            Some(joined) if flow as usize == self.net.flows() => joined.wanted,
            _ => or(self.demand, flow as usize, f64::INFINITY),
        }
    }

    fn crossing(&self, link: u32) -> impl Iterator<Item = u32> {
        let joined =
            self.joined.filter(|j| j.route.contains(&link)).map(|_| self.net.flows() as u32);
        let left = self.left;
        self.net
            .crossing(link as usize)
            .iter()
            .copied()
            .filter(move |&f| Some(f) != left)
            .chain(joined)
    }

    fn solve(&self, before: &[f64], first: Vec<u32>) -> Updated {
        let mut rate = before.to_vec();
        rate.resize(self.net.flows() + usize::from(self.joined.is_some()), 0.0);
        let mut free = first;
        let mut is_free = vec![false; rate.len()];
        for &flow in &free {
            is_free[flow as usize] = true;
        }
        let mut seen = vec![Seen { level: f64::NAN }; self.net.links()];
        let most = PART * self.net.total_hops() as f64;
        loop {
            let hops: usize = free.iter().map(|&flow| self.route(flow).len()).sum();
            if hops as f64 > most {
                return self.whole(before);
            }
            let touched = self.fill(&free, &is_free, &mut rate);
            for &link in &touched {
                seen[link as usize].level = self.level(link, &rate);
            }
            let more = self.failing(&touched, &is_free, &rate, &mut seen);
            if more.is_empty() {
                break;
            }
            for &flow in &more {
                is_free[flow as usize] = true;
            }
            free.extend(more);
        }
        free.sort_unstable();
        let changed = free
            .iter()
            .map(|&flow| (flow, rate[flow as usize]))
            .filter(|&(flow, new)| before.get(flow as usize) != Some(&new))
            .collect();
        Updated { changed, freed: free.len(), whole: false }
    }

    /// Fills the whole network.
    fn whole(&self, before: &[f64]) -> Updated {
        let joined = self.joined.map(|j| (j.route, j.weight));
        let net = self
            .net
            .edited(joined, self.left.map(|flow| flow as usize))
            .expect("invariant: the parts were checked before");
        let mut demand = self.demand.to_vec();
        if let Some(joined) = self.joined
            && (!demand.is_empty() || joined.wanted.is_finite())
        {
            demand.resize(self.net.flows(), f64::INFINITY);
            demand.push(joined.wanted);
        }
        if let Some(flow) = self.left
            && !demand.is_empty()
        {
            demand.remove(flow as usize);
        }
        let rate = max_min(&net, &demand);
        // Numbers from before the departure.
        let old = |i: usize| i as u32 + u32::from(self.left.is_some_and(|left| i as u32 >= left));
        let changed = rate
            .iter()
            .enumerate()
            .map(|(i, &new)| (old(i), new))
            .filter(|&(flow, new)| before.get(flow as usize) != Some(&new))
            .collect();
        Updated { changed, freed: rate.len(), whole: true }
    }

    /// Fills the free flows up while the others hold still; gives the links of the free ones.
    fn fill(&self, free: &[u32], is_free: &[bool], rate: &mut [f64]) -> Vec<u32> {
        // A small network of its own: the links of the free flows, less what the others use.
        let mut place = vec![NONE; self.net.links()];
        let mut touched = Vec::new();
        let mut part = FluidNet { offsets: vec![0], ..FluidNet::default() };
        let mut demand = Vec::new();
        for &flow in free {
            for &link in self.route(flow) {
                if place[link as usize] == NONE {
                    place[link as usize] = touched.len() as u32;
                    touched.push(link);
                }
                part.hops.push(place[link as usize]);
            }
            part.offsets.push(part.hops.len() as u32);
            part.weight.push(self.weight(flow));
            demand.push(self.wanted(flow));
        }
        part.capacity = touched
            .iter()
            .map(|&link| {
                let used: f64 = self
                    .crossing(link)
                    .filter(|&f| !is_free[f as usize])
                    .map(|f| rate[f as usize])
                    .sum();
                // Rounding may have used a hair more than there is.
                (self.net.capacity[link as usize] - used).max(0.0)
            })
            .collect();
        part.transpose();
        for (&flow, new) in free.iter().zip(max_min(&part, &demand)) {
            rate[flow as usize] = new;
        }
        touched
    }

    /// Most per weight on a link if it is full, else infinity.
    fn level(&self, link: u32, rate: &[f64]) -> f64 {
        let (mut used, mut most) = (0.0, 0.0f64);
        for flow in self.crossing(link) {
            used += rate[flow as usize];
            most = most.max(rate[flow as usize] / self.weight(flow));
        }
        let full = used >= self.net.capacity[link as usize] * (1.0 - SAME);
        if full { most } else { f64::INFINITY }
    }

    /// Flows that must be let free: without bottleneck, or in the way of a free flow without one.
    fn failing(
        &self,
        touched: &[u32],
        is_free: &[bool],
        rate: &[f64],
        seen: &mut [Seen],
    ) -> Vec<u32> {
        let mut more = Vec::new();
        let mut flows: Vec<u32> = touched.iter().flat_map(|&link| self.crossing(link)).collect();
        flows.sort_unstable();
        flows.dedup();
        for flow in flows {
            if self.is_content(flow, rate, seen) {
                continue;
            }
            if !is_free[flow as usize] {
                more.push(flow);
                continue;
            }
            // A free flow is held back by others that hold still with more.
            let own = rate[flow as usize] / self.weight(flow);
            for &link in self.route(flow) {
                if seen[link as usize].level.is_finite() {
                    let richer = |f: &u32| {
                        !is_free[*f as usize]
                            && rate[*f as usize] / self.weight(*f) > own * (1.0 + SAME)
                    };
                    more.extend(self.crossing(link).filter(richer));
                }
            }
        }
        more.sort_unstable();
        more.dedup();
        more
    }

    /// Whether a flow has what it asks for, or a bottleneck.
    fn is_content(&self, flow: u32, rate: &[f64], seen: &mut [Seen]) -> bool {
        let own = rate[flow as usize];
        if own >= self.wanted(flow) * (1.0 - SAME) {
            return true;
        }
        let per_weight = own / self.weight(flow);
        self.route(flow).iter().any(|&link| {
            if seen[link as usize].level.is_nan() {
                seen[link as usize].level = self.level(link, rate);
            }
            per_weight >= seen[link as usize].level * (1.0 - SAME)
        })
    }
}
