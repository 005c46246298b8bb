//! Corrects the prediction of a run by its beginning.
//!
//! What a run is predicted to do follows from rates, windows and sizes (`compile/work.rs`). How far losses and the
//! parameters of its algorithms keep it from that is seen in a trial: the run itself, for about a fiftieth of the
//! predicted work. What is left is predicted to deviate from the prediction as its beginning did, in proportion.
//! A run that is over by then is known exactly.

use std::sync::Arc;

use crate::compile::{Plan, PlanSender, Predicted, predict};
use crate::era::Era;
use crate::memory::until_it_ends;
use crate::packet::process::clock::{Clock, Picoseconds, Seconds};
use crate::packet::setup::build::build;
use crate::packet::setup::custom::RegistryOnly;
use crate::packet::turn::run_part::Beginning;
use crate::tcp::TcpConfig;
use crate::units::{Span, Time};

/// Share of the predicted steps that a trial takes, and its least and most.
const SHARE: f64 = 0.02;
const LEAST_STEPS: f64 = 3_000.0;
const MOST_STEPS: f64 = 100_000.0;

/// Flows and links of a run that is tried: to build a larger one takes more than the trial itself. Many flows are
/// predicted well without, since what one of them does hardly counts.
const MOST_FLOWS: usize = 500;
const MOST_LINKS: usize = 5_000;

/// Round trips that a trial must last to say something of what comes after it.
const ROUND_TRIPS: f64 = 8.0;

/// Steps by which the beginning of a run deviates by chance.
const CHANCE: f64 = 100.0;

/// Corrects what a plan, whose algorithms are all in the registry, is predicted to do.
pub fn correct(plan: &Plan, predicted: Predicted) -> Predicted {
    if plan.flows.len() > MOST_FLOWS || plan.links.len() > MOST_LINKS || !plan.groups.is_empty() {
        return predicted;
    }
    let steps = (predicted.events * SHARE).clamp(LEAST_STEPS, MOST_STEPS);
    let tried = with_bounded_windows(plan, steps);
    let begin = || {
        if plan.era == Era::Ns2 {
            try_for::<Seconds>(&tried, steps)
        } else {
            try_for::<Picoseconds>(&tried, steps)
        }
    };
    // To build it may take more memory than there is.
    let Ok(Some(beginning)) = until_it_ends(begin) else { return predicted };
    let [hops, events] = [beginning.hops, beginning.hops + beginning.events].map(|n| n as f64);
    let Some(until) = beginning.until else { return corrected(predicted, hops, events) };
    let Predicted { packet_hops: of_all, events: all, .. } = predicted;
    if beginning.is_cut && events > all {
        // More than was predicted of all came before: it goes on at that rate.
        let whole = plan.duration.seconds() / until.seconds().max(1e-12);
        return corrected(predicted, of_all.max(hops * whole), all.max(events * whole));
    }
    if until.seconds() < ROUND_TRIPS * longest_round_trip(plan) {
        return corrected(predicted, of_all.max(hops), all.max(events));
    }
    let part = predict(&Plan { duration: until, warmup: Time(0), ..tried });
    let rest = |seen: f64, part: f64, all: f64| {
        seen + (all - part).max(0.0) * (seen + CHANCE) / (part + CHANCE)
    };
    let hops = rest(hops, part.packet_hops, of_all);
    let events = rest(events, part.events, all);
    corrected(predicted, hops, events)
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
fn with_bounded_windows(plan: &Plan, steps: f64) -> Plan {
    let most = (steps / ROUND_TRIPS).max(16.0) as u32;
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
