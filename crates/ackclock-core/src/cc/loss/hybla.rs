//! Hybla: a flow with a long round trip gets the rate of one with a reference round trip.
//!
//! The window of a satellite flow grows per unit of time as that of a flow of 25 ms, and is larger by the ratio of the
//! round trips, so that the rates are equal.
//!
//! **Source**: C. Caini, R. Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International
//! Journal of Satellite Communications and Networking 22(5), 2004, section 4, doi:10.1002/sat.799.
//!
//! **Rule** (rho = max(SRTT / RTT0, 1); per segment acknowledged)
//! ```text
//! slow start:  w += 2^rho - 1,  up to ssthresh
//! avoidance:   w += rho^2 / w
//! loss, ECN:   w <- w / 2;   timeout: ssthresh <- w / 2, w <- 1
//! rate         sqrt(1.5 / p) / RTT0 at the loss rate p, for all round trips of RTT0 and more
//! ```
//! Deviations: rho in the exponent is at most `slow_start_rho`, as in Linux (16 there), since the source relies on a
//! first ssthresh that is estimated from the path, which is not here: set `initial_ssthresh`. The initial window is the
//! flow's, not multiplied by rho. Linux takes rho from the smallest round trip; here, as in the source, SRTT.
//! It has its slow start and uses no slow start rule.
//!
//! Defaults by era: the same in all: RTT0 = 25 ms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{growth, in_use, reduce_to};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::scenario::Era;
use crate::units::Span;

/// Parameters of Hybla.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HyblaParams {
    /// Reference round trip.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rtt0: Span,
    /// Largest rho in slow start, whose growth is exponential in it.
    #[schemars(range(min = 1, max = 20))]
    pub slow_start_rho: f64,
}

impl Default for HyblaParams {
    fn default() -> Self {
        Self { rtt0: Span::from_millis(25), slow_start_rho: 16.0 }
    }
}

/// Hybla.
pub struct Hybla {
    params: HyblaParams,
    era: Era,
    rho: f64,
    slow: bool,
}

impl About<CcEnv> for Hybla {
    type Params = HyblaParams;
    const INFO: Info = Info {
        name: "hybla",
        title: "TCP Hybla",
        source: "Caini, Firrincieli, International Journal of Satellite Communications and Networking 22(5), \
                 2004, section 4, doi:10.1002/sat.799",
        status: Status::Variant,
    };

    fn new(params: HyblaParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params, era: env.era, rho: 1.0, slow: true })
    }
}

impl CongestionControl for Hybla {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.rho = (ack.srtt.seconds() / self.params.rtt0.seconds()).max(1.0);
        let units = growth(ack, self.era);
        self.slow = window.cwnd < window.ssthresh;
        if self.slow {
            let step = self.rho.min(self.params.slow_start_rho).exp2() - 1.0;
            window.cwnd = (window.cwnd + units * step).min(window.ssthresh);
        } else {
            window.cwnd += units * self.rho * self.rho / window.cwnd;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        reduce_to(window, event, self.era, used / 2.0);
        self.slow = window.cwnd < window.ssthresh;
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn phase(&self) -> &'static str {
        if self.slow { "slow-start" } else { "avoidance" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rho", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{env, mean_window};
    use crate::units::Time;

    fn hybla() -> Hybla {
        Hybla::new(HyblaParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn ack(rtt_ms: u64, acked: u32) -> Ack {
        Ack { srtt: Span::from_millis(rtt_ms), ..Ack::at(Time::ZERO, acked) }
    }

    /// rho = 1, 1, 4, 24: 2^rho - 1 = 1, 1, 15 and, held at 16, 65535; rho^2 = 1, 1, 16, 576.
    #[test]
    fn the_growth_is_that_of_as_many_short_round_trips() {
        for (rtt_ms, slow, avoidance) in
            [(10, 1.0, 1.0), (25, 1.0, 1.0), (100, 15.0, 16.0), (600, 65_535.0, 576.0)]
        {
            let mut window = Window { cwnd: 10.0, ssthresh: 1e6 };
            hybla().on_ack(&mut window, &ack(rtt_ms, 1));
            assert!((window.cwnd - 10.0 - slow).abs() < 1e-9, "{rtt_ms}: {}", window.cwnd);
            let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
            hybla().on_ack(&mut window, &ack(rtt_ms, 1000));
            assert!((window.cwnd - 1000.0 - avoidance).abs() < 1e-9, "{rtt_ms}: {}", window.cwnd);
        }
        // Slow start stops at ssthresh.
        let mut window = Window { cwnd: 10.0, ssthresh: 100.0 };
        hybla().on_ack(&mut window, &ack(600, 10));
        assert_eq!(window.cwnd, 100.0);
    }

    /// sqrt(1.5 / p) / 25 ms: 1549.2 segments/s at 1e-3, 15,492 at 1e-5.
    #[test]
    fn the_rate_does_not_depend_on_the_round_trip() {
        for (p, rate) in [(1e-3, 1549.2), (1e-5, 15_492.0)] {
            for rtt_ms in [25, 100, 500] {
                let rtt = Span::from_millis(rtt_ms);
                let start = rate * rtt.seconds();
                let got = mean_window(&mut hybla(), p, rtt, start) / rtt.seconds();
                assert!((got / rate - 1.0).abs() < 0.03, "{p}, {rtt_ms} ms: {got}");
            }
        }
    }
}
