//! Naive fire-hose: the sender fills its link and divides it evenly, whatever happens.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 4.3, Eq. (1).
//!
//! **Rule** (sender's link c, its flows S)
//! ```text
//! d_i = c / #S
//! ```
//! Deviations: none.
//!
//! Defaults by era: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DemandPolicy, PolicyEnv, Sender, even};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// The naive fire-hose has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NaiveParams {}

/// Naive fire-hose.
pub struct Naive;

impl About<PolicyEnv> for Naive {
    type Params = NaiveParams;
    const INFO: Info = Info {
        name: "naive",
        title: "Naive fire-hose",
        source: "McCullough et al. 2010 section 4.3, Eq. (1)",
        status: Status::Specified,
    };

    fn new(_params: NaiveParams, _env: &PolicyEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl DemandPolicy for Naive {
    fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
        even(sender.capacity, next);
    }

    fn is_open_loop(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_is_divided_evenly_whatever_arrives() {
        let mut next = [0.0; 4];
        let sender =
            Sender { capacity: 2.0, demand: &[9.0; 4], goodput: &[0.0, 0.1, 0.2, 0.3], paths: &[] };
        Naive.demand(&sender, &mut next);
        assert_eq!(next, [0.5; 4]);
    }
}
