//! A binary heap whose members can be found, re-keyed and removed by their number.
//!
//! Smallest key first, then smallest number: the order is total, so runs repeat exactly whatever
//! the heap's shape. A key that should be served largest first is stored as [`Reverse`].

use std::cmp::Reverse;
use std::marker::PhantomData;

use super::links::NONE;

/// A key as a whole number of the same order.
pub(super) trait Key: Copy {
    fn rank(self) -> u64;
    fn of(rank: u64) -> Self;
}

/// Of zero or more; not NaN.
impl Key for f64 {
    #[inline]
    fn rank(self) -> u64 {
        debug_assert!(self >= 0.0, "{self}");
        // Also for a zero with a sign.
        (self + 0.0).to_bits()
    }
    #[inline]
    fn of(rank: u64) -> Self {
        Self::from_bits(rank)
    }
}

#[cfg(test)]
impl Key for u64 {
    #[inline]
    fn rank(self) -> u64 {
        self
    }
    #[inline]
    fn of(rank: u64) -> Self {
        rank
    }
}

impl Key for Reverse<u64> {
    #[inline]
    fn rank(self) -> u64 {
        !self.0
    }
    #[inline]
    fn of(rank: u64) -> Self {
        Self(!rank)
    }
}

/// Members `0..` with keys.
#[derive(Debug)]
pub(super) struct Heap<K> {
    /// Rank of the key, and below it the number: one comparison orders both.
    entries: Vec<u128>,
    /// Position of each member in `entries`, `NONE` if absent.
    place: Vec<u32>,
    key: PhantomData<K>,
}

impl<K> Default for Heap<K> {
    fn default() -> Self {
        Self { entries: Vec::new(), place: Vec::new(), key: PhantomData }
    }
}

#[inline]
fn key_of<K: Key>(entry: u128) -> K {
    K::of((entry >> 32) as u64)
}

#[inline]
fn member(entry: u128) -> u32 {
    entry as u32
}

impl<K: Key> Heap<K> {
    /// The member with the smallest key.
    #[inline]
    pub(super) fn first(&self) -> Option<(K, u32)> {
        self.entries.first().map(|&entry| (key_of(entry), member(entry)))
    }

    /// The key of a member, `None` if it is not there.
    #[inline]
    pub(super) fn key(&self, id: u32) -> Option<K> {
        let at = *self.place.get(id as usize)?;
        // `NONE` is beyond every entry.
        self.entries.get(at as usize).map(|&entry| key_of(entry))
    }

    /// Inserts a member, or changes its key.
    pub(super) fn set(&mut self, id: u32, key: K) {
        if self.place.len() <= id as usize {
            self.place.resize(id as usize + 1, NONE);
        }
        let at = self.place[id as usize] as usize;
        let item = u128::from(key.rank()) << 32 | u128::from(id);
        match self.entries.get(at) {
            None => {
                self.entries.push(item);
                self.up(0, self.entries.len() - 1, item);
            }
            Some(&old) if item < old => self.up(0, at, item),
            Some(_) => self.down(at, item),
        }
    }

    /// Removes a member if it is there.
    pub(super) fn remove(&mut self, id: u32) {
        let Some(&at) = self.place.get(id as usize) else { return };
        let at = at as usize;
        let Some(&removed) = self.entries.get(at) else { return };
        self.place[id as usize] = NONE;
        let Some(last) = self.entries.pop() else { return };
        if at == self.entries.len() {
            return;
        }
        if last < removed {
            self.up(0, at, last);
        } else {
            self.down(at, last);
        }
    }

    #[inline]
    fn put(&mut self, at: usize, entry: u128) {
        self.entries[at] = entry;
        self.place[member(entry) as usize] = at as u32;
    }

    /// Puts `item` at `at` or above, but not above `top`: entries that come after it move down.
    #[inline]
    fn up(&mut self, top: usize, mut at: usize, item: u128) {
        while at > top {
            let parent = (at - 1) / 2;
            let above = self.entries[parent];
            if above < item {
                break;
            }
            self.put(at, above);
            at = parent;
        }
        self.put(at, item);
    }

    /// Puts `item` at `at` or below: entries that come before it move up. Most items belong near
    /// the bottom, so the way there is taken without asking for `item`, and then up as far as needed.
    #[inline]
    fn down(&mut self, top: usize, item: u128) {
        let mut at = top;
        loop {
            let left = 2 * at + 1;
            let Some(&first) = self.entries.get(left) else { break };
            let (child, entry) = match self.entries.get(left + 1) {
                Some(&second) if second < first => (left + 1, second),
                _ => (left, first),
            };
            self.put(at, entry);
            at = child;
        }
        self.up(top, at, item);
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
                for id in 0..25 {
                    prop_assert_eq!(heap.key(id), map.get(&id).copied());
                }
            }
        }
    }
}
