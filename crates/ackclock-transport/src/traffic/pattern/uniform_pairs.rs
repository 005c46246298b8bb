//! Pairs of hosts drawn without replacement: every host sends, and receives, as often as every other.
//!
//! **Source**: McCullough, Raghavan, Snoeren, "The Role of End-to-End Congestion Control in Networks with
//! Fairness-Enforcing Routers", 2010, section 6.1.2.
//!
//! **Rule**
//! ```text
//! sources and destinations are drawn without replacement, each from a set of all hosts that is filled
//! again when it is exhausted; a source is not its own destination
//! ```
//! Deviations: none. The paper does not say what happens when the only destination left is the source
//! itself; here a flow that would return to its source swaps destinations with another of the same round.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Pattern, PatternEnv, shuffle};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;

/// Parameters of uniform pairs: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UniformPairsParams {}

/// Uniform pairs without replacement.
pub struct UniformPairs;

impl About<PatternEnv> for UniformPairs {
    type Params = UniformPairsParams;
    const INFO: Info = Info {
        name: "uniform-pairs",
        title: "Uniform pairs without replacement",
        source: "McCullough, Raghavan, Snoeren 2010, section 6.1.2",
        status: Status::Specified,
    };

    fn new(_: UniformPairsParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl Pattern for UniformPairs {
    fn draw(&self, hosts: u32, flows: Option<u32>, rng: &mut Stream) -> Vec<Demand> {
        let count = flows.unwrap_or(hosts) as usize;
        let mut demands = Vec::with_capacity(count);
        while demands.len() < count {
            let from = shuffle(hosts, rng);
            let mut to = shuffle(hosts, rng);
            for i in 0..from.len() {
                if from[i] == to[i] {
                    // Neither can be reflexive afterwards: both lists name every host once.
                    let other = super::another(i as u32, hosts, rng) as usize;
                    to.swap(i, other);
                }
            }
            let round = from.into_iter().zip(to).map(|(from, to)| Demand { from, to, weight: 1.0 });
            demands.extend(round.take(count - demands.len()));
        }
        demands
    }
}
