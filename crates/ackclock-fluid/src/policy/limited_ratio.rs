//! Limited ratio sender: a fixed fraction faster than flows arrive, but never beyond the own link.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 5.2, Eq. (5).
//!
//! **Rule** (sender's link c, its flows S, goodput g)
//! ```text
//! d_i / g_i = d_j / g_j,   sum d <= c,   d_i <= (1 + alpha) g_i,   at least one of these tight
//! that is  d_i = g_i min(1 + alpha, c / sum g)
//! ```
//! Deviations: where no flow of the sender gets anything, which leaves Eq. (5) without effort for
//! ever, the link is divided evenly.
//!
//! Defaults by era: alpha = 0.2, with which the paper's results are made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DemandPolicy, PolicyEnv, Sender, even};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of the limited ratio sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitedRatioParams {
    /// Fraction by which the demand exceeds the goodput.
    #[schemars(range(min = 0))]
    pub alpha: f64,
}

impl Default for LimitedRatioParams {
    fn default() -> Self {
        Self { alpha: 0.2 }
    }
}

/// Limited ratio sender.
pub struct LimitedRatio {
    alpha: f64,
}

impl About<PolicyEnv> for LimitedRatio {
    type Params = LimitedRatioParams;
    const INFO: Info = Info {
        name: "limited-ratio",
        title: "Limited ratio sender",
        source: "McCullough et al. 2010 section 5.2, Eq. (5)",
        status: Status::Specified,
    };

    fn new(params: LimitedRatioParams, _env: &PolicyEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { alpha: params.alpha })
    }
}

impl DemandPolicy for LimitedRatio {
    fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
        let sum: f64 = sender.goodput.iter().sum();
        if sum <= 0.0 {
            return even(sender.capacity, next);
        }
        let ratio = (1.0 + self.alpha).min(sender.capacity / sum);
        for (rate, got) in next.iter_mut().zip(sender.goodput) {
            *rate = ratio * got;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::refusal;

    fn sent(capacity: f64, goodput: &[f64]) -> Vec<f64> {
        let policy = LimitedRatio { alpha: 0.25 };
        let mut next = vec![0.0; goodput.len()];
        policy.demand(&Sender { capacity, demand: goodput, goodput, paths: &[] }, &mut next);
        next
    }

    #[test]
    fn with_room_on_the_link_the_ratio_holds() {
        assert_eq!(sent(100.0, &[4.0, 8.0]), [5.0, 10.0]);
    }

    #[test]
    fn without_room_the_link_is_filled_in_proportion() {
        assert_eq!(sent(13.5, &[4.0, 8.0]), [4.5, 9.0]);
    }

    #[test]
    fn an_alpha_below_0_is_refused() {
        let refused = refusal::<PolicyEnv, LimitedRatio>(json!({ "alpha": -0.1 }), &PolicyEnv);
        assert_eq!(refused, "alpha: -0.1 is out of range; expected at least 0");
    }
}
