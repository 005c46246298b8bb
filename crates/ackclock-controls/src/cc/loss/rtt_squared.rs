//! An increase in proportion to the square of the round trip: the throughput does not depend on it.
//!
//! AIMD's rate grows by a / R^2, so that flows with short round trips take most of a shared link. An increase
//! of c R^2 segments per round trip makes every flow's rate grow by c segments per second in each second.
//!
//! **Source**: S. Floyd, "Connections with Multiple Congested Gateways in Packet-Switched Networks, Part 1:
//! One-way Traffic", ACM Computer Communication Review 21(5), 1991, section 4 (constant-rate increase),
//! doi:10.1145/122431.122434. Floors: RFC 5681.
//!
//! **Rule** (w = window in segments, R = SRTT in seconds)
//! ```text
//! per round trip:    w <- w + c R^2                 c R^2 / w for each acknowledged segment
//! loss or ECN-Echo:  w <- b w,  ssthresh <- max(w, 2);   w >= 2 after a fast retransmit, w >= 1 else
//! timeout:           ssthresh as on loss, w <- 1
//! rate               sqrt(c (1 + b) / (2 (1 - b) p)) segments per second at the loss rate p
//! ```
//! Deviations: no more than one segment per acknowledged segment is added, slow start's bound.
//!
//! Defaults by era: the same in all: c = 100, TCP's increase at a round trip of 100 ms; b = 1/2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{in_use, may_grow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of the increase by the square of the round trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RttSquaredParams {
    /// Growth of the rate.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments/s^2"))]
    pub c: f64,
    /// Factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub b: f64,
}

impl Default for RttSquaredParams {
    fn default() -> Self {
        Self { c: 100.0, b: 0.5 }
    }
}

/// Increase in proportion to the square of the round trip.
pub struct RttSquared {
    params: RttSquaredParams,
    era: Era,
    /// Increase of the last round trip in segments.
    step: f64,
}

impl About<CcEnv> for RttSquared {
    type Params = RttSquaredParams;
    const INFO: Info = Info {
        name: "rtt-squared",
        title: "Increase in proportion to the square of the round trip",
        source: "Floyd, ACM Computer Communication Review 21(5), 1991, section 4, \
                 doi:10.1145/122431.122434",
        status: Status::Specified,
    };

    fn new(params: RttSquaredParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params, era: env.era, step: 0.0 })
    }
}

impl CongestionControl for RttSquared {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if may_grow(ack, self.era) {
            let units = if self.era.is_ns2() { 1.0 } else { f64::from(ack.acked) };
            self.step = self.params.c * ack.srtt.seconds().powi(2);
            window.cwnd += (self.step / window.cwnd).min(1.0) * units;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let cut = self.params.b * in_use(window, event, self.era);
        if let Signal::Rto { consecutive } = event.signal {
            if self.era.is_ns2() || consecutive <= 1 {
                window.ssthresh = cut.max(2.0);
            }
            window.cwnd = 1.0;
        } else if event.signal != Signal::Spurious {
            let fast = matches!(event.signal, Signal::FastRetransmit { .. });
            let floor = if fast && !self.era.is_ns2() { 2.0 } else { 1.0 };
            window.ssthresh = cut.max(2.0);
            window.cwnd = cut.max(floor).min(before);
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("increase", self.step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::units::{Span, Time};

    fn control() -> RttSquared {
        RttSquared::new(RttSquaredParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn ack(rtt_ms: u64, acked: u32) -> Ack {
        Ack { srtt: Span::from_millis(rtt_ms), ..Ack::at(Time::ZERO, acked) }
    }

    #[test]
    fn the_increase_is_tcps_at_100_ms_and_sixteen_times_that_at_400_ms() {
        for (rtt_ms, grown) in [(50, 0.25), (100, 1.0), (400, 16.0)] {
            let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
            control().on_ack(&mut window, &ack(rtt_ms, 1000));
            assert!((window.cwnd - 1000.0 - grown).abs() < 1e-9, "{}", window.cwnd);
        }
        // Slow start's bound.
        let mut window = Window { cwnd: 2.0, ssthresh: 2.0 };
        control().on_ack(&mut window, &ack(2000, 1));
        assert_eq!(window.cwnd, 3.0);
    }

    /// Segments per second where every thousandth segment is lost.
    fn rate(rtt_ms: u64) -> f64 {
        let mut control = control();
        let mut window = Window { cwnd: 50.0, ssthresh: 2.0 };
        let mut rounds = 0.0;
        for cycle in 0..120 {
            for _ in 0..1000 {
                rounds += if cycle >= 20 { 1.0 / window.cwnd } else { 0.0 };
                control.on_ack(&mut window, &ack(rtt_ms, 1));
            }
            let flight = window.cwnd.ceil() as u32;
            let lost = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, flight);
            control.on_congestion(&mut window, &lost);
        }
        100_000.0 / rounds / (rtt_ms as f64 / 1000.0)
    }

    /// The periodic law of Mathis et al.: a window of sqrt(1.5 a / p), so 387.3 segments/s with a = c R^2.
    #[test]
    fn the_throughput_does_not_depend_on_the_round_trip() {
        for rtt_ms in [50, 100, 200] {
            let rate = rate(rtt_ms);
            assert!((rate / 387.3 - 1.0).abs() < 0.02, "{rtt_ms} ms: {rate}");
        }
    }
}
