//! The longest of many queues, found when it is asked for.
//!
//! Every arrival and departure changes a length; the longest queue is asked for only when the
//! shared buffer overflows. So a change stores the length and marks its group; to answer, the
//! maxima of the groups that are marked are found anew, then those of the groups of these groups, and
//! so on. Nothing is done twice for a group that changes often, nor for one that does not change.

/// Lengths whose maximum is a length of the level above.
const GROUP: usize = 16;

/// Lengths of the queues, or maxima of the level below.
#[derive(Debug, Default)]
struct Level {
    lengths: Vec<u64>,
    /// A bit for each group whose maximum may be another than the level above says.
    changed: Vec<u64>,
}

impl Level {
    #[inline(always)]
    fn set(&mut self, at: usize, length: u64) {
        self.lengths[at] = length;
        let group = at / GROUP;
        self.changed[group / 64] |= 1 << (group % 64);
    }
}

/// Queues by length.
#[derive(Debug, Default)]
pub(super) struct Longest {
    /// One more than the length of each queue, 0 if it is empty; then maxima, and last one group.
    levels: Vec<Level>,
}

impl Longest {
    /// The length of a queue is now this; `None` if it is empty.
    #[inline(always)]
    pub(super) fn set(&mut self, queue: u32, length: Option<u64>) {
        let at = queue as usize;
        if self.levels.first().is_none_or(|level| level.lengths.len() <= at) {
            self.grow(at + 1);
        }
        self.levels[0].set(at, length.map_or(0, |length| length + 1));
    }

    /// Makes room for queues below `count`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: usize) {
        let old = self.levels.first_mut().map(|level| std::mem::take(&mut level.lengths));
        let old = old.unwrap_or_default();
        self.levels.clear();
        let mut width = count.max(2 * old.len());
        loop {
            let groups = width.div_ceil(GROUP);
            let lengths = vec![0; groups * GROUP];
            self.levels.push(Level { lengths, changed: vec![0; groups.div_ceil(64)] });
            if groups == 1 {
                break;
            }
            width = groups;
        }
        for (at, length) in old.into_iter().enumerate() {
            self.levels[0].set(at, length);
        }
    }

    /// The longest queue and its length, of equals the one with the smallest number.
    pub(super) fn find(&mut self) -> Option<(u64, u32)> {
        let mut rest = &mut self.levels[..];
        while let [level, above @ ..] = rest {
            let Some(next) = above.first_mut() else { break };
            for (word, changed) in level.changed.iter_mut().enumerate() {
                while *changed != 0 {
                    let group = 64 * word + changed.trailing_zeros() as usize;
                    *changed &= *changed - 1;
                    let members = &level.lengths[group * GROUP..][..GROUP];
                    let most = members.iter().copied().fold(0, u64::max);
                    if most != next.lengths[group] {
                        next.set(group, most);
                    }
                }
            }
            rest = above;
        }
        let mut group = 0;
        let most = self.levels.last()?.lengths.iter().copied().fold(0, u64::max);
        for level in self.levels.iter().rev() {
            let members = &level.lengths[group * GROUP..][..GROUP];
            group = group * GROUP + members.iter().position(|&length| length == most)?;
        }
        Some((most.checked_sub(1)?, group as u32))
    }
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
            prop_assert_eq!(longest.find(), None);
            longest.set(40 + others, None);
            for (queue, length, questions) in changes {
                // Some of them far from the others.
                let queue = if queue % 3 == 0 { queue + others } else { queue };
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
