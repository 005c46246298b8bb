//! Pairs whose sources crowd on few hosts: ranks drawn from a Zipf distribution.
//!
//! **Source**: McCullough, Raghavan, Snoeren 2010, section 7: "sampling sources from a Zipfian distribution
//! produces qualitatively similar results".
//!
//! **Rule** (n hosts, ranks r = 1 .. n dealt to hosts at random)
//! ```text
//! P(source has rank r) = r^-s / sum over all ranks
//! destination: any other host, with replacement
//! ```
//! Deviations: none. The paper states no s.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Pattern, PatternEnv, by_rank};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;

/// Parameters of Zipf pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ZipfPairsParams {
    /// Exponent s; 0 is uniform.
    #[schemars(range(min = 0))]
    pub exponent: f64,
}

impl Default for ZipfPairsParams {
    fn default() -> Self {
        Self { exponent: 1.0 }
    }
}

/// Zipf pairs.
pub struct ZipfPairs {
    params: ZipfPairsParams,
}

impl About<PatternEnv> for ZipfPairs {
    type Params = ZipfPairsParams;
    const INFO: Info = Info {
        name: "zipf-pairs",
        title: "Pairs with sources by Zipf's law",
        source: "McCullough, Raghavan, Snoeren 2010, section 7",
        status: Status::Specified,
    };

    fn new(params: ZipfPairsParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

impl Pattern for ZipfPairs {
    fn draw(&self, hosts: u32, flows: Option<u32>, rng: &mut Stream) -> Vec<Demand> {
        let s = self.params.exponent;
        by_rank(hosts, flows.unwrap_or(hosts), |rank| (rank + 1.0).powf(-s), rng)
    }
}
