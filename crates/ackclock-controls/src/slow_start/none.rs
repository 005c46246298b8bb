//! No slow start: congestion avoidance from the first acknowledgement.
//!
//! **Source**: no publication; the rule that the linear controls of Chiu & Jain (1989) have by
//! themselves.
//!
//! **Rule**
//! ```text
//! first acknowledgement below ssthresh:  ssthresh <- max(cwnd, 2)
//! cwnd < 2:                              cwnd <- min(cwnd + acked, 2)
//! ```
//! The second line is the one step that remains where ssthresh has its floor of two segments and
//! a timeout has left one. Deviations: none.
//!
//! Defaults by era: no parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SlowStart, SlowStartEnv};
use crate::cc::{Ack, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoneParams {}

/// No slow start.
pub struct NoSlowStart;

impl About<SlowStartEnv> for NoSlowStart {
    type Params = NoneParams;
    const INFO: Info = Info {
        name: "none",
        title: "No slow start",
        source: "none; congestion avoidance from the first acknowledgement",
        status: Status::Variant,
    };

    fn new(_: NoneParams, _: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl SlowStart for NoSlowStart {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.cwnd < 2.0 {
            window.cwnd = (window.cwnd + f64::from(ack.acked)).min(2.0);
        }
        window.ssthresh = window.cwnd.max(2.0).min(window.ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    #[test]
    fn the_first_acknowledgement_ends_it() {
        let mut window = Window { cwnd: 4.0, ssthresh: f64::INFINITY };
        NoSlowStart.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
        assert_eq!(window, Window { cwnd: 4.0, ssthresh: 4.0 });
        let mut window = Window { cwnd: 1.0, ssthresh: 16.0 };
        NoSlowStart.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
        assert_eq!(window, Window { cwnd: 2.0, ssthresh: 2.0 });
    }
}
