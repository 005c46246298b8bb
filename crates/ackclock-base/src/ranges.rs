//! A set of segment numbers kept as sorted, disjoint, half-open ranges.
//!
//! Empty on a path without loss; then every call is one comparison and nothing is allocated.

use crate::wire::SackBlock;

/// Sorted, disjoint, non-adjacent ranges `[start, end)` of segment numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<SackBlock>);

impl Ranges {
    /// Whether nothing is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges in ascending order.
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.0
    }

    /// The range that contains `seq`.
    pub fn find(&self, seq: u32) -> Option<SackBlock> {
        let index = self.0.partition_point(|&(_, end)| end <= seq);
        self.0.get(index).copied().filter(|&(start, _)| start <= seq)
    }

    /// Adds `[start, end)` and calls `fresh(from, to)` for each part that was not in the set.
    pub fn insert(&mut self, (start, end): SackBlock, mut fresh: impl FnMut(u32, u32)) {
        if start >= end {
            return;
        }
        // A block that grows at its upper end is by far the most common.
        if let Some(last) = self.0.last_mut()
            && last.0 <= start
            && start <= last.1
        {
            if end > last.1 {
                fresh(last.1, end);
                last.1 = end;
            }
            return;
        }
        let first = self.0.partition_point(|&(_, e)| e < start);
        let mut merged = (start, end);
        let mut covered_to = start;
        let mut past = first;
        while let Some(&(s, e)) = self.0.get(past)
            && s <= end
        {
            if s > covered_to {
                fresh(covered_to, s);
            }
            covered_to = covered_to.max(e);
            merged = (merged.0.min(s), merged.1.max(e));
            past += 1;
        }
        if covered_to < end {
            fresh(covered_to, end);
        }
        if past == first {
            self.0.insert(first, merged);
        } else {
            self.0[first] = merged;
            self.0.drain(first + 1..past);
        }
    }

    /// Removes everything below `seq`.
    #[inline]
    pub fn remove_below(&mut self, seq: u32) {
        if self.0.first().is_none_or(|&(start, _)| start >= seq) {
            return;
        }
        let gone = self.0.partition_point(|&(_, end)| end <= seq);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(seq);
        }
    }

    /// Removes and returns the end of the first range if it starts at `seq`.
    pub fn take_front_at(&mut self, seq: u32) -> Option<u32> {
        match self.0.first() {
            Some(&(start, end)) if start == seq => {
                self.0.remove(0);
                Some(end)
            }
            _ => None,
        }
    }

    /// Gives the memory back.
    pub fn release(&mut self) {
        self.0 = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_block_over_two_ranges_reports_only_the_gaps() {
        let mut ranges = Ranges::default();
        ranges.insert((10, 12), |_, _| {});
        ranges.insert((15, 20), |_, _| {});
        let mut fresh = Vec::new();
        ranges.insert((8, 22), |a, b| fresh.push((a, b)));
        assert_eq!(fresh, [(8, 10), (12, 15), (20, 22)]);
        assert_eq!(ranges.as_slice(), [(8, 22)]);
    }

    #[test]
    fn adjacent_blocks_become_one() {
        let mut ranges = Ranges::default();
        for block in [(5, 6), (7, 8), (6, 7)] {
            ranges.insert(block, |_, _| {});
        }
        assert_eq!(ranges.as_slice(), [(5, 8)]);
        assert_eq!(ranges.find(7), Some((5, 8)));
        assert_eq!(ranges.find(8), None);
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_set(
            ops in prop::collection::vec((0u32..60, 1u32..12, prop::bool::weighted(0.15)), 1..60),
        ) {
            let mut ranges = Ranges::default();
            let mut set = BTreeSet::new();
            for (start, len, cut) in ops {
                if cut {
                    ranges.remove_below(start);
                    set.retain(|&s| s >= start);
                } else {
                    let mut fresh = Vec::new();
                    ranges.insert((start, start + len), |a, b| fresh.extend(a..b));
                    let expected: Vec<u32> =
                        (start..start + len).filter(|s| !set.contains(s)).collect();
                    prop_assert_eq!(fresh, expected);
                    set.extend(start..start + len);
                }
                let flat: Vec<u32> = ranges.as_slice().iter().flat_map(|&(a, b)| a..b).collect();
                prop_assert_eq!(flat, set.iter().copied().collect::<Vec<_>>());
                let apart = ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0);
                prop_assert!(apart, "ranges touch: {:?}", ranges);
            }
        }
    }
}
