//! Careful Resume: jumps to half of a window that an earlier connection had, and retreats if that was too much.
//!
//! **Source**: RFC 9959 (draft-ietf-tsvwg-careful-resume), section 3.
//!
//! **Rule** (P: `PipeSize`; segments sent after the jump are unvalidated until the flight is full)
//! ```text
//! Reconnaissance: slow start; the initial window acknowledged without congestion, min_rtt > saved_rtt / 2, and the
//!                 sender limited by its window:  P <- flight,  cwnd <- min(max_jump, saved_cwnd / 2)
//! Unvalidated:    paced at cwnd / SRTT, no growth;  over with a full flight, an unvalidated segment acknowledged, or
//!                 after a round trip:  flight < IW or <= P:  cwnd <- max(P, IW), normal;  else cwnd <- flight
//! Validating:     slow start;  normal when the last unvalidated segment is acknowledged
//! loss or ECN in either:  Safe Retreat:  cwnd <- P / 2, no growth;  when the last unvalidated segment is
//!                 acknowledged:  ssthresh <- beta P, normal
//! P:              + 1 for each unvalidated segment acknowledged
//! timeout, or congestion in Reconnaissance:  normal
//! normal:         slow start
//! ```
//! Deviations: a transport here has no memory, so `saved_cwnd` and `saved_rtt` are given; without them there
//! is nothing to resume. P counts unvalidated segments only, as in the RFC's example (29 in flight and 34 validated are
//! 63), not the acknowledgements of what was in flight before the jump.
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
use crate::units::{Span, Time};

/// Parameters of Careful Resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CarefulResumeParams {
    /// Window of the earlier connection; left out: nothing is resumed.
    #[schemars(range(min = 4), extend("x-unit" = "segments"))]
    pub saved_cwnd: Option<f64>,
    /// Smallest round trip of the earlier connection.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub saved_rtt: Option<Span>,
    /// Largest window to jump to; left out: no bound but half of `saved_cwnd`.
    #[schemars(range(min = 2), extend("x-unit" = "segments"))]
    pub max_jump: Option<f64>,
    /// Part of what the path was seen to hold that ssthresh keeps after a retreat.
    #[schemars(range(min = 0.5, max = 1))]
    pub beta: f64,
    /// Most segments that one acknowledgement adds in slow start.
    #[schemars(range(min = 1), extend("x-unit" = "segments"))]
    pub limit: u32,
}

impl Default for CarefulResumeParams {
    fn default() -> Self {
        Self { saved_cwnd: None, saved_rtt: None, max_jump: None, beta: 0.5, limit: 1 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Reconnaissance,
    /// Since the jump.
    Unvalidated(Time),
    /// What left before this time is unvalidated, from the jump on.
    Validating {
        jumped: Time,
        until: Time,
    },
    SafeRetreat {
        jumped: Time,
        until: Time,
    },
    Normal,
}

/// Careful Resume.
pub struct CarefulResume {
    params: CarefulResumeParams,
    era: Era,
    phase: Phase,
    /// The window when the first ACK came, and what had been delivered before that.
    initial: Option<(f64, u64)>,
    pipe_size: f64,
    delivered: u64,
}

impl About<SlowStartEnv> for CarefulResume {
    type Params = CarefulResumeParams;
    const INFO: Info = Info {
        name: "careful-resume",
        title: "Careful Resume",
        source: "RFC 9959 section 3",
        status: Status::Specified,
    };

    fn new(params: CarefulResumeParams, env: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        if params.saved_cwnd.is_some() != params.saved_rtt.is_some() {
            let missing = if params.saved_rtt.is_some() { "saved_cwnd" } else { "saved_rtt" };
            let message =
                "is missing beside the other; expected both saved_cwnd and saved_rtt, or neither";
            return Err(vec![Problem::new(missing, message)]);
        }
        let is_empty = params.saved_cwnd.is_none();
        let phase = if is_empty { Phase::Normal } else { Phase::Reconnaissance };
        let (initial, pipe_size, delivered) = (None, 0.0, 0);
        Ok(Self { params, era: env.era, phase, initial, pipe_size, delivered })
    }
}

impl CarefulResume {
    /// The window to jump to, if the path is confirmed and more than the present one is known.
    fn jump(&self, window: &Window, min_rtt: Span) -> Option<f64> {
        let saved = self.params.saved_cwnd?;
        let half_rtt = self.params.saved_rtt?.seconds() / 2.0;
        let most = self.params.max_jump.unwrap_or(f64::INFINITY);
        let target = (saved / 2.0).min(most);
        (min_rtt.seconds() > half_rtt && target > window.cwnd).then_some(target)
    }

    fn grow(&self, window: &mut Window, ack: &Ack) {
        if may_grow(ack, self.era) {
            window.cwnd += f64::from(ack.acked.min(self.params.limit));
        }
    }

    /// Whether the initial window has been acknowledged.
    fn has_initial(&self, ack: &Ack) -> bool {
        self.initial.is_some_and(|(window, before)| {
            ack.delivered.saturating_sub(before) as f64 >= window.floor()
        })
    }

    /// Counts what an ACK of segments sent after the jump validates.
    fn count(&mut self, ack: &Ack, jumped: Time) {
        if ack.newest.sent_at >= jumped {
            self.pipe_size += ack.delivered.saturating_sub(self.delivered) as f64;
        }
    }
}

impl SlowStart for CarefulResume {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.initial.is_none() {
            let before = ack.delivered.saturating_sub(u64::from(ack.acked));
            self.initial = Some((window.cwnd, before));
        }
        let flight = f64::from(ack.in_flight + ack.acked);
        match self.phase {
            Phase::Reconnaissance => {
                self.grow(window, ack);
                if self.has_initial(ack) && !ack.app_limited {
                    self.phase = Phase::Normal;
                    if let Some(target) = self.jump(window, ack.min_rtt) {
                        self.pipe_size = f64::from(ack.in_flight);
                        self.phase = Phase::Unvalidated(ack.now);
                        window.cwnd = target;
                    }
                }
            }
            Phase::Unvalidated(jumped) => {
                self.count(ack, jumped);
                let is_acked = ack.newest.sent_at >= jumped;
                let is_late = ack.now.since(jumped) > ack.srtt;
                if is_acked || is_late || flight + 1.0 > window.cwnd {
                    let least = self.initial.map_or(2.0, |(window, _)| window);
                    if flight < least || flight <= self.pipe_size {
                        window.cwnd = self.pipe_size.max(least);
                        self.phase = Phase::Normal;
                    } else {
                        window.cwnd = window.cwnd.min(flight);
                        self.phase = Phase::Validating { jumped, until: ack.now };
                        if is_acked {
                            self.grow(window, ack);
                        }
                    }
                }
            }
            Phase::Validating { jumped, until } => {
                self.count(ack, jumped);
                self.grow(window, ack);
                if ack.newest.sent_at >= until {
                    self.phase = Phase::Normal;
                }
            }
            Phase::SafeRetreat { jumped, until } => {
                self.count(ack, jumped);
                if ack.newest.sent_at >= until {
                    window.ssthresh = (self.params.beta * self.pipe_size).max(2.0);
                    self.phase = Phase::Normal;
                }
            }
            Phase::Normal => self.grow(window, ack),
        }
        self.delivered = ack.delivered;
    }

    fn acts_beyond_growth(&self) -> bool {
        self.params.saved_cwnd.is_some()
    }

    fn pacing_rate(&self, window: &Window, srtt: Span) -> Option<f64> {
        let paces = matches!(self.phase, Phase::Unvalidated(_)) && srtt > Span::ZERO;
        paces.then(|| window.cwnd / srtt.seconds())
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion, _before: &Window) {
        let jumped = match self.phase {
            Phase::Unvalidated(jumped) | Phase::Validating { jumped, .. } => jumped,
            // A second event of the retreat: the control's answer is kept, the retreat goes on.
            Phase::SafeRetreat { .. } if !matches!(event.signal, Signal::Rto { .. }) => return,
            _ => {
                self.phase = Phase::Normal;
                return;
            }
        };
        if matches!(event.signal, Signal::Rto { .. }) {
            self.phase = Phase::Normal;
            return;
        }
        self.phase = Phase::SafeRetreat { jumped, until: event.now };
        window.cwnd = (self.pipe_size / 2.0).max(2.0).min(window.cwnd);
        // Above cwnd, so that the rule sees the end of the retreat, and sets it then.
        window.ssthresh = self.pipe_size.max(window.cwnd + 1.0);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::test_support::env;
    use crate::registry::refusal;

    fn rule(saved_cwnd: f64) -> CarefulResume {
        let params = CarefulResumeParams {
            saved_cwnd: Some(saved_cwnd),
            saved_rtt: Some(Span::from_millis(100)),
            ..CarefulResumeParams::default()
        };
        CarefulResume::new(params, &env(Era::Rfc)).unwrap()
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    struct Bench {
        rule: CarefulResume,
        window: Window,
        delivered: u64,
    }

    impl Bench {
        fn new(rule: CarefulResume, cwnd: f64) -> Self {
            let window = Window { cwnd, ssthresh: f64::INFINITY };
            Self { rule, window, delivered: 0 }
        }

        /// An ACK at `ms` of one segment that left at `sent`, with `flight` left.
        fn ack(&mut self, ms: u64, sent: u64, flight: u32, min_rtt: u64) {
            self.delivered += 1;
            let mut ack = Ack {
                in_flight: flight,
                min_rtt: Span::from_millis(min_rtt),
                srtt: Span::from_millis(100),
                delivered: self.delivered,
                ..Ack::at(at(ms), 1)
            };
            ack.newest.sent_at = at(sent);
            self.rule.on_ack(&mut self.window, &ack);
        }
    }

    /// The first example of the RFC's appendix: a window of 10, grown to 20 by its ACKs; saved 300: a jump to 150.
    fn jump() -> Bench {
        let mut bench = Bench::new(rule(300.0), 10.0);
        for i in 0..10 {
            assert_eq!(bench.rule.phase, Phase::Reconnaissance);
            bench.ack(100, 0, 9 + i, 100);
        }
        assert_eq!((bench.rule.phase, bench.window.cwnd), (Phase::Unvalidated(at(100)), 150.0));
        assert_eq!(bench.rule.pipe_size, 18.0);
        // 150 segments in 100 ms.
        let rate = bench.rule.pacing_rate(&bench.window, Span::from_millis(100));
        assert_eq!(rate, Some(1500.0));
        bench
    }

    #[test]
    fn a_jump_is_validated_by_the_last_segment_of_the_flight() {
        let mut bench = jump();
        // Of what was in flight before: no growth, nothing validated.
        for _ in 0..18 {
            bench.ack(190, 95, 120, 100);
        }
        assert_eq!((bench.window.cwnd, bench.rule.pipe_size), (150.0, 18.0));
        // The first unvalidated segment: 131 were in flight before this ACK.
        bench.ack(200, 100, 130, 100);
        let until = at(200);
        assert_eq!(bench.rule.phase, Phase::Validating { jumped: at(100), until });
        assert_eq!((bench.window.cwnd, bench.rule.pipe_size), (132.0, 19.0));
        assert_eq!(bench.rule.pacing_rate(&bench.window, Span::from_millis(100)), None);
        bench.ack(250, 150, 130, 100);
        assert_eq!(bench.window.cwnd, 133.0);
        bench.ack(300, 200, 130, 100);
        assert_eq!((bench.rule.phase, bench.window.cwnd), (Phase::Normal, 134.0));
        assert!(bench.window.ssthresh.is_infinite());
    }

    /// 18 in flight at the jump and 34 validated: the window is half of 52, ssthresh half of what is known at the end:
    /// with 20 more, 36.
    #[test]
    fn a_loss_retreats_to_half_of_what_the_path_was_seen_to_hold() {
        let mut bench = jump();
        for _ in 0..34 {
            bench.ack(200, 100, 130, 100);
        }
        let before = bench.window;
        bench.window = Window { cwnd: before.cwnd / 2.0, ssthresh: before.cwnd / 2.0 };
        let event = Congestion::at(at(210), Signal::FastRetransmit { lost: 1 }, 150);
        bench.rule.on_congestion(&mut bench.window, &event, &before);
        assert_eq!((bench.window.cwnd, bench.window.ssthresh), (26.0, 52.0));
        for _ in 0..19 {
            bench.ack(220, 110, 20, 100);
        }
        assert_eq!(bench.window.cwnd, 26.0, "held");
        bench.ack(310, 210, 20, 100);
        assert_eq!((bench.rule.phase, bench.window.cwnd), (Phase::Normal, 26.0));
        assert_eq!(bench.window.ssthresh, 36.0);
    }

    /// The second example: the application has no more; after a round trip the window is what was used.
    #[test]
    fn a_jump_that_was_not_used_is_taken_back() {
        let mut bench = jump();
        bench.ack(201, 99, 9, 100);
        assert_eq!((bench.rule.phase, bench.window.cwnd), (Phase::Normal, 18.0));
    }

    #[test]
    fn no_jump_is_made_on_a_shorter_path_or_after_congestion_or_to_less() {
        let mut short = Bench::new(rule(300.0), 10.0);
        let mut small = Bench::new(rule(30.0), 10.0);
        let mut lossy = Bench::new(rule(300.0), 10.0);
        let before = lossy.window;
        let event = Congestion::at(at(50), Signal::FastRetransmit { lost: 1 }, 10);
        lossy.rule.on_congestion(&mut lossy.window, &event, &before);
        for (bench, min_rtt) in [(&mut short, 50), (&mut small, 100), (&mut lossy, 100)] {
            for _ in 0..10 {
                bench.ack(100, 0, 10, min_rtt);
            }
            assert_eq!((bench.rule.phase, bench.window.cwnd), (Phase::Normal, 20.0));
        }
    }

    #[test]
    fn a_saved_window_without_its_round_trip_is_refused() {
        let refused =
            refusal::<SlowStartEnv, CarefulResume>(json!({ "saved_cwnd": 100 }), &env(Era::Rfc));
        assert!(refused.starts_with("saved_rtt: is missing"), "{refused}");
    }
}
