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
    /// Packets of later times.
    pub(super) later: Parts<Ticket>,
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
