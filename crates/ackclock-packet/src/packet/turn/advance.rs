//! The work of one stage of a process: packets that arrive over its channels, and its local events, in order.

use crate::packet::network::route::Hop;
use crate::packet::network::wires::Wires;
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Stage, What};
use crate::packet::process::logical_process::Pending;
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::batch::{Batch, Onward};
use crate::packet::turn::simulator::{Cause, Sim};

/// Packets that pass a link between two rounds of prefetching.
const AT_ONCE: usize = 8;

impl<C: Clock> Sim<C> {
    /// Handles all events of one stage before `until`. No further packet can reach it before then.
    pub(crate) fn advance(&mut self, p: usize, stage: Stage, until: u64) {
        let process = &self.schedule.processes[p];
        let pending = &process.stages[stage as usize];
        let (relay, first) = (pending.relay, process.local(stage).1);
        if pending.heads.first() < until || self.batch.has_collected_for(p) {
            self.schedule.next_local = first;
            self.gather(p, stage, until);
            if relay == Pending::NO_RELAY {
                self.handle_batch(p, stage);
            } else {
                self.relay_batch(p, relay);
            }
        }
        loop {
            let (local, first) = self.schedule.processes[p].local(stage);
            if first >= until {
                return self.send_deferred(p);
            }
            self.run_local(p, stage, local, first, until - 1);
        }
    }

    /// Sends on the packets that links have deferred. Nothing else reaches the links that follow, so they can
    /// wait until the stage is done: then the next packets are known and can be prefetched, and packets that
    /// touch the same memory can be handled together.
    #[inline(always)]
    pub(crate) fn send_deferred(&mut self, p: usize) {
        if !self.batch.onward.is_empty() {
            self.send_all_deferred(p);
        }
    }

    #[inline(never)]
    fn send_all_deferred(&mut self, p: usize) {
        self.batch.wakes_later = true;
        // Links are independent: only the order of packets of one link matters.
        while let Some((index, mut onward)) = self.batch.onward.take() {
            for (position, &Onward { ticket, hop }) in onward.iter().enumerate() {
                self.prefetch_onward(&onward, position);
                self.enter::<false>(p, hop, ticket, false);
            }
            onward.clear();
            self.batch.onward.give_back(index, onward);
        }
        self.wake_all();
    }

    /// Handles the batch of a stage, and the local events before its last packet.
    fn handle_batch(&mut self, p: usize, stage: Stage) {
        let prefetches = self.prefetches_batch(p);
        for index in 0..self.batch.order.len() {
            if prefetches {
                self.prefetch_packets(index);
            }
            let ticket = self.batch.ticket(self.batch.order[index]);
            self.run_locals_before(p, stage, ticket);
            self.forward(p, ticket);
        }
    }

    /// Handles the batch of a stage that is one computed FIFO link: it has no local events, and most
    /// packets only pass.
    fn relay_batch(&mut self, p: usize, link: u32) {
        (self.batch.wakes_later, self.batch.stops) = (true, false);
        let (mut index, mut prefetched) = (0, 0);
        while index < self.batch.order.len() {
            let mut until = self.batch.order.len();
            if self.prefetcher.packets {
                until = until.min(index + AT_ONCE);
                (prefetched..until).for_each(|index| self.prefetch_relayed(index));
                prefetched = until;
            }
            index = self.pass(link, index, until);
            if index < until {
                let ticket = self.batch.ticket(self.batch.order[index]);
                let Hop { channel, .. } = self.routes.hop(ticket);
                self.enter::<true>(p, Hop { link, channel }, ticket, false);
                index += 1;
            }
        }
        self.wake_all();
    }

    /// Wakes the processes to which packets were sent.
    fn wake_all(&mut self) {
        let mut woken = std::mem::take(&mut self.batch.woken);
        for (index, &(channel, arrival)) in woken.iter().enumerate() {
            self.prefetch_next_woken(&woken, index);
            self.wake(channel, arrival);
        }
        woken.clear();
        self.batch.woken = woken;
        self.batch.wakes_later = false;
    }

    /// Sends packets of a batch over a link, from `index` on, as long as they only pass. Returns the index of
    /// the first that needs more work, or `until`.
    #[inline(always)]
    fn pass(&mut self, link: u32, index: usize, until: usize) -> usize {
        let Self { links, wires, routes, batch, schedule, .. } = self;
        let end = schedule.end;
        let Wires { channels, store, beyond, .. } = wires;
        let link = &mut links.list[link as usize];
        let Batch { tickets, order, index_mask, woken, onward, stops, .. } = &mut **batch;
        for (index, &entry) in order[..until].iter().enumerate().skip(index) {
            let ticket = tickets[(entry & *index_mask) as usize];
            let Hop { channel, .. } = routes.hop(ticket);
            if ticket.at >= link.plain_until || link.settle(ticket.at) {
                return index;
            }
            let Some(arrival) = link.admit(ticket.at, ticket.size()) else { return index };
            link.count_arrival();
            if channel == Hop::ON {
                let ticket = ticket.advance(arrival);
                if arrival > end {
                    beyond.push(ticket);
                } else {
                    let hop = routes.hop(ticket);
                    onward.push(u64::from(hop.link), Onward { ticket, hop });
                }
                continue;
            }
            *stops = true;
            let queue = &mut channels[channel as usize].queue;
            if queue.is_empty() {
                woken.push((channel, arrival));
            }
            queue.push(store, ticket.advance(arrival));
        }
        until
    }

    /// Handles the local events of a stage that come before a packet.
    #[inline(always)]
    fn run_locals_before(&mut self, p: usize, stage: Stage, ticket: Ticket) {
        if self.schedule.next_local <= ticket.at {
            self.run_due_locals(p, stage, ticket);
        }
    }

    #[inline(never)]
    fn run_due_locals(&mut self, p: usize, stage: Stage, ticket: Ticket) {
        loop {
            let (local, first) = self.schedule.processes[p].local(stage);
            // A sample comes before all that happens at its time. The packet's full key depends on the link that
            // it has left, so it is computed only for ties.
            let is_mark = || stage == Stage::Node && self.schedule.processes[p].next_mark == first;
            let is_later =
                first > ticket.at || first == ticket.at && !is_mark() && local > self.key(ticket);
            if is_later {
                self.schedule.next_local = first;
                return;
            }
            self.run_local(p, stage, local, first, ticket.at);
        }
    }

    /// Handles the first local event; or takes the samples that are due at `first`, and those until that event
    /// or `last`, up to which nothing else happens.
    #[inline(always)]
    pub(crate) fn run_local(&mut self, p: usize, stage: Stage, local: Key, first: u64, last: u64) {
        let process = &mut self.schedule.processes[p];
        if stage == Stage::Node && process.next_mark <= first {
            return self.sample_ends(p, last.min(local.at()));
        }
        process.stages[stage as usize].locals.pop();
        self.tally.events += 1;
        if self.tally.events > self.tally.most_events {
            self.cut_turn(local.at());
        }
        self.cause = Cause::Local(local);
        self.handle_local(p, local.at(), What(local.what()));
    }
}
