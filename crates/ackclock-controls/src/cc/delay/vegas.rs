//! Vegas: holds between alpha and beta segments in the queues along its path.
//!
//! Once per round trip it compares the rate it would have without queueing with the rate it has;
//! the difference times the smallest round trip is what waits in queues because of it.
//!
//! **Source**: L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global
//! Internet", IEEE JSAC 13(8), 1995, sections 3.2 and 3.3, doi:10.1109/49.464716.
//!
//! **Rule** (per round trip; W = segments in flight, R = mean round trip of the round)
//! ```text
//! diff = (W / baseRTT - W / R) baseRTT
//! avoidance:   diff > beta: w <- max(w - 1, 2);  diff < alpha: w + 1 in the next round; else hold
//! slow start:  w doubles every other round, by at most 2 for an acknowledgement (RFC 3465);  diff > gamma: ssthresh <- 2, w <- w - w/8
//! loss, ECN:   w <- max(loss_factor w, 2), ssthresh <- w;  timeout: ssthresh <- w/2, w <- 1
//! ```
//! Deviations: the source's finer retransmission decisions (a time check on the first duplicate
//! acknowledgement) are loss detection, thus not here; ns-2's larger reduction when a
//! retransmission is lost again within a window does not occur, since there is one reduction per
//! window.
//!
//! In the ns-2 eras a flow with this control is ns-2's own agent (`tcp_ns2/vegas.rs`), whose window and
//! retransmissions are its own, whatever loss recovery the flow names.
//!
//! Defaults by era: `rfc`: alpha 2, beta 4, gamma 1 (as ns-3 and Linux); ns-2 eras: 1, 3, 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{in_use, may_grow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Most segments that an acknowledgement adds in slow start (RFC 3465 section 2.2).
const BURST: u32 = 2;

/// Parameters of Vegas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VegasParams {
    /// Fewest segments to keep queued. Left out: 2 in the RFC era, else 1.
    #[schemars(range(min = 0), extend("x-unit" = "segments"))]
    pub alpha: Option<f64>,
    /// Most segments to keep queued, alpha or more. Left out: 4 in the RFC era, else 3.
    #[schemars(extend("x-unit" = "segments"))]
    pub beta: Option<f64>,
    /// Queued segments that end slow start.
    #[schemars(range(min = 0), extend("x-unit" = "segments"))]
    pub gamma: f64,
    /// Factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub loss_factor: f64,
}

impl Default for VegasParams {
    fn default() -> Self {
        Self { alpha: None, beta: None, gamma: 1.0, loss_factor: 0.75 }
    }
}

impl VegasParams {
    /// Fewest and most segments to keep queued in an era.
    pub fn alpha_and_beta(&self, era: Era) -> (f64, f64) {
        let (alpha, beta) = if era.is_ns2() { (1.0, 3.0) } else { (2.0, 4.0) };
        (self.alpha.unwrap_or(alpha), self.beta.unwrap_or(beta))
    }
}

/// Vegas.
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    loss_factor: f64,
    era: Era,
    round: Option<u64>,
    rtt_sum: f64,
    rtt_count: u32,
    /// Growth per acknowledgement in this round.
    step: f64,
    /// Slow start grows in this round and not in the next.
    growing: bool,
    slow: bool,
    diff: f64,
}

impl About<CcEnv> for Vegas {
    type Params = VegasParams;
    const INFO: Info = Info {
        name: "vegas",
        title: "TCP Vegas",
        source: "Brakmo, Peterson, IEEE JSAC 13(8), 1995, sections 3.2 and 3.3, \
                 doi:10.1109/49.464716",
        status: Status::Specified,
    };

    fn new(params: VegasParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let (alpha, beta) = params.alpha_and_beta(env.era);
        if alpha > beta {
            let range = format!("at least alpha, {alpha} segments");
            return Err(Problem::out_of_range("beta", beta, &range).into());
        }
        Ok(Self {
            alpha,
            beta,
            gamma: params.gamma,
            loss_factor: params.loss_factor,
            era: env.era,
            round: None,
            rtt_sum: 0.0,
            rtt_count: 0,
            step: 1.0,
            growing: true,
            slow: true,
            diff: 0.0,
        })
    }
}

impl Vegas {
    /// The decision at the end of a round.
    fn decide(&mut self, window: &mut Window, ack: &Ack) {
        let mean = self.rtt_sum / f64::from(self.rtt_count);
        let flight = f64::from(ack.in_flight + ack.acked);
        self.diff = flight * (1.0 - ack.min_rtt.seconds() / mean);
        self.slow = window.cwnd < window.ssthresh;
        if self.slow && self.diff > self.gamma {
            window.ssthresh = 2.0;
            window.cwnd = (window.cwnd * 0.875).max(2.0).min(window.cwnd);
            (self.slow, self.step) = (false, 0.0);
        } else if self.slow {
            self.growing = !self.growing;
            self.step = if self.growing { 1.0 } else { 0.0 };
        } else if self.diff > self.beta {
            window.cwnd = (window.cwnd - 1.0).max(2.0).min(window.cwnd);
            self.step = 0.0;
        } else if self.diff < self.alpha {
            self.step = 1.0 / window.cwnd;
        } else {
            self.step = 0.0;
        }
    }

    fn forget_round(&mut self) {
        (self.rtt_sum, self.rtt_count) = (0.0, 0);
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt_sum += rtt.seconds();
            self.rtt_count += 1;
        }
        if *self.round.get_or_insert(ack.round) != ack.round {
            self.round = Some(ack.round);
            if self.rtt_count > 0 && self.rtt_sum > 0.0 {
                self.decide(window, ack);
            }
            self.forget_round();
        }
        if may_grow(ack, self.era) {
            let most = if self.slow { BURST } else { u32::MAX };
            window.cwnd += self.step * f64::from(ack.acked.min(most));
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let used = in_use(window, event, self.era);
        if let Signal::Rto { consecutive } = event.signal {
            if consecutive <= 1 {
                window.ssthresh = (used / 2.0).max(2.0);
            }
            window.cwnd = 1.0;
            (self.growing, self.slow, self.step) = (true, true, 1.0);
        } else {
            window.ssthresh = (self.loss_factor * used).max(2.0);
            window.cwnd = window.ssthresh.min(before);
            (self.slow, self.step) = (false, 0.0);
        }
        self.forget_round();
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn keeps_queued(&self) -> Option<f64> {
        Some(self.beta)
    }

    fn phase(&self) -> &'static str {
        if self.slow { "slow-start" } else { "avoidance" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("diff", self.diff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::units::{Span, Time};

    const CAPACITY: f64 = 1000.0; // segments per second
    const BASE: f64 = 0.1; // seconds: the pipe holds 100 segments

    /// Runs `rounds` round trips through one queue; returns the segments queued after each.
    fn loop_through_a_queue(control: &mut Vegas, window: &mut Window, rounds: u64) -> Vec<f64> {
        let mut queued = Vec::new();
        for round in 0..rounds {
            let flight = window.cwnd as u32;
            let rtt = Span::from_seconds(BASE.max(f64::from(flight) / CAPACITY));
            for _ in 0..flight {
                let ack = Ack {
                    rtt: Some(rtt),
                    min_rtt: Span::from_seconds(BASE),
                    srtt: rtt,
                    round,
                    in_flight: flight - 1,
                    ..Ack::at(Time::ZERO, 1)
                };
                control.on_ack(window, &ack);
            }
            queued.push((window.cwnd - CAPACITY * BASE).max(0.0));
        }
        queued
    }

    #[test]
    fn an_acknowledgement_of_many_segments_is_no_burst() {
        let mut control = Vegas::new(VegasParams::default(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        let timeout = Signal::Rto { consecutive: 1 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, timeout, 20));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 10.0));
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 160));
        assert_eq!(window.cwnd, 3.0);
    }

    #[test]
    fn at_rest_between_alpha_and_beta_segments_are_queued() {
        for (era, alpha, beta) in [(Era::Rfc, 2.0, 4.0), (Era::Ns2, 1.0, 3.0)] {
            for start in [2.0, 60.0, 150.0] {
                let mut control = Vegas::new(VegasParams::default(), &env(era)).unwrap();
                let mut window = Window { cwnd: start, ssthresh: f64::INFINITY };
                let queued = loop_through_a_queue(&mut control, &mut window, 400);
                let settled = &queued[380..];
                // Flight is whole.
                let slack = 1.0;
                for q in settled {
                    assert!((alpha - slack..=beta + slack).contains(q), "{era:?} {start}: {q}");
                    assert!(*q <= control.keeps_queued().unwrap() + slack, "{era:?} {start}: {q}");
                    assert_eq!(q.to_bits(), settled[0].to_bits(), "at rest");
                }
                assert!(!control.slow);
            }
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round_and_ends_with_an_eighth_less() {
        let mut control = Vegas::new(VegasParams::default(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 4.0, ssthresh: f64::INFINITY };
        let mut windows = Vec::new();
        for round in 0..4 {
            let flight = window.cwnd as u32;
            for _ in 0..flight {
                let rtt = Some(Span::from_millis(100));
                let min_rtt = Span::from_millis(100);
                control.on_ack(&mut window, &Ack { rtt, min_rtt, round, ..Ack::at(Time::ZERO, 1) });
            }
            windows.push(window.cwnd);
        }
        assert_eq!(windows, [8.0, 8.0, 16.0, 16.0]);
        // Round 4's first acknowledgement decides on round 3's samples and its own: the mean is
        // (16 x 100 + 120) / 17 = 101.18 ms, diff 16 (1 - 100/101.18) = 0.19, so it grows, to 32.
        // Round 5's decides on 120 ms: diff = 16 (1 - 100/120) = 2.67 > 1, so 32 x 7/8 = 28.
        for (round, acks) in [(4, 16), (5, 1)] {
            for _ in 0..acks {
                let ack = Ack {
                    rtt: Some(Span::from_millis(120)),
                    min_rtt: Span::from_millis(100),
                    in_flight: 15,
                    round,
                    ..Ack::at(Time::ZERO, 1)
                };
                control.on_ack(&mut window, &ack);
            }
        }
        assert_eq!(window.ssthresh, 2.0);
        assert_eq!(window.cwnd, 28.0);
        assert_eq!(control.phase(), "avoidance");
    }

    #[test]
    fn a_loss_takes_a_quarter_and_a_timeout_all_but_one() {
        let mut control = Vegas::new(VegasParams::default(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 20.0, ssthresh: 2.0 };
        let event = |signal| Congestion::at(Time::ZERO, signal, 20);
        control.on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }));
        assert_eq!((window.cwnd, window.ssthresh), (15.0, 15.0));
        window.cwnd = 20.0;
        control.on_congestion(&mut window, &event(Signal::Rto { consecutive: 1 }));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 10.0));
    }

    /// Slow start at a mean of `rtt_ms` over 100 ms with 16 in flight; the window after the decision.
    fn decide_in_slow_start(params: VegasParams, rtt_ms: f64) -> Window {
        let mut control = Vegas::new(params, &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 16.0, ssthresh: f64::INFINITY };
        for (round, acks) in [(0, 16), (1, 1)] {
            for _ in 0..acks {
                let ack = Ack {
                    rtt: Some(Span::from_seconds(rtt_ms / 1000.0)),
                    min_rtt: Span::from_millis(100),
                    in_flight: 15,
                    round,
                    ..Ack::at(Time::ZERO, 1)
                };
                control.on_ack(&mut window, &ack);
            }
        }
        window
    }

    #[test]
    fn slow_start_ends_at_gamma_and_not_at_alpha_or_beta() {
        // 16 (1 - 100/110.345) = 1.5 segments are queued; the window has doubled to 32.
        let left = decide_in_slow_start(VegasParams::default(), 110.345);
        assert_eq!((left.cwnd, left.ssthresh), (28.0, 2.0));
        // With gamma 2 and alpha 1 that is no reason to leave: the next round holds, at 32.
        let params = VegasParams { alpha: Some(1.0), gamma: 2.0, ..VegasParams::default() };
        let stayed = decide_in_slow_start(params, 110.345);
        assert_eq!((stayed.cwnd, stayed.ssthresh), (32.0, f64::INFINITY));
    }

    #[test]
    fn after_a_loss_the_window_holds_until_a_round_has_been_measured() {
        let mut control = Vegas::new(VegasParams::default(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
        assert_eq!(window.cwnd, 21.0);
        let loss = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, 20);
        control.on_congestion(&mut window, &loss);
        assert_eq!((window.cwnd, control.phase()), (15.0, "avoidance"));
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
        assert_eq!(window.cwnd, 15.0);
    }
}
