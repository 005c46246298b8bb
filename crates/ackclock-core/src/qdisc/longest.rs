//! The longest of many queues, found when it is asked for.
//!
//! Every arrival and departure changes a length; the longest queue is asked for only when the
//! shared buffer overflows. So changes are only noted. To answer, either all lengths are looked
//! through, or the queues that changed are ranked anew in a heap, after which answers cost little
//! until many have changed again. All are looked through until that has cost what the ranking would
//! have: so the work is at most twice the least.

use std::cmp::Reverse;

use super::heap::Heap;

/// Ranking a queue anew takes about as long as looking at this many lengths.
const LOOKS_PER_RANKING: usize = 16;

/// Queues by length.
#[derive(Debug, Default)]
pub(super) struct Longest {
    /// One more than the length of each queue, 0 if it is empty.
    lengths: Vec<u64>,
    /// Queues with something in them by the length that they had when they were ranked.
    ranked: Heap<Reverse<u64>>,
    /// Queues whose length has changed since, each once.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    /// Lengths looked at since.
    looks: usize,
}

impl Longest {
    /// The length of a queue is now this; `None` if it is empty.
    #[inline]
    pub(super) fn set(&mut self, queue: u32, length: Option<u64>) {
        let at = queue as usize;
        if self.lengths.len() <= at {
            self.lengths.resize(at + 1, 0);
            self.is_changed.resize(at + 1, false);
        }
        self.lengths[at] = length.map_or(0, |length| length + 1);
        if !self.is_changed[at] {
            self.is_changed[at] = true;
            self.changed.push(queue);
        }
    }

    /// The longest queue and its length, of equals the one with the smallest number.
    pub(super) fn find(&mut self) -> Option<(u64, u32)> {
        let count = self.lengths.len();
        if self.changed.len() * LOOKS_PER_RANKING > self.looks + count {
            self.looks += count;
            let most = self.lengths.iter().copied().max().filter(|&most| most > 0)?;
            let queue = self.lengths.iter().position(|&length| length == most)?;
            return Some((most - 1, queue as u32));
        }
        self.looks = 0;
        for queue in self.changed.drain(..) {
            self.is_changed[queue as usize] = false;
            match self.lengths[queue as usize].checked_sub(1) {
                Some(length) => self.ranked.set(queue, Reverse(length)),
                None => self.ranked.remove(queue),
            }
        }
        self.ranked.first().map(|(Reverse(length), queue)| (length, queue))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With few queues all are looked through more often than with many.
        #[test]
        fn the_answer_is_that_of_a_sorted_table(
            others in prop::sample::select(vec![0u32, 100, 2000]),
            changes in prop::collection::vec((0u32..40, 0u64..8, 0u32..3), 1..300)
        ) {
            let mut table = std::collections::BTreeMap::new();
            let mut longest = Longest::default();
            longest.set(40 + others, None);
            for (queue, length, questions) in changes {
                let length = length.checked_sub(1);
                longest.set(queue, length);
                match length {
                    Some(length) => table.insert(queue, length),
                    None => table.remove(&queue),
                };
                let mut order: Vec<_> = table.iter().map(|(&q, &l)| (Reverse(l), q)).collect();
                order.sort_unstable();
                let expected = order.first().map(|&(Reverse(length), queue)| (length, queue));
                for _ in 0..questions {
                    prop_assert_eq!(longest.find(), expected);
                }
            }
        }
    }
}
