//! Records a stretch of a run, of which is found how much could happen at once.

use std::cell::RefCell;

use crate::compile::{Plan, PlanFlow};
use crate::era::Era;
use crate::error::Problem;
use crate::packet::network::link::Link;
use crate::packet::outcome::parallelism::{Turns, UnitTurn};
use crate::packet::process::clock::{Clock, Picoseconds, Seconds};
use crate::packet::process::stubs::Stubs;
use crate::packet::setup::build::build_with;
use crate::packet::setup::custom::RegistryOnly;
use crate::packet::setup::division::{Load, divide};
use crate::packet::setup::partition::{Partition, find_followers};
use crate::packet::turn::record_turns::Units;
use crate::packet::turn::simulator::Sim;
use crate::units::Time;

/// A recorded stretch of a run.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// Its turns, without those at the beginning of the run that did half of the work.
    pub turns: Turns,
    /// By unit, the thread that runs it.
    pub homes: Vec<usize>,
    /// Logical processes of the run that had a turn.
    pub processes: usize,
}

/// Runs a plan on one thread until `steps` steps are done, with the processes of a run on so many threads.
///
/// # Errors
/// Bad parameters of algorithms.
pub fn record_stretch(plan: &Plan, threads: usize, steps: u64) -> Result<Stretch, Vec<Problem>> {
    if plan.era == Era::Ns2 {
        record::<Seconds>(plan, threads, steps)
    } else {
        record::<Picoseconds>(plan, threads, steps)
    }
}

fn record<C: Clock>(plan: &Plan, threads: usize, steps: u64) -> Result<Stretch, Vec<Problem>> {
    let processes_of = RefCell::new(None);
    let partition = |plan: &Plan, links: &[Link<C>], shortest: &[u64], follows: &[bool]| {
        let homes = if threads > 1 {
            divide(plan, &Load::of(plan), shortest, threads).homes
        } else {
            Vec::new()
        };
        let partition = Partition::on_threads(plan, links, shortest, follows, &homes);
        *processes_of.borrow_mut() =
            Some((partition.link_process.clone(), partition.node_process.clone()));
        partition
    };
    let mut sim: Sim<C> = build_with(plan, &RegistryOnly, partition, |_| true)?;
    sim.border.limit_turns(&sim.schedule);
    let (mut link_process, node_process) = processes_of.into_inner().unwrap_or_default();
    // A link that packets enter at once after another is part of that one's turn.
    let follows = find_followers(plan, &sim.links.list);
    for route in plan.flows.iter().flat_map(PlanFlow::all_paths) {
        for pair in route.windows(2).filter(|pair| follows[pair[1].index()]) {
            link_process[pair[1].index()] = link_process[pair[0].index()];
        }
    }
    let unit_of: Vec<u32> = (0..)
        .zip(&sim.schedule.processes)
        .map(|(p, process)| match process.stages[0].outlet {
            Stubs::NONE => p,
            outlet => sim.schedule.stubs.process(outlet),
        })
        .collect();
    let count = unit_of.len();
    let mut units = Units { links: vec![Vec::new(); count], ends: vec![Vec::new(); count] };
    for (l, &process) in (0..).zip(&link_process) {
        units.links[unit_of[process as usize] as usize].push(l);
    }
    for (process, &unit) in sim.schedule.processes.iter().zip(&unit_of) {
        units.ends[unit as usize].extend(&process.endpoints);
    }
    let names = names(plan, count, &link_process, &node_process);
    let recorded = sim.record_turns(&units, steps);
    let until = recorded.iter().map(|turn| Time(C::ps(turn.at))).max().unwrap_or_default();

    // The first half has the flows' starts.
    let all: u64 = recorded.iter().map(|turn| u64::from(turn.steps)).sum();
    let mut steps_taken = 0;
    let first = recorded
        .iter()
        .position(|turn| {
            steps_taken += u64::from(turn.steps);
            2 * steps_taken > all
        })
        .unwrap_or(0);
    let settled = &recorded[first..];
    let mut has_run = vec![false; count];
    for turn in &recorded {
        has_run[turn.unit as usize] = true;
    }
    let from = settled.first().map_or(Time(0), |turn| Time(C::ps(turn.at)));
    let turns = Turns {
        names,
        list: settled
            .iter()
            .map(|turn| UnitTurn {
                unit: turn.unit,
                steps: turn.steps,
                needs: turn
                    .needs
                    .iter()
                    .filter_map(|need| need.checked_sub(first as u32))
                    .collect(),
            })
            .collect(),
        from,
        until,
    };
    let homes = &sim.border.homes;
    let home = |unit: usize| homes.get(unit).map_or(0, |&home| usize::from(home));
    Ok(Stretch {
        turns,
        homes: (0..count).map(home).collect(),
        processes: has_run.iter().filter(|&&has_run| has_run).count(),
    })
}

/// By process, the node or link that it is.
fn names(plan: &Plan, count: usize, link_process: &[u32], node_process: &[u32]) -> Vec<String> {
    let mut nodes: Vec<(u32, Option<usize>)> = vec![(0, None); count];
    for (node, &process) in node_process.iter().enumerate().filter(|of| *of.1 != u32::MAX) {
        let (number, first) = &mut nodes[process as usize];
        *number += 1;
        first.get_or_insert(node);
    }
    let mut names: Vec<String> = nodes
        .iter()
        .map(|&(number, first)| match (number, first) {
            (1, Some(node)) => format!("node {}", plan.nodes[node]),
            (number, Some(node)) => {
                format!("a cluster of {number} nodes around {}", plan.nodes[node])
            }
            _ => String::new(),
        })
        .collect();
    for (link, &process) in plan.links.iter().zip(link_process) {
        let name = &mut names[process as usize];
        if name.is_empty() {
            *name = format!("link {}", link.name(&plan.nodes));
        }
    }
    names
}
