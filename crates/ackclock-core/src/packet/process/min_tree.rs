//! When the earliest of many channels has something: an eight-ary tree of minima.
//!
//! A channel's time can be changed, the least of all is at hand, and all channels below a bound are
//! found without a look at the others. A change walks towards the root only as far as it
//! changes a minimum, which on average is not far.

/// Children of a node: one cache line of times.
const ARITY: usize = 8;

/// The times of a fixed number of entrants; [`Least::OUT`] for one that takes no part.
#[derive(Debug)]
pub(in crate::packet) struct Least {
    first: u64,
    /// Nothing for a lone entrant, which is the least itself.
    tree: Option<Box<Tree>>,
}

#[derive(Debug)]
struct Tree {
    /// Levels, leaves first, each filled up to whole nodes.
    nodes: Vec<u64>,
    /// Where each level begins.
    levels: Vec<u32>,
}

impl Least {
    /// An entrant that takes no part.
    pub(in crate::packet) const OUT: u64 = u64::MAX;

    /// All of `entrants`, none taking part.
    pub(in crate::packet) fn new(entrants: usize) -> Self {
        let mut levels = Vec::new();
        let mut total = 0;
        let mut width = entrants.max(1);
        loop {
            levels.push(total as u32);
            total += width.next_multiple_of(ARITY);
            if width <= ARITY {
                break;
            }
            width = width.div_ceil(ARITY);
        }
        let tree = || Box::new(Tree { nodes: vec![Self::OUT; total], levels });
        Self { first: Self::OUT, tree: (entrants > 1).then(tree) }
    }

    /// The least time of all.
    #[inline(always)]
    pub(in crate::packet) fn first(&self) -> u64 {
        self.first
    }

    /// Changes the time of an entrant.
    #[inline]
    pub(in crate::packet) fn set(&mut self, entrant: u32, time: u64) {
        let (mut index, mut new) = (entrant as usize, time);
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
                new = least_of(group);
            }
            if new == before {
                return;
            }
            index /= ARITY;
        }
        self.first = new;
    }

    /// Appends every entrant below `bound` to a list, in order.
    pub(in crate::packet) fn list_below(&self, bound: u64, list: &mut Vec<u32>) {
        match &self.tree {
            _ if self.first >= bound => {}
            None => list.push(0),
            Some(tree) => tree.list_below(tree.levels.len() - 1, 0, bound, list),
        }
    }

    /// Visits every entrant below `bound` in order; each takes the time that `visit` returns.
    #[inline(always)]
    pub(in crate::packet) fn below(&mut self, bound: u64, mut visit: impl FnMut(u32) -> u64) {
        if self.first >= bound {
            return;
        }
        self.first = match &mut self.tree {
            None => visit(0),
            Some(tree) => tree.group_below(tree.levels.len() - 1, 0, bound, &mut visit),
        };
    }
}

impl Tree {
    /// The places in one group of a level that are below `bound`, as bits.
    #[inline(always)]
    fn marks(&self, level: usize, group: usize, bound: u64) -> u32 {
        let begin = self.levels[level] as usize + group * ARITY;
        let times = self.nodes.get(begin..begin + ARITY).unwrap_or_default();
        let mark = |marks, (place, &time)| marks | u32::from(time < bound) << place;
        times.iter().enumerate().fold(0, mark)
    }

    fn list_below(&self, level: usize, group: usize, bound: u64, list: &mut Vec<u32>) {
        let mut marks = self.marks(level, group, bound);
        while marks != 0 {
            let index = group * ARITY + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            match level {
                0 => list.push(index as u32),
                _ => self.list_below(level - 1, index, bound, list),
            }
        }
    }

    /// Visits the entrants of one group of a level that are below `bound`; its least time afterwards.
    fn group_below(
        &mut self,
        level: usize,
        group: usize,
        bound: u64,
        visit: &mut impl FnMut(u32) -> u64,
    ) -> u64 {
        let begin = self.levels[level] as usize + group * ARITY;
        let mut marks = self.marks(level, group, bound);
        while marks != 0 {
            let place = marks.trailing_zeros() as usize;
            marks &= marks - 1;
            let index = group * ARITY + place;
            self.nodes[begin + place] = match level {
                0 => visit(index as u32),
                _ => self.group_below(level - 1, index, bound, visit),
            };
        }
        self.nodes.get(begin..begin + ARITY).map_or(Least::OUT, least_of)
    }
}

#[inline(always)]
fn least_of(group: &[u64]) -> u64 {
    group.iter().fold(u64::MAX, |least, &time| least.min(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_plain_list(
            entrants in 1usize..700,
            changes in prop::collection::vec((0u32..700, 0u64..100, prop::option::of(0u64..100)), 0..200),
        ) {
            let mut tree = Least::new(entrants);
            let mut list = vec![Least::OUT; entrants];
            for (entrant, time, bound) in changes.into_iter().filter(|c| (c.0 as usize) < entrants) {
                let time = if time > 80 { Least::OUT } else { time };
                tree.set(entrant, time);
                list[entrant as usize] = time;
                if let Some(bound) = bound {
                    let (mut seen, mut listed) = (Vec::new(), Vec::new());
                    tree.list_below(bound, &mut listed);
                    tree.below(bound, |e| { seen.push(e); bound + u64::from(e % 3) });
                    let expected: Vec<u32> = (0..entrants as u32).filter(|&e| list[e as usize] < bound).collect();
                    for &e in &expected { list[e as usize] = bound + u64::from(e % 3); }
                    prop_assert_eq!(seen, &expected[..]);
                    prop_assert_eq!(listed, expected);
                }
                let least = list.iter().copied().min().unwrap_or(Least::OUT);
                prop_assert_eq!(tree.first(), least);
            }
        }
    }
}
