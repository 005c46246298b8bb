//! No control: the window is a bound that a network which gives credit does not reach.
//!
//! What: for flows that only their receiver holds back (`credits`).
//!
//! **Source**: no publication. Ultra Ethernet's reference simulator has no window where the receiver's control is alone
//! (ultraethernet/uet-htsim, commit 40ccb05, `-receiver_cc_only`); Homa has none.
//!
//! **Rule**
//! ```text
//! W: what the path holds in eight round trips at line rate; no loss and no mark reduces it
//! leaves: at line rate at most, as a card takes a packet when it has sent the one before
//! ```
//! Deviations: the sources have no bound; this one is for loss of all feedback.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Time};

/// Round trips.
const BOUND: f64 = 8.0;

/// Parameters of no control.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoneParams {
    /// The window. Left out: what the path holds in eight round trips at line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576), extend("x-unit" = "segments"))]
    pub window: Option<u32>,
}

/// No control.
pub struct NoControl {
    window: f64,
    line_rate: BitRate,
}

impl About<CcEnv> for NoControl {
    type Params = NoneParams;
    const INFO: Info = Info {
        name: "none",
        title: "No control beside credits",
        source: "none; ultraethernet/uet-htsim, commit 40ccb05, where the receiver's control is alone",
        status: Status::Variant,
    };

    fn new(params: NoneParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let bytes = BOUND * env.line_rate.bps() / 8.0 * env.round_trip.seconds();
        let packets = (bytes / f64::from(env.wire_size.max(1))).ceil().clamp(1.0, 1_048_576.0);
        let window = params.window.map_or(packets, f64::from);
        Ok(Self { window, line_rate: env.line_rate })
    }
}

impl CongestionControl for NoControl {
    fn initial_window(&self) -> Option<f64> {
        Some(self.window)
    }
    fn on_ack(&mut self, window: &mut Window, _ack: &Ack) {
        window.cwnd = self.window;
    }
    fn on_congestion(&mut self, window: &mut Window, _event: &Congestion) {
        window.cwnd = window.cwnd.min(self.window);
        window.ssthresh = window.cwnd.max(2.0);
    }
    fn on_recovery_end(&mut self, window: &mut Window, _now: Time) {
        window.cwnd = self.window;
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        Some(self.line_rate)
    }
    fn uses_slow_start(&self) -> bool {
        false
    }
    fn needs_credit(&self) -> bool {
        true
    }
    fn phase(&self) -> &'static str {
        "bounded"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Signal;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::units::Span;

    #[test]
    fn nothing_moves_the_window() {
        let mut env = env(Era::Rfc);
        (env.line_rate, env.round_trip) = (BitRate(1_000_000_000), Span::from_micros(120));
        env.wire_size = 1500;
        let mut control = NoControl::new(NoneParams::default(), &env).unwrap();
        // 15,000 B are ten packets; eight round trips of them.
        let mut window = Window { cwnd: control.initial_window().unwrap(), ssthresh: 3.0 };
        assert_eq!(window.cwnd, 80.0);
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 5));
        control.on_congestion(
            &mut window,
            &Congestion::at(Time::ZERO, Signal::Rto { consecutive: 1 }, 80),
        );
        assert_eq!(window.cwnd, 80.0);
    }
}
