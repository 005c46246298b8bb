//! The max-min allocation after one flow joined or left, found along what it changes.
//!
//! Progressive filling is replayed from level 0 up, but only where it goes another way than before.
//! A link is *touched* when a flow on it changes: at first the links of the flow that joins or
//! leaves. A touched link has two moments that matter: the level at which it was full before, and
//! the level at which it would be full now, with all that is known of its flows. The earlier of the
//! two comes first, over all touched links:
//!
//! - It is full now: flows that still grow on it stop here. Those that stopped here before, at the
//!   same level, are as they were; the others have changed, which touches their other links.
//! - It was full before, and is not now: flows that it alone held grow on, which touches theirs.
//!
//! Below the level of the moment nothing on an untouched link differs from before, so what is done is
//! final, as in the filling of the whole network. The work is in proportion to the flows that cross
//! the touched links. Where it would come near that of filling everything, everything is filled.
//!
//! **Source**: the criterion of the allocation is Bertsekas, Gallager, "Data Networks", 2nd ed.,
//! section 6.5.2; the replay is our own. Tests prove it equal to the full solution.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{FluidNet, max_min, or};

/// A max-min allocation with what is needed to change it.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// Rate of each flow.
    pub rate: Vec<f64>,
    /// Per link the level (rate per weight) at which it is full; infinite where it is not.
    pub level: Vec<f64>,
}

/// What changes when a flow joins or leaves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Updated {
    /// Flows whose rate is another now, with that rate. A flow that joined has the number after the
    /// last; one that left is not told, and the others keep their numbers.
    pub rates: Vec<(u32, f64)>,
    /// Links whose level is another now, with that level.
    pub levels: Vec<(u32, f64)>,
    /// Whether the whole network was filled.
    pub whole: bool,
}

/// A flow that joins.
#[derive(Clone, Copy, Debug)]
pub struct Joining<'a> {
    /// Links that it crosses.
    pub route: &'a [u32],
    /// Its weight.
    pub weight: f64,
    /// What its application asks for; infinite: no bound.
    pub demand: f64,
}

/// Levels nearer than this, relative to the larger, are the same.
const SAME: f64 = 1e-9;

/// Flows looked at, as a part of all hops, after which the whole network is filled. Looking at a flow
/// costs some twenty times what filling one of its hops does, so that this is about half a filling.
const PART: f64 = 0.03;

/// The allocation of a network; `demand` as of [`max_min`].
pub fn allocate(net: &FluidNet, demand: &[f64]) -> Allocation {
    let rate = max_min(net, demand);
    let level = (0..net.links()).map(|link| level(net, link, &rate)).collect();
    Allocation { rate, level }
}

/// Most per weight on a link if it is full, else infinity.
fn level(net: &FluidNet, link: usize, rate: &[f64]) -> f64 {
    let (mut used, mut most) = (0.0, 0.0f64);
    for &flow in net.crossing(link) {
        let flow = flow as usize;
        used += rate[flow];
        most = most.max(rate[flow] / net.weight(flow));
    }
    if used >= net.capacity[link] * (1.0 - SAME) && used > 0.0 { most } else { f64::INFINITY }
}

/// A flow joins. `demand` and `before` are of the network without it.
pub fn add_flow(
    net: &FluidNet,
    demand: &[f64],
    before: &Allocation,
    joining: Joining<'_>,
) -> Updated {
    change(net, demand, before, Some(joining), None, PART)
}

/// A flow leaves. `demand` and `before` are of the network with it.
pub fn remove_flow(net: &FluidNet, demand: &[f64], before: &Allocation, flow: usize) -> Updated {
    change(net, demand, before, None, Some(flow as u32), PART)
}

/// A flow joins or leaves; the whole network is filled after looking at `part` of its hops.
pub(super) fn change(
    net: &FluidNet,
    demand: &[f64],
    before: &Allocation,
    joining: Option<Joining<'_>>,
    leaving: Option<u32>,
    part: f64,
) -> Updated {
    Replay::new(net, demand, before, joining, leaving).run(part)
}

/// Where a flow stands in the replay.
#[derive(Clone, Copy, PartialEq)]
enum Now {
    /// As before, as far as is known.
    AsBefore,
    /// Grows, past the level at which it stopped before or because it is new.
    Grows,
    /// Has stopped for good, at this rate per weight.
    Stopped(f64),
}

/// A touched link.
#[derive(Clone, Copy)]
struct Touched {
    /// Level at which it was full before; infinite once that moment is past.
    was: f64,
    /// Level at which it would be full, as last computed.
    now: f64,
    /// Whether a flow on it changed since.
    stale: bool,
    /// Whether it is full and done with.
    done: bool,
}

const NONE: u32 = u32::MAX;

struct Replay<'a> {
    net: &'a FluidNet,
    demand: &'a [f64],
    before: &'a Allocation,
    joining: Option<Joining<'a>>,
    leaving: Option<u32>,
    /// Per flow, the joining one last.
    state: Vec<Now>,
    /// Flows that are not as before.
    changed: Vec<u32>,
    /// Per link its place among the touched.
    place: Vec<u32>,
    touched: Vec<(u32, Touched)>,
    moments: BinaryHeap<Reverse<(u64, u32)>>,
    /// Flows looked at.
    work: usize,
}

impl<'a> Replay<'a> {
    fn new(
        net: &'a FluidNet,
        demand: &'a [f64],
        before: &'a Allocation,
        joining: Option<Joining<'a>>,
        leaving: Option<u32>,
    ) -> Self {
        let mut replay = Self {
            net,
            demand,
            before,
            joining,
            leaving,
            state: vec![Now::AsBefore; net.flows() + usize::from(joining.is_some())],
            changed: Vec::new(),
            place: vec![NONE; net.links()],
            touched: Vec::new(),
            moments: BinaryHeap::new(),
            work: 0,
        };
        let route = match (joining, leaving) {
            (Some(joining), _) => joining.route,
            (_, Some(flow)) => net.route(flow as usize),
            _ => &[],
        };
        if joining.is_some() {
            replay.set(net.flows() as u32, Now::Grows);
        }
        for &link in route {
            replay.touch(link, true);
        }
        replay
    }

    fn is_new(&self, flow: u32) -> Option<Joining<'a>> {
        self.joining.filter(|_| flow as usize == self.net.flows())
    }

    fn route(&self, flow: u32) -> &'a [u32] {
        self.is_new(flow).map_or_else(|| self.net.route(flow as usize), |j| j.route)
    }

    fn weight(&self, flow: u32) -> f64 {
        self.is_new(flow).map_or_else(|| self.net.weight(flow as usize), |j| j.weight)
    }

    /// Level at which a flow has all that it asks for.
    fn enough(&self, flow: u32) -> f64 {
        let demand = self
            .is_new(flow)
            .map_or_else(|| or(self.demand, flow as usize, f64::INFINITY), |j| j.demand);
        demand / self.weight(flow)
    }

    /// Rate per weight before; infinite for a flow that joins.
    fn old(&self, flow: u32) -> f64 {
        self.before.rate.get(flow as usize).map_or(f64::INFINITY, |r| r / self.weight(flow))
    }

    fn crossing(&self, link: u32) -> impl Iterator<Item = u32> + use<'a> {
        let joined =
            self.joining.filter(|j| j.route.contains(&link)).map(|_| self.net.flows() as u32);
        let leaving = self.leaving;
        let all = self.net.crossing(link as usize).iter().copied();
        all.filter(move |&flow| Some(flow) != leaving).chain(joined)
    }

    fn set(&mut self, flow: u32, now: Now) {
        if self.state[flow as usize] == Now::AsBefore {
            self.changed.push(flow);
        }
        self.state[flow as usize] = now;
    }

    /// A flow on the link changed: the link must be looked at (again), at once if the flow takes more
    /// than was thought, else when its moment comes up.
    fn touch(&mut self, link: u32, takes_more: bool) {
        if self.place[link as usize] == NONE {
            self.place[link as usize] = self.touched.len() as u32;
            let was = self.before.level[link as usize];
            self.touched.push((link, Touched { was, now: 0.0, stale: true, done: false }));
            let now = self.level_now(self.touched.len() - 1);
            self.await_next(self.touched.len() - 1, now);
            return;
        }
        let place = self.place[link as usize];
        let state = &mut self.touched[place as usize].1;
        if !state.done {
            state.stale = true;
            if takes_more {
                self.moments.push(Reverse((0, place)));
            }
        }
    }

    /// Enters a touched link's next moment.
    fn await_next(&mut self, place: usize, now: f64) {
        let state = &mut self.touched[place].1;
        state.now = now;
        state.stale = false;
        let next = now.min(state.was);
        if next.is_finite() {
            self.moments.push(Reverse((next.to_bits(), place as u32)));
        }
    }

    fn run(mut self, part: f64) -> Updated {
        let most = part * self.net.total_hops() as f64;
        while let Some(Reverse((bits, place))) = self.moments.pop() {
            if self.work as f64 > most {
                return self.whole();
            }
            let (link, state) = self.touched[place as usize];
            if state.done {
                continue;
            }
            if state.stale {
                let now = self.level_now(place as usize);
                self.await_next(place as usize, now);
                continue;
            }
            if f64::from_bits(bits) != state.now.min(state.was) {
                // An entry from before the link was looked at again.
                continue;
            }
            if state.now <= state.was * (1.0 + SAME) {
                self.fill(link, state.now);
            } else {
                self.release(link, state.was);
            }
        }
        self.told()
    }

    /// Level at which a touched link would be full: flows that stopped, or will as before, have
    /// their rates; the others grow.
    fn level_now(&mut self, place: usize) -> f64 {
        let link = self.touched[place].0;
        let mut capped: Vec<(f64, f64)> = Vec::new();
        let (mut left, mut growing) = (self.net.capacity[link as usize], 0.0);
        for flow in self.crossing(link) {
            self.work += 1;
            let weight = self.weight(flow);
            let cap = match self.state[flow as usize] {
                Now::Stopped(level) => level,
                Now::Grows => self.enough(flow),
                Now::AsBefore if self.held_elsewhere(flow, link) => self.old(flow),
                Now::AsBefore => self.enough(flow),
            };
            growing += weight;
            if cap.is_finite() {
                capped.push((cap, weight));
            }
        }
        capped.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (cap, weight) in capped {
            if left - cap * growing <= 0.0 {
                break;
            }
            left -= cap * weight;
            growing -= weight;
            if growing <= 1e-12 * weight {
                return f64::INFINITY;
            }
        }
        if growing > 0.0 { left.max(0.0) / growing } else { f64::INFINITY }
    }

    /// Whether a flow that is as before stopped before for another reason than this link: it had all
    /// it asked for, or another link holds it that has not been found to hold it no more.
    fn held_elsewhere(&self, flow: u32, link: u32) -> bool {
        let old = self.old(flow);
        if old >= self.enough(flow) * (1.0 - SAME) {
            return true;
        }
        self.route(flow).iter().any(|&other| other != link && self.holds(other, old))
    }

    /// Whether a link holds flows at this level, as far as is known.
    fn holds(&self, link: u32, level: f64) -> bool {
        let full = match self.place[link as usize] {
            NONE => self.before.level[link as usize],
            place => {
                let state = self.touched[place as usize].1;
                if state.done { state.now } else { state.was }
            }
        };
        level >= full * (1.0 - SAME)
    }

    /// A link is full: whoever grows on it stops.
    fn fill(&mut self, link: u32, level: f64) {
        let place = self.place[link as usize] as usize;
        self.touched[place].1.done = true;
        self.touched[place].1.now = level;
        let flows: Vec<u32> = self.crossing(link).collect();
        self.work += flows.len();
        for flow in flows {
            match self.state[flow as usize] {
                Now::Stopped(_) => {}
                Now::AsBefore => {
                    let old = self.old(flow);
                    if old > level * (1.0 + SAME) {
                        self.set(flow, Now::Stopped(level));
                        self.touch_others(flow, link, false);
                    } else if old >= level * (1.0 - SAME) {
                        // As before; links that are looked at must know that it stops here.
                        self.stale_others(flow, link);
                    }
                }
                Now::Grows => {
                    let enough = self.enough(flow);
                    self.set(flow, Now::Stopped(level.min(enough)));
                    self.touch_others(flow, link, false);
                }
            }
        }
    }

    /// A link was full at this level before and is not now: flows that it alone held grow on.
    fn release(&mut self, link: u32, level: f64) {
        let place = self.place[link as usize] as usize;
        let now = self.touched[place].1.now;
        self.touched[place].1.was = f64::INFINITY;
        let flows: Vec<u32> = self.crossing(link).collect();
        self.work += flows.len();
        for flow in flows {
            let held_here = self.state[flow as usize] == Now::AsBefore
                && self.old(flow) >= level * (1.0 - SAME)
                && !self.held_elsewhere(flow, link);
            if held_here {
                self.set(flow, Now::Grows);
                self.touch_others(flow, link, true);
            }
        }
        if !self.touched[place].1.stale {
            self.await_next(place, now);
        }
    }

    fn touch_others(&mut self, flow: u32, link: u32, takes_more: bool) {
        for &other in self.route(flow) {
            if other != link {
                self.touch(other, takes_more);
            }
        }
    }

    fn stale_others(&mut self, flow: u32, link: u32) {
        for &other in self.route(flow) {
            if other != link && self.place[other as usize] != NONE {
                self.touch(other, false);
            }
        }
    }

    /// What the replay found.
    fn told(self) -> Updated {
        let mut updated = Updated::default();
        for &flow in &self.changed {
            let per_weight = match self.state[flow as usize] {
                Now::Stopped(level) => level,
                // No link stopped it: it has all that it asks for.
                Now::Grows | Now::AsBefore => self.enough(flow),
            };
            let rate = per_weight * self.weight(flow);
            if self.before.rate.get(flow as usize) != Some(&rate) {
                updated.rates.push((flow, rate));
            }
        }
        for (link, state) in &self.touched {
            let level = if state.done { state.now } else { f64::INFINITY };
            if level != self.before.level[*link as usize] {
                updated.levels.push((*link, level));
            }
        }
        updated.rates.sort_unstable_by_key(|r| r.0);
        updated.levels.sort_unstable_by_key(|l| l.0);
        updated
    }

    /// Fills the whole network.
    fn whole(&self) -> Updated {
        let joining = self.joining.map(|j| (j.route, j.weight));
        let net = self
            .net
            .edited(joining, self.leaving.map(|flow| flow as usize))
            .expect("invariant: the parts were checked before");
        let mut demand = self.demand.to_vec();
        if let Some(joining) = self.joining
            && (!demand.is_empty() || joining.demand.is_finite())
        {
            demand.resize(self.net.flows(), f64::INFINITY);
            demand.push(joining.demand);
        }
        if let Some(flow) = self.leaving
            && !demand.is_empty()
        {
            demand.remove(flow as usize);
        }
        let after = allocate(&net, &demand);
        // Numbers from before the departure.
        let old =
            |i: usize| i as u32 + u32::from(self.leaving.is_some_and(|gone| i as u32 >= gone));
        let rates = after.rate.iter().enumerate().map(|(i, &rate)| (old(i), rate));
        let levels = after.level.iter().enumerate().map(|(i, &level)| (i as u32, level));
        Updated {
            rates: rates.filter(|&(i, r)| self.before.rate.get(i as usize) != Some(&r)).collect(),
            levels: levels.filter(|&(i, l)| self.before.level[i as usize] != l).collect(),
            whole: true,
        }
    }
}
