//! ROOM: queue disciplines. What waits at a link, in which order it leaves, what is dropped.
//!
//! A discipline holds the packets that wait; the packet in transmission has left it. The engine
//! calls [`QueueDisc::enqueue`] on arrival and then, if the link is idle, [`QueueDisc::dequeue`];
//! and `dequeue` again whenever a transmission ends. An [`Aqm`] only decides (pass, mark, drop);
//! storage and scheduling are the discipline's, so any AQM serves under FIFO and under fair queueing.
//! Every discipline with one queue is a [`managed::Managed`] around an AQM, plain FIFO too.
//!
//! A new discipline: one file here that implements [`About`](crate::registry::About) and
//! [`QueueDisc`], and one line in the registry at the end of this file. A new AQM: one file that
//! implements `About` and [`Aqm`], and a line there as [`managed::Managed`]. With
//! [`Aqm::into_prototype`] it also serves inside DRR and FQ.

pub mod aqm;
pub mod cake;
mod classifier;
pub mod core_stateless;
pub mod dualpi2;
pub mod fair;
mod links;
pub mod managed;
pub mod queues;
pub mod shape;
mod store;
pub mod trim;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod testing;

use std::sync::Arc;

pub use classifier::FlowFacts;
pub use queues::QueueCounts;

use crate::era::Era;
use crate::memory::make_room;
use crate::registry;
use crate::rng::Stream;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{DropReason, Flags, Packet, Timed};

/// The most that may wait; whichever is reached first. `MAX` where there is no such limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Packets.
    pub packets: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Limit {
    /// No limit.
    pub const NONE: Self = Self { packets: u32::MAX, bytes: u64::MAX };

    /// Whether one more packet of `size` bytes fits beside what waits.
    #[inline]
    pub fn admits(self, len: usize, backlog: Bytes, size: u16) -> bool {
        (len as u64) < u64::from(self.packets) && backlog.0 + u64::from(size) <= self.bytes
    }

    /// The limit as a number of packets of `size` bytes; `None` if there is none.
    pub fn in_packets(self, size: u32) -> Option<f64> {
        let packets = (self.packets != u32::MAX).then_some(f64::from(self.packets));
        let bytes = (self.bytes != u64::MAX).then(|| self.bytes as f64 / f64::from(size.max(1)));
        packets.into_iter().chain(bytes).reduce(f64::min)
    }
}

/// What a new discipline knows about its link.
#[derive(Clone, Debug)]
pub struct QdiscEnv {
    /// Rate at the start of the run; [`QueueDisc::on_rate`] reports later ones.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// The link's buffer.
    pub limit: Limit,
    /// Size in bytes of the typical (largest) packet through this link.
    pub mean_packet: u32,
    /// Number of classification keys that [`QdiscCtx::key`] can return.
    pub keys: u32,
    /// The keys of all packets that can pass this link, ascending; empty where nobody knows them.
    pub passing: Arc<[u32]>,
    /// Flows that send data through this link; where there are none, acknowledgements.
    pub flows: u32,
    /// Round-trip propagation of every flow, by its number. Only a discipline whose source assumes
    /// that a router knows it may look.
    pub round_trips: Arc<[Span]>,
    /// Every flow by its number, for disciplines with `classes`; empty where no link has one, or nobody knows.
    pub facts: Arc<[FlowFacts]>,
    /// Defaults of this era apply where a parameter is left out.
    pub era: Era,
}

/// What a discipline may use during a call.
pub struct QdiscCtx<'a> {
    /// The present.
    pub now: Time,
    /// The same in seconds, in era `ns2`, whose clock is ns-2's.
    pub seconds: Option<f64>,
    /// Random numbers of this link.
    pub rng: &'a mut Stream,
    /// Classification keys by flow: of its data, of its acknowledgements.
    pub keys: &'a [[u32; 2]],
    /// Packets dropped during the call, and payloads cut off, in order; the engine accounts for them.
    pub dropped: &'a mut Vec<(Packet, DropReason)>,
    /// Packets marked CE during the call.
    pub marks: u64,
    /// Counts of the discipline's [`QueueDisc::queues`], in their order; empty where they are not counted.
    pub queues: &'a mut [QueueCounts],
    /// That of them to which what happens belongs; [`QdiscCtx::NO_QUEUE`]: to none.
    pub queue: usize,
    /// Packets and bytes that wait at the link before all that the discipline holds: such as it judged before.
    pub before: (usize, Bytes),
}

impl<'a> QdiscCtx<'a> {
    /// In place of a queue: none.
    pub const NO_QUEUE: usize = usize::MAX;

    /// For a call at `now`, before anything is marked or assigned to a queue; the fields have the rest.
    #[inline(always)]
    pub fn new(
        now: Time,
        seconds: Option<f64>,
        rng: &'a mut Stream,
        keys: &'a [[u32; 2]],
        dropped: &'a mut Vec<(Packet, DropReason)>,
        queues: &'a mut [QueueCounts],
    ) -> Self {
        let before = (0, Bytes(0));
        Self { now, seconds, rng, keys, dropped, marks: 0, queues, queue: Self::NO_QUEUE, before }
    }

    /// An arriving packet belongs to a queue.
    #[inline]
    pub fn enter(&mut self, queue: usize) {
        self.queue = queue;
        if let Some(counts) = self.queues.get_mut(queue) {
            counts.arrived += 1;
        }
    }

    /// Drops a packet.
    #[inline]
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        if let Some(counts) = self.queues.get_mut(self.queue) {
            counts.drops += 1;
        }
        make_room(self.dropped);
        self.dropped.push((packet, reason));
    }

    /// Cuts the payload off a packet that lets it happen ([`Flags::TRIMMABLE`]), so that `header` bytes are left; what is cut
    /// off is reported beside the drops.
    pub fn trim(&mut self, packet: &mut Packet, header: u16) {
        let cut = packet.size.saturating_sub(header);
        let mut payload = Packet::new(packet.flow, packet.seq, cut, packet.flags);
        payload.route = packet.route;
        packet.size -= cut;
        packet.flags.set(Flags::TRIMMED);
        make_room(self.dropped);
        self.dropped.push((payload, DropReason::Trimmed));
    }

    /// The classification key (dense, from 0) of a packet: whose queue it belongs to.
    /// What shares a key is the scenario's choice: a stream, a flow, a source, a host pair.
    #[inline]
    pub fn key(&self, packet: &Packet) -> u32 {
        self.keys[packet.flow.index()][usize::from(packet.is_ack())]
    }

    /// Marks a packet CE if it is ECN-capable (RFC 3168); false if it is not.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let capable = packet.flags.has(Flags::ECT);
        if capable {
            packet.flags.set(Flags::CE);
            self.marks += 1;
            if let Some(counts) = self.queues.get_mut(self.queue) {
                counts.marks += 1;
            }
        }
        capable
    }
}

/// What a discipline keeps besides the packets that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Flows or classes of which it keeps something each; bins and the like, which are a fixed number, not.
    pub flows: u64,
    /// Bytes, those for flows included, as held here: what a router would need is of this order.
    pub bytes: u64,
}

/// A queue discipline. Every packet given to `enqueue` is later returned by `dequeue` or given to
/// `ctx.drop`, exactly once.
pub trait QueueDisc: Send {
    /// Takes an arriving packet; may push out stored ones.
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>);
    /// The next packet to transmit with the time of its arrival. May drop any number first.
    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed>;
    /// When a discipline that holds packets back may send again: requested after a [`Self::dequeue`] that
    /// returned none although some wait, later than the present. The link stays idle until then. Left out:
    /// it sends whenever something waits.
    fn ready_at(&self) -> Option<Time> {
        None
    }
    /// Packets waiting.
    fn len(&self) -> usize;
    /// Whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Bytes waiting.
    fn backlog(&self) -> Bytes;
    /// Interval of [`Self::on_timer`], if the discipline wants one.
    fn timer_interval(&self) -> Option<Span> {
        None
    }
    /// Called every [`Self::timer_interval`].
    fn on_timer(&mut self, _ctx: &mut QdiscCtx<'_>) {}
    /// The link's scheduled rate changed to `rate` at `at`: called before the first other call from then
    /// on. Delivery opportunities are no rate.
    fn on_rate(&mut self, _at: Time, _rate: BitRate) {}
    /// What it keeps now besides packets. Left out: itself, and nothing of any flow.
    fn state(&self) -> State {
        State { flows: 0, bytes: size_of_val(self) as u64 }
    }
    /// Names of the queues that it distinguishes by what they are for, if these are two or more; it then says in
    /// [`QdiscCtx::queue`] whose packets it takes, drops, marks and returns. Queues of single flows are none.
    fn queues(&self) -> Vec<String> {
        Vec::new()
    }
    /// The number, among [`Self::queues`], of the queue that a packet enters; 0 where it has no such queues.
    fn queue_of(&self, _packet: &Packet) -> usize {
        0
    }
    /// Holds back the queues, by number among [`Self::queues`], whose bits are set, and no others, until the next call.
    /// Returns whether it can: a link whose discipline cannot is held back as a whole.
    fn hold(&mut self, _queues: u32) -> bool {
        false
    }
    /// Whether it is one queue, first in first out, and may judge arrivals by [`Self::judge`], so that departures are
    /// computed when packets arrive. It has no timer then.
    fn can_judge(&self) -> bool {
        false
    }
    /// Says of an arriving packet, which it does not keep, what becomes of it if it begins to leave after `wait`.
    /// To be called in place of [`Self::enqueue`] where all that waits is before the discipline ([`QdiscCtx::before`]).
    fn judge(&mut self, _packet: &Packet, _wait: Span, _ctx: &mut QdiscCtx<'_>) -> Judgement {
        Judgement::Unknown
    }
    /// The link found nothing to send at `at`, on ns-2's clock `seconds`: where packets are judged, in place of a
    /// [`Self::dequeue`] that returns none.
    fn note_idle(&mut self, _at: Time, _seconds: Option<f64>) {}
    /// The AQM of a discipline that is one queue under an AQM, if that can also serve inside another.
    fn into_prototype(self: Box<Self>) -> Option<Box<dyn aqm::Prototype>> {
        None
    }
    /// Internal state by name, for recording.
    fn probes(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// What an AQM says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let it pass.
    Pass,
    /// Mark it, or drop it for this reason if it is not ECN-capable.
    MarkElseDrop(DropReason),
    /// Drop it.
    Drop(DropReason),
}

impl Verdict {
    /// Whether a packet of which this is said goes on.
    #[inline]
    pub fn keeps(self, packet: &Packet) -> bool {
        match self {
            Self::Pass => true,
            Self::MarkElseDrop(_) => packet.flags.has(Flags::ECT),
            Self::Drop(_) => false,
        }
    }
}

/// What becomes of a packet, as [`QueueDisc::judge`] says it when the packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It leaves in its turn.
    Pass,
    /// It leaves in its turn, marked CE from now on.
    MarkNow,
    /// It leaves in its turn, and is marked CE when it does.
    MarkAtDeparture,
    /// It is dropped.
    Drop(DropReason),
    /// That depends on what comes: the discipline is to be given this packet, and those that arrive until the link is idle.
    Unknown,
}

/// The queue that an AQM decides about (a whole link's, or one flow's under fair queueing).
#[derive(Clone, Copy, Debug)]
pub struct QueueState {
    /// The present.
    pub now: Time,
    /// Packets waiting, without the one in question.
    pub packets: usize,
    /// Bytes waiting, without the one in question.
    pub bytes: Bytes,
    /// Classification key of the one in question (see [`QdiscCtx::key`]); the class under fair
    /// queueing; [`QueueState::NOBODY`] where there is none.
    pub key: u32,
}

impl QueueState {
    /// The key where no packet is in question.
    pub const NOBODY: u32 = u32::MAX;
}

/// Active queue management: decides, does not store.
pub trait Aqm: Send {
    /// The present on ns-2's clock in seconds: called in era `ns2` before the other calls of that time, where the
    /// discipline is that of a whole link.
    fn on_clock(&mut self, _seconds: f64) {}
    /// A packet arrives.
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict;
    /// A packet that arrived at `since` is about to leave.
    fn on_dequeue(
        &mut self,
        _packet: &Packet,
        _since: Time,
        _queue: &QueueState,
        _rng: &mut Stream,
    ) -> Verdict {
        Verdict::Pass
    }
    /// Whether all that it decides is decided by [`Self::on_enqueue`]: there is no `on_dequeue`.
    fn decides_on_arrival(&self) -> bool {
        false
    }
    /// Whether [`Self::foresee`] may ever know a verdict.
    fn can_foresee(&self) -> bool {
        self.decides_on_arrival()
    }
    /// What [`Self::on_dequeue`] would say of a packet that waited `wait`, if that is known by now, and saying it would
    /// change nothing that later calls see.
    fn foresee(&self, _packet: &Packet, _wait: Span) -> Option<Verdict> {
        self.decides_on_arrival().then_some(Verdict::Pass)
    }
    /// The queue was found empty when the link requested a packet.
    fn on_idle(&mut self, _now: Time) {}
    /// An arrival found no room, and was dropped before the AQM was consulted.
    fn on_overflow(&mut self) {}
    /// Interval of [`Self::on_timer`], if wanted.
    fn timer_interval(&self) -> Option<Span> {
        None
    }
    /// Called every [`Self::timer_interval`].
    fn on_timer(&mut self, _queue: &QueueState) {}
    /// The link's scheduled rate changed to `rate` at `at`: called before the first other call from then
    /// on.
    fn on_rate(&mut self, _at: Time, _rate: BitRate) {}
    /// What it keeps now besides packets. Left out: itself, and nothing of any flow.
    fn state(&self) -> State {
        State { flows: 0, bytes: size_of_val(self) as u64 }
    }
    /// Itself as the prototype of AQMs inside another discipline, one for each class queue:
    /// `Some(Box::new(self))`. Left out: it decides about a whole link only.
    fn into_prototype(self) -> Option<Box<dyn aqm::Prototype>>
    where
        Self: Sized,
    {
        None
    }
    /// Internal state by name, for recording.
    fn probes(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

registry! { /// Builds the queue discipline that `spec` names; `path` is its place in the scenario.
    "queue discipline": dyn QueueDisc, QdiscEnv {
    "qdisc/aqm/fifo.rs" => managed::Managed<aqm::fifo::Fifo>,
    "qdisc/aqm/red.rs" => managed::Managed<aqm::red::Red>,
    "qdisc/aqm/rio.rs" => managed::Managed<aqm::rio::Rio>,
    "qdisc/fair/drr.rs" => fair::drr::Drr,
    "qdisc/fair/fq.rs" => fair::fq::Fq,
    "qdisc/fair/wf2q_plus.rs" => fair::wf2q_plus::Wf2qPlus,
    "qdisc/fair/hpfq.rs" => fair::hpfq::Hpfq,
    "qdisc/fair/priority.rs" => fair::priority::Priority,
    "qdisc/fair/wrr.rs" => fair::wrr::Wrr,
    "qdisc/core_stateless.rs" => core_stateless::CoreStateless,
    "qdisc/fair/sfq.rs" => fair::sfq::Sfq,
    "qdisc/aqm/codel.rs" => managed::Managed<aqm::codel::Codel>,
    "qdisc/fair/fq_codel.rs" => fair::fq_codel::FqCodel,
    "qdisc/fair/fq_pie.rs" => fair::fq_pie::FqPie,
    "qdisc/aqm/pie.rs" => managed::Managed<aqm::pie::Pie>,
    "qdisc/aqm/green.rs" => managed::Managed<aqm::green::Green>,
    "qdisc/aqm/fred.rs" => managed::Managed<aqm::fred::Fred>,
    "qdisc/aqm/blue.rs" => managed::Managed<aqm::blue::Blue>,
    "qdisc/aqm/sfb.rs" => managed::Managed<aqm::sfb::Sfb>,
    "qdisc/aqm/sred.rs" => managed::Managed<aqm::sred::Sred>,
    "qdisc/aqm/afd.rs" => managed::Managed<aqm::afd::Afd>,
    "qdisc/aqm/rem.rs" => managed::Managed<aqm::rem::Rem>,
    "qdisc/aqm/decbit.rs" => managed::Managed<aqm::decbit::Decbit>,
    "qdisc/aqm/cobalt.rs" => managed::Managed<aqm::cobalt::Cobalt>,
    "qdisc/cake.rs" => cake::Cake,
    "qdisc/dualpi2.rs" => dualpi2::DualPi2,
    "qdisc/trim.rs" => trim::Trim,
    "qdisc/shape/policer.rs" => shape::policer::Policer,
    "qdisc/shape/shaper.rs" => shape::shaper::Shaper,
} }
