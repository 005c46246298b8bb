//! The work of one stage of a process: what came over its channels, and its local events, in order.

use super::lp::{Channel, Key, Stage, What};
use super::ring::Ticket;
use super::sim::Sim;
use super::sort::{Spare, sort};

/// Packets that are handled in one go.
#[derive(Debug, Default)]
pub(super) struct Batch {
    tickets: Vec<Ticket>,
    /// Arrival and place of each: the order in which they are handled.
    order: Vec<u128>,
    spare: Spare,
}

impl Sim {
    /// Handles all events of one stage before `until`. Nothing more can reach it before then.
    pub(super) fn advance(&mut self, p: usize, stage: Stage, until: u64) {
        let pending = &self.processes[p].stages[stage as usize];
        if pending.heads.first() < until {
            if let &[only] = &pending.channels[..] {
                self.drain(p, stage, only, until);
            } else {
                self.merge(p, stage, until);
            }
        }
        loop {
            let local = self.processes[p].stages[stage as usize].local();
            if local.at() >= until {
                return;
            }
            self.next_local(p, stage, local);
        }
    }

    /// Handles the packets of the only channel.
    fn drain(&mut self, p: usize, stage: Stage, id: u32, until: u64) {
        self.channels[id as usize].queue.note();
        let head = loop {
            let queue = &mut self.channels[id as usize].queue;
            let Some(&ticket) = queue.front() else { break u64::MAX };
            if ticket.at >= until {
                break ticket.at;
            }
            let _ = queue.pop();
            self.locals_before(p, stage, ticket);
            self.forward(p, ticket);
        };
        self.processes[p].stages[stage as usize].heads.set(0, head);
    }

    /// Handles the packets of several channels.
    fn merge(&mut self, p: usize, stage: Stage, until: u64) {
        self.gather(p, stage, until);
        for place in 0..self.batch.order.len() {
            let ticket = self.batch.tickets[self.batch.order[place] as u32 as usize];
            self.locals_before(p, stage, ticket);
            self.forward(p, ticket);
        }
    }

    /// Takes all packets that arrive before `until` from their channels, in order.
    fn gather(&mut self, p: usize, stage: Stage, until: u64) {
        let Self { processes, channels, batch, .. } = self;
        let pending = &mut processes[p].stages[stage as usize];
        let ids = &pending.channels[..];
        let Batch { tickets, order, spare } = &mut **batch;
        tickets.clear();
        order.clear();
        pending.heads.below(until, |entrant| {
            let Channel { queue, .. } = &mut channels[ids[entrant as usize] as usize];
            queue.note();
            loop {
                match queue.front() {
                    Some(&ticket) if ticket.at < until => {
                        order.push(u128::from(ticket.at) << 64 | tickets.len() as u128);
                        tickets.push(ticket);
                        let _ = queue.pop();
                    }
                    later => break later.map_or(u64::MAX, |ticket| ticket.at),
                }
            }
        });
        sort(order, spare);
        if order.windows(2).any(|pair| (pair[0] ^ pair[1]) >> 64 == 0) {
            self.break_ties();
        }
    }

    /// Puts packets that arrive at the same time into order by their full keys. Two that come over
    /// one channel have equal keys and keep theirs.
    #[cold]
    #[inline(never)]
    fn break_ties(&mut self) {
        let mut order = std::mem::take(&mut self.batch.order);
        for ties in order.chunk_by_mut(|a, b| (a ^ b) >> 64 == 0).filter(|ties| ties.len() > 1) {
            let ticket = |key| self.batch.tickets[key as u32 as usize];
            ties.sort_by_cached_key(|&key: &u128| (self.key(ticket(key)), key));
        }
        self.batch.order = order;
    }

    /// The key of a packet that has come over a channel.
    fn key(&self, ticket: Ticket) -> Key {
        let hop = self.hops[ticket.route() - 1];
        Key::new(ticket.at, self.links[hop.link as usize].flight(ticket.size()), hop.channel)
    }

    /// Handles the local events of a stage that come before a packet.
    #[inline(always)]
    fn locals_before(&mut self, p: usize, stage: Stage, ticket: Ticket) {
        if self.processes[p].stages[stage as usize].local().at() <= ticket.at {
            self.run_locals_before(p, stage, ticket);
        }
    }

    #[inline(never)]
    fn run_locals_before(&mut self, p: usize, stage: Stage, ticket: Ticket) {
        let key = self.key(ticket);
        loop {
            let local = self.processes[p].stages[stage as usize].local();
            if local > key {
                return;
            }
            self.next_local(p, stage, local);
        }
    }

    /// Handles the first local event.
    fn next_local(&mut self, p: usize, stage: Stage, local: Key) {
        self.processes[p].stages[stage as usize].locals.pop();
        self.events += 1;
        self.on_local(p, local.at(), What(local.what()));
    }
}
