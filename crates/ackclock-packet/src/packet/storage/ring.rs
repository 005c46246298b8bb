//! Ring buffer of the packets queued at one link.

use crate::memory::{prefetch, reserve};

/// A first-in first-out ring buffer. It doubles when full and halves when a whole cycle has used less
/// than three eighths of it: a ring larger than needed cycles through memory that has left the cache.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    buffer: Box<[T]>,
    /// Positions increase and wrap around; a mask maps them to slots.
    head: u32,
    tail: u32,
    /// Greatest length noted in this cycle.
    peak: u32,
}

/// Smallest capacity of a ring that has held an item.
const SMALLEST: usize = 8;

impl<T: Copy + Default> Ring<T> {
    pub(crate) fn new() -> Self {
        Self { buffer: Box::new([]), head: 0, tail: 0, peak: 0 }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    #[inline(always)]
    fn slot(&self, position: u32) -> usize {
        position as usize & self.buffer.len().wrapping_sub(1)
    }

    #[inline(always)]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.head == self.tail {
            return None;
        }
        self.buffer.get(self.slot(self.head))
    }

    /// Prefetches the first item and the slot of the next push.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        self.buffer.get(self.slot(self.head)).inspect(|slot| prefetch(*slot));
        self.buffer.get(self.slot(self.tail)).inspect(|slot| prefetch(*slot));
    }

    pub(crate) fn back(&self) -> Option<&T> {
        if self.head == self.tail {
            return None;
        }
        self.buffer.get(self.slot(self.tail.wrapping_sub(1)))
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.remove_first();
        Some(item)
    }

    /// Removes the first item. A ring that becomes empty starts over, so that it does not cycle through
    /// all of its memory. A cycle begins at slot 0.
    #[inline(always)]
    fn remove_first(&mut self) {
        self.head = self.head.wrapping_add(1);
        if self.head == self.tail {
            (self.head, self.tail) = (1, 1);
        }
    }

    /// Notes the current length; to be called before items are removed.
    #[inline(always)]
    pub(crate) fn note_length(&mut self) {
        self.peak = self.peak.max(self.len() as u32);
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, item: T) {
        let mut slot = self.slot(self.tail);
        if slot == 0 || self.len() == self.buffer.len() {
            self.begin_cycle();
            slot = self.slot(self.tail);
        }
        self.buffer[slot] = item;
        self.tail = self.tail.wrapping_add(1);
    }

    /// The ring is full, or the next push begins a new cycle.
    #[cold]
    #[inline(never)]
    fn begin_cycle(&mut self) {
        let capacity = self.buffer.len();
        if self.len() == capacity {
            self.resize((2 * capacity).max(SMALLEST));
        } else if self.len().max(self.peak as usize) < capacity / 8 * 3 && capacity > SMALLEST {
            self.resize(capacity / 2);
        }
        self.peak = 0;
    }

    fn resize(&mut self, capacity: usize) {
        let mut buffer = Vec::new();
        reserve(&mut buffer, capacity);
        while let Some(item) = self.pop() {
            buffer.push(item);
        }
        (self.head, self.tail) = (0, buffer.len() as u32);
        buffer.resize(capacity, T::default());
        self.buffer = buffer.into_boxed_slice();
    }

    /// All items, first to last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len() as u32).filter_map(|i| self.buffer.get(self.slot(self.head.wrapping_add(i))))
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
                ring.note_length();
                prop_assert_eq!(ring.len(), queue.len());
                prop_assert_eq!(ring.back(), queue.back());
                prop_assert!(ring.iter().eq(queue.iter()));
            }
        }
    }
}
