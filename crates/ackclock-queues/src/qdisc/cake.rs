//! CAKE, common applications kept enhanced: a shaper, tins, fairness between hosts and flows, COBALT on each queue.
//!
//! **Source**: T. Hoiland-Jorgensen, D. Taht, J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution
//! for Home Gateways", IEEE LANMAN 2018 (doi:10.1109/LANMAN.2018.8475045); tc-cake(8); what these leave open as in
//! Linux's `sch_cake`.
//!
//! **Rule**:
//! - shaper: a packet leaves when the time of the ones before it at `rate` is over; no burst is saved up while
//!   nothing waits. Sizes count with `overhead`, `mpu` and `framing`;
//! - tin: by code point. With a `rate` the last tin that is within its share of it, else the one that is due first;
//!   without, tins share by weight;
//! - queue: one of eight by hash; DRR++ as FQ-CoDel's, in which a queue is new, busy, or decays until its COBALT is
//!   at rest. A busy flow's turn is `quantum` over the number of busy flows of its host (`isolation`);
//! - AQM: COBALT with interval `rtt` and target `rtt` / 20, but at least 1.5 packet times of the tin;
//! - `ack_filter`: acknowledgements of TCP that a newer one of their queue makes needless are dropped;
//! - an exceeded buffer takes the oldest packet of the longest queue of any tin.
//!
//! Compared line by line with `sch_cake.c` of Linux 6.12 and tc-cake(8) of iproute2 6.1. The manual gives the tin of voice of
//! `diffserv3` a "reduced" interval; in its own example that tin has 100 ms as the others, and so it is in the code and here.
//!
//! COBALT's BLUE forgets an overflow only when its queue is found empty, and queues are looked into while any of them
//! holds a packet, as in `sch_cake`: a flow that is alone keeps the probability of its last overflow. Linux's buffer
//! of at least 4 MiB hardly overflows; one of a BDP does at the end of slow start.
//!
//! **Deviations**: each host has a number, without a hash; turns are divided exactly, not at random; the buffer is
//! the link's; the weights of eight tins are seven eighths of the one before, where Linux rounds each down from 256. `ingress`, `wash` and `nat` are left out, and `autorate-ingress`, which neither the paper nor the manual
//! defines: they do not say how the rate is estimated.
//!
//! **Defaults by era**: the same in all.

mod acks;
mod hosts;
mod overhead;
mod tins;
mod ways;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::acks::AckFilter;
use self::hosts::{Hosts, Isolation, Pair};
use self::overhead::{Framing, Overhead};
use self::tins::{Share, Tins};
use self::ways::{Found, Ways};
use crate::error::Problem;
use crate::qdisc::aqm::cobalt::{self, Cobalt};
use crate::qdisc::fair::classes::{Classes, Measure, Victim};
use crate::qdisc::links::{Chain, Links};
use crate::qdisc::managed::execute;
use crate::qdisc::{Limit, QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{DropReason, Packet, Timed};

/// Parameters of [`Cake`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Rate of the shaper; left out: none, the link's rate alone limits.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rate: Option<BitRate>,
    /// Round-trip time that flows are assumed to have.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rtt: Span,
    /// Classes of traffic by code point.
    pub tins: Tins,
    /// What has a queue, and between whom the link is shared first.
    pub isolation: Isolation,
    /// Bytes added to each packet, as the shaper and the turns count it.
    #[schemars(range(min = -64, max = 256), extend("x-unit" = "B"))]
    pub overhead: i32,
    /// Least size of a packet with its overhead.
    #[schemars(range(min = 0, max = 256), extend("x-unit" = "B"))]
    pub mpu: u32,
    /// Cells or blocks that packets are sent in.
    pub framing: Framing,
    /// Which acknowledgements of TCP are dropped that a newer one in their queue makes needless.
    pub ack_filter: AckFilter,
    /// Number of queues of each tin.
    #[schemars(range(min = 1, max = 65536))]
    pub queues: u32,
    /// Bytes of a turn; left out: 1514, or less below 50 Mbit/s: what a tin's rate sends in 0.24 ms, at least 300.
    #[schemars(range(min = 1))]
    pub quantum: Option<Bytes>,
    /// Selects the hash function.
    pub salt: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            rate: None,
            rtt: Span::from_millis(100),
            tins: Tins::default(),
            isolation: Isolation::default(),
            overhead: 0,
            mpu: 0,
            framing: Framing::None,
            ack_filter: AckFilter::Off,
            queues: 1024,
            quantum: None,
            salt: 0,
        }
    }
}

/// What a queue is to its scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// Nobody's.
    #[default]
    Free,
    /// Newly in use, served first.
    Sparse,
    /// Was sparse and has used up its turn, and nothing waits.
    Waiting,
    /// In use for longer than a turn; counts for its hosts.
    Busy,
    /// Empty, but its COBALT is not at rest.
    Decaying,
}

#[derive(Debug, Default)]
struct Flow {
    /// Bytes that it may yet send in its turn, in units of 2^-16.
    deficit: i64,
    set: Set,
    pair: Pair,
    cobalt: Option<Box<Cobalt>>,
}

/// The fraction bits of a deficit.
const FRACTION: u32 = 16;

struct Tin {
    packets: usize,
    /// Rate up to which it has priority; none without a shaper.
    rate: Option<BitRate>,
    /// When its next packet is due at that rate.
    due: Time,
    /// Bytes of a turn of a flow.
    quantum: i64,
    /// Bytes of a turn of the tin, without a shaper, and what is left of it.
    weight: i64,
    deficit: i64,
    fresh: Cobalt,
    ways: Ways,
    flows: Vec<Flow>,
    new: Chain,
    old: Chain,
    decaying: Chain,
}

/// Common applications kept enhanced.
pub struct Cake {
    classes: Classes,
    links: Links,
    tins: Vec<Tin>,
    hosts: Hosts,
    /// By flow; a flow that is not known has tin 0.
    tin_of: Box<[u32]>,
    queues: u32,
    rate: Option<BitRate>,
    overhead: Overhead,
    ack_filter: AckFilter,
    /// By flow, whether a router can read its acknowledgements; one that is not known can be read.
    is_readable: Box<[bool]>,
    /// When the shaper lets the next packet leave.
    due: Time,
    /// The tin whose turn it is without a shaper.
    turn: usize,
    /// Of the tins.
    names: &'static [&'static str],
}

impl About<QdiscEnv> for Cake {
    type Params = Params;
    const INFO: Info = Info {
        name: "cake",
        title: "CAKE: common applications kept enhanced",
        source: "Hoiland-Jorgensen, Taht & Morton, LANMAN 2018, doi:10.1109/LANMAN.2018.8475045",
        status: Status::Variant,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let shares = params.tins.shares();
        let count = shares.len() as u32;
        let tin_of = env.facts.iter().map(|flow| params.tins.of(flow.dscp)).collect();
        let hosts = Hosts::new(params.isolation, &env.facts, env.keys, count);
        let mut links = Links::default();
        links.reserve((count * params.queues) as usize);
        let mut classes = Classes::new(env.limit, Measure::Bytes, None);
        classes.list((0..count).flat_map(|tin| std::iter::repeat_n(tin, params.queues as usize)));
        Ok(Self {
            classes,
            names: params.tins.names(),
            links,
            tins: shares.iter().map(|&share| Tin::new(share, &params, env)).collect(),
            hosts,
            tin_of,
            queues: params.queues,
            rate: params.rate,
            overhead: Overhead {
                bytes: params.overhead,
                least: params.mpu,
                framing: params.framing,
            },
            ack_filter: params.ack_filter,
            is_readable: env.facts.iter().map(|flow| &*flow.sender == "tcp").collect(),
            due: Time::ZERO,
            turn: 0,
        })
    }
}

impl Tin {
    fn new(share: Share, params: &Params, env: &QdiscEnv) -> Self {
        let rate = params.rate.map(|rate| BitRate(share.of(rate.0).max(1)));
        let packet = Bytes(u64::from(env.mean_packet));
        let packet_time = rate.map_or(Span::ZERO, |rate| rate.transmission(packet));
        let base = Span(params.rtt.0 / 20);
        let target = base.max(Span(packet_time.0.saturating_mul(3) / 2));
        let interval = (params.rtt + (target - base)).max(target * 2);
        // What the rate sends in 1/4096 s.
        let adapted = rate.map_or(1514, |rate| (rate.0 / 8 / 4096).clamp(300, 1514));
        let quantum = params.quantum.map_or(adapted, |quantum| quantum.0);
        let settings = cobalt::Params { target, interval, ..cobalt::Params::default() };
        Self {
            packets: 0,
            rate,
            due: Time::ZERO,
            quantum: i64::try_from(quantum).unwrap_or(i64::MAX).min(1 << 40),
            weight: share.of(1024).cast_signed(),
            deficit: 0,
            fresh: Cobalt::with(settings, packet_time, Limit::NONE),
            ways: Ways::new(params.queues, params.salt),
            flows: (0..params.queues).map(|_| Flow::default()).collect(),
            new: Chain::default(),
            old: Chain::default(),
            decaying: Chain::default(),
        }
    }
}

impl Tin {
    /// Whether a queue of it is new or busy, or waits to be found empty.
    fn has_queues(&self) -> bool {
        self.new.head().is_some() || self.old.head().is_some()
    }
}

impl Cake {
    /// Bytes of a turn of a queue, in units of 2^-16.
    fn quantum(&self, tin: usize, queue: usize) -> i64 {
        let Tin { quantum, flows, .. } = &self.tins[tin];
        (quantum << FRACTION) / i64::from(self.hosts.load(tin as u32, flows[queue].pair))
    }

    /// The tin that sends next, or whose queues are looked at though they are empty. Some packet waits.
    fn choose(&mut self, now: Time) -> usize {
        if self.rate.is_none() {
            loop {
                let tin = &mut self.tins[self.turn];
                if tin.deficit >= 0 && tin.has_queues() {
                    return self.turn;
                }
                if tin.deficit <= 0 {
                    tin.deficit += tin.weight;
                }
                self.turn = (self.turn + 1) % self.tins.len();
            }
        }
        let (mut best, mut soonest) = (0, Time(u64::MAX));
        for (i, tin) in self.tins.iter().enumerate() {
            if tin.has_queues() && (tin.due <= now || tin.due <= soonest) {
                (best, soonest) = (i, tin.due);
            }
        }
        best
    }

    /// A queue goes to the end of the old ones with a new turn, because it has used up the last.
    fn retire(&mut self, tin: usize, class: u32) {
        let queue = (class % self.queues) as usize;
        let waits = self.classes.packets(class) > 0;
        if self.tins[tin].flows[queue].set == Set::Sparse {
            let next = if waits { Set::Busy } else { Set::Waiting };
            let Tin { flows, new, old, .. } = &mut self.tins[tin];
            self.links.remove(new, class);
            self.links.push_back(old, class);
            let flow = &mut flows[queue];
            flow.set = next;
            if waits {
                self.hosts.begin(tin as u32, flow.pair);
            }
        } else {
            self.links.rotate(&mut self.tins[tin].old);
        }
        let quantum = self.quantum(tin, queue);
        self.tins[tin].flows[queue].deficit += quantum;
    }

    /// A queue, the first of its list, has nothing to send.
    fn rest(&mut self, tin: usize, class: u32, now: Time) {
        let Tin { flows, new, old, decaying, .. } = &mut self.tins[tin];
        let flow = &mut flows[(class % self.queues) as usize];
        let list = if flow.set == Set::Sparse { new } else { old };
        self.links.remove(list, class);
        if flow.set == Set::Busy {
            self.hosts.end(tin as u32, flow.pair);
        }
        let is_active = flow.cobalt.as_mut().is_some_and(|cobalt| {
            cobalt.note_empty(now);
            cobalt.is_active(now)
        });
        if is_active {
            flow.set = Set::Decaying;
            self.links.push_back(decaying, class);
        } else {
            flow.set = Set::Free;
        }
    }

    /// One decaying queue is looked at.
    fn decay(&mut self, tin: usize, now: Time) {
        let Tin { flows, decaying, .. } = &mut self.tins[tin];
        let Some(class) = decaying.head() else { return };
        let flow = &mut flows[(class % self.queues) as usize];
        let is_active = flow.cobalt.as_mut().is_some_and(|cobalt| {
            cobalt.note_empty(now);
            cobalt.is_active(now)
        });
        if is_active {
            self.links.rotate(decaying);
        } else {
            self.links.remove(decaying, class);
            flow.set = Set::Free;
        }
    }

    /// The next packet of a tin.
    fn serve(&mut self, tin: usize, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        loop {
            let Tin { new, old, .. } = &self.tins[tin];
            let class = new.head().or(old.head())?;
            let queue = (class % self.queues) as usize;
            if self.tins[tin].flows[queue].deficit <= 0 {
                self.retire(tin, class);
                continue;
            }
            while let Some(Timed { at: arrived_at, packet }) = self.classes.serve(class, ctx) {
                let is_last = self.classes.packets(class) == 0;
                let Tin { packets, flows, .. } = &mut self.tins[tin];
                *packets -= 1;
                let flow = &mut flows[queue];
                let cobalt = flow.cobalt.as_mut()?;
                let waited = ctx.now.since(arrived_at);
                let verdict = cobalt.judge(&packet, ctx.now, waited, is_last, ctx.rng);
                if let Some(packet) = execute(verdict, packet, ctx) {
                    let size = self.overhead.on_line(packet.size);
                    flow.deficit -= i64::from(size) << FRACTION;
                    self.advance(tin, size, ctx.now);
                    return Some(Timed { at: arrived_at, packet });
                }
            }
            self.rest(tin, class, ctx.now);
        }
    }

    /// A packet of this size on the line leaves.
    fn advance(&mut self, tin: usize, size: u32, now: Time) {
        let tin = &mut self.tins[tin];
        let bytes = Bytes(u64::from(size));
        tin.deficit -= i64::from(size);
        let (Some(rate), Some(share)) = (self.rate, tin.rate) else { return };
        let time = share.transmission(bytes);
        // A tin that is behind its share catches up; one that is ahead waits for one packet.
        tin.due = if tin.due < now { tin.due + time } else { tin.due.max(now + time) };
        self.due += rate.transmission(bytes);
    }
}

impl QueueDisc for Cake {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let tin = self.tin_of.get(packet.flow.index()).map_or(0, |&tin| tin as usize);
        let pair = self.hosts.pair(&packet, ctx);
        let flow = self.hosts.flow(&packet, pair, ctx);
        if self.classes.total() == 0 {
            self.due = self.due.max(ctx.now);
        }
        let Tin { packets, due, ways, flows, .. } = &mut self.tins[tin];
        if *packets == 0 {
            *due = (*due).max(ctx.now);
        }
        let way = ways.find(flow, |queue| flows[queue as usize].set == Set::Free);
        let (Found::Own(queue) | Found::Fresh(queue) | Found::Shared(queue)) = way;
        let class = tin as u32 * self.queues + queue;
        let is_filtered = self.ack_filter != AckFilter::Off && self.is_readable_ack(&packet);
        let Some(slot) = self.classes.offer(class, packet, 0.0, ctx) else { return };
        self.admit(tin, class, pair);
        if is_filtered {
            self.filter_acks(tin, class, slot, ctx);
        }
        while self.classes.over() {
            let (_, fattest) =
                self.classes.longest().expect("invariant: an exceeded buffer is not empty");
            self.classes.push_out(fattest, Victim::Head, slot, ctx);
            let Tin { packets, flows, .. } = &mut self.tins[(fattest / self.queues) as usize];
            *packets -= 1;
            if let Some(cobalt) = &mut flows[(fattest % self.queues) as usize].cobalt {
                cobalt.note_overflow(ctx.now);
            }
        }
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        let mut is_first = true;
        while self.classes.total() > 0 {
            if self.rate.is_some() && self.due > ctx.now {
                return None;
            }
            let tin = self.choose(ctx.now);
            if std::mem::take(&mut is_first) {
                self.decay(tin, ctx.now);
            }
            if let Some(served) = self.serve(tin, ctx) {
                return Some(served);
            }
            // Otherwise it would be chosen again for ever.
            debug_assert_eq!(self.tins[tin].packets, 0, "a tin without a packet has none to send");
        }
        None
    }

    fn ready_at(&self) -> Option<Time> {
        self.rate.map(|_| self.due)
    }

    fn len(&self) -> usize {
        self.classes.total()
    }

    fn backlog(&self) -> Bytes {
        self.classes.backlog()
    }

    fn state(&self) -> State {
        let cobalts = self.tins.iter().flat_map(|tin| &tin.flows);
        let cobalts = cobalts.filter(|flow| flow.cobalt.is_some()).count() * size_of::<Cobalt>();
        let flows = self.tins.len() * self.queues as usize * size_of::<Flow>();
        let bytes = self.classes.state_bytes() + self.hosts.state_bytes() + cobalts + flows;
        State { flows: 0, bytes: bytes as u64 }
    }

    fn queues(&self) -> Vec<String> {
        self.names.iter().map(|&name| name.to_owned()).collect()
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let count = |set: Set| {
            let flows = self.tins.iter().flat_map(|tin| &tin.flows);
            flows.filter(|flow| flow.set == set).count() as f64
        };
        out("longest", self.classes.greatest_length() as f64);
        out("busy", count(Set::Busy));
        out("decaying", count(Set::Decaying));
    }
}

impl Cake {
    fn is_readable_ack(&self, packet: &Packet) -> bool {
        packet.is_ack() && self.is_readable.get(packet.flow.index()).copied().unwrap_or(true)
    }

    /// An acknowledgement has joined a queue at this place.
    #[cold]
    fn filter_acks(&mut self, tin: usize, class: u32, slot: u32, ctx: &mut QdiscCtx<'_>) {
        let Some(new) = self.classes.at(slot) else { return };
        let waiting = self.classes.waiting(class);
        if let Some(needless) = acks::find_needless(self.ack_filter, waiting, new) {
            self.classes.discard(class, needless, DropReason::Thinned, ctx);
            self.tins[tin].packets -= 1;
        }
    }

    /// A packet of a flow between these hosts has joined a queue.
    fn admit(&mut self, tin: usize, class: u32, pair: Pair) {
        let Tin { packets, flows, fresh, .. } = &mut self.tins[tin];
        *packets += 1;
        let flow = &mut flows[(class % self.queues) as usize];
        if flow.cobalt.is_none() {
            flow.cobalt = Some(Box::new(fresh.clone()));
        }
        // Who shares a queue with others counts for it.
        if flow.pair != pair {
            if flow.set == Set::Busy {
                self.hosts.end(tin as u32, flow.pair);
                self.hosts.begin(tin as u32, pair);
            }
            flow.pair = pair;
        }
        match flow.set {
            Set::Sparse | Set::Busy => {}
            Set::Waiting => {
                flow.set = Set::Busy;
                self.hosts.begin(tin as u32, pair);
            }
            Set::Free | Set::Decaying => {
                let was_decaying = std::mem::replace(&mut flow.set, Set::Sparse) == Set::Decaying;
                let deficit = self.quantum(tin, (class % self.queues) as usize);
                let Tin { flows, new, decaying, .. } = &mut self.tins[tin];
                if was_decaying {
                    self.links.remove(decaying, class);
                }
                flows[(class % self.queues) as usize].deficit = deficit;
                self.links.push_back(new, class);
            }
        }
    }
}

#[cfg(test)]
mod tests;
