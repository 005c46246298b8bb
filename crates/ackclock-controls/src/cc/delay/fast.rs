//! FAST: keeps alpha segments in the queues along its path, by the delay that it measures.
//!
//! The window moves towards the value at which alpha segments wait; the step is proportional to the
//! distance. The propagation delay is the smallest round trip seen: a flow that starts while others
//! keep a queue takes that queue for propagation and gets more than its share.
//!
//! **Source**: `published`: M. Rodriguez-Perez, S. Herreria-Alonso, M. Fernandez-Veiga, C. Lopez-Garcia,
//! "The persistent congestion problem of FAST-TCP: Analysis and solutions", equation (2), after
//! D. Wei, C. Jin, S. Low, S. Hegde, "FAST TCP", IEEE/ACM Trans. Networking 14(6), 2006,
//! doi:10.1109/TNET.2006.886335.
//! `ns2`: T. Cui, L. Andrew, the module for ns-2.35, version 1.1.3 (2007), read, not copied.
//! Both were compared line by line with this.
//!
//! **Rule** (D = smallest round trip of data, R = mean round trip, W = `published`: w, `ns2`: the
//! segments in flight when the acknowledged one left)
//! ```text
//! R <- (1 - e) R + e sample;  e = min(3/w, 1/4)     ns2: min(3/w, 1/256)
//! R - D < mi_threshold:  w + 1 per segment acknowledged             (in place of slow start)
//! else once per round:   w <- min(2 w, gamma (D W / R + alpha) + (1 - gamma) w), at least 2
//! ns2: every 10 ms in every other round, unless alpha <= W (R - D) / R < beta; bound 2 w for w <= 4
//! ns2 spreads an increase over the acknowledgements up to the next update; else a step is immediate
//! loss, ECN:  w <- w/2, ssthresh <- w;   timeout: ssthresh <- w/2, w <- 1     ns2: w <- 2
//! ```
//! Deviations: handshakes are no samples, since their packets are shorter on the wire. `ns2` with
//! D < 4 ms does not spread increases, as the module does. The module's weight goes by the segments in
//! flight, not by w; its rounds end by time, a sample after the last; an increase is cut to whole
//! segments, and below 4 the rest of it comes later; its first update waits for the interval after the
//! multiplicative phase and after recovery; R outlives a loss, where here it begins anew; and it
//! grows by acknowledgements. The original text of FAST was not to be had.
//!
//! Defaults by era: the same in all; outside the RFC era a decrease starts from cwnd, and the sender
//! times one segment per round trip only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{in_use, may_grow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// Least window of FAST in segments.
const LEAST: f64 = 2.0;
/// Up to this window the ns-2 module doubles at most, in segments.
const SMALL: f64 = 4.0;
/// With shorter propagation the ns-2 module does not spread increases [s].
const SHORT: f64 = 0.004;

/// Which FAST.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastForm {
    /// Equation (2), once per round trip.
    Published,
    /// The module for ns-2.
    Ns2,
}

/// Parameters of FAST.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FastParams {
    /// `published` or `ns2`; sets what is left out below.
    pub form: FastForm,
    /// Segments to keep queued.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub alpha: f64,
    /// `ns2` only: the window moves if fewer than alpha or at least beta segments are queued; alpha or
    /// more. Left out: alpha.
    #[schemars(extend("x-unit" = "segments"))]
    pub beta: Option<f64>,
    /// Gain of a step.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub gamma: f64,
    /// Time between updates. Left out: a round trip; `ns2`: 10 ms.
    #[schemars(range(min = 0.000_001))]
    pub interval: Option<Span>,
    /// The window moves in every so-many-th round trip. Left out: 1; `ns2`: 2.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub every: Option<u32>,
    /// Below this queueing delay the window doubles per round trip.
    pub mi_threshold: Span,
    /// Weight of a sample in the mean round trip where windows are small. Left out: 1/4; `ns2`: 1/256.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub rtt_weight: Option<f64>,
    /// An update multiplies the window by no more than this. Left out: 2; `ns2`: no bound above a
    /// window of 4.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub max_growth: Option<f64>,
    /// Propagation and transmission time of the path, in place of the smallest round trip.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub base_rtt: Option<Span>,
}

impl Default for FastParams {
    fn default() -> Self {
        Self {
            form: FastForm::Published,
            alpha: 100.0,
            beta: None,
            gamma: 0.5,
            interval: None,
            every: None,
            mi_threshold: Span(750_000_000),
            rtt_weight: None,
            max_growth: None,
            base_rtt: None,
        }
    }
}

/// FAST.
pub struct Fast {
    form: FastForm,
    pub(crate) alpha: f64,
    beta: f64,
    gamma: f64,
    interval: Option<f64>,
    every: u64,
    mi_threshold: f64,
    rtt_weight: f64,
    max_growth: f64,
    set_base: Option<f64>,
    era: Era,
    /// Smallest round trip of data, or what took its place [s]; infinite before the first sample.
    base: f64,
    /// Mean round trip [s].
    mean: Option<f64>,
    round: Option<u64>,
    updated: Time,
    /// No update before this round.
    hold: u64,
    /// Increase still to come, and what each acknowledged segment adds of it.
    pending: f64,
    step: f64,
    multiplicative: bool,
    queued: f64,
}

impl About<CcEnv> for Fast {
    type Params = FastParams;
    const INFO: Info = Info {
        name: "fast",
        title: "FAST TCP",
        source: "Rodriguez-Perez et al., The persistent congestion problem of FAST-TCP, equation (2); \
                 Cui, Andrew, FAST module 1.1.3 for ns-2",
        status: Status::Reconstructed,
    };

    fn new(params: FastParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        if let Some(beta) = params.beta
            && beta < params.alpha
        {
            let range = format!("at least alpha, {} segments", params.alpha);
            return Err(Problem::out_of_range("beta", beta, &range).into());
        }
        let ns2 = params.form == FastForm::Ns2;
        let interval = params.interval.map(Span::seconds);
        Ok(Self {
            form: params.form,
            alpha: params.alpha,
            beta: params.beta.unwrap_or(params.alpha),
            gamma: params.gamma,
            interval: interval.or(ns2.then_some(0.010)),
            every: u64::from(params.every.unwrap_or(if ns2 { 2 } else { 1 })),
            mi_threshold: params.mi_threshold.seconds(),
            rtt_weight: params.rtt_weight.unwrap_or(if ns2 { 1.0 / 256.0 } else { 0.25 }),
            max_growth: params.max_growth.unwrap_or(if ns2 { f64::INFINITY } else { 2.0 }),
            set_base: params.base_rtt.map(Span::seconds),
            era: env.era,
            base: f64::INFINITY,
            mean: None,
            round: None,
            updated: Time::ZERO,
            hold: 0,
            pending: 0.0,
            step: 0.0,
            multiplicative: true,
            queued: 0.0,
        })
    }
}

impl Fast {
    /// Smallest round trip of data [s]; infinite before the first sample.
    pub(crate) fn base(&self) -> f64 {
        self.base
    }

    /// Whether it has left the multiplicative phase.
    pub(crate) fn avoids(&self) -> bool {
        !self.multiplicative
    }

    /// Takes `base` for the propagation delay and leaves the window alone for two rounds, in which the
    /// samples still reflect the old window.
    pub(crate) fn correct(&mut self, base: f64, round: u64) {
        self.base = base;
        self.mean = None;
        self.pending = 0.0;
        self.hold = round + 2;
    }

    /// Multiplies alpha, and with it beta; alpha is at least `least`.
    pub(crate) fn scale_alpha(&mut self, factor: f64, least: f64) {
        let before = self.alpha;
        self.alpha = (factor * before).max(least);
        self.beta *= self.alpha / before;
    }

    /// Takes a round-trip sample into base and mean.
    pub(crate) fn sample(&mut self, rtt: Option<Span>, cwnd: f64) {
        let Some(rtt) = rtt.map(Span::seconds) else { return };
        self.base = self.set_base.unwrap_or(self.base.min(rtt));
        let weight = (3.0 / cwnd).min(self.rtt_weight);
        self.mean = Some(self.mean.map_or(rtt, |mean| mean + weight * (rtt - mean)));
    }

    /// Whether the window is to move with this acknowledgement.
    fn is_due(&mut self, ack: &Ack) -> bool {
        let new_round = *self.round.get_or_insert(ack.round) != ack.round;
        self.round = Some(ack.round);
        if ack.round < self.hold || !ack.round.is_multiple_of(self.every) {
            return false;
        }
        match self.interval {
            None => new_round,
            Some(interval) => ack.now.since(self.updated).seconds() >= interval,
        }
    }

    /// Equation (2).
    fn update(&mut self, window: &mut Window, ack: &Ack, mean: f64, grows: bool) {
        self.updated = ack.now;
        let (w, ns2) = (window.cwnd, self.form == FastForm::Ns2);
        let old = if ns2 { f64::from(ack.newest.in_flight.max(1)) } else { w };
        self.queued = old * (mean - self.base) / mean;
        self.pending = 0.0;
        if ns2 && self.queued >= self.alpha && self.queued < self.beta {
            return;
        }
        // @src F-C2
        let target = self.gamma * (self.base / mean * old + self.alpha) + (1.0 - self.gamma) * w;
        let most = if ns2 && w <= SMALL { self.max_growth.min(2.0) } else { self.max_growth };
        let target = target.min(most * w).max(LEAST);
        if target <= w {
            window.cwnd = target;
        } else if !ns2 || self.base < SHORT {
            window.cwnd = if grows { target } else { w };
        } else {
            self.pending = target - w;
            let segments = w * self.interval.unwrap_or(mean) / mean;
            self.step = self.pending / segments.max(1.0);
        }
    }

    fn forget_round(&mut self) {
        self.pending = 0.0;
        self.mean = None;
    }
}

impl CongestionControl for Fast {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(propagation) = ack.propagation
            && self.set_base.is_none()
        {
            self.base = self.base.min(propagation.seconds());
        }
        self.sample(ack.rtt, window.cwnd);
        let Some(mean) = self.mean else { return };
        let grows = may_grow(ack, self.era);
        let due = self.is_due(ack);
        self.multiplicative = mean - self.base < self.mi_threshold;
        if self.multiplicative {
            self.pending = 0.0;
            if grows && ack.round >= self.hold {
                window.cwnd += f64::from(ack.acked);
            }
            return;
        }
        if due {
            self.update(window, ack, mean, grows);
        }
        if grows && self.pending > 0.0 {
            let step = (self.step * f64::from(ack.acked)).min(self.pending);
            window.cwnd += step;
            self.pending -= step;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let half = (in_use(window, event, self.era) / 2.0).max(LEAST);
        if let Signal::Rto { consecutive } = event.signal {
            if self.era.is_ns2() || consecutive <= 1 {
                window.ssthresh = half;
            }
            window.cwnd = if self.form == FastForm::Ns2 { LEAST.min(before) } else { 1.0 };
        } else {
            window.ssthresh = half;
            window.cwnd = half.min(before);
        }
        self.forget_round();
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn keeps_queued(&self) -> Option<f64> {
        Some(self.alpha)
    }

    fn phase(&self) -> &'static str {
        if self.multiplicative { "slow-start" } else { "avoidance" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("base_rtt_s", if self.base.is_finite() { self.base } else { 0.0 });
        out("mean_rtt_s", self.mean.unwrap_or(0.0));
        out("queued", self.queued);
    }
}

#[cfg(test)]
mod tests;
