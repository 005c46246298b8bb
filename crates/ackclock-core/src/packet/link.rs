//! One direction of a link: a queue, a transmitter, a wire, and the ledger of what passed.
//!
//! Under plain FIFO the departure of a packet is known when it arrives, so the packet goes to the
//! wire at once and only (start, size) waits here: one step a hop instead of two. Any other
//! discipline holds its packets and is asked for one whenever a transmission ends.

use std::collections::VecDeque;

use super::lp::Stage;
use super::occupancy::Occupancy;
use super::rate::Rate;
use crate::qdisc::{Limit, QdiscCtx, QueueDisc};
use crate::rng::Stream;
use crate::units::{Bytes, Time};
use crate::wire::{DropReason, Packet, Timed};

/// What passed through a link so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) arrived_packets: u64,
    pub(super) arrived_bytes: u64,
    pub(super) departed_packets: u64,
    pub(super) departed_bytes: u64,
    pub(super) dropped_packets: u64,
    pub(super) dropped_acks: u64,
    pub(super) dropped_bytes: u64,
    pub(super) drops: [u64; DropReason::COUNT],
    pub(super) marks: u64,
    /// Sum of waiting times of departed packets.
    pub(super) wait_ps: u128,
}

/// A transmission under way that began at `start` and ends at `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// A packet that waits under plain FIFO: since when, when its transmission starts, its size.
#[derive(Debug)]
struct Slot {
    arrived: u64,
    start: u64,
    size: u16,
}

/// Where packets wait.
pub(super) enum Store {
    /// Plain drop-tail FIFO, computed ahead.
    Fifo(Fifo),
    /// Any other discipline.
    Disc(Box<dyn QueueDisc>),
}

/// State of the computed FIFO: the waiting packets' starts.
#[derive(Debug)]
pub(super) struct Fifo {
    limit: Limit,
    waiting: VecDeque<Slot>,
    backlog: u64,
    /// Size of the packet whose transmission began last.
    serving: u16,
}

impl Fifo {
    pub(super) fn new(limit: Limit) -> Self {
        Self { limit, waiting: VecDeque::new(), backlog: 0, serving: 0 }
    }

    /// The first packet begins its transmission; when.
    #[inline]
    fn begin(&mut self, counts: &mut Counts, occupancy: &mut Occupancy) -> u64 {
        let Some(Slot { arrived, start, size }) = self.waiting.pop_front() else { return 0 };
        counts.departed_packets += 1;
        counts.departed_bytes += u64::from(size);
        counts.wait_ps += u128::from(start - arrived);
        self.backlog -= u64::from(size);
        self.serving = size;
        occupancy.set(start, self.waiting.len());
        start
    }
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

/// One direction of a link.
pub(super) struct Link {
    pub(super) store: Store,
    pub(super) rate: Rate,
    pub(super) delay: u64,
    /// The stage of its process that it belongs to.
    pub(super) stage: Stage,
    pub(super) service: Service,
    pub(super) counts: Counts,
    pub(super) occupancy: Occupancy,
    /// Whether arriving packets must be looked at: hazards, or a table of packets.
    pub(super) watched: bool,
    pub(super) hazards: Option<Box<Hazards>>,
    pub(super) rng: Stream,
}

impl Link {
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
        self.counts.dropped_acks += u64::from(packet.is_ack());
        self.counts.dropped_bytes += u64::from(packet.size);
        self.counts.drops[reason as usize] += 1;
    }

    /// How long a packet of `size` takes from the start of its transmission to the far end.
    #[inline(always)]
    pub(super) fn flight(&self, size: u16) -> u64 {
        self.delay.saturating_add(self.rate.estimate(size))
    }

    /// Lets the computed FIFO forget the packets whose transmission began before `now`; whether
    /// there is one that begins exactly now.
    #[inline(always)]
    pub(super) fn settle(&mut self, now: u64) -> bool {
        let Store::Fifo(fifo) = &mut self.store else { return false };
        while let Some(front) = fifo.waiting.front() {
            if front.start >= now {
                return front.start == now;
            }
            self.service.start = fifo.begin(&mut self.counts, &mut self.occupancy);
        }
        false
    }

    /// The computed FIFO's next packet begins its transmission at `now`, if that was scheduled (the
    /// transmission before it began) before `sent`.
    pub(super) fn turn(&mut self, now: u64, sent: u64) {
        let Store::Fifo(fifo) = &mut self.store else { return };
        while fifo.waiting.front().is_some_and(|front| front.start == now)
            && self.service.start < sent
        {
            self.service.start = fifo.begin(&mut self.counts, &mut self.occupancy);
        }
    }

    /// Offers a packet to the settled FIFO; the time of its arrival at the far end, or `None` if
    /// there is no room.
    #[inline(always)]
    pub(super) fn admit(&mut self, now: u64, size: u16) -> Option<u64> {
        let Store::Fifo(fifo) = &mut self.store else { return None };
        let len = fifo.waiting.len();
        if !fifo.limit.admits(len, Bytes(fifo.backlog), size) {
            return None;
        }
        // `service.end` is when the last accepted packet has left.
        let start = self.service.end;
        let start = if start > now || len > 0 {
            fifo.waiting.push_back(Slot { arrived: now, start, size });
            fifo.backlog += u64::from(size);
            self.occupancy.set(now, len + 1);
            start
        } else {
            self.service.start = now;
            fifo.serving = size;
            self.counts.departed_packets += 1;
            self.counts.departed_bytes += u64::from(size);
            now
        };
        self.service.end = self.rate.end(start, size);
        Some(self.service.end.saturating_add(self.delay))
    }

    /// When the transmission of the packet that the FIFO admitted last begins.
    pub(super) fn latest_start(&self) -> u64 {
        match &self.store {
            Store::Fifo(fifo) => fifo.waiting.back().map_or(self.service.start, |last| last.start),
            Store::Disc(_) => self.service.start,
        }
    }

    /// Gives a packet to the discipline.
    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) {
        let Store::Disc(disc) = &mut self.store else { return };
        let mut ctx = QdiscCtx { now: Time(now), rng: &mut self.rng, keys, dropped, marks: 0 };
        disc.enqueue(packet, &mut ctx);
        self.counts.marks += ctx.marks;
        self.occupancy.set(now, disc.len());
    }

    /// Asks the discipline for a packet and begins its transmission; the packet with the time of
    /// its arrival at the far end.
    pub(super) fn transmit(
        &mut self,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) -> Option<Timed> {
        let Store::Disc(disc) = &mut self.store else { return None };
        let mut ctx = QdiscCtx { now: Time(now), rng: &mut self.rng, keys, dropped, marks: 0 };
        let next = disc.dequeue(&mut ctx);
        self.counts.marks += ctx.marks;
        self.occupancy.set(now, disc.len());
        let Timed { at, packet } = next?;
        self.counts.wait_ps += u128::from(now - at.0);
        self.counts.departed_packets += 1;
        self.counts.departed_bytes += u64::from(packet.size);
        self.service = Service { start: now, end: self.rate.end(now, packet.size) };
        Some(Timed { at: Time(self.service.end.saturating_add(self.delay)), packet })
    }

    /// Runs the discipline's timer.
    pub(super) fn on_timer(
        &mut self,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) {
        if let Store::Disc(disc) = &mut self.store {
            let mut ctx = QdiscCtx { now: Time(now), rng: &mut self.rng, keys, dropped, marks: 0 };
            disc.on_timer(&mut ctx);
            self.counts.marks += ctx.marks;
            self.occupancy.set(now, disc.len());
        }
    }

    /// Packets and bytes that wait.
    pub(super) fn waiting(&self) -> (usize, u64) {
        match &self.store {
            Store::Fifo(fifo) => (fifo.waiting.len(), fifo.backlog),
            Store::Disc(disc) => (disc.len(), disc.backlog().0),
        }
    }

    /// Bits of the packet in service that are still to be sent at `now`.
    pub(super) fn bits_in_service(&self, now: u64) -> f64 {
        let (end, size) = match &self.store {
            Store::Fifo(fifo) => {
                let end = fifo.waiting.front().map_or(self.service.end, |next| next.start);
                (end, fifo.serving)
            }
            Store::Disc(_) if self.service.end == super::sim::IDLE => return 0.0,
            Store::Disc(_) => (self.service.end, self.rate.latest_size()),
        };
        if self.service.start <= now && end > now {
            self.rate.unsent_bits(now, end, size)
        } else {
            0.0
        }
    }
}
