//! When each packet of a window left, as ns-2's Vegas keeps it.

use crate::tcp::MOST_IN_FLIGHT;
use crate::units::Time;

/// When the packets of a window left, and how often. By default nothing is kept.
#[derive(Default)]
pub(super) struct Departures {
    /// The receiver's window, by which numbers are taken; 0: nothing is kept.
    window: i64,
    /// The first packet's, from which times count.
    origin: Time,
    /// Seconds and transmissions by number modulo the window, as far as numbers have come.
    slots: Vec<(f64, u32)>,
}

/// A slot whose packet is acknowledged or was never sent.
const FREE: (f64, u32) = (-1.0, 0);

impl Departures {
    /// A table of as many packets as the receiver takes at once.
    pub(super) fn new(receiver_window: u32) -> Self {
        let window = i64::from(receiver_window.clamp(1, MOST_IN_FLIGHT));
        Self { window, origin: Time::ZERO, slots: Vec::new() }
    }

    /// Seconds since the first packet left.
    pub(super) fn seconds(&self, now: Time) -> f64 {
        now.seconds() - self.origin.seconds()
    }

    fn slot(&self, number: i64) -> usize {
        (number % self.window) as usize
    }

    /// Packet `number` leaves; `in_turn`: it is the next one of the window.
    #[inline]
    pub(super) fn note(&mut self, number: i64, in_turn: bool, now: Time) {
        if self.window > 0 {
            self.keep(number, in_turn, now);
        }
    }

    fn keep(&mut self, number: i64, in_turn: bool, now: Time) {
        if number == 0 {
            if in_turn {
                self.origin = now;
            }
            self.slots.clear();
        }
        let (slot, seconds) = (self.slot(number), self.seconds(now));
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, FREE);
        }
        self.slots[slot] = (seconds, self.slots[slot].1 + 1);
    }

    /// When packet `number` left last \[s\], and how often.
    pub(super) fn at(&self, number: i64) -> (f64, u32) {
        self.slots.get(self.slot(number)).copied().unwrap_or(FREE)
    }

    /// Frees the slots of packets from `first` to `last`, up to the end of the table.
    pub(super) fn free(&mut self, first: i64, last: i64) {
        let count = (last - first + 1) as usize;
        let (from, to) = (self.slot(first), self.slot(last));
        let end = (to + 1).min(from + count).min(self.slots.len());
        if from < end {
            self.slots[from..end].fill(FREE);
        }
    }
}
