//! The longest of many queues, found on demand.
//!
//! Every arrival and departure changes a length; the longest queue is needed only when the
//! shared buffer overflows. So of each group of queues a bound is kept that none of them is longer
//! than, and of each group of bounds another. An arrival may raise a bound; a departure leaves all as
//! they are. To answer, the way is gone down along the greatest bounds, and one that nothing below it
//! reaches any more is lowered to what does, once for the departures since.

/// Queues, or bounds, that have a bound in common.
const GROUP: usize = 16;

/// Bounds of queues that are known to somebody else.
#[derive(Debug, Default)]
pub(crate) struct Longest {
    /// By group of queues: one more than the length of the longest since the bound was lowered last,
    /// or 0. Then by group of these, up to a last group.
    bounds: Vec<Vec<u64>>,
}

impl Longest {
    /// The length of a queue has grown to this.
    #[inline(always)]
    pub(crate) fn grown(&mut self, queue: u32, length: u64) {
        let group = queue as usize / GROUP;
        match self.bounds.first().and_then(|bounds| bounds.get(group)) {
            Some(&bound) if bound > length => {}
            _ => self.raise(group, length + 1),
        }
    }

    /// Raises the bounds of a group of queues.
    #[cold]
    #[inline(never)]
    fn raise(&mut self, mut group: usize, bound: u64) {
        if self.bounds.first().is_none_or(|bounds| bounds.len() <= group) {
            self.grow(group + 1);
        }
        for bounds in &mut self.bounds {
            bounds[group] = bounds[group].max(bound);
            group /= GROUP;
        }
    }

    /// Makes room for so many groups of queues.
    fn grow(&mut self, groups: usize) {
        let mut bounds = self.bounds.drain(..).next().unwrap_or_default();
        let mut width = groups.max(2 * bounds.len());
        loop {
            bounds.resize(width.next_multiple_of(GROUP), 0);
            let above = bounds.chunks_exact(GROUP).map(greatest).collect();
            self.bounds.push(std::mem::replace(&mut bounds, above));
            if width <= GROUP {
                break;
            }
            width = width.div_ceil(GROUP);
        }
    }

    /// The longest of `queues` queues and its length, of equals the one with the smallest number.
    /// `length` gives the length of a queue, `None` if it is empty.
    pub(crate) fn find(
        &mut self,
        queues: u32,
        length: impl Fn(u32) -> Option<u64>,
    ) -> Option<(u64, u32)> {
        'down: loop {
            let bound = greatest(self.bounds.last()?);
            let mut group = 0;
            for level in (0..self.bounds.len()).rev() {
                let members = &self.bounds[level][group * GROUP..][..GROUP];
                let Some(offset) = members.iter().position(|&member| member == bound) else {
                    self.bounds[level + 1][group] = greatest(members);
                    continue 'down;
                };
                group = group * GROUP + offset;
            }
            let longest = bound.checked_sub(1)?;
            let first = (group * GROUP) as u32;
            let members = first..queues.min(first + GROUP as u32);
            if let Some(queue) = members.clone().find(|&queue| length(queue) == Some(longest)) {
                return Some((longest, queue));
            }
            let next = members.filter_map(&length).max();
            self.bounds[0][group] = next.map_or(0, |length| length + 1);
        }
    }
}

#[inline]
fn greatest(bounds: &[u64]) -> u64 {
    bounds.iter().copied().fold(0, u64::max)
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_answer_is_that_of_a_sorted_table(
            others in prop::sample::select(vec![0u32, 100, 5000]),
            changes in prop::collection::vec((0u32..40, 0u64..8, 0u32..3), 1..300)
        ) {
            let mut table = std::collections::BTreeMap::new();
            let mut longest = Longest::default();
            prop_assert_eq!(longest.find(40, |_| None), None);
            for (queue, length, questions) in changes {
                // Some of them far from the others.
                let queue = if queue % 3 == 0 { queue + others } else { queue };
                let before = match length.checked_sub(1) {
                    Some(length) => table.insert(queue, length),
                    None => table.remove(&queue),
                };
                if let Some(length) = length.checked_sub(1).filter(|&now| Some(now) > before) {
                    longest.grown(queue, length);
                }
                let mut order: Vec<_> = table.iter().map(|(&q, &l)| (Reverse(l), q)).collect();
                order.sort_unstable();
                let expected = order.first().map(|&(Reverse(length), queue)| (length, queue));
                for _ in 0..questions {
                    let found = longest.find(40 + others, |queue| table.get(&queue).copied());
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
