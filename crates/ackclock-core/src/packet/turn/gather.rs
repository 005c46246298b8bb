//! Finds the packets of a batch, in the order of their arrival.

use crate::memory::soon;
use crate::packet::network::wires::Channel;
use crate::packet::process::event::{Key, Stage};
use crate::packet::process::logical_process::Pending;
use crate::packet::storage::bucket_sort::{self as sort, Form};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::batch::Batch;
use crate::packet::turn::simulator::Sim;

/// Channels between one that is emptied and the one that is called up, and the one whose first packets are.
const NEXT_CHANNELS: usize = 16;
const NEXT_PACKETS: usize = 8;

/// Channels whose packets, all due at once, are more than a cache holds, where a network is large; and of
/// how many of them it does hold the packets.
const MANY_CHANNELS: usize = if cfg!(test) { 2 } else { 1024 };
const NEAR_CHANNELS: usize = if cfg!(test) { 1 } else { 512 };

/// Packets that came by no channel and count as much as a channel.
const FEW: usize = 4;

/// Lists at most into which packets of such a batch are put by their arrival, and by the link that they
/// go on to.
const BY_TIME: usize = 64;
const BY_LINK: usize = 512;

impl Sim {
    /// Takes all packets that arrive before `until` from their channels, in order: in a large network
    /// all that fit into a cache, and leaves those of later times for [`Self::gather_later`].
    pub(in crate::packet) fn gather(&mut self, p: usize, stage: Stage, until: u64) {
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
        let first = pending.heads.first();
        batch.take_coming(p);
        // What comes by no channel is of several hosts.
        let mut runs = if batch.tickets.is_empty() { 0 } else { 2 };
        let (begin, mut last) =
            batch.times().map_or((first, first), |(begin, last)| (begin.min(first), last));
        let Batch { tickets, .. } = &mut **batch;
        pending.heads.below(until, |entrant| {
            let Channel { queue, .. } = &mut channels[entrant as usize];
            let next = queue.take_before(wires, until, |run| tickets.extend_from_slice(run));
            runs += 1;
            last = last.max(tickets.last().map_or(begin, |ticket| ticket.at));
            next
        });
        self.arrange(stage, begin, last - begin, runs > 1);
    }

    /// Lists the channels with packets that are due, where there can be many; whether there are.
    fn list_due(&mut self, p: usize, stage: Stage, until: u64) -> bool {
        self.batch.due.clear();
        let Pending { heads, channels, .. } = &self.processes[p].stages[stage as usize];
        if channels.len() < MANY_CHANNELS {
            return false;
        }
        heads.list_below(until, &mut self.batch.due);
        self.batch.due.len() + self.batch.coming_to(p).len() / FEW >= MANY_CHANNELS
    }

    /// Takes all packets that arrive before `until` from many channels.
    #[inline(never)]
    fn gather_many(&mut self, p: usize, stage: Stage, until: u64) {
        let Self { processes, channels, wires, links, batch, .. } = self;
        let pending = &mut processes[p].stages[stage as usize];
        let channels =
            &mut channels[pending.channels.start as usize..pending.channels.end as usize];
        let has_some = !batch.coming_to(p).is_empty();
        let Batch { later, onward, due, coming, begin, .. } = &mut **batch;
        let begin = if has_some { *begin } else { pending.heads.first() };
        onward.split(links.len() as u64, BY_LINK);
        let near = (due.len() + coming.len() / FEW).div_ceil(NEAR_CHANNELS);
        later.split(until - begin, BY_TIME.min(near));
        if has_some {
            coming.drain(..).for_each(|ticket| later.push(ticket.at - begin, ticket));
        }
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
    pub(in crate::packet) fn gather_later(&mut self, stage: Stage) {
        let Batch { tickets, later, .. } = &mut *self.batch;
        tickets.clear();
        if let Some((part, mut next)) = later.take() {
            tickets.append(&mut next);
            later.give_back(part, next);
        }
        let (begin, last) = self.batch.times().unwrap_or_default();
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
    pub(in crate::packet) fn key(&self, ticket: Ticket) -> Key {
        let hop = self.hops[ticket.route() - 1];
        Key::new(ticket.at, self.links[hop.link as usize].flight(ticket.size()), hop.link)
    }
}
