//! Full-balanced sender: the link is full, and every flow loses the same fraction.
//!
//! Effort goes from flows that lose much to flows that lose little.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 5.1, Eq. (2).
//!
//! **Rule** (sender's link c, its flows S, goodput g)
//! ```text
//! d_i / g_i = d_j / g_j for all i, j in S,   sum d = c
//! ```
//! Deviations: where no flow of the sender gets anything, which leaves Eq. (2) open, the link is
//! divided evenly.
//!
//! Defaults by era: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DemandPolicy, PolicyEnv, Sender, in_proportion};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// The full-balanced sender has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FullBalancedParams {}

/// Full-balanced sender.
pub struct FullBalanced;

impl About<PolicyEnv> for FullBalanced {
    type Params = FullBalancedParams;
    const INFO: Info = Info {
        name: "full-balanced",
        title: "Full-balanced sender",
        source: "McCullough et al. 2010 section 5.1, Eq. (2)",
        status: Status::Specified,
    };

    fn new(_params: FullBalancedParams, _env: &PolicyEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl DemandPolicy for FullBalanced {
    fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
        in_proportion(sender.goodput, sender.capacity, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_follows_goodput() {
        let mut next = [0.0; 2];
        let sender = Sender { capacity: 12.0, demand: &[6.0; 2], goodput: &[1.0, 3.0], paths: &[] };
        FullBalanced.demand(&sender, &mut next);
        assert_eq!(next, [3.0, 9.0]);
    }

    #[test]
    fn equal_goodputs_and_single_flows_are_sent_as_by_a_naive_sender() {
        let mut next = [0.0; 2];
        let sender = Sender { capacity: 12.0, demand: &[6.0; 2], goodput: &[2.0; 2], paths: &[] };
        FullBalanced.demand(&sender, &mut next);
        assert_eq!(next, [6.0, 6.0]);
        let mut alone = [0.0];
        FullBalanced.demand(
            &Sender { capacity: 12.0, demand: &[6.0], goodput: &[0.01], paths: &[] },
            &mut alone,
        );
        assert_eq!(alone, [12.0]);
    }
}
