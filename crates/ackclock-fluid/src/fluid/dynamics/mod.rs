//! Finite flows that arrive and leave: the flow-level engine over time.
//!
//! Between two events all rates are constant. An event is an arrival, the end of a flow (all of its
//! amount has arrived at its destination), or, where senders answer late, their answer. After each,
//! rates are solved anew: by [`active`] for global max-min fairness, by [`offered`] where senders
//! choose what they offer. Ends wait in a heap; an entry whose flow has another rate by now is
//! dropped when it comes up. At equal times ends come first, then arrivals, then answers.
//!
//! **Source**: J. Roberts, L. Massoulie, "Bandwidth sharing and admission control for elastic
//! traffic", Telecommunication Systems 15, 2000, doi:10.1023/A:1019138827659 (flow-level models);
//! T. Bonald, M. Feuillet, A. Proutiere, "Is the law of the jungle sustainable for the Internet?",
//! INFOCOM 2009, doi:10.1109/INFCOM.2009.5061902 (finite flows without congestion control).

mod active;
mod draw;
mod offered;
mod sizes;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub use active::Effort;
pub use draw::{Demand, DrawOptions, Transfers, draw};
pub use sizes::Sizes;

use super::outcome::{SLACK, check_loads};
use super::{FluidError, FluidNet, Options, Policies, Routers};
use active::Active;
use offered::Offered;

/// How rates follow from the flows that are active.
pub enum Rule<'a> {
    /// Global max-min fairness.
    MaxMin,
    /// Senders with policies, routers that share their own links.
    Senders {
        /// What senders do.
        policies: &'a Policies,
        /// What routers do.
        routers: &'a Routers,
        /// When a fixed point is found.
        options: &'a Options,
        /// Time between two answers of the senders, above 0; none: they answer at once.
        reaction: Option<f64>,
    },
}

/// When a run ends, and what is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// End of the run.
    pub until: f64,
    /// Whether the run goes on after `until` until every flow has ended.
    pub drain: bool,
    /// Length of the intervals over which the use of links is averaged; none: it is not.
    pub interval: Option<f64>,
}

/// What came of the transfers.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// When each flow ended; not a number: it did not.
    pub completion: Vec<f64>,
    /// The part of each flow's size that arrived.
    pub delivered: Vec<f64>,
    /// Per link, what arrived there in all.
    pub offered: Vec<f64>,
    /// Per link, what left it in all.
    pub carried: Vec<f64>,
    /// When the run ended.
    pub end: f64,
    /// Arrivals, ends and answers of senders.
    pub events: u64,
    /// Most flows at a time, and their mean number over time.
    pub most_active: usize,
    /// Mean number of flows over time.
    pub mean_active: f64,
    /// Goodput of the flows that ended, each at its end, in sum; where it was the last flow, it does
    /// not count.
    pub freed: f64,
    /// By how much the goodputs of the others rose at these ends.
    pub taken_up: f64,
    /// What solving cost.
    pub effort: Effort,
    /// Fixed points of senders that were not found.
    pub unsettled: u64,
    /// Mean rate on each link in each interval, interval by interval.
    pub samples: Vec<f64>,
    /// Mean number of flows in each interval.
    pub sampled_active: Vec<f64>,
}

impl Report {
    /// Checks what no network can bring about: no link carried more than its capacity for the time of the run,
    /// no flow got more than its size or ended before it began.
    ///
    /// # Errors
    /// The first link or flow for which this is not so, by number, with the amounts.
    pub fn check(&self, net: &FluidNet, transfers: &Transfers) -> Result<(), String> {
        let most: Vec<f64> = net.capacity().iter().map(|rate| rate * self.end).collect();
        check_loads(&self.carried, &most, "bit")?;
        let ended = self.completion.iter().zip(&self.delivered);
        for (number, (&completion, &delivered)) in ended.enumerate() {
            let (begin, size) = (transfers.time[number], transfers.size[number]);
            // A flow that has not ended has no completion.
            if completion < begin || !(0.0..=size * SLACK).contains(&delivered) {
                return Err(format!(
                    "transfer {number} of {size} bit began at {begin} s, ended at {completion} s and got \
                     {delivered} bit"
                ));
            }
        }
        Ok(())
    }
}

/// Why a run gave no report.
#[derive(Clone, Debug, PartialEq)]
pub enum DynamicsError {
    /// Links did not settle.
    Fluid(FluidError),
    /// The caller wanted it to end.
    Stopped,
}

impl From<FluidError> for DynamicsError {
    fn from(error: FluidError) -> Self {
        Self::Fluid(error)
    }
}

/// Events between two calls of `progress`.
const CALLED_EVERY: u64 = 1024;

/// Runs transfers over a network. The flows of `net` are classes: a transfer has the route and the
/// weight of its class. `peak` bounds the rate of a flow of each class; empty: nothing does.
/// Transfers are in order of time. `progress` gets the part of the arrivals that is done and the
/// time; when it returns false, the run ends.
///
/// # Errors
/// Links that feed each other in a circle did not settle; `progress` returned false.
pub fn simulate(
    net: &FluidNet,
    peak: &[f64],
    transfers: &Transfers,
    rule: &Rule<'_>,
    window: &Window,
    progress: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Report, DynamicsError> {
    let mut run = Run::new(net, peak, transfers, rule);
    let mut answers = match *rule {
        Rule::Senders { reaction: Some(time), .. } => Some((time, 1u64)),
        _ => None,
    };
    let mut arrived = 0;
    let mut sample = 1u64;
    loop {
        run.skip_stale();
        let ends = run.ends.peek().map_or(f64::INFINITY, |Reverse(end)| f64::from_bits(end.0));
        let arrives = transfers.time.get(arrived).copied().unwrap_or(f64::INFINITY);
        let arrives = if arrives < window.until { arrives } else { f64::INFINITY };
        // Nobody answers where nothing is sent; the next multiple of the reaction time counts then.
        let answer = match answers {
            Some((time, number)) if run.active > 0 => time * number as f64,
            _ => f64::INFINITY,
        };
        let mut next = ends.min(arrives).min(answer);
        if !window.drain {
            next = next.min(window.until);
        }
        let is_over = next.is_infinite() || (!window.drain && next >= window.until);
        // A run that drains ends with its last flow, but not before its window.
        let least = if window.until.is_finite() { window.until } else { 0.0 };
        let stop = if next.is_infinite() { run.now.max(least) } else { next };
        if let Some(interval) = window.interval {
            // Means over whole intervals.
            while interval * sample as f64 <= stop {
                run.move_to(interval * sample as f64);
                run.sample(interval);
                sample += 1;
            }
        }
        if is_over {
            run.move_to(stop);
            break;
        }
        run.move_to(next);
        run.report.events += 1;
        if ends <= next {
            run.end_flow()?;
        } else if arrives <= next {
            if run.active == 0
                && let Some((time, number)) = &mut answers
            {
                *number = (next / *time).floor() as u64 + 1;
            }
            run.begin_flow(arrived as u32)?;
            arrived += 1;
        } else {
            run.answer()?;
            if let Some((_, number)) = &mut answers {
                *number += 1;
            }
        }
        if run.report.events.is_multiple_of(CALLED_EVERY) {
            let fraction = arrived as f64 / transfers.time.len() as f64;
            if !progress(fraction, run.now) {
                return Err(DynamicsError::Stopped);
            }
        }
    }
    Ok(run.finish())
}

/// How rates are found.
enum Rates<'a> {
    MaxMin(Box<Active<'a>>),
    Senders(Box<Offered<'a>>),
}

impl Rates<'_> {
    fn rate(&self, slot: u32) -> f64 {
        match self {
            Self::MaxMin(active) => active.rate(slot),
            Self::Senders(offered) => offered.rate(slot),
        }
    }

    fn set_now(&mut self, now: f64) {
        match self {
            Self::MaxMin(active) => active.now = now,
            Self::Senders(offered) => offered.now = now,
        }
    }

    /// Per link, what has arrived and what has left until now.
    fn totals(&mut self, links: usize) -> (Vec<f64>, Vec<f64>) {
        match self {
            Self::MaxMin(active) => {
                let carried: Vec<f64> = (0..links).map(|link| active.carried(link)).collect();
                (carried.clone(), carried)
            }
            Self::Senders(offered) => {
                let (arrived, left) = offered.totals();
                (arrived.to_vec(), left.to_vec())
            }
        }
    }
}

/// The flow in a slot.
#[derive(Clone, Copy)]
struct Flow {
    transfer: u32,
    /// What is still to arrive, at the time `since`.
    left: f64,
    since: f64,
    /// Counts changes of the rate: entries of the heap with another number are stale.
    version: u32,
    is_active: bool,
}

struct Run<'a> {
    net: &'a FluidNet,
    transfers: &'a Transfers,
    rates: Rates<'a>,
    flows: Vec<Flow>,
    free: Vec<u32>,
    /// End, slot, version.
    ends: BinaryHeap<Reverse<(u64, u32, u32)>>,
    changed: Vec<(u32, f64)>,
    now: f64,
    active: usize,
    /// Integral of the number of flows, and its value at the last sample.
    active_time: (f64, f64),
    sampled: Vec<f64>,
    report: Report,
}

impl<'a> Run<'a> {
    fn new(net: &'a FluidNet, peak: &'a [f64], transfers: &'a Transfers, rule: &Rule<'a>) -> Self {
        let rates = match *rule {
            Rule::MaxMin => Rates::MaxMin(Box::new(Active::new(net, peak))),
            Rule::Senders { policies, routers, options, reaction } => Rates::Senders(Box::new(
                Offered::new(net, peak, policies, routers, options, reaction.is_none()),
            )),
        };
        let count = transfers.time.len();
        let report = Report {
            completion: vec![f64::NAN; count],
            delivered: vec![0.0; count],
            ..Report::default()
        };
        Self {
            net,
            transfers,
            rates,
            flows: Vec::new(),
            free: Vec::new(),
            ends: BinaryHeap::new(),
            changed: Vec::new(),
            now: 0.0,
            active: 0,
            active_time: (0.0, 0.0),
            sampled: vec![0.0; net.links()],
            report,
        }
    }

    fn move_to(&mut self, time: f64) {
        self.active_time.0 += self.active as f64 * (time - self.now);
        self.now = time;
        self.rates.set_now(time);
    }

    /// Drops entries of the heap that no longer hold.
    fn skip_stale(&mut self) {
        while let Some(&Reverse((_, slot, version))) = self.ends.peek() {
            if self.flows[slot as usize].version == version {
                break;
            }
            self.ends.pop();
        }
    }

    fn begin_flow(&mut self, transfer: u32) -> Result<(), FluidError> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.flows.push(Flow {
                transfer: 0,
                left: 0.0,
                since: 0.0,
                version: 0,
                is_active: false,
            });
            self.flows.len() as u32 - 1
        });
        let flow = &mut self.flows[slot as usize];
        flow.transfer = transfer;
        flow.left = self.transfers.size[transfer as usize];
        flow.since = self.now;
        flow.is_active = true;
        self.active += 1;
        self.report.most_active = self.report.most_active.max(self.active);
        let class = self.transfers.class[transfer as usize];
        match &mut self.rates {
            Rates::MaxMin(active) => active.join(slot, class, &mut self.changed),
            Rates::Senders(offered) => offered.join(slot, class, &mut self.changed)?,
        }
        self.take_over();
        Ok(())
    }

    fn end_flow(&mut self) -> Result<(), FluidError> {
        let Some(Reverse((_, slot, _))) = self.ends.pop() else { return Ok(()) };
        let flow = &mut self.flows[slot as usize];
        flow.version = flow.version.wrapping_add(1);
        flow.is_active = false;
        let transfer = flow.transfer as usize;
        self.report.completion[transfer] = self.now;
        self.report.delivered[transfer] = self.transfers.size[transfer];
        self.active -= 1;
        let freed = self.rates.rate(slot);
        match &mut self.rates {
            Rates::MaxMin(active) => active.leave(slot, &mut self.changed),
            Rates::Senders(offered) => offered.leave(slot, &mut self.changed)?,
        }
        self.free.push(slot);
        if self.active > 0 {
            self.report.freed += freed;
            let rises = self.changed.iter().map(|&(slot, old)| self.rates.rate(slot) - old);
            self.report.taken_up += rises.sum::<f64>();
        }
        self.take_over();
        Ok(())
    }

    fn answer(&mut self) -> Result<(), FluidError> {
        if let Rates::Senders(offered) = &mut self.rates {
            offered.answer(&mut self.changed)?;
        }
        self.take_over();
        Ok(())
    }

    /// Flows whose rate changed: what has arrived of them until now, and when they will end.
    fn take_over(&mut self) {
        for (slot, old) in self.changed.drain(..) {
            let flow = &mut self.flows[slot as usize];
            flow.left = (flow.left - old * (self.now - flow.since)).max(0.0);
            flow.since = self.now;
            flow.version = flow.version.wrapping_add(1);
            let rate = self.rates.rate(slot);
            if rate > 0.0 {
                let end = self.now + flow.left / rate;
                self.ends.push(Reverse((end.to_bits(), slot, flow.version)));
            }
        }
        if self.ends.len() > 64 + 4 * self.flows.len() {
            let flows = &self.flows;
            self.ends
                .retain(|&Reverse((_, slot, version))| flows[slot as usize].version == version);
        }
    }

    fn sample(&mut self, interval: f64) {
        let (_, carried) = self.rates.totals(self.net.links());
        let means = carried.iter().zip(&self.sampled).map(|(now, old)| (now - old) / interval);
        self.report.samples.extend(means);
        self.sampled = carried;
        self.report.sampled_active.push((self.active_time.0 - self.active_time.1) / interval);
        self.active_time.1 = self.active_time.0;
    }

    fn finish(mut self) -> Report {
        for (slot, flow) in self.flows.iter().enumerate().filter(|(_, flow)| flow.is_active) {
            let transfer = flow.transfer as usize;
            let left = flow.left - self.rates.rate(slot as u32) * (self.now - flow.since);
            self.report.delivered[transfer] = self.transfers.size[transfer] - left.max(0.0);
        }
        let mut report = self.report;
        (report.offered, report.carried) = self.rates.totals(self.net.links());
        report.end = self.now;
        report.mean_active = if self.now > 0.0 { self.active_time.0 / self.now } else { 0.0 };
        match self.rates {
            Rates::MaxMin(active) => report.effort = active.effort,
            Rates::Senders(offered) => {
                report.unsettled = offered.unsettled;
                report.effort.solutions = offered.solutions;
                report.effort.full_solutions = offered.solutions;
            }
        }
        report
    }
}
