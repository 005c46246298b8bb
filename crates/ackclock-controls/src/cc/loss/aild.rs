//! AILD: additive increase, decrease in proportion to the loss ratio.
//!
//! A window that lost more of its segments is reduced by more. Where losses are spread over the flows as by
//! RED, the loss ratio settles at alpha / beta, whatever the window.
//!
//! **Source**: N. Venkitaraman, T. Kim, K. Lee, S. Lu, V. Bharghavan, "Design and Evaluation of Congestion
//! Control Algorithms in the Future Internet", ACM SIGMETRICS 1999 (not available), as described by
//! A. Akella, S. Seshan, S. Shenker, I. Stoica, CMU-CS-02-139 (2002), section 6. Floors: RFC 5681.
//!
//! **Rule** (w = window in segments; f = segments lost / segments in flight, of the window with the loss)
//! ```text
//! per round trip:    w <- w + alpha
//! loss:              w <- w - beta f, at least 2;  ssthresh <- w
//! ECN-Echo:          as a loss of one segment, w at least 1
//! timeout:           ssthresh <- max(w - beta, 2),  w <- 1
//! ```
//! Deviations: f is what is known when loss recovery begins; segments of the same window that turn out to be
//! lost later do not count. At a timeout the whole window counts as lost.
//!
//! Defaults by era: the same in all: alpha 1; beta 100, a loss ratio of 1 % (the source's beta is not known).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{in_use, may_grow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of AILD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AildParams {
    /// Increase per round trip.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub alpha: f64,
    /// Decrease at a loss ratio of 1.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub beta: f64,
}

impl Default for AildParams {
    fn default() -> Self {
        Self { alpha: 1.0, beta: 100.0 }
    }
}

/// Additive increase, loss-proportional decrease.
pub struct Aild {
    params: AildParams,
    era: Era,
    /// Loss ratio of the last decrease.
    ratio: f64,
}

impl About<CcEnv> for Aild {
    type Params = AildParams;
    const INFO: Info = Info {
        name: "aild",
        title: "Additive increase, loss-proportional decrease",
        source: "Venkitaraman, Kim, Lee, Lu, Bharghavan, ACM SIGMETRICS 1999, as described by Akella et \
                 al., CMU-CS-02-139 (2002), section 6",
        status: Status::Reconstructed,
    };

    fn new(params: AildParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params, era: env.era, ratio: 0.0 })
    }
}

impl CongestionControl for Aild {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if may_grow(ack, self.era) {
            let units = if self.era.is_ns2() { 1.0 } else { f64::from(ack.acked) };
            window.cwnd += self.params.alpha * units / window.cwnd;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let used = in_use(window, event, self.era);
        let (lost, floor) = match event.signal {
            Signal::FastRetransmit { lost } => {
                (f64::from(lost.max(1)), if self.era.is_ns2() { 1.0 } else { 2.0 })
            }
            Signal::EcnEcho => (1.0, 1.0),
            Signal::Spurious => return,
            Signal::Rto { consecutive } => {
                self.ratio = 1.0;
                if self.era.is_ns2() || consecutive <= 1 {
                    window.ssthresh = (used - self.params.beta).max(2.0);
                }
                window.cwnd = 1.0;
                return;
            }
        };
        self.ratio = (lost / f64::from(event.in_flight.max(1))).min(1.0);
        let cut = used - self.params.beta * self.ratio;
        window.ssthresh = cut.max(2.0);
        window.cwnd = cut.max(floor).min(before);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("loss_ratio", self.ratio);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::units::Time;

    fn aild(alpha: f64, beta: f64) -> Aild {
        Aild::new(AildParams { alpha, beta }, &env(Era::Rfc)).unwrap()
    }

    fn lose(control: &mut Aild, window: &mut Window, lost: u32, flight: u32) {
        let event = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost }, flight);
        control.on_congestion(window, &event);
    }

    #[test]
    fn the_decrease_is_in_proportion_to_what_was_lost() {
        let mut control = aild(1.0, 100.0);
        // 1 of 50 lost: 2 segments less. 5 of 50: 10. 25 of 40: 62.5 of 40, which leaves the floor.
        for (lost, flight, left) in [(1, 50, 48.0), (5, 50, 40.0), (25, 40, 2.0)] {
            let mut window = Window { cwnd: f64::from(flight), ssthresh: 2.0 };
            lose(&mut control, &mut window, lost, flight);
            assert_eq!((window.cwnd, window.ssthresh), (left, left));
        }
        let mut window = Window { cwnd: 300.0, ssthresh: 2.0 };
        let timeout = Congestion::at(Time::ZERO, Signal::Rto { consecutive: 1 }, 300);
        control.on_congestion(&mut window, &timeout);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 200.0));
    }

    #[test]
    fn the_increase_is_alpha_per_round_trip() {
        let mut control = aild(2.0, 100.0);
        let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 1000));
        assert_eq!(window.cwnd, 1002.0);
    }

    /// One segment lost in each `period`: below alpha / beta the window grows without bound, above it it
    /// falls to the floor, from any window.
    #[test]
    fn the_window_rests_only_at_the_loss_ratio_alpha_over_beta() {
        let drive = |period: u32, start: f64| {
            let mut control = aild(1.0, 100.0);
            let mut window = Window { cwnd: start, ssthresh: 2.0 };
            for segment in 1..=200 * period {
                control.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
                if segment % period == 0 {
                    let flight = window.cwnd.round() as u32;
                    lose(&mut control, &mut window, 1, flight);
                }
            }
            window.cwnd - start
        };
        // 200 losses, each after growth by 110 / w or 90 / w, cost 100 / w each: 6.7 segments at 300.
        for start in [300.0, 600.0] {
            assert!(drive(110, start) > 3.0, "at 1/110");
            assert!(drive(90, start) < -3.0, "at 1/90");
            let growth = drive(100, start);
            assert!(growth.abs() < 0.3, "at 1/100: {growth}");
        }
    }
}
