//! Naive ratio sender: each flow is sent a fixed fraction faster than it arrives.
//!
//! The demands of one sender may exceed its own link; that link then drops as its sharing rule says,
//! max-min in the paper.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 5.2, Eq. (4).
//!
//! **Rule** (goodput g)
//! ```text
//! d_i = (1 + alpha) g_i
//! ```
//! Deviations: none.
//!
//! Defaults by era: alpha = 0.2, with which the paper's results are made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DemandPolicy, PolicyEnv, Sender};
use crate::error::Problem;
use crate::registry::{About, Fact, Info, Status};

/// Parameters of the naive ratio sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NaiveRatioParams {
    /// Fraction by which the demand exceeds the goodput.
    #[schemars(range(min = 0))]
    pub alpha: f64,
}

impl Default for NaiveRatioParams {
    fn default() -> Self {
        Self { alpha: 0.2 }
    }
}

/// Naive ratio sender.
pub struct NaiveRatio {
    alpha: f64,
}

impl About<PolicyEnv> for NaiveRatio {
    type Params = NaiveRatioParams;
    const INFO: Info = Info {
        name: "naive-ratio",
        title: "Naive ratio sender",
        source: "McCullough et al. 2010 section 5.2, Eq. (4)",
        status: Status::Specified,
    };

    const FACTS: &'static [Fact] = &[Fact::Overdrives];

    fn new(params: NaiveRatioParams, _env: &PolicyEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { alpha: params.alpha })
    }
}

impl DemandPolicy for NaiveRatio {
    fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
        for (rate, got) in next.iter_mut().zip(sender.goodput) {
            *rate = (1.0 + self.alpha) * got;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_is_sent_a_fifth_faster_even_beyond_the_link() {
        let mut next = [0.0; 2];
        let sender = Sender { capacity: 4.0, demand: &[2.0; 2], goodput: &[1.0, 3.0], paths: &[] };
        let policy = NaiveRatio::new(NaiveRatioParams::default(), &PolicyEnv).unwrap();
        policy.demand(&sender, &mut next);
        assert!((next[0] - 1.2).abs() < 1e-15 && (next[1] - 3.6).abs() < 1e-15, "{next:?}");
    }
}
