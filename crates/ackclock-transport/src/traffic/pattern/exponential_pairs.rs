//! Pairs whose sources crowd on few hosts: ranks drawn from an exponential distribution.
//!
//! **Source**: McCullough, Raghavan, Snoeren 2010, section 7: "sources are chosen from an exponential
//! distribution with exponent lambda and destinations chosen uniformly at random with replacement".
//!
//! **Rule** (n hosts, ranks r = 0 .. n - 1 dealt to hosts at random)
//! ```text
//! P(source has rank r) = exp(-lambda x(r)) / sum over all ranks
//! x(r) = r (`index`), or r / n (`fraction`)
//! destination: any other host, with replacement
//! ```
//! Deviations: none. The paper does not say over what the exponential runs. `index` agrees with its two
//! remarks: lambda = 0.0001 is nearly uniform, and 0.5 describes a network of 21 points of presence.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Pattern, PatternEnv, by_rank};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;

/// Over what an exponential distribution of sources runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ranks {
    /// The rank itself: 0, 1, 2, ..
    #[default]
    Index,
    /// The rank as a share of all hosts.
    Fraction,
}

/// Parameters of exponential pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExponentialPairsParams {
    /// Exponent lambda; 0 is uniform.
    #[schemars(range(min = 0))]
    pub exponent: f64,
    /// Over what the exponential runs.
    pub ranks: Ranks,
}

impl Default for ExponentialPairsParams {
    fn default() -> Self {
        Self { exponent: 0.01, ranks: Ranks::Index }
    }
}

/// Exponential pairs.
pub struct ExponentialPairs {
    params: ExponentialPairsParams,
}

impl About<PatternEnv> for ExponentialPairs {
    type Params = ExponentialPairsParams;
    const INFO: Info = Info {
        name: "exponential-pairs",
        title: "Pairs with exponentially skewed sources",
        source: "McCullough, Raghavan, Snoeren 2010, section 7",
        status: Status::Specified,
    };

    fn new(params: ExponentialPairsParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

impl Pattern for ExponentialPairs {
    fn draw(&self, hosts: u32, flows: Option<u32>, rng: &mut Stream) -> Vec<Demand> {
        let per_rank = match self.params.ranks {
            Ranks::Index => self.params.exponent,
            Ranks::Fraction => self.params.exponent / f64::from(hosts),
        };
        by_rank(hosts, flows.unwrap_or(hosts), |rank| (-per_rank * rank).exp(), rng)
    }
}
