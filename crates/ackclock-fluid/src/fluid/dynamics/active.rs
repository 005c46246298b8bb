//! The max-min allocation of flows that come and go, solved anew only where it changes.
//!
//! An allocation is max-min fair if and only if each flow has all that it demands, or crosses a
//! *bottleneck*: a link that is full and on which no flow has more per weight (Bertsekas, Gallager,
//! "Data Networks", 2nd ed., section 6.5.2). So a solution for some flows, the others kept as they
//! were, is a solution for all if each of the others still has a bottleneck. When a flow joins or
//! leaves:
//!
//! 1. The set to solve begins with the flow that joins and those at the bottleneck that it will
//!    share, or with those that the links of the leaving flow held back.
//! 2. The set is filled progressively into what the other flows leave free on its links.
//! 3. On these links, flows outside the set that have more than the level of a link which filled, or
//!    that have lost their bottleneck, enter the set; then 2 again.
//! 4. When no flow enters, the allocation is that of the whole network.
//!
//! The work is in proportion to the flows near what changes. When the set would be more than half of
//! all flows, or the repetitions have cost as much as one solution of the whole, all are filled.
//!
//! **Source**: the criterion as above; the growth of the set is our own. Property tests compare it
//! with the solution of the whole network after each of many joins and departures.

use crate::fluid::fill::{Filling, Levels};
use crate::fluid::{FluidNet, or};

pub(super) const NONE: u32 = u32::MAX;

/// Rates nearer than this, relative to the larger, are the same.
const SAME: f64 = 1e-9;

/// Active flows and their max-min rates. Flows are of *classes*: routes and weights of a network.
pub(super) struct Active<'a> {
    net: &'a FluidNet,
    /// Most that a flow of each class takes; empty: no bound.
    peak: &'a [f64],
    /// Class of the flow in each slot; `NONE`: the slot is free.
    class: Vec<u32>,
    rate: Vec<f64>,
    /// The bottleneck of the flow in each slot; `NONE`: it has its peak rate.
    bottleneck: Vec<u32>,
    /// Per slot and hop, the place in the link's list.
    positions: Vec<Vec<u32>>,
    /// Per link the flows on it: slot and hop.
    on: Vec<Vec<(u32, u32)>>,
    /// Per link the sum of rates.
    used: Vec<f64>,
    /// Per link the rate per weight at which it is full; infinite where it is not.
    level: Vec<f64>,
    /// Number of active flows.
    count: usize,
    work: Work,
    /// What the solutions have cost.
    pub(super) effort: Effort,
    /// Time of the present event.
    pub(super) now: f64,
    /// Per link the integral of the sum of rates, and the time up to which it is formed.
    carried: Vec<(f64, f64)>,
}

/// What the solutions of a run have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Solutions of a set of flows.
    pub solutions: u64,
    /// Of these, solutions of all flows.
    pub full_solutions: u64,
    /// Flows in the sets, summed over the solutions.
    pub solved: u64,
    /// Flows looked at on links that had changed.
    pub looked_at: u64,
}

/// A link crossed by the set that is solved.
#[derive(Clone, Copy)]
struct Local {
    link: u32,
    /// Level at which it filled, infinite if it did not.
    filled: f64,
    /// Level at which it is full now, infinite if it is not.
    level: f64,
}

/// Scratch space of one event, kept for the next.
#[derive(Default)]
struct Work {
    /// Slots of the set.
    set: Vec<u32>,
    /// Per slot its place in the set; `NONE`: it is not in it.
    member: Vec<u32>,
    /// Per slot of the set, as in `set`: new rate and bottleneck.
    next: Vec<(f64, u32)>,
    /// Per link its place in `links`.
    local: Vec<u32>,
    links: Vec<Local>,
    filling: Vec<Filling>,
    /// Members of the set on each local link, as offsets into `members`.
    offsets: Vec<u32>,
    members: Vec<u32>,
    /// Flows outside the set that another link holds now.
    moved: Vec<(u32, u32)>,
    /// Members by the level at which they have their peak rate, lowest last.
    peaks: Vec<(f64, u32)>,
}

impl<'a> Active<'a> {
    pub(super) fn new(net: &'a FluidNet, peak: &'a [f64]) -> Self {
        let links = net.links();
        Self {
            net,
            peak,
            class: Vec::new(),
            rate: Vec::new(),
            bottleneck: Vec::new(),
            positions: Vec::new(),
            on: vec![Vec::new(); links],
            used: vec![0.0; links],
            level: vec![f64::INFINITY; links],
            count: 0,
            work: Work { local: vec![NONE; links], ..Work::default() },
            effort: Effort::default(),
            now: 0.0,
            carried: vec![(0.0, 0.0); links],
        }
    }

    /// The amount that a link has carried until now.
    pub(super) fn carried(&mut self, link: usize) -> f64 {
        let (total, since) = &mut self.carried[link];
        *total += self.used[link] * (self.now - *since);
        *since = self.now;
        *total
    }

    pub(super) fn rate(&self, slot: u32) -> f64 {
        self.rate[slot as usize]
    }

    fn weight(&self, slot: u32) -> f64 {
        self.net.weight(self.class[slot as usize] as usize)
    }

    fn route(&self, slot: u32) -> &'a [u32] {
        self.net.route(self.class[slot as usize] as usize)
    }

    fn enough(&self, slot: u32) -> f64 {
        or(self.peak, self.class[slot as usize] as usize, f64::INFINITY) / self.weight(slot)
    }

    /// A flow of a class takes a free slot. `changed` gets the slots whose rate is another now, and
    /// the rate that each had.
    pub(super) fn join(&mut self, slot: u32, class: u32, changed: &mut Vec<(u32, f64)>) {
        let index = slot as usize;
        if index >= self.class.len() {
            self.class.resize(index + 1, NONE);
            self.rate.resize(index + 1, 0.0);
            self.bottleneck.resize(index + 1, NONE);
            self.positions.resize(index + 1, Vec::new());
            self.work.member.resize(index + 1, NONE);
        }
        self.class[index] = class;
        self.rate[index] = 0.0;
        self.bottleneck[index] = NONE;
        self.count += 1;
        let route = self.route(slot);
        self.positions[index].clear();
        for (hop, &link) in route.iter().enumerate() {
            let list = &mut self.on[link as usize];
            self.positions[index].push(list.len() as u32);
            list.push((slot, hop as u32));
        }
        self.enter(slot);
        if let Some(link) = self.likely_bottleneck(slot) {
            self.enter_held_by(link);
        }
        self.settle(changed);
    }

    /// The full link of the route on which the newcomer would get least, if that is less than its
    /// peak rate and less than what links that are not full would give.
    fn likely_bottleneck(&mut self, slot: u32) -> Option<u32> {
        let weight = self.weight(slot);
        let mut least = (self.enough(slot), None);
        for &link in self.route(slot) {
            let index = link as usize;
            let full = self.level[index];
            let level_through = if full.is_finite() {
                let mut weight_on_link = 0.0;
                for i in 0..self.on[index].len() {
                    let other = self.on[index][i].0;
                    if self.bottleneck[other as usize] == link {
                        weight_on_link += self.weight(other);
                    }
                }
                self.effort.looked_at += self.on[index].len() as u64;
                (full * weight_on_link / (weight_on_link + weight), Some(link))
            } else {
                ((self.net.capacity[index] - self.used[index]) / weight, None)
            };
            if level_through.0 < least.0 {
                least = level_through;
            }
        }
        least.1
    }

    /// The flow in a slot leaves; `changed` as of [`join`](Self::join), without that flow.
    pub(super) fn leave(&mut self, slot: u32, changed: &mut Vec<(u32, f64)>) {
        let index = slot as usize;
        let route = self.route(slot);
        for (hop, &link) in route.iter().enumerate() {
            self.carried(link as usize);
            let position = self.positions[index][hop] as usize;
            let list = &mut self.on[link as usize];
            list.swap_remove(position);
            if let Some(&(moved, its_hop)) = list.get(position) {
                self.positions[moved as usize][its_hop as usize] = position as u32;
            }
            let used = &mut self.used[link as usize];
            // An empty link has exactly nothing: rounding does not add up over a run.
            *used = if list.is_empty() { 0.0 } else { (*used - self.rate[index]).max(0.0) };
        }
        self.class[index] = NONE;
        self.count -= 1;
        for &link in route {
            if self.level[link as usize].is_finite()
                && !self.is_full(link, self.used[link as usize])
            {
                self.level[link as usize] = f64::INFINITY;
                self.enter_held_by(link);
            }
        }
        self.settle(changed);
    }

    fn is_full(&self, link: u32, used: f64) -> bool {
        used >= self.net.capacity[link as usize] * (1.0 - SAME)
    }

    fn enter(&mut self, slot: u32) {
        let member = &mut self.work.member[slot as usize];
        if *member == NONE {
            *member = self.work.set.len() as u32;
            self.work.set.push(slot);
        }
    }

    fn enter_held_by(&mut self, link: u32) {
        for i in 0..self.on[link as usize].len() {
            let slot = self.on[link as usize][i].0;
            if self.bottleneck[slot as usize] == link {
                self.enter(slot);
            }
        }
        self.effort.looked_at += self.on[link as usize].len() as u64;
    }

    /// Solves the set, and lets it grow until the allocation is that of the whole network.
    fn settle(&mut self, changed: &mut Vec<(u32, f64)>) {
        let mut solved = 0;
        while !self.work.set.is_empty() {
            if 2 * self.work.set.len() > self.count || solved > self.count {
                for slot in 0..self.class.len() as u32 {
                    if self.class[slot as usize] != NONE {
                        self.enter(slot);
                    }
                }
            }
            let size = self.work.set.len();
            solved += size;
            self.effort.solutions += 1;
            self.effort.full_solutions += u64::from(size == self.count);
            self.effort.solved += size as u64;
            self.gather();
            self.fill();
            self.find_levels();
            if size == self.count || !self.grow() {
                break;
            }
            self.forget_links();
        }
        self.commit(changed);
    }

    /// Lists the links of the set with what other flows leave free on them.
    fn gather(&mut self) {
        let work = &mut self.work;
        // By the filling before; what holds a flow may be another link after this one.
        work.moved.clear();
        work.links.clear();
        work.filling.clear();
        for &slot in &work.set {
            let class = self.class[slot as usize] as usize;
            let (weight, rate) = (self.net.weight(class), self.rate[slot as usize]);
            for &link in self.net.route(class) {
                let local = &mut work.local[link as usize];
                if *local == NONE {
                    *local = work.links.len() as u32;
                    work.links.push(Local { link, filled: f64::INFINITY, level: f64::INFINITY });
                    let left = self.net.capacity[link as usize] - self.used[link as usize];
                    work.filling.push(Filling { left, weight: 0.0, growing: 0 });
                }
                let filling = &mut work.filling[*local as usize];
                filling.left += rate;
                filling.weight += weight;
                filling.growing += 1;
            }
        }
        work.offsets.clear();
        let mut end = 0;
        for filling in &work.filling {
            work.offsets.push(end);
            end += filling.growing;
        }
        work.offsets.push(end);
        work.members.clear();
        work.members.resize(end as usize, NONE);
        let mut next = work.offsets.clone();
        for (member, &slot) in work.set.iter().enumerate() {
            for &link in self.net.route(self.class[slot as usize] as usize) {
                let cursor = &mut next[work.local[link as usize] as usize];
                work.members[*cursor as usize] = member as u32;
                *cursor += 1;
            }
        }
    }

    /// Progressive filling of the set into what is free.
    fn fill(&mut self) {
        let (net, class) = (self.net, &self.class);
        let work = &mut self.work;
        work.next.clear();
        work.next.resize(work.set.len(), (f64::NAN, NONE));
        work.peaks.clear();
        if !self.peak.is_empty() {
            for (member, &slot) in work.set.iter().enumerate() {
                let of = class[slot as usize] as usize;
                if self.peak[of].is_finite() {
                    work.peaks.push((self.peak[of] / net.weight(of), member as u32));
                }
            }
            work.peaks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        }
        let mut levels = Levels::of(&work.filling);
        loop {
            let full = levels.next(&work.filling);
            let level = full.map_or(f64::INFINITY, |(level, _)| level);
            if let Some(&(peak, member)) = work.peaks.last()
                && peak <= level
            {
                work.peaks.pop();
                work.stop(net, class, member, peak, NONE);
                continue;
            }
            let Some((level, local)) = full else { break };
            let link = work.links[local].link;
            for index in work.offsets[local]..work.offsets[local + 1] {
                work.stop(net, class, work.members[index as usize], level, link);
            }
            work.links[local].filled = level;
        }
    }

    /// The level of each link of the set after the filling.
    fn find_levels(&mut self) {
        for local in 0..self.work.links.len() {
            let Local { link, filled, .. } = self.work.links[local];
            let index = link as usize;
            let level = if filled.is_finite() {
                filled
            } else if self.work.filling[local].left <= SAME * self.net.capacity[index] {
                // Full without holding a flow of the set.
                let mut most = 0.0f64;
                for &(slot, _) in &self.on[index] {
                    most = most.max(self.now(slot) / self.weight(slot));
                }
                self.effort.looked_at += self.on[index].len() as u64;
                most
            } else {
                f64::INFINITY
            };
            self.work.links[local].level = level;
        }
    }

    /// Rate of a flow after the filling.
    fn now(&self, slot: u32) -> f64 {
        match self.work.member[slot as usize] {
            NONE => self.rate[slot as usize],
            member => self.work.next[member as usize].0,
        }
    }

    /// The level of any link after the filling.
    fn level_now(&self, link: u32) -> f64 {
        match self.work.local[link as usize] {
            NONE => self.level[link as usize],
            local => self.work.links[local as usize].level,
        }
    }

    /// Takes the flows into the set whose rates cannot stay; whether there were any.
    fn grow(&mut self) -> bool {
        let before = self.work.set.len();
        for local in 0..self.work.links.len() {
            let Local { link, filled, level } = self.work.links[local];
            let index = link as usize;
            let members = (self.work.offsets[local + 1] - self.work.offsets[local]) as usize;
            let was_full = self.level[index].is_finite();
            if self.on[index].len() == members || !(filled.is_finite() || was_full) {
                continue;
            }
            self.effort.looked_at += self.on[index].len() as u64;
            for i in 0..self.on[index].len() {
                let slot = self.on[index][i].0;
                if self.work.member[slot as usize] != NONE {
                    continue;
                }
                let level_of_flow = self.rate[slot as usize] / self.weight(slot);
                if level_of_flow > filled * (1.0 + SAME) {
                    self.enter(slot);
                } else if self.bottleneck[slot as usize] == link
                    && level_of_flow < level * (1.0 - SAME)
                {
                    let route = self.route(slot);
                    let other =
                        route.iter().find(|&&l| level_of_flow >= self.level_now(l) * (1.0 - SAME));
                    match other {
                        Some(&other) => self.work.moved.push((slot, other)),
                        None => self.enter(slot),
                    }
                }
            }
        }
        self.work.set.len() > before
    }

    /// Takes the links of the set out of the index.
    fn forget_links(&mut self) {
        for local in &self.work.links {
            self.work.local[local.link as usize] = NONE;
        }
    }

    /// Takes over what was found.
    fn commit(&mut self, changed: &mut Vec<(u32, f64)>) {
        for member in 0..self.work.set.len() {
            let slot = self.work.set[member] as usize;
            let (rate, bottleneck) = self.work.next[member];
            let old = std::mem::replace(&mut self.rate[slot], rate);
            self.bottleneck[slot] = bottleneck;
            self.work.member[slot] = NONE;
            if old.to_bits() != rate.to_bits() {
                changed.push((slot as u32, old));
            }
        }
        for &(slot, link) in &self.work.moved {
            self.bottleneck[slot as usize] = link;
        }
        for local_index in 0..self.work.links.len() {
            let (local, filling) = (self.work.links[local_index], self.work.filling[local_index]);
            let index = local.link as usize;
            self.carried(index);
            self.used[index] = (self.net.capacity[index] - filling.left).max(0.0);
            self.level[index] = local.level;
        }
        self.forget_links();
        self.work.set.clear();
        self.work.links.clear();
        self.work.filling.clear();
        self.work.moved.clear();
    }
}

impl Work {
    /// A member of the set stops growing at a level, held by a link.
    #[inline]
    fn stop(&mut self, net: &FluidNet, class: &[u32], member: u32, level: f64, link: u32) {
        let next = &mut self.next[member as usize];
        if !next.0.is_nan() {
            return;
        }
        let of = class[self.set[member as usize] as usize] as usize;
        let weight = net.weight(of);
        *next = (level * weight, link);
        for &other in net.route(of) {
            self.filling[self.local[other as usize] as usize].stop(level * weight, weight);
        }
    }
}
