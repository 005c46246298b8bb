//! Prefetches state for upcoming processes and packets, where a network is larger than the caches.
//!
//! With tens of thousands of flows hardly anything that a packet touches is still in the cache from the
//! packet before, and waiting for memory takes longer than the packet's work. But the next accesses are
//! known: the next packets of a batch by their order, and the next processes, almost certainly, as the
//! winners of the agenda's subtrees; the next stubs, certainly. So their addresses are prefetched some
//! steps ahead, in stages, because the address of one object is stored in another.

use std::ops::Range;

use crate::memory::{prefetch, prefetch_at};
use crate::packet::network::link::Link;
use crate::packet::network::route::Hop;
use crate::packet::network::wires::Channel;
use crate::packet::process::clock::Clock;
use crate::packet::process::logical_process::Pending;
use crate::packet::storage::ticket::{Parcel, Ticket};
use crate::packet::turn::batch::Onward;
use crate::packet::turn::simulator::Sim;
use crate::tcp::{Receiver, Sender};

/// Distances, in packets of a batch, between the packet that is handled and the one whose ticket, route,
/// links, and queues are prefetched.
const TICKET: usize = 24;
const ROUTE: usize = 16;
const LINKS: usize = 10;
const QUEUES: usize = 5;

/// Distance between the packet that is sent on and the one whose links are prefetched in a small network.
const ONWARD: usize = 6;

/// Distance between the channel whose reader is woken and the one whose reader is prefetched.
const WOKEN: usize = 8;

/// Distances between the packet from another thread that enters its channel, and the one whose channel is prefetched,
/// and the one whose reader is.
const ARRIVED: usize = 16;
const ARRIVED_READER: usize = 8;

/// Distances between the channel whose packets leave for another thread, and the one that is prefetched, and those whose
/// first packet and its options are.
const LEAVING: usize = 16;
const LEAVING_TICKET: usize = 10;
const LEAVING_OPTIONS: usize = 5;

/// Distance between the stub that runs and the one that is prefetched.
const STUBS: usize = 10;

/// Packets of a batch that is so short that the prefetched process covers what they touch.
const SHORT: usize = 32;

impl<C: Clock> Sim<C> {
    /// Prefetches the process that runs soon after `who`.
    #[inline(always)]
    pub(crate) fn prefetch_next_process(&mut self, who: u32) {
        if self.prefetcher.processes {
            self.prefetch_process(self.schedule.agenda.first_beside(who));
        }
    }

    /// Prefetches one of the next stubs, when the one at `index` runs.
    #[inline(always)]
    pub(crate) fn prefetch_next_stub(&mut self, stubs: &[u32], index: usize) {
        if self.prefetcher.processes
            && let Some(&next) = stubs.get(index + STUBS)
        {
            self.prefetch_process(next);
        }
    }

    /// Process `p` is among the next: prefetches it, and further parts of processes noted before.
    fn prefetch_process(&mut self, p: u32) {
        let [second, third, fourth, last] = self.prefetcher.note_process(p);
        prefetch(&self.schedule.processes[p as usize]);
        prefetch(&self.schedule.progress[p as usize]);
        self.schedule.stubs.effect_of(p).inspect(|effect| prefetch(*effect));
        self.prefetch_lists(second);
        self.prefetch_ends(third);
        self.prefetch_links(fourth);
        self.prefetch_queues(last);
    }

    fn prefetch_lists(&self, p: usize) {
        let process = &self.schedule.processes[p];
        for pending in &process.stages {
            pending.locals.peek().inspect(|key| prefetch(*key));
        }
        process.endpoints.first().inspect(|index| prefetch(*index));
        process.sources.first().inspect(|source| prefetch(*source));
    }

    fn first_channel(&self, pending: &Pending) -> Option<&Channel> {
        let Range { start, end } = pending.channels;
        self.wires.channels.get(start as usize..end as usize)?.first()
    }

    fn prefetch_ends(&self, p: usize) {
        let process = &self.schedule.processes[p];
        for pending in &process.stages {
            self.first_channel(pending).inspect(|channel| prefetch(*channel));
        }
        process.endpoints.first().inspect(|index| prefetch(&self.flows.ends[**index as usize]));
    }

    fn prefetch_links(&self, p: usize) {
        let process = &self.schedule.processes[p];
        for pending in &process.stages {
            let channel = self.first_channel(pending);
            channel.inspect(|channel| channel.queue.prefetch_first(&self.wires.store));
        }
        let Some(&index) = process.endpoints.first() else { return };
        let end = &self.flows.ends[index as usize];
        end.endpoint.as_deref().inspect(|endpoint| prefetch(*endpoint));
        let hop = self.routes.at(end.route as usize);
        self.links.list.get(hop.link as usize).inspect(|link| link.prefetch());
        self.wires.channels.get(hop.channel as usize).inspect(|channel| prefetch(*channel));
    }

    fn prefetch_queues(&self, p: usize) {
        let Some(&index) = self.schedule.processes[p].endpoints.first() else { return };
        let end = &self.flows.ends[index as usize];
        end.endpoint.as_deref().inspect(|endpoint| endpoint.prefetch());
        let hop = self.routes.at(end.route as usize);
        self.links.list.get(hop.link as usize).inspect(|link| link.prefetch_queue());
        let channel = self.wires.channels.get(hop.channel as usize);
        channel.inspect(|channel| channel.queue.prefetch(&self.wires.store));
    }

    /// Prefetches what the endpoint of a packet touches, if the packet is at the end of its route. Dozens of
    /// other flows have had packets since its last one.
    #[inline(always)]
    pub(crate) fn prefetch_endpoint_of(&self, ticket: Ticket) {
        let hop = self.routes.hop(ticket);
        if hop.link == Hop::DELIVER {
            prefetch(&self.flows.ends[hop.channel as usize]);
            self.prefetch_endpoint(hop.channel as usize);
        }
    }

    /// Prefetches an endpoint whose addresses are noted.
    #[inline(always)]
    fn prefetch_endpoint(&self, index: usize) {
        let Some(end) = self.prefetcher.ends.get(index) else { return };
        // Senders and receivers come in no order: this branch saves a mispredicted one later.
        if index.is_multiple_of(2) {
            prefetch_at(end.endpoint, Sender::BUSY_BYTES);
        } else {
            prefetch_at(end.endpoint, Receiver::BUSY_BYTES);
        }
        prefetch_at(end.answer, Link::<C>::BUSY_BYTES);
    }

    /// Prefetches one of the next processes to be woken, when the one at `index` is.
    #[inline(always)]
    pub(crate) fn prefetch_next_woken(&self, woken: &[(u32, u64)], index: usize) {
        if !self.prefetcher.packets {
            return;
        }
        let Some(&(channel, _)) = woken.get(index + WOKEN) else { return };
        self.prefetch_reader(&self.wires.channels[channel as usize]);
    }

    /// Prefetches for the packets from another thread after the one at `index`.
    #[inline(always)]
    pub(crate) fn prefetch_arrivals(&self, parcels: &[Parcel], index: usize) {
        if !self.prefetcher.packets {
            return;
        }
        let channel = |ahead: usize| {
            let parcel = parcels.get(index + ahead)?;
            Some(&self.wires.channels[parcel.channel as usize])
        };
        channel(ARRIVED).inspect(|channel| prefetch(*channel));
        channel(ARRIVED_READER).inspect(|channel| {
            channel.queue.prefetch(&self.wires.store);
            self.prefetch_reader(channel);
        });
    }

    /// Prefetches for the channels whose packets leave for another thread after those of the one at `index`.
    #[inline(always)]
    pub(crate) fn prefetch_leaving(&self, leaving: &[u32], index: usize) {
        if !self.prefetcher.packets {
            return;
        }
        let channel =
            |ahead: usize| Some(&self.wires.channels[*leaving.get(index + ahead)? as usize]);
        channel(LEAVING).inspect(|channel| prefetch(*channel));
        channel(LEAVING_TICKET).inspect(|channel| channel.queue.prefetch_first(&self.wires.store));
        let ticket = channel(LEAVING_OPTIONS).and_then(|c| c.queue.front(&self.wires.store));
        ticket.inspect(|ticket| self.wires.options.prefetch(**ticket));
    }

    /// Prefetches what a first packet in a channel changes.
    #[inline(always)]
    fn prefetch_reader(&self, channel: &Channel) {
        let Channel { to, stage, .. } = *channel;
        prefetch(&self.schedule.processes[to as usize].stages[stage as usize]);
        // Where there are stubs, nearly all processes that are woken are stubs, which are not in the agenda.
        if let Some(effect) = self.schedule.stubs.effect_of(to) {
            return prefetch(effect);
        }
        prefetch(&self.schedule.progress[to as usize]);
        let (time, winner) = self.schedule.agenda.parts_of(to);
        prefetch(time);
        winner.inspect(|winner| prefetch(*winner));
    }

    /// Whether the packets of the batch of process `p` are prefetched while it is handled.
    #[inline(always)]
    pub(crate) fn prefetches_batch(&self, p: usize) -> bool {
        let is_covered =
            self.batch.order.len() <= SHORT && self.schedule.processes[p].endpoints.len() == 1;
        self.prefetcher.packets && !is_covered
    }

    /// Prefetches for the packets after the one at `index` of the batch.
    pub(crate) fn prefetch_packets(&self, index: usize) {
        let packet = |ahead: usize| self.batch.at(index + ahead);
        packet(TICKET).inspect(|ticket| prefetch(*ticket));
        packet(ROUTE).inspect(|ticket| prefetch(self.routes.at(ticket.route())));
        let next =
            |ahead| packet(ahead).map(|&ticket| Onward { ticket, hop: self.routes.hop(ticket) });
        next(LINKS).inspect(|next| self.prefetch_passed_links(next));
        next(QUEUES).inspect(|next| self.prefetch_passed_queues(next));
    }

    /// The same for a batch that enters one link: packets that pass it at once are handled later.
    pub(crate) fn prefetch_relayed(&self, index: usize) {
        // The work for each packet is short, so distances are doubled.
        let packet = |ahead: usize| self.batch.at(index + 2 * ahead);
        packet(TICKET).inspect(|ticket| prefetch(*ticket));
        // The step after it, too: it is mostly in the same cache line.
        packet(ROUTE).inspect(|ticket| {
            prefetch(self.routes.at(ticket.route()));
            prefetch(self.routes.at(ticket.route() + 1));
        });
        if !self.batch.stops {
            return;
        }
        let channel = |ahead| {
            let hop = packet(ahead).map(|ticket| self.routes.hop(*ticket));
            hop.and_then(|hop| self.wires.channels.get(hop.channel as usize))
        };
        channel(LINKS).inspect(|channel| prefetch(*channel));
        channel(QUEUES).inspect(|channel| channel.queue.prefetch(&self.wires.store));
    }

    /// Prefetches for the packets that are sent on after the one at `index`.
    #[inline(always)]
    pub(crate) fn prefetch_onward(&self, onward: &[Onward], index: usize) {
        if self.prefetcher.packets {
            onward.get(index + LINKS).inspect(|next| self.prefetch_passed_links(next));
            onward.get(index + QUEUES).inspect(|next| self.prefetch_passed_queues(next));
        } else {
            onward.get(index + ONWARD).inspect(|next| self.prefetch_passed_links(next));
        }
    }

    /// Prefetches the queues in which a packet may wait, and where it stops.
    #[inline(always)]
    fn prefetch_passed_queues(&self, next: &Onward) {
        match self.follow_route(next, |link| self.links.list[link as usize].prefetch_queue()) {
            Ok(channel) => channel.queue.prefetch(&self.wires.store),
            Err(end) if self.prefetcher.ends.is_empty() => {
                self.flows.ends[end].endpoint.as_deref().inspect(|endpoint| prefetch(*endpoint));
            }
            Err(end) => self.prefetch_endpoint(end),
        }
    }

    /// Prefetches the links that a packet passes at once, and where it stops.
    #[inline(always)]
    fn prefetch_passed_links(&self, next: &Onward) {
        match self.follow_route(next, |link| self.links.list[link as usize].prefetch()) {
            Ok(channel) => prefetch(channel),
            Err(end) => prefetch(&self.flows.ends[end]),
        }
    }

    /// Visits the links that a packet passes at once from its next step on; returns the channel in which it
    /// stops, or the end of its flow.
    #[inline(always)]
    fn follow_route(&self, next: &Onward, mut visit: impl FnMut(u32)) -> Result<&Channel, usize> {
        let Onward { ticket, mut hop } = *next;
        let mut position = ticket.route();
        loop {
            if hop.link == Hop::DELIVER {
                return Err(hop.channel as usize);
            }
            visit(hop.link);
            if hop.channel != Hop::ON {
                return Ok(&self.wires.channels[hop.channel as usize]);
            }
            position += 1;
            hop = *self.routes.at(position);
        }
    }
}
