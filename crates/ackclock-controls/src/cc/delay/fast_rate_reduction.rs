//! FAST with rate reduction: a new flow all but pauses once, so that the queue may drain and show the
//! propagation delay.
//!
//! It works if the queue drains before the other flows, which see it shrink, fill it again: only if
//! their round trip is long enough for their number.
//!
//! **Source**: T. Cui, L. Andrew, M. Zukerman, L. Tan, "Improving the fairness of FAST TCP to new flows",
//! IEEE Communications Letters 10(5), 2006, as described by M. Rodriguez-Perez et al., "The persistent
//! congestion problem of FAST-TCP: Analysis and solutions", section 5 and its footnote; the letter itself
//! was not to be had.
//!
//! **Rule** (w, r: window and mean round trip once the flow has come to rest)
//! ```text
//! reduced:  for `duration` round trips r, segments leave at the rate w / r / factor; with `pause` none does
//! resumed:  for one round trip, segments leave at the rate w / r
//! after:    FAST, with the smallest round trip that was seen
//! ```
//! Deviations: when the rate is reduced, and for how long, is not said there; here after rest, for one
//! round trip, the time within which the queue must have drained. `pause` is the source's most favourable
//! case (section 5, before equation 19), an infinite factor; its end is noticed within 1 ms.
//!
//! Defaults by era: as `fast`. The factor is alpha, as the source is said to advise. Outside the RFC era,
//! whose senders alone are paced, the window is divided in place of the rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::delay::calm::{Calm, CalmParams, Rest};
use crate::cc::delay::fast::{Fast, FastParams};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Span, Time};

/// Parameters of FAST with rate reduction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FastRateReductionParams {
    /// Those of FAST.
    #[serde(flatten)]
    pub fast: FastParams,
    /// Those of the detection of rest.
    #[serde(flatten)]
    pub calm: CalmParams,
    /// The rate is divided by this. Left out: alpha, at least 2.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub factor: Option<f64>,
    /// Length of the reduction in round trips.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "round trips"))]
    pub duration: f64,
    /// No segment leaves during the reduction; excludes `factor`, and is for the RFC era.
    pub pause: bool,
}

impl Default for FastRateReductionParams {
    fn default() -> Self {
        Self {
            fast: FastParams::default(),
            calm: CalmParams::default(),
            factor: None,
            duration: 1.0,
            pause: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Not yet at rest.
    Waiting,
    /// Segments leave at `rate` per second over the factor, then one round trip `rtt` [s] at `rate`.
    Reduced {
        until: Time,
        rate: f64,
        rtt: f64,
        window: f64,
    },
    Resumed {
        until: Time,
        rate: f64,
    },
    Done,
}

/// FAST with rate reduction.
pub struct FastRateReduction {
    fast: Fast,
    calm: Calm,
    factor: f64,
    duration: f64,
    pause: bool,
    wire_bits: f64,
    era: Era,
    stage: Stage,
}

impl About<CcEnv> for FastRateReduction {
    type Params = FastRateReductionParams;
    const INFO: Info = Info {
        name: "fast-rate-reduction",
        title: "FAST TCP with rate reduction",
        source: "Cui, Andrew, Zukerman, Tan, IEEE Communications Letters 10(5), 2006, as described by \
                 Rodriguez-Perez et al., section 5",
        status: Status::Reconstructed,
    };

    fn new(params: FastRateReductionParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let FastRateReductionParams { fast, calm, factor, duration, pause } = params;
        if pause && factor.is_some() {
            return Err(
                Problem::new("pause", "excludes factor: it stands for an infinite one").into()
            );
        }
        if pause && env.era.is_ns2() {
            return Err(Problem::new("pause", "needs the era rfc, whose senders are paced").into());
        }
        let factor = factor.unwrap_or(fast.alpha.max(2.0));
        Ok(Self {
            fast: Fast::new(fast, env)?,
            calm: Calm::new(calm),
            factor,
            duration,
            pause,
            wire_bits: 8.0 * f64::from(env.wire_size),
            era: env.era,
            stage: Stage::Waiting,
        })
    }
}

impl FastRateReduction {
    /// Sends at the former rate for a round trip.
    fn resume(&mut self, window: &mut Window, now: Time) {
        if let Stage::Reduced { until, rate, rtt, window: before } = self.stage
            && now >= until
        {
            window.cwnd = before;
            self.stage = Stage::Resumed { until: now + Span::from_seconds(rtt), rate };
        }
    }
}

impl CongestionControl for FastRateReduction {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        match self.stage {
            Stage::Waiting => {
                self.fast.on_ack(window, ack);
                if let Some(Rest { rtt, .. }) = self.calm.watch(&self.fast, window.cwnd, ack) {
                    let until = ack.now + Span::from_seconds(self.duration * rtt);
                    let (rate, before) = (window.cwnd / rtt, window.cwnd);
                    self.stage = Stage::Reduced { until, rate, rtt, window: before };
                    if self.era.is_ns2() {
                        window.cwnd = (window.cwnd / self.factor).max(1.0);
                    }
                }
            }
            Stage::Reduced { window: before, .. } => {
                self.fast.sample(ack.rtt, before);
                self.resume(window, ack.now);
            }
            Stage::Resumed { until, .. } => {
                self.fast.sample(ack.rtt, window.cwnd);
                if ack.now >= until {
                    self.fast.correct(self.fast.base(), ack.round);
                    self.stage = Stage::Done;
                }
            }
            Stage::Done => self.fast.on_ack(window, ack),
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if self.stage != Stage::Done {
            self.stage = Stage::Waiting;
            self.calm.restart();
        }
        self.fast.on_congestion(window, event);
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    /// In a pause there are no acknowledgements to end it.
    fn timer_interval(&self) -> Option<Span> {
        (self.pause && self.stage != Stage::Done).then_some(Span::from_millis(1))
    }

    fn on_timer(&mut self, window: &mut Window, now: Time) {
        self.resume(window, now);
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        let rate = match self.stage {
            Stage::Reduced { .. } if self.pause => return Some(BitRate(0)),
            Stage::Reduced { rate, .. } => rate / self.factor,
            Stage::Resumed { rate, .. } => rate,
            Stage::Waiting | Stage::Done => return None,
        };
        Some(BitRate((rate * self.wire_bits).max(1.0) as u64))
    }

    fn keeps_queued(&self) -> Option<f64> {
        self.fast.keeps_queued()
    }

    fn phase(&self) -> &'static str {
        match self.stage {
            Stage::Reduced { .. } => "reduced",
            Stage::Resumed { .. } => "resumed",
            Stage::Waiting | Stage::Done => self.fast.phase(),
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.fast.probes(out);
        out("reduced", f64::from(u8::from(self.stage == Stage::Done)));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::test_support::env;
    use crate::registry::refusal;

    fn ack(ms: u64, round: u64, rtt: Span) -> Ack {
        Ack { rtt: Some(rtt), round, ..Ack::at(Time::ZERO + Span::from_millis(ms), 1) }
    }

    #[test]
    fn at_rest_the_rate_falls_by_alpha_for_a_round_trip_and_the_smallest_delay_stays() {
        let fast = FastParams { alpha: 50.0, ..FastParams::default() };
        let calm = CalmParams { stable_rounds: 3, ..CalmParams::default() };
        let params = FastRateReductionParams { fast, calm, ..FastRateReductionParams::default() };
        let mut control = FastRateReduction::new(params, &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 250.0, ssthresh: f64::INFINITY };
        // D = 40 ms, r = 50 ms: 250 x 10 / 50 = 50 queued, so the flow rests at once.
        control.on_ack(&mut window, &ack(0, 0, Span::from_millis(40)));
        let (mut now, mut round) = (0, 1);
        while control.stage == Stage::Waiting {
            assert!(round < 100 && control.pacing_rate().is_none());
            window.cwnd = 250.0;
            for _ in 0..250 {
                control.on_ack(&mut window, &ack(now, round, Span::from_millis(50)));
            }
            (now, round) = (now + 50, round + 1);
        }
        // 250 segments of 1040 bytes per 50 ms are 41.6 Mbit/s; a fiftieth of it.
        let rate = control.pacing_rate().unwrap().bps();
        assert!((rate - 832_000.0).abs() < 0.01 * 832_000.0, "{rate}");
        assert_eq!(control.phase(), "reduced");
        control.on_ack(&mut window, &ack(now + 20, round, Span::from_millis(32)));
        control.on_ack(&mut window, &ack(now + 60, round, Span::from_millis(34)));
        assert_eq!(control.phase(), "resumed");
        let rate = control.pacing_rate().unwrap().bps();
        assert!((rate - 41_600_000.0).abs() < 0.01 * 41_600_000.0, "{rate}");
        control.on_ack(&mut window, &ack(now + 120, round + 1, Span::from_millis(45)));
        assert_eq!(control.stage, Stage::Done);
        assert!(control.pacing_rate().is_none());
        assert!((control.fast.base() - 0.032).abs() < 1e-12);
    }

    #[test]
    fn in_a_pause_nothing_leaves_and_a_timer_ends_it() {
        let params = FastRateReductionParams { pause: true, ..FastRateReductionParams::default() };
        let mut control = FastRateReduction::new(params.clone(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 250.0, ssthresh: f64::INFINITY };
        let time = |ms| Time::ZERO + Span::from_millis(ms);
        control.stage =
            Stage::Reduced { until: time(50), rate: 5000.0, rtt: 0.05, window: window.cwnd };
        control.on_ack(&mut window, &ack(49, 1, Span::from_millis(40)));
        assert_eq!((control.pacing_rate(), control.phase()), (Some(BitRate(0)), "reduced"));
        assert_eq!(control.timer_interval(), Some(Span::from_millis(1)));
        control.on_timer(&mut window, time(49));
        assert_eq!(control.phase(), "reduced");
        control.on_timer(&mut window, time(50));
        // 5000 segments of 1040 bytes a second.
        assert_eq!((control.pacing_rate(), window.cwnd), (Some(BitRate(41_600_000)), 250.0));
        control.on_ack(&mut window, &ack(100, 2, Span::from_millis(30)));
        assert_eq!((control.stage, control.timer_interval()), (Stage::Done, None));
        assert!((control.fast.base() - 0.030).abs() < 1e-12);
        for (params, era, expected) in [
            (params.clone(), Era::Y2007, "era rfc"),
            (FastRateReductionParams { factor: Some(9.0), ..params }, Era::Rfc, "excludes factor"),
        ] {
            let problems = FastRateReduction::new(params, &env(era)).err().unwrap();
            assert!(problems[0].message.contains(expected), "{problems:?}");
        }
    }

    #[test]
    fn values_out_of_range_are_named() {
        for (params, expected) in [
            (json!({ "factor": 1 }), "factor: 1 is out of range; expected more than 1"),
            (json!({ "duration": 0 }), "duration: 0 is out of range; expected more than 0"),
            (json!({ "alpha": -1 }), "alpha: -1 is out of range; expected more than 0"),
        ] {
            let message = refusal::<CcEnv, FastRateReduction>(params, &env(Era::Rfc));
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
