//! Standard slow start.
//!
//! **Source**: RFC 5681 section 3.1, equation (2); RFC 3465 section 2.2 for a limit above 1.
//!
//! **Rule**
//! ```text
//! each acknowledgement:  cwnd += min(acked, limit)
//! ```
//! `limit = 1` is RFC 5681 (and, as each acknowledgement adds one segment, ns-2); `limit = 2` is
//! appropriate byte counting (RFC 3465), which makes up for delayed acknowledgements.
//! Deviations: none. The last step may pass ssthresh, as in RFC 5681.
//!
//! Defaults by era: limit 1, but in `linux` none. In the RFC era a window not in use does not grow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SlowStart, SlowStartEnv};
use crate::cc::usage::may_grow;
use crate::cc::{Ack, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of standard slow start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StandardParams {
    /// Most segments that one acknowledgement adds (RFC 3465: 2). Left out: 1; in era `linux` no bound.
    #[schemars(range(min = 1), extend("x-unit" = "segments"))]
    pub limit: Option<u32>,
}

/// Standard slow start.
pub struct Standard {
    limit: u32,
    era: Era,
}

impl About<SlowStartEnv> for Standard {
    type Params = StandardParams;
    const INFO: Info = Info {
        name: "standard",
        title: "Standard slow start",
        source: "RFC 5681 section 3.1; RFC 3465 section 2.2",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["slow-start"];

    fn new(params: StandardParams, env: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        let usual = if env.era == Era::Linux { u32::MAX } else { 1 };
        Ok(Self { limit: params.limit.unwrap_or(usual), era: env.era })
    }
}

impl SlowStart for Standard {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if may_grow(ack, self.era) {
            window.cwnd += f64::from(ack.acked.min(self.limit));
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

    fn after(limit: u32, acks: &[u32]) -> f64 {
        let mut rule =
            Standard::new(StandardParams { limit: Some(limit) }, &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 2.0, ssthresh: f64::INFINITY };
        for &acked in acks {
            rule.on_ack(&mut window, &Ack::at(Time::ZERO, acked));
        }
        window.cwnd
    }

    #[test]
    fn the_window_doubles_per_round_and_appropriate_byte_counting_makes_up_for_delayed_acks() {
        assert_eq!(after(1, &[1, 1]), 4.0);
        assert_eq!(after(1, &[2]), 3.0); // delayed acknowledgement, RFC 5681
        assert_eq!(after(2, &[2]), 4.0); // the same, RFC 3465 with L = 2
        assert_eq!(after(2, &[7]), 4.0); // a stretch acknowledgement counts two
    }

    #[test]
    fn an_ecn_echo_does_not_grow_the_window_and_a_limit_of_0_is_refused() {
        let mut rule = Standard::new(StandardParams::default(), &env(Era::Ns2)).unwrap();
        let mut window = Window { cwnd: 2.0, ssthresh: f64::INFINITY };
        rule.on_ack(&mut window, &Ack { ecn_echo: true, ..Ack::at(Time::ZERO, 1) });
        assert_eq!(window.cwnd, 2.0);
        let refused = refusal::<SlowStartEnv, Standard>(json!({ "limit": 0 }), &env(Era::Rfc));
        assert_eq!(refused, "limit: 0 is out of range; expected at least 1 (segments)");
    }
}
