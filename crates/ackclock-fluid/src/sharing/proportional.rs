//! Proportional sharing: every flow loses the same fraction, as in a FIFO queue.
//!
//! What a shared buffer without any fairness does to fluids: who sends more gets more.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 3.1.2, on FIFO and RED; F. P. Kelly,
//! "Charging and rate control for elastic traffic", 1997, for drops in proportion to arrivals.
//!
//! **Rule** (arrival rate a, capacity c)
//! ```text
//! out_i = a_i min(1, c / sum a)
//! ```
//! Deviations: none. Weights have no effect.
//!
//! Defaults by era: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrivals, Sharing, SharingEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Proportional sharing has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProportionalParams {}

/// Proportional sharing.
pub struct Proportional;

impl About<SharingEnv> for Proportional {
    type Params = ProportionalParams;
    const INFO: Info = Info {
        name: "proportional",
        title: "Proportional drops, as in a FIFO queue",
        source: "McCullough et al. 2010 section 3.1.2; Kelly 1997",
        status: Status::Specified,
    };

    fn new(_params: ProportionalParams, _env: &SharingEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl Sharing for Proportional {
    fn share(&self, arrivals: &Arrivals<'_>, leaving: &mut [f64]) {
        let offered = arrivals.offered();
        let passing = if offered > arrivals.capacity { arrivals.capacity / offered } else { 1.0 };
        for (out, arrived) in leaving.iter_mut().zip(arrivals.rate) {
            *out = arrived * passing;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sends_more_gets_more() {
        let mut leaving = [0.0; 2];
        let rate = [10.0, 30.0];
        Proportional.share(&Arrivals { capacity: 20.0, rate: &rate, weight: &[] }, &mut leaving);
        assert_eq!(leaving, [5.0, 15.0]);
        Proportional.share(&Arrivals { capacity: 50.0, rate: &rate, weight: &[] }, &mut leaving);
        assert_eq!(leaving, rate);
    }
}
