//! One direction of a link: a queue, a transmitter, a wire, and the ledger of what passed.
//!
//! Under plain FIFO the departure of a packet is known when it arrives (`network/computed_fifo.rs`). Any other
//! discipline holds its packets and is asked for one whenever a transmission ends.

use std::collections::VecDeque;
use std::mem::offset_of;

use crate::memory::{address, soon_at};
use crate::packet::network::computed_fifo::{LONG, Waiting};
use crate::packet::network::counts::{Counts, Drops};
use crate::packet::network::impaired::Impaired;
use crate::packet::network::queue_length::Occupancy;
use crate::packet::network::rate::{NEVER, Pace, Rate};
use crate::packet::process::clock::Timescale;
use crate::packet::process::event::Stage;
use crate::qdisc::{Limit, QdiscCtx, QueueDisc};
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{DropReason, Packet, Timed};

/// What many links never have: drops, marks, hazards, long waits.
#[derive(Debug, Default)]
pub(in crate::packet) struct Rare {
    drops: Drops,
    marks: u64,
    hazards: Option<Hazards>,
    impaired: Option<Box<Impaired>>,
    /// Waits of the computed FIFO's packets that their slots cannot hold, first to last.
    long_waits: VecDeque<u64>,
}

/// A discipline and its random numbers.
pub(in crate::packet) struct Managed {
    pub(in crate::packet) disc: Box<dyn QueueDisc>,
    rng: Stream,
    /// Changes of the rate that it knows of.
    told: usize,
}

impl Managed {
    /// Tells the discipline of changes of the link's rate up to `now`, in picoseconds.
    #[inline]
    fn tell_rate(&mut self, rate: &Rate, now: u64) {
        while let Some((at, rate)) = rate.change(self.told, now) {
            self.disc.on_rate(Time(at), rate);
            self.told += 1;
        }
    }
}

/// A transmission under way that began at `start` and ends at `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::packet) struct Service {
    pub(in crate::packet) start: u64,
    pub(in crate::packet) end: u64,
}

/// Rare treatments of an arriving packet, kept out of the common path.
#[derive(Debug)]
pub(in crate::packet) struct Hazards {
    /// Random loss ratio and its draws.
    pub(in crate::packet) loss: Option<(f64, Stream)>,
    /// Numbers of arrivals to drop, ascending; those passed are skipped.
    pub(in crate::packet) listed: VecDeque<u64>,
    /// Largest packet.
    pub(in crate::packet) mtu: u16,
}

/// The end of service of a link that is idle and has a discipline of its own.
pub(in crate::packet) const IDLE: u64 = u64::MAX;

/// One direction of a link. What every packet touches stands first, close together.
#[repr(C, align(64))]
pub(in crate::packet) struct Link {
    /// Before this time a packet may pass without a look: plain FIFO, nobody watches, no sample is due.
    pub(in crate::packet) plain_until: u64,
    pub(in crate::packet) service: Service,
    /// Propagation, as a word of the clock.
    delay: u64,
    /// Transmission times, if its rate is constant.
    pace: Pace,
    limit_packets: u32,
    departed_bytes: u64,
    /// Size of the packet whose transmission began last.
    serving: u16,
    /// The stage of its process that it belongs to.
    pub(in crate::packet) stage: Stage,
    /// Whether every packet is recorded or must be looked at for hazards.
    pub(in crate::packet) watched: bool,
    /// Whether the bytes that wait have a limit.
    limits_bytes: bool,
    waiting: Waiting,
    arrived_packets: u64,
    departed_packets: u64,
    // So far what a packet touches that need not wait: two cache lines.
    wait_ps: u128,
    dropped_packets: u64,
    occupancy: Occupancy,
    limit_bytes: u64,
    /// When its state is next sampled.
    next_mark: u64,
    pub(in crate::packet) rate: Rate,
    /// Any other discipline than the computed FIFO.
    pub(in crate::packet) disc: Option<Box<Managed>>,
    rare: Option<Box<Rare>>,
    scale: Timescale,
}

impl Link {
    /// The bytes at its beginning that a packet touches.
    pub(in crate::packet) const BUSY_BYTES: usize = offset_of!(Self, limit_bytes);

    /// An idle link; `disc`: what to use in place of the computed FIFO.
    pub(in crate::packet) fn new(
        scale: Timescale,
        rate: Rate,
        propagation: u64,
        limit: Limit,
        disc: Option<Box<dyn QueueDisc>>,
        rng: Stream,
    ) -> Self {
        let end = if disc.is_some() { IDLE } else { 0 };
        Self {
            plain_until: 0,
            service: Service { start: 0, end },
            delay: scale.word(propagation),
            pace: Pace::of(&rate),
            limit_packets: limit.packets,
            departed_bytes: 0,
            serving: 0,
            stage: Stage::Entry,
            watched: false,
            limits_bytes: limit.bytes != u64::MAX,
            waiting: Waiting::new(),
            arrived_packets: 0,
            departed_packets: 0,
            wait_ps: 0,
            dropped_packets: 0,
            occupancy: Occupancy::default(),
            limit_bytes: limit.bytes,
            next_mark: 0,
            rate,
            disc: disc.map(|disc| Box::new(Managed { disc, rng, told: 0 })),
            rare: None,
            scale,
        }
    }

    /// Propagation in picoseconds.
    pub(in crate::packet) fn propagation(&self) -> u64 {
        self.scale.ps(self.delay)
    }

    /// What was dropped.
    pub(in crate::packet) fn drops(&self) -> Drops {
        self.rare.as_ref().map_or(Drops::default(), |rare| rare.drops)
    }

    /// Packets marked.
    pub(in crate::packet) fn marks(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.marks)
    }

    fn count_marks(&mut self, marks: u64) {
        if marks > 0 {
            self.rare.get_or_insert_default().marks += marks;
        }
    }

    /// When its state is next sampled.
    pub(in crate::packet) fn next_mark(&self) -> u64 {
        self.next_mark
    }

    /// Its state is next sampled at `at`.
    pub(in crate::packet) fn mark_at(&mut self, at: u64) {
        self.next_mark = at;
        let plain = self.disc.is_none() && !self.watched && self.scale == Timescale::Picoseconds;
        self.plain_until = if plain { at } else { 0 };
    }

    /// Makes every arriving packet be looked at.
    pub(in crate::packet) fn watch(&mut self, hazards: Option<Hazards>) {
        if hazards.is_some() {
            self.rare.get_or_insert_default().hazards = hazards;
        }
        self.watched = true;
    }

    /// Gives the link's wire impairments. Every packet is then looked at.
    pub(in crate::packet) fn impair(&mut self, impaired: Impaired) {
        self.rare.get_or_insert_default().impaired = Some(Box::new(impaired));
        self.watched = true;
    }

    /// The impairments of the link's wire, if it has some.
    pub(in crate::packet) fn impaired(&self) -> Option<&Impaired> {
        self.rare.as_ref()?.impaired.as_deref()
    }

    /// As [`Self::impaired`], to be changed.
    pub(in crate::packet) fn impaired_mut(&mut self) -> Option<&mut Impaired> {
        self.rare.as_mut()?.impaired.as_deref_mut()
    }

    /// The shortest time from an arrival here to one at the far end, for packets of `size` or more. What an
    /// impairment holds goes on at its release, which takes no transmission.
    pub(in crate::packet) fn shortest(&self, size: u16) -> u64 {
        let transmission = if self.impaired().is_some() { 0 } else { self.rate.shortest(size) };
        self.propagation().saturating_add(transmission)
    }

    /// When a packet that is released at `now` reaches the far end, words of the clock.
    pub(in crate::packet) fn far_end(&self, now: u64) -> u64 {
        self.scale.after(now, self.delay)
    }

    /// Why an arriving packet is lost before it reaches the queue, if it is.
    pub(in crate::packet) fn hazard(&mut self, packet: &Packet) -> Option<DropReason> {
        let number = self.arrived_packets;
        let hazards = self.rare.as_mut()?.hazards.as_mut()?;
        if packet.size > hazards.mtu {
            return Some(DropReason::TooBig);
        }
        if hazards.listed.front() == Some(&number) {
            hazards.listed.pop_front();
            return Some(DropReason::Listed);
        }
        if let Some((ratio, rng)) = &mut hazards.loss
            && rng.uniform() < *ratio
        {
            return Some(DropReason::Random);
        }
        None
    }

    /// Counts a dropped packet.
    pub(in crate::packet) fn count_drop(&mut self, packet: &Packet, reason: DropReason) {
        self.dropped_packets += 1;
        let drops = &mut self.rare.get_or_insert_default().drops;
        drops.acks += u64::from(packet.is_ack());
        drops.by_reason[reason as usize] += 1;
    }

    /// How long a packet of `size` takes from the start of its transmission to the far end, in
    /// picoseconds.
    #[inline]
    pub(in crate::packet) fn flight(&self, size: u16) -> u64 {
        self.propagation().saturating_add(self.rate.estimate(size))
    }

    /// A packet arrives.
    #[inline(always)]
    pub(in crate::packet) fn count_arrival(&mut self) {
        self.arrived_packets += 1;
    }

    /// Lets the computed FIFO forget the packets whose transmission began before `now`; whether
    /// there is one that begins exactly now.
    #[inline(always)]
    pub(in crate::packet) fn settle(&mut self, now: u64) -> bool {
        if self.waiting.next < now {
            self.waiting.note();
            while self.waiting.next < now {
                self.begin(Timescale::Picoseconds);
            }
        }
        self.waiting.next == now
    }

    /// As [`Self::settle`], for any timescale.
    pub(in crate::packet) fn settle_any(&mut self, now: u64) -> bool {
        self.waiting.note();
        while self.waiting.next < now {
            self.begin(self.scale);
        }
        self.waiting.next == now
    }

    /// The computed FIFO's next packet begins its transmission at `now`, if that was scheduled (the
    /// transmission before it began) earlier than `ahead` picoseconds before.
    pub(in crate::packet) fn turn(&mut self, now: u64, ahead: u64) {
        let sent = self.scale.ps(now).saturating_sub(ahead);
        while self.waiting.next == now && self.scale.ps(self.service.start) < sent {
            self.begin(self.scale);
        }
    }

    /// The first packet that waits begins its transmission.
    #[inline(always)]
    fn begin(&mut self, scale: Timescale) {
        let long;
        (self.service.start, self.serving, long) = self.waiting.begin(scale, &mut self.occupancy);
        if long && let Some(rare) = &mut self.rare {
            rare.long_waits.pop_front();
        }
    }

    /// Whether the computed FIFO, settled, takes one more packet.
    #[inline(always)]
    fn has_room(&self, size: u16) -> bool {
        self.waiting.len() < self.limit_packets as usize
            && !(self.limits_bytes && self.waiting.backlog() + u64::from(size) > self.limit_bytes)
    }

    /// Offers a packet to the settled FIFO; the time of its arrival at the far end, or `None` if
    /// there is no room.
    #[inline(always)]
    pub(in crate::packet) fn admit(&mut self, now: u64, size: u16) -> Option<u64> {
        if !self.has_room(size) {
            return None;
        }
        self.departed_packets += 1;
        self.departed_bytes += u64::from(size);
        // `service.end` is when the last accepted packet has left.
        let free = self.service.end;
        let start = if free > now || self.waiting.next != Waiting::NONE {
            let wait = free - now;
            self.wait_ps += u128::from(wait);
            if wait >= LONG {
                self.note_long(wait);
            }
            self.waiting.push(now, wait, free, size, &mut self.occupancy);
            free
        } else {
            self.service.start = now;
            self.serving = size;
            now
        };
        self.service.end = self.end_of(start, size);
        Some(self.service.end.saturating_add(self.delay))
    }

    #[cold]
    #[inline(never)]
    fn note_long(&mut self, wait: u64) {
        self.rare.get_or_insert_default().long_waits.push_back(wait);
    }

    /// As [`Self::admit`], for a clock of seconds.
    pub(in crate::packet) fn admit_in_seconds(&mut self, now: u64, size: u16) -> Option<u64> {
        if !self.has_room(size) {
            return None;
        }
        self.departed_packets += 1;
        self.departed_bytes += u64::from(size);
        let (free, present) = (self.service.end, self.scale.ps(now));
        let start = if free > now || self.waiting.next != Waiting::NONE {
            let wait = self.scale.ps(free) - present;
            self.wait_ps += u128::from(wait);
            if wait >= LONG {
                self.note_long(wait);
            }
            self.waiting.push(present, wait, free, size, &mut self.occupancy);
            free
        } else {
            self.service.start = now;
            self.serving = size;
            now
        };
        let (end, at) = self.send(start, size);
        self.service.end = end;
        Some(at)
    }

    /// When a transmission that starts at `start` ends, and when its packet is at the far end.
    #[inline(always)]
    fn send(&mut self, start: u64, size: u16) -> (u64, u64) {
        if self.scale == Timescale::Seconds {
            return self.send_in_seconds(start, size);
        }
        let end = self.end_of(start, size);
        (end, end.saturating_add(self.delay))
    }

    /// ns-2 adds to the present the transmission time, and the sum of transmission and delay.
    #[inline(never)]
    fn send_in_seconds(&mut self, start: u64, size: u16) -> (u64, u64) {
        let transmission = if let Rate::Constant(rate) = &self.rate {
            (f64::from(size) * 8.0 / rate.bps()).to_bits()
        } else {
            let from = self.scale.ps(start);
            let end = self.rate.end(from, size);
            if end >= NEVER { u64::MAX } else { self.scale.word(end - from) }
        };
        let flight = self.scale.after(transmission, self.delay);
        (self.scale.after(start, transmission), self.scale.after(start, flight))
    }

    /// When the transmission of the packet that the FIFO admitted last begins.
    pub(in crate::packet) fn latest_start(&self) -> u64 {
        self.waiting.last_start().unwrap_or(self.service.start)
    }

    /// When a transmission that starts at `start` ends.
    #[inline(always)]
    fn end_of(&mut self, start: u64, size: u16) -> u64 {
        if self.pace.is_steady() {
            return start.saturating_add(self.pace.transmission(size));
        }
        self.end_by_schedule(start, size)
    }

    #[inline(never)]
    fn end_by_schedule(&mut self, start: u64, size: u16) -> u64 {
        self.rate.end(start, size)
    }

    /// Gives a packet to the discipline.
    pub(in crate::packet) fn enqueue(
        &mut self,
        packet: Packet,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) {
        let Some(managed) = &mut self.disc else { return };
        let present = self.scale.ps(now);
        managed.tell_rate(&self.rate, present);
        let Managed { disc, rng, .. } = &mut **managed;
        let mut ctx = QdiscCtx { now: Time(present), rng, keys, dropped, marks: 0 };
        disc.enqueue(packet, &mut ctx);
        let marks = ctx.marks;
        self.occupancy.set(present, disc.len());
        self.count_marks(marks);
    }

    /// Asks the discipline for a packet and begins its transmission; the packet with the time of
    /// its arrival at the far end, a word of the clock.
    #[inline(always)]
    pub(in crate::packet) fn transmit(
        &mut self,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) -> Option<Timed> {
        let Some(managed) = &mut self.disc else { return None };
        let present = self.scale.ps(now);
        managed.tell_rate(&self.rate, present);
        let Managed { disc, rng, .. } = &mut **managed;
        let mut ctx = QdiscCtx { now: Time(present), rng, keys, dropped, marks: 0 };
        let mut next = disc.dequeue(&mut ctx);
        let marks = ctx.marks;
        self.occupancy.set(present, disc.len());
        self.count_marks(marks);
        if let Some(Timed { at, packet }) = &mut next {
            let size = packet.size;
            self.wait_ps += u128::from(present - at.0);
            self.departed_packets += 1;
            self.departed_bytes += u64::from(size);
            let (end, arrival) = self.send(now, size);
            self.service = Service { start: now, end };
            self.serving = size;
            // A packet that is moved stalls the move: it stays where it is.
            *at = Time(arrival);
        }
        next
    }

    /// Runs the discipline's timer.
    pub(in crate::packet) fn on_timer(
        &mut self,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) {
        if let Some(managed) = &mut self.disc {
            let present = self.scale.ps(now);
            managed.tell_rate(&self.rate, present);
            let Managed { disc, rng, .. } = &mut **managed;
            let mut ctx = QdiscCtx { now: Time(present), rng, keys, dropped, marks: 0 };
            disc.on_timer(&mut ctx);
            let marks = ctx.marks;
            self.occupancy.set(present, disc.len());
            self.count_marks(marks);
        }
    }

    /// Packets and bytes that wait.
    pub(in crate::packet) fn waiting(&self) -> (usize, u64) {
        match &self.disc {
            None => (self.waiting.len(), self.waiting.backlog()),
            Some(managed) => (managed.disc.len(), managed.disc.backlog().0),
        }
    }

    /// What passed so far; a packet departs when its transmission begins.
    pub(in crate::packet) fn counts(&self) -> Counts {
        let counts = Counts {
            arrived_packets: self.arrived_packets,
            departed_packets: self.departed_packets,
            departed_bytes: self.departed_bytes,
            dropped_packets: self.dropped_packets,
            wait_ps: self.wait_ps,
        };
        match &self.disc {
            None => {
                let long = self.rare.iter().flat_map(|rare| rare.long_waits.iter().copied());
                self.waiting.begun(counts, long)
            }
            Some(_) => counts,
        }
    }

    /// Calls up what of the link itself packets touch.
    #[inline(always)]
    pub(in crate::packet) fn call_up(&self) {
        soon_at(address(self), Self::BUSY_BYTES);
    }

    /// Calls up what a packet that is to wait will touch.
    #[inline(always)]
    pub(in crate::packet) fn call_up_queue(&self) {
        self.waiting.call_up();
        self.occupancy.call_up();
    }

    /// Packets that arrived.
    pub(in crate::packet) fn arrived(&self) -> u64 {
        self.arrived_packets
    }

    /// The queue's lengths count from `now` on.
    pub(in crate::packet) fn reset_occupancy(&mut self, now: u64) {
        self.occupancy.reset(self.scale.ps(now), self.waiting().0);
    }

    /// Mean and 99th percentile over time of the packets that waited, up to `now`.
    pub(in crate::packet) fn occupancy(&self, now: u64) -> (f64, f64) {
        self.occupancy.summary(self.scale.ps(now), self.waiting().0)
    }

    /// Bits of the packet in service that are still to be sent at `now`.
    pub(in crate::packet) fn bits_in_service(&self, now: u64) -> f64 {
        let end = match &self.disc {
            None if self.waiting.next != Waiting::NONE => self.waiting.next,
            Some(_) if self.service.end == IDLE => return 0.0,
            None | Some(_) => self.service.end,
        };
        if self.service.start <= now && end > now {
            let (now, end) = (self.scale.ps(now), self.scale.ps(end));
            self.rate.unsent_bits(now, end, self.serving)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::ids::FlowId;
    use crate::packet::network::rate::Steps;
    use crate::rng::Purpose;
    use crate::units::{BitRate, Bytes};
    use crate::wire::Flags;

    /// Networks with a hundred thousand flows have several links a flow.
    #[test]
    fn a_link_takes_four_cache_lines() {
        assert_eq!(size_of::<Link>(), 256);
        // A packet that need not wait touches the first two.
        assert_eq!(offset_of!(Link, wait_ps), 128);
    }

    /// Notes what it is told of the link's rate.
    struct Notes(Arc<Mutex<Vec<(u64, u64)>>>);

    impl QueueDisc for Notes {
        fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
            ctx.drop(packet, DropReason::Early);
        }
        fn dequeue(&mut self, _ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
            None
        }
        fn len(&self) -> usize {
            0
        }
        fn backlog(&self) -> Bytes {
            Bytes(0)
        }
        fn on_rate(&mut self, at: Time, rate: BitRate) {
            self.0.lock().unwrap().push((at.0, rate.0));
        }
    }

    #[test]
    fn a_discipline_is_told_of_each_rate_once_before_it_is_asked() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let disc = Box::new(Notes(Arc::clone(&seen)));
        let steps = [(0, BitRate(5)), (20, BitRate(7)), (30, BitRate(8)), (90, BitRate(9))];
        let rate = Rate::Steps(Box::new(Steps::new(BitRate(1), &steps)));
        let rng = Stream::new(1, Purpose::Qdisc, 0);
        let scale = Timescale::Picoseconds;
        let mut link = Link::new(scale, rate, 0, Limit::NONE, Some(disc), rng);
        let mut dropped = Vec::new();
        let packet = || Packet::new(FlowId(0), 0, 1000, Flags::default());
        link.enqueue(packet(), 10, &[[0, 0]], &mut dropped);
        assert_eq!(*seen.lock().unwrap(), [(0, 5)]);
        assert!(link.transmit(30, &[[0, 0]], &mut dropped).is_none());
        assert_eq!(*seen.lock().unwrap(), [(0, 5), (20, 7), (30, 8)]);
        link.on_timer(89, &[[0, 0]], &mut dropped);
        assert_eq!(seen.lock().unwrap().len(), 3);
    }

    #[test]
    fn the_books_hold_waits_of_any_length() {
        // 1 bit/s: a packet of 100 B takes 800 s, so the second waits 800 s and the third 1600 s.
        let rate = Rate::Constant(BitRate(1));
        let rng = Stream::new(1, Purpose::Qdisc, 0);
        let mut link = Link::new(Timescale::Picoseconds, rate, 0, Limit::NONE, None, rng);
        let second = 1_000_000_000_000;
        for _ in 0..3 {
            link.count_arrival();
            link.settle(0);
            assert!(link.admit(0, 100).is_some());
        }
        assert_eq!((link.counts().departed_packets, link.counts().wait_ps), (1, 0));
        link.settle(801 * second);
        let counts = link.counts();
        assert_eq!((counts.departed_packets, counts.wait_ps), (2, 800 * u128::from(second)));
        link.settle(1601 * second);
        let counts = link.counts();
        assert_eq!((counts.departed_packets, counts.wait_ps), (3, 2400 * u128::from(second)));
    }
}
