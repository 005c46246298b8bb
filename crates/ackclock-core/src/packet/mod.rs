//! STAGE 3a: the packet engine. One packet on one link at a time, to the picosecond.
//!
//! [`run`] takes a [`Plan`](crate::compile::Plan) and returns what happened. How it goes so fast is
//! told in `process/logical_process.rs`; how a link works in `network/link.rs`.

mod network;
mod outcome;
mod process;
mod setup;
mod storage;
mod turn;

pub use outcome::observe::{DropRow, Event, LinkSample, PacketRow};
pub use outcome::queue_table::{QueueRow, queues};
pub use outcome::results::{FlowResult, LinkResult, Results};
pub use setup::custom::{Custom, Made, Place, RegistryOnly};

use crate::compile::Plan;
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
    /// The books do not balance: a fault of the engine, told with its ledger.
    Conservation(String),
}

/// Runs a plan to its end.
///
/// `progress` is called now and then with the simulated time and stops the run by returning false.
///
/// # Errors
/// Bad algorithm parameters, an algorithm that fails, or a stop by `progress`.
pub fn run(plan: &Plan, progress: &mut dyn FnMut(Time) -> bool) -> Result<Results, RunError> {
    run_with(plan, &RegistryOnly, progress)
}

/// Runs a plan to its end with algorithms of a user's own.
///
/// # Errors
/// As [`run`]; what `custom` reports as its failure is [`RunError::Algorithm`].
pub fn run_with(
    plan: &Plan,
    custom: &dyn Custom,
    progress: &mut dyn FnMut(Time) -> bool,
) -> Result<Results, RunError> {
    let mut sim = setup::build::build(plan, custom).map_err(RunError::Input)?;
    if !sim.run(custom, progress) {
        return Err(RunError::Interrupted);
    }
    if let Some(failure) = sim.failure.take() {
        return Err(RunError::Algorithm(failure));
    }
    outcome::results::finish(sim, plan).map_err(RunError::Conservation)
}

/// Lays a run out and does not run it: what every flow takes up before the first has started.
///
/// # Errors
/// Bad algorithm parameters.
pub fn ready(plan: &Plan) -> Result<impl Sized + use<>, Vec<Problem>> {
    setup::build::build(plan, &RegistryOnly)
}

/// Builds every algorithm and throws it away: finds all bad parameters at once.
pub fn check(plan: &Plan, custom: &dyn Custom) -> Vec<Problem> {
    setup::build::problems(plan, custom)
}
