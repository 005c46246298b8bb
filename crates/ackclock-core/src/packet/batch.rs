//! The packets that a process handles in one go, and what it finds out on the way.

use super::parts::Parts;
use super::sim::Hop;
use super::sort::Spare;
use super::ticket::Ticket;

/// A packet that a link has let go, and the step that follows at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Onward {
    pub(super) ticket: Ticket,
    pub(super) hop: Hop,
}

/// Packets that are handled in one go.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) tickets: Vec<Ticket>,
    /// The order in which they are handled: keys of [`super::sort`], or plain places.
    pub(super) order: Vec<u64>,
    /// The bits of these that hold the place among the tickets.
    pub(super) places: u64,
    pub(super) spare: Spare,
    /// Channels that had been empty, and when the packet that they have now arrives.
    pub(super) woken: Vec<(u32, u64)>,
    /// Whether these wait until all have been found.
    pub(super) wakes_later: bool,
    /// Whether some have gone from a link to a channel, not on to the next link.
    pub(super) stops: bool,
    /// Packets of later times.
    pub(super) later: Parts<Ticket>,
    /// The process whose next batch is being filled, and the times between which it lies.
    filled: u32,
    pub(super) begin: u64,
    filled_until: u64,
    /// What came to that process within these times, and so need not wait in a channel.
    pub(super) coming: Vec<Ticket>,
    /// Packets that a link has let go, on their way to the plain FIFO that follows at once.
    pub(super) onward: Parts<Onward>,
    /// Channels to be emptied.
    pub(super) due: Vec<u32>,
}

impl Batch {
    /// A packet goes on to the plain FIFO that follows at once, when the stage is done.
    #[inline(always)]
    pub(super) fn go_on(&mut self, ticket: Ticket, hop: Hop) {
        self.onward.push(u64::from(hop.link), Onward { ticket, hop });
    }

    /// Begins to fill the next batch of a process, in which nothing will be before `begin`, nor at `until` or
    /// later.
    pub(super) fn fill(&mut self, process: u32, begin: u64, until: u64) {
        (self.filled, self.begin, self.filled_until) = (process, begin, until);
    }

    /// What comes from now on waits in channels.
    pub(super) fn close(&mut self) {
        self.filled_until = 0;
    }

    /// Takes a packet into the batch that is being filled, if it belongs there.
    #[inline(always)]
    pub(super) fn take_in(&mut self, process: u32, ticket: Ticket) -> bool {
        let belongs = ticket.at < self.filled_until && process == self.filled;
        if belongs {
            debug_assert!(ticket.at >= self.begin, "a batch begins before it should");
            self.coming.push(ticket);
        }
        belongs
    }

    /// What has come for the next batch of a process.
    #[inline(always)]
    pub(super) fn coming_to(&self, process: usize) -> &[Ticket] {
        if self.filled as usize == process { &self.coming } else { &[] }
    }

    /// Begins with what has come for the batch of a process.
    pub(super) fn take_coming(&mut self, process: usize) {
        self.tickets.clear();
        if self.filled as usize == process {
            std::mem::swap(&mut self.tickets, &mut self.coming);
        }
    }

    /// When the first and the last of the packets at hand arrive.
    pub(super) fn times(&self) -> Option<(u64, u64)> {
        let times = || self.tickets.iter().map(|ticket| ticket.at);
        Some((times().min()?, times().max()?))
    }

    /// The packet that an entry of the order stands for.
    #[inline(always)]
    pub(super) fn ticket(&self, key: u64) -> Ticket {
        self.tickets[(key & self.places) as usize]
    }

    /// The packet that is handled as the one of this number.
    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> Option<&Ticket> {
        self.tickets.get((self.order.get(place)? & self.places) as usize)
    }
}
