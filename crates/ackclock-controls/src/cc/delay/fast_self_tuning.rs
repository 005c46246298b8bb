//! FAST that tunes itself against loss-based flows: alpha follows, on a slow time scale, the rate that the
//! losses call for.
//!
//! Where FAST shares a queue with Reno, Reno fills it and FAST, which keeps alpha segments there, gets what its
//! alpha happens to give it: each ratio of their rates belongs to some alpha. Here the flow measures its losses,
//! computes from them the rate of a Reno flow (or of a flow that is fair in proportion to the price of losses),
//! and raises or lowers alpha until that is its own rate.
//!
//! **Source**: A. Tang, J. Wang, S. Hegde, S. Low, "Equilibrium and fairness of networks shared by TCP Reno and
//! Vegas/FAST", Telecommunication Systems 30(4), 2005, pages 417 to 439 (an alpha exists for every ratio of
//! rates); A. Tang, D. Wei, S. Low, "Heterogeneous congestion control: efficiency, fairness and design", ICNP
//! 2006 (alpha updated on a slow time scale from queueing delay and loss). Reconstructed from their abstracts and
//! from M. Rodriguez-Perez et al., "The persistent congestion problem of FAST-TCP", section 2; the texts were
//! not to be had.
//!
//! **Rule** (p: loss events per segment, R: mean round trip, x: own rate over the last `every` round trips)
//! ```text
//! x* = sqrt(3 / (2 p)) / R            with `weight` W:  x* = W / p
//! once per `every` round trips, after the second loss event:  alpha <- alpha (1 + kappa (x* / x - 1))
//! p = 1 / I:  I <- 7/8 I + 1/8 interval at each loss event; the present interval counts once it is longer
//! ```
//! With x = alpha / q, FAST's equilibrium at the queueing delay q, the update is alpha + kappa (W q / p - alpha).
//! Deviations: alpha is at least 1 and at most doubles or halves in one update; the rate is measured, so that
//! FAST's halving after a loss is part of it. A flow that sees no losses keeps its alpha; when losses cease,
//! alpha grows until there are some, as Reno's window does.
//!
//! Defaults by era: as `fast`; kappa = 0.1 and every = 20 are choices of this project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::delay::fast::{Fast, FastParams};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::Time;

/// Weight of the newest loss interval in their mean.
const NEWEST: f64 = 0.125;
/// Least alpha in segments.
const LEAST: f64 = 1.0;

/// Parameters of FAST that tunes itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FastSelfTuningParams {
    /// Those of FAST; alpha is the first value.
    #[serde(flatten)]
    pub fast: FastParams,
    /// Gain of an update of alpha.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub kappa: f64,
    /// Time between updates of alpha.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub every: u64,
    /// The rate aimed at is this over the loss rate. Left out: the rate of Reno.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments/s"))]
    pub weight: Option<f64>,
}

impl Default for FastSelfTuningParams {
    fn default() -> Self {
        Self { fast: FastParams::default(), kappa: 0.1, every: 20, weight: None }
    }
}

/// Time, round and segments delivered at the beginning of the present period.
#[derive(Clone, Copy, Debug)]
struct Period {
    began: Time,
    round: u64,
    delivered: u64,
}

/// FAST that tunes itself.
pub struct FastSelfTuning {
    fast: Fast,
    kappa: f64,
    every: u64,
    weight: Option<f64>,
    period: Option<Period>,
    delivered: u64,
    /// Segments delivered when the last loss event began, and the mean interval between events.
    last_loss: Option<u64>,
    interval: Option<f64>,
    /// Rate aimed at over the rate measured, at the last update.
    ratio: f64,
}

impl About<CcEnv> for FastSelfTuning {
    type Params = FastSelfTuningParams;
    const INFO: Info = Info {
        name: "fast-self-tuning",
        title: "FAST TCP tuned to Reno",
        source: "Tang, Wang, Hegde, Low, Telecommunication Systems 30(4), 2005; Tang, Wei, Low, ICNP 2006",
        status: Status::Reconstructed,
    };

    fn new(params: FastSelfTuningParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let FastSelfTuningParams { fast, kappa, every, weight } = params;
        Ok(Self {
            fast: Fast::new(fast, env)?,
            kappa,
            every,
            weight,
            period: None,
            delivered: 0,
            last_loss: None,
            interval: None,
            ratio: 1.0,
        })
    }
}

impl FastSelfTuning {
    /// A loss event begins.
    fn note_loss(&mut self) {
        if let Some(last) = self.last_loss {
            let interval = (self.delivered - last).max(1) as f64;
            let mean = self.interval.unwrap_or(interval);
            self.interval = Some(mean + NEWEST * (interval - mean));
        }
        self.last_loss = Some(self.delivered);
    }

    /// Segments per loss event.
    fn loss_interval(&self) -> Option<f64> {
        let open = self.delivered - self.last_loss?;
        Some(self.interval?.max(open as f64))
    }

    fn tune(&mut self, rate: f64, rtt: f64) {
        let Some(interval) = self.loss_interval() else { return };
        let aim = match self.weight {
            Some(weight) => weight * interval,
            None => (1.5 * interval).sqrt() / rtt,
        };
        self.ratio = aim / rate;
        let factor = (1.0 + self.kappa * (self.ratio - 1.0)).clamp(0.5, 2.0);
        self.fast.scale_alpha(factor, LEAST);
    }
}

impl CongestionControl for FastSelfTuning {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.fast.on_ack(window, ack);
        self.delivered = self.delivered.max(ack.delivered);
        let here = Period { began: ack.now, round: ack.round, delivered: self.delivered };
        let begin = *self.period.get_or_insert(here);
        if ack.round < begin.round + self.every {
            return;
        }
        let (segments, elapsed) =
            (here.delivered - begin.delivered, here.began.since(begin.began).seconds());
        let rtt = ack.srtt.seconds();
        // Below its window the flow's rate is the application's.
        if segments > 0 && elapsed > 0.0 && rtt > 0.0 && !ack.app_limited {
            self.tune(segments as f64 / elapsed, rtt);
        }
        self.period = Some(here);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.fast.on_congestion(window, event);
        match event.signal {
            Signal::Rto { consecutive } if consecutive > 1 => {}
            Signal::Spurious => {}
            _ => self.note_loss(),
        }
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn keeps_queued(&self) -> Option<f64> {
        self.fast.keeps_queued()
    }

    fn phase(&self) -> &'static str {
        self.fast.phase()
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.fast.probes(out);
        out("alpha", self.fast.alpha);
        out("aim_over_rate", self.ratio);
        out("loss_event_rate", self.loss_interval().map_or(0.0, f64::recip));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::registry::refusal;
    use crate::units::Span;

    fn control(weight: Option<f64>) -> FastSelfTuning {
        let fast = FastParams { alpha: 20.0, ..FastParams::default() };
        let params = FastSelfTuningParams { fast, kappa: 0.5, every: 10, weight };
        FastSelfTuning::new(params, &env(Era::Rfc)).unwrap()
    }

    /// An acknowledgement at `ms` in `round`, with so many segments delivered, at a round trip of 100 ms.
    fn ack(control: &mut FastSelfTuning, ms: u64, round: u64, delivered: u64) {
        let rtt = Span::from_millis(100);
        let ack = Ack {
            round,
            delivered,
            srtt: rtt,
            rtt: Some(rtt),
            ..Ack::at(Time::ZERO + Span::from_millis(ms), 1)
        };
        let mut window = Window { cwnd: 50.0, ssthresh: 50.0 };
        control.on_ack(&mut window, &ack);
    }

    fn lose(control: &mut FastSelfTuning) {
        let mut window = Window { cwnd: 50.0, ssthresh: 50.0 };
        let lost = Signal::FastRetransmit { lost: 1 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 50));
    }

    #[test]
    fn alpha_moves_by_half_of_the_relative_distance_to_renos_rate() {
        let mut control = control(None);
        ack(&mut control, 0, 0, 0);
        lose(&mut control);
        ack(&mut control, 900, 9, 600);
        lose(&mut control);
        // 600 segments per event: a window of sqrt(900) = 30, 300 segments a second at 100 ms. The flow had
        // 600 in 1 s: half of it, so that alpha falls by a quarter of 20.
        ack(&mut control, 1000, 10, 600);
        assert!((control.fast.alpha - 15.0).abs() < 1e-12, "{}", control.fast.alpha);
        // 200 segments in the next second and no event: 300 aimed at, 1.5 times as many. 15 x 1.25.
        ack(&mut control, 1999, 19, 790);
        assert!((control.fast.alpha - 15.0).abs() < 1e-12);
        ack(&mut control, 2000, 20, 800);
        assert!((control.fast.alpha - 18.75).abs() < 1e-12, "{}", control.fast.alpha);
        // An interval of 400 after 600: 600 - 200/8 = 575.
        ack(&mut control, 2500, 25, 1000);
        lose(&mut control);
        assert_eq!(control.loss_interval(), Some(575.0));
        // The open interval counts when it is longer.
        ack(&mut control, 2600, 26, 1700);
        assert_eq!(control.loss_interval(), Some(700.0));
    }

    #[test]
    fn with_a_weight_the_rate_aimed_at_is_the_weight_over_the_loss_rate() {
        let mut control = control(Some(2.0));
        ack(&mut control, 0, 0, 0);
        lose(&mut control);
        ack(&mut control, 900, 9, 500);
        lose(&mut control);
        // 2 x 500 = 1000 segments a second, and the flow had 800: 20 (1 + (1.25 - 1) / 2).
        ack(&mut control, 1000, 10, 800);
        assert!((control.fast.alpha - 22.5).abs() < 1e-12, "{}", control.fast.alpha);
    }

    #[test]
    fn without_two_loss_events_alpha_stays_and_its_steps_are_bounded() {
        let mut control = control(None);
        ack(&mut control, 0, 0, 0);
        ack(&mut control, 1000, 10, 1000);
        lose(&mut control);
        ack(&mut control, 2000, 20, 2000);
        assert_eq!(control.fast.alpha, 20.0);
        // A timeout that follows another one is no new event.
        let mut window = Window { cwnd: 1.0, ssthresh: 2.0 };
        let again = Signal::Rto { consecutive: 2 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, again, 1));
        assert_eq!(control.interval, None);
        let first = Signal::Rto { consecutive: 1 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, first, 1));
        assert_eq!(control.interval, Some(1000.0));
        // A rate of 1 segment a second against sqrt(1.5 x 1000) / 0.1 = 387: no more than doubled.
        ack(&mut control, 3000, 30, 2001);
        assert_eq!(control.fast.alpha, 40.0);
    }

    #[test]
    fn values_out_of_range_are_named() {
        for (params, expected) in [
            (json!({ "kappa": 0 }), "kappa: 0 is out of range; expected more than 0"),
            (json!({ "every": 0 }), "every: 0 is out of range; expected at least 1"),
            (json!({ "weight": 0 }), "weight: 0 is out of range; expected more than 0"),
            (json!({ "alpha": -1 }), "alpha: -1 is out of range; expected more than 0"),
        ] {
            let message = refusal::<CcEnv, FastSelfTuning>(params, &env(Era::Rfc));
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
