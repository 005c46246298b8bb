//! The ring in which wait those who stand before one link.

use crate::memory::soon;

/// A first-in first-out ring that grows by doubling, and halves when a whole turn has used less than
/// three eighths of it: a ring that is larger than it need be walks through memory that has left the
/// cache.
#[derive(Debug)]
pub(in crate::packet) struct Ring<T> {
    buffer: Box<[T]>,
    /// Positions count up for ever and wrap; a mask makes places of them.
    head: u32,
    tail: u32,
    /// Longest that was noted in this turn.
    peak: u32,
}

/// A ring never gets smaller than this.
const SMALLEST: usize = 8;

impl<T: Copy + Default> Ring<T> {
    pub(in crate::packet) fn new() -> Self {
        Self { buffer: Box::new([]), head: 0, tail: 0, peak: 0 }
    }

    #[inline(always)]
    pub(in crate::packet) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    #[inline(always)]
    fn place(&self, position: u32) -> usize {
        position as usize & self.buffer.len().wrapping_sub(1)
    }

    #[inline(always)]
    pub(in crate::packet) fn front(&self) -> Option<&T> {
        if self.head == self.tail {
            return None;
        }
        self.buffer.get(self.place(self.head))
    }

    /// Calls up the first item and the place of the next.
    #[inline(always)]
    pub(in crate::packet) fn call_up(&self) {
        self.buffer.get(self.place(self.head)).inspect(|place| soon(*place));
        self.buffer.get(self.place(self.tail)).inspect(|place| soon(*place));
    }

    pub(in crate::packet) fn back(&self) -> Option<&T> {
        if self.head == self.tail {
            return None;
        }
        self.buffer.get(self.place(self.tail.wrapping_sub(1)))
    }

    #[inline(always)]
    pub(in crate::packet) fn pop(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.leave();
        Some(item)
    }

    /// Lets the first item go. A ring that is empty begins again: it need not walk through
    /// all of its memory. Place 0 is where a turn begins.
    #[inline(always)]
    fn leave(&mut self) {
        self.head = self.head.wrapping_add(1);
        if self.head == self.tail {
            (self.head, self.tail) = (1, 1);
        }
    }

    /// Notes how long it is, which must happen before items leave.
    #[inline(always)]
    pub(in crate::packet) fn note(&mut self) {
        self.peak = self.peak.max(self.len() as u32);
    }

    #[inline(always)]
    pub(in crate::packet) fn push(&mut self, item: T) {
        let mut place = self.place(self.tail);
        if place == 0 || self.len() == self.buffer.len() {
            self.turn();
            place = self.place(self.tail);
        }
        self.buffer[place] = item;
        self.tail = self.tail.wrapping_add(1);
    }

    /// The ring is full, or the next push begins a new turn.
    #[cold]
    #[inline(never)]
    fn turn(&mut self) {
        let capacity = self.buffer.len();
        if self.len() == capacity {
            self.resize((2 * capacity).max(SMALLEST));
        } else if self.len().max(self.peak as usize) < capacity / 8 * 3 && capacity > SMALLEST {
            self.resize(capacity / 2);
        }
        self.peak = 0;
    }

    fn resize(&mut self, capacity: usize) {
        let mut buffer = Vec::with_capacity(capacity);
        while let Some(item) = self.pop() {
            buffer.push(item);
        }
        (self.head, self.tail) = (0, buffer.len() as u32);
        buffer.resize(capacity, T::default());
        self.buffer = buffer.into_boxed_slice();
    }

    /// All items, first to last.
    pub(in crate::packet) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len() as u32)
            .filter_map(|i| self.buffer.get(self.place(self.head.wrapping_add(i))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(ops in prop::collection::vec(prop::option::of(0u64..1000), 0..300)) {
            let mut ring = Ring::new();
            let mut queue = VecDeque::new();
            for op in ops {
                match op {
                    Some(item) => { ring.push(item); queue.push_back(item); }
                    None => { prop_assert_eq!(ring.pop(), queue.pop_front()); }
                }
                prop_assert_eq!(ring.front(), queue.front());
                ring.note();
                prop_assert_eq!(ring.len(), queue.len());
                prop_assert_eq!(ring.back(), queue.back());
                prop_assert!(ring.iter().eq(queue.iter()));
            }
        }
    }
}
