//! Linear congestion control: AIMD, AIAD, MIMD, MIAD and their hybrids.
//!
//! Once per round trip without loss the window is multiplied and added to; once per window with
//! loss it is multiplied and subtracted from. The named rules set some of the four numbers.
//!
//! **Source**: A. Akella, S. Seshan, S. Shenker, I. Stoica, "Exploring Congestion Control",
//! CMU-CS-02-139 (2002), section 3.2 (the four pure rules, LC(a, b)), section 5.1 (general form),
//! section 5.2 (hybrids); general form from D. Chiu, R. Jain, Computer Networks and ISDN Systems
//! 17(1), 1989, doi:10.1016/0169-7552(89)90019-6. Floors: RFC 5681 sections 3.1 and 3.2.
//!
//! **Rule** (w = window in segments)
//! ```text
//! success, per round trip:  w <- a_i + b_i w
//! loss or ECN-Echo:         w <- a_d + b_d w,  ssthresh <- max(a_d + b_d w, 2)
//!                           w >= 2 after a fast retransmit (era rfc), w >= 1 else
//! timeout:                  ssthresh as on loss, w <- 1
//! count = segments: a round is w0 acknowledged segments; each adds (a_i + (b_i - 1) w0) / w0,
//!                   so that the round ends at exactly a_i + b_i w0
//! count = whole:    as segments, but the window grows by whole segments when they are complete, and a cut
//!                   rounds down
//! count = acks:     each acknowledgement adds (a_i + (b_i - 1) w) / w with the present w
//! ```
//! Deviations. `acks` is ns-2's growth: ten acknowledgements take AIMD from 10 to 10.96, not 11,
//! since the divisor grows within the round, and with delayed acknowledgements it grows half as
//! fast. `segments` does not depend on the receiver's acknowledgement policy (as RFC 3465).
//! ns-2 lets an additive decrease take the window below 1; here 1 is the floor.
//!
//! Defaults by era: `rfc`: count = segments, `first_cut` = rule; the floor after a fast retransmit is two
//! segments (RFC 5681 section 3.2), after an ECN-Echo one (RFC 3168 section 6.1.2); a window not in use does not grow
//! and a decrease starts from `FlightSize` if the window was not full; a repeated timeout leaves
//! ssthresh (RFC 5681 section 3.1). `linux`: the same, but count = whole and a decrease starts from cwnd. `1999`, `2002`, `2007`: count = acks. `ns2`: also
//! `first_cut` = half.

mod named;

use std::marker::PhantomData;

pub use named::{
    Aiad, AiadParams, Aimad, AimadParams, Aimd, AimdParams, General, GeneralParams, Maimd,
    MaimdParams, Miad, MiadParams, Mimd, MimdParams, Named,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::credit::Credit;
use super::usage::{in_use, may_grow};
use super::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info};

/// What growth counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// Acknowledgements, however many segments each covers (ns-2).
    Acks,
    /// Acknowledged segments.
    Segments,
    /// Acknowledged segments, in whole segments of the window (Linux).
    Whole,
}

/// How the first cut, cuts in slow start and cuts at timeouts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstCut {
    /// By the decrease rule, as every other.
    Rule,
    /// By half, whatever the decrease rule (ns-2).
    Half,
}

/// The four numbers of section 5.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Added per round trip.
    pub a_i: f64,
    /// Factor per round trip.
    pub b_i: f64,
    /// Added (zero or less) per loss.
    pub a_d: f64,
    /// Factor kept per loss.
    pub b_d: f64,
}

impl Rule {
    /// Growth of a window of `w` in one round trip.
    fn step(&self, w: f64) -> f64 {
        self.a_i + (self.b_i - 1.0) * w
    }

    /// What a loss leaves of a window of `w`.
    fn cut(&self, w: f64) -> f64 {
        self.a_d + self.b_d * w
    }
}

/// The round of acknowledgements in progress (`count = segments`).
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Growth per acknowledged segment.
    slope: f64,
    /// Segments of the round not yet acknowledged.
    left: f64,
    /// The window at the round's end.
    goal: f64,
    /// The window as this control last left it; another value means that someone else moved it.
    last_window: f64,
}

/// A linear control under one of its names.
#[repr(C)]
pub struct Linear<N> {
    // What each acknowledgement touches comes first.
    round: Round,
    credit: Credit,
    count: Count,
    era: Era,
    first_cut: FirstCut,
    /// No cut has been made yet.
    uncut: bool,
    /// Factor kept after an ECN mark, if it is another than after a loss.
    beta_ecn: Option<f64>,
    rule: Rule,
    name: PhantomData<fn() -> N>,
}

impl<N: Named> About<CcEnv> for Linear<N> {
    type Params = N;
    const INFO: Info = N::INFO;
    const ALSO: &'static [&'static str] = N::ALSO;

    fn new(params: N, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let (count, first_cut) = match env.era {
            Era::Rfc | Era::Quic => (Count::Segments, FirstCut::Rule),
            Era::Linux => (Count::Whole, FirstCut::Rule),
            Era::Ns2 => (Count::Acks, FirstCut::Half),
            Era::Y1999 | Era::Y2002 | Era::Y2007 => (Count::Acks, FirstCut::Rule),
        };
        let beta_ecn = params.beta_ecn();
        Ok(Self {
            beta_ecn,
            rule: params.rule()?,
            count: params.count().unwrap_or(count),
            first_cut: params.first_cut().unwrap_or(first_cut),
            era: env.era,
            round: Round { slope: 0.0, left: 0.0, goal: 0.0, last_window: f64::NAN },
            credit: Credit::default(),
            uncut: true,
            name: PhantomData,
        })
    }
}

impl<N> Linear<N> {
    fn open_round(&mut self, cwnd: f64) {
        let step = self.rule.step(cwnd);
        // A round has at least one segment.
        let segments = cwnd.max(1.0);
        self.round =
            Round { slope: step / segments, left: segments, goal: cwnd + step, last_window: cwnd };
    }

    fn grow_by_segments(&mut self, window: &mut Window, acked: u32) {
        if window.cwnd.to_bits() != self.round.last_window.to_bits() {
            self.open_round(window.cwnd);
        }
        let mut acked = f64::from(acked);
        while acked >= self.round.left {
            acked -= self.round.left;
            self.open_round(self.round.goal);
        }
        // The window within a round is on the line to its goal, so rounding never accumulates.
        self.round.left -= acked;
        self.round.last_window = self.round.goal - self.round.slope * self.round.left;
        window.cwnd = self.round.last_window;
    }
}

impl<N> Linear<N> {
    fn grow_by_whole_segments(&mut self, window: &mut Window, acked: u32) {
        let cwnd = window.cwnd.floor();
        let step = self.rule.step(cwnd);
        if step > 0.0 {
            let per = (cwnd / step).max(1.0) as u32;
            window.cwnd = cwnd + f64::from(self.credit.take(per, acked));
        }
    }
}

impl<N: Named> CongestionControl for Linear<N> {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !may_grow(ack, self.era) {
            return;
        }
        match self.count {
            Count::Acks => window.cwnd += self.rule.step(window.cwnd) / window.cwnd,
            Count::Segments => self.grow_by_segments(window, ack.acked),
            Count::Whole => self.grow_by_whole_segments(window, ack.acked),
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let used = in_use(window, event, self.era);
        let halve = self.first_cut == FirstCut::Half;
        let early = halve && (self.uncut || before < window.ssthresh);
        let mut cut = if early { used / 2.0 } else { self.rule.cut(used) };
        if event.signal == Signal::EcnEcho
            && let Some(beta) = self.beta_ecn
        {
            cut = beta * used;
        }
        if self.count == Count::Whole {
            cut = cut.floor();
            self.credit.clear();
        }
        match event.signal {
            Signal::Rto { consecutive } => {
                if self.era.is_ns2() || consecutive <= 1 {
                    window.ssthresh = if halve { used / 2.0 } else { cut }.max(2.0);
                }
                window.cwnd = 1.0;
            }
            Signal::FastRetransmit { .. } | Signal::EcnEcho => {
                window.ssthresh = cut.max(2.0);
                let fast = matches!(event.signal, Signal::FastRetransmit { .. });
                let floor = if fast && !self.era.is_ns2() { 2.0 } else { 1.0 };
                window.cwnd = cut.max(floor).min(before);
            }
            Signal::Spurious => return,
        }
        self.uncut = false;
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("round_left", self.round.left);
    }
}

#[cfg(test)]
mod ns2_trace;
#[cfg(test)]
mod tests;
