//! Calls up what is soon to be touched, where a network is larger than the caches.
//!
//! With tens of thousands of flows hardly anything that a packet touches is still near the processor
//! from the packet before, and each look at it waits for memory longer than the packet's whole work
//! takes. What is next is known, though: the next packets of a batch by their order, and the next
//! processes, all but surely, as the firsts of the agenda's parts; of stubs, surely. So the addresses are told some
//! turns ahead, in steps, for the address of one thing stands in another.

use std::ops::Range;

use crate::memory::{address, soon, soon_at};
use crate::packet::network::end::End;
use crate::packet::network::link::Link;
use crate::packet::network::route::Hop;
use crate::packet::network::wires::Channel;
use crate::packet::process::logical_process::Pending;
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::batch::Onward;
use crate::packet::turn::simulator::Sim;
use crate::tcp::{Receiver, Sender};

/// Processes from which on it pays to call them up, and packets too: to each belong a few kilobytes. In
/// tests it always does.
const LARGE: usize = if cfg!(test) { 1 } else { 1000 };
const VERY_LARGE: usize = if cfg!(test) { 1 } else { 5000 };

/// Packets between the first word of a packet to come and the packet, and steps between.
const TICKET: usize = 24;
const ROUTE: usize = 16;
const PLACE: usize = 10;
const CONTENT: usize = 5;

/// Processes that are among the next, as they were found.
#[derive(Debug, Default)]
pub(in crate::packet) struct Scout {
    /// Whether processes are called up.
    pub(in crate::packet) processes: bool,
    /// Whether packets are.
    pub(in crate::packet) packets: bool,
    seen: [u32; 16],
    count: usize,
    /// By end, where clusters are.
    stands: Vec<Stand>,
}

/// The addresses of what a packet for an endpoint touches. Its [`End`] leads there, but is itself far from
/// the processor: whoever asks it waits twice.
#[derive(Clone, Copy, Debug)]
struct Stand {
    endpoint: usize,
    /// The link that the endpoint's answer enters.
    answer: usize,
}

impl Scout {
    /// For a network of so many processes.
    pub(in crate::packet) fn new(processes: usize) -> Self {
        let (large, very) = (processes >= LARGE, processes >= VERY_LARGE);
        Self { processes: large, packets: very, ..Self::default() }
    }

    /// Notes where endpoints are and the links that they send to.
    pub(in crate::packet) fn survey(&mut self, ends: &[End], hops: &[Hop], links: &[Link]) {
        let place = |end: &End| {
            let endpoint = end.endpoint.as_deref().map_or(0, address);
            let link = hops.get(end.route as usize).and_then(|hop| links.get(hop.link as usize));
            Stand { endpoint, answer: link.map_or(0, address) }
        };
        self.stands = ends.iter().map(place).collect();
    }

    /// Notes a process; those seen 2, 4, 6 and 8 processes before.
    #[inline(always)]
    fn note(&mut self, p: u32) -> [usize; 4] {
        self.count = self.count.wrapping_add(1);
        let at = self.count;
        self.seen[at % 16] = p;
        [2, 4, 6, 8].map(|ago| self.seen[at.wrapping_sub(ago) % 16] as usize)
    }
}

impl Sim {
    /// A packet is at its end: calls up what the endpoint touches. Since the last one dozens of other
    /// flows have had their turns.
    #[inline(always)]
    pub(in crate::packet) fn call_up_end_of(&self, ticket: Ticket) {
        let hop = self.hops[ticket.route()];
        if hop.link != Hop::DELIVER {
            return;
        }
        let index = hop.channel as usize;
        soon(&self.ends[index]);
        let Some(&Stand { endpoint, answer }) = self.scout.stands.get(index) else { return };
        // Senders and receivers come in no order; what is asked here need not be guessed later.
        if index.is_multiple_of(2) {
            soon_at(endpoint, Sender::BUSY_BYTES);
        } else {
            soon_at(endpoint, Receiver::BUSY_BYTES);
        }
        soon_at(answer, Link::BUSY_BYTES);
    }

    /// Process `p` is among the next.
    pub(in crate::packet) fn call_up_process(&mut self, p: u32) {
        let [second, third, fourth, last] = self.scout.note(p);
        soon(&self.processes[p as usize]);
        soon(&self.clocks[p as usize]);
        self.stubs.place(p).inspect(|effect| soon(*effect));
        self.call_up_lists(second);
        self.call_up_ends(third);
        self.call_up_links(fourth);
        self.call_up_queues(last);
    }

    fn call_up_lists(&self, p: usize) {
        let process = &self.processes[p];
        for pending in &process.stages {
            pending.locals.peek().inspect(|key| soon(*key));
        }
        process.endpoints.first().inspect(|index| soon(*index));
        process.sources.first().inspect(|source| soon(*source));
    }

    fn first_channel(&self, pending: &Pending) -> Option<&Channel> {
        let Range { start, end } = pending.channels;
        self.channels.get(start as usize..end as usize)?.first()
    }

    fn call_up_ends(&self, p: usize) {
        let process = &self.processes[p];
        for pending in &process.stages {
            self.first_channel(pending).inspect(|channel| soon(*channel));
        }
        process.endpoints.first().inspect(|index| soon(&self.ends[**index as usize]));
    }

    fn call_up_links(&self, p: usize) {
        let process = &self.processes[p];
        for pending in &process.stages {
            let channel = self.first_channel(pending);
            channel.inspect(|channel| channel.queue.call_up_first(&self.wires));
        }
        let Some(&index) = process.endpoints.first() else { return };
        let end = &self.ends[index as usize];
        end.endpoint.as_deref().inspect(|endpoint| soon(*endpoint));
        let hop = self.hops[end.route as usize];
        self.links.get(hop.link as usize).inspect(|link| link.call_up());
        self.channels.get(hop.channel as usize).inspect(|channel| soon(*channel));
    }

    fn call_up_queues(&self, p: usize) {
        let Some(&index) = self.processes[p].endpoints.first() else { return };
        let end = &self.ends[index as usize];
        end.endpoint.as_deref().inspect(|endpoint| endpoint.call_up());
        let hop = self.hops[end.route as usize];
        self.links.get(hop.link as usize).inspect(|link| link.call_up_queue());
        let channel = self.channels.get(hop.channel as usize);
        channel.inspect(|channel| channel.queue.call_up(&self.wires));
    }

    /// The process that reads a channel is soon to be woken.
    #[inline(always)]
    pub(in crate::packet) fn call_up_woken(&self, channel: u32) {
        let Channel { to, stage, .. } = self.channels[channel as usize];
        soon(&self.processes[to as usize].stages[stage as usize]);
        // Where there are stubs, nearly all that is woken is one, which has no place in the agenda.
        if let Some(effect) = self.stubs.place(to) {
            return soon(effect);
        }
        soon(&self.clocks[to as usize]);
        let (time, winner) = self.agenda.places(to);
        soon(time);
        winner.inspect(|winner| soon(*winner));
    }

    /// The packet at `place` of the batch is about to be handled: those after it come nearer.
    pub(in crate::packet) fn call_up_packets(&self, place: usize) {
        let packet = |ahead: usize| self.batch.at(place + ahead);
        packet(TICKET).inspect(|ticket| soon(*ticket));
        packet(ROUTE).inspect(|ticket| soon(&self.hops[ticket.route()]));
        let next =
            |ahead| packet(ahead).map(|&ticket| Onward { ticket, hop: self.hops[ticket.route()] });
        next(PLACE).inspect(|next| self.call_up_way(next));
        next(CONTENT).inspect(|next| self.call_up_content(next));
    }

    /// The same where all packets enter one link, and those that go on from there do so later.
    pub(in crate::packet) fn call_up_relayed(&self, place: usize) {
        // Little is done with each, so they come by fast.
        let packet = |ahead: usize| self.batch.at(place + 2 * ahead);
        packet(TICKET).inspect(|ticket| soon(*ticket));
        // The step after it, too: it is mostly in the same line.
        packet(ROUTE).inspect(|ticket| {
            soon(&self.hops[ticket.route()]);
            soon(&self.hops[ticket.route() + 1]);
        });
        if !self.batch.stops {
            return;
        }
        let channel = |ahead| {
            packet(ahead).and_then(|t| self.channels.get(self.hops[t.route()].channel as usize))
        };
        channel(PLACE).inspect(|channel| soon(*channel));
        channel(CONTENT).inspect(|channel| channel.queue.call_up(&self.wires));
    }

    /// The same for packets that go on later.
    pub(in crate::packet) fn call_up_onward(&self, onward: &[Onward], place: usize) {
        onward.get(place + PLACE).inspect(|next| self.call_up_way(next));
        onward.get(place + CONTENT).inspect(|next| self.call_up_content(next));
    }

    /// Calls up what a packet will find where it waits, and where it comes to.
    #[inline(always)]
    fn call_up_content(&self, next: &Onward) {
        match self.way(next, |link| self.links[link as usize].call_up_queue()) {
            Ok(channel) => channel.queue.call_up(&self.wires),
            Err(end) => {
                self.ends[end].endpoint.as_deref().inspect(|endpoint| soon(*endpoint));
            }
        }
    }

    /// Calls up the links that a packet passes at once, and where it comes to.
    #[inline(always)]
    pub(in crate::packet) fn call_up_way(&self, next: &Onward) {
        match self.way(next, |link| self.links[link as usize].call_up()) {
            Ok(channel) => soon(channel),
            Err(end) => soon(&self.ends[end]),
        }
    }

    /// The links that a packet passes at once, from its next step on, and the channel that it
    /// comes to, or the end of its flow.
    #[inline(always)]
    fn way(&self, next: &Onward, mut link: impl FnMut(u32)) -> Result<&Channel, usize> {
        let Onward { ticket, mut hop } = *next;
        let mut route = ticket.route();
        loop {
            if hop.link == Hop::DELIVER {
                return Err(hop.channel as usize);
            }
            link(hop.link);
            if hop.channel != Hop::ON {
                return Ok(&self.channels[hop.channel as usize]);
            }
            route += 1;
            hop = self.hops[route];
        }
    }
}
