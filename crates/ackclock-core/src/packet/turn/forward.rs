//! A packet's way: into a link, through it, and onto the wire; or to its drop.

use crate::packet::network::impaired::Held;
use crate::packet::network::link::{IDLE, Service};
use crate::packet::network::route::{Hop, owner};
use crate::packet::network::wires::Channel;
use crate::packet::outcome::observe::Event;
use crate::packet::process::clock::Timescale;
use crate::packet::process::event::{Key, Kind, What};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::simulator::Sim;
use crate::units::Time;
use crate::wire::{DropReason, Flags, Packet, Timed};

impl Sim {
    /// Sends a packet that has arrived on its way.
    #[inline(always)]
    pub(in crate::packet) fn forward(&mut self, p: usize, ticket: Ticket) {
        let hop = self.hops[ticket.route()];
        if hop.link == Hop::DELIVER {
            self.deliver(p, hop.channel as usize, ticket);
        } else {
            self.enter::<false>(p, hop, ticket, false);
        }
    }

    /// A packet enters a link at its time, sent by an endpoint of the process (`here`) or come over
    /// another link, and goes on as far as its way is known; or, if it is to `WAIT`, over this link alone:
    /// then it goes on with all others that wait.
    #[inline(always)]
    pub(in crate::packet) fn enter<const WAIT: bool>(
        &mut self,
        p: usize,
        mut hop: Hop,
        ticket: Ticket,
        mut here: bool,
    ) {
        let (mut now, mut way, load) = ticket.parts();
        // Whole tickets are made only where they are handed over: one in memory, changed in part,
        // would stall the copy of the whole.
        let whole = Ticket::from_parts;
        loop {
            // Found again only after what is rare.
            let mut link = &mut self.links[hop.link as usize];
            if now >= link.plain_until {
                if !self.look(p, hop.link, whole(now, way, load), here) {
                    return;
                }
                link = &mut self.links[hop.link as usize];
            }
            link.count_arrival();
            if link.settle(now) {
                self.settle_tie(hop.link, whole(now, way, load), here);
                link = &mut self.links[hop.link as usize];
            }
            let Some(at) = link.admit(now, ticket.size()) else {
                let ticket = whole(now, way, load);
                return self.refuse(hop.link, ticket, DropReason::Overflow, now);
            };
            if link.watched {
                self.tell_departure(hop.link, whole(now, way, load));
            }
            way += 1;
            if hop.channel != Hop::ON {
                return self.put(hop.channel, whole(at, way, load));
            }
            if at > self.end {
                self.beyond.push(whole(at, way, load));
                return;
            }
            if WAIT {
                let hop = self.hops[way as u32 as usize];
                self.batch.go_on(whole(at, way, load), hop);
                return;
            }
            now = at;
            here = false;
            hop = self.hops[way as u32 as usize];
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_departure(&mut self, link: u32, ticket: Ticket) {
        let packet = ticket.look(owner(&self.hops, ticket), &self.options);
        self.observer.departure_ahead(&self.links[link as usize], link, &packet);
    }

    /// A packet arrives at a link that is due for a sample, or has hazards, observers or a discipline
    /// of its own; whether it is still to be handled.
    #[inline(never)]
    fn look(&mut self, p: usize, link_id: u32, ticket: Ticket, here: bool) -> bool {
        let now = ticket.at;
        self.mark_link(link_id as usize, now);
        let link = &mut self.links[link_id as usize];
        if link.watched {
            let packet = ticket.look(owner(&self.hops, ticket), &self.options);
            self.observer.packet(now, link_id, &packet, Event::Arrival);
            if let Some(reason) = link.hazard(&packet) {
                link.count_arrival();
                self.refuse(link_id, ticket, reason, now);
                return false;
            }
        }
        if link.disc.is_none() {
            if self.scale == Timescale::Picoseconds {
                return true;
            }
            self.enter_in_seconds(p, link_id, ticket, here);
            return false;
        }
        link.count_arrival();
        self.enqueue(p, link_id, ticket, now);
        false
    }

    #[cold]
    #[inline(never)]
    fn refuse(&mut self, link: u32, ticket: Ticket, reason: DropReason, now: u64) {
        let packet = ticket.into_packet(owner(&self.hops, ticket), &mut self.options);
        self.lose(link, &packet, reason, now);
    }

    /// A packet enters a link with a discipline of its own.
    fn enqueue(&mut self, p: usize, link_id: u32, ticket: Ticket, now: u64) {
        let flow = owner(&self.hops, ticket);
        let link = &mut self.links[link_id as usize];
        // Each packet is made where it is handed over: one that is moved stalls the move.
        if ticket.is_bare() {
            link.enqueue(ticket.header(flow), now, &self.keys, &mut self.dropped);
        } else {
            let packet = ticket.into_packet(flow, &mut self.options);
            link.enqueue(packet, now, &self.keys, &mut self.dropped);
        }
        let idle = link.service.end == IDLE;
        self.lose_all(link_id, now);
        if idle {
            self.transmit(p, link_id, now);
        }
    }

    /// A packet arrives at the very time at which a transmission ends: whichever was scheduled
    /// first goes first.
    #[cold]
    #[inline(never)]
    fn settle_tie(&mut self, link: u32, ticket: Ticket, here: bool) {
        let ahead = if here {
            0
        } else {
            let from = self.hops[ticket.route() - 1].link;
            self.links[from as usize].flight(ticket.size())
        };
        self.links[link as usize].turn(ticket.at, ahead);
    }

    /// What [`Self::enter`] does for a computed FIFO, where the clock counts seconds: the common way
    /// stays free of the question.
    fn enter_in_seconds(&mut self, p: usize, link_id: u32, mut ticket: Ticket, here: bool) {
        let link = &mut self.links[link_id as usize];
        link.count_arrival();
        if link.settle_any(ticket.at) {
            self.settle_tie(link_id, ticket, here);
        }
        let link = &mut self.links[link_id as usize];
        let Some(at) = link.admit_in_seconds(ticket.at, ticket.size()) else {
            return self.refuse(link_id, ticket, DropReason::Overflow, ticket.at);
        };
        if link.watched {
            self.tell_departure(link_id, ticket);
        }
        let channel = self.hops[ticket.route()].channel;
        ticket = ticket.step(at);
        if channel != Hop::ON {
            self.put(channel, ticket);
        } else if at > self.end {
            self.beyond.push(ticket);
        } else {
            let next = self.hops[ticket.route()];
            self.follow(p, next, ticket);
        }
    }

    /// Begins the next transmission of an idle link with a discipline of its own.
    #[inline]
    pub(in crate::packet) fn transmit(&mut self, p: usize, link_id: u32, now: u64) {
        let link = &mut self.links[link_id as usize];
        let next = link.transmit(now, &self.keys, &mut self.dropped);
        match &next {
            Some(Timed { at, packet }) => {
                let (service, stage) = (link.service, link.stage);
                if !link.watched || !self.watch_departure(p, link_id, packet, now) {
                    let ticket = Ticket::of(packet, packet.route + 1, at.0, &mut self.options);
                    self.launch(packet.route, ticket);
                }
                let what = What::new(Kind::Free, link_id);
                let ahead = self.scale.ps(service.end) - self.scale.ps(now);
                let key = Key::new(service.end, ahead, what.0);
                self.add_local(p, stage, key);
            }
            None => link.service = Service { start: now, end: IDLE },
        }
        self.lose_all(link_id, now);
    }

    /// Puts a packet on the wire of the link at position `from` of the route table, which it reaches the end
    /// of at its time.
    #[inline(always)]
    fn launch(&mut self, from: u32, ticket: Ticket) {
        let channel = self.hops[from as usize].channel;
        if channel != Hop::ON {
            self.put(channel, ticket);
        } else if ticket.at > self.end {
            self.beyond.push(ticket);
        } else {
            let hop = self.hops[ticket.route()];
            self.batch.go_on(ticket, hop);
        }
    }

    /// Records a departure; whether impairments of the link hold the packet now.
    #[cold]
    #[inline(never)]
    fn watch_departure(&mut self, p: usize, link_id: u32, packet: &Packet, now: u64) -> bool {
        self.observer.packet(now, link_id, packet, Event::Departure);
        let link = &mut self.links[link_id as usize];
        let (end, stage) = (link.service.end, link.stage);
        let sent = Time(self.scale.ps(end));
        let Some(impaired) = link.impaired_mut() else { return false };
        let fate = impaired.decide(packet, sent);
        impaired.copies += u64::from(fate.copies);
        let copied = &mut self.losses[packet.flow.index()].copies[usize::from(packet.is_ack())];
        *copied += u64::from(fate.copies);
        let held_for = fate.release.since(sent).0;
        let release = self.scale.after(end, self.scale.word(held_for));
        let ahead = held_for.saturating_add(sent.0 - self.scale.ps(now));
        let lost = fate.is_lost.then_some(DropReason::Wire);
        for copy in 0..=fate.copies {
            let ticket = Ticket::of(packet, packet.route + 1, release, &mut self.options);
            let held = Held { ticket, flow: packet.flow, lost };
            impaired.hold(release, held, fate.replaces_ack && copy == 0);
            // Events beyond any time are not: what is held for ever stays.
            if release != u64::MAX {
                let what = What::new(Kind::Release, link_id);
                let key = Key::new(release, ahead, what.0);
                self.next_local = self.next_local.min(key.at());
                self.processes[p].stages[stage as usize].locals.push(key);
            }
        }
        true
    }

    /// Releases the next packet that the impairments of a link have held.
    pub(in crate::packet) fn release(&mut self, p: usize, link_id: u32, now: u64) {
        self.running = p as u32;
        let link = &mut self.links[link_id as usize];
        let far_end = link.far_end(now);
        let Some(impaired) = link.impaired_mut() else { return };
        let Some(Held { mut ticket, flow, lost }) = impaired.release() else { return };
        if let Some(reason) = lost {
            impaired.lost += 1;
            let packet = ticket.into_packet(flow, &mut self.options);
            return self.lose(link_id, &packet, reason, now);
        }
        ticket.at = impaired.arrival(far_end);
        self.launch(ticket.route() as u32 - 1, ticket);
    }

    /// A packet enters a link that follows at once after one with a discipline of its own.
    fn follow(&mut self, p: usize, hop: Hop, ticket: Ticket) {
        self.enter::<false>(p, hop, ticket, false);
    }

    /// Puts a packet on the wire.
    #[inline(always)]
    fn put(&mut self, channel_id: u32, ticket: Ticket) {
        let Channel { queue, to, .. } = &mut self.channels[channel_id as usize];
        let first = queue.is_empty();
        if first && self.batch.take_in(*to, ticket) {
            return;
        }
        queue.push(&mut self.wires, ticket);
        if first {
            if self.batch.wakes_later {
                self.batch.woken.push((channel_id, ticket.at));
            } else {
                self.wake(channel_id, ticket.at);
            }
        }
    }

    #[inline(always)]
    pub(in crate::packet) fn lose_all(&mut self, link: u32, now: u64) {
        if !self.dropped.is_empty() {
            self.lose_some(link, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn lose_some(&mut self, link: u32, now: u64) {
        let mut dropped = std::mem::take(&mut self.dropped);
        for (packet, reason) in dropped.drain(..) {
            self.lose(link, &packet, reason, now);
        }
        self.dropped = dropped;
    }

    fn lose(&mut self, link: u32, packet: &Packet, reason: DropReason, now: u64) {
        self.links[link as usize].count_drop(packet, reason);
        let losses = &mut self.losses[packet.flow.index()];
        if packet.is_ack() {
            losses.acks += 1;
        } else if packet.flags.has(Flags::SYN) {
            losses.requests += 1;
        } else {
            losses.data += 1;
            losses.window_data += u64::from(now >= self.warmup);
        }
        self.observer.drop(now, link, packet, reason);
    }
}
