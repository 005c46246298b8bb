//! Whether a flow of FAST has come to rest: shared by the controls that act once it has.
//!
//! **Source**: none; the paper that needs it leaves it open (Rodriguez-Perez et al., section 6: "once it
//! reaches a stable throughput").
//!
//! **Rule** (means over the last `stable_rounds` rounds: r = round trip, w = window, D = base)
//! ```text
//! rest:  |w (r - D) / r - alpha| <= tolerance alpha
//!        and   |r of the later half - r of the earlier half| <= tolerance r
//! ```
//! Means, since windows are whole numbers of segments: n equal flows gain or lose a segment in the same
//! round, so that the queue of a single round is off by n.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::Ack;
use crate::cc::delay::fast::Fast;

/// Parameters of the detection of rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CalmParams {
    /// Rounds over which means are taken.
    #[schemars(range(min = 2), extend("x-unit" = "round trips"))]
    pub stable_rounds: u32,
    /// Part of alpha and of the round trip by which a flow at rest may deviate.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub stable_tolerance: f64,
}

impl Default for CalmParams {
    fn default() -> Self {
        Self { stable_rounds: 10, stable_tolerance: 0.01 }
    }
}

/// A flow at rest: its means over the last rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rest {
    /// Round trip [s].
    pub(crate) rtt: f64,
    /// Window in segments.
    pub(crate) window: f64,
}

/// Watches a flow for rest.
pub(crate) struct Calm {
    params: CalmParams,
    round: Option<u64>,
    sum: f64,
    count: u32,
    /// Mean round trip [s] and window of the last rounds.
    rounds: VecDeque<(f64, f64)>,
}

impl Calm {
    pub(crate) fn new(params: CalmParams) -> Self {
        // However many rounds are required, no more are kept than have passed.
        let rounds = VecDeque::with_capacity(params.stable_rounds.min(64) as usize + 1);
        Self { params, round: None, sum: 0.0, count: 0, rounds }
    }

    pub(crate) fn restart(&mut self) {
        (self.round, self.sum, self.count) = (None, 0.0, 0);
        self.rounds.clear();
    }

    /// Takes in one acknowledgement; returns the rest once the flow is at rest.
    pub(crate) fn watch(&mut self, fast: &Fast, cwnd: f64, ack: &Ack) -> Option<Rest> {
        let ended = *self.round.get_or_insert(ack.round) != ack.round;
        let mut stable = None;
        if ended && self.count > 0 {
            if fast.avoids() {
                self.rounds.push_back((self.sum / f64::from(self.count), cwnd));
            } else {
                self.rounds.clear();
            }
            if self.rounds.len() > self.params.stable_rounds as usize {
                self.rounds.pop_front();
            }
            (self.sum, self.count) = (0.0, 0);
            stable = self.rests(fast);
        }
        self.round = Some(ack.round);
        if let Some(rtt) = ack.rtt {
            self.sum += rtt.seconds();
            self.count += 1;
        }
        stable
    }

    fn rests(&self, fast: &Fast) -> Option<Rest> {
        let length = self.params.stable_rounds as usize;
        if self.rounds.len() < length {
            return None;
        }
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let (sum, count) = values.fold((0.0, 0_u32), |(s, n), value| (s + value, n + 1));
            sum / f64::from(count)
        };
        let rtts = || self.rounds.iter().map(|&(rtt, _)| rtt);
        let rtt = mean(&mut rtts());
        let window = mean(&mut self.rounds.iter().map(|&(_, window)| window));
        let half = length / 2;
        let drift = mean(&mut rtts().skip(length - half)) - mean(&mut rtts().take(half));
        let backlog = window * (rtt - fast.base()) / rtt;
        let bound = self.params.stable_tolerance;
        let rests = (backlog / fast.alpha - 1.0).abs() <= bound && drift.abs() <= bound * rtt;
        rests.then_some(Rest { rtt, window })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::delay::fast::FastParams;
    use crate::cc::test_support::env;
    use crate::cc::{CongestionControl, Window};
    use crate::era::Era;
    use crate::registry::About;
    use crate::units::{Span, Time};

    /// Rounds of 10 samples with D = 40 ms, alpha 50; the first round in which the flow rests.
    fn rests_in(params: CalmParams, rounds: &[(f64, f64)]) -> Option<(usize, Rest)> {
        let fast = FastParams { alpha: 50.0, ..FastParams::default() };
        let mut control = Fast::new(fast, &env(Era::Rfc)).unwrap();
        let mut calm = Calm::new(params);
        let ack = |rtt: f64, round| Ack {
            rtt: Some(Span::from_seconds(rtt)),
            round,
            ..Ack::at(Time::ZERO, 1)
        };
        let mut ignored = Window { cwnd: 2.0, ssthresh: f64::INFINITY };
        for rtt in [0.040, 0.050, 0.050, 0.050] {
            control.on_ack(&mut ignored, &ack(rtt, 0));
        }
        assert!(control.avoids());
        for (index, &(rtt, window)) in rounds.iter().enumerate() {
            for _ in 0..10 {
                if let Some(stable) = calm.watch(&control, window, &ack(rtt, index as u64)) {
                    return Some((index, stable));
                }
            }
        }
        None
    }

    #[test]
    fn a_flow_with_alpha_queued_on_average_rests_though_single_rounds_deviate() {
        let params = CalmParams { stable_rounds: 4, stable_tolerance: 0.01 };
        // 250 x 10/50 = 50 queued; with 0.2 ms more or less it is 50.8 or 49.2.
        let swinging = [0.0502, 0.0498, 0.0502, 0.0498, 0.0502, 0.0498].map(|r| (r, 250.0));
        let (index, stable) = rests_in(params.clone(), &swinging).unwrap();
        assert_eq!((index, stable.window), (4, 250.0));
        assert!((stable.rtt - 0.050).abs() < 1e-9);
        // 252 x 10/50 = 50.4 is within 1 %, 253 x 10/50 = 50.6 is not.
        assert!(rests_in(params.clone(), &[(0.050, 252.0); 6]).is_some());
        assert!(rests_in(params, &[(0.050, 253.0); 6]).is_none());
    }

    #[test]
    fn a_flow_that_passes_alpha_does_not_rest() {
        // The mean is 50 queued, but halves of the rounds differ by 1 ms in 50.
        let params = CalmParams { stable_rounds: 4, stable_tolerance: 0.01 };
        let rising = [0.0492, 0.0498, 0.0502, 0.0508, 0.0514, 0.0520].map(|r| (r, 250.0));
        assert!(rests_in(params, &rising).is_none());
    }
}
