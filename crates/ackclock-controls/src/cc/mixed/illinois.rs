//! Illinois: the queueing delay sets how much the window grows and how much a loss takes.
//!
//! Far from congestion it grows fast and backs off little, near congestion the reverse: the window is concave between
//! losses, which alone decide when it falls.
//!
//! **Source**: S. Liu, T. Basar, R. Srikant, "TCP-Illinois: A loss- and delay-based congestion control algorithm for
//! high-speed networks", Performance Evaluation 65(6-7), 2008, section 3, doi:10.1016/j.peva.2007.12.007.
//!
//! **Rule** (per round trip; da = mean queueing delay, dm = largest; d1, d2, d3 = 0.01, 0.1, 0.8 of dm)
//! ```text
//! alpha = alpha_max               da <= d1           (once da was above, only after theta round trips below)
//!       = k1 / (k2 + da)          k2 = (dm - d1) amin / (amax - amin) - d1,  k1 = amax (k2 + d1)
//! beta  = beta_min  da <= d2;   linear between;   beta_max  da >= d3
//! w < W_thresh: alpha = 1, beta = 1/2
//! ACK: w += alpha acked / w;   loss, ECN: w <- (1 - beta) w;   timeout: ssthresh as on loss, w <- 1, alpha 1, beta 1/2
//! ```
//! The base round trip and dm are of the whole flow, also over timeouts, as in Linux 6.12 (`tcp_illinois.c`).
//!
//! Deviations: alpha is 1 before the first round trip, in Linux 10; slow start makes that no difference.
//!
//! Defaults by era: the same in all, those of the source: alpha in [0.3, 10], beta in [1/8, 1/2], `W_thresh` 15, theta 5; in era `linux`
//! windows are whole segments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::rounds::{RoundRtt, RoundSamples};
use crate::cc::usage::in_use;
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Shares of the largest queueing delay.
const ETA: [f64; 3] = [0.01, 0.1, 0.8];
/// A queueing delay below the resolution of the clock, in seconds, is none.
const CLOCK: f64 = 1e-12;

/// Parameters of Illinois.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IllinoisParams {
    /// Least increase for a round trip, less than `alpha_max`.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub alpha_min: f64,
    /// Largest increase for a round trip.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub alpha_max: f64,
    /// Least part of the window that a loss takes, `beta_max` or less.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_min: f64,
    /// Largest part of the window that a loss takes.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_max: f64,
    /// Window below which it is Reno.
    #[schemars(range(min = 0), extend("x-unit" = "segments"))]
    pub window_threshold: f64,
    /// Round trips without queue before the largest increase returns.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub theta: u32,
}

impl Default for IllinoisParams {
    fn default() -> Self {
        Self {
            alpha_min: 0.3,
            alpha_max: 10.0,
            beta_min: 0.125,
            beta_max: 0.5,
            window_threshold: 15.0,
            theta: 5,
        }
    }
}

/// Illinois.
pub struct Illinois {
    params: IllinoisParams,
    era: Era,
    growth: Growth,
    samples: RoundSamples,
    rtt_max: f64,
    alpha: f64,
    beta: f64,
    /// The queue has been above the first threshold.
    above: bool,
    /// Round trips without queue since then.
    below: u32,
    delay: f64,
}

impl About<CcEnv> for Illinois {
    type Params = IllinoisParams;
    const INFO: Info = Info {
        name: "illinois",
        title: "TCP-Illinois",
        source: "Liu, Basar, Srikant, Performance Evaluation 65(6-7), 2008, section 3, \
                 doi:10.1016/j.peva.2007.12.007",
        status: Status::Specified,
    };

    fn new(params: IllinoisParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        if params.alpha_max <= params.alpha_min {
            let range = format!("more than alpha_min, {} segments", params.alpha_min);
            problems.push(Problem::out_of_range("alpha_max", params.alpha_max, &range));
        }
        if params.beta_max < params.beta_min {
            let range = format!("at least beta_min, {}", params.beta_min);
            problems.push(Problem::out_of_range("beta_max", params.beta_max, &range));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            alpha: 1.0,
            beta: params.beta_max,
            params,
            era: env.era,
            growth: Growth::of(env.era),
            samples: RoundSamples::default(),
            rtt_max: 0.0,
            above: false,
            below: 0,
            delay: 0.0,
        })
    }
}

impl Illinois {
    fn measure(&mut self, cwnd: f64, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt_max = self.rtt_max.max(rtt.seconds());
        }
        if let Some(round) = self.samples.on_ack(ack) {
            self.adapt(cwnd, round, ack.min_rtt.seconds());
        }
    }

    fn adapt(&mut self, cwnd: f64, round: RoundRtt, base: f64) {
        let IllinoisParams { alpha_min, alpha_max, beta_min, beta_max, theta, .. } = self.params;
        let largest = (self.rtt_max - base).max(0.0);
        self.delay = (round.mean - base).max(0.0);
        if cwnd < self.params.window_threshold {
            (self.alpha, self.beta) = (1.0, 0.5);
            return;
        }
        let [d1, d2, d3] = ETA.map(|eta| eta * largest);
        if self.delay <= d1 || largest < CLOCK {
            self.below += 1;
            if !self.above || self.below >= theta {
                (self.above, self.below, self.alpha) = (false, 0, alpha_max);
            }
        } else {
            (self.above, self.below) = (true, 0);
            let k2 = (largest - d1) * alpha_min / (alpha_max - alpha_min) - d1;
            let alpha = alpha_max * (k2 + d1) / (k2 + self.delay);
            self.alpha = alpha.clamp(alpha_min, alpha_max);
        }
        let share = if d3 > d2 { ((self.delay - d2) / (d3 - d2)).clamp(0.0, 1.0) } else { 0.0 };
        self.beta = beta_min + (beta_max - beta_min) * share;
    }
}

impl CongestionControl for Illinois {
    fn on_slow_start(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(window.cwnd, ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(window.cwnd, ack);
        self.growth.add(window, ack, self.alpha);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        if self.era == Era::Linux {
            self.growth.take_off(window, event, used, self.beta);
        } else {
            self.growth.reduce_to(window, event, (1.0 - self.beta) * used);
        }
        self.samples.forget();
        if let Signal::Rto { .. } = event.signal {
            (self.alpha, self.beta) = (1.0, self.params.beta_max);
            (self.above, self.below) = (false, 0);
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
        out("beta", self.beta);
        out("queueing_delay_s", self.delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{env, mean_window};
    use crate::near::near;
    use crate::units::{Span, Time};

    fn illinois() -> Illinois {
        Illinois::new(IllinoisParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn round(ms: f64) -> RoundRtt {
        let rtt = ms / 1000.0;
        RoundRtt { mean: rtt, least: rtt, most: rtt, count: 1 }
    }

    /// A path of 100 ms with a queue of 100 ms: d1 = 1 ms, k2 = 99 x 0.3 / 9.7 - 1 = 2.06186 ms, k1 = 30.6186 ms.
    #[test]
    fn increase_and_decrease_follow_the_delay() {
        let mut control = illinois();
        control.rtt_max = 0.2;
        // At 100 ms of queue alpha is its least; at d1 its largest; at 20 ms 30.6186 / 22.06186 = 1.38785.
        // Beta between 10 and 80 ms: at 20 ms 1/8 + (3/8) 10/70 = 0.178571; at 45 ms half-way.
        for (ms, alpha, beta) in [
            (200.0, 0.3, 0.5),
            (180.0, 30.618_556_701 / 82.061_855_67, 0.5),
            (145.0, 30.618_556_701 / 47.061_855_67, 0.3125),
            (120.0, 30.618_556_701 / 22.061_855_67, 0.125 + 0.375 / 7.0),
            (105.0, 30.618_556_701 / 7.061_855_67, 0.125),
        ] {
            control.adapt(100.0, round(ms), 0.1);
            near::<9>(control.alpha, alpha);
            near::<9>(control.beta, beta);
        }
    }

    #[test]
    fn the_largest_increase_returns_after_five_round_trips_without_queue() {
        let mut control = illinois();
        control.rtt_max = 0.2;
        control.adapt(100.0, round(100.5), 0.1); // never above: at once
        near::<9>(control.alpha, 10.0);
        control.adapt(100.0, round(200.0), 0.1);
        for _ in 0..4 {
            control.adapt(100.0, round(100.5), 0.1);
            near::<9>(control.alpha, 0.3);
        }
        control.adapt(100.0, round(100.5), 0.1);
        near::<9>(control.alpha, 10.0);
    }

    #[test]
    fn a_small_window_is_renos_and_a_loss_takes_beta() {
        let mut control = illinois();
        control.rtt_max = 0.2;
        control.adapt(14.0, round(100.0), 0.1);
        assert_eq!((control.alpha, control.beta), (1.0, 0.5));
        control.adapt(100.0, round(100.0), 0.1);
        let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 100));
        assert_eq!(window.cwnd, 110.0);
        let lost = Signal::FastRetransmit { lost: 1 };
        window.cwnd = 100.0;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 100));
        assert_eq!((window.cwnd, window.ssthresh), (87.5, 87.5));
    }

    /// `tcp_illinois_state` resets alpha and beta only: a queue of 1 ms is small beside the 100 ms that the flow has seen.
    #[test]
    fn a_timeout_leaves_the_largest_queueing_delay() {
        let mut control = illinois();
        control.rtt_max = 0.2;
        control.adapt(100.0, round(145.0), 0.1);
        let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
        let timeout = Signal::Rto { consecutive: 1 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, timeout, 100));
        assert_eq!((control.alpha, control.beta), (1.0, 0.5));
        control.adapt(100.0, round(101.0), 0.1);
        near::<9>(control.alpha, 10.0);
        near::<9>(control.beta, 0.125);
    }

    /// Without queue it is AIMD with a = 10 and b = 1/8: the periodic law sqrt(a (2 - b) / (2 b p)) gives
    /// sqrt(75 / p): 273.86, 866.03, 2738.6 and 8660.3 segments.
    #[test]
    fn without_queueing_the_window_at_a_loss_rate_is_that_of_aimd_10_7_8() {
        let laws = [(1e-3, 273.86), (1e-4, 866.03), (1e-5, 2738.6), (1e-6, 8660.3)];
        for (p, law) in laws {
            let mean = mean_window(&mut illinois(), p, Span::from_millis(100), law);
            assert!((mean / law - 1.0).abs() < 0.03, "{p}: {mean}, expected {law}");
        }
    }
}
