//! Many class queues in one shared buffer: what DRR, FQ, SFQ and FQ-CoDel schedule.
//!
//! All packets live in one pool, so memory grows with the packets that wait at once, not with the
//! number of classes times their longest queues; an empty class costs a few dozen bytes, and its
//! AQM is made when its first packet arrives.
//!
//! **Source** of longest-queue drop: `McKenney`, "Stochastic Fairness Queueing", INFOCOM 1990; Suter,
//! Lakshman, Stiliadis & Choudhury, "Design considerations for supporting TCP with per-flow
//! queueing", INFOCOM 1998.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::{make_room, prefetch};
use crate::qdisc::aqm::Prototype;
use crate::qdisc::fair::longest::Longest;
use crate::qdisc::links::{Chain, Links};
use crate::qdisc::managed::execute;
use crate::qdisc::{Aqm, Limit, QdiscCtx, QueueState};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{DropReason, Packet, Timed};

/// Which packet of the longest queue is pushed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The oldest.
    Head,
    /// The newest.
    Tail,
}

/// What makes a queue the longest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Bytes.
    #[default]
    Bytes,
    /// Packets.
    Packets,
}

/// One class.
#[derive(Debug, Default)]
struct Queue {
    chain: Chain,
    packets: u32,
    bytes: u64,
}

impl Queue {
    /// Its length; `None` if it is empty.
    #[inline]
    fn length(&self, measure: Measure) -> Option<u64> {
        let length = match measure {
            Measure::Bytes => self.bytes,
            Measure::Packets => u64::from(self.packets),
        };
        (self.packets > 0).then_some(length)
    }

    /// What its AQM is shown.
    fn state(&self, class: u32, now: Time) -> QueueState {
        QueueState { now, packets: self.packets as usize, bytes: Bytes(self.bytes), key: class }
    }
}

/// What a scheduler needs to know of a queued packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) size: u16,
    /// The scheduler's note about the packet.
    pub(crate) tag: f64,
}

/// Class queues that share a buffer.
pub(crate) struct Classes {
    slots: Vec<Option<Timed>>,
    free: Vec<u32>,
    /// Of the packets in `slots`, with what is often read of them.
    links: Links<Head>,
    queues: Vec<Queue>,
    packets: usize,
    bytes: u64,
    limit: Limit,
    measure: Measure,
    /// Kept only if the buffer is bounded.
    longest: Longest,
    prototype: Option<Box<dyn Prototype>>,
    aqms: Vec<Option<Box<dyn Aqm>>>,
    /// Whether there are AQMs.
    managed: bool,
    /// By class, that of the discipline's queues to which it belongs; classes beyond the list belong to none.
    listed: Vec<u32>,
    /// Interval of the timer of which the AQMs' intervals are multiples, and how often it has run.
    tick: Option<Span>,
    ticks: u64,
}

impl Classes {
    pub(crate) fn new(
        limit: Limit,
        measure: Measure,
        prototype: Option<Box<dyn Prototype>>,
    ) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            links: Links::default(),
            queues: Vec::new(),
            packets: 0,
            bytes: 0,
            limit,
            measure,
            longest: Longest::default(),
            managed: prototype.is_some(),
            listed: Vec::new(),
            tick: prototype.as_ref().and_then(|aqm| aqm.timer_interval()),
            ticks: 0,
            prototype,
            aqms: Vec::new(),
        }
    }

    /// The timer's interval divides this one.
    pub(crate) fn expect_timer(&mut self, interval: Option<Span>) {
        if let Some(interval) = interval {
            let divisor = self.tick.map_or(interval.0, |tick| common_divisor(tick.0, interval.0));
            self.tick = Some(Span(divisor));
        }
    }

    /// Classes belong to queues of the discipline from class 0 on.
    pub(crate) fn list(&mut self, queues: impl Iterator<Item = u32>) {
        self.listed.extend(queues);
    }

    /// The queue of the discipline to which a class belongs.
    #[inline(always)]
    fn queue_of(&self, class: u32) -> usize {
        self.listed.get(class as usize).map_or(QdiscCtx::NO_QUEUE, |&queue| queue as usize)
    }

    /// Gives a class a separate AQM.
    pub(crate) fn set_aqm(&mut self, class: u32, aqm: Box<dyn Aqm>) {
        self.expect_timer(aqm.timer_interval());
        if self.aqms.len() <= class as usize {
            self.aqms.resize_with(class as usize + 1, || None);
        }
        if self.queues.len() <= class as usize {
            self.grow(class);
        }
        self.aqms[class as usize] = Some(aqm);
        self.managed = true;
    }

    /// Bytes of the classes themselves and of their AQMs, without packets.
    pub(crate) fn state_bytes(&self) -> usize {
        let aqms: u64 = self.aqms.iter().flatten().map(|aqm| aqm.state().bytes).sum();
        self.queues.len() * size_of::<Queue>() + aqms as usize
    }

    /// Packets in all classes.
    #[inline]
    pub(crate) fn total(&self) -> usize {
        self.packets
    }

    /// Bytes in all classes.
    #[inline]
    pub(crate) fn backlog(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// Packets of one class.
    #[inline]
    pub(crate) fn packets(&self, class: u32) -> u32 {
        self.queues.get(class as usize).map_or(0, |q| q.packets)
    }

    /// The packet of a class that leaves next.
    #[inline(always)]
    pub(crate) fn head(&self, class: u32) -> Option<Head> {
        let id = self.queues.get(class as usize)?.chain.head()?;
        Some(*self.links.note(id))
    }

    /// The packet of a class that leaves after the next.
    #[inline(always)]
    pub(crate) fn second(&self, class: u32) -> Option<Head> {
        let id = self.queues.get(class as usize)?.chain.head()?;
        Some(*self.links.note(self.links.next(id)?))
    }

    /// Prefetches what the next packet of a class will touch when it leaves.
    #[inline(always)]
    pub(crate) fn prefetch(&self, class: u32) {
        if let Some(id) = self.queues.get(class as usize).and_then(|queue| queue.chain.head()) {
            prefetch(self.links.note(id));
            prefetch(&self.slots[id as usize]);
        }
    }

    /// Whether AQMs have a say in what leaves.
    #[inline(always)]
    pub(crate) fn managed(&self) -> bool {
        self.managed
    }

    /// Whether more waits than the buffer holds.
    #[inline]
    pub(crate) fn over(&self) -> bool {
        self.packets as u64 > u64::from(self.limit.packets) || self.bytes > self.limit.bytes
    }

    /// The longest class and its length; of equals the one with the smallest number.
    pub(crate) fn longest(&mut self) -> Option<(u64, u32)> {
        let Self { queues, longest, measure, .. } = self;
        longest.find(queues.len() as u32, |class| queues[class as usize].length(*measure))
    }

    /// Length of the longest class, 0 if nothing waits; for recording.
    pub(crate) fn greatest_length(&self) -> u64 {
        self.queues.iter().filter_map(|queue| queue.length(self.measure)).max().unwrap_or(0)
    }

    /// Length of a class as `longest` measures it.
    pub(crate) fn length(&self, class: u32) -> u64 {
        self.queues[class as usize].length(self.measure).unwrap_or(0)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, class: u32) {
        self.queues.resize_with(class as usize + 1, Queue::default);
    }

    /// What the AQM of a class says of an arrival: the packet if it may go on.
    #[inline(never)]
    fn judge_arrival(
        &mut self,
        class: u32,
        packet: Packet,
        ctx: &mut QdiscCtx<'_>,
    ) -> Option<Packet> {
        if self.aqms.len() <= class as usize {
            self.aqms.resize_with(class as usize + 1, || None);
        }
        let slot = &mut self.aqms[class as usize];
        if slot.is_none() {
            *slot = self.prototype.as_ref().map(|prototype| prototype.fresh());
        }
        let Some(aqm) = slot else { return Some(packet) };
        let state = self.queues[class as usize].state(class, ctx.now);
        execute(aqm.on_enqueue(&packet, &state, ctx.rng), packet, ctx)
    }

    /// What the AQM of a class says of a packet that would leave: the packet if it may.
    #[inline(never)]
    fn judge_departure(
        &mut self,
        class: u32,
        leaving: Timed,
        ctx: &mut QdiscCtx<'_>,
    ) -> Option<Timed> {
        let Some(Some(aqm)) = self.aqms.get_mut(class as usize) else { return Some(leaving) };
        let Timed { at: arrived_at, packet } = leaving;
        let state = self.queues[class as usize].state(class, ctx.now);
        let packet = execute(aqm.on_dequeue(&packet, arrived_at, &state, ctx.rng), packet, ctx)?;
        Some(Timed { at: arrived_at, packet })
    }

    /// An arrival: consults the class's AQM and stores the packet at the tail of its class with the
    /// scheduler's `tag`, even beyond the limit. Returns its place, `None` if the AQM dropped it.
    // A packet is moved as few times as can be: once in here, once out again.
    #[inline(always)]
    pub(crate) fn offer(
        &mut self,
        class: u32,
        packet: Packet,
        tag: f64,
        ctx: &mut QdiscCtx<'_>,
    ) -> Option<u32> {
        if self.queues.len() <= class as usize {
            self.grow(class);
        }
        ctx.enter(self.queue_of(class));
        if !self.managed {
            return Some(self.store(class, packet, tag, ctx.now));
        }
        let packet = self.judge_arrival(class, packet, ctx)?;
        Some(self.store(class, packet, tag, ctx.now))
    }

    /// Puts a packet at the tail of its class; its place.
    #[inline(always)]
    fn store(&mut self, class: u32, packet: Packet, tag: f64, now: Time) -> u32 {
        let size = packet.size;
        let id = self.free.pop().unwrap_or_else(|| self.more());
        self.slots[id as usize] = Some(Timed { at: now, packet });
        let queue = &mut self.queues[class as usize];
        self.links.push_noted(&mut queue.chain, id, Head { size, tag });
        let size = u64::from(size);
        queue.packets += 1;
        queue.bytes += size;
        self.packets += 1;
        self.bytes += size;
        if self.limit != Limit::NONE {
            self.longest.grown(class, self.length(class));
        }
        id
    }

    /// One place more.
    #[cold]
    #[inline(never)]
    fn more(&mut self) -> u32 {
        make_room(&mut self.slots);
        self.slots.push(None);
        self.links.reserve(self.slots.len());
        (self.slots.len() - 1) as u32
    }

    /// Takes a packet of a class out, last of all: so it goes straight to where it is wanted.
    #[inline(always)]
    fn take(&mut self, class: u32, id: u32) -> Option<Timed> {
        let size = u64::from(self.links.note(id).size);
        let queue = &mut self.queues[class as usize];
        self.links.remove(&mut queue.chain, id);
        queue.packets -= 1;
        queue.bytes -= size;
        self.packets -= 1;
        self.bytes -= size;
        self.free.push(id);
        self.slots[id as usize].take()
    }

    /// Pushes a packet out of a class that is not empty; returns its size. `arrived` is the place of
    /// the packet whose arrival is to blame.
    #[inline(never)]
    pub(crate) fn push_out(
        &mut self,
        class: u32,
        victim: Victim,
        arrived: u32,
        ctx: &mut QdiscCtx<'_>,
    ) -> u16 {
        ctx.queue = self.queue_of(class);
        let chain = self.queues[class as usize].chain;
        let id = match victim {
            Victim::Head => chain.head(),
            Victim::Tail => chain.tail(),
        }
        .expect("invariant: a packet is pushed out of a class that has one");
        let packet = self
            .take(class, id)
            .expect("invariant: a place in a class's chain holds a packet")
            .packet;
        let size = packet.size;
        let reason = if id == arrived { DropReason::Overflow } else { DropReason::PushedOut };
        ctx.drop(packet, reason);
        size
    }

    /// Packets of a class with their places, oldest first.
    pub(crate) fn waiting(&self, class: u32) -> impl Iterator<Item = (u32, &Packet)> {
        let head = self.queues.get(class as usize).and_then(|queue| queue.chain.head());
        let slots = std::iter::successors(head, |&id| self.links.next(id));
        slots.filter_map(|id| Some((id, self.at(id)?)))
    }

    /// The packet at a place.
    pub(crate) fn at(&self, slot: u32) -> Option<&Packet> {
        self.slots[slot as usize].as_ref().map(|waiting| &waiting.packet)
    }

    /// Drops the packet of a class at a place.
    #[cold]
    pub(crate) fn discard(
        &mut self,
        class: u32,
        slot: u32,
        reason: DropReason,
        ctx: &mut QdiscCtx<'_>,
    ) {
        if let Some(Timed { packet, .. }) = self.take(class, slot) {
            ctx.drop(packet, reason);
        }
    }

    /// Takes the head of a class and consults its AQM: `None` if that dropped it, or if there was none.
    #[inline(always)]
    pub(crate) fn serve(&mut self, class: u32, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        let id = self.queues.get(class as usize)?.chain.head()?;
        ctx.queue = self.queue_of(class);
        if !self.managed {
            return self.take(class, id);
        }
        let leaving = self.take(class, id)?;
        self.judge_departure(class, leaving, ctx)
    }

    /// A class was found empty.
    pub(crate) fn idle(&mut self, class: u32, now: Time) {
        if let Some(Some(aqm)) = self.aqms.get_mut(class as usize) {
            aqm.on_idle(now);
        }
    }

    /// Interval of the AQMs' timer.
    pub(crate) fn timer_interval(&self) -> Option<Span> {
        self.tick
    }

    /// The AQMs' timer.
    pub(crate) fn on_timer(&mut self, now: Time) {
        self.ticks += 1;
        let elapsed = self.tick.unwrap_or_default().0.saturating_mul(self.ticks);
        for class in 0..self.aqms.len() {
            if let Some(aqm) = &mut self.aqms[class]
                && aqm
                    .timer_interval()
                    .is_some_and(|interval| elapsed.is_multiple_of(interval.0.max(1)))
            {
                aqm.on_timer(&self.queues[class].state(class as u32, now));
            }
        }
    }

    /// The link's rate changed.
    pub(crate) fn on_rate(&mut self, now: Time, rate: BitRate) {
        for aqm in self.aqms.iter_mut().flatten() {
            aqm.on_rate(now, rate);
        }
        if let Some(prototype) = &mut self.prototype {
            prototype.on_rate(now, rate);
        }
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether the bit of a class is set among those that are held back.
#[inline]
pub(crate) fn is_held(bits_held: u32, class: u32) -> bool {
    bits_held.checked_shr(class).is_some_and(|bits| bits & 1 != 0)
}

/// The bucket of a class key: a fixed hash, the same in every run; `salt` selects another.
pub(crate) fn bucket(key: u32, salt: u32, buckets: u32) -> u32 {
    let mut z = (u64::from(salt) << 32 | u64::from(key)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    ((u128::from(z) * u128::from(buckets)) >> 64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;
    use crate::rng::{Purpose, Stream};
    use crate::wire::Flags;

    #[test]
    fn memory_follows_what_waits_at_once_not_the_number_of_classes() {
        let mut classes = Classes::new(Limit::NONE, Measure::Bytes, None);
        let mut dropped = Vec::new();
        let mut rng = Stream::new(1, Purpose::Qdisc, 0);
        let mut ctx = QdiscCtx::new(Time::ZERO, None, &mut rng, &[], &mut dropped, &mut []);
        for class in 0..200_000 {
            for seq in 0..3 {
                let packet = Packet::new(FlowId(class), seq, 1000, Flags::default());
                classes.offer(class, packet, 0.0, &mut ctx);
            }
            for seq in 0..3 {
                assert_eq!(classes.serve(class, &mut ctx).unwrap().packet.seq, seq);
            }
        }
        assert_eq!(classes.slots.len(), 3);
        assert!(size_of::<Queue>() <= 24);
    }

    #[test]
    fn buckets_are_evenly_filled_and_depend_on_the_salt() {
        let mut filled = [0u32; 16];
        for key in 0..16_000 {
            filled[bucket(key, 0, 16) as usize] += 1;
        }
        // Binomial with mean 1000 and deviation 31.
        assert!(filled.iter().all(|&n| (850..1150).contains(&n)), "{filled:?}");
        let moved = (0..1000).filter(|&key| bucket(key, 0, 16) != bucket(key, 1, 16)).count();
        assert!(moved > 850, "{moved}");
    }
}
