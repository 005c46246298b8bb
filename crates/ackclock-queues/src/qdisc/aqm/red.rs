//! RED, random early detection: drops arrivals with a probability that grows with the average queue.
//!
//! **Source**: Floyd & Jacobson, IEEE/ACM Trans. Networking 1(4), 1993 (doi:10.1109/90.251892); gentle curve:
//! Floyd 2000; adaptation of `max_p` and automatic parameters: Floyd, Gummadi & Shenker, "Adaptive
//! RED", ICSI 2001; ECN: RFC 3168, section 7. The ns-2 eras follow ns-2's RED.
//! Compared line by line with `red.cc` and `ns-default.tcl` of ns-2.35; the algorithm of 1993 with a
//! transcript of it (adrian.idv.hk/2012-02-11-fj93-red), ECN with RFC 3168, section 7. The papers' texts could not be had.
//!
//! **Rule**, at every arrival with q waiting:
//! - `avg = (1 - w_q)^(m + 1) avg + w_q q`, m = whole mean packets that fit into the idle time;
//! - `p_b = max_p (avg - min_th) / (max_th - min_th)` from `min_th` to `max_th`; above, 1 or, gentle,
//!   on a line from `max_p` to 1 at `2 max_th`;
//! - c arrivals after the last drop, drop with `p_a = p_b / (1 - c p_b)`; `wait`: 0 if `c p_b < 1`,
//!   `p_b / (2 - c p_b)` if `c p_b < 2`, else 1;
//! - automatic: `w_q = 1 - exp(-1 / (10 R C))`, `R = max(0.1 s, 3 (delay + 1/C))`, C in mean packets
//!   per second; `min_th = max(5, C target_delay / 2)`; `max_th = 3 min_th`;
//! - adaptive, with `d = 0.4 (max_th - min_th)`, an interval after the last change: `max_p *= 0.9` if
//!   `avg < min_th + d`; `max_p += min(0.01, max_p / 4)` if `avg > max_th - d`.
//!
//! **Deviations**: an arrival after idle time is averaged by m + 1 whole packets, as in ns-2; in 1993 by m, which need not be
//! whole, and by nothing for itself. Automatic `w_q` depends on the round trip, and the default of `bottom` on the rate, as
//! in ns-2 since 2004. `max_p` adapts at arrivals, as in ns-2, not by a timer. Where a link's rate changes by
//! schedule, C and all that is automatic follow, but `max_p`, which has adapted; thresholds that
//! would cross a given one stay. Delivery opportunities are no rate. The eras before `rfc` have four
//! habits of ns-2: parameters stay those of the first rate; the arrival that crosses `min_th` is never dropped and counts as the first; an arrival that finds at
//! most one unit (packet; in bytes mode, byte) waiting is never dropped; adapting `max_p` does not
//! move the gentle line. Linux's `sch_red` (6.12) is another realisation, and not here: it counts bytes, draws one random
//! number for each drop in place of one for each arrival, lets the average decay by a table, and adapts `max_p` by a timer.
//!
//! **Defaults by era** (parameters left out):
//!
//! | | rfc | 1999 | 2002 | 2007 | ns2 |
//! |---|---|---|---|---|---|
//! | `min_th`, `max_th` | automatic | 5, 15 | automatic | automatic | automatic |
//! | `w_q` | automatic | 0.002 | automatic | automatic | automatic |
//! | `gentle` | on | off | on | on | on |
//! | `bytes` | off | off | off | on | on |
//! | `wait` | off | on | on | on | on |
//! | `mean_packet` | the link's | 500 B | 500 B | 500 B | 500 B |
//! | `mark_p` | 1 | 1 below `max_th`, else 0 | 1 below `max_th`, else 0 | 0.1 | 0.1 |
//!
//! In era `ns2` with `bytes`, a buffer of N packets is N `mean_packet` bytes, and an arrival is
//! refused only when that much waits already.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::era::Era;
use crate::error::Problem;
use crate::qdisc::aqm::Prototype;
use crate::qdisc::aqm::curve::{Average, Curve, Spacing, Spread};
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::rng::mrg32k3a::Mrg32k3a;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{DropReason, Packet};

/// Parameters of [`Red`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Average queue from which packets are dropped. Left out: by era.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "packets"))]
    pub min_th: Option<f64>,
    /// Average queue at which the probability is `max_p`; more than `min_th`. Left out: by era.
    #[schemars(extend("x-unit" = "packets"))]
    pub max_th: Option<f64>,
    /// Drop probability at `max_th`.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub max_p: f64,
    /// Weight of an arrival in the average. Left out: by era.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub w_q: Option<f64>,
    /// Above `max_th` the probability rises on a line to 1 at twice `max_th`; else it is 1. Left out: by era.
    pub gentle: Option<bool>,
    /// No drop before 1/p arrivals have passed since the last. Left out: by era.
    pub wait: Option<bool>,
    /// Queue and probabilities are measured in bytes (thresholds times `mean_packet`). Left out: by era.
    pub bytes: Option<bool>,
    /// `max_p` adapts (Adaptive RED).
    pub adaptive: bool,
    /// ECN-capable packets are marked instead of dropped early.
    pub ecn: bool,
    /// With `ecn`: packets are dropped, not marked, while the probability exceeds this. Left out: by
    /// era.
    #[schemars(range(min = 0, max = 1))]
    pub mark_p: Option<f64>,
    /// Mean packet size for idle time, bytes mode and automatic parameters. Left out: by era.
    #[schemars(range(min = 1), extend("x-unit" = "B"))]
    pub mean_packet: Option<u32>,
    /// The average decays over idle time.
    pub idle_decay: bool,
    /// Queueing delay that automatic thresholds aim at.
    pub target_delay: Span,
    /// Adaptive: least time between two changes of `max_p`.
    pub interval: Span,
    /// Adaptive: `max_p` is not lowered below this. Left out: min(0.01, 80 kbit/s / rate).
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub bottom: Option<f64>,
    /// Adaptive: `max_p` is not raised above this.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub top: f64,
    /// Random tests take the numbers of ns-2's generator with this seed, one after the other, as in ns-2 where nothing
    /// else draws. Left out: those of the scenario's seed.
    #[schemars(range(min = 1, max = 2_147_483_646))]
    pub ns2_seed: Option<u32>,
    /// With `ns2_seed`: so many of its first numbers are passed over, as those that something else drew in ns-2.
    #[schemars(range(max = 1_000_000_000), extend("x-unit" = "numbers"))]
    pub ns2_skip: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            min_th: None,
            max_th: None,
            max_p: 0.1,
            w_q: None,
            gentle: None,
            wait: None,
            bytes: None,
            adaptive: false,
            ecn: false,
            mark_p: None,
            mean_packet: None,
            idle_decay: true,
            target_delay: Span::from_millis(5),
            interval: Span::from_millis(500),
            bottom: None,
            top: 0.5,
            ns2_seed: None,
            ns2_skip: 0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Adaptation {
    interval: Span,
    bottom: f64,
    top: f64,
    last: Time,
}

impl Adaptation {
    const DECREASE: f64 = 0.9;
    const INCREASE: f64 = 0.01;

    fn update(&mut self, now: Time, avg: f64, curve: &mut Curve) {
        if now <= self.last + self.interval {
            return;
        }
        let margin = 0.4 * (curve.max_th - curve.min_th);
        if avg < curve.min_th + margin && curve.max_p > self.bottom {
            curve.max_p *= Self::DECREASE;
        } else if avg > curve.max_th - margin && curve.max_p < self.top {
            curve.max_p += Self::INCREASE.min(0.25 * curve.max_p);
        } else {
            return;
        }
        self.last = now;
    }
}

/// What is automatic, with what was given in its place.
#[derive(Clone, Copy, Debug)]
struct Automatic {
    min_th: Option<f64>,
    max_th: Option<f64>,
    w_q: Option<f64>,
    bottom: Option<f64>,
    target_delay: Span,
    delay: Span,
    mean: u32,
}

/// What follows from a link's rate.
struct Derived {
    packet_rate: f64,
    min_th: f64,
    max_th: f64,
    w_q: f64,
    bottom: f64,
}

impl Automatic {
    fn at(&self, rate: BitRate) -> Derived {
        // A link may have rate 0; the automatic parameters then take their slow-link limits.
        let rate = rate.bps().max(1.0);
        let packet_rate = rate / (8.0 * f64::from(self.mean));
        let automatic = (packet_rate * self.target_delay.seconds() / 2.0).max(5.0);
        let min_th = self.min_th.unwrap_or(automatic);
        let rtt = (3.0 * (self.delay.seconds() + 1.0 / packet_rate)).max(0.1);
        Derived {
            packet_rate,
            min_th,
            max_th: self.max_th.unwrap_or(3.0 * min_th),
            w_q: self.w_q.unwrap_or_else(|| -(-1.0 / (10.0 * rtt * packet_rate)).exp_m1()),
            bottom: self.bottom.unwrap_or((80_000.0 / rate).min(0.01)),
        }
    }
}

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    average: Average,
    curve: Curve,
    spacing: Spacing,
    spread: Spread,
    adaptation: Option<Adaptation>,
    ecn: bool,
    /// Dropping replaces marking above this probability.
    mark_p: f64,
    /// ns-2 since 2007.
    recent: bool,
    /// Forced drops replace the random test where its probability is 1 (ns-2: `use_mark_p_` is false).
    forced: bool,
    /// Dropping replaces marking from this average on: ns-2 until 2005 marked below `max_th` only.
    mark_below: f64,
    idle_decay: bool,
    ns2: bool,
    automatic: Automatic,
    /// What thresholds count, in packets (1) or bytes (the mean packet's).
    unit: f64,
    limit: Limit,
    /// The byte limit refuses only arrivals that find it reached (ns-2 in bytes mode).
    lenient: bool,
    replayed: Option<Mrg32k3a>,
    p: f64,
}

impl About<QdiscEnv> for Red {
    type Params = Params;
    const INFO: Info = Info {
        name: "red",
        title: "RED: random early detection (classic, gentle, adaptive)",
        source: "Floyd & Jacobson, IEEE/ACM ToN 1(4), 1993, doi:10.1109/90.251892; Floyd, Gummadi & Shenker, Adaptive RED, ICSI 2001",
        status: Status::Specified,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let ns2 = env.era.is_ns2();
        let recent = matches!(env.era, Era::Y2007 | Era::Ns2);
        let y1999 = env.era == Era::Y1999;
        let mean = params.mean_packet.unwrap_or(if ns2 { 500 } else { env.mean_packet });
        let bytes = params.bytes.unwrap_or(recent);
        let fixed = |explicit: Option<f64>, value: f64| explicit.or(y1999.then_some(value));
        let automatic = Automatic {
            min_th: fixed(params.min_th, 5.0),
            max_th: params.max_th.or((y1999 && params.min_th.is_none()).then_some(15.0)),
            w_q: fixed(params.w_q, 0.002),
            bottom: params.bottom,
            target_delay: params.target_delay,
            delay: env.delay,
            mean,
        };
        let Derived { packet_rate, min_th, max_th, w_q, bottom } = automatic.at(env.rate);
        if max_th <= min_th {
            let range = format!("more than min_th, {min_th} packets");
            return Err(Problem::out_of_range("max_th", max_th, &range).into());
        }
        let mark_p = params.mark_p.unwrap_or(if recent { 0.1 } else { 1.0 });
        let unit = if bytes { f64::from(mean) } else { 1.0 };
        let mut limit = env.limit;
        let lenient = bytes && env.era == Era::Ns2;
        if lenient && limit.packets != u32::MAX {
            limit.bytes = limit.bytes.min(u64::from(limit.packets) * u64::from(mean));
            limit.packets = u32::MAX;
        }
        Ok(Self {
            average: Average::new(w_q, packet_rate),
            curve: Curve::new(
                min_th * unit,
                max_th * unit,
                params.max_p,
                params.gentle.unwrap_or(!y1999),
            ),
            spacing: Spacing::default(),
            spread: Spread { wait: params.wait.unwrap_or(ns2), by_bytes: bytes.then_some(mean) },
            adaptation: if params.adaptive {
                Some(Adaptation {
                    interval: params.interval,
                    bottom,
                    top: params.top,
                    last: Time::ZERO,
                })
            } else {
                None
            },
            ecn: params.ecn,
            mark_p,
            recent,
            forced: mark_p >= 1.0 && !(recent && params.mark_p.is_some()),
            mark_below: if ns2 && !recent && params.mark_p.is_none() {
                max_th * unit
            } else {
                f64::INFINITY
            },
            idle_decay: params.idle_decay,
            ns2,
            automatic,
            unit,
            limit,
            lenient,
            replayed: params.ns2_seed.map(|seed| {
                let mut numbers = Mrg32k3a::new(seed);
                numbers.skip(params.ns2_skip);
                numbers
            }),
            p: 0.0,
        })
    }
}

impl Plain for Red {
    /// RED's own: an arrival that finds the buffer full still enters the average.
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

/// Whether an arrival of `size` finds the buffer full.
#[inline]
pub(crate) fn full(limit: Limit, lenient: bool, queue: &QueueState, size: u16) -> bool {
    if lenient {
        queue.packets as u64 >= u64::from(limit.packets) || queue.bytes.0 >= limit.bytes
    } else {
        !limit.admits(queue.packets, Bytes(queue.bytes.0), size)
    }
}

impl Red {
    /// The test of an arrival at an average of at least `min_th`.
    #[inline]
    fn test(&mut self, size: u16, rng: &mut Stream) -> Verdict {
        if self.forced && self.average.value >= self.curve.ceiling() {
            self.p = 1.0;
            self.spacing.reset();
            // Arrivals after a certain drop count (1993); ns-2 begins only below the ceiling.
            self.spacing.above |= !self.ns2;
            return Verdict::Drop(DropReason::Forced);
        }
        let p_b = self.curve.p(self.average.value);
        self.p = p_b;
        if !self.spacing.above {
            self.spacing.cross(self.ns2, size);
            if self.ns2 {
                return Verdict::Pass;
            }
        }
        // One draw per test even where it cannot matter, as ns-2 draws.
        let uniform = self.replayed.as_mut().map_or_else(|| rng.uniform(), Mrg32k3a::uniform);
        if uniform >= self.spacing.p(p_b, size, self.spread) {
            return Verdict::Pass;
        }
        self.spacing.reset();
        // ns-2.35 marks below `mark_p_` only: at a probability of 1 it drops what it could mark.
        let may_mark = p_b < self.mark_p || (!self.recent && p_b <= self.mark_p);
        if self.ecn && may_mark && self.average.value < self.mark_below {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else if p_b >= 1.0 {
            Verdict::Drop(DropReason::Forced)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }
}

impl Aqm for Red {
    fn into_prototype(self) -> Option<Box<dyn Prototype>> {
        Some(Box::new(self))
    }

    fn on_clock(&mut self, seconds: f64) {
        self.average.set_clock(seconds);
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        let waiting = if self.spread.by_bytes.is_some() {
            queue.bytes.0 as f64
        } else {
            queue.packets as f64
        };
        self.average.arrival(queue.now, waiting);
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.update(queue.now, self.average.value, &mut self.curve);
            if !self.ns2 {
                self.curve.gentle_p = self.curve.max_p;
            }
        }
        self.spacing.arrival(packet.size);
        let mut verdict = Verdict::Pass;
        if self.average.value >= self.curve.min_th && (waiting > 1.0 || !self.ns2) {
            verdict = self.test(packet.size, rng);
        } else {
            self.p = 0.0;
            self.spacing.above = false;
        }
        if full(self.limit, self.lenient, queue, packet.size) {
            self.spacing.reset();
            verdict = Verdict::Drop(DropReason::Overflow);
        }
        verdict
    }

    fn on_idle(&mut self, now: Time) {
        if self.idle_decay {
            self.average.idle(now);
        }
    }

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        if self.ns2 {
            return;
        }
        let Derived { packet_rate, min_th, max_th, w_q, bottom } = self.automatic.at(rate);
        self.average.set_rate(now, packet_rate, w_q);
        if max_th > min_th {
            self.curve.min_th = min_th * self.unit;
            self.curve.max_th = max_th * self.unit;
        }
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.bottom = bottom;
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.average.value);
        out("p", self.p);
        out("max_p", self.curve.max_p);
    }
}

#[cfg(test)]
mod tests;
