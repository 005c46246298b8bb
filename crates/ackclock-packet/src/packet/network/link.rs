//! One direction of a link: a queue, a transmitter, a wire, and counts of what passed.
//!
//! Under plain FIFO the departure of a packet is computed when it arrives (`network/link/fifo.rs`). Any other
//! discipline stores its packets and yields one whenever a transmission ends (`network/link/discipline.rs`), but for those
//! that judge packets on arrival (`network/link/foreseen.rs`).

mod discipline;
mod fifo;
pub(crate) mod foreseen;
mod pauses;

use std::marker::PhantomData;
use std::mem::offset_of;

use crate::ids::LinkId;
use crate::memory::{address, prefetch, prefetch_at};
use crate::packet::network::computed_fifo::Waiting;
use crate::packet::network::counts::{Counts, Drops};
use crate::packet::network::impaired::Impaired;
use crate::packet::network::queue_length::Occupancy;
use crate::packet::network::rare::{Hazards, Managed, Rare};
use crate::packet::network::rate::{Pace, Rate};
use crate::packet::process::clock::Clock;
use crate::packet::process::event::Stage;
use crate::qdisc::{Limit, QueueCounts, QueueDisc};
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{DropReason, Packet, PortRecord};

/// A transmission that began at `start` and ends at `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Service {
    /// The end of service of an idle link with a discipline.
    pub(crate) const IDLE: u64 = u64::MAX;
}

/// One direction of a link. The fields that every packet touches are first and contiguous.
#[repr(C, align(64))]
pub(crate) struct Link<C> {
    /// Before this time a packet passes without [`Self::watched`] and sampling checks: plain FIFO, not
    /// watched, no sample is due.
    pub(crate) plain_until: u64,
    pub(crate) service: Service,
    /// Propagation delay, as a word of the clock.
    delay: u64,
    /// Transmission times, if its rate is constant.
    pace: Pace,
    limit_packets: u32,
    departed_bytes: u64,
    /// Size of the packet whose transmission began last.
    serving: u16,
    /// The stage of its process that it belongs to.
    pub(crate) stage: Stage,
    /// Whether every packet is recorded, or checked for hazards or impairments.
    pub(crate) watched: bool,
    /// Whether the bytes that wait have a limit.
    limits_bytes: bool,
    /// Whether the discipline judges packets on arrival.
    judges: bool,
    /// Whether departures are computed now although there is a discipline.
    foresees: bool,
    /// Whether the discipline knows that nothing is being sent.
    is_known_idle: bool,
    waiting: Waiting,
    arrived_packets: u64,
    departed_packets: u64,
    // A packet that does not wait touches the fields up to here: two cache lines.
    wait_ps: u128,
    dropped_packets: u64,
    occupancy: Occupancy,
    limit_bytes: u64,
    /// When its state is next sampled.
    next_mark: u64,
    pub(crate) rate: Rate,
    /// A discipline other than the computed FIFO.
    pub(crate) disc: Option<Box<Managed>>,
    rare: Option<Box<Rare>>,
    clock: PhantomData<C>,
}

impl<C: Clock> Link<C> {
    /// The bytes at its beginning that a packet touches.
    pub(crate) const BUSY_BYTES: usize = offset_of!(Self, limit_bytes);

    /// An idle link; `propagation` in picoseconds; `disc` replaces the computed FIFO.
    pub(crate) fn new(
        rate: Rate,
        propagation: u64,
        limit: Limit,
        disc: Option<Box<dyn QueueDisc>>,
        rng: Stream,
    ) -> Self {
        let end = if disc.is_some() { Service::IDLE } else { 0 };
        Self {
            plain_until: 0,
            service: Service { start: 0, end },
            delay: C::word(propagation),
            // On any other clock transmission times are rounded by the clock.
            pace: if C::IS_EXACT { Pace::of(&rate) } else { Pace::NONE },
            limit_packets: limit.packets,
            departed_bytes: 0,
            serving: 0,
            stage: Stage::Entry,
            watched: false,
            limits_bytes: limit.bytes != u64::MAX,
            judges: false,
            foresees: false,
            is_known_idle: true,
            waiting: Waiting::new(),
            arrived_packets: 0,
            departed_packets: 0,
            wait_ps: 0,
            dropped_packets: 0,
            occupancy: Occupancy::default(),
            limit_bytes: limit.bytes,
            next_mark: 0,
            rate,
            disc: disc.map(|disc| Box::new(Managed::new(disc, rng))),
            rare: None,
            clock: PhantomData,
        }
    }

    /// Propagation delay in picoseconds.
    pub(crate) fn propagation(&self) -> u64 {
        C::ps(self.delay)
    }

    /// What was dropped.
    pub(crate) fn drops(&self) -> Drops {
        self.rare.as_ref().map_or(Drops::default(), |rare| rare.drops)
    }

    /// Packets marked.
    pub(crate) fn marks(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.marks)
    }

    /// Packets trimmed.
    pub(crate) fn trims(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.trims)
    }

    /// Counts a packet whose payload was cut off.
    pub(crate) fn count_trim(&mut self) {
        self.rare.get_or_insert_default().trims += 1;
    }

    fn count_marks(&mut self, marks: u64) {
        if marks > 0 {
            self.rare.get_or_insert_default().marks += marks;
        }
    }

    /// When its state is next sampled.
    pub(crate) fn next_mark(&self) -> u64 {
        self.next_mark
    }

    /// Sets the time at which its state is next sampled.
    pub(crate) fn set_mark(&mut self, mark: u64) {
        self.next_mark = mark;
        let is_plain = self.disc.is_none() && !self.watched;
        self.plain_until = if is_plain { mark } else { 0 };
    }

    /// Makes every arriving packet be recorded and checked for hazards.
    pub(crate) fn watch(&mut self, hazards: Option<Hazards>) {
        if hazards.is_some() {
            self.rare.get_or_insert_default().hazards = hazards;
        }
        self.watched = true;
    }

    /// Adds impairments to the link's wire. Every packet is then watched.
    pub(crate) fn impair(&mut self, impaired: Impaired) {
        self.rare.get_or_insert_default().impaired = Some(Box::new(impaired));
        self.watched = true;
    }

    /// The impairments of the link's wire.
    pub(crate) fn impaired(&self) -> Option<&Impaired> {
        self.rare.as_ref()?.impaired.as_deref()
    }

    /// As [`Self::impaired`], mutable.
    pub(crate) fn impaired_mut(&mut self) -> Option<&mut Impaired> {
        self.rare.as_mut()?.impaired.as_deref_mut()
    }

    /// When a packet that an impairment releases at `now` arrives at the far end, words of the clock.
    pub(crate) fn arrival(&self, now: u64) -> u64 {
        C::after(now, self.delay)
    }

    /// Why a packet that arrives at `now`, a word of the clock, is dropped before it reaches the queue, if it is.
    pub(crate) fn check_hazards(&mut self, now: u64, packet: &Packet) -> Option<DropReason> {
        let number = self.arrived_packets;
        self.rare.as_mut()?.hazards.as_mut()?.check(number, C::ps(now), packet)
    }

    /// Counts a dropped packet.
    pub(crate) fn count_drop(&mut self, packet: &Packet, reason: DropReason) {
        self.dropped_packets += 1;
        let drops = &mut self.rare.get_or_insert_default().drops;
        drops.acks += u64::from(packet.is_ack());
        drops.by_reason[reason as usize] += 1;
    }

    /// Time of a packet of `size` from the start of its transmission to the far end, in picoseconds.
    #[inline]
    pub(crate) fn flight(&self, size: u16) -> u64 {
        // Its rate is far from what each packet touches.
        let transmission = if self.pace.is_constant() {
            C::ps(self.pace.transmission(size))
        } else {
            self.rate.estimate(size)
        };
        self.propagation().saturating_add(transmission)
    }

    /// Whether packets of any one size take the same time over this link and another, always.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.delay == other.delay && self.rate.is_alike(&other.rate)
    }

    /// Counts an arriving packet.
    #[inline(always)]
    pub(crate) fn count_arrival(&mut self) {
        self.arrived_packets += 1;
    }

    /// Packets and bytes that wait.
    pub(crate) fn waiting(&self) -> (usize, u64) {
        let (packets, bytes) = (self.waiting.len(), self.waiting.backlog());
        match &self.disc {
            None => (packets, bytes),
            Some(managed) => (packets + managed.disc.len(), bytes + managed.disc.backlog().0),
        }
    }

    /// Packets that its discipline holds; those in the computed FIFO are on the wire already.
    pub(crate) fn held(&self) -> usize {
        self.disc.as_ref().map_or(0, |managed| managed.disc.len())
    }

    /// What its port notes of a packet of `size` that begins to leave.
    pub(crate) fn port_record(&self, link_id: u32, now: u64, size: u16) -> PortRecord {
        PortRecord {
            link: LinkId(link_id),
            at: Time(now),
            sent: self.departed_bytes.saturating_sub(u64::from(size)),
            queued: self.waiting().1,
            rate: self.rate.present(),
        }
    }

    /// What passed so far; a packet departs when its transmission begins.
    pub(crate) fn counts(&self) -> Counts {
        let counts = Counts {
            arrived_packets: self.arrived_packets,
            departed_packets: self.departed_packets,
            departed_bytes: self.departed_bytes,
            dropped_packets: self.dropped_packets,
            wait_ps: self.wait_ps,
        };
        let long = self.rare.iter().flat_map(|rare| rare.long_waits.iter().copied());
        self.waiting.subtract_from(counts, long)
    }

    /// Prefetches the fields that packets touch.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        prefetch_at(address(self), Self::BUSY_BYTES);
        if self.judges {
            prefetch(&self.disc);
        }
    }

    /// Prefetches what a packet that waits touches beside these fields.
    #[inline(always)]
    pub(crate) fn prefetch_queue(&self) {
        self.waiting.prefetch();
        self.occupancy.prefetch();
        if self.judges
            && let Some(managed) = &self.disc
        {
            prefetch_at(address(&**managed), size_of::<Managed>());
        }
    }

    /// Packets that arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived_packets
    }

    /// Counts of the queues that its discipline distinguishes.
    pub(crate) fn queues(&self) -> &[QueueCounts] {
        self.disc.as_ref().map_or(&[], |managed| &managed.queues)
    }

    /// Restarts the statistics of the queue's length, and of the queues that its discipline distinguishes, at `now`.
    pub(crate) fn reset_occupancy(&mut self, now: u64) {
        self.occupancy.reset(C::ps(now), self.waiting().0);
        if let Some(managed) = &mut self.disc {
            managed.queues.iter_mut().for_each(QueueCounts::clear);
        }
    }

    /// Mean and 99th percentile over time of the packets that waited, up to `now`.
    pub(crate) fn occupancy(&self, now: u64) -> (f64, f64) {
        self.occupancy.summary(C::ps(now), self.waiting().0)
    }

    /// Bits of the packet in service that are not yet sent at `now`.
    pub(crate) fn bits_in_service(&self, now: u64) -> f64 {
        let end = match self.service.end {
            _ if self.waiting.next != Waiting::NONE => self.waiting.next,
            Service::IDLE => return 0.0,
            end => end,
        };
        if self.service.start <= now && end > now {
            let (now, end) = (C::ps(now), C::ps(end));
            self.rate.unsent_bits(now, end, self.serving)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests;
