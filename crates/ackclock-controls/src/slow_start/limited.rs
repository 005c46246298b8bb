//! Limited slow start: beyond `max_ssthresh` the window grows by at most half of that per round.
//!
//! **Source**: RFC 3742 section 2.
//! (Compared with the two lines of its rule as Tor's implementation quotes them.)
//!
//! **Rule** (segments)
//! ```text
//! cwnd <= max_ssthresh:  cwnd += 1 per acknowledgement
//! else:                  K = int(cwnd / (0.5 max_ssthresh)),  cwnd += 1 / K per acknowledgement
//! ```
//! Deviations: the RFC cuts 1 / K segments to whole bytes.
//!
//! Defaults by era: `max_ssthresh` 100 (the RFC's recommendation) in all. In the RFC era a window
//! not in use does not grow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SlowStart, SlowStartEnv};
use crate::cc::usage::may_grow;
use crate::cc::{Ack, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of limited slow start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitedParams {
    /// Window in segments up to which slow start is the standard one.
    #[schemars(range(min = 2), extend("x-unit" = "segments"))]
    pub max_ssthresh: f64,
}

impl Default for LimitedParams {
    fn default() -> Self {
        Self { max_ssthresh: 100.0 }
    }
}

/// Limited slow start.
pub struct Limited {
    max_ssthresh: f64,
    era: Era,
}

impl About<SlowStartEnv> for Limited {
    type Params = LimitedParams;
    const INFO: Info = Info {
        name: "limited",
        title: "Limited slow start",
        source: "RFC 3742 section 2 (compared as quoted by others)",
        status: Status::Specified,
    };

    fn new(params: LimitedParams, env: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { max_ssthresh: params.max_ssthresh, era: env.era })
    }
}

impl SlowStart for Limited {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if may_grow(ack, self.era) {
            let beyond = window.cwnd > self.max_ssthresh;
            let k = if beyond { (window.cwnd / (0.5 * self.max_ssthresh)).floor() } else { 1.0 };
            window.cwnd += 1.0 / k;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::test_support::env;
    use crate::registry::refusal;
    use crate::units::Time;

    #[test]
    fn growth_per_round_is_at_most_half_of_max_ssthresh() {
        // The RFC's example: with max_ssthresh 100, K = 2 for 100 < cwnd < 150, 3 below 200, ...
        let mut rule = Limited::new(LimitedParams::default(), &env(Era::Rfc)).unwrap();
        for (cwnd, step) in
            [(99.0, 1.0), (100.0, 1.0), (149.0, 0.5), (151.0, 1.0 / 3.0), (1000.0, 0.05)]
        {
            let mut window = Window { cwnd, ssthresh: f64::INFINITY };
            rule.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
            assert!((window.cwnd - cwnd - step).abs() < 1e-12, "{cwnd}: {}", window.cwnd);
        }
    }

    #[test]
    fn a_max_ssthresh_below_2_is_refused() {
        let refused =
            refusal::<SlowStartEnv, Limited>(json!({ "max_ssthresh": 1 }), &env(Era::Rfc));
        assert_eq!(refused, "max_ssthresh: 1 is out of range; expected at least 2 (segments)");
    }
}
