//! The work of one stage of a process: what came over its channels, and its local events, in order.

use crate::packet::network::route::Hop;
use crate::packet::process::event::{Key, Stage, What};
use crate::packet::process::logical_process::Pending;
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::batch::{Batch, Onward};
use crate::packet::turn::simulator::Sim;

/// Packets between one that is sent on and the one whose way is called up.
const AHEAD: usize = 6;

/// Packets that pass a link between two looks at what comes.
const AT_ONCE: usize = 8;

/// Packets of a batch that is short.
const SHORT: usize = 32;

/// Channels between one whose reader is woken and the one whose reader is called up.
const NEXT_WOKEN: usize = 8;

impl Sim {
    /// Handles all events of one stage before `until`. Nothing more can reach it before then.
    pub(in crate::packet) fn advance(&mut self, p: usize, stage: Stage, until: u64) {
        let process = &self.processes[p];
        let pending = &process.stages[stage as usize];
        let (relay, first) = (pending.relay, process.local(stage).1);
        if pending.heads.first() < until || !self.batch.coming_to(p).is_empty() {
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
    pub(in crate::packet) fn send_onward(&mut self, p: usize) {
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
            // What a few packets touch has been called up with the process.
            let is_short =
                self.batch.order.len() <= SHORT && self.processes[p].endpoints.len() == 1;
            let calls_up = self.scout.packets && !is_short;
            for place in 0..self.batch.order.len() {
                if calls_up {
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
        (self.batch.wakes_later, self.batch.stops) = (true, false);
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
        let Batch { tickets, order, places, woken, onward, stops, .. } = &mut **batch;
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
            *stops = true;
            let queue = &mut channels[channel as usize].queue;
            if queue.is_empty() {
                woken.push((channel, at));
            }
            queue.push(wires, ticket.step(at));
        }
        until
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
    pub(in crate::packet) fn run_local(
        &mut self,
        p: usize,
        stage: Stage,
        local: Key,
        first: u64,
        last: u64,
    ) {
        if stage == Stage::Node && self.processes[p].next_mark <= first {
            return self.mark_ends(p, last.min(local.at()));
        }
        self.processes[p].stages[stage as usize].locals.pop();
        self.events += 1;
        self.on_local(p, local.at(), What(local.what()));
    }

    /// Adds a local event to the stage that is under way.
    #[inline(always)]
    pub(in crate::packet) fn add_local(&mut self, p: usize, stage: Stage, key: Key) {
        self.next_local = self.next_local.min(key.at());
        self.processes[p].stages[stage as usize].locals.push(key);
    }
}
