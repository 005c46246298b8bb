//! A table over a sliding range of sequence numbers, in place of a map.

use crate::memory::filled;

/// Holds one `T` for each of the numbers in use, which span less than its capacity.
#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    slots: Vec<T>,
    /// First number in use: everything below may be overwritten.
    first: i64,
    /// One past the last number in use.
    end: i64,
}

impl<T: Copy + Default> Ring<T> {
    pub(super) fn new() -> Self {
        Self { slots: vec![T::default(); 16], first: 0, end: 0 }
    }

    fn slot(&self, number: i64) -> usize {
        (number as usize) & (self.slots.len() - 1)
    }

    /// Forgets everything below `first`.
    pub(super) fn advance(&mut self, first: i64) {
        self.first = self.first.max(first);
        self.end = self.end.max(self.first);
    }

    /// Forgets everything; numbers from `first` may be set again.
    pub(super) fn clear(&mut self, first: i64) {
        self.first = first;
        self.end = first;
    }

    /// The value of `number`, if it is in use.
    pub(super) fn at(&self, number: i64) -> Option<T> {
        (number >= self.first && number < self.end).then(|| self.slots[self.slot(number)])
    }

    /// Sets `number`, which is not below the first in use; numbers skipped get the default.
    pub(super) fn set(&mut self, number: i64, value: T) {
        if number < self.first {
            return;
        }
        let needed = (number - self.first + 1) as usize;
        if needed > self.slots.len() {
            self.grow(needed);
        }
        while self.end <= number {
            let slot = self.slot(self.end);
            self.slots[slot] = T::default();
            self.end += 1;
        }
        let slot = self.slot(number);
        self.slots[slot] = value;
    }

    fn grow(&mut self, needed: usize) {
        let mut slots = filled(T::default(), needed.next_power_of_two());
        let mask = slots.len() - 1;
        for number in self.first..self.end {
            slots[(number as usize) & mask] = self.slots[self.slot(number)];
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_growth_and_skipped_numbers_are_default() {
        let mut ring = Ring::new();
        for n in 0..100 {
            ring.set(n, n + 1);
            ring.advance(n - 5);
        }
        ring.set(140, 7);
        assert_eq!(ring.at(93), None);
        assert_eq!(ring.at(94), Some(95));
        assert_eq!(ring.at(120), Some(0));
        assert_eq!((ring.at(140), ring.at(141)), (Some(7), None));
        ring.clear(120);
        assert_eq!((ring.at(120), ring.at(140)), (None, None));
        ring.set(121, 3);
        assert_eq!((ring.at(120), ring.at(121)), (Some(0), Some(3)));
    }
}
