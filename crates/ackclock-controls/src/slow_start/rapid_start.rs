//! Rapid Start: triples the window each round trip while no queue builds, and takes back what was too much.
//!
//! **Source**: draft-kazuho-ccwg-rapid-start-02, section 3.
//!
//! **Rule** (beta: the part of the window that the control keeps; floor: least sample of the round trip)
//! ```text
//! first flight: paced at cwnd / SRTT
//! per ACK:      floor <= min(min_rtt + 4 ms, 1.1 min_rtt):  cwnd += 2 acked,   else cwnd += acked
//! first congestion:  s = beta + 2/3 (1 - beta),  cwnd <- s cwnd
//! per ACK in that recovery:  cwnd -= 2/3 (1 - beta) delivered + s lost,  at least beta / 3 of the window before
//!                    and beta of the initial window
//! end of that recovery: ssthresh <- cwnd; from then on standard slow start
//! ```
//! Deviations: the control remembers what it remembers of the window at the loss: of CUBIC, `W_max` is the window before
//! it. A timeout ends Rapid Start.
//!
//! Defaults by era: the same in all. In the RFC era a window not in use does not grow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SlowStart, SlowStartEnv};
use crate::cc::usage::may_grow;
use crate::cc::{Ack, Congestion, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::Span;

/// The part of what a reduction takes that is taken at once or by acknowledgements (K).
const SHARE: f64 = 2.0 / 3.0;
/// The largest growth factor: what was before is at most so many times what the path holds.
const GROWTH: f64 = 3.0;

/// Parameters of Rapid Start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RapidStartParams {
    /// A queue builds when the least sample of a round trip is longer than the smallest by this.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub queue_delay: Span,
    /// Or by this part of the smallest.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub queue_part: f64,
}

impl Default for RapidStartParams {
    fn default() -> Self {
        Self { queue_delay: Span::from_millis(4), queue_part: 0.1 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Before the first congestion.
    Growing,
    /// In the recovery that follows: what an ACK takes for each segment delivered and lost, and what stays at least.
    Converging { delivered: f64, lost: f64, least: f64 },
    /// Standard slow start.
    Over,
}

/// Rapid Start.
pub struct RapidStart {
    params: RapidStartParams,
    era: Era,
    stage: Stage,
    /// The window when the first ACK came.
    initial: f64,
    first_round: Option<u64>,
    round: u64,
    /// Least sample of the present round trip, else of the one before.
    floor: Option<Span>,
    has_sample: bool,
}

impl About<SlowStartEnv> for RapidStart {
    type Params = RapidStartParams;
    const INFO: Info = Info {
        name: "rapid-start",
        title: "Rapid Start",
        source: "draft-kazuho-ccwg-rapid-start-02, section 3",
        status: Status::Specified,
    };

    fn new(params: RapidStartParams, env: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            stage: Stage::Growing,
            initial: 0.0,
            first_round: None,
            round: 0,
            floor: None,
            has_sample: false,
        })
    }
}

impl RapidStart {
    fn measure(&mut self, ack: &Ack) {
        if self.first_round.is_none() {
            (self.first_round, self.round) = (Some(ack.round), ack.round);
        }
        if ack.round != self.round {
            (self.round, self.has_sample) = (ack.round, false);
        }
        if let Some(rtt) = ack.rtt {
            let before = self.floor.filter(|_| self.has_sample);
            self.floor = Some(before.map_or(rtt, |least| least.min(rtt)));
            self.has_sample = true;
        }
    }

    /// Whether a queue builds up.
    fn is_queueing(&self, min_rtt: Span) -> bool {
        let min = min_rtt.seconds();
        let most =
            (min + self.params.queue_delay.seconds()).min(min * (1.0 + self.params.queue_part));
        self.floor.is_some_and(|floor| floor.seconds() > most)
    }
}

impl SlowStart for RapidStart {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.initial == 0.0 {
            self.initial = window.cwnd;
        }
        self.measure(ack);
        if may_grow(ack, self.era) {
            let is_fast = self.stage == Stage::Growing && !self.is_queueing(ack.min_rtt);
            window.cwnd += f64::from(ack.acked) * if is_fast { GROWTH - 1.0 } else { 1.0 };
        }
    }

    fn acts_beyond_growth(&self) -> bool {
        true
    }

    fn pacing_rate(&self, window: &Window, srtt: Span) -> Option<f64> {
        let is_first = self.first_round.is_none_or(|first| self.round == first);
        let paces = self.stage == Stage::Growing && is_first && srtt > Span::ZERO;
        paces.then(|| window.cwnd / srtt.seconds())
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion, before: &Window) {
        let is_timeout = matches!(event.signal, Signal::Rto { .. });
        if is_timeout || self.stage != Stage::Growing || before.ssthresh.is_finite() {
            self.stage = Stage::Over;
            return;
        }
        let beta = (window.cwnd / before.cwnd).clamp(0.0, 1.0);
        let delivered = SHARE * (1.0 - beta);
        let lost = beta + delivered;
        let least = (before.cwnd * beta / GROWTH).max(self.initial * beta).max(2.0);
        self.stage = Stage::Converging { delivered, lost, least };
        window.cwnd = (before.cwnd * lost).max(least.min(before.cwnd));
        window.ssthresh = window.cwnd.max(2.0);
    }

    fn on_repair(&mut self, window: &mut Window, acked: u32, gone: u32) {
        if let Stage::Converging { delivered, lost, least } = self.stage {
            let reduction = delivered * f64::from(acked) + lost * f64::from(gone);
            window.cwnd = (window.cwnd - reduction).max(least.min(window.cwnd));
            window.ssthresh = window.cwnd.max(2.0);
        }
    }

    fn on_recovery_end(&mut self, _window: &mut Window) {
        if self.stage != Stage::Growing {
            self.stage = Stage::Over;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::units::Time;

    fn rule() -> RapidStart {
        RapidStart::new(RapidStartParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn ack(round: u64, rtt_ms: u64, min_ms: u64, acked: u32) -> Ack {
        Ack {
            rtt: Some(Span::from_millis(rtt_ms)),
            min_rtt: Span::from_millis(min_ms),
            round,
            ..Ack::at(Time::ZERO, acked)
        }
    }

    /// At 20 ms the bound is 22 ms (a tenth), at 100 ms 104 ms.
    #[test]
    fn the_window_triples_until_the_least_sample_of_a_round_trip_rises() {
        for (min, at_bound) in [(20, 22), (100, 104)] {
            let mut rule = rule();
            let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
            rule.on_ack(&mut window, &ack(1, min, min, 10));
            assert_eq!(window.cwnd, 30.0);
            rule.on_ack(&mut window, &ack(2, at_bound, min, 10));
            assert_eq!(window.cwnd, 50.0);
            // One sample at the bound is the least of this round trip, whatever follows.
            rule.on_ack(&mut window, &ack(2, at_bound + 50, min, 20));
            assert_eq!(window.cwnd, 90.0);
            rule.on_ack(&mut window, &ack(3, at_bound + 1, min, 90));
            assert_eq!(window.cwnd, 180.0);
        }
    }

    /// The draft's design: whatever the share of lost segments, a window of three times what the path holds ends at
    /// beta of that. It holds 100; 300 left, of which 200 are lost: 5/6 x 300 - 100 / 3 - 5/6 x 200 = 50.
    /// With CUBIC's 0.7: 0.9 x 300 - 0.2 x 100 - 0.9 x 200 = 70. With twice: 5/6 x 200 - 100 / 3 - 5/6 x 100 = 50.
    #[test]
    fn after_the_first_recovery_the_window_is_what_the_control_keeps_of_a_full_path() {
        for (cwnd, beta, lost) in [(300.0, 0.5, 200), (300.0, 0.7, 200), (200.0, 0.5, 100)] {
            let mut rule = rule();
            rule.initial = 10.0;
            let before = Window { cwnd, ssthresh: f64::INFINITY };
            let mut window = Window { cwnd: cwnd * beta, ssthresh: cwnd * beta };
            let signal = Signal::FastRetransmit { lost: 1 };
            let event = Congestion::at(Time::ZERO, signal, cwnd as u32);
            rule.on_congestion(&mut window, &event, &before);
            assert!((window.cwnd - cwnd * (beta + 2.0 / 3.0 * (1.0 - beta))).abs() < 1e-9);
            for _ in 0..10 {
                rule.on_repair(&mut window, 10, lost / 10);
            }
            rule.on_recovery_end(&mut window);
            assert!((window.cwnd - 100.0 * beta).abs() < 1e-9, "{}", window.cwnd);
            assert_eq!(window.ssthresh, window.cwnd);
            // Later growth is that of standard slow start.
            window = Window { cwnd: 10.0, ssthresh: 50.0 };
            rule.on_ack(&mut window, &ack(9, 20, 20, 10));
            assert_eq!(window.cwnd, 20.0);
        }
    }

    #[test]
    fn the_window_keeps_a_third_of_beta_and_the_first_flight_alone_is_paced() {
        let mut rule = rule();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        let srtt = Span::from_millis(100);
        assert_eq!(rule.pacing_rate(&window, srtt), Some(100.0));
        assert_eq!(rule.pacing_rate(&window, Span::ZERO), None);
        rule.on_ack(&mut window, &ack(1, 100, 100, 10));
        rule.on_ack(&mut window, &ack(2, 100, 100, 10));
        assert_eq!(rule.pacing_rate(&window, srtt), None);
        let before = Window { cwnd: 300.0, ssthresh: f64::INFINITY };
        window = Window { cwnd: 150.0, ssthresh: 150.0 };
        let event = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, 300);
        rule.on_congestion(&mut window, &event, &before);
        rule.on_repair(&mut window, 0, 290);
        assert_eq!(window.cwnd, 50.0);
    }

    /// Of 20 segments, after an initial window of 10, all are lost: half of 10 is more than half of 20 / 3.
    #[test]
    fn the_window_keeps_beta_of_the_initial_window() {
        let mut rule = rule();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        rule.on_ack(&mut window, &ack(1, 100, 100, 5));
        let before = window;
        assert_eq!(before.cwnd, 20.0);
        window = Window { cwnd: 10.0, ssthresh: 10.0 };
        let event = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, 20);
        rule.on_congestion(&mut window, &event, &before);
        rule.on_repair(&mut window, 0, 20);
        assert_eq!(window.cwnd, 5.0);
    }
}
