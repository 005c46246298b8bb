//! CUBIC: the window follows a cubic function of the time since the last reduction.
//!
//! It is flat around the window at which the last loss occurred, steep far from it, and never
//! slower than an AIMD control with the same mean window as Reno.
//!
//! **Source**: RFC 9438, sections 4.2 to 4.8, 4.10 and 5.8.
//!
//! **Rule** (segments, seconds; t since the avoidance stage began at `cwnd_epoch`, R = SRTT)
//! ```text
//! K = cbrt((W_max - cwnd_epoch) / C),  W(t) = C (t - K)^3 + W_max
//! target = W(t + R) within [cwnd, 1.5 cwnd]
//! W_est += alpha acked / cwnd;  alpha = 3 (1 - beta) / (1 + beta), and 1 once W_est >= cwnd_prior
//! W(t) < W_est:  cwnd <- max(cwnd, W_est);   else cwnd += acked (target - cwnd) / cwnd
//! loss, ECN:     W_max <- cwnd, or (1 + beta)/2 cwnd if cwnd < W_max (fast convergence)
//!                ssthresh <- max(beta FlightSize, 2), cwnd <- the same, with ECN at least 1
//! timeout:       ssthresh as on loss, cwnd <- 1
//! after a timeout, or slow start left without loss: K = 0, W_max = cwnd_epoch
//! ```
//! Deviations: the increment counts acknowledged segments where section 4.4 counts
//! acknowledgements, so that delayed acknowledgements do not slow it; one acknowledgement adds at
//! most what leads to `target`. Section 4.9 (spurious events) is the sender's. The clock t stops
//! while the application limits the sender (section 5.8), and a new stage begins where slow
//! start has moved the window in between (restart after idle).
//!
//! Defaults by era: the same in all; outside the RFC era a decrease starts from cwnd. Era `linux` has the kernel's
//! arithmetic in place of the above (`cubic/linux.rs`).

mod linux;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::in_use;
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::Time;

/// Parameters of CUBIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CubicParams {
    /// Aggressiveness C (RFC 9438 section 5.1: 0.4).
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments/s^3"))]
    pub c: f64,
    /// Factor kept after a loss (RFC 9438 section 4.6: 0.7).
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta: f64,
    /// Factor kept after an ECN mark (RFC 8511 section 3.1: 0.85). Left out: `beta`.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_ecn: Option<f64>,
    /// Fast convergence (RFC 9438 section 4.7).
    pub fast_convergence: bool,
    /// Reno-friendly region (RFC 9438 section 4.3).
    pub reno_friendly: bool,
}

impl Default for CubicParams {
    fn default() -> Self {
        Self { c: 0.4, beta: 0.7, beta_ecn: None, fast_convergence: true, reno_friendly: true }
    }
}

/// An avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Beginning, moved on by the time in which the application was the limit.
    began: Time,
    /// Time of the last acknowledgement.
    last_ack: Time,
    k: f64,
    w_est: f64,
    friendly: bool,
    /// The window as this control last left it; another value means that someone else moved it.
    last_window: f64,
}

/// CUBIC.
pub struct Cubic {
    params: CubicParams,
    era: Era,
    /// Unknown before the first loss and after a timeout.
    w_max: Option<f64>,
    /// The plateau that fast convergence compares with; survives a timeout.
    last_max: f64,
    cwnd_prior: f64,
    stage: Option<Stage>,
    linux: Option<Box<linux::Arithmetic>>,
}

impl About<CcEnv> for Cubic {
    type Params = CubicParams;
    const INFO: Info = Info {
        name: "cubic",
        title: "CUBIC",
        source: "RFC 9438, sections 4.2 to 4.8, 4.10, 5.8",
        status: Status::Specified,
    };

    fn new(params: CubicParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let linux = (env.era == Era::Linux).then(|| Box::new(linux::Arithmetic::new(&params)));
        Ok(Self {
            params,
            era: env.era,
            w_max: None,
            last_max: 0.0,
            cwnd_prior: 0.0,
            stage: None,
            linux,
        })
    }
}

impl Cubic {
    fn begin(&mut self, cwnd: f64, now: Time) -> Stage {
        // cwnd may have passed W_max in slow start; the curve then starts at its plateau.
        let w_max = self.w_max.map_or(cwnd, |w| w.max(cwnd));
        self.w_max = Some(w_max);
        let k = ((w_max - cwnd) / self.params.c).cbrt();
        Stage { began: now, last_ack: now, k, w_est: cwnd, friendly: false, last_window: cwnd }
    }

    fn curve(&self, stage: &Stage, t: f64) -> f64 {
        self.params.c * (t - stage.k).powi(3) + self.w_max.unwrap_or(0.0)
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.ecn_echo {
            return;
        }
        if let Some(linux) = &mut self.linux {
            linux.measure(ack);
            if !ack.app_limited {
                linux.grow(window, ack);
            }
            return;
        }
        let mut stage = match self.stage {
            Some(stage) if stage.last_window.to_bits() == window.cwnd.to_bits() => stage,
            _ => self.begin(window.cwnd, ack.now),
        };
        let pause = ack.now.since(stage.last_ack);
        stage.last_ack = ack.now;
        if ack.app_limited {
            stage.began += pause;
            self.stage = Some(stage);
            return;
        }
        let acked = f64::from(ack.acked);
        let cwnd = window.cwnd;
        let beta = self.params.beta;
        let alpha =
            if stage.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        stage.w_est += alpha * acked / cwnd;
        let t = ack.now.since(stage.began).seconds();
        stage.friendly = self.params.reno_friendly && self.curve(&stage, t) < stage.w_est;
        window.cwnd = if stage.friendly {
            stage.w_est.max(cwnd)
        } else {
            let target = self.curve(&stage, t + ack.srtt.seconds()).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) * (acked / cwnd).min(1.0)
        };
        stage.last_window = window.cwnd;
        self.stage = Some(stage);
    }

    fn on_slow_start(&mut self, _window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            linux.measure(ack);
        }
    }

    fn on_sent(&mut self, now: Time, in_flight: u32) {
        if let Some(linux) = &mut self.linux {
            linux.on_sent(now, in_flight);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if let Some(linux) = &mut self.linux {
            linux.reduce(window, event);
            return;
        }
        let before = window.cwnd;
        let beta = match event.signal {
            Signal::EcnEcho => self.params.beta_ecn.unwrap_or(self.params.beta),
            _ => self.params.beta,
        };
        let keep = beta * in_use(window, event, self.era);
        let timeout = match event.signal {
            Signal::Rto { consecutive } => {
                if consecutive <= 1 {
                    window.ssthresh = keep.max(2.0);
                }
                window.cwnd = 1.0;
                true
            }
            Signal::FastRetransmit { .. } | Signal::EcnEcho => {
                let floor = if event.signal == Signal::EcnEcho { 1.0 } else { 2.0 };
                window.ssthresh = keep.max(2.0);
                window.cwnd = keep.max(floor).min(before);
                false
            }
            Signal::Spurious => return,
        };
        self.cwnd_prior = before;
        let converge = self.params.fast_convergence && before < self.last_max;
        self.last_max =
            if converge { before * f64::midpoint(1.0, self.params.beta) } else { before };
        self.w_max = if timeout { None } else { Some(self.last_max) };
        self.stage = None;
    }

    fn phase(&self) -> &'static str {
        if let Some(linux) = &self.linux {
            return linux.phase();
        }
        match (&self.stage, self.w_max) {
            (Some(stage), _) if stage.friendly => "reno-friendly",
            (Some(stage), Some(_)) if stage.last_ack.since(stage.began).seconds() < stage.k => {
                "concave"
            }
            (Some(_), Some(_)) => "convex",
            _ => "avoidance",
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(linux) = &self.linux {
            let (w_max, k, w_est) = linux.state();
            out("w_max", w_max);
            out("k", k);
            out("w_est", w_est);
            return;
        }
        out("w_max", self.w_max.unwrap_or(0.0));
        out("k", self.stage.map_or(0.0, |s| s.k));
        out("w_est", self.stage.map_or(0.0, |s| s.w_est));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{env, mean_window};
    use crate::near::near;
    use crate::units::Span;

    const LOSS: Signal = Signal::FastRetransmit { lost: 1 };

    fn cubic(change: impl Fn(&mut CubicParams)) -> Cubic {
        let mut params = CubicParams::default();
        change(&mut params);
        Cubic::new(params, &env(Era::Rfc)).unwrap()
    }

    fn ms(t: u64) -> Time {
        Time::ZERO + Span::from_millis(t)
    }

    fn lose(control: &mut Cubic, window: &mut Window, now: Time, signal: Signal) {
        let flight = window.cwnd as u32;
        control.on_congestion(window, &Congestion::at(now, signal, flight));
    }

    #[test]
    fn k_and_the_curve_after_a_loss_at_100_segments() {
        let mut control = cubic(|p| p.reno_friendly = false);
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        lose(&mut control, &mut window, ms(0), LOSS);
        assert_eq!((window.cwnd, window.ssthresh), (70.0, 70.0));
        control.on_ack(&mut window, &Ack { srtt: Span::from_millis(0), ..Ack::at(ms(0), 1) });
        // K = cbrt(30 / 0.4) = cbrt(75) = 4.21716 s; W(0) = 70, so nothing yet.
        near::<5>(control.stage.unwrap().k, 4.217_16);
        near::<5>(window.cwnd, 70.0);
        assert_eq!(control.phase(), "concave");
        // At 1 s with R = 0.1 s: W(1.1) = 0.4 (1.1 - 4.21716)^3 + 100
        //   = 100 - 0.4 x 30.28864 = 87.88454; one acknowledgement adds 17.88454 / 70 = 0.25549.
        control.on_ack(&mut window, &Ack { srtt: Span::from_millis(100), ..Ack::at(ms(1000), 1) });
        near::<5>(window.cwnd, 70.255_49);
        // At 6 s, W(6.1) = 100 + 0.4 x 1.88284^3 = 102.66994, beyond the plateau and less than
        // 1.5 x 70.25549 = 105.38324; a whole window of acknowledgements reaches it.
        control.on_ack(&mut window, &Ack { srtt: Span::from_millis(100), ..Ack::at(ms(6000), 71) });
        near::<5>(window.cwnd, 102.669_94);
        assert_eq!(control.phase(), "convex");
        // At 12 s, W(12) = 100 + 0.4 x 7.78284^3 = 288.57; clamped to 1.5 cwnd.
        control.on_ack(&mut window, &Ack::at(ms(12_000), 103));
        near::<5>(window.cwnd, 154.004_91);
    }

    #[test]
    fn in_the_reno_friendly_region_growth_is_9_17ths_per_round_until_the_prior_window() {
        // alpha = 3 x 0.3 / 1.7 = 9/17 = 0.52941. Short round trips: the cubic curve is slow.
        let mut control = cubic(|_| ());
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        lose(&mut control, &mut window, ms(0), LOSS);
        assert_eq!(window.cwnd, 7.0);
        control.on_ack(&mut window, &Ack::at(ms(0), 7));
        near::<5>(window.cwnd, 7.529_41);
        assert_eq!(control.phase(), "reno-friendly");
        // Seven more: 7.52941 + 0.52941 x 7 / 7.52941 = 8.02160.
        control.on_ack(&mut window, &Ack::at(ms(1), 7));
        near::<5>(window.cwnd, 8.021_60);
        // From cwnd_prior = 10 on it is Reno's one segment per window.
        while control.stage.unwrap().w_est < 10.0 {
            control.on_ack(&mut window, &Ack::at(ms(2), 1));
        }
        let before = window.cwnd;
        control.on_ack(&mut window, &Ack::at(ms(3), 1));
        near::<5>(window.cwnd - before, 1.0 / before);
    }

    #[test]
    fn an_ecn_echo_may_take_the_window_to_one_segment_and_a_loss_to_two() {
        for (signal, cwnd) in [(Signal::EcnEcho, 1.75), (LOSS, 2.0)] {
            let mut window = Window { cwnd: 2.5, ssthresh: 9.0 };
            lose(&mut cubic(|_| ()), &mut window, ms(0), signal);
            assert_eq!((window.cwnd, window.ssthresh), (cwnd, 2.0)); // 0.7 x 2.5
        }
    }

    #[test]
    fn fast_convergence_remembers_85_percent_when_the_window_shrinks_between_losses() {
        let mut control = cubic(|_| ());
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        lose(&mut control, &mut window, ms(0), LOSS);
        window.cwnd = 80.0;
        lose(&mut control, &mut window, ms(1), LOSS);
        near::<5>(control.w_max.unwrap(), 68.0); // 80 x 1.7 / 2
        near::<5>(window.cwnd, 56.0);
    }

    #[test]
    fn after_a_timeout_the_curve_starts_at_its_plateau() {
        let mut control = cubic(|p| p.reno_friendly = false);
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        lose(&mut control, &mut window, ms(0), Signal::Rto { consecutive: 1 });
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 70.0));
        window.cwnd = 70.0; // slow start is over
        control.on_ack(&mut window, &Ack::at(ms(500), 1));
        near::<5>(control.stage.unwrap().k, 0.0);
        // One second later W = 70 + 0.4 x 1^3.
        control.on_ack(&mut window, &Ack::at(ms(1500), 70));
        near::<5>(window.cwnd, 70.4);
    }

    #[test]
    fn a_window_moved_by_slow_start_begins_a_new_stage_towards_the_same_plateau() {
        let mut control = cubic(|p| p.reno_friendly = false);
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        lose(&mut control, &mut window, ms(0), LOSS);
        control.on_ack(&mut window, &Ack::at(ms(0), 1));
        window.cwnd = 68.0; // restart after idle, slow start up to here
        control.on_ack(&mut window, &Ack::at(ms(60_000), 68));
        near::<5>(control.stage.unwrap().k, 4.308_87); // cbrt(32 / 0.4) = cbrt(80)
        near::<5>(window.cwnd, 68.0);
    }

    #[test]
    fn the_clock_stops_while_the_application_is_the_limit() {
        let mut control = cubic(|p| p.reno_friendly = false);
        let mut window = Window { cwnd: 70.0, ssthresh: 70.0 };
        control.on_ack(&mut window, &Ack::at(ms(0), 1));
        control.on_ack(&mut window, &Ack { app_limited: true, ..Ack::at(ms(9000), 1) });
        assert_eq!(window.cwnd, 70.0);
        control.on_ack(&mut window, &Ack::at(ms(10_000), 70)); // t = 1 s
        near::<5>(window.cwnd, 70.4);
    }

    /// RFC 9438 section 5.1, equation (6): (C (3 + beta) / (4 (1 - beta)))^(1/4) R^(3/4) / p^(3/4); of its table for
    /// R = 0.1 s 187, 1054 and 5926 segments at 1e-4 to 1e-6. It supposes each loss at `W_max`. The curve is flat there, so
    /// that a periodic loss comes a little beyond it, and each stage begins from more: 11 % in all. At 1e-3 it is
    /// Reno-friendly, sqrt(3 / 2 p) = 38.7, and more where it grows by a whole segment beyond the last loss.
    #[test]
    fn the_window_at_a_loss_rate_is_that_of_the_response_function() {
        let rtt = Span::from_millis(100);
        for (p, expected) in [(1e-4, 187.0), (1e-5, 1054.0), (1e-6, 5926.0)] {
            let got = mean_window(&mut cubic(|c| c.fast_convergence = false), p, rtt, expected);
            assert!(got > expected && got < 1.13 * expected, "{p}: {got}, expected {expected}");
        }
        let got = mean_window(&mut cubic(|_| ()), 1e-3, rtt, 38.7);
        assert!(got > 0.95 * 38.7 && got < 1.2 * 38.7, "{got}");
    }
}
