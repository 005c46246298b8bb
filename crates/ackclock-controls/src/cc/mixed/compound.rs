//! Compound TCP: Reno plus a second window that grows while there is no queue.
//!
//! **Source**: K. Tan, J. Song, Q. Zhang, M. Sridharan, "A Compound TCP Approach for High-speed and Long
//! Distance Networks", IEEE INFOCOM 2006, section III, doi:10.1109/INFOCOM.2006.188;
//! draft-sridharan-tcpm-ctcp-02, section 3.
//! Compared line by line with sections 3, 5 and 6 of the draft; the paper's text could not be had.
//!
//! **Rule** (w = c + d is the window; once per round, diff = w (1 - baseRTT / R), R = mean round trip)
//! ```text
//! every acknowledgement:  c += acked / w
//! diff < gamma:  d += max(alpha w^k - 1, 0), from w >= low_window      else: d <- max(d - zeta diff, 0)
//! loss, ECN:     d <- max((1 - beta) w - c/2, 0),  c <- c/2;   timeout: c <- 1, d <- 0, baseRTT anew
//! ```
//! Deviations: the low window is the paper's 41 segments; the draft has 38. gamma is fixed, as in the paper; the draft's tuning of
//! gamma is left out. R is the mean of the round; the draft has the smoothed round trip. Formula (3) of the draft has d^k where
//! its text and its response function have w^k, and (5) has (1 - beta) d where its text has what is here. Linux's
//! `tcp_compound.c`, as in ns-2.35, takes the least round trip and the window of the round before, has no low window, and on a loss
//! keeps d and cuts c.
//!
//! Defaults by era: the same in all: alpha 1/8, beta 1/2, k 3/4, gamma 30, zeta 1, low window 41.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{in_use, may_grow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::Span;

/// Parameters of Compound TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompoundParams {
    /// Factor of the growth of the delay window.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub alpha: f64,
    /// Part of the window that a loss takes.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta: f64,
    /// Exponent of the growth of the delay window.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub k: f64,
    /// Queued segments from which the delay window shrinks.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub gamma: f64,
    /// How much of the queue the delay window gives back.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub zeta: f64,
    /// Least window in segments for which there is a delay window.
    #[schemars(range(min = 0), extend("x-unit" = "segments"))]
    pub low_window: f64,
}

impl Default for CompoundParams {
    fn default() -> Self {
        Self { alpha: 0.125, beta: 0.5, k: 0.75, gamma: 30.0, zeta: 1.0, low_window: 41.0 }
    }
}

/// Compound TCP.
pub struct Compound {
    params: CompoundParams,
    era: Era,
    /// The delay window.
    delay: f64,
    /// The least sample since the last timeout, where there has been one.
    base: Option<Span>,
    round: Option<u64>,
    rtt_sum: f64,
    rtt_count: u32,
    diff: f64,
}

impl About<CcEnv> for Compound {
    type Params = CompoundParams;
    const INFO: Info = Info {
        name: "compound",
        title: "Compound TCP",
        source: "Tan, Song, Zhang, Sridharan, IEEE INFOCOM 2006, section III, \
                 doi:10.1109/INFOCOM.2006.188",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["ctcp"];

    fn new(params: CompoundParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            delay: 0.0,
            base: None,
            round: None,
            rtt_sum: 0.0,
            rtt_count: 0,
            diff: 0.0,
        })
    }
}

impl Compound {
    /// A sample may be the least since the last timeout.
    fn measure(&mut self, rtt: Option<Span>) {
        if let (Some(base), Some(rtt)) = (&mut self.base, rtt) {
            *base = (*base).min(rtt);
        }
    }

    /// The decision at the end of a round; moves the delay window and thus the whole.
    fn decide(&mut self, window: &mut Window, ack: &Ack, grows: bool) {
        let mean = self.rtt_sum / f64::from(self.rtt_count);
        let w = window.cwnd;
        self.diff = w * (1.0 - self.base.unwrap_or(ack.min_rtt).seconds() / mean);
        let before = self.delay;
        if self.diff >= self.params.gamma {
            self.delay = (self.delay - self.params.zeta * self.diff).max(0.0);
        } else if grows && w >= self.params.low_window {
            self.delay += (self.params.alpha * w.powf(self.params.k) - 1.0).max(0.0);
        }
        window.cwnd = (w + self.delay - before).max(1.0);
    }
}

impl CongestionControl for Compound {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // Someone else (a restart after idle) may have moved the window below its delay part.
        self.delay = self.delay.min(window.cwnd - 1.0).max(0.0);
        let grows = may_grow(ack, self.era);
        self.measure(ack.rtt);
        if let Some(rtt) = ack.rtt {
            self.rtt_sum += rtt.seconds();
            self.rtt_count += 1;
        }
        if *self.round.get_or_insert(ack.round) != ack.round {
            self.round = Some(ack.round);
            if self.rtt_count > 0 && self.rtt_sum > 0.0 {
                self.decide(window, ack, grows);
            }
            (self.rtt_sum, self.rtt_count) = (0.0, 0);
        }
        if grows {
            let units = if self.era.is_ns2() { 1.0 } else { f64::from(ack.acked) };
            window.cwnd += units / window.cwnd;
        }
    }

    fn on_slow_start(&mut self, _window: &mut Window, ack: &Ack) {
        self.measure(ack.rtt);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let used = in_use(window, event, self.era);
        if let Signal::Rto { consecutive } = event.signal {
            if self.era.is_ns2() || consecutive <= 1 {
                window.ssthresh = (used / 2.0).max(2.0);
            }
            window.cwnd = 1.0;
            self.delay = 0.0;
            self.base = Some(Span::MAX);
        } else {
            let reno = (used - self.delay).max(0.0) / 2.0;
            self.delay = ((1.0 - self.params.beta) * used - reno).max(0.0);
            window.ssthresh = (reno + self.delay).max(2.0);
            window.cwnd = window.ssthresh.min(before);
            self.delay = self.delay.min(window.cwnd - 1.0).max(0.0);
        }
        (self.rtt_sum, self.rtt_count) = (0.0, 0);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("delay_window", self.delay);
        out("diff", self.diff);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::test_support::env;
    use crate::near::near;
    use crate::registry::refusal;
    use crate::units::Time;

    fn compound() -> Compound {
        Compound::new(CompoundParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn ack(round: u64, rtt_ms: u64) -> Ack {
        let rtt = Some(Span::from_millis(rtt_ms));
        Ack { rtt, min_rtt: Span::from_millis(100), round, ..Ack::at(Time::ZERO, 0) }
    }

    #[test]
    fn the_delay_window_grows_by_the_three_quarter_power_and_gives_the_queue_back() {
        let mut control = compound();
        let mut window = Window { cwnd: 256.0, ssthresh: 2.0 };
        control.on_ack(&mut window, &ack(0, 100));
        near::<9>(window.cwnd, 256.0);
        // 256^(3/4) = 64; 64/8 - 1 = 7.
        control.on_ack(&mut window, &ack(1, 100));
        near::<9>(window.cwnd, 263.0);
        near::<9>(control.delay, 7.0);
        // Then Reno's part: 263 acknowledged of 263.
        control.on_ack(&mut window, &Ack { acked: 263, ..ack(1, 100) });
        near::<9>(window.cwnd, 264.0);
        // The samples of round 1 and the first of round 2 are 110 ms on average:
        // diff = 264 (1 - 100/110) = 24 < 30; still growth, by 264^0.75 / 8 - 1.
        (control.rtt_sum, control.rtt_count) = (0.22, 2);
        control.on_ack(&mut window, &ack(2, 110));
        near::<9>(control.diff, 24.0);
        near::<9>(control.delay, 7.0 + 264f64.sqrt() * 264f64.sqrt().sqrt() / 8.0 - 1.0);
        // 125 ms: diff = w/5 > 30: the delay window loses it, and cannot be negative.
        (control.rtt_sum, control.rtt_count) = (0.25, 2);
        control.on_ack(&mut window, &ack(3, 125));
        near::<9>(control.delay, 0.0);
        near::<9>(window.cwnd, 264.0 - 7.0);
    }

    #[test]
    fn a_small_window_is_renos_alone() {
        let mut control = compound();
        let mut window = Window { cwnd: 40.0, ssthresh: 2.0 };
        for round in 0..3 {
            control.on_ack(&mut window, &ack(round, 100));
        }
        near::<9>(window.cwnd, 40.0);
    }

    #[test]
    fn a_loss_halves_the_sum_and_a_timeout_leaves_one() {
        let mut control = compound();
        control.delay = 60.0;
        let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
        let event = |signal, flight| Congestion::at(Time::ZERO, signal, flight);
        // c = 40: d = 50 - 20 = 30, c = 20.
        control.on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }, 100));
        near::<9>(window.cwnd, 50.0);
        near::<9>(control.delay, 30.0);
        control.on_congestion(&mut window, &event(Signal::Rto { consecutive: 1 }, 50));
        assert_eq!((window.cwnd, control.delay), (1.0, 0.0));
    }

    /// Section 3 of the draft: the path became 50 ms longer and there was a timeout. 200 segments at a round trip of 150 ms are
    /// 200 (1 - 100 / 150) = 67 queued by the old base, and none by the new.
    #[test]
    fn a_timeout_makes_the_base_round_trip_be_measured_anew() {
        let mut control = compound();
        let mut window = Window { cwnd: 200.0, ssthresh: 2.0 };
        for round in 0..2 {
            control.on_ack(&mut window, &ack(round, 150));
        }
        near::<9>(control.diff, 200.0 / 3.0);
        let timeout = Congestion::at(Time::ZERO, Signal::Rto { consecutive: 1 }, 200);
        control.on_congestion(&mut window, &timeout);
        control.on_slow_start(&mut window, &ack(2, 150));
        window.cwnd = 200.0;
        // A round trip of 160 ms: 200 (1 - 150 / 160) = 12.5.
        control.on_ack(&mut window, &ack(3, 160));
        near::<9>(control.diff, 12.5);
    }

    #[test]
    fn values_out_of_range_are_named() {
        let message = refusal::<CcEnv, Compound>(json!({ "k": 1 }), &env(Era::Rfc));
        assert_eq!(message, "k: 1 is out of range; expected at least 0 and less than 1");
    }
}
