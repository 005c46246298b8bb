//! How much of a run could happen at once, as JSON.

use serde::Serialize;

use super::plan;
use crate::compile::Plan;
use crate::error::Problem;
use crate::packet::{Costs, RegistryOnly, RunError, Stretch, Turns, record_stretch, time_runs};
use crate::units::Time;

/// Steps of the recorded stretch: a second or less of work.
const STEPS: u64 = 2_000_000;

/// Cores that speed-ups are predicted for.
const CORES: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// Times that each run is timed; the least counts, as others were disturbed.
const TIMED: u32 = 5;

/// A step takes longer [s]: what is less comes from a clock that did not move.
const LEAST_STEP_S: f64 = 1e-10;

/// What a run takes on so many threads [s].
#[derive(Clone, Copy, Serialize)]
struct Timing {
    /// Before and after the simulation.
    setup_s: f64,
    /// The recorded stretch.
    stretch_s: f64,
}

#[derive(Serialize)]
struct Part<'a> {
    name: &'a str,
    share: f64,
}

#[derive(Serialize)]
struct OnCores {
    cores: u32,
    speedup: f64,
    speedup_of_stretch: f64,
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
    crossing_s: f64,
    on_one: Timing,
    on_two: Option<Timing>,
    not_on_two: Option<String>,
    predicted: Vec<OnCores>,
}

/// Times the run of a stretch on one thread, and on two if there are as many cores; otherwise, why not on two.
fn time(
    plan: &Plan,
    stretch: &Turns,
    cores: usize,
    clock: &dyn Fn() -> f64,
) -> Result<(Timing, Result<Timing, String>), RunError> {
    let ends = [Time(1), stretch.from.max(Time(1)), stretch.until.max(Time(1))];
    let mut least = [[f64::INFINITY; 3]; 2];
    let mut reason = (cores < 2).then(|| "this machine has one core".to_owned());
    for _ in 0..TIMED {
        for (threads, least) in (1..).zip(&mut least) {
            if threads == 2 && reason.is_some() {
                continue;
            }
            match time_runs(plan, ends, threads, clock)? {
                Ok(run_times) => *least = std::array::from_fn(|i| least[i].min(run_times[i])),
                Err(why) => reason = Some(why),
            }
        }
    }
    let timing =
        |[setup_s, from_s, until_s]: [f64; 3]| Timing { setup_s, stretch_s: until_s - from_s };
    let [on_one, on_two] = least.map(timing);
    let on_two = match reason {
        None if on_one.stretch_s.min(on_two.stretch_s) <= 0.0 => {
            Err("the run is too short to be timed".to_owned())
        }
        None => Ok(on_two),
        Some(why) => Err(why),
    };
    Ok((on_one, on_two))
}

/// Records a short stretch of a scenario's run, timed by `clock` [s], and says how much of it could happen at once
/// where threads wait `sync_s` for one another: JSON. On two `cores` or more the stretch is run by two threads too, which
/// gives what turns cost that depend on other threads.
///
/// # Errors
/// Every problem of the scenario and of its algorithms; a scenario in which nothing happens.
pub fn parallelism(
    text: &str,
    sync_s: f64,
    cores: usize,
    clock: &dyn Fn() -> f64,
) -> Result<String, RunError> {
    let (_, plan) = plan(text, &RegistryOnly).map_err(RunError::Input)?;
    let record = |cores: usize, steps| record_stretch(&plan, cores, steps).map_err(RunError::Input);
    let Stretch { turns, processes, .. } = record(1, STEPS)?;
    let Some(measured) = turns.parallelism() else {
        let message = "lets no packet arrive before its end, expected flows that send";
        return Err(RunError::Input(vec![Problem::new("duration", message)]));
    };
    let (on_one, on_two) = time(&plan, &turns, cores, clock)?;
    let step_s = (on_one.stretch_s / measured.steps as f64).max(LEAST_STEP_S);
    let mut costs = Costs { step_s, sync_s, crossing_s: 0.0 };
    // Of the whole run, if it goes on as in the stretch.
    let share = (turns.until.0 - turns.from.0).max(1) as f64 / plan.duration.0 as f64;
    let run_s = step_s * measured.steps as f64 / share;
    let setup_s = on_two.as_ref().map_or(on_one.setup_s, |two| two.setup_s);
    let mut predicted = Vec::new();
    for cores in CORES {
        let Stretch { turns, homes, .. } = record(cores as usize, STEPS / 2)?;
        if let (2, Ok(two)) = (cores, &on_two) {
            let speedup = on_one.stretch_s / two.stretch_s;
            costs.crossing_s = turns.crossing_cost(&homes, costs, speedup);
        }
        predicted.extend(turns.predict(&homes, cores, costs).map(|on| OnCores {
            cores,
            speedup: (on_one.setup_s + run_s) / (setup_s + run_s / on.speedup),
            speedup_of_stretch: on.speedup,
            largest_share: on.shares.iter().copied().fold(0.0, f64::max),
            crossing: on.cut,
        }));
    }
    let unit_share = |(unit, share): (u32, f64)| Part { name: &turns.names[unit as usize], share };
    let parallelism = Parallelism {
        from_s: turns.from.seconds(),
        until_s: turns.until.seconds(),
        processes,
        turns: turns.list.len(),
        steps: measured.steps,
        critical_steps: measured.critical_steps,
        average: measured.steps as f64 / measured.critical_steps.max(1) as f64,
        busiest: unit_share(measured.busiest),
        critical: unit_share(measured.critical),
        step_s,
        sync_s,
        crossing_s: costs.crossing_s,
        on_one,
        not_on_two: on_two.as_ref().err().cloned(),
        on_two: on_two.ok(),
        predicted,
    };
    serde_json::to_string(&parallelism)
        .map_err(|e| RunError::Input(vec![Problem::new("", e.to_string())]))
}
