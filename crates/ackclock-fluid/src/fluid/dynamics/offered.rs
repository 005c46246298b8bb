//! Rates of flows that come and go where senders choose what they offer and each router shares its
//! own link.
//!
//! With a reaction time of 0 senders and network are at their [fixed point](crate::fluid::fixed_point)
//! after every arrival and departure. With a reaction time T senders change what they offer at the
//! multiples of T only, by one application of their policy to the goodputs of that moment; routers
//! share anew at once. A flow that begins in between is offered an even share of its sender's link,
//! as by Eq. (1); a sender whose policy does not depend on goodputs follows it at once.
//!
//! **Source**: McCullough, Raghavan, Snoeren, sections 4.3 and 5, whose simulator is restricted to
//! one set of flows; the reaction time is our own. It shows what the paper's section 5 leaves open:
//! what over-driving a flow gains when another one ends.

use crate::fluid::dynamics::active::NONE;
use crate::fluid::fixed_point::Senders;
use crate::fluid::sweep::Sweeper;
use crate::fluid::{
    FluidError, FluidNet, Options, Outcome, Policies, Routers, brick_wall, fixed_point, or,
};

/// Active flows, what they offer and what arrives of them.
pub(super) struct Offered<'a> {
    net: &'a FluidNet,
    peak: &'a [f64],
    policies: &'a Policies,
    routers: &'a Routers,
    options: &'a Options,
    /// Whether senders answer at once.
    at_once: bool,
    /// Per slot: class (`NONE`: free), offered rate, goodput.
    class: Vec<u32>,
    demand: Vec<f64>,
    rate: Vec<f64>,
    /// Per link what arrives and what leaves, and the integrals of both.
    load: (Vec<f64>, Vec<f64>),
    total: (Vec<f64>, Vec<f64>),
    since: f64,
    pub(super) now: f64,
    /// Fixed points that were not found within the limit of rounds.
    pub(super) unsettled: u64,
    pub(super) solutions: u64,
}

impl<'a> Offered<'a> {
    pub(super) fn new(
        net: &'a FluidNet,
        peak: &'a [f64],
        policies: &'a Policies,
        routers: &'a Routers,
        options: &'a Options,
        at_once: bool,
    ) -> Self {
        let nothing = || vec![0.0; net.links()];
        Self {
            net,
            peak,
            policies,
            routers,
            options,
            at_once,
            class: Vec::new(),
            demand: Vec::new(),
            rate: Vec::new(),
            load: (nothing(), nothing()),
            total: (nothing(), nothing()),
            since: 0.0,
            now: 0.0,
            unsettled: 0,
            solutions: 0,
        }
    }

    pub(super) fn rate(&self, slot: u32) -> f64 {
        self.rate[slot as usize]
    }

    /// A flow takes a free slot; `changed` gets the slots with a new rate and the rate of before.
    pub(super) fn join(
        &mut self,
        slot: u32,
        class: u32,
        changed: &mut Vec<(u32, f64)>,
    ) -> Result<(), FluidError> {
        let index = slot as usize;
        if index >= self.class.len() {
            self.class.resize(index + 1, NONE);
            self.demand.resize(index + 1, 0.0);
            self.rate.resize(index + 1, 0.0);
        }
        self.class[index] = class;
        let sender = self.net.first_link(class as usize);
        let begins_there = |&&of: &&u32| of != NONE && self.net.first_link(of as usize) == sender;
        let flows = self.class.iter().filter(begins_there).count();
        let even = self.net.capacity()[sender as usize] / flows as f64;
        self.demand[index] = even.min(or(self.peak, class as usize, f64::INFINITY));
        self.rate[index] = 0.0;
        self.settle(false, changed)
    }

    /// The flow in a slot leaves.
    pub(super) fn leave(
        &mut self,
        slot: u32,
        changed: &mut Vec<(u32, f64)>,
    ) -> Result<(), FluidError> {
        self.class[slot as usize] = NONE;
        self.settle(false, changed)
    }

    /// Senders answer what they see.
    pub(super) fn answer(&mut self, changed: &mut Vec<(u32, f64)>) -> Result<(), FluidError> {
        self.settle(true, changed)
    }

    fn settle(&mut self, answers: bool, changed: &mut Vec<(u32, f64)>) -> Result<(), FluidError> {
        self.solutions += 1;
        let slots: Vec<u32> =
            (0..self.class.len() as u32).filter(|&s| self.class[s as usize] != NONE).collect();
        let classes = slots.iter().map(|&slot| self.class[slot as usize]);
        let net = self.net.of_flows(classes.clone());
        let limits: Vec<f64> = if self.peak.is_empty() {
            Vec::new()
        } else {
            classes.map(|class| self.peak[class as usize]).collect()
        };
        let outcome = if self.at_once {
            let solution = fixed_point(&net, self.policies, self.routers, &limits, self.options)?;
            self.unsettled += u64::from(!solution.converged);
            solution.outcome
        } else {
            let demand = slots.iter().map(|&slot| self.demand[slot as usize]).collect();
            self.answer_late(&net, demand, &limits, answers)?
        };
        self.close_books();
        self.load = outcome.loads(&net);
        for (flow, &slot) in slots.iter().enumerate() {
            let index = slot as usize;
            self.demand[index] = outcome.demand[flow];
            let goodput = outcome.goodput(&net, flow);
            let old = std::mem::replace(&mut self.rate[index], goodput);
            if old.to_bits() != goodput.to_bits() {
                changed.push((slot, old));
            }
        }
        Ok(())
    }

    /// What the network makes of the demands where senders answer late.
    fn answer_late(
        &self,
        net: &FluidNet,
        mut demand: Vec<f64>,
        limits: &[f64],
        answers: bool,
    ) -> Result<Outcome, FluidError> {
        let sweeper = (!self.routers.are_max_min()).then(|| Sweeper::new(net));
        let evaluate = |demand: &[f64]| match &sweeper {
            None => Ok(brick_wall(net, demand)),
            Some(sweeper) => sweeper.run(demand, self.routers, &self.options.sweep),
        };
        let senders = Senders::new(net, limits);
        let outcome = evaluate(&demand)?;
        let answer = senders.next(self.policies, &outcome, self.routers);
        let mut differs = false;
        for flow in 0..net.flows() {
            let policy = self.policies.policy(net.first_link(flow) as usize);
            if (answers || policy.is_open_loop())
                && demand[flow].to_bits() != answer[flow].to_bits()
            {
                demand[flow] = answer[flow];
                differs = true;
            }
        }
        if differs { evaluate(&demand) } else { Ok(outcome) }
    }

    fn close_books(&mut self) {
        let time = self.now - self.since;
        self.since = self.now;
        let add = |total: &mut [f64], rate: &[f64]| {
            for (total, rate) in total.iter_mut().zip(rate) {
                *total += rate * time;
            }
        };
        add(&mut self.total.0, &self.load.0);
        add(&mut self.total.1, &self.load.1);
    }

    /// Per link the amounts that have arrived and that have left until now.
    pub(super) fn totals(&mut self) -> (&[f64], &[f64]) {
        self.close_books();
        (&self.total.0, &self.total.1)
    }
}
