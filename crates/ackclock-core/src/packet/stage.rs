//! The work of one stage of a process: what came over its channels, and its local events, in order.

use super::lp::{Channel, Key, Pending, Stage, What};
use super::parts::Parts;
use super::sim::{Hop, Sim};
use super::sort::{self, Form, Spare};
use super::ticket::Ticket;
use crate::memory::in_large_pages;

/// Packets between one that is sent on and the one whose way is called up.
const AHEAD: usize = 6;

/// Channels between one that is emptied and the one whose first packets are called up.
const NEXT_CHANNELS: usize = 8;

/// Packets that are handled in one go.
#[derive(Debug, Default)]
pub(super) struct Batch {
    tickets: Vec<Ticket>,
    /// The order in which they are handled: keys of [`sort`], or plain places.
    order: Vec<u64>,
    /// The bits of these that hold the place among the tickets.
    places: u64,
    spare: Spare,
    /// Channels that had been empty and have a packet now.
    woken: Vec<u32>,
    /// Packets that a link has let go, on their way to the plain FIFO that follows at once.
    pub(super) onward: Vec<Ticket>,
    parts: Parts,
}

impl Batch {
    /// Makes room for so many packets, in large pages.
    pub(super) fn reserve(&mut self, packets: usize) {
        self.tickets.reserve(packets);
        in_large_pages(&self.tickets);
    }

    /// The packet that an entry of the order stands for.
    #[inline(always)]
    fn ticket(&self, key: u64) -> Ticket {
        self.tickets[(key & self.places) as usize]
    }

    /// The packet that is handled as the one of this number.
    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> Option<&Ticket> {
        self.tickets.get((self.order.get(place)? & self.places) as usize)
    }
}

impl Sim {
    /// Handles all events of one stage before `until`. Nothing more can reach it before then.
    pub(super) fn advance(&mut self, p: usize, stage: Stage, until: u64) {
        let process = &self.processes[p];
        let pending = &process.stages[stage as usize];
        let (relay, first) = (pending.relay, process.local(stage).1);
        if pending.heads.first() < until {
            self.next_local = first;
            if relay == Pending::NO_RELAY {
                self.merge(p, stage, until);
            } else {
                self.relay(p, stage, relay, until);
            }
        }
        loop {
            let (local, first) = self.processes[p].local(stage);
            if first >= until {
                return self.send_onward(p);
            }
            self.run_local(p, stage, local, first, until - 1);
        }
    }

    /// Sends on what links have let go. Nothing else reaches the links that follow, so it can wait until
    /// the stage is done: then what is next is known, and comes nearer meanwhile; and what touches the
    /// same memory can go one after the other. By time hardly two packets in a row are for the same link.
    #[inline(always)]
    pub(super) fn send_onward(&mut self, p: usize) {
        if !self.batch.onward.is_empty() {
            self.send_all_onward(p);
        }
    }

    #[inline(never)]
    fn send_all_onward(&mut self, p: usize) {
        let mut onward = std::mem::take(&mut self.batch.onward);
        if self.scout.packets {
            self.batch.parts.sort(&mut onward, &self.hops, self.links.len());
        }
        for (place, &ticket) in onward.iter().enumerate() {
            if self.scout.packets {
                self.call_up_onward(&onward, place);
            } else {
                onward.get(place + AHEAD).inspect(|next| self.call_up_way(next.route()));
            }
            let hop = self.hops[ticket.route()];
            self.enter::<false>(p, hop, ticket, false);
        }
        onward.clear();
        self.batch.onward = onward;
    }

    /// Handles packets that come to anything else than one computed FIFO link.
    fn merge(&mut self, p: usize, stage: Stage, until: u64) {
        self.gather(p, stage, until);
        for place in 0..self.batch.order.len() {
            if self.scout.packets {
                self.call_up_packets(place);
            }
            let ticket = self.batch.ticket(self.batch.order[place]);
            self.locals_before(p, stage, ticket);
            self.forward(p, ticket);
        }
    }

    /// Handles the packets of a stage that is one computed FIFO link: there are no local events, and
    /// most packets do nothing but pass.
    fn relay(&mut self, p: usize, stage: Stage, link: u32, until: u64) {
        self.gather(p, stage, until);
        let mut place = 0;
        while place < self.batch.order.len() {
            let mut until = self.batch.order.len();
            if self.scout.packets {
                self.call_up_relayed(place);
                until = place + 1;
            }
            place = self.pass(link, place, until);
            // What stopped there is not as common.
            if place < until {
                let ticket = self.batch.ticket(self.batch.order[place]);
                let channel = self.hops[ticket.route()].channel;
                self.enter::<true>(p, Hop { link, channel }, ticket, false);
                place += 1;
            }
        }
        let mut woken = std::mem::take(&mut self.batch.woken);
        for channel in woken.drain(..) {
            let head = self.channels[channel as usize].queue.front(&self.wires);
            let at = head.map_or(u64::MAX, |ticket| ticket.at);
            self.wake(channel, at);
        }
        self.batch.woken = woken;
    }

    /// Sends packets of a batch over a link, from `place` on, as long as they do nothing but pass.
    /// The place of the first that does not, or `until`.
    #[inline(always)]
    fn pass(&mut self, link: u32, place: usize, until: usize) -> usize {
        let Self { links, channels, wires, hops, batch, beyond, end, .. } = self;
        let link = &mut links[link as usize];
        let Batch { tickets, order, places, woken, onward, .. } = &mut **batch;
        for (place, &key) in order[..until].iter().enumerate().skip(place) {
            let ticket = tickets[(key & *places) as usize];
            let Hop { channel, .. } = hops[ticket.route()];
            if ticket.at >= link.plain_until || link.settle(ticket.at) {
                return place;
            }
            let Some(at) = link.admit(ticket.at, ticket.size()) else { return place };
            link.count_arrival();
            if channel == Hop::ON {
                let list = if at > *end { &mut *beyond } else { &mut *onward };
                list.push(ticket.step(at));
                continue;
            }
            let queue = &mut channels[channel as usize].queue;
            if queue.is_empty() {
                woken.push(channel);
            }
            queue.push(wires, ticket.step(at));
        }
        until
    }

    /// Takes all packets that arrive before `until` from their channels, in order.
    fn gather(&mut self, p: usize, stage: Stage, until: u64) {
        let Self { processes, channels, wires, batch, scout, options, .. } = self;
        let pending = &mut processes[p].stages[stage as usize];
        let channels =
            &mut channels[pending.channels.start as usize..pending.channels.end as usize];
        let Batch { tickets, order, places, spare, .. } = &mut **batch;
        let begin = pending.heads.first();
        let (mut runs, mut last) = (0, begin);
        tickets.clear();
        pending.heads.below(until, |entrant| {
            if scout.packets
                && let Some(next) = channels.get(entrant as usize + NEXT_CHANNELS)
            {
                next.queue.call_up_first(wires);
            }
            let Channel { queue, .. } = &mut channels[entrant as usize];
            let next = queue.take_before(wires, until, tickets);
            runs += 1;
            last = last.max(tickets.last().map_or(begin, |ticket| ticket.at));
            next
        });
        let span = last - begin;
        let Some(form) = Form::of(span, tickets.len()) else { return self.order_at_length() };
        if scout.packets && stage == Stage::Node {
            for ticket in &*tickets {
                options.call_up(*ticket);
            }
        }
        *places = form.places();
        order.clear();
        order.extend(tickets.iter().enumerate().map(|(i, t)| form.key(t.at, begin, i)));
        if runs > 1 {
            sort::sort(form, order, span, spare);
            if order.windows(2).any(|pair| form.ties(pair[0], pair[1])) {
                self.break_ties(form);
            }
        }
    }

    /// Puts packets that arrive at the same time into order by their full keys. Two that come over
    /// one channel have equal keys and keep theirs.
    #[cold]
    #[inline(never)]
    fn break_ties(&mut self, form: Form) {
        let mut order = std::mem::take(&mut self.batch.order);
        for ties in order.chunk_by_mut(|&a, &b| form.ties(a, b)).filter(|ties| ties.len() > 1) {
            ties.sort_by_cached_key(|&key| (self.key(self.batch.ticket(key)), key));
        }
        self.batch.order = order;
    }

    /// Sorts a batch that lasts too long, or has too many packets, for short keys.
    #[cold]
    #[inline(never)]
    fn order_at_length(&mut self) {
        let mut order: Vec<u64> = (0..self.batch.tickets.len() as u64).collect();
        order.sort_by_cached_key(|&place| (self.key(self.batch.tickets[place as usize]), place));
        self.batch.order = order;
        self.batch.places = u64::MAX;
    }

    /// The key of a packet that has come over a channel.
    #[cold]
    #[inline(never)]
    fn key(&self, ticket: Ticket) -> Key {
        let hop = self.hops[ticket.route() - 1];
        Key::new(ticket.at, self.links[hop.link as usize].flight(ticket.size()), hop.link)
    }

    /// Handles the local events of a stage that come before a packet.
    #[inline(always)]
    fn locals_before(&mut self, p: usize, stage: Stage, ticket: Ticket) {
        if self.next_local <= ticket.at {
            self.run_locals_before(p, stage, ticket);
        }
    }

    #[inline(never)]
    fn run_locals_before(&mut self, p: usize, stage: Stage, ticket: Ticket) {
        loop {
            let (local, first) = self.processes[p].local(stage);
            // The packet's full key takes a look at the link that it has left: only where times tie.
            let is_later = first > ticket.at
                || first == ticket.at && first == local.at() && local > self.key(ticket);
            if is_later {
                self.next_local = first;
                return;
            }
            self.run_local(p, stage, local, first, ticket.at);
        }
    }

    /// Handles the first local event, or takes the samples due at `first` and until that event or,
    /// at the latest, `last`, up to which nothing else happens.
    #[inline(always)]
    pub(super) fn run_local(&mut self, p: usize, stage: Stage, local: Key, first: u64, last: u64) {
        if stage == Stage::Node && self.processes[p].next_mark <= first {
            return self.mark_ends(p, last.min(local.at()));
        }
        self.processes[p].stages[stage as usize].locals.pop();
        self.events += 1;
        self.on_local(p, local.at(), What(local.what()));
    }

    /// Adds a local event to the stage that is under way.
    #[inline(always)]
    pub(super) fn add_local(&mut self, p: usize, stage: Stage, key: Key) {
        self.next_local = self.next_local.min(key.at());
        self.processes[p].stages[stage as usize].locals.push(key);
    }
}
