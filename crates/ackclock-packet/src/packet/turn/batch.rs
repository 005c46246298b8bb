//! The packets that a process handles in one turn, and what they cause.

use crate::memory::make_room;
use crate::packet::network::route::Hop;
use crate::packet::process::event::Key;
use crate::packet::storage::bucket_sort::Spare;
use crate::packet::storage::buckets::Buckets;
use crate::packet::storage::ticket::Ticket;

/// A packet that has left a link, and the step of its route that it takes at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onward {
    pub(crate) ticket: Ticket,
    pub(crate) hop: Hop,
}

/// The packets of one turn.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) tickets: Vec<Ticket>,
    /// The order in which they are handled: sort keys, or plain indices of tickets.
    pub(crate) order: Vec<u64>,
    /// Mask of the bits of an entry of `order` that hold the index.
    pub(crate) index_mask: u64,
    pub(crate) spare: Spare,
    /// Full keys of entries that tie, with these.
    pub(crate) keys: Vec<(Key, u64)>,
    /// Entries that tie with larger packets.
    pub(crate) smaller: Vec<u64>,
    /// Channels that were empty, and the arrival of the packet that they have now.
    pub(crate) woken: Vec<(u32, u64)>,
    /// Whether the readers of these are woken when all of them have been found.
    pub(crate) wakes_later: bool,
    /// Whether some packets have gone from a link to a channel, not on to the next link.
    pub(crate) stops: bool,
    /// The process whose next batch is being collected, and the interval of time of that batch.
    collector: u32,
    begin: u64,
    until: u64,
    /// Packets for that batch that did not have to wait in a channel.
    collected: Vec<Ticket>,
    /// Stubs that run before their outlet.
    pub(crate) due_stubs: Vec<u32>,
    /// Packets that have left a link and enter the next plain FIFO at once, by that link.
    pub(crate) onward: Buckets<Onward>,
}

impl Batch {
    /// Defers a packet that enters the plain FIFO at once until the stage is done.
    #[inline(always)]
    pub(crate) fn defer(&mut self, ticket: Ticket, hop: Hop) {
        self.onward.push(u64::from(hop.link), Onward { ticket, hop });
    }

    /// Begins to collect the next batch of a process, which has no packets before `begin`, nor at `until` or
    /// later.
    pub(crate) fn collect_for(&mut self, process: u32, begin: u64, until: u64) {
        (self.collector, self.begin, self.until) = (process, begin, until);
    }

    /// Ends collecting: packets from now on wait in channels.
    pub(crate) fn end_collecting(&mut self) {
        self.until = 0;
    }

    /// Takes a packet into the batch that is being collected, if it belongs there; returns whether it does.
    #[inline(always)]
    pub(crate) fn collect(&mut self, process: u32, ticket: Ticket) -> bool {
        let belongs = ticket.at < self.until && process == self.collector;
        if belongs {
            debug_assert!(ticket.at >= self.begin, "a packet is earlier than its batch");
            make_room(&mut self.collected);
            self.collected.push(ticket);
        }
        belongs
    }

    /// Whether packets have been collected for the batch of a process.
    #[inline(always)]
    pub(crate) fn has_collected_for(&self, process: usize) -> bool {
        self.collector as usize == process && !self.collected.is_empty()
    }

    /// Starts the batch of a process with the packets that have been collected for it.
    pub(crate) fn start(&mut self, process: usize) {
        self.tickets.clear();
        if self.collector as usize == process {
            std::mem::swap(&mut self.tickets, &mut self.collected);
        }
    }

    /// The arrivals of the first and the last packet.
    pub(crate) fn times(&self) -> Option<(u64, u64)> {
        let times = || self.tickets.iter().map(|ticket| ticket.at);
        Some((times().min()?, times().max()?))
    }

    /// The packet of an entry of the order.
    #[inline(always)]
    pub(crate) fn ticket(&self, entry: u64) -> Ticket {
        self.tickets[(entry & self.index_mask) as usize]
    }

    /// The packet at a place of the order.
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> Option<&Ticket> {
        self.tickets.get((self.order.get(index)? & self.index_mask) as usize)
    }
}
