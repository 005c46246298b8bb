//! The packets that a process handles in one go, and what it finds out on the way.

use crate::packet::network::route::Hop;
use crate::packet::storage::bucket_sort::Spare;
use crate::packet::storage::buckets::Parts;
use crate::packet::storage::ticket::Ticket;

/// A packet that a link has let go, and the step that follows at once.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Onward {
    pub(in crate::packet) ticket: Ticket,
    pub(in crate::packet) hop: Hop,
}

/// Packets that are handled in one go.
#[derive(Debug, Default)]
pub(in crate::packet) struct Batch {
    pub(in crate::packet) tickets: Vec<Ticket>,
    /// The order in which they are handled: keys of [`super::sort`], or plain places.
    pub(in crate::packet) order: Vec<u64>,
    /// The bits of these that hold the place among the tickets.
    pub(in crate::packet) places: u64,
    pub(in crate::packet) spare: Spare,
    /// Channels that had been empty, and when the packet that they have now arrives.
    pub(in crate::packet) woken: Vec<(u32, u64)>,
    /// Whether these wait until all have been found.
    pub(in crate::packet) wakes_later: bool,
    /// Whether some have gone from a link to a channel, not on to the next link.
    pub(in crate::packet) stops: bool,
    /// Packets of later times.
    pub(in crate::packet) later: Parts<Ticket>,
    /// The process whose next batch is being filled, and the times between which it lies.
    filled: u32,
    pub(in crate::packet) begin: u64,
    filled_until: u64,
    /// What came to that process within these times, and so need not wait in a channel.
    pub(in crate::packet) coming: Vec<Ticket>,
    /// Packets that a link has let go, on their way to the plain FIFO that follows at once.
    pub(in crate::packet) onward: Parts<Onward>,
    /// Channels to be emptied.
    pub(in crate::packet) due: Vec<u32>,
}

impl Batch {
    /// A packet goes on to the plain FIFO that follows at once, when the stage is done.
    #[inline(always)]
    pub(in crate::packet) fn go_on(&mut self, ticket: Ticket, hop: Hop) {
        self.onward.push(u64::from(hop.link), Onward { ticket, hop });
    }

    /// Begins to fill the next batch of a process, in which nothing will be before `begin`, nor at `until` or
    /// later.
    pub(in crate::packet) fn fill(&mut self, process: u32, begin: u64, until: u64) {
        (self.filled, self.begin, self.filled_until) = (process, begin, until);
    }

    /// What comes from now on waits in channels.
    pub(in crate::packet) fn close(&mut self) {
        self.filled_until = 0;
    }

    /// Takes a packet into the batch that is being filled, if it belongs there.
    #[inline(always)]
    pub(in crate::packet) fn take_in(&mut self, process: u32, ticket: Ticket) -> bool {
        let belongs = ticket.at < self.filled_until && process == self.filled;
        if belongs {
            debug_assert!(ticket.at >= self.begin, "a batch begins before it should");
            self.coming.push(ticket);
        }
        belongs
    }

    /// What has come for the next batch of a process.
    #[inline(always)]
    pub(in crate::packet) fn coming_to(&self, process: usize) -> &[Ticket] {
        if self.filled as usize == process { &self.coming } else { &[] }
    }

    /// Begins with what has come for the batch of a process.
    pub(in crate::packet) fn take_coming(&mut self, process: usize) {
        self.tickets.clear();
        if self.filled as usize == process {
            std::mem::swap(&mut self.tickets, &mut self.coming);
        }
    }

    /// When the first and the last of the packets at hand arrive.
    pub(in crate::packet) fn times(&self) -> Option<(u64, u64)> {
        let times = || self.tickets.iter().map(|ticket| ticket.at);
        Some((times().min()?, times().max()?))
    }

    /// The packet that an entry of the order stands for.
    #[inline(always)]
    pub(in crate::packet) fn ticket(&self, key: u64) -> Ticket {
        self.tickets[(key & self.places) as usize]
    }

    /// The packet that is handled as the one of this number.
    #[inline(always)]
    pub(in crate::packet) fn at(&self, place: usize) -> Option<&Ticket> {
        self.tickets.get((self.order.get(place)? & self.places) as usize)
    }
}
