//! STAGE: the fluid engine. Rates instead of packets, in the steady state and over time.
//!
//! A [`FluidNet`] is capacities and routes as flat arrays. [`max_min`] fills it up to the global
//! max-min allocation; [`clamp`] does the same as in the paper's Fig. 5, slowly. What routers
//! that each look at their own link make of given demands is found by [`brick_wall`] where all are
//! max-min, and by [`sweep`] for any mixture of [sharing rules](crate::sharing).
//! [`fixed_point`] lets [senders](crate::policy) answer until nothing changes, and [`account`] counts
//! what was dropped in vain. [`simulate`] runs finite flows that arrive and leave.
//!
//! **Source**: J. McCullough, B. Raghavan, A. C. Snoeren, "The Role of End-to-End Congestion Control
//! in Networks with Fairness-Enforcing Routers", 2010; D. Bertsekas, R. Gallager, "Data Networks",
//! 2nd ed., section 6.5.2.

mod account;
mod brick_wall;
mod clamp;
mod dynamics;
mod fill;
mod fixed_point;
pub mod igp;
mod net;
mod outcome;
mod routing;
mod sweep;

#[cfg(test)]
mod exact;
#[cfg(test)]
mod paper_examples;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod random_nets;

pub use account::{Accounts, account};
pub use brick_wall::brick_wall;
pub use clamp::clamp;
pub use dynamics::{
    Demand, DrawOptions, DynamicsError, Effort, Report, Rule, Sizes, Transfers, Window, draw,
    simulate,
};
pub use fill::max_min;
pub use fixed_point::{FixedPoint, Options, fixed_point};
pub use net::FluidNet;
pub use outcome::{Outcome, Policies, Routers};
pub use routing::{Map, Routes, shortest_paths};
pub use sweep::{SweepOptions, sweep};

use crate::error::Problem;

/// Why the fluid engine gave no result.
#[derive(Clone, Debug, PartialEq)]
pub enum FluidError {
    /// The input is wrong; every problem.
    Input(Vec<Problem>),
    /// Links whose rates still changed when the limit of sweeps was reached.
    NotConverged {
        /// These links.
        links: Vec<u32>,
        /// The last change, relative to the capacity.
        change: f64,
        /// Sweeps done.
        sweeps: usize,
    },
}

/// The value of a list that may be empty, which stands for `default` everywhere.
#[inline]
pub(crate) fn or(values: &[f64], i: usize, default: f64) -> f64 {
    if values.is_empty() { default } else { values[i] }
}
