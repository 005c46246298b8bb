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

use super::{SlowStart, SlowStartEnv};
use crate::cc::{Ack, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of {{Name}}.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Growth of the window for each segment acknowledged.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub growth: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { growth: 1.0 }
    }
}

/// <What it does, in a phrase>.
#[derive(Clone, Debug)]
pub struct {{Name}} {
    growth: f64,
}

impl About<SlowStartEnv> for {{Name}} {
    type Params = Params;
    const INFO: Info = Info {
        name: "{{name}}",
        title: "<Title>",
        source: "<authors year, section, doi>",
        status: Status::Variant,
    };

    fn new(params: Params, _: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { growth: params.growth })
    }
}

impl SlowStart for {{Name}} {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.cwnd += self.growth * f64::from(ack.acked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::units::Time;

    #[test]
    fn the_window_doubles_in_a_round_trip() {
        let mut rule = {{Name}}::new(Params::default(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 4.0, ssthresh: f64::INFINITY };
        for _ in 0..4 {
            rule.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
        }
        assert_eq!(window.cwnd, 8.0);
    }
}
