//! CSFQ, core-stateless fair queueing: edge routers label packets with their flow's rate, all routers drop
//! what exceeds a fair share of it; only the edge knows flows.
//!
//! **Source**: Stoica, Shenker & Zhang, "Core-Stateless Fair Queueing: Achieving Approximately Fair
//! Bandwidth Allocations in High Speed Networks", SIGCOMM 1998, section 3, and IEEE/ACM Trans. Networking
//! 11(1), 2003 (doi:10.1109/TNET.2002.808414). Written from their published pseudo-code as later accounts
//! give it; the full texts were not to be had.
//! Compared line by line with what Sirikata's scheduler (`CSFQODPFlowScheduler.cpp`, 2010) keeps of the authors' code.
//!
//! **Rule**: a packet of l bytes, T after the one before:
//! - edge: rate r = (1 - e^(-T/K)) l / T + e^(-T/K) r; label = r / weight;
//! - dropped with probability p = max(0, 1 - a / label); if p > 0 and it stays, label = a;
//! - A, rate of arrivals, and F, rate of what is accepted, are estimated as r is, with `k_link`;
//! - congested (A >= C) for `k_congested`: a = a C / F; uncongested so long: a = the largest label seen then;
//! - at an overflow a falls by 1 %, between two estimates by 25 % at most;
//! - a link that has become uncongested stays so while less than `threshold` waits.
//!
//! Of a flow that sends at up to R, more than its share s = a weight passes by at most s K (1 + ln(R / s)) and
//! one packet, whatever its bursts (theorem 1).
//!
//! **Deviations**: by default an edge is the first such router on a packet's way, which finds no label. F
//! decays at every arrival, not only at accepted ones. The largest label counts from the packet at which the link stops being
//! congested to the one at which a is set, both included; in the authors' code from the one after to the one before. That code
//! holds a to the link's rate, lets everything pass after an uncongested time with less than `threshold` waiting, until there is more, and
//! counts 29 falls of 1 %, the 25 %, anew only when a link becomes congested; Sirikata does not count what overflows, and has 200 ms for
//! both times of the link.
//!
//! **Defaults by era**: none. K = `k_link` = `k_congested` = 100 ms, `threshold` a quarter of the buffer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::fair::numbering::Numbering;
use crate::qdisc::store::Store;
use crate::qdisc::{Limit, QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Fact, Info, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{DropReason, Flags, Packet, Timed};

/// Whether a router labels packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Those that have no label yet.
    #[default]
    Auto,
    /// All.
    Edge,
    /// None; those without a label pass as far as the buffer has room.
    Core,
}

/// Parameters of [`CoreStateless`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Which packets this router labels: `auto` those without a label, `edge` all, `core` none.
    pub role: Role,
    /// Weights by class key where packets are labelled; beyond the list 1.
    #[schemars(extend("items" = { "type": "number", "exclusiveMinimum": 0 }))]
    pub weights: Vec<f64>,
    /// K: averaging time of a flow's rate.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub k: Span,
    /// Averaging time of the link's rates.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub k_link: Span,
    /// How long a link is congested, or not, before the fair share is estimated anew.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub k_congested: Span,
    /// A link that is not congested stays so while less than this waits. Left out: a quarter of the buffer; 0 B where
    /// that has no limit.
    pub threshold: Option<Bytes>,
}

impl Default for Params {
    fn default() -> Self {
        let k = Span::from_millis(100);
        Self {
            role: Role::Auto,
            weights: Vec::new(),
            k,
            k_link: k,
            k_congested: k,
            threshold: None,
        }
    }
}

/// How much of a rate is left after a time of x averaging times, and (1 - e^-x) / x.
#[inline(always)]
fn decay(x: f64) -> (f64, f64) {
    // Five terms err by x^5 / 720: less than 2e-8.
    let mean = if x < 0.1 {
        1.0 - x / 2.0 * (1.0 - x / 3.0 * (1.0 - x / 4.0 * (1.0 - x / 5.0)))
    } else {
        -(-x).exp_m1() / x
    };
    (1.0 - x * mean, mean)
}

/// A flow's rate at the edge, bytes per second.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    rate: f64,
    /// When its last packet came; `None` before the first.
    last: Option<Time>,
}

/// Estimates the link's fair share, bytes per second and unit of weight.
#[derive(Debug)]
struct FairShare {
    capacity: f64,
    /// One over the averaging time, 1/s.
    per_k: f64,
    window: Span,
    arrivals: f64,
    accepted: f64,
    last: Time,
    /// Not known yet: infinite.
    share: f64,
    /// No less than this before the next estimate.
    floor: f64,
    congested: bool,
    since: Time,
    /// Largest label of the window.
    largest: f64,
}

impl FairShare {
    /// A packet has come, and is `accepted`; `is_short`: too little waits for congestion.
    #[inline(always)]
    fn update(&mut self, size: u16, label: f64, accepted: bool, is_short: bool, now: Time) {
        let x = now.since(self.last).seconds() * self.per_k;
        self.last = now;
        let (left, mean) = decay(x);
        let fresh = f64::from(size) * self.per_k * mean;
        self.arrivals = self.arrivals * left + fresh;
        self.accepted = self.accepted * left + if accepted { fresh } else { 0.0 };
        let congested = self.arrivals >= self.capacity && (self.congested || !is_short);
        if label > self.largest {
            self.largest = label;
        }
        if congested != self.congested {
            self.congested = congested;
            self.since = now;
            if congested && self.share.is_infinite() {
                self.set(self.largest);
            }
            self.largest = label;
        } else if now.since(self.since) > self.window {
            self.estimate(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn estimate(&mut self, now: Time) {
        if self.congested {
            if self.accepted > 0.0 {
                self.set(self.share * self.capacity / self.accepted);
            }
        } else {
            self.set(self.largest);
            self.largest = 0.0;
        }
        self.since = now;
    }

    fn set(&mut self, share: f64) {
        (self.share, self.floor) = (share, 0.75 * share);
    }

    fn overflow(&mut self) {
        if self.share.is_finite() {
            self.share = (0.99 * self.share).max(self.floor);
        }
    }
}

/// Core-stateless fair queueing.
pub struct CoreStateless {
    store: Store,
    limit: Limit,
    threshold: u64,
    role: Role,
    fair: FairShare,
    per_k: f64,
    numbering: Numbering,
    /// By number; 1 beyond.
    weights: Vec<f64>,
    /// Of the flows that are labelled here.
    rates: Vec<Rate>,
}

impl About<QdiscEnv> for CoreStateless {
    type Params = Params;
    const INFO: Info = Info {
        name: "core-stateless",
        title: "CSFQ: core-stateless fair queueing",
        source: "Stoica, Shenker & Zhang, IEEE/ACM ToN 11(1), 2003, doi:10.1109/TNET.2002.808414",
        status: Status::Reconstructed,
    };
    const ALSO: &'static [&'static str] = &["csfq"];
    // Only the edge knows flows, but each gets its share, and what exceeds it is dropped.
    const FACTS: &'static [Fact] = &[Fact::Fair];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let Limit { packets, bytes } = env.limit;
        let buffer = (u64::from(packets) * u64::from(env.mean_packet)).min(bytes);
        let quarter = if env.limit == Limit::NONE { 0 } else { buffer / 4 };
        let numbering = Numbering::new(&env.passing);
        Ok(Self {
            store: Store::default(),
            limit: env.limit,
            threshold: params.threshold.map_or(quarter, |bytes| bytes.0),
            role: params.role,
            fair: FairShare {
                capacity: env.rate.bps() / 8.0,
                per_k: 1.0 / params.k_link.seconds(),
                window: params.k_congested,
                arrivals: 0.0,
                accepted: 0.0,
                last: Time::ZERO,
                share: f64::INFINITY,
                floor: 0.0,
                congested: false,
                since: Time::ZERO,
                largest: 0.0,
            },
            per_k: 1.0 / params.k.seconds(),
            weights: numbering.renumber(params.weights, 1.0),
            numbering,
            rates: Vec::new(),
        })
    }
}

impl CoreStateless {
    /// The label of a packet; a new one where this router is its edge.
    #[inline]
    fn label(&mut self, packet: &Packet, ctx: &QdiscCtx<'_>) -> f64 {
        let has_label = packet.flags.has(Flags::LABEL);
        match self.role {
            Role::Auto if has_label => f64::from(packet.label),
            Role::Core => f64::from(packet.label),
            Role::Auto | Role::Edge => self.measure(ctx.key(packet), packet.size, ctx.now),
        }
    }

    /// The rate of a flow, over its weight, as a packet of it arrives.
    fn measure(&mut self, key: u32, size: u16, now: Time) -> f64 {
        let flow = self.numbering.of(key) as usize;
        if self.rates.len() <= flow {
            self.rates.resize(flow + 1, Rate::default());
        }
        let Rate { rate, last } = &mut self.rates[flow];
        let x = last.map_or(0.0, |last| now.since(last).seconds() * self.per_k);
        *last = Some(now);
        let (left, mean) = decay(x);
        *rate = *rate * left + f64::from(size) * self.per_k * mean;
        *rate / self.weights.get(flow).copied().unwrap_or(1.0)
    }
}

impl QueueDisc for CoreStateless {
    fn enqueue(&mut self, mut packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let label = self.label(&packet, ctx);
        let share = self.fair.share;
        let is_excess = label > share;
        let accepted = !is_excess || ctx.rng.uniform() * label < share;
        let is_short = self.store.backlog().0 < self.threshold;
        self.fair.update(packet.size, label, accepted, is_short, ctx.now);
        if !accepted {
            return ctx.drop(packet, DropReason::Early);
        }
        if !self.limit.admits(self.store.len(), self.store.backlog(), packet.size) {
            self.fair.overflow();
            return ctx.drop(packet, DropReason::Overflow);
        }
        if self.role != Role::Core || packet.flags.has(Flags::LABEL) {
            packet.flags.set(Flags::LABEL);
            packet.label = if is_excess { share } else { label } as f32;
        }
        self.store.push(ctx.now, packet);
    }

    fn dequeue(&mut self, _ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        self.store.pop()
    }

    fn len(&self) -> usize {
        self.store.len()
    }

    fn backlog(&self) -> Bytes {
        self.store.backlog()
    }

    fn on_rate(&mut self, _at: Time, rate: BitRate) {
        self.fair.capacity = rate.bps() / 8.0;
    }

    fn state(&self) -> State {
        let flows = self.rates.iter().filter(|rate| rate.last.is_some()).count();
        let bytes = size_of::<Self>() + flows * size_of::<Rate>();
        State { flows: flows as u64, bytes: bytes as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let share = self.fair.share;
        out("fair_share_bps", if share.is_finite() { 8.0 * share } else { 0.0 });
        out("arrivals_bps", 8.0 * self.fair.arrivals);
    }
}

#[cfg(test)]
mod tests;
