//! What a scenario's `links` change at single directions of the network's links.

use std::sync::Arc;

use wildmatch::WildMatch;

use super::links::{Directed, Values, path_of, schedule, shared, sorted, timeless, unknown};
use super::plan::{Failures, LinkSettings, Schedule};
use crate::error::Problem;
use crate::scenario::{DownTime, LinkChange, Names};
use crate::units::{Bytes, Span, Time};

/// Applies all changes in their order.
pub(super) fn apply(
    changes: &[LinkChange],
    nodes: &[String],
    directed: &mut [Directed],
    problems: &mut Vec<Problem>,
) {
    if changes.is_empty() {
        return;
    }
    let names: Vec<String> = directed.iter().map(|d| d.plan.name(nodes)).collect();
    let mut last_change = vec![None; directed.len()];
    for (i, change) in changes.iter().enumerate() {
        let path = format!("links[{i}]");
        check(&path, change, problems);
        let indices = choose_links(&path, &change.link, &names, problems);
        // Delivery opportunities need a delay: the shortest of those that it would be.
        let delay =
            indices.iter().map(|&index| change.delay.unwrap_or(directed[index].plan.delay)).min();
        let (schedule, losses) = schedule(
            &path,
            "schedule",
            change.schedule.as_ref(),
            delay.unwrap_or(Span::from_millis(1)),
            problems,
        );
        if change.delay == Some(Span::ZERO) && change.schedule.is_none() {
            let opportunities = |&index: &usize| {
                matches!(directed[index].plan.settings.schedule, Some(Schedule::Mahimahi(_)))
            };
            if let Some(index) = indices.iter().copied().find(opportunities) {
                let message = format!(
                    "is zero, but \"{}\" has delivery opportunities; expected more than zero",
                    names[index]
                );
                problems.push(Problem::new(format!("{path}.delay"), message));
            }
        }
        let buffer_path: Arc<str> = format!("{path}.buffer").into();
        let mut settings = None;
        for index in indices {
            last_change[index] = Some(i);
            let Directed { plan, buffer, weight, buffer_path: of_buffer } = &mut directed[index];
            plan.rate = change.rate.unwrap_or(plan.rate);
            plan.delay = change.delay.unwrap_or(plan.delay);
            *weight = change.weight.unwrap_or(*weight);
            if let Some(size) = change.buffer {
                *buffer = size;
                *of_buffer = Arc::clone(&buffer_path);
            }
            let old = &plan.settings;
            let (qdisc, qdisc_path) = match &change.qdisc {
                Some(qdisc) => (qdisc, format!("{path}.qdisc")),
                None => (&old.qdisc, old.qdisc_path.clone()),
            };
            let (impairments, impairments_path) = match &change.impairments {
                Some(list) => (list.clone(), path_of(&path, "impairments", list)),
                None => (old.impairments.clone(), old.impairments_path.clone()),
            };
            let new = LinkSettings {
                mtu: change
                    .mtu
                    .map_or(old.mtu, |Bytes(mtu)| u16::try_from(mtu).unwrap_or(u16::MAX)),
                qdisc: qdisc.by_registry_name(crate::qdisc::registry_name),
                qdisc_path,
                // Rate and loss over time are two settings, though one key gives both.
                schedule: schedule.clone().or_else(|| old.schedule.clone()),
                loss: change.loss.unwrap_or(old.loss),
                losses: if losses.is_empty() { &old.losses } else { &losses }.clone(),
                drop: change.drop.as_ref().map_or_else(|| old.drop.clone(), |list| sorted(list)),
                impairments,
                impairments_path,
                failures: Failures {
                    times: change
                        .down
                        .as_ref()
                        .map_or_else(|| old.failures.times.clone(), |down| down_times(down)),
                    in_flight: change.in_flight.unwrap_or(old.failures.in_flight),
                },
            };
            if plan.delay == Span::ZERO && new.failures.lose_in_flight() {
                let message = format!(
                    "are lost on the wire when \"{}\" fails, which has no delay; expected a delay of more than zero, or \
                     in_flight = \"delivered\"",
                    names[index]
                );
                problems.push(Problem::new(format!("{path}.in_flight"), message));
            }
            plan.settings = shared(&mut settings, new);
        }
    }
    refuse_timeless(&last_change, &names, directed, problems);
}

/// Reports changes after which packets cross a link in no time.
fn refuse_timeless(
    last_change: &[Option<usize>],
    names: &[String],
    directed: &[Directed],
    problems: &mut Vec<Problem>,
) {
    for ((change, name), link) in last_change.iter().zip(names).zip(directed) {
        let (Some(i), Some(rate)) = (change, timeless(&link.plan)) else { continue };
        let path = format!("links[{i}]");
        // All that a change chose may be so.
        if problems.last().is_none_or(|last| last.path != path) {
            let rate = rate.bps();
            let message = format!(
                "leaves \"{name}\" no delay, and a byte at {rate} bit/s takes no time either; expected a delay of 1 ps or more"
            );
            problems.push(Problem::new(path, message));
        }
    }
}

/// From and until when a link has failed.
fn down_times(down: &[DownTime]) -> Vec<(Time, Time)> {
    let until = |time: &DownTime| time.until.map_or(Time(u64::MAX), |until| Time(until.0));
    down.iter().map(|time| (Time(time.from.0), until(time))).collect()
}

/// Reports times of failures that are none, or that are not in order.
fn check_down(path: &str, down: &[DownTime], problems: &mut Vec<Problem>) {
    let mut before = Some(Span::ZERO);
    for (i, time) in down.iter().enumerate() {
        if before.is_none_or(|before| time.from < before) {
            let message =
                "is before the link is back, expected ascending times that do not overlap";
            problems.push(Problem::new(format!("{path}.down[{i}].from"), message));
        }
        if time.until.is_some_and(|until| until <= time.from) {
            let message = "is not later than from, expected a later time, or none for ever";
            problems.push(Problem::new(format!("{path}.down[{i}].until"), message));
        }
        before = time.until;
    }
}

fn check(path: &str, change: &LinkChange, problems: &mut Vec<Problem>) {
    let mut values = Values { path, problems };
    values.rate("rate", change.rate);
    values.delay("delay", change.delay);
    values.mtu("mtu", change.mtu);
    values.buffer("buffer", change.buffer);
    values.weight("weight", change.weight);
    values.loss("loss", change.loss);
    check_down(path, change.down.as_deref().unwrap_or_default(), problems);
    let changes_nothing = LinkChange { link: change.link.clone(), ..LinkChange::default() };
    if *change == changes_nothing {
        let message = "changes nothing; expected a rate, delay, mtu, buffer, qdisc, weight, loss, schedule, drop, \
                       impairments or down";
        problems.push(Problem::new(path, message));
    }
}

/// The directions that a change is for, ascending.
fn choose_links(
    path: &str,
    selection: &Names,
    names: &[String],
    problems: &mut Vec<Problem>,
) -> Vec<usize> {
    let (patterns, is_single) = match selection {
        Names::One(name) => (std::slice::from_ref(name), true),
        Names::Several(names) => (&names[..], false),
    };
    if patterns.is_empty() {
        let message = "is empty, expected at least one name of a link";
        problems.push(Problem::new(format!("{path}.link"), message));
    }
    let mut indices = Vec::new();
    for (i, pattern) in patterns.iter().enumerate() {
        let before = indices.len();
        // A link may have a name with a star in it.
        match names.iter().position(|name| name == pattern) {
            Some(index) => indices.push(index),
            None if pattern.contains('*') => {
                let matcher = WildMatch::new(pattern);
                let matching = |&index: &usize| matcher.matches(&names[index]);
                indices.extend((0..names.len()).filter(matching));
            }
            None => {}
        }
        if indices.len() == before {
            let position = if is_single { String::new() } else { format!("[{i}]") };
            let message = unknown(pattern, names.iter().cloned());
            problems.push(Problem::new(format!("{path}.link{position}"), message));
        }
    }
    indices.sort_unstable();
    indices.dedup();
    indices
}
