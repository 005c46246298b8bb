//! The computed FIFO: the departure of a packet is computed when it arrives.
//!
//! Disciplines that can judge packets on arrival use it too, as long as they can.
//!
//! The packet goes to the wire at once, and only its times and its size wait here, for the queue limit and
//! the statistics: one step a hop instead of two. Counts include packets on arrival; what belongs to those
//! that still wait is subtracted when counts are read.

use crate::packet::network::counts::Counts;
use crate::packet::network::queue_length::Occupancy;
use crate::packet::process::clock::Clock;
use crate::packet::storage::ring::Ring;

/// A packet that waits: when its transmission starts; its waiting time in picoseconds, two notes about it, and from
/// bit 48 on its size.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    start: u64,
    wait: u64,
}

/// Waiting times of slots are less: of longer ones (70 s) the link has a list.
pub(crate) const LONG: u64 = 1 << 46;

/// The waiting time is in the list of long ones.
pub(crate) const IS_LONG: u64 = LONG;

/// The packet is marked when its transmission begins.
pub(crate) const IS_MARKED: u64 = 1 << 47;

impl Slot {
    #[inline(always)]
    fn size(self) -> u16 {
        (self.wait >> 48) as u16
    }
}

/// Packets whose transmission has not begun.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// When the transmission of the first begins; [`Self::NONE`] if none waits.
    pub(crate) next: u64,
    slots: Ring<Slot>,
    backlog: u64,
}

impl Waiting {
    /// No packet waits.
    pub(crate) const NONE: u64 = u64::MAX;

    pub(crate) fn new() -> Self {
        Self { next: Self::NONE, slots: Ring::new(), backlog: 0 }
    }

    /// Prefetches what the next packet that waits will touch.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        self.slots.prefetch();
    }

    /// Packets that wait.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Their bytes.
    #[inline(always)]
    pub(crate) fn backlog(&self) -> u64 {
        self.backlog
    }

    /// When the transmission of the last of them starts.
    pub(crate) fn last_start(&self) -> Option<u64> {
        self.slots.back().map(|slot| slot.start)
    }

    /// Notes how many packets wait, before transmissions begin.
    #[inline(always)]
    pub(crate) fn note_length(&mut self) {
        self.slots.note_length();
    }

    /// A packet begins to wait at `now` for `wait`, both in picoseconds; `start` is a word of the clock, `note` is 0 or
    /// [`IS_MARKED`].
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        now: u64,
        wait: u64,
        start: u64,
        size: u16,
        note: u64,
        occupancy: &mut Occupancy,
    ) {
        occupancy.rise(now, self.slots.len());
        // A long wait is no more than its note.
        self.slots.push(Slot { start, wait: wait.min(LONG) | note | u64::from(size) << 48 });
        self.next = self.next.min(start);
        self.backlog += u64::from(size);
    }

    /// The transmission of the first packet begins; returns when, its size, and the notes about it.
    #[inline(always)]
    pub(crate) fn begin<C: Clock>(&mut self, occupancy: &mut Occupancy) -> (u64, u16, u64) {
        let Some(slot) = self.slots.pop() else { return (0, 0, 0) };
        occupancy.fall(C::ps(slot.start), self.slots.len());
        self.next = self.slots.front().map_or(Self::NONE, |next| next.start);
        self.backlog -= u64::from(slot.size());
        (slot.start, slot.size(), slot.wait & (IS_LONG | IS_MARKED))
    }

    /// `counts`, which include all packets that have arrived, without those that wait; `long` are the long
    /// waiting times, first to last.
    pub(crate) fn subtract_from(
        &self,
        mut counts: Counts,
        mut long: impl Iterator<Item = u64>,
    ) -> Counts {
        counts.departed_packets -= self.slots.len() as u64;
        counts.departed_bytes -= self.backlog;
        for slot in self.slots.iter() {
            let is_long = slot.wait & IS_LONG != 0;
            let wait = if is_long { long.next().unwrap_or(LONG) } else { slot.wait & (LONG - 1) };
            counts.wait_ps -= u128::from(wait);
        }
        counts
    }
}
