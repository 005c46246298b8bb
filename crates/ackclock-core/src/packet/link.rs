//! One direction of a link: a queue, a transmitter, a wire, and the ledger of what passed.
//!
//! Under plain FIFO the departure of a packet is known when it arrives (`fifo.rs`). Any other
//! discipline holds its packets and is asked for one whenever a transmission ends.

use std::collections::VecDeque;

use super::fifo::Waiting;
use super::lp::Stage;
use super::occupancy::Occupancy;
use super::rate::{NEVER, Rate};
use super::sim::IDLE;
use super::timescale::Timescale;
use crate::qdisc::{Limit, QdiscCtx, QueueDisc};
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{DropReason, Packet, Timed};

/// What passed through a link so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) arrived_packets: u64,
    pub(super) departed_packets: u64,
    pub(super) departed_bytes: u64,
    pub(super) dropped_packets: u64,
    pub(super) marks: u64,
    /// Sum of waiting times of departed packets.
    pub(super) wait_ps: u128,
}

/// What was dropped at a link: how much of it acknowledgements, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Drops {
    pub(super) acks: u64,
    pub(super) by_reason: [u64; DropReason::COUNT],
}

/// A discipline and its random numbers.
pub(super) struct Managed {
    pub(super) disc: Box<dyn QueueDisc>,
    rng: Stream,
}

/// A transmission under way that began at `start` and ends at `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Rare treatments of an arriving packet, kept out of the common path.
#[derive(Debug)]
pub(super) struct Hazards {
    /// Random loss ratio and its draws.
    pub(super) loss: Option<(f64, Stream)>,
    /// Numbers of arrivals to drop, ascending; those passed are skipped.
    pub(super) listed: VecDeque<u64>,
    /// Largest packet.
    pub(super) mtu: u16,
}

/// One direction of a link. What every packet touches stands first, close together.
#[repr(C, align(64))]
pub(super) struct Link {
    /// Before this time a packet may pass without a look: plain FIFO, nobody watches, no sample is due.
    pub(super) plain_until: u64,
    pub(super) service: Service,
    /// Propagation, as a word of the clock.
    delay: u64,
    /// The latest two sizes transmitted at a constant rate, and their transmission times.
    times: [u64; 2],
    sizes: [u16; 2],
    pub(super) limit_packets: u32,
    waiting: Waiting,
    counts: Counts,
    occupancy: Occupancy,
    limit_bytes: u64,
    /// Size of the packet whose transmission began last.
    serving: u16,
    /// The stage of its process that it belongs to.
    pub(super) stage: Stage,
    /// Whether every packet is recorded or must be looked at for hazards.
    pub(super) watched: bool,
    /// When its state is next sampled.
    next_mark: u64,
    scale: Timescale,
    /// Propagation in picoseconds.
    pub(super) propagation: u64,
    pub(super) rate: Rate,
    /// The shortest time from an arrival here to one at the far end.
    pub(super) shortest: u64,
    /// Any other discipline than the computed FIFO.
    pub(super) disc: Option<Box<Managed>>,
    /// Nothing until something is dropped.
    pub(super) drops: Option<Box<Drops>>,
    pub(super) hazards: Option<Box<Hazards>>,
}

impl Link {
    /// An idle link; `disc`: what to use in place of the computed FIFO.
    pub(super) fn new(
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
            times: [0; 2],
            sizes: [0; 2],
            limit_packets: limit.packets,
            waiting: Waiting::new(),
            counts: Counts::default(),
            occupancy: Occupancy::default(),
            limit_bytes: limit.bytes,
            serving: 0,
            stage: Stage::Entry,
            watched: false,
            next_mark: 0,
            scale,
            propagation,
            rate,
            shortest: 0,
            disc: disc.map(|disc| Box::new(Managed { disc, rng })),
            drops: None,
            hazards: None,
        }
    }

    /// When its state is next sampled.
    pub(super) fn next_mark(&self) -> u64 {
        self.next_mark
    }

    /// Its state is next sampled at `at`.
    pub(super) fn mark_at(&mut self, at: u64) {
        self.next_mark = at;
        let plain = self.disc.is_none() && !self.watched && self.scale == Timescale::Picoseconds;
        self.plain_until = if plain { at } else { 0 };
    }

    /// Makes every arriving packet be looked at.
    pub(super) fn watch(&mut self, hazards: Option<Box<Hazards>>) {
        self.hazards = hazards;
        self.watched = true;
    }

    /// Why an arriving packet is lost before it reaches the queue, if it is.
    pub(super) fn hazard(&mut self, packet: &Packet) -> Option<DropReason> {
        let number = self.counts.arrived_packets;
        let hazards = self.hazards.as_deref_mut()?;
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
    pub(super) fn count_drop(&mut self, packet: &Packet, reason: DropReason) {
        self.counts.dropped_packets += 1;
        let drops = self.drops.get_or_insert_default();
        drops.acks += u64::from(packet.is_ack());
        drops.by_reason[reason as usize] += 1;
    }

    /// How long a packet of `size` takes from the start of its transmission to the far end, in
    /// picoseconds.
    #[inline]
    pub(super) fn flight(&self, size: u16) -> u64 {
        let known = self.sizes.iter().position(|&known| known == size);
        let transmission = known.map_or_else(|| self.rate.estimate(size), |i| self.times[i]);
        self.propagation.saturating_add(transmission)
    }

    /// A packet arrives.
    #[inline(always)]
    pub(super) fn count_arrival(&mut self) {
        self.counts.arrived_packets += 1;
    }

    /// Lets the computed FIFO forget the packets whose transmission began before `now`; whether
    /// there is one that begins exactly now.
    #[inline(always)]
    pub(super) fn settle(&mut self, now: u64) -> bool {
        while self.waiting.next < now {
            self.begin(Timescale::Picoseconds);
        }
        self.waiting.next == now
    }

    /// As [`Self::settle`], for any timescale.
    pub(super) fn settle_any(&mut self, now: u64) -> bool {
        while self.waiting.next < now {
            self.begin(self.scale);
        }
        self.waiting.next == now
    }

    /// The computed FIFO's next packet begins its transmission at `now`, if that was scheduled (the
    /// transmission before it began) earlier than `ahead` picoseconds before.
    pub(super) fn turn(&mut self, now: u64, ahead: u64) {
        let sent = self.scale.ps(now).saturating_sub(ahead);
        while self.waiting.next == now && self.scale.ps(self.service.start) < sent {
            self.begin(self.scale);
        }
    }

    /// The first packet that waits begins its transmission.
    #[inline(always)]
    fn begin(&mut self, scale: Timescale) {
        (self.service.start, self.serving) = self.waiting.begin(scale, &mut self.occupancy);
    }

    /// Offers a packet to the settled FIFO; the time of its arrival at the far end, or `None` if
    /// there is no room.
    #[inline(always)]
    pub(super) fn admit(&mut self, now: u64, size: u16) -> Option<u64> {
        if self.waiting.len() >= self.limit_packets as usize
            || self.waiting.backlog() + u64::from(size) > self.limit_bytes
        {
            return None;
        }
        self.counts.departed_packets += 1;
        self.counts.departed_bytes += u64::from(size);
        // `service.end` is when the last accepted packet has left.
        let free = self.service.end;
        let start = if free > now || self.waiting.next != Waiting::NONE {
            self.counts.wait_ps += u128::from(free - now);
            self.waiting.push((now, now), free, size, &mut self.occupancy);
            free
        } else {
            self.service.start = now;
            self.serving = size;
            now
        };
        self.service.end = self.end_of(start, size);
        Some(self.service.end.saturating_add(self.delay))
    }

    /// As [`Self::admit`], for a clock of seconds.
    pub(super) fn admit_in_seconds(&mut self, now: u64, size: u16) -> Option<u64> {
        if self.waiting.len() >= self.limit_packets as usize
            || self.waiting.backlog() + u64::from(size) > self.limit_bytes
        {
            return None;
        }
        self.counts.departed_packets += 1;
        self.counts.departed_bytes += u64::from(size);
        let (free, present) = (self.service.end, self.scale.ps(now));
        let start = if free > now || self.waiting.next != Waiting::NONE {
            self.counts.wait_ps += u128::from(self.scale.ps(free) - present);
            self.waiting.push((now, present), free, size, &mut self.occupancy);
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
    pub(super) fn latest_start(&self) -> u64 {
        self.waiting.last_start().unwrap_or(self.service.start)
    }

    /// When a transmission that starts at `start` ends.
    #[inline(always)]
    fn end_of(&mut self, start: u64, size: u16) -> u64 {
        // Without a branch: where data and acknowledgements mix, it would be a coin's toss.
        let known = usize::from(self.sizes[0] != size);
        if self.sizes[known] == size {
            return start.saturating_add(self.times[known]);
        }
        self.end_of_other(start, size)
    }

    #[cold]
    #[inline(never)]
    fn end_of_other(&mut self, start: u64, size: u16) -> u64 {
        let end = self.rate.end(start, size);
        // A clock that has run out says nothing of the transmission's length.
        if matches!(self.rate, Rate::Constant(_)) && end != u64::MAX {
            self.sizes = [self.sizes[1], size];
            self.times = [self.times[1], end - start];
        }
        end
    }

    /// Gives a packet to the discipline.
    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) {
        let Some(managed) = &mut self.disc else { return };
        let Managed { disc, rng } = &mut **managed;
        let present = self.scale.ps(now);
        let mut ctx = QdiscCtx { now: Time(present), rng, keys, dropped, marks: 0 };
        disc.enqueue(packet, &mut ctx);
        self.counts.marks += ctx.marks;
        self.occupancy.set(present, disc.len());
    }

    /// Asks the discipline for a packet and begins its transmission; the packet with the time of
    /// its arrival at the far end, a word of the clock.
    pub(super) fn transmit(
        &mut self,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) -> Option<Timed> {
        let Some(managed) = &mut self.disc else { return None };
        let Managed { disc, rng } = &mut **managed;
        let present = self.scale.ps(now);
        let mut ctx = QdiscCtx { now: Time(present), rng, keys, dropped, marks: 0 };
        let next = disc.dequeue(&mut ctx);
        self.counts.marks += ctx.marks;
        self.occupancy.set(present, disc.len());
        let Timed { at, packet } = next?;
        self.counts.wait_ps += u128::from(present - at.0);
        self.counts.departed_packets += 1;
        self.counts.departed_bytes += u64::from(packet.size);
        let (end, at) = self.send(now, packet.size);
        self.service = Service { start: now, end };
        self.serving = packet.size;
        Some(Timed { at: Time(at), packet })
    }

    /// Runs the discipline's timer.
    pub(super) fn on_timer(
        &mut self,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) {
        if let Some(managed) = &mut self.disc {
            let Managed { disc, rng } = &mut **managed;
            let mut ctx = QdiscCtx { now: Time(self.scale.ps(now)), rng, keys, dropped, marks: 0 };
            disc.on_timer(&mut ctx);
            self.counts.marks += ctx.marks;
            self.occupancy.set(self.scale.ps(now), disc.len());
        }
    }

    /// Packets and bytes that wait.
    pub(super) fn waiting(&self) -> (usize, u64) {
        match &self.disc {
            None => (self.waiting.len(), self.waiting.backlog()),
            Some(managed) => (managed.disc.len(), managed.disc.backlog().0),
        }
    }

    /// What passed so far; a packet departs when its transmission begins.
    pub(super) fn counts(&self) -> Counts {
        match &self.disc {
            None => self.waiting.begun(self.scale, self.counts),
            Some(_) => self.counts,
        }
    }

    /// Packets that arrived.
    pub(super) fn arrived(&self) -> u64 {
        self.counts.arrived_packets
    }

    /// The queue's lengths count from `now` on.
    pub(super) fn reset_occupancy(&mut self, now: u64) {
        self.occupancy.reset(self.scale.ps(now), self.waiting().0);
    }

    /// Mean and 99th percentile over time of the packets that waited, up to `now`.
    pub(super) fn occupancy(&self, now: u64) -> (f64, f64) {
        self.occupancy.summary(self.scale.ps(now), self.waiting().0)
    }

    /// Bits of the packet in service that are still to be sent at `now`.
    pub(super) fn bits_in_service(&self, now: u64) -> f64 {
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
