//! The computed FIFO: the departure of a packet is known when it arrives.
//!
//! So the packet goes to the wire at once, and only its times and its size wait here, for the limit
//! and for the books: one step a hop instead of two. The books are kept as packets come; what belongs
//! to those that still wait is taken off when somebody looks.

use super::link::Counts;
use super::occupancy::Occupancy;
use super::ring::Ring;
use super::timescale::Timescale;

/// A packet that waits: when its transmission starts, since when it waits, its size.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    start: u64,
    arrived: u64,
    size: u16,
}

/// Packets whose transmission has not begun.
#[derive(Debug)]
pub(super) struct Waiting {
    /// When the first of them begins; [`Self::NONE`] if none waits.
    pub(super) next: u64,
    slots: Ring<Slot>,
    backlog: u64,
}

impl Waiting {
    /// No packet waits.
    pub(super) const NONE: u64 = u64::MAX;

    pub(super) fn new() -> Self {
        Self { next: Self::NONE, slots: Ring::new(), backlog: 0 }
    }

    /// Packets that wait.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Their bytes.
    #[inline(always)]
    pub(super) fn backlog(&self) -> u64 {
        self.backlog
    }

    /// When the transmission of the last of them starts.
    pub(super) fn last_start(&self) -> Option<u64> {
        self.slots.back().map(|slot| slot.start)
    }

    /// A packet begins to wait at `now`, which is `ps` in picoseconds.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        (now, ps): (u64, u64),
        start: u64,
        size: u16,
        occupancy: &mut Occupancy,
    ) {
        occupancy.rise(ps, self.slots.len());
        self.slots.push(Slot { start, arrived: now, size });
        self.next = self.next.min(start);
        self.backlog += u64::from(size);
    }

    /// The first packet begins its transmission; when, and its size.
    #[inline(always)]
    pub(super) fn begin(&mut self, scale: Timescale, occupancy: &mut Occupancy) -> (u64, u16) {
        self.slots.note();
        let Some(Slot { start, size, .. }) = self.slots.pop() else { return (0, 0) };
        occupancy.fall(scale.ps(start), self.slots.len());
        self.next = self.slots.front().map_or(Self::NONE, |next| next.start);
        self.backlog -= u64::from(size);
        (start, size)
    }

    /// What is left of `counts`, which count packets as they come, for those that have begun.
    pub(super) fn begun(&self, scale: Timescale, mut counts: Counts) -> Counts {
        counts.departed_packets -= self.slots.len() as u64;
        counts.departed_bytes -= self.backlog;
        for slot in self.slots.iter() {
            counts.wait_ps -= u128::from(scale.ps(slot.start) - scale.ps(slot.arrived));
        }
        counts
    }
}
