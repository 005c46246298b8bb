//! The way of a packet: into a link, through it, and onto the wire; or to its drop.

use crate::packet::network::link::Service;
use crate::packet::network::link::foreseen::Fate;
use crate::packet::network::route::Hop;
use crate::packet::network::wires::Channel;
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Kind, What};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::simulator::{Cause, Sim};
use crate::record::Event;
use crate::units::Span;
use crate::wire::{DropReason, Flags, Packet, Timed};

/// What becomes of a packet at a link that is no plain FIFO, or is due for a sample.
#[derive(Clone, Copy)]
enum Arrival {
    /// It is dropped, or waits in a discipline.
    Ends,
    /// It is to enter the computed FIFO.
    Enters,
    /// It leaves, and is at the far end at `departure`, marked CE or as it is.
    Leaves { departure: u64, is_marked: bool },
}

impl<C: Clock> Sim<C> {
    /// Takes the next step of a packet's route when it arrives.
    #[inline(always)]
    pub(crate) fn forward(&mut self, p: usize, ticket: Ticket) {
        let hop = self.routes.hop(ticket);
        if hop.link == Hop::DELIVER {
            self.deliver(p, hop.channel as usize, ticket);
        } else {
            self.enter::<false>(p, hop, ticket, false);
        }
    }

    /// A packet enters a link when it arrives there, sent by an endpoint of the process (`here`) or over
    /// another link, and passes further links as far as its departures are known. With `DEFER` it passes
    /// this link only, and is sent on later together with others.
    #[inline(always)]
    pub(crate) fn enter<const DEFER: bool>(
        &mut self,
        p: usize,
        mut hop: Hop,
        ticket: Ticket,
        mut here: bool,
    ) {
        // Tickets are assembled only where they are passed on: a wide load of a ticket that was changed in
        // part stalls.
        let (mut now, mut position, mut content) = ticket.parts();
        let to_ticket = Ticket::from_parts;
        loop {
            // The link is looked up again only after rare calls.
            let mut link = &mut self.links.list[hop.link as usize];
            let mut judged = None;
            if now >= link.plain_until {
                match self.check_arrival(p, hop.link, to_ticket(now, position, content), here) {
                    Arrival::Ends => return,
                    Arrival::Enters => {}
                    Arrival::Leaves { departure, is_marked } => {
                        judged = Some(departure);
                        if is_marked {
                            content = Ticket::marked(content);
                        }
                    }
                }
                link = &mut self.links.list[hop.link as usize];
            }
            let departure = if let Some(departure) = judged {
                departure
            } else {
                link.count_arrival();
                if link.settle(now) {
                    self.settle_tie(hop.link, to_ticket(now, position, content), here);
                    link = &mut self.links.list[hop.link as usize];
                }
                let Some(departure) = link.admit(now, ticket.size()) else {
                    let ticket = to_ticket(now, position, content);
                    return self.refuse(hop.link, ticket, DropReason::Overflow, now);
                };
                if link.watched {
                    self.record_computed_departure(hop.link, to_ticket(now, position, content));
                }
                departure
            };
            position += 1;
            if hop.channel != Hop::ON {
                return self.put_on_wire(hop.channel, to_ticket(departure, position, content));
            }
            if departure > self.schedule.end {
                self.wires.beyond.push(to_ticket(departure, position, content));
                return;
            }
            let ticket = to_ticket(departure, position, content);
            hop = self.routes.hop(ticket);
            // Packets that the discipline sent before are deferred, and none may overtake them.
            if DEFER || judged.is_some() {
                self.batch.defer(ticket, hop);
                return;
            }
            now = departure;
            here = false;
        }
    }

    #[cold]
    #[inline(never)]
    fn record_computed_departure(&mut self, link: u32, ticket: Ticket) {
        let packet = ticket.inspect(self.routes.owner(ticket), &self.wires.options);
        let state = &self.links.list[link as usize];
        self.observer.record_computed_departure(state, link, &packet);
        if ticket.flags().has(Flags::AQT) {
            let waited = C::ps(state.latest_start()) - C::ps(ticket.at);
            self.wires.options.add_queued(ticket, Span(waited));
        }
    }

    /// A packet, `here` as in [`Self::enter`], arrives at a link that is due for a sample, is watched, or has a discipline.
    #[inline(never)]
    fn check_arrival(&mut self, p: usize, link_id: u32, ticket: Ticket, here: bool) -> Arrival {
        let now = ticket.at;
        self.sample_link(link_id as usize, now);
        let link = &mut self.links.list[link_id as usize];
        if link.watched {
            let packet = ticket.inspect(self.routes.owner(ticket), &self.wires.options);
            self.observer.record_packet(now, link_id, &packet, Event::Arrival);
            if let Some(reason) = link.check_hazards(now, &packet) {
                link.count_arrival();
                self.refuse(link_id, ticket, reason, now);
                return Arrival::Ends;
            }
            if self.fabric.is_used() && !self.take_into_memory(link_id, &packet, now) {
                self.links.list[link_id as usize].count_arrival();
                self.refuse(link_id, ticket, DropReason::Overflow, now);
                return Arrival::Ends;
            }
        }
        let link = &mut self.links.list[link_id as usize];
        if link.disc.is_none() {
            return Arrival::Enters;
        }
        link.count_arrival();
        if link.foresees() {
            return self.judge(p, link_id, ticket, here);
        }
        self.enqueue(p, link_id, ticket, now);
        Arrival::Ends
    }

    /// A packet arrives at a link whose discipline judges it.
    #[inline]
    fn judge(&mut self, p: usize, link_id: u32, ticket: Ticket, here: bool) -> Arrival {
        let now = ticket.at;
        let link = &mut self.links.list[link_id as usize];
        let is_tied = link.settle(now) || link.ends_at(now);
        let is_before_end = is_tied && !self.is_free_before(link_id, ticket, here);
        let flow = self.routes.owner(ticket);
        let fate = if ticket.is_bare() {
            self.links.judge(link_id, &ticket.header(flow), now, is_before_end)
        } else {
            let packet = ticket.inspect(flow, &self.wires.options);
            self.links.judge(link_id, &packet, now, is_before_end)
        };
        match fate {
            Fate::Arrives { arrival, is_marked } => {
                Arrival::Leaves { departure: arrival, is_marked }
            }
            Fate::Dropped(reason) => {
                self.refuse(link_id, ticket, reason, now);
                Arrival::Ends
            }
            Fate::Unknown => {
                self.stop_foreseeing(p, link_id, ticket);
                Arrival::Ends
            }
        }
    }

    /// A packet arrives exactly when a transmission ends at a link that judges packets: whether the end is first, in the
    /// order in which the events of a process are handled. If it is, the next transmission begins.
    #[cold]
    #[inline(never)]
    fn is_free_before(&mut self, link_id: u32, ticket: Ticket, here: bool) -> bool {
        let arrival = match self.cause {
            Cause::Local(key) if here => key,
            Cause::Packet(cause) if here => self.key(cause),
            _ => self.key(ticket),
        };
        let link = &mut self.links.list[link_id as usize];
        let ahead = C::ps(ticket.at) - C::ps(link.service.start);
        let end = Key::new(ticket.at, ahead, What::new(Kind::Free, link_id).0);
        let is_first = end < arrival;
        if is_first {
            link.begin_tied(ticket.at);
        }
        is_first
    }

    /// The discipline of a link, which judged packets on arrival, holds them from this one on.
    #[cold]
    #[inline(never)]
    fn stop_foreseeing(&mut self, p: usize, link_id: u32, ticket: Ticket) {
        let link = &mut self.links.list[link_id as usize];
        if let Some(service) = link.stop_foreseeing(ticket.at) {
            let event = What::new(Kind::Free, link_id);
            let ahead = C::ps(service.end) - C::ps(service.start);
            self.schedule.add_local(p, link.stage, Key::new(service.end, ahead, event.0));
        }
        self.enqueue(p, link_id, ticket, ticket.at);
    }

    #[cold]
    #[inline(never)]
    fn refuse(&mut self, link: u32, ticket: Ticket, reason: DropReason, now: u64) {
        let packet = ticket.into_packet(self.routes.owner(ticket), &mut self.wires.options);
        self.lose(link, &packet, reason, now);
    }

    /// A packet enters a link with a discipline.
    #[inline(always)]
    fn enqueue(&mut self, p: usize, link: u32, ticket: Ticket, now: u64) {
        let flow = self.routes.owner(ticket);
        // The packet is built in the argument: moving it right after it was written stalls.
        if ticket.is_bare() {
            self.links.enqueue(link, ticket.header(flow), now);
        } else {
            self.links.enqueue(link, ticket.into_packet(flow, &mut self.wires.options), now);
        }
        let is_idle = self.links.list[link as usize].service.end == Service::IDLE;
        self.lose_dropped(link, now);
        if is_idle {
            self.transmit(p, link, now);
        }
    }

    /// A packet arrives exactly when a transmission ends: the event that was scheduled first is first.
    #[cold]
    #[inline(never)]
    fn settle_tie(&mut self, link: u32, ticket: Ticket, here: bool) {
        let ahead = if here {
            0
        } else {
            let from = self.routes.last_link(ticket);
            self.links.list[from as usize].flight(ticket.size())
        };
        self.links.list[link as usize].settle_tie(ticket.at, ahead);
    }

    /// Begins the next transmission of a link with a discipline whose transmitter is free.
    #[inline]
    pub(crate) fn transmit(&mut self, p: usize, link_id: u32, now: u64) {
        let (link, next) = self.links.transmit(link_id, now);
        match &next {
            Some(Timed { at: arrived_at, packet }) => {
                let (service, stage) = (link.service, link.stage);
                if !link.watched || !self.watch_departure(p, link_id, packet, now) {
                    let options = &mut self.wires.options;
                    let ticket = Ticket::of(packet, packet.route + 1, arrived_at.0, options);
                    self.launch(packet.route, ticket);
                }
                let event = What::new(Kind::Free, link_id);
                let ahead = C::ps(service.end) - C::ps(now);
                self.schedule.add_local(p, stage, Key::new(service.end, ahead, event.0));
            }
            None if link.watched && link.has_frame_due() => {
                return self.send_frame_due(p, link_id, now);
            }
            None => match link.held_until(now) {
                None => link.become_idle(now),
                Some(rest_end) => {
                    link.rest_until(rest_end);
                    let (stage, ahead) = (link.stage, C::ps(rest_end) - C::ps(now));
                    let event = What::new(Kind::Free, link_id);
                    self.schedule.add_local(p, stage, Key::new(rest_end, ahead, event.0));
                }
            },
        }
        self.lose_dropped(link_id, now);
    }

    /// Puts a packet on the wire of the link at position `from` of the route table; it arrives at the far end at
    /// its time.
    #[inline(always)]
    pub(crate) fn launch(&mut self, from: u32, ticket: Ticket) {
        let channel = self.routes.at(from as usize).channel;
        if channel != Hop::ON {
            self.put_on_wire(channel, ticket);
        } else if ticket.at > self.schedule.end {
            self.wires.beyond.push(ticket);
        } else {
            self.batch.defer(ticket, self.routes.hop(ticket));
        }
    }

    /// Puts a packet into a channel, or into the batch that is being collected for the channel's reader.
    #[inline(always)]
    fn put_on_wire(&mut self, channel_id: u32, ticket: Ticket) {
        let Channel { queue, to, .. } = &mut self.wires.channels[channel_id as usize];
        let is_first = queue.is_empty();
        if is_first && self.batch.collect(*to, ticket) {
            return;
        }
        queue.push(&mut self.wires.store, ticket);
        if is_first {
            if self.batch.wakes_later {
                self.batch.woken.push((channel_id, ticket.at));
            } else {
                self.wake(channel_id, ticket.at);
            }
        }
    }

    /// Counts and records the packets that a discipline has dropped, and the payloads that it has cut off.
    #[inline(always)]
    pub(crate) fn lose_dropped(&mut self, link: u32, now: u64) {
        if !self.links.dropped.is_empty() {
            self.lose_all(link, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn lose_all(&mut self, link: u32, now: u64) {
        let mut dropped = std::mem::take(&mut self.links.dropped);
        for (packet, reason) in dropped.drain(..) {
            if self.fabric.is_used() {
                self.free_memory(link, &packet, now);
            }
            if reason == DropReason::Trimmed {
                self.links.list[link as usize].count_trim();
                self.observer.record_trim(now, link, &packet);
            } else {
                self.lose(link, &packet, reason, now);
            }
        }
        self.links.dropped = dropped;
    }

    /// Counts and records a packet that is dropped at a link.
    pub(crate) fn lose(&mut self, link: u32, packet: &Packet, reason: DropReason, now: u64) {
        self.links.list[link as usize].count_drop(packet, reason);
        self.flows.count_loss(packet, now >= self.observer.warmup);
        self.observer.record_drop(now, link, packet, reason);
    }
}
