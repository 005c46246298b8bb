//! The run: processes take turns by their deadlines until the end of simulated time.

use std::collections::HashMap;

use super::custom::Custom;
use super::link::{Link, Service};
use super::lp::{Channel, Key, Kind, Process, Stage, What};
use super::observe::{Event, Marks, Observer};
use super::ring::{Options, Ticket};
use super::tournament::Tournament;
use crate::ids::FlowId;
use crate::outbox::Outbox;
use crate::rng::Stream;
use crate::tcp::{Deadline, Endpoint, EndpointCtx};
use crate::units::Time;
use crate::wire::{DropReason, Flags, Packet, Timed};

/// One step of a route: the link to enter and the channel that the link's output takes from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) link: u32,
    pub(super) channel: u32,
}

impl Hop {
    /// In place of a link: the end of a route. The packet is handed to an endpoint, whose number
    /// stands in place of the channel.
    pub(super) const DELIVER: u32 = u32::MAX;
    /// In place of a channel: the next link of the route follows at once. All that reaches that
    /// link comes over this one, in order, and it is a plain FIFO: what it does with a packet is
    /// known as soon as the packet is sent to it.
    pub(super) const ON: u32 = u32::MAX;
}

/// One end of a flow.
pub(super) struct End {
    pub(super) endpoint: Option<Box<dyn Endpoint>>,
    pub(super) rng: Stream,
    /// Where its packets enter the route table.
    pub(super) route: u32,
    /// Time of its pending entry among the local events.
    pub(super) pending: u64,
    /// Packets handed to the network and got from it.
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// Losses of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    pub(super) data: u64,
    pub(super) acks: u64,
    /// Data lost after the warm-up.
    pub(super) window_data: u64,
}

/// State of a run.
pub(super) struct Sim {
    pub(super) processes: Vec<Process>,
    pub(super) links: Vec<Link>,
    pub(super) channels: Vec<Channel>,
    pub(super) hops: Vec<Hop>,
    /// 2 flow: sender, 2 flow + 1: receiver.
    pub(super) ends: Vec<End>,
    pub(super) losses: Vec<Losses>,
    pub(super) keys: Vec<[u32; 2]>,
    pub(super) observer: Observer,
    pub(super) agenda: Tournament,
    pub(super) end: u64,
    /// The end of the warm-up.
    pub(super) warmup: u64,
    pub(super) marks: Marks,
    /// Packets that arrive somewhere only after the end.
    pub(super) beyond: Vec<Ticket>,
    /// What an endpoint is sending.
    pub(super) out: Outbox,
    /// Options of packets on wires.
    pub(super) options: Options,
    pub(super) dropped: Vec<(Packet, DropReason)>,
    /// Packets handled on links; processes activated; local events handled.
    pub(super) hops_done: u64,
    pub(super) activations: u64,
    pub(super) events: u64,
    pub(super) failure: Option<String>,
}

impl Sim {
    /// Runs to the end. `progress` gets the simulated time now and then and may stop the run by
    /// returning false; then the result is false.
    pub(super) fn run(
        &mut self,
        custom: &dyn Custom,
        progress: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        for p in 0..self.processes.len() {
            self.schedule(p);
        }
        // Nothing that any process has yet to do can reach another before the smallest key, so the
        // process that holds it may handle all that it has up to then.
        loop {
            let (key, p) = self.agenda.first_halves();
            if key == u64::MAX {
                return true;
            }
            let p = p as u32 as usize;
            self.activate(p, key.min(self.end.saturating_add(1)));
            // A discipline has no way of its own to tell.
            if self.failure.is_none() {
                self.failure = custom.failure();
            }
            if self.failure.is_some() {
                return true;
            }
            self.schedule(p);
            self.activations += 1;
            if self.activations.is_multiple_of(8192) && !progress(Time(key.min(self.end))) {
                return false;
            }
        }
    }

    /// Puts a process into the agenda by its next event.
    #[inline]
    fn schedule(&mut self, p: usize) {
        let (earliest, effect) = self.processes[p].due();
        let key = if earliest <= self.end {
            due_key(effect.min(u64::MAX - 1), p as u32)
        } else {
            Tournament::OUT
        };
        self.agenda.set(p as u32, key);
    }

    /// Handles all events of a process before `horizon`, sampling its endpoints where a mark is due.
    fn activate(&mut self, p: usize, horizon: u64) {
        self.advance(p, Stage::Entry, horizon);
        loop {
            let mark = self.processes[p].next_mark;
            self.advance(p, Stage::Node, horizon.min(mark));
            if mark >= horizon {
                return;
            }
            self.mark_ends(p, mark);
        }
    }

    /// Handles all events of one stage before `until`.
    fn advance(&mut self, p: usize, stage: Stage, until: u64) {
        loop {
            let pending = &self.processes[p].stages[stage as usize];
            let head = Key(pending.heads.first());
            let local = pending.locals.peek().copied().unwrap_or(Key::NEVER);
            if local < head {
                if local.at() >= until {
                    return;
                }
                self.processes[p].stages[stage as usize].locals.pop();
                self.events += 1;
                self.on_local(p, local.at(), What(local.what()));
            } else if head.at() >= until {
                return;
            } else if pending.channels == 1 {
                self.drain(p, stage, head, until);
            } else {
                self.forward(p, head.at(), head.what());
                self.next_head(p, stage, head.what());
            }
        }
    }

    /// Handles the packets of the only channel, up to the next local event.
    fn drain(&mut self, p: usize, stage: Stage, head: Key, until: u64) {
        let mut at = head.at();
        loop {
            self.forward(p, at, head.what());
            let Some(next) = self.channels[head.what() as usize].queue.front() else { break };
            at = next.at;
            let local =
                self.processes[p].stages[stage as usize].locals.peek().map_or(u64::MAX, |k| k.at());
            if at >= until || at >= local {
                break;
            }
        }
        self.next_head(p, stage, head.what());
    }

    /// Puts the channel that stands first among the heads where its next packet belongs.
    #[inline(always)]
    fn next_head(&mut self, p: usize, stage: Stage, channel_id: u32) {
        let channel = &mut self.channels[channel_id as usize];
        let key = match channel.queue.front().map(|next| (next.at, next.size)) {
            Some((at, size)) => channel.key(channel_id, at, size, &self.links),
            None => Tournament::OUT,
        };
        self.processes[p].stages[stage as usize].heads.set(channel.entrant, key);
    }

    /// Takes the first packet of a channel and sends it on its way.
    #[inline(always)]
    fn forward(&mut self, p: usize, now: u64, channel_id: u32) {
        let channel = &mut self.channels[channel_id as usize];
        let from = channel.from;
        let Some(ticket) = channel.queue.pop() else { return };
        let hop = self.hops[ticket.route as usize];
        if hop.link == Hop::DELIVER {
            self.deliver(p, hop.channel as usize, ticket, now);
        } else {
            self.enter(p, hop, ticket, now, from);
        }
    }

    /// A packet enters a link at `now`, from another link or (`HERE`) from an endpoint, and goes on
    /// as far as its way is known.
    #[inline(always)]
    fn enter(&mut self, p: usize, mut hop: Hop, mut ticket: Ticket, mut now: u64, mut from: u32) {
        loop {
            let index = hop.link as usize;
            self.hops_done += 1;
            let link = &self.links[index];
            if (!link.plain || now >= link.next_mark) && !self.look(p, hop.link, ticket, now) {
                return;
            }
            let link = &mut self.links[index];
            link.counts.arrived_packets += 1;
            if link.settle(now) {
                self.settle_tie(hop.link, now, from, ticket.size);
            }
            let link = &mut self.links[index];
            let Some(at) = link.admit(now, ticket.size) else {
                self.refuse(hop.link, ticket, DropReason::Overflow, now);
                return;
            };
            if link.watched {
                self.observer.departure_ahead(
                    link,
                    hop.link,
                    &ticket.look(owner(&self.hops, ticket), &self.options),
                );
            }
            ticket.at = at;
            ticket.route += 1;
            if hop.channel != Hop::ON {
                self.put(hop.channel, ticket);
                return;
            }
            if at > self.end {
                self.beyond.push(ticket);
                return;
            }
            (from, now) = (hop.link, at);
            hop = self.hops[ticket.route as usize];
        }
    }

    /// A packet arrives at a link that is due for a sample, or has hazards, observers or a discipline
    /// of its own; whether it is still to be handled.
    #[inline(never)]
    fn look(&mut self, p: usize, link_id: u32, ticket: Ticket, now: u64) -> bool {
        self.mark_link(link_id as usize, now);
        let link = &mut self.links[link_id as usize];
        if link.watched {
            let packet = ticket.look(owner(&self.hops, ticket), &self.options);
            self.observer.packet(now, link_id, &packet, Event::Arrival);
            if let Some(reason) = link.hazard(&packet) {
                link.counts.arrived_packets += 1;
                self.refuse(link_id, ticket, reason, now);
                return false;
            }
        }
        if link.disc.is_none() {
            return true;
        }
        link.counts.arrived_packets += 1;
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
        let packet = ticket.into_packet(owner(&self.hops, ticket), &mut self.options);
        let link = &mut self.links[link_id as usize];
        link.enqueue(packet, now, &self.keys, &mut self.dropped);
        let idle = link.service.end == IDLE;
        self.lose_all(link_id, now);
        if idle {
            self.transmit(p, link_id, now);
        }
    }

    /// A packet arrives at the very time at which a transmission ends: whichever was scheduled
    /// first goes first.
    #[cold]
    fn settle_tie(&mut self, link: u32, now: u64, from: u32, size: u16) {
        let sent = if from == HERE {
            now
        } else {
            now.saturating_sub(self.links[from as usize].flight(size))
        };
        self.links[link as usize].turn(now, sent);
    }

    /// Begins the next transmission of an idle link with a discipline of its own.
    fn transmit(&mut self, p: usize, link_id: u32, now: u64) {
        let link = &mut self.links[link_id as usize];
        let next = link.transmit(now, &self.keys, &mut self.dropped);
        match next {
            Some(Timed { at, packet }) => {
                let service = link.service;
                self.observer.packet(now, link_id, &packet, Event::Departure);
                let channel = self.hops[packet.route as usize].channel;
                let stage = link.stage;
                let ticket = Ticket::of(&packet, packet.route + 1, at.0, &mut self.options);
                if channel != Hop::ON {
                    self.put(channel, ticket);
                } else if at.0 > self.end {
                    self.beyond.push(ticket);
                } else {
                    let next = self.hops[ticket.route as usize];
                    self.follow(p, next, ticket, link_id);
                }
                let what = What::new(Kind::Free, link_id);
                self.processes[p].stages[stage as usize].locals.push(Key::new(
                    service.end,
                    service.end - now,
                    what.0,
                ));
            }
            None => link.service = Service { start: now, end: IDLE },
        }
        self.lose_all(link_id, now);
    }

    /// A packet enters a link that follows at once after one with a discipline of its own.
    fn follow(&mut self, p: usize, hop: Hop, ticket: Ticket, from: u32) {
        self.enter(p, hop, ticket, ticket.at, from);
    }

    /// Puts a packet on the wire.
    #[inline(always)]
    fn put(&mut self, channel_id: u32, ticket: Ticket) {
        let channel = &mut self.channels[channel_id as usize];
        let first = channel.queue.is_empty();
        let (at, size) = (ticket.at, ticket.size);
        channel.queue.push(ticket);
        if first {
            let head = channel.key(channel_id, at, size, &self.links);
            let (target, stage) = (channel.to, channel.stage);
            let pending = &mut self.processes[target as usize].stages[stage as usize];
            pending.heads.set(channel.entrant, head);
            let key = due_key(at.saturating_add(pending.lookahead), target);
            // A process that is running has the smallest key of all; it is put back when it ends.
            if at <= self.end && key < self.agenda.key(target) {
                self.agenda.set(target, key);
            }
        }
    }

    fn lose_all(&mut self, link: u32, now: u64) {
        if self.dropped.is_empty() {
            return;
        }
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
        } else {
            losses.data += 1;
            losses.window_data += u64::from(now >= self.warmup);
        }
        self.observer.drop(now, link, packet, reason);
    }

    /// Hands a packet to its endpoint.
    #[inline(always)]
    fn deliver(&mut self, p: usize, index: usize, ticket: Ticket, now: u64) {
        let end = &mut self.ends[index];
        end.received += 1;
        let Some(endpoint) = end.endpoint.as_deref_mut() else { return };
        let record = &mut self.observer.recorder;
        let mut ctx = EndpointCtx { now: Time(now), out: &mut self.out, rng: &mut end.rng, record };
        let packet = ticket.into_packet(FlowId(index as u32 / 2), &mut self.options);
        endpoint.on_packet(packet, &mut ctx);
        self.called(p, index, now);
    }

    fn on_local(&mut self, p: usize, now: u64, what: What) {
        let index = what.index();
        match what.kind() {
            Kind::Free => {
                self.mark_link(index, now);
                self.transmit(p, index as u32, now);
            }
            Kind::Disc => {
                self.mark_link(index, now);
                let link = &mut self.links[index];
                link.on_timer(now, &self.keys, &mut self.dropped);
                if let Some(managed) = &link.disc
                    && let Some(interval) = managed.disc.timer_interval()
                {
                    let interval = interval.0.max(1);
                    let stage = link.stage as usize;
                    self.processes[p].stages[stage].locals.push(Key::new(
                        now.saturating_add(interval),
                        interval,
                        what.0,
                    ));
                }
                self.lose_all(index as u32, now);
            }
            Kind::Endpoint => {
                // An entry that is not the pending one was overtaken by an earlier deadline.
                if self.ends[index].pending != now {
                    return;
                }
                self.ends[index].pending = u64::MAX;
                let due =
                    self.ends[index].endpoint.as_ref().is_some_and(|e| e.deadline().at.0 <= now);
                if due {
                    self.call(p, index, now, |endpoint, ctx| endpoint.on_timer(ctx));
                } else {
                    self.arm(p, index);
                }
            }
            Kind::Start => self.call(p, index, now, |endpoint, ctx| endpoint.start(ctx)),
        }
    }

    /// Calls an endpoint, sends what it sends, and notes its next deadline.
    fn call(
        &mut self,
        p: usize,
        index: usize,
        now: u64,
        f: impl FnOnce(&mut dyn Endpoint, &mut EndpointCtx<'_>),
    ) {
        let end = &mut self.ends[index];
        let Some(endpoint) = end.endpoint.as_deref_mut() else { return };
        let record = &mut self.observer.recorder;
        let mut ctx = EndpointCtx { now: Time(now), out: &mut self.out, rng: &mut end.rng, record };
        f(endpoint, &mut ctx);
        self.called(p, index, now);
    }

    /// Sends what an endpoint sent during a call, and notes its next deadline.
    #[inline(always)]
    fn called(&mut self, p: usize, index: usize, now: u64) {
        let end = &mut self.ends[index];
        if !self.out.sent().is_empty() {
            let route = end.route;
            end.sent += self.out.sent().len() as u64;
            let hop = self.hops[route as usize];
            for i in 0..self.out.sent().len() {
                let ticket = Ticket::of(&self.out.sent()[i], route, now, &mut self.options);
                self.enter(p, hop, ticket, now, HERE);
            }
            self.out.clear();
        }
        self.arm(p, index);
    }

    /// Makes sure that the endpoint's deadline is among the local events.
    #[inline(always)]
    fn arm(&mut self, p: usize, index: usize) {
        let end = &mut self.ends[index];
        let Some(endpoint) = end.endpoint.as_deref() else { return };
        let deadline = endpoint.deadline();
        if deadline == Deadline::FAILED {
            self.failure = endpoint.failure();
            return;
        }
        if deadline.at.0 < end.pending {
            end.pending = deadline.at.0;
            let what = What::new(Kind::Endpoint, index as u32);
            let ahead = deadline.at.0.saturating_sub(deadline.armed.0);
            self.processes[p].stages[Stage::Node as usize].locals.push(Key::new(
                deadline.at.0,
                ahead,
                what.0,
            ));
        }
    }

    /// Samples the endpoints of a process at every mark up to `now`.
    #[cold]
    pub(super) fn mark_ends(&mut self, p: usize, now: u64) {
        while self.processes[p].next_mark <= now {
            let process = &mut self.processes[p];
            let at = process.next_mark;
            process.next_mark = self.marks.after(at);
            if at == self.warmup {
                self.observer.baseline_ends(process, &self.ends);
            }
            if let Some(row) = self.marks.row(at) {
                self.observer.sample_ends(row, process, &self.ends);
            }
        }
    }

    /// Samples a link at every mark up to `now`.
    #[inline]
    pub(super) fn mark_link(&mut self, l: usize, now: u64) {
        while self.links[l].next_mark <= now {
            let count = self.links.len();
            let link = &mut self.links[l];
            let at = link.next_mark;
            link.next_mark = self.marks.after(at);
            if at == self.warmup {
                self.observer.baseline_link(at, l, link);
            }
            if let Some(row) = self.marks.row(at) {
                self.observer.sample_link(at, row, l, count, link);
            }
        }
    }

    /// Per flow and direction, the packets still on wires and in queues at the end.
    pub(super) fn in_network(&self) -> HashMap<(u32, bool), u64> {
        let mut seen = HashMap::new();
        let on_wires = self.channels.iter().flat_map(|c| c.queue.iter());
        for ticket in on_wires.chain(&self.beyond) {
            *seen
                .entry((owner(&self.hops, *ticket).0, ticket.flags.has(Flags::ACK)))
                .or_insert(0) += 1;
        }
        seen
    }
}

/// Whose packet it is: the end of its route tells.
fn owner(hops: &[Hop], ticket: Ticket) -> FlowId {
    let end = hops[ticket.route as usize..].iter().find(|hop| hop.link == Hop::DELIVER);
    FlowId(end.map_or(u32::MAX, |hop| hop.channel / 2))
}

/// The end of service of a link that is idle and has a discipline of its own.
pub(super) const IDLE: u64 = u64::MAX;

/// A process's place in the agenda: by the soonest effect of what it has to do.
#[inline(always)]
fn due_key(effect: u64, process: u32) -> u128 {
    u128::from(effect) << 64 | u128::from(process)
}

/// In place of a link: from an endpoint of the process.
const HERE: u32 = u32::MAX;
