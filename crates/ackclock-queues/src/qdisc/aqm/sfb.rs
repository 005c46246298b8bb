//! SFB, stochastic fair BLUE: BLUE's probability in each bin of a Bloom filter of flows.
//!
//! **Source**: Feng, Kandlur, Saha & Shin, "Stochastic Fair Blue: A Queue Management Algorithm for
//! Enforcing Fairness", INFOCOM 2001 (doi:10.1109/INFCOM.2001.916648). The rule is that of its
//! printed figure as retold; rehash, double buffering and penalty box as in Linux's `sch_sfb` and
//! tc-sfb(8), whose numbers are the defaults.
//!
//! **Rule**: each flow has one bin in each of L levels. For an arrival, with q the packets of a bin:
//! - q = 0: `p = max(0, p - d2)`; q >= `target`: `p = min(1, p + d1)`; each at most once a `freeze`;
//! - least q of its bins >= `max`: drop; with `full = "any"`, as the figure prints it, a bin is full
//!   with q > `target`, and any full bin of the flow drops the arrival;
//! - `p_min`, the least p of its bins, = 1: an unresponsive flow; it gets what a token bucket of
//!   `penalty_rate` and `penalty_burst` lets through; else drop or mark with probability `p_min`;
//!   above 1/2, `2 p_min - 1` of the arrivals are dropped, not marked.
//!
//! New hash functions come into use every `rehash`; the table for them learns for the last `warmup`
//! of it (double buffering) from the arrivals of unresponsive flows alone, of which it also counts the packets:
//! all others begin with p = 0 after the change.
//!
//! **Deviations**: the hash is not that of the sources; theirs differ too. An arrival that finds the buffer full changes
//! bins, uses a random number and, if unresponsive, a token, before it is dropped; Linux (`sch_sfb.c`) drops it first.
//! There the table for the next change keeps the probabilities that it had in its last use; here it begins empty.
//!
//! **Defaults by era**: the same in all. `target` is 1.5 times a bin's share of the buffer.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, State, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Span, Time};
use crate::wire::{DropReason, Packet};

/// Parameters of [`Sfb`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Levels of the filter, L.
    #[schemars(range(min = 1, max = 16))]
    pub levels: u32,
    /// Bins in each level, N; `bins` to the power `levels` is at most 2^60.
    #[schemars(range(min = 1))]
    pub bins: u32,
    /// What a full bin adds to its probability.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub d1: f64,
    /// What an empty bin takes off.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub d2: f64,
    /// Least time between two changes of a bin's probability; 0: every arrival changes it.
    pub freeze: Span,
    /// Packets from which a bin is full. Left out: 1.5 times buffer / `bins`, at least 1; 20 if the
    /// buffer has no limit.
    #[schemars(range(min = 1), extend("x-unit" = "packets"))]
    pub target: Option<u32>,
    /// Packets that a flow's emptiest bin never exceeds. Left out: 1.25 `target`.
    #[schemars(range(min = 1), extend("x-unit" = "packets"))]
    pub max: Option<u32>,
    /// Which bins of a flow drop its arrivals as too many.
    pub full: Full,
    /// Time after which new hash functions come into use; 0: never.
    pub rehash: Span,
    /// Time for which the new table learns beside the old one; at most `rehash`.
    pub warmup: Span,
    /// Packets that an unresponsive flow gets through.
    #[schemars(range(min = 0), extend("x-unit" = "1/s"))]
    pub penalty_rate: f64,
    /// Packets that unresponsive flows may send at once.
    #[schemars(range(min = 1))]
    pub penalty_burst: f64,
    /// ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

/// Which bins of a flow drop its arrivals as too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Full {
    /// The emptiest, once it holds `max`, as in Linux.
    #[default]
    Least,
    /// Any that holds more than `target`, as the paper's figure prints it; `max` is not used.
    Any,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            levels: 8,
            bins: 16,
            d1: 0.001,
            d2: 1.0 / 6000.0,
            freeze: Span::ZERO,
            target: None,
            max: None,
            full: Full::Least,
            rehash: Span::from_millis(600_000),
            warmup: Span::from_millis(60_000),
            penalty_rate: 10.0,
            penalty_burst: 20.0,
            ecn: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    p: f64,
    waiting: u32,
}

/// Most levels.
const LEVELS: usize = 16;

/// Where a flow's bins are in a table; as many as there are levels.
type Slots = [u32; LEVELS];

/// One filter with its hash functions.
#[derive(Debug, Default)]
struct Table {
    bins: Vec<Bin>,
    /// With a freeze time: when each bin's probability may change again.
    thaws: Vec<Time>,
    seed: u64,
    /// Number of the first packet that it may count.
    first: u64,
    /// Its bit in what is remembered of each stored packet.
    bit: u8,
}

/// What a flow's bins say.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Least {
    p: f64,
    /// Packets of the emptiest bin; where any full bin drops, all or nothing.
    waiting: u32,
}

/// The part of the parameters that bins need.
#[derive(Clone, Copy, Debug)]
struct Rule {
    levels: usize,
    width: u32,
    d1: f64,
    d2: f64,
    freeze: Span,
    /// Packets from which a bin is full.
    target: u32,
    /// Whether any full bin drops.
    any: bool,
}

impl Table {
    fn new(rule: Rule, seed: u64, first: u64, bit: u8) -> Self {
        let size = rule.levels * rule.width as usize;
        let thaws = vec![Time::ZERO; if rule.freeze > Span::ZERO { size } else { 0 }];
        Self { bins: vec![Bin::default(); size], thaws, seed, first, bit }
    }

    /// The flow's bin in each level: the digits, to the base N, of a number that the key is hashed to.
    #[inline]
    fn slots(&self, rule: Rule, key: u32) -> Slots {
        let mut digits = mix(self.seed ^ u64::from(key));
        let mut slots = [0; LEVELS];
        let mut level = 0;
        for slot in &mut slots[..rule.levels] {
            let wide = u128::from(digits) * u128::from(rule.width);
            digits = wide as u64;
            *slot = level + (wide >> 64) as u32;
            level += rule.width;
        }
        slots
    }

    /// An arrival: probabilities change, then the least of them.
    #[inline]
    fn arrival(&mut self, rule: Rule, slots: &Slots, now: Time) -> Least {
        let mut least = Least { p: 1.0, waiting: u32::MAX };
        let mut any_full = false;
        for &slot in &slots[..rule.levels] {
            let bin = &mut self.bins[slot as usize];
            // Comparisons in place of `min` and `max`, which would look for NaN.
            let moved = if bin.waiting == 0 {
                let p = bin.p - rule.d2;
                if p > 0.0 { p } else { 0.0 }
            } else if bin.waiting >= rule.target {
                let p = bin.p + rule.d1;
                if p < 1.0 { p } else { 1.0 }
            } else {
                bin.p
            };
            if self.thaws.is_empty() {
                bin.p = moved;
            } else if moved.to_bits() != bin.p.to_bits() && now >= self.thaws[slot as usize] {
                bin.p = moved;
                self.thaws[slot as usize] = now + rule.freeze;
            }
            if bin.p < least.p {
                least.p = bin.p;
            }
            least.waiting = least.waiting.min(bin.waiting);
            any_full |= bin.waiting >= rule.target;
        }
        if rule.any {
            least.waiting = if any_full { u32::MAX } else { 0 };
        }
        least
    }

    #[inline]
    fn note_stored(&mut self, rule: Rule, slots: &Slots) {
        for &slot in &slots[..rule.levels] {
            self.bins[slot as usize].waiting += 1;
        }
    }

    #[inline]
    fn note_departure(&mut self, rule: Rule, key: u32) {
        let slots = self.slots(rule, key);
        for &slot in &slots[..rule.levels] {
            self.bins[slot as usize].waiting -= 1;
        }
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea & Flood 2014).
#[inline]
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Stochastic fair BLUE.
#[derive(Debug)]
pub struct Sfb {
    limit: Limit,
    rule: Rule,
    max: u32,
    ecn: bool,
    rehash: Span,
    warmup: Span,
    penalty_rate: f64,
    penalty_burst: f64,
    /// In use; without bins until the first arrival, when random numbers are at hand.
    table: Table,
    /// Learning for the next turn.
    next: Option<Table>,
    /// By waiting packet, the oldest first: bits of the tables that count it.
    counted: VecDeque<u8>,
    /// When the table in use gives way.
    until: Time,
    /// When something is to be done about tables next.
    turns: Time,
    tokens: f64,
    filled: Time,
    stored: u64,
    departed: u64,
    p: f64,
    penalised: u64,
}

impl About<QdiscEnv> for Sfb {
    type Params = Params;
    const INFO: Info = Info {
        name: "sfb",
        title: "SFB: stochastic fair BLUE",
        source: "Feng, Kandlur, Saha & Shin, INFOCOM 2001, doi:10.1109/INFCOM.2001.916648; tc-sfb(8)",
        status: Status::Reconstructed,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let (bins, levels) = (params.bins, params.levels);
        if u64::from(bins).checked_pow(levels).is_none_or(|states| states > 1 << 60) {
            let range = format!("{bins}^{levels}, to the power of the levels, of at most 2^60");
            return Err(Problem::out_of_range("bins", bins, &range).into());
        }
        if params.warmup > params.rehash {
            let (warmup, rehash) = (params.warmup.seconds(), params.rehash.seconds());
            let range = format!("at most rehash, {rehash} s");
            return Err(Problem::out_of_range("warmup", format!("{warmup} s"), &range).into());
        }
        let share = |most: f64| (1.5 * most / f64::from(params.bins)).round().max(1.0) as u32;
        let target = params
            .target
            .unwrap_or_else(|| env.limit.in_packets(env.mean_packet).map_or(20, share));
        let max = params.max.unwrap_or_else(|| target.saturating_add(target.div_ceil(4)));
        let any = params.full == Full::Any;
        Ok(Self {
            limit: env.limit,
            rule: Rule {
                levels: params.levels as usize,
                width: params.bins,
                d1: params.d1,
                d2: params.d2,
                freeze: params.freeze,
                // The printed figure compares with >, Linux with >=.
                target: if any { target.saturating_add(1) } else { target },
                any,
            },
            max: if any { u32::MAX } else { max },
            ecn: params.ecn,
            rehash: params.rehash,
            warmup: params.warmup,
            penalty_rate: params.penalty_rate,
            penalty_burst: params.penalty_burst,
            table: Table::default(),
            next: None,
            counted: VecDeque::new(),
            until: Time(u64::MAX),
            turns: Time::ZERO,
            tokens: params.penalty_burst,
            filled: Time::ZERO,
            stored: 0,
            departed: 0,
            p: 0.0,
            penalised: 0,
        })
    }
}

impl Sfb {
    /// Takes new hash functions into use when it is time, and lets those to come learn.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, now: Time, rng: &mut Stream) {
        let (rule, first) = (self.rule, self.stored);
        // Tables alternate; of packets stored before a table's first, its bit says nothing.
        let mut fresh = |next: Option<Table>, before: u8| {
            let bit = if before == 1 { 2 } else { 1 };
            next.unwrap_or_else(|| Table::new(rule, rng.bits(), first, bit))
        };
        if self.table.bins.is_empty() {
            self.table = fresh(None, 0);
            if self.rehash == Span::ZERO {
                self.turns = Time(u64::MAX);
                return;
            }
            self.until = now + self.rehash;
        } else if now >= self.until {
            self.table = fresh(self.next.take(), self.table.bit);
            self.until = now + self.rehash;
            self.turns = self.until - self.warmup;
            return;
        }
        self.turns = self.until - self.warmup;
        if now >= self.turns {
            self.next = Some(fresh(self.next.take(), self.table.bit));
            self.turns = self.until;
        }
    }

    /// Whether the penalty box lets an unresponsive flow's packet through.
    fn pardon(&mut self, now: Time) -> bool {
        let gained = now.since(self.filled).seconds() * self.penalty_rate;
        self.filled = now;
        self.tokens = (self.tokens + gained).min(self.penalty_burst);
        let pardoned = self.tokens >= 1.0;
        self.tokens -= if pardoned { 1.0 } else { 0.0 };
        pardoned
    }

    fn decide(&mut self, least: Least, now: Time, rng: &mut Stream) -> Verdict {
        self.p = least.p;
        if least.waiting >= self.max {
            return Verdict::Drop(DropReason::Forced);
        }
        if least.p >= 1.0 {
            if self.pardon(now) {
                return Verdict::Pass;
            }
            self.penalised += 1;
            return Verdict::Drop(DropReason::Forced);
        }
        let uniform = rng.uniform();
        if uniform >= least.p {
            Verdict::Pass
        } else if self.ecn && uniform >= 2.0 * least.p - 1.0 {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }
}

impl Plain for Sfb {
    /// SFB's own: arrivals that find no room count too.
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

impl Aqm for Sfb {
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        let (now, rule) = (queue.now, self.rule);
        if now >= self.turns {
            self.turn(now, rng);
        }
        let slots = self.table.slots(rule, queue.key);
        let least = self.table.arrival(rule, &slots, now);
        let is_unresponsive = least.p >= 1.0 && least.waiting < self.max;
        let mut verdict = self.decide(least, now, rng);
        if !self.limit.admits(queue.packets, queue.bytes, packet.size) {
            verdict = Verdict::Drop(DropReason::Overflow);
        }
        let stays = verdict.keeps(packet);
        let mut counted = self.table.bit;
        if stays {
            self.table.note_stored(rule, &slots);
        }
        if is_unresponsive && let Some(next) = &mut self.next {
            let slots = next.slots(rule, queue.key);
            next.arrival(rule, &slots, now);
            if stays {
                next.note_stored(rule, &slots);
                counted |= next.bit;
            }
        }
        if stays {
            self.counted.push_back(counted);
            self.stored += 1;
        }
        verdict
    }

    fn on_dequeue(
        &mut self,
        _packet: &Packet,
        _since: Time,
        queue: &QueueState,
        _rng: &mut Stream,
    ) -> Verdict {
        // Packets leave in the order in which they were stored.
        let counted = self.counted.pop_front().unwrap_or(0);
        let (rule, departed) = (self.rule, self.departed);
        for table in [Some(&mut self.table), self.next.as_mut()].into_iter().flatten() {
            if departed >= table.first && counted & table.bit != 0 {
                table.note_departure(rule, queue.key);
            }
        }
        self.departed += 1;
        Verdict::Pass
    }

    // The bits by waiting packet are of the packets, which every queue holds.
    fn state(&self) -> State {
        let bytes = |table: &Table| {
            table.bins.len() * size_of::<Bin>() + table.thaws.len() * size_of::<Time>()
        };
        let tables = bytes(&self.table) + self.next.as_ref().map_or(0, bytes);
        State { flows: 0, bytes: (size_of::<Self>() + tables) as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p_min", self.p);
        out("penalised", self.penalised as f64);
    }
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
