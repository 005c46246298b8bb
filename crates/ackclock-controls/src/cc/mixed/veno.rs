//! Veno: Reno that takes a loss without a queue for a random one and answers it less.
//!
//! **Source**: C. P. Fu, S. C. Liew, "TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks",
//! IEEE JSAC 21(2), 2003, section III, doi:10.1109/JSAC.2002.807336.
//!
//! **Rule** (per round trip, N = w (R - baseRTT) / R segments queued, R = mean round trip)
//! ```text
//! N < beta:   w += acked / w         else: w += acked / w in every other round trip
//! loss, ECN:  N < beta: w <- 4/5 w   else: w <- w / 2;      timeout: ssthresh <- w / 2, w <- 1
//! ```
//! Deviations: in the source every other acknowledgement of new data adds in the second case; here, as in Linux, half as
//! much for each, which is the same per round trip. baseRTT is the smallest sample of the flow, in the source of the
//! time since the last loss.
//!
//! Defaults by era: the same in all: beta = 3 segments. Era `linux` counts in whole segments, as Linux 6.12
//! (`tcp_veno.c`), which takes N from the smallest sample since the last acknowledgement; here the mean of the round trip.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::rounds::RoundSamples;
use crate::cc::usage::{growth, in_use};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of Veno.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VenoParams {
    /// Queued segments from which the path counts as congested.
    #[schemars(range(min = 0), extend("x-unit" = "segments"))]
    pub beta: f64,
    /// Factor kept after a loss on a path that is not congested.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub random_loss_factor: f64,
}

impl Default for VenoParams {
    fn default() -> Self {
        Self { beta: 3.0, random_loss_factor: 0.8 }
    }
}

/// Veno.
pub struct Veno {
    params: VenoParams,
    era: Era,
    growth: Growth,
    samples: RoundSamples,
    /// Segments queued in the last round; unknown before the first and after a timeout.
    queued: Option<f64>,
}

impl About<CcEnv> for Veno {
    type Params = VenoParams;
    const INFO: Info = Info {
        name: "veno",
        title: "TCP Veno",
        source: "Fu, Liew, IEEE JSAC 21(2), 2003, section III, doi:10.1109/JSAC.2002.807336",
        status: Status::Specified,
    };

    fn new(params: VenoParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            growth: Growth::of(env.era),
            samples: RoundSamples::default(),
            queued: None,
        })
    }
}

impl Veno {
    fn measure(&mut self, cwnd: f64, ack: &Ack) {
        if let Some(round) = self.samples.on_ack(ack) {
            self.queued = Some(cwnd * (1.0 - ack.min_rtt.seconds() / round.mean));
        }
    }

    /// Without a measurement the path counts as congested for losses and as free for growth: Reno.
    fn is_congested(&self, unknown: bool) -> bool {
        self.queued.map_or(unknown, |queued| queued >= self.params.beta)
    }
}

impl CongestionControl for Veno {
    fn on_slow_start(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(window.cwnd, ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(window.cwnd, ack);
        let step = if self.is_congested(false) { 0.5 } else { 1.0 };
        if self.era == Era::Linux {
            return self.growth.add(window, ack, step);
        }
        window.cwnd += step * growth(ack, self.era) / window.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        let timeout = matches!(event.signal, Signal::Rto { .. });
        let congested = timeout || self.is_congested(true);
        let factor = if congested { 0.5 } else { self.params.random_loss_factor };
        self.growth.reduce_to(window, event, factor * used);
        self.samples.forget();
        if timeout {
            self.queued = None;
        }
    }

    fn phase(&self) -> &'static str {
        if self.is_congested(false) { "congestive" } else { "avoidance" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued_segments", self.queued.unwrap_or(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{env, mean_window};
    use crate::units::{Span, Time};

    fn veno() -> Veno {
        Veno::new(VenoParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn ack(round: u64, rtt_ms: u64, acked: u32) -> Ack {
        let rtt = Some(Span::from_millis(rtt_ms));
        Ack { rtt, min_rtt: Span::from_millis(100), round, ..Ack::at(Time::ZERO, acked) }
    }

    /// 100 segments at 102 ms: 100 x 2/102 = 1.96 < 3 queued. At 125 ms 20.
    #[test]
    fn a_queue_halves_the_growth_and_makes_a_loss_halve_the_window() {
        let lost = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, 100);
        for (rtt_ms, grown, left) in [(102, 1.0, 80.0), (125, 0.5, 50.0)] {
            let mut control = veno();
            let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
            control.on_ack(&mut window, &ack(0, rtt_ms, 0));
            control.on_ack(&mut window, &ack(1, rtt_ms, 100));
            assert!((window.cwnd - 100.0 - grown).abs() < 1e-9, "{}", window.cwnd);
            window.cwnd = 100.0;
            control.on_congestion(&mut window, &lost);
            assert_eq!((window.cwnd, window.ssthresh), (left, left));
        }
        // Nothing measured: Reno.
        let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
        veno().on_congestion(&mut window, &lost);
        assert_eq!(window.cwnd, 50.0);
        let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
        let timeout = Congestion::at(Time::ZERO, Signal::Rto { consecutive: 1 }, 100);
        veno().on_congestion(&mut window, &timeout);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 50.0));
    }

    /// Without a queue it is AIMD with a = 1, b = 1/5: sqrt((2 - b) / (2 b p)) = sqrt(4.5 / p) segments.
    #[test]
    fn random_losses_leave_three_times_the_square_of_renos_window() {
        for (p, law) in [(1e-3, 67.08), (1e-4, 212.1), (1e-5, 670.8)] {
            let mean = mean_window(&mut veno(), p, Span::from_millis(100), law);
            assert!((mean / law - 1.0).abs() < 0.03, "{p}: {mean}, expected {law}");
        }
    }
}
