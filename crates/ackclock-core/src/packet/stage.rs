//! The work of one stage of a process: what came over its channels, and its local events, in order.

use super::lp::{Channel, Key, Pending, Stage, What};
use super::parts::Parts;
use super::sim::{Hop, Sim};
use super::sort::{self, Form, Spare};
use super::ticket::Ticket;
use crate::memory::soon;

/// Packets between one that is sent on and the one whose way is called up.
const AHEAD: usize = 6;

/// Channels between one that is emptied and the one that is called up, and the one whose first packets are.
const NEXT_CHANNELS: usize = 16;
const NEXT_PACKETS: usize = 8;

/// Channels whose packets, all due at once, are more than a cache holds, where a network is large; and of
/// how many of them it does hold the packets.
const MANY_CHANNELS: usize = if cfg!(test) { 2 } else { 1024 };
const NEAR_CHANNELS: usize = if cfg!(test) { 1 } else { 512 };

/// Lists at most into which packets of such a batch are put by their arrival, and by the link that they
/// go on to.
const BY_TIME: usize = 64;
const BY_LINK: usize = 512;

/// Packets that pass a link between two looks at what comes.
const AT_ONCE: usize = 8;

/// Channels between one whose reader is woken and the one whose reader is called up.
const NEXT_WOKEN: usize = 8;

/// A packet that a link has let go, and the step that follows at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Onward {
    pub(super) ticket: Ticket,
    pub(super) hop: Hop,
}

/// Packets that are handled in one go.
#[derive(Debug, Default)]
pub(super) struct Batch {
    tickets: Vec<Ticket>,
    /// The order in which they are handled: keys of [`sort`], or plain places.
    order: Vec<u64>,
    /// The bits of these that hold the place among the tickets.
    places: u64,
    spare: Spare,
    /// Channels that had been empty, and when the packet that they have now arrives.
    pub(super) woken: Vec<(u32, u64)>,
    /// Whether these wait until all have been found.
    pub(super) wakes_later: bool,
    /// Packets of later times.
    later: Parts<Ticket>,
    /// Packets that a link has let go, on their way to the plain FIFO that follows at once.
    onward: Parts<Onward>,
    /// Channels to be emptied.
    due: Vec<u32>,
}

impl Batch {
    /// A packet goes on to the plain FIFO that follows at once, when the stage is done.
    #[inline(always)]
    pub(super) fn go_on(&mut self, ticket: Ticket, hop: Hop) {
        self.onward.push(u64::from(hop.link), Onward { ticket, hop });
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
        self.batch.wakes_later = true;
        // Links do not know of each other: only the order of packets of one link matters.
        while let Some((part, mut onward)) = self.batch.onward.take() {
            for (place, &Onward { ticket, hop }) in onward.iter().enumerate() {
                if self.scout.packets {
                    self.call_up_onward(&onward, place);
                } else {
                    onward.get(place + AHEAD).inspect(|next| self.call_up_way(next));
                }
                self.enter::<false>(p, hop, ticket, false);
            }
            onward.clear();
            self.batch.onward.give_back(part, onward);
        }
        self.wake_all();
    }

    /// Handles packets that come to anything else than one computed FIFO link.
    fn merge(&mut self, p: usize, stage: Stage, until: u64) {
        self.gather(p, stage, until);
        loop {
            for place in 0..self.batch.order.len() {
                if self.scout.packets {
                    self.call_up_packets(place);
                }
                let ticket = self.batch.ticket(self.batch.order[place]);
                self.locals_before(p, stage, ticket);
                self.forward(p, ticket);
            }
            if self.batch.later.is_empty() {
                return;
            }
            self.gather_later(stage);
        }
    }

    /// Handles the packets of a stage that is one computed FIFO link: there are no local events, and
    /// most packets do nothing but pass.
    fn relay(&mut self, p: usize, stage: Stage, link: u32, until: u64) {
        self.gather(p, stage, until);
        self.batch.wakes_later = true;
        loop {
            let (mut place, mut called) = (0, 0);
            while place < self.batch.order.len() {
                let mut until = self.batch.order.len();
                if self.scout.packets {
                    until = until.min(place + AT_ONCE);
                    (called..until).for_each(|place| self.call_up_relayed(place));
                    called = until;
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
            if self.batch.later.is_empty() {
                break;
            }
            self.gather_later(stage);
        }
        self.wake_all();
    }

    /// Wakes the processes that packets were put on their way to.
    fn wake_all(&mut self) {
        let mut woken = std::mem::take(&mut self.batch.woken);
        for (place, &(channel, at)) in woken.iter().enumerate() {
            if self.scout.packets {
                woken.get(place + NEXT_WOKEN).inspect(|next| self.call_up_woken(next.0));
            }
            self.wake(channel, at);
        }
        woken.clear();
        self.batch.woken = woken;
        self.batch.wakes_later = false;
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
                let ticket = ticket.step(at);
                if at > *end {
                    beyond.push(ticket);
                } else {
                    let hop = hops[ticket.route()];
                    onward.push(u64::from(hop.link), Onward { ticket, hop });
                }
                continue;
            }
            let queue = &mut channels[channel as usize].queue;
            if queue.is_empty() {
                woken.push((channel, at));
            }
            queue.push(wires, ticket.step(at));
        }
        until
    }

    /// Takes all packets that arrive before `until` from their channels, in order: in a large network
    /// all that fit into a cache, and leaves those of later times for [`Self::gather_later`].
    fn gather(&mut self, p: usize, stage: Stage, until: u64) {
        if self.scout.packets {
            if self.list_due(p, stage, until) {
                self.gather_many(p, stage, until);
                return self.gather_later(stage);
            }
            self.batch.onward.join();
        }
        let Self { processes, channels, wires, batch, .. } = self;
        let pending = &mut processes[p].stages[stage as usize];
        let channels =
            &mut channels[pending.channels.start as usize..pending.channels.end as usize];
        let Batch { tickets, .. } = &mut **batch;
        let begin = pending.heads.first();
        let (mut runs, mut last) = (0, begin);
        tickets.clear();
        pending.heads.below(until, |entrant| {
            let Channel { queue, .. } = &mut channels[entrant as usize];
            let next = queue.take_before(wires, until, |run| tickets.extend_from_slice(run));
            runs += 1;
            last = last.max(tickets.last().map_or(begin, |ticket| ticket.at));
            next
        });
        self.arrange(stage, begin, last - begin, runs > 1);
    }

    /// Lists the channels with packets that are due; whether they are many.
    fn list_due(&mut self, p: usize, stage: Stage, until: u64) -> bool {
        let due = &mut self.batch.due;
        due.clear();
        self.processes[p].stages[stage as usize].heads.list_below(until, due);
        due.len() >= MANY_CHANNELS
    }

    /// Takes all packets that arrive before `until` from many channels.
    #[inline(never)]
    fn gather_many(&mut self, p: usize, stage: Stage, until: u64) {
        let Self { processes, channels, wires, links, batch, .. } = self;
        let pending = &mut processes[p].stages[stage as usize];
        let channels =
            &mut channels[pending.channels.start as usize..pending.channels.end as usize];
        let Batch { later, onward, due, .. } = &mut **batch;
        let begin = pending.heads.first();
        onward.split(links.len() as u64, BY_LINK);
        later.split(until - begin, BY_TIME.min(due.len().div_ceil(NEAR_CHANNELS)));
        let mut at = 0;
        pending.heads.below(until, |entrant| {
            let next = |ahead| due.get(at + ahead).map(|next| &channels[*next as usize]);
            next(NEXT_CHANNELS).inspect(|next| soon(*next));
            next(NEXT_PACKETS).inspect(|next| next.queue.call_up_first(wires));
            at += 1;
            let Channel { queue, .. } = &mut channels[entrant as usize];
            queue.take_before(wires, until, |run| {
                for ticket in run {
                    later.push(ticket.at - begin, *ticket);
                }
            })
        });
        later.order();
    }

    /// Goes on with the packets of the next times.
    #[inline(never)]
    fn gather_later(&mut self, stage: Stage) {
        let Batch { tickets, later, .. } = &mut *self.batch;
        tickets.clear();
        if let Some((part, mut next)) = later.take() {
            tickets.append(&mut next);
            later.give_back(part, next);
        }
        let times = || tickets.iter().map(|ticket| ticket.at);
        let (begin, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        self.arrange(stage, begin, last - begin, true);
    }

    /// Finds the order of packets that begin at `begin` and last for `span`; if they are `mixed`, those of
    /// several channels.
    #[inline(always)]
    fn arrange(&mut self, stage: Stage, begin: u64, span: u64, mixed: bool) {
        let Self { batch, scout, options, .. } = self;
        let Batch { tickets, order, places, spare, .. } = &mut **batch;
        let Some(form) = Form::of(span, tickets.len()) else { return self.order_at_length() };
        if scout.packets && stage == Stage::Node {
            for ticket in &*tickets {
                options.call_up(*ticket);
            }
        }
        *places = form.places();
        order.clear();
        order.extend(tickets.iter().enumerate().map(|(i, t)| form.key(t.at, begin, i)));
        if mixed {
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
