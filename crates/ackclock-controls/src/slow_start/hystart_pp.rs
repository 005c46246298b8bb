//! `HyStart++`: leaves slow start when the round-trip time rises, by way of a slower phase.
//!
//! **Source**: RFC 9406 sections 4.2 and 4.3.
//! (Compared with section 4.2 as implementations of others quote it word for word, picoquic among them.)
//!
//! **Rule** (per round; rtt = smallest sample of this round, last = of the round before)
//! ```text
//! slow start: cwnd += min(acked, limit) per acknowledgement
//!   8 samples in the round and rtt >= last + max(4 ms, min(last / 8, 16 ms)): to CSS, base = rtt
//! CSS (conservative slow start): cwnd += min(acked, limit) / 4
//!   8 samples in the round and rtt < base: back to slow start
//!   5 rounds (the one of entry counts): ssthresh = cwnd
//! ```
//! Deviations: none; used for the first slow start only (section 4.3), later ones, in which
//! ssthresh is finite, add min(acked, limit).
//!
//! Defaults by era: the same in all. In the RFC era a window not in use does not grow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SlowStart, SlowStartEnv};
use crate::cc::usage::may_grow;
use crate::cc::{Ack, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::Span;

/// Parameters of `HyStart++` (RFC 9406 section 4.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HystartParams {
    /// Smallest rise of the round-trip time that counts (`MIN_RTT_THRESH`).
    pub min_rtt_thresh: Span,
    /// Largest rise that is required (`MAX_RTT_THRESH`).
    pub max_rtt_thresh: Span,
    /// Divisor of the round-trip time that gives the required rise (`MIN_RTT_DIVISOR`).
    #[schemars(range(min = 1))]
    pub min_rtt_divisor: u32,
    /// Samples that a round must have (`N_RTT_SAMPLE`).
    #[schemars(range(min = 1))]
    pub n_rtt_sample: u32,
    /// How much slower conservative slow start grows (`CSS_GROWTH_DIVISOR`).
    #[schemars(range(min = 2))]
    pub css_growth_divisor: u32,
    /// Rounds of conservative slow start (`CSS_ROUNDS`).
    #[schemars(range(min = 1))]
    pub css_rounds: u32,
    /// Most segments that one acknowledgement adds (L); without pacing 8.
    #[schemars(range(min = 1), extend("x-unit" = "segments"))]
    pub limit: u32,
}

impl Default for HystartParams {
    fn default() -> Self {
        Self {
            min_rtt_thresh: Span::from_millis(4),
            max_rtt_thresh: Span::from_millis(16),
            min_rtt_divisor: 8,
            n_rtt_sample: 8,
            css_growth_divisor: 4,
            css_rounds: 5,
            limit: 8,
        }
    }
}

/// Conservative slow start in progress.
#[derive(Clone, Copy, Debug)]
struct Css {
    base: Span,
    rounds: u32,
}

/// `HyStart++`.
pub struct HystartPlusPlus {
    params: HystartParams,
    era: Era,
    round: Option<u64>,
    last: Span,
    current: Span,
    samples: u32,
    css: Option<Css>,
}

impl About<SlowStartEnv> for HystartPlusPlus {
    type Params = HystartParams;
    const INFO: Info = Info {
        name: "hystart++",
        title: "HyStart++",
        source: "RFC 9406 sections 4.2 and 4.3 (4.2 compared as quoted by others)",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["hystartpp", "hystart-plus-plus"];

    fn new(params: HystartParams, env: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        if params.min_rtt_thresh > params.max_rtt_thresh {
            let least = params.min_rtt_thresh.seconds();
            let value = format!("{} s", params.max_rtt_thresh.seconds());
            let range = format!("at least min_rtt_thresh, {least} s");
            return Err(Problem::out_of_range("max_rtt_thresh", value, &range).into());
        }
        Ok(Self {
            params,
            era: env.era,
            round: None,
            last: Span::MAX,
            current: Span::MAX,
            samples: 0,
            css: None,
        })
    }
}

impl HystartPlusPlus {
    /// A round has begun; true if conservative slow start is over.
    fn begin_round(&mut self, round: u64) -> bool {
        let first = self.round.replace(round).is_none();
        if !first {
            self.last = self.current;
        }
        (self.current, self.samples) = (Span::MAX, 0);
        match &mut self.css {
            Some(css) if css.rounds + 1 >= self.params.css_rounds => true,
            Some(css) => {
                css.rounds += 1;
                false
            }
            None => false,
        }
    }

    fn watch_delay(&mut self) {
        if self.samples < self.params.n_rtt_sample || self.current == Span::MAX {
            return;
        }
        match self.css {
            Some(css) if self.current < css.base => self.css = None,
            None if self.last != Span::MAX => {
                let rise = Span(self.last.0 / u64::from(self.params.min_rtt_divisor))
                    .min(self.params.max_rtt_thresh)
                    .max(self.params.min_rtt_thresh);
                if self.current >= self.last + rise {
                    self.css = Some(Css { base: self.current, rounds: 0 });
                }
            }
            _ => {}
        }
    }
}

impl SlowStart for HystartPlusPlus {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let first_slow_start = window.ssthresh.is_infinite();
        if first_slow_start {
            if self.round != Some(ack.round) && self.begin_round(ack.round) {
                window.ssthresh = window.cwnd.max(2.0);
                return;
            }
            if let Some(rtt) = ack.rtt {
                self.current = self.current.min(rtt);
                self.samples += 1;
            }
        }
        if may_grow(ack, self.era) {
            let step = f64::from(ack.acked.min(self.params.limit));
            let slow = first_slow_start && self.css.is_some();
            let divisor = if slow { f64::from(self.params.css_growth_divisor) } else { 1.0 };
            window.cwnd += step / divisor;
        }
        if first_slow_start {
            self.watch_delay();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::units::Time;

    struct Run {
        rule: HystartPlusPlus,
        window: Window,
        round: u64,
    }

    impl Run {
        fn new() -> Self {
            let rule = HystartPlusPlus::new(HystartParams::default(), &env(Era::Rfc)).unwrap();
            Self { rule, window: Window { cwnd: 10.0, ssthresh: f64::INFINITY }, round: 0 }
        }

        /// One round of ten acknowledgements at this round-trip time; growth of the window.
        fn round(&mut self, ms: u64) -> f64 {
            let before = self.window.cwnd;
            for _ in 0..10 {
                let rtt = Some(Span::from_millis(ms));
                let ack = Ack { rtt, round: self.round, ..Ack::at(Time::ZERO, 1) };
                self.rule.on_ack(&mut self.window, &ack);
            }
            self.round += 1;
            self.window.cwnd - before
        }
    }

    #[test]
    fn a_rise_of_an_eighth_leads_to_five_slower_rounds_and_then_out() {
        let mut run = Run::new();
        // 80 ms / 8 = 10 ms is required: 89 ms is not enough, 99 = 89 + 10 is less than
        // 89 + 11.125, 111 is enough.
        for ms in [80, 89, 99] {
            assert_eq!(run.round(ms), 10.0);
        }
        // The eighth sample decides: 8 + 2 / 4.
        assert_eq!(run.round(112), 8.5);
        // Four more rounds of 10 / 4, then the first acknowledgement of the next ends it.
        for _ in 0..4 {
            assert!(run.window.ssthresh.is_infinite());
            assert_eq!(run.round(112), 2.5);
        }
        let cwnd = run.window.cwnd;
        let ack = Ack { round: run.round, ..Ack::at(Time::ZERO, 1) };
        run.rule.on_ack(&mut run.window, &ack);
        assert_eq!((run.window.cwnd, run.window.ssthresh), (cwnd, cwnd));
    }

    #[test]
    fn a_falling_delay_resumes_slow_start() {
        let mut run = Run::new();
        run.round(80);
        assert_eq!(run.round(100), 8.5);
        // The eighth sample below the base of 100 ms resumes: 8 / 4 + 2.
        assert_eq!(run.round(99), 4.0);
        assert_eq!(run.round(99), 10.0);
    }

    #[test]
    fn thresholds_are_held_between_4_and_16_ms() {
        let mut run = Run::new();
        run.round(8); // an eighth is 1 ms, 4 ms are required
        assert_eq!(run.round(11), 10.0);
        let mut run = Run::new();
        run.round(400); // an eighth is 50 ms, 16 ms are required
        assert_eq!(run.round(416), 8.5);
    }

    #[test]
    fn few_samples_decide_nothing_and_a_later_slow_start_is_standard() {
        let mut run = Run::new();
        run.round(80);
        for _ in 0..7 {
            let ack = Ack { rtt: Some(Span::from_millis(300)), round: 1, ..Ack::at(Time::ZERO, 1) };
            run.rule.on_ack(&mut run.window, &ack);
        }
        assert!(run.rule.css.is_none());
        run.window = Window { cwnd: 1.0, ssthresh: 100.0 };
        run.round = 2;
        assert_eq!(run.round(80) + run.round(300), 20.0);
        assert_eq!(run.window.ssthresh, 100.0);
    }
}
