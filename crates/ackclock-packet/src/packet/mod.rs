//! STAGE 3a: the packet engine. One packet on one link at a time, to the picosecond.
//!
//! [`run`] takes a [`Plan`](crate::compile::Plan) and returns its [`Results`]. The rooms, each of which uses
//! only those before it: `storage` (tickets, queues), `process` (clock, events, schedule), `network` (links,
//! wires, ends of flows), `outcome` (recording, ledger, results), `turn` (the run), `setup` (from a plan to
//! a run). `docs/explanation/engine.md` explains the engine. `live` has the links of a run without its ends, for
//! ends that run elsewhere.

mod live;
mod network;
mod outcome;
mod process;
mod setup;
mod storage;
mod threads;
mod turn;

pub use crate::record::{DropRow, Event, PacketRow};
pub use live::{LIVE_IMPAIRMENTS, LIVE_TABLES, Left, Live, LiveFlow};
pub(crate) use network::fabric::FRAME;
pub use outcome::beginning::{FoundWarmUp, Series};
pub use outcome::fabric::PfcResult;
pub use outcome::ledger_table::{Fate, LedgerCount, LedgerKey, LedgerRows};
pub use outcome::link_sample::LinkSample;
pub use outcome::parallelism::{Costs, OnCores, Parallelism, Turns, UnitTurn};
pub use outcome::piece::{Piece, Pieces, Samples, Take};
pub use outcome::queue_table::{QueueCount, QueueRow};
pub(crate) use outcome::results::connection_completed_s;
pub use outcome::results::{FlowResult, LinkResult, Results};
pub use setup::custom::{Custom, Ends, EndsEnv, Made, Place, RegistryOnly, Tactics};

pub use setup::trial::{Patience, correct};

pub use setup::parallelism::{Stretch, record_stretch};
pub use threads::{Threads, Used, run_on, time_runs};

use std::any::Any;

use outcome::piece::HandedOn;
use process::clock::{Clock, Picoseconds, Seconds};
use setup::build::{build, build_by};
use turn::simulator::{RunEnd, Sim};

use crate::compile::Plan;
use crate::era::Era;
use crate::error::Problem;
use crate::units::Time;

/// Why a run did not end as it should.
#[derive(Debug)]
pub enum RunError {
    /// The plan cannot be run: parameters of an algorithm are wrong.
    Input(Vec<Problem>),
    /// An algorithm failed during the run.
    Algorithm(String),
    /// The caller stopped it.
    Interrupted,
    /// The results are impossible, as packets that were not conserved: a fault of the engine, with its numbers.
    Fault(String),
}

/// Runs a plan to its end.
///
/// `progress` is called from time to time with the simulated time and stops the run by returning false.
///
/// # Errors
/// Bad algorithm parameters, an algorithm that fails, or a stop by `progress`.
pub fn run(plan: &Plan, progress: &mut dyn FnMut(Time) -> bool) -> Result<Results, RunError> {
    run_with(plan, &RegistryOnly, progress)
}

/// Runs a plan to its end with user-defined algorithms.
///
/// # Errors
/// As [`run`]; what `custom` reports as its failure is [`RunError::Algorithm`].
pub fn run_with(
    plan: &Plan,
    custom: &dyn Custom,
    progress: &mut dyn FnMut(Time) -> bool,
) -> Result<Results, RunError> {
    run_on_clock(plan, custom, progress, None)
}

/// Runs a plan to its end with user-defined algorithms, and hands its recorded rows on while it lasts: the tables of
/// the results are empty, and memory does not grow with the length of the run.
///
/// # Errors
/// As [`run_with`]; pieces that refuse more stop the run.
pub fn run_in_pieces(
    plan: &Plan,
    custom: &dyn Custom,
    progress: &mut dyn FnMut(Time) -> bool,
    pieces: Pieces<'_>,
) -> Result<Results, RunError> {
    run_on_clock(plan, custom, progress, Some(pieces))
}

fn run_on_clock(
    plan: &Plan,
    custom: &dyn Custom,
    progress: &mut dyn FnMut(Time) -> bool,
    pieces: Option<Pieces<'_>>,
) -> Result<Results, RunError> {
    if plan.era == Era::Ns2 {
        finish(build::<Seconds>(plan, custom), plan, custom, progress, pieces)
    } else {
        finish(build::<Picoseconds>(plan, custom), plan, custom, progress, pieces)
    }
}

/// Runs a plan to its end by the given tactics, for comparing them.
///
/// # Errors
/// As [`run_with`].
pub fn run_by(plan: &Plan, custom: &dyn Custom, tactics: Tactics) -> Result<Results, RunError> {
    if plan.era == Era::Ns2 {
        finish(build_by::<Seconds>(plan, custom, tactics), plan, custom, &mut |_| true, None)
    } else {
        finish(build_by::<Picoseconds>(plan, custom, tactics), plan, custom, &mut |_| true, None)
    }
}

fn finish<C: Clock>(
    built: Result<Sim<C>, Vec<Problem>>,
    plan: &Plan,
    custom: &dyn Custom,
    progress: &mut dyn FnMut(Time) -> bool,
    mut pieces: Option<Pieces<'_>>,
) -> Result<Results, RunError> {
    let mut sim = built.map_err(RunError::Input)?;
    if let Some(pieces) = &pieces {
        sim.observer.pieces = HandedOn::from(pieces.rows);
    }
    if sim.run(&|| custom.failure(), progress, pieces.as_mut()) == RunEnd::Interrupted {
        return Err(RunError::Interrupted);
    }
    if let Some(failure) = sim.failure.take() {
        return Err(RunError::Algorithm(failure));
    }
    sim.into_ended().finish(plan, pieces.map(|pieces| pieces.take)).map_err(RunError::Fault)
}

/// A run that is built and not started, for measuring the memory of a network.
#[expect(missing_debug_implementations, reason = "it only holds memory")]
pub struct Ready {
    _sim: Box<dyn Any>,
}

/// Builds a run without running it.
///
/// # Errors
/// Bad algorithm parameters.
pub fn ready(plan: &Plan) -> Result<Ready, Vec<Problem>> {
    let sim: Box<dyn Any> = if plan.era == Era::Ns2 {
        Box::new(build::<Seconds>(plan, &RegistryOnly)?)
    } else {
        Box::new(build::<Picoseconds>(plan, &RegistryOnly)?)
    };
    Ok(Ready { _sim: sim })
}

/// Builds every algorithm and discards it: finds all bad parameters at once.
pub fn check(plan: &Plan, custom: &dyn Custom) -> Vec<Problem> {
    setup::build::find_problems(plan, custom)
}
