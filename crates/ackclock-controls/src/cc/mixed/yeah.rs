//! `YeAH`: Scalable TCP while the queue is short, Reno while it is long, and drains what it has queued itself.
//!
//! **Source**: A. Baiocchi, A. P. Castellani, F. Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", `PFLDnet` 2007, section 3.
//!
//! **Rule** (per round trip: r = least sample, Q = w (r - base) / r segments queued, L = (r - base) / base)
//! ```text
//! fast mode:  Q < Q_max and L < 1/phi:   w += a acked (Scalable TCP);  w_reno kept, forgotten after zeta round trips
//! slow mode:  else:                      w += acked / w (Reno);        w_reno += 1
//!             Q > Q_max and w > w_reno:  w <- max(w - min(Q / gamma, w / 2), w_reno), ssthresh <- w
//! loss, ECN:  fewer than rho round trips of slow mode without a fast one between: w <- w - min(max(w / 8, Q), w / 2)
//!             else (competes with Reno):                                          w <- w / 2
//!             w_reno <- w_reno / 2;      timeout: ssthresh as on loss, w <- 1
//! ```
//! `w_reno` is at least 2 and begins as w / 2 in the first round trip of slow mode. Slow start has the same decision, so that
//! a queue of more than `Q_max` ends it, as in Linux and ns-3 (`tcp-yeah.cc`). Deviations: Q follows from the
//! smallest sample of the round, as in Linux (`tcp_yeah.c`), which decides only on more than two samples, as this
//! does not: a round of two is as good in a simulation, whose samples have no noise of hosts.
//!
//! Defaults by era: the same in all: `Q_max` 80, phi 8, rho 16, zeta 50, gamma 1, a 0.01; in era `linux` windows are whole
//! segments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::rounds::{RoundRtt, RoundSamples};
use crate::cc::usage::{growth, in_use};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of `YeAH`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct YeahParams {
    /// Segments that a flow may keep queued (`Q_max`).
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub q_max: f64,
    /// Inverse of the share of the base round trip that the queueing delay may have.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub phi: f64,
    /// Inverse of the part of the queue that is drained at once.
    #[schemars(range(min = 1))]
    pub gamma: f64,
    /// Round trips of slow mode that show competition with Reno.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub rho: u32,
    /// Round trips of fast mode after which Reno is forgotten.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub zeta: u32,
    /// Growth of the window for each segment acknowledged in fast mode.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub a: f64,
}

impl Default for YeahParams {
    fn default() -> Self {
        Self { q_max: 80.0, phi: 8.0, gamma: 1.0, rho: 16, zeta: 50, a: 0.01 }
    }
}

/// `YeAH`.
pub struct Yeah {
    params: YeahParams,
    era: Era,
    growth: Growth,
    samples: RoundSamples,
    slow: bool,
    /// Estimate of the window that Reno would have.
    reno: f64,
    slow_rounds: u32,
    fast_rounds: u32,
    queued: f64,
}

impl About<CcEnv> for Yeah {
    type Params = YeahParams;
    const INFO: Info = Info {
        name: "yeah",
        title: "YeAH-TCP",
        source: "Baiocchi, Castellani, Vacirca, PFLDnet 2007, section 3",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["yeah-tcp"];

    fn new(params: YeahParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            growth: Growth::of(env.era),
            samples: RoundSamples::default(),
            slow: false,
            reno: 2.0,
            slow_rounds: 0,
            fast_rounds: 0,
            queued: 0.0,
        })
    }
}

impl Yeah {
    /// A number of segments, in era `linux` a whole one.
    fn whole(&self, segments: f64) -> f64 {
        if self.era == Era::Linux { segments.floor() } else { segments }
    }

    fn decide(&mut self, window: &mut Window, round: RoundRtt, base: f64) {
        let w = window.cwnd;
        let delay = (round.least - base).max(0.0);
        self.queued = w * delay / round.least;
        let long = self.queued > self.params.q_max;
        self.slow = long || delay > base / self.params.phi;
        if !self.slow {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > self.params.zeta {
                (self.reno, self.fast_rounds) = (2.0, 0);
            }
            return;
        }
        if long && w > self.reno {
            let drained = (self.queued / self.params.gamma).min(w / 2.0);
            window.cwnd = (w - self.whole(drained)).max(self.reno);
            window.ssthresh = window.cwnd.max(2.0);
        }
        let half = self.whole(window.cwnd / 2.0).max(2.0);
        self.reno = if self.reno <= 2.0 { half } else { self.reno + 1.0 };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
    }
}

impl CongestionControl for Yeah {
    fn on_slow_start(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(round) = self.samples.on_ack(ack) {
            self.decide(window, round, ack.min_rtt.seconds());
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(round) = self.samples.on_ack(ack) {
            self.decide(window, round, ack.min_rtt.seconds());
        }
        if self.era == Era::Linux {
            let fast = window.cwnd.min(1.0 / self.params.a);
            let per = if self.slow { window.cwnd } else { fast };
            return self.growth.add_one_per(window, ack, per as u32);
        }
        let step = if self.slow { 1.0 / window.cwnd } else { self.params.a.max(1.0 / window.cwnd) };
        window.cwnd += step * growth(ack, self.era);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if event.signal == Signal::Spurious {
            return;
        }
        let used = in_use(window, event, self.era);
        let reduction = if self.slow_rounds < self.params.rho {
            (used / 8.0).max(self.queued).min(used / 2.0)
        } else {
            used / 2.0
        };
        self.reno = self.whole(self.reno / 2.0).max(2.0);
        self.fast_rounds = 0;
        self.samples.forget();
        let remaining = used - self.whole(reduction);
        self.growth.reduce_to(window, event, remaining);
    }

    fn keeps_queued(&self) -> Option<f64> {
        Some(self.params.q_max)
    }

    fn phase(&self) -> &'static str {
        if self.slow { "slow-mode" } else { "fast-mode" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued_segments", self.queued);
        out("reno_window", self.reno);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::near::near;
    use crate::units::{Span, Time};

    const LOSS: Signal = Signal::FastRetransmit { lost: 1 };

    fn yeah() -> Yeah {
        Yeah::new(YeahParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn round(ms: f64) -> RoundRtt {
        let rtt = ms / 1000.0;
        RoundRtt { mean: rtt, least: rtt, most: rtt, count: 1 }
    }

    #[test]
    fn without_queue_it_is_scalable_tcp_and_beyond_an_eighth_of_the_round_trip_reno() {
        let mut control = yeah();
        let mut window = Window { cwnd: 400.0, ssthresh: 2.0 };
        control.decide(&mut window, round(110.0), 0.1); // 10 % and 36 segments
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 400));
        near::<9>(window.cwnd, 404.0);
        window.cwnd = 400.0;
        control.decide(&mut window, round(113.0), 0.1); // 13 % and 46 segments
        assert_eq!(control.phase(), "slow-mode");
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 400));
        near::<9>(window.cwnd, 401.0);
        near::<9>(control.reno, 200.0);
    }

    /// 1000 segments at 125 ms over 100 ms: 200 queued, all drained. Of 400 ms: 750 queued, at most a half.
    #[test]
    fn a_long_queue_is_drained_down_to_what_reno_would_have() {
        for (ms, left) in [(125.0, 800.0), (400.0, 500.0)] {
            let mut control = yeah();
            let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
            control.decide(&mut window, round(ms), 0.1);
            near::<9>(window.cwnd, left);
            near::<9>(window.ssthresh, left);
        }
        let mut control = yeah();
        control.reno = 900.0;
        let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
        control.decide(&mut window, round(125.0), 0.1);
        near::<9>(window.cwnd, 900.0);
        near::<9>(control.reno, 901.0);
    }

    /// 1000 segments in slow start at 110 ms over 100 ms: 90.9 queued, more than 80. At 107 ms 65.4.
    #[test]
    fn a_queue_beyond_the_limit_ends_slow_start() {
        for (ms, cwnd, ssthresh) in
            [(110, 1000.0 - 1000.0 / 11.0, 1000.0 - 1000.0 / 11.0), (107, 1000.0, f64::INFINITY)]
        {
            let mut control = yeah();
            let mut window = Window { cwnd: 1000.0, ssthresh: f64::INFINITY };
            let ack = |round, ms| {
                let min_rtt = Span::from_millis(100);
                Ack { rtt: Some(Span::from_millis(ms)), min_rtt, round, ..Ack::at(Time::ZERO, 1) }
            };
            control.on_slow_start(&mut window, &ack(0, ms));
            control.on_slow_start(&mut window, &ack(1, ms));
            near::<9>(window.cwnd, cwnd);
            assert!((window.ssthresh - ssthresh).abs() < 1e-9 || window.ssthresh == ssthresh);
        }
    }

    #[test]
    fn a_loss_takes_the_queue_but_an_eighth_at_least_and_beside_reno_a_half() {
        for (queued, slow_rounds, left) in
            [(0.0, 0, 700.0), (200.0, 15, 600.0), (600.0, 15, 400.0), (0.0, 16, 400.0)]
        {
            let mut control = yeah();
            (control.queued, control.slow_rounds) = (queued, slow_rounds);
            let mut window = Window { cwnd: 800.0, ssthresh: 2.0 };
            control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 800));
            assert_eq!((window.cwnd, window.ssthresh), (left, left));
        }
    }

    #[test]
    fn fifty_fast_round_trips_forget_reno() {
        let mut control = yeah();
        let mut window = Window { cwnd: 400.0, ssthresh: 2.0 };
        control.decide(&mut window, round(113.0), 0.1);
        assert_eq!((control.reno, control.slow_rounds), (200.0, 1));
        for _ in 0..50 {
            control.decide(&mut window, round(100.0), 0.1);
            // One fast round trip ends the competition, fifty-one the memory of its window.
            assert_eq!((control.reno, control.slow_rounds), (200.0, 0));
        }
        control.decide(&mut window, round(100.0), 0.1);
        assert_eq!((control.reno, control.slow_rounds), (2.0, 0));
    }
}
