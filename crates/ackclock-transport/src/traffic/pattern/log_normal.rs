//! A traffic matrix whose demands are log-normal.
//!
//! **Source**: A. Nucci, A. Sridharan, N. Taft, "The problem of synthetically generating IP traffic matrices:
//! initial recommendations", ACM CCR 35(3), 2005, doi:10.1145/1070873.1070876.
//!
//! **Rule**
//! ```text
//! every ordered pair of different hosts (or `flows` of them, drawn without replacement) has a flow of
//! weight exp(mu + sigma Z), Z normal; mu = -sigma^2 / 2, so that the mean weight is 1
//! ```
//! Deviations: which pair gets which demand is left to chance; the source also ranks pairs by what their
//! links can carry. Its fitted sigma was not to be had.
//!
//! Defaults by era: the same in all. sigma = 1.74 is that of Abilene's mean matrix of 2004-03-10.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Pattern, PatternEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;

/// Parameters of a log-normal matrix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogNormalParams {
    /// Standard deviation of the natural logarithm of a demand.
    #[schemars(range(min = 0, max = 20))]
    pub sigma: f64,
}

impl Default for LogNormalParams {
    fn default() -> Self {
        Self { sigma: 1.74 }
    }
}

/// A log-normal matrix.
pub struct LogNormal {
    params: LogNormalParams,
}

impl About<PatternEnv> for LogNormal {
    type Params = LogNormalParams;
    const INFO: Info = Info {
        name: "log-normal",
        title: "Log-normal traffic matrix",
        source: "Nucci, Sridharan, Taft, ACM CCR 35(3), 2005, doi:10.1145/1070873.1070876",
        status: Status::Reconstructed,
    };

    fn new(params: LogNormalParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

impl Pattern for LogNormal {
    fn draw(&self, hosts: u32, flows: Option<u32>, rng: &mut Stream) -> Vec<Demand> {
        let sigma = self.params.sigma;
        let all = u64::from(hosts) * (u64::from(hosts) - 1);
        let count = flows.map_or(all, |f| u64::from(f).min(all));
        // Of the pairs that remain, each is taken with the chance that fills the number wanted.
        let mut demands = Vec::with_capacity(count as usize);
        for pair in 0..all {
            if count < all && rng.below(all - pair) >= count - demands.len() as u64 {
                continue;
            }
            let from = (pair / u64::from(hosts - 1)) as u32;
            let offset = (pair % u64::from(hosts - 1)) as u32;
            let to = offset + u32::from(offset >= from);
            let weight = (sigma * normal(rng) - sigma * sigma / 2.0).exp();
            demands.push(Demand { from, to, weight });
        }
        demands
    }
}

/// A standard normal number (Box and Muller).
fn normal(rng: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - rng.uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.uniform()).cos()
}
