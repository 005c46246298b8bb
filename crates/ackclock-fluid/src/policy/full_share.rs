//! Full-share sender: the link is full, and what is not goodput is divided evenly.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 5.1, Eq. (3).
//!
//! **Rule** (sender's link c, its flows S, goodput g)
//! ```text
//! slack = c - sum g,   d_i = g_i + slack / #S
//! ```
//! Deviations: none.
//!
//! Defaults by era: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DemandPolicy, PolicyEnv, Sender};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// The full-share sender has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FullShareParams {}

/// Full-share sender.
pub struct FullShare;

impl About<PolicyEnv> for FullShare {
    type Params = FullShareParams;
    const INFO: Info = Info {
        name: "full-share",
        title: "Full-share sender",
        source: "McCullough et al. 2010 section 5.1, Eq. (3)",
        status: Status::Specified,
    };

    fn new(_params: FullShareParams, _env: &PolicyEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl DemandPolicy for FullShare {
    fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
        // Rounding may put the sum of goodputs a hair above the link.
        let slack = (sender.capacity - sender.goodput.iter().sum::<f64>()).max(0.0);
        let share = slack / next.len() as f64;
        for (rate, got) in next.iter_mut().zip(sender.goodput) {
            *rate = got + share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slack_is_divided_evenly() {
        let mut next = [0.0; 2];
        let sender = Sender { capacity: 12.0, demand: &[6.0; 2], goodput: &[1.0, 3.0], paths: &[] };
        FullShare.demand(&sender, &mut next);
        assert_eq!(next, [5.0, 7.0]);
    }
}
