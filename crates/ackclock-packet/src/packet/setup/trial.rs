//! Corrects the prediction of a run by its beginning.
//!
//! What a run is predicted to do follows from rates, windows and sizes (`compile/work.rs`). How far losses and the
//! parameters of its algorithms keep it from that is seen in a trial: the run itself, for about a fiftieth of the
//! predicted work. What is left is predicted to deviate from the prediction as its beginning did, in proportion.
//! A run that is over by then is known exactly.
//!
//! A trial has smaller windows than the run may have, so that it shows some round trips. Flows that these hold back, that go
//! on whatever they lose, or whose first windows are wider, are tried again with wider windows and as many times the steps,
//! until nothing is so or a trial has its most steps. Only if they then send more than links let through, or the run is
//! over, is the last trial the one that counts; and what is done is predicted to grow with windows as it did from the last but one. First windows are
//! predicted whatever links carry, so that what a trial had no room for is in proportion.

use std::sync::Arc;

use crate::compile::{Plan, PlanFlow, PlanSender, Predicted, predict};
use crate::era::Era;
use crate::memory::until_it_ends;
use crate::outbox::MOST_AT_ONCE;
use crate::packet::process::clock::{Clock, Picoseconds, Seconds};
use crate::packet::setup::build::build;
use crate::packet::setup::custom::RegistryOnly;
use crate::packet::turn::run_part::Beginning;
use crate::tcp::TcpConfig;
use crate::units::{Span, Time};

/// Share of the predicted steps that a trial takes, and its least.
const SHARE: f64 = 0.02;
const LEAST_STEPS: f64 = 3_000.0;

/// The most steps of trials.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Of the first trial.
    steps: f64,
    /// Of those with wider windows.
    wide_steps: f64,
}

impl Patience {
    /// For one run.
    pub const LONG: Self = Self { steps: 100_000.0, wide_steps: 400_000.0 };

    /// For one of many runs, whose errors add up to less than each has: a tenth of the time, and no wider windows.
    pub const SHORT: Self = Self { steps: 5_000.0, wide_steps: 0.0 };
}

/// Flows and links of a run that is tried: to build a larger one takes more than the trial itself. Many flows are
/// predicted well without, since what one of them does hardly counts.
const MOST_FLOWS: usize = 500;
/// The same where flows wait for others: that each takes no longer than alone on its path is predicted of them, and what one
/// takes longer adds up.
const MOST_HELD: usize = 10_000;
const MOST_LINKS: usize = 5_000;

/// Round trips that a trial must last to say something of what comes after it.
const ROUND_TRIPS: f64 = 8.0;

/// How many times as wide windows the next trial has, and as many steps, up to the most.
const WIDER: f64 = 8.0;

/// A flow does not slow down if it loses this share of what it sends.
const LOST: f64 = 0.5;

/// One that loses this share of it may be held back by the windows of a trial alone.
const LOST_OFTEN: f64 = 0.125;

/// A window that grows to so many times the first one has no bound but the widest.
const GROWS: f64 = 1.5;

/// Flows that send so many times what their links let through do not slow down either.
const FLOOD: f64 = 2.0;

/// Steps by which the beginning of a run deviates by chance.
const CHANCE: f64 = 100.0;

/// Corrects what a plan, whose algorithms are all in the registry, is predicted to do.
pub fn correct(plan: &Plan, predicted: Predicted, patience: Patience) -> Predicted {
    let most_flows = if plan.held.is_empty() { MOST_FLOWS } else { MOST_HELD };
    if plan.flows.len() > most_flows || plan.links.len() > MOST_LINKS || !plan.groups.is_empty() {
        return predicted;
    }
    let steps = (predicted.events * SHARE).clamp(LEAST_STEPS, patience.steps);
    let Some(first) = Trial::begin(plan, steps) else { return predicted };
    let widest = plan.flows.iter().map(widest_window).max().map_or(0.0, f64::from);
    let first_window = first_window(plan);
    let (mut last, mut growth) = (None, 1.0);
    loop {
        let trial = last.as_ref().unwrap_or(&first);
        if !trial.is_held_back(widest, first_window) {
            break;
        }
        let Some((wider, times)) = trial.widen(plan, widest, patience.wide_steps) else { break };
        let grown = wider.rate(plan) / trial.rate(plan);
        let goes_on = wider.is_held_back(widest, first_window) && grown.is_finite();
        // What first windows add is predicted in proportion.
        let predicted_to = wider.most.max(first_window);
        let left = wider.widest_of_run(widest, first_window) / predicted_to;
        growth = if goes_on { extrapolate(grown, times, left) } else { 1.0 };
        last = Some(wider);
    }
    let least = first.follow(plan, &predicted, false);
    match last {
        Some(trial) if trial.floods() => {
            let most = trial.follow(plan, &predicted, true);
            let hops = (most.packet_hops * growth).max(least.packet_hops);
            corrected(predicted, hops, (most.events * growth).max(least.events))
        }
        Some(trial) if trial.is_whole() => {
            let followed = trial.follow(plan, &predicted, false);
            // Segments that wait for a lost one fill windows too, which may have held it back unseen.
            if trial.most < widest && followed.events < least.events { least } else { followed }
        }
        _ => least,
    }
}

/// How many times as much is done with windows `left` times as wide, if it was `grown` times as much with those that were
/// `times` as wide.
fn extrapolate(grown: f64, times: f64, left: f64) -> f64 {
    let left = left.max(1.0);
    if grown >= times / 2.0 {
        // A part does not depend on windows; the other is in proportion to them.
        return 1.0 + (grown - 1.0) * (left - 1.0) / (times - 1.0);
    }
    left.powf((grown.max(1.0).ln() / times.ln()).max(0.0))
}

/// Segments that a flow may send in a window.
fn widest_window(flow: &PlanFlow) -> u32 {
    let receiver = match &*flow.sender {
        PlanSender::Quic { config, .. } => config.receiver_window,
        PlanSender::Tcp { .. } => flow.tcp.receiver_window,
        _ => 0,
    };
    receiver.min(MOST_AT_ONCE as u32)
}

/// Segments that a flow sends before anything is acknowledged, at most.
fn first_window(plan: &Plan) -> f64 {
    let sends = |flow: &&PlanFlow| widest_window(flow) > 0;
    let window = |flow: &PlanFlow| {
        let size_segments =
            flow.size.map_or(f64::INFINITY, |size| size.0 as f64 / f64::from(flow.tcp.mss));
        f64::from(flow.tcp.first_window()).min(size_segments.ceil())
    };
    plan.flows.iter().filter(sends).map(window).fold(0.0, f64::max)
}

/// The beginning of a run with windows of at most `most` segments.
struct Trial {
    plan: Plan,
    steps: f64,
    most: f64,
    beginning: Beginning,
}

impl Trial {
    /// None if it cannot be built: that may take more memory than there is.
    fn begin(plan: &Plan, steps: f64) -> Option<Self> {
        let most = (steps / ROUND_TRIPS).max(16.0);
        let plan = with_bounded_windows(plan, most as u32);
        let begin = || {
            if plan.era == Era::Ns2 {
                try_for::<Seconds>(&plan, steps)
            } else {
                try_for::<Picoseconds>(&plan, steps)
            }
        };
        let beginning = until_it_ends(begin).ok().flatten()?;
        Some(Self { plan, steps, most, beginning })
    }

    /// A trial with wider windows, and how many times as wide they are.
    fn widen(&self, plan: &Plan, widest: f64, most_steps: f64) -> Option<(Self, f64)> {
        let times = WIDER.min(most_steps / self.steps).min(widest / self.most);
        if times <= 1.0 {
            return None;
        }
        Some((Self::begin(plan, self.steps * times)?, times))
    }

    /// Whether a flow would send more with windows that are less than `widest`, but wider.
    fn is_held_back(&self, widest: f64, first_window: f64) -> bool {
        let Beginning { lost, widest: has_been, .. } = self.beginning;
        let is_full = has_been >= self.most.floor() || first_window > self.most;
        self.most < widest && (lost >= LOST_OFTEN || is_full)
    }

    /// The widest window that a flow of the run may have, as far as can be seen: a control that hardly widens the first one
    /// does not reach `widest`.
    fn widest_of_run(&self, widest: f64, first_window: f64) -> f64 {
        let grown = (self.beginning.widest / self.most).max(1.0);
        if first_window <= self.most || grown >= GROWS {
            widest
        } else {
            (first_window * grown).min(widest)
        }
    }

    /// Whether flows send more than their links let through.
    fn floods(&self) -> bool {
        let Beginning { lost, hops, .. } = self.beginning;
        lost >= LOST || hops as f64 > FLOOD * (self.predict().packet_hops + CHANCE)
    }

    /// Whether it is the run to its end.
    fn is_whole(&self) -> bool {
        self.beginning.until.is_none()
    }

    /// What is predicted of the time that it took.
    fn predict(&self) -> Predicted {
        let duration = self.beginning.until.unwrap_or(self.plan.duration);
        predict(&Plan { duration, warmup: Time(0), ..self.plan.clone() })
    }

    /// Steps per second of simulated time.
    fn rate(&self, plan: &Plan) -> f64 {
        let seconds = self.beginning.until.unwrap_or(plan.duration).seconds();
        (self.beginning.hops + self.beginning.events) as f64 / seconds.max(1e-12)
    }

    /// What a plan is predicted to do, if it goes on as it began; `floods`: however few round trips that was.
    fn follow(&self, plan: &Plan, predicted: &Predicted, floods: bool) -> Predicted {
        let Self { beginning, .. } = self;
        let predicted = predicted.clone();
        let [hops, events] = [beginning.hops, beginning.hops + beginning.events].map(|n| n as f64);
        let Predicted { packet_hops: of_all, events: all, .. } = predicted;
        let has_room = first_window(plan) <= self.most;
        let until = match beginning.until {
            None if has_room => return corrected(predicted, hops, events),
            until => until.unwrap_or(plan.duration),
        };
        if beginning.is_cut && events > all {
            // More than was predicted of all came before: it goes on at that rate.
            let periods = plan.duration.seconds() / until.seconds().max(1e-12);
            return corrected(predicted, of_all.max(hops * periods), all.max(events * periods));
        }
        let is_short = until.seconds() < ROUND_TRIPS * longest_round_trip(plan);
        if is_short && !floods {
            return corrected(predicted, of_all.max(hops), all.max(events));
        }
        let predicted_part = self.predict();
        let remaining = |counted: f64, predicted_part: f64, all: f64| {
            counted
                + (all - predicted_part).max(0.0) * (counted + CHANCE) / (predicted_part + CHANCE)
        };
        let hops = remaining(hops, predicted_part.packet_hops, of_all);
        let events = remaining(events, predicted_part.events, all);
        if is_short {
            return corrected(predicted, of_all.max(hops), all.max(events));
        }
        corrected(predicted, hops, events)
    }
}

/// A prediction with other numbers of packets and events; its time is in proportion.
fn corrected(mut predicted: Predicted, hops: f64, events: f64) -> Predicted {
    let fixed_s = predicted.fixed_s;
    let ratio = events / predicted.events.max(1.0);
    predicted.cpu_s = fixed_s + (predicted.cpu_s - fixed_s) * ratio;
    (predicted.packet_hops, predicted.events) = (hops, events);
    predicted
}

fn try_for<C: Clock>(plan: &Plan, steps: f64) -> Option<Beginning> {
    Some(build::<C>(plan, &RegistryOnly).ok()?.run_part(steps as u64))
}

/// The plan without what it records, and with windows that a trial cannot fill in the round trips that it must last: no
/// call then sends more than it has steps.
fn with_bounded_windows(plan: &Plan, most: u32) -> Plan {
    let mut plan = plan.clone();
    plan.record.tables.clear();
    for flow in &mut plan.flows {
        if flow.tcp.receiver_window > most || flow.tcp.initial_window > most {
            let tcp = TcpConfig::clone(&flow.tcp);
            flow.tcp = Arc::new(TcpConfig {
                receiver_window: tcp.receiver_window.min(most),
                initial_window: tcp.initial_window.min(most),
                ..tcp
            });
        }
        let mut sender = Arc::clone(&flow.sender);
        if let PlanSender::Quic { config, .. } = Arc::make_mut(&mut sender) {
            let bounded = Arc::make_mut(config);
            bounded.receiver_window = bounded.receiver_window.min(most);
            bounded.initial_window = bounded.initial_window.min(most);
            flow.sender = sender;
        }
    }
    plan
}

/// The longest time over the links of a flow, there and back [s].
fn longest_round_trip(plan: &Plan) -> f64 {
    plan.round_trips().into_iter().map(Span::seconds).fold(0.0, f64::max)
}
