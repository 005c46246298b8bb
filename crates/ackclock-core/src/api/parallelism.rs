//! How much of a run could happen at once, as JSON.

use serde::Serialize;

use super::plan;
use crate::error::Problem;
use crate::packet::{Costs, RegistryOnly, Stretch, record_stretch, time_step};

/// Steps of the recorded stretch: a second or less of work.
const STEPS: u64 = 2_000_000;

/// Cores that speed-ups are predicted for.
const CORES: [u32; 6] = [2, 4, 8, 16, 32, 64];

#[derive(Serialize)]
struct Part<'a> {
    name: &'a str,
    share: f64,
}

#[derive(Serialize)]
struct OnCores {
    cores: u32,
    speedup: f64,
    largest_share: f64,
    crossing: f64,
}

#[derive(Serialize)]
struct Parallelism<'a> {
    from_s: f64,
    until_s: f64,
    processes: usize,
    turns: usize,
    steps: u64,
    critical_steps: u64,
    #[serde(rename = "average_parallelism")]
    average: f64,
    busiest: Part<'a>,
    critical: Part<'a>,
    step_s: f64,
    sync_s: f64,
    predicted: Vec<OnCores>,
}

/// Records a short stretch of a scenario's run, timed by `clock` [s], and says how much of it could happen at once
/// where threads wait `sync_s` for one another: JSON.
///
/// # Errors
/// Every problem of the scenario and of its algorithms; a scenario in which nothing happens.
pub fn parallelism(
    text: &str,
    sync_s: f64,
    clock: &dyn Fn() -> f64,
) -> Result<String, Vec<Problem>> {
    let (_, plan) = plan(text, &RegistryOnly)?;
    let one = record_stretch(&plan, 1, STEPS)?;
    let step_s = time_step(&plan, &one, clock)?;
    let costs = Costs { step_s, sync_s };
    let mut predicted = Vec::new();
    for cores in CORES {
        let Stretch { turns, homes, .. } = record_stretch(&plan, cores as usize, STEPS / 2)?;
        predicted.extend(turns.predict(&homes, cores, costs));
    }
    let Stretch { turns, processes, .. } = one;
    let Some(found) = turns.parallelism() else {
        let message = "lets no packet arrive before its end, expected flows that send";
        return Err(vec![Problem::new("duration", message)]);
    };
    let part = |(unit, share): (u32, f64)| Part { name: &turns.names[unit as usize], share };
    let predicted = predicted.iter().map(|on| OnCores {
        cores: on.cores,
        speedup: on.speedup,
        largest_share: on.shares.iter().copied().fold(0.0, f64::max),
        crossing: on.cut,
    });
    let parallelism = Parallelism {
        from_s: turns.from_s,
        until_s: turns.until_s,
        processes,
        turns: turns.list.len(),
        steps: found.steps,
        critical_steps: found.critical_steps,
        average: found.steps as f64 / found.critical_steps.max(1) as f64,
        busiest: part(found.busiest),
        critical: part(found.critical),
        step_s,
        sync_s,
        predicted: predicted.collect(),
    };
    serde_json::to_string(&parallelism).map_err(|e| vec![Problem::new("", e.to_string())])
}
