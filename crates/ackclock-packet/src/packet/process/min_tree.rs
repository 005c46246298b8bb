//! An 8-ary tree of minima over the times of many channels.
//!
//! The minimum is available at once, and all channels below a bound are found without visiting the others.
//! A change propagates towards the root only as far as it changes a minimum, which on average is not far.

/// Children of a node: one cache line of times.
const ARITY: usize = 8;

/// The times of a fixed number of entries; [`MinTree::NEVER`] for one without a time.
#[derive(Debug)]
pub(crate) struct MinTree {
    first: u64,
    /// None for a single entry, which is the minimum itself.
    tree: Option<Box<Tree>>,
}

#[derive(Debug)]
struct Tree {
    /// Levels, leaves first, each padded to whole nodes.
    nodes: Vec<u64>,
    /// Where each level begins.
    levels: Vec<u32>,
}

impl MinTree {
    /// The time of an entry without one.
    pub(crate) const NEVER: u64 = u64::MAX;

    /// For so many entries, none with a time.
    pub(crate) fn new(entries: usize) -> Self {
        let mut levels = Vec::new();
        let mut total = 0;
        let mut width = entries.max(1);
        loop {
            levels.push(total as u32);
            total += width.next_multiple_of(ARITY);
            if width <= ARITY {
                break;
            }
            width = width.div_ceil(ARITY);
        }
        let tree = || Box::new(Tree { nodes: vec![Self::NEVER; total], levels });
        Self { first: Self::NEVER, tree: (entries > 1).then(tree) }
    }

    /// The minimum.
    #[inline(always)]
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// Sets the time of an entry.
    #[inline]
    pub(crate) fn set(&mut self, entry: u32, time: u64) {
        let (mut index, mut new) = (entry as usize, time);
        let Some(Tree { nodes, levels }) = self.tree.as_deref_mut() else {
            self.first = time;
            return;
        };
        for (depth, &level) in levels.iter().enumerate() {
            let above = levels.get(depth + 1).map(|&above| above as usize + index / ARITY);
            let before = above.map_or(self.first, |above| nodes[above]);
            let begin = level as usize + index / ARITY * ARITY;
            let Some(group) = nodes.get_mut(begin..begin + ARITY) else { break };
            let old = std::mem::replace(&mut group[index % ARITY], new);
            if new > before {
                if old > before {
                    return;
                }
                new = minimum(group);
            }
            if new == before {
                return;
            }
            index /= ARITY;
        }
        self.first = new;
    }

    /// Visits every entry below `bound` in order; each gets the time that `visit` returns.
    #[inline(always)]
    pub(crate) fn visit_below(&mut self, bound: u64, mut visit: impl FnMut(u32) -> u64) {
        if self.first >= bound {
            return;
        }
        self.first = match &mut self.tree {
            None => visit(0),
            Some(tree) => tree.visit_group(tree.levels.len() - 1, 0, bound, &mut visit),
        };
    }
}

impl Tree {
    /// The entries of one group of a level that are below `bound`, as bits.
    #[inline(always)]
    fn find_below(&self, level: usize, group: usize, bound: u64) -> u32 {
        let begin = self.levels[level] as usize + group * ARITY;
        let times = self.nodes.get(begin..begin + ARITY).unwrap_or_default();
        let mark = |marks, (bit, &time)| marks | u32::from(time < bound) << bit;
        times.iter().enumerate().fold(0, mark)
    }

    /// Visits the entries of one group of a level that are below `bound`; returns its new minimum.
    fn visit_group(
        &mut self,
        level: usize,
        group: usize,
        bound: u64,
        visit: &mut impl FnMut(u32) -> u64,
    ) -> u64 {
        let begin = self.levels[level] as usize + group * ARITY;
        let mut marks = self.find_below(level, group, bound);
        while marks != 0 {
            let bit = marks.trailing_zeros() as usize;
            marks &= marks - 1;
            let index = group * ARITY + bit;
            self.nodes[begin + bit] = match level {
                0 => visit(index as u32),
                _ => self.visit_group(level - 1, index, bound, visit),
            };
        }
        self.nodes.get(begin..begin + ARITY).map_or(MinTree::NEVER, minimum)
    }
}

#[inline(always)]
fn minimum(group: &[u64]) -> u64 {
    group.iter().fold(u64::MAX, |least, &time| least.min(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_plain_list(
            entries in 1usize..700,
            changes in prop::collection::vec((0u32..700, 0u64..100, prop::option::of(0u64..100)), 0..200),
        ) {
            let mut tree = MinTree::new(entries);
            let mut list = vec![MinTree::NEVER; entries];
            for (entry, time, bound) in changes.into_iter().filter(|c| (c.0 as usize) < entries) {
                let time = if time > 80 { MinTree::NEVER } else { time };
                tree.set(entry, time);
                list[entry as usize] = time;
                if let Some(bound) = bound {
                    let mut seen = Vec::new();
                    tree.visit_below(bound, |e| { seen.push(e); bound + u64::from(e % 3) });
                    let expected: Vec<u32> = (0..entries as u32).filter(|&e| list[e as usize] < bound).collect();
                    for &e in &expected { list[e as usize] = bound + u64::from(e % 3); }
                    prop_assert_eq!(seen, expected);
                }
                let least = list.iter().copied().min().unwrap_or(MinTree::NEVER);
                prop_assert_eq!(tree.first(), least);
            }
        }
    }
}
