//! <Title>: <what it does, in a sentence>.
//!
//! What: <what it is good for, and what it assumes>.
//!
//! **Source**: <authors, "title", venue year, section, doi>.
//!
//! **Rule**
//! ```text
//! <at most ten lines of formulas>
//! ```
//! Deviations: <none, or what and why>.
//!
//! Defaults by era: <the same in all, or which>.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::usage::{in_use, may_grow};
use super::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::era::Era;

/// Parameters of {{Name}}.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Part of the window that is kept at a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub keep: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { keep: 0.5 }
    }
}

/// <What it does, in a phrase>.
#[derive(Clone, Debug)]
pub struct {{Name}} {
    keep: f64,
    era: Era,
}

impl About<CcEnv> for {{Name}} {
    type Params = Params;
    const INFO: Info = Info {
        name: "{{name}}",
        title: "<Title>",
        source: "<authors year, section, doi>",
        status: Status::Variant,
    };

    fn new(params: Params, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { keep: params.keep, era: env.era })
    }
}

impl CongestionControl for {{Name}} {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if may_grow(ack, self.era) {
            window.cwnd += f64::from(ack.acked) / window.cwnd;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        window.ssthresh = (self.keep * in_use(window, event, self.era)).max(2.0);
        let is_timeout = matches!(event.signal, Signal::Rto { .. });
        window.cwnd = if is_timeout { 1.0 } else { window.ssthresh.min(window.cwnd) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::units::Time;

    #[test]
    fn a_loss_keeps_half_of_a_full_window() {
        let mut control = {{Name}}::new(Params::default(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
        assert_eq!(window.cwnd, 10.1);
        let lost = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, 10);
        control.on_congestion(&mut window, &lost);
        assert_eq!(window, Window { cwnd: 5.05, ssthresh: 5.05 });
    }
}
