//! A binary heap whose members can be found, re-keyed and removed by their number.
//!
//! Smallest key first, then smallest number: the order is total, so runs repeat exactly. A key that
//! should be served largest first is stored as [`std::cmp::Reverse`].

use super::links::NONE;

/// Members `0..` with keys. Keys must be comparable with each other (no NaN).
#[derive(Debug)]
pub(super) struct Heap<K> {
    entries: Vec<(K, u32)>,
    /// Position of each member in `entries`, `NONE` if absent.
    place: Vec<u32>,
}

impl<K> Default for Heap<K> {
    fn default() -> Self {
        Self { entries: Vec::new(), place: Vec::new() }
    }
}

impl<K: Copy + PartialOrd> Heap<K> {
    /// The member with the smallest key.
    #[inline]
    pub(super) fn first(&self) -> Option<(K, u32)> {
        self.entries.first().copied()
    }

    /// Whether a member is there.
    pub(super) fn contains(&self, id: u32) -> bool {
        self.place.get(id as usize).is_some_and(|&at| at != NONE)
    }

    /// Inserts a member, or changes its key.
    pub(super) fn set(&mut self, id: u32, key: K) {
        if self.place.len() <= id as usize {
            self.place.resize(id as usize + 1, NONE);
        }
        let mut at = self.place[id as usize] as usize;
        if at == NONE as usize {
            at = self.entries.len();
            self.entries.push((key, id));
            self.place[id as usize] = at as u32;
        } else {
            self.entries[at].0 = key;
        }
        let at = self.up(at);
        self.down(at);
    }

    /// Removes a member if it is there.
    pub(super) fn remove(&mut self, id: u32) {
        let Some(&at) = self.place.get(id as usize) else { return };
        if at == NONE {
            return;
        }
        let at = at as usize;
        self.entries.swap_remove(at);
        self.place[id as usize] = NONE;
        if at < self.entries.len() {
            self.place[self.entries[at].1 as usize] = at as u32;
            let at = self.up(at);
            self.down(at);
        }
    }

    #[inline]
    fn before(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.entries[a], self.entries[b]);
        a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.entries.swap(a, b);
        self.place[self.entries[a].1 as usize] = a as u32;
        self.place[self.entries[b].1 as usize] = b as u32;
    }

    fn up(&mut self, mut at: usize) -> usize {
        while at > 0 && self.before(at, (at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        at
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let left = 2 * at + 1;
            if left >= self.entries.len() {
                return;
            }
            let right = left + 1;
            let child =
                if right < self.entries.len() && self.before(right, left) { right } else { left };
            if !self.before(child, at) {
                return;
            }
            self.swap(child, at);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_heap_agrees_with_a_sorted_map(
            operations in prop::collection::vec((0u32..20, prop::option::of(0u64..50)), 0..200)
        ) {
            let mut heap = Heap::default();
            let mut map = BTreeMap::new();
            for (id, key) in operations {
                if let Some(key) = key {
                    heap.set(id, key);
                    map.insert(id, key);
                } else {
                    heap.remove(id);
                    map.remove(&id);
                }
                let expected = map.iter().map(|(&id, &key)| (key, id)).min();
                prop_assert_eq!(heap.first(), expected);
            }
        }
    }
}
