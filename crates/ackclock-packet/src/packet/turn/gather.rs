//! Gathers the packets of a batch, in the order of their arrival.

use crate::packet::network::wires::{Channel, Wires};
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Stage};
use crate::packet::storage::bucket_sort::{KeyLayout, sort};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::batch::Batch;
use crate::packet::turn::simulator::Sim;

/// Packets of a batch from which on those that go on at once are put into buckets by link, in a very large
/// network, and the number of buckets.
const MANY: usize = if cfg!(test) { 2 } else { 4096 };
const LINK_BUCKETS: usize = 512;

/// Distance between the channel that is emptied and the one whose first packet is prefetched, in a large network.
const AHEAD: usize = 8;

impl<C: Clock> Sim<C> {
    /// Takes all packets that arrive before `until` from the channels of a stage, and orders them.
    pub(crate) fn gather(&mut self, p: usize, stage: Stage, until: u64) {
        let Self { schedule, wires, batch, .. } = self;
        let Wires { channels, store, .. } = wires;
        let pending = &mut schedule.processes[p].stages[stage as usize];
        let channels =
            &mut channels[pending.channels.start as usize..pending.channels.end as usize];
        let first = pending.heads.first();
        batch.start(p);
        let alike = channels.first().map(|channel| channel.alike);
        let alike = alike.filter(|&link| link != Channel::NOT_ALIKE && batch.tickets.is_empty());
        // Packets that were collected are of several hosts.
        let mut runs = if batch.tickets.is_empty() { 0 } else { 2 };
        let (begin, mut last) =
            batch.times().map_or((first, first), |(begin, last)| (begin.min(first), last));
        let Batch { tickets, .. } = &mut **batch;
        let prefetches = self.prefetcher.packets;
        pending.heads.visit_below(until, |entrant| {
            if prefetches && let Some(ahead) = channels.get(entrant as usize + AHEAD) {
                ahead.queue.prefetch_first(store);
            }
            let Channel { queue, .. } = &mut channels[entrant as usize];
            let next = queue.take_before(store, until, |run| tickets.extend_from_slice(run));
            runs += 1;
            last = last.max(tickets.last().map_or(begin, |ticket| ticket.at));
            next
        });
        if self.prefetcher.packets {
            self.prepare_large_network(stage);
        }
        self.order_batch(begin, last - begin, runs > 1, alike);
    }

    /// Prefetches options of the batch, and chooses buckets for packets that go on at once.
    #[inline(never)]
    fn prepare_large_network(&mut self, stage: Stage) {
        let Batch { tickets, onward, .. } = &mut *self.batch;
        if tickets.len() < MANY {
            onward.merge();
        } else {
            onward.split(self.links.list.len() as u64, LINK_BUCKETS);
        }
        if stage == Stage::Node {
            for ticket in tickets {
                self.wires.options.prefetch(*ticket);
            }
        }
    }

    /// Orders packets that arrive within `span` from `begin` on; `mixed`: they are of several channels; `alike`: they are
    /// listed by channel, and the channels' links are as this one.
    #[inline(always)]
    fn order_batch(&mut self, begin: u64, span: u64, mixed: bool, alike: Option<u32>) {
        let Batch { tickets, order, index_mask, spare, .. } = &mut *self.batch;
        let Some(layout) = KeyLayout::of(span, tickets.len()) else {
            return self.order_by_full_keys();
        };
        *index_mask = layout.index_mask();
        order.clear();
        order.extend(tickets.iter().enumerate().map(|(i, t)| layout.key(t.at, begin, i)));
        if mixed {
            sort(layout, order, span, spare);
            if order.windows(2).any(|pair| layout.ties(pair[0], pair[1])) {
                self.break_ties(layout, alike);
            }
        }
    }

    /// Orders packets that arrive at the same time by their full keys. Two that come over one channel have
    /// equal keys and keep their order.
    #[cold]
    #[inline(never)]
    fn break_ties(&mut self, layout: KeyLayout, alike: Option<u32>) {
        let mut order = std::mem::take(&mut self.batch.order);
        let mut keys = std::mem::take(&mut self.batch.keys);
        for ties in order.chunk_by_mut(|&a, &b| layout.ties(a, b)).filter(|ties| ties.len() > 1) {
            if alike.is_some_and(|link| self.order_by_size(link, ties)) {
                continue;
            }
            keys.clear();
            keys.extend(ties.iter().map(|&entry| (self.key(self.batch.ticket(entry)), entry)));
            keys.sort_unstable();
            ties.iter_mut().zip(&keys).for_each(|(place, &(_, entry))| *place = entry);
        }
        (self.batch.order, self.batch.keys) = (order, keys);
    }

    /// Orders packets that arrive at the same time over links that are as `link`, and are in order but for their sizes;
    /// returns whether it could: they have at most two sizes. The larger have been on their way for longer, and are first.
    #[inline]
    fn order_by_size(&mut self, link: u32, ties: &mut [u64]) -> bool {
        let size = |entry: u64| self.batch.ticket(entry).size();
        let (mut least, mut most) = (u16::MAX, 0);
        for &entry in &*ties {
            (least, most) = (least.min(size(entry)), most.max(size(entry)));
        }
        let flight = |size| Key::new(0, self.links.list[link as usize].flight(size), 0);
        if least == most || flight(least) == flight(most) {
            return true;
        }
        if ties.iter().any(|&entry| size(entry) != least && size(entry) != most) {
            return false;
        }
        let mut smaller = std::mem::take(&mut self.batch.smaller);
        smaller.clear();
        smaller.resize(ties.len(), 0);
        let (mut large, mut small) = (0, 0);
        for index in 0..ties.len() {
            let entry = ties[index];
            let is_large = self.batch.ticket(entry).size() == most;
            (ties[large], smaller[small]) = (entry, entry);
            large += usize::from(is_large);
            small += usize::from(!is_large);
        }
        ties[large..].copy_from_slice(&smaller[..small]);
        self.batch.smaller = smaller;
        true
    }

    /// Orders a batch with a span too long, or with too many packets, for sort keys.
    #[cold]
    #[inline(never)]
    fn order_by_full_keys(&mut self) {
        let mut order: Vec<u64> = (0..self.batch.tickets.len() as u64).collect();
        order.sort_by_cached_key(|&index| (self.key(self.batch.tickets[index as usize]), index));
        self.batch.order = order;
        self.batch.index_mask = u64::MAX;
    }

    /// The key of a packet that arrives over a channel.
    #[cold]
    #[inline(never)]
    pub(crate) fn key(&self, ticket: Ticket) -> Key {
        let link = self.routes.last_link(ticket);
        Key::new(ticket.at, self.links.list[link as usize].flight(ticket.size()), link)
    }
}
