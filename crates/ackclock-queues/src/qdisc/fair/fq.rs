//! FQ, weighted fair queueing: packets leave in the order in which fluid sharing would finish them.
//!
//! **Source**: Demers, Keshav & Shenker, SIGCOMM 1989 (doi:10.1145/75246.75248); Parekh & Gallager,
//! IEEE/ACM Trans. Networking 1(3), 1993, section III (PGPS, doi:10.1109/90.234856); self-clocked: Golestani,
//! INFOCOM 1994 (doi:10.1109/INFCOM.1994.337677). Longest-queue drop: Suter et al., INFOCOM 1998.
//! Compared line by line with section 2.2 of the first (finish numbers, rounds, what a full buffer drops). The other texts could not
//! be had.
//!
//! **Rule**: a packet of L bytes of class i that arrives at time a has
//! - start S = max(V(a), finish of the class's packet before), finish F = S + L / weight(i);
//! - the smallest F among the classes' first packets leaves first;
//! - V is the virtual time of generalised processor sharing (see `gps`), or, self-clocked, the
//!   largest F of the packets that left;
//! - while the shared buffer is exceeded, the longest queue loses its `victim`.
//!
//! With GPS's V a packet leaves at most one largest packet's transmission time after fluid sharing
//! would have finished it.
//!
//! **Deviations**: a packet that is dropped gives its service back: its successor starts where it
//! would have. Demers, Keshav & Shenker leave both numbers as they are, which charges a class for what it lost. Their
//! parameter for promptness, which lets an idle class's packet begin earlier, is 0. In GPS's V its class is served for that much less, also where packets behind it came after a
//! pause (this needs `victim` head). V runs at the rate that the link has at each time by its schedule of rates; over
//! delivery opportunities, which are no rate, at the rate of the link itself. Linux's `sch_fq` has the name only: round robin of
//! flows that it paces. ns-2's FQ, too, is another rule: a finish there is in real time,
//! max(now, finish before) + n L / C, with the n classes that have a packet when one is chosen.
//!
//! **Defaults by era**: `victim` is `tail` in all (ns-2's FQ has a separate drop-tail buffer for each
//! of at most 32 flows; there is no shared buffer to imitate).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::inner;
use crate::qdisc::fair::classes::{Classes, Head, Measure, Victim};
use crate::qdisc::fair::gps::{Gps, greater};
use crate::qdisc::fair::numbering::Numbering;
use crate::qdisc::fair::tournament::Tournament;
use crate::qdisc::{QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Fact, Info, Spec, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// Which virtual time stamps arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VirtualTime {
    /// Generalised processor sharing, exactly (PGPS, WFQ).
    #[default]
    Gps,
    /// The finish tag of the packet that left last (self-clocked fair queueing).
    Scfq,
}

/// Parameters of [`Fq`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Weights by class key; classes beyond the list have weight 1. The scenario's `classes`
    /// defines what a class is. With `stream`, key 2 i is the data of flow i (counted from 0) and 2 i + 1
    /// its acknowledgements; with `flow`, key i is flow i; with `source` and `pair`, nodes and pairs are
    /// counted as the flows name them.
    #[schemars(extend("items" = { "type": "number", "exclusiveMinimum": 0 }))]
    pub weights: Vec<f64>,
    /// Which virtual time stamps arrivals.
    pub virtual_time: VirtualTime,
    /// Which packet of the longest queue is pushed out.
    pub victim: Victim,
    /// What makes a queue the longest.
    pub longest: Measure,
    /// AQM of every class queue; none if left out.
    pub aqm: Option<Spec>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            weights: Vec::new(),
            virtual_time: VirtualTime::Gps,
            victim: Victim::Tail,
            longest: Measure::Bytes,
            aqm: None,
        }
    }
}

/// Tags of one class, and its weight.
#[derive(Clone, Copy, Debug)]
struct Tags {
    /// Start of the first packet that waits.
    start: f64,
    /// Finish of the packet that left last.
    finish: f64,
    /// Finish of the last packet that was accepted.
    last: f64,
    weight: f64,
    /// Virtual time that a byte takes: one over the weight, for a division takes its time.
    unit: f64,
}

#[expect(clippy::large_enum_variant, reason = "a discipline has one, and mostly the larger")]
enum Clock {
    Gps(Gps),
    SelfClocked(f64),
}

/// Weighted fair queueing.
pub struct Fq {
    classes: Classes,
    /// Classes are the keys, numbered.
    numbering: Numbering,
    /// Of the classes of which a packet has come, and those between them.
    tags: Vec<Tags>,
    /// By class; 1 beyond.
    weights: Vec<f64>,
    clock: Clock,
    /// Classes with packets by the finish of their first.
    order: Tournament,
    victim: Victim,
}

impl About<QdiscEnv> for Fq {
    type Params = Params;
    const INFO: Info = Info {
        name: "fq",
        title: "FQ: weighted fair queueing (PGPS) with longest-queue drop",
        source: "Parekh & Gallager, IEEE/ACM ToN 1(3), 1993, section III, doi:10.1109/90.234856; Suter et al., INFOCOM 1998",
        status: Status::Specified,
    };

    const FACTS: &'static [Fact] = &[Fact::Fair];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let aqm = inner(params.aqm.as_ref(), env)?;
        let numbering = Numbering::new(&env.passing);
        let weights = numbering.renumber(params.weights, 1.0);
        Ok(Self {
            classes: Classes::new(env.limit, params.longest, aqm),
            numbering,
            tags: Vec::new(),
            weights,
            clock: match params.virtual_time {
                VirtualTime::Gps => Clock::Gps(Gps::new(env.rate)),
                VirtualTime::Scfq => Clock::SelfClocked(0.0),
            },
            order: Tournament::default(),
            victim: params.victim,
        })
    }
}

fn weight(weights: &[f64], class: u32) -> f64 {
    weights.get(class as usize).copied().unwrap_or(1.0)
}

impl Tags {
    /// Virtual time that a packet takes.
    #[inline(always)]
    fn service(&self, size: u16) -> f64 {
        f64::from(size) * self.unit
    }

    /// The class has this first packet, which starts no earlier than `after`, if any; its finish.
    #[inline(always)]
    fn begin(&mut self, head: Option<Head>, after: f64) -> Option<f64> {
        let Some(head) = head else {
            self.last = self.finish;
            return None;
        };
        self.start = greater(head.tag, after);
        Some(self.start + self.service(head.size))
    }
}

impl Fq {
    /// Makes room for the tags of a class.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, class: u32) {
        for class in self.tags.len() as u32..=class {
            let weight = weight(&self.weights, class);
            let unit = 1.0 / weight;
            self.tags.push(Tags { start: 0.0, finish: 0.0, last: 0.0, weight, unit });
        }
    }

    #[inline(always)]
    fn virtual_time(&mut self, now: Time) -> f64 {
        match &mut self.clock {
            Clock::Gps(gps) => gps.advance(now, |class| {
                let Tags { last, weight, .. } = self.tags[class as usize];
                (last, weight)
            }),
            Clock::SelfClocked(v) => *v,
        }
    }

    /// A packet of `size` bytes was dropped from a class; its service goes back to the class.
    #[inline(never)]
    fn give_back(&mut self, class: u32, size: u16, now: Time) {
        self.virtual_time(now);
        let tags = &mut self.tags[class as usize];
        tags.last -= tags.service(size);
        match tags.begin(self.classes.head(class), tags.start) {
            Some(finish) => self.order.set(class, finish),
            None => self.order.remove(class),
        }
        if let Clock::Gps(gps) = &mut self.clock {
            let Tags { last, weight, .. } = self.tags[class as usize];
            gps.dropped(class, last, weight);
        }
        if self.classes.packets(class) == 0 {
            self.classes.idle(class, now);
        }
    }

    /// The first packet of a class leaves with this finish tag, and `next` comes first.
    #[inline(always)]
    fn left(&mut self, class: u32, next: Option<Head>, finish: f64) {
        let tags = &mut self.tags[class as usize];
        tags.finish = finish;
        if let Clock::SelfClocked(v) = &mut self.clock {
            // A drop may have brought the finish tag forward, below V.
            *v = greater(*v, finish);
        }
        self.order.set_first(tags.begin(next, finish));
    }

    /// The next packet that its class's AQM lets go.
    #[inline(never)]
    fn dequeue_managed(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        loop {
            let (finish, class) = self.order.first()?;
            let size = self.classes.head(class)?.size;
            let Some(served) = self.classes.serve(class, ctx) else {
                self.give_back(class, size, ctx.now);
                continue;
            };
            let next = self.classes.head(class);
            self.left(class, next, finish);
            if self.classes.packets(class) == 0 {
                self.classes.idle(class, ctx.now);
            }
            return Some(served);
        }
    }

    /// Pushes packets out of the longest queue while the buffer is exceeded; `arrived` is the place
    /// of the packet to blame.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, arrived: u32, ctx: &mut QdiscCtx<'_>) {
        while self.classes.over() {
            let (_, longest) =
                self.classes.longest().expect("invariant: an exceeded buffer is not empty");
            let size = self.classes.push_out(longest, self.victim, arrived, ctx);
            self.give_back(longest, size, ctx.now);
        }
    }
}

impl QueueDisc for Fq {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let class = self.numbering.of(ctx.key(&packet));
        let size = packet.size;
        if self.tags.len() <= class as usize {
            self.grow(class);
        }
        let v = self.virtual_time(ctx.now);
        let was_idle = self.classes.packets(class) == 0;
        let Some(slot) = self.classes.offer(class, packet, v, ctx) else { return };
        let tags = &mut self.tags[class as usize];
        let service = tags.service(size);
        tags.last = greater(tags.last, v) + service;
        if let Clock::Gps(gps) = &mut self.clock {
            gps.arrived(class, tags.last, tags.weight, service);
        }
        if was_idle {
            tags.start = greater(v, tags.finish);
            self.order.set(class, tags.start + service);
        }
        if self.classes.over() {
            self.make_room(slot, ctx);
        }
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        if self.classes.managed() {
            return self.dequeue_managed(ctx);
        }
        let (finish, class) = self.order.first()?;
        let next = self.classes.second(class);
        self.left(class, next, finish);
        // What is next comes nearer while this packet is sent on.
        if let Some((_, class)) = self.order.first() {
            self.classes.prefetch(class);
        }
        // Last, so that the packet goes straight to where it is wanted.
        self.classes.serve(class, ctx)
    }

    packets_are_in!(classes);

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.virtual_time(now);
        if let Clock::Gps(gps) = &mut self.clock {
            gps.set_rate(rate);
        }
        self.classes.on_rate(now, rate);
    }

    fn state(&self) -> State {
        // Each class with its rank among those that wait and those that GPS serves.
        let each = size_of::<Tags>() + 2 * size_of::<u64>();
        let bytes = self.classes.state_bytes() + self.tags.len() * each;
        State { flows: self.tags.len() as u64, bytes: bytes as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("longest", self.classes.greatest_length() as f64);
    }
}

#[cfg(test)]
mod tests;
