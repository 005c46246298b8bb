//! Lists into which packets are put as they come, so that those which touch memory that is near are
//! handled one after the other.
//!
//! In order of time each packet of a batch is of another flow, and in a network larger than the caches
//! every link and channel that it comes to has to be fetched from far away; and so, time and again,
//! is a batch that is itself larger than a cache.

/// Lists of packets by a key; within each of them they keep their order.
#[derive(Debug)]
pub(in crate::packet) struct Parts<T> {
    lists: Vec<Vec<T>>,
    /// Bits of a key that make no difference.
    shift: u32,
    /// Lists that are not empty.
    used: Vec<u32>,
}

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Self { lists: vec![Vec::new()], shift: Self::ONE, used: Vec::new() }
    }
}

impl<T> Parts<T> {
    /// With this shift there is one list.
    const ONE: u32 = u64::BITS - 1;

    /// One list for all keys.
    pub(in crate::packet) fn join(&mut self) {
        self.shift = Self::ONE;
    }

    /// So many lists at most, for keys up to `last`. All must be empty.
    pub(in crate::packet) fn split(&mut self, last: u64, lists: usize) {
        debug_assert!(self.is_empty(), "a list is in use");
        let too_narrow = last / lists as u64;
        self.shift = u64::BITS - too_narrow.leading_zeros();
        let lists = (last >> self.shift) as usize + 1;
        self.lists.resize_with(lists.max(self.lists.len()), Vec::new);
    }

    #[inline(always)]
    pub(in crate::packet) fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    #[inline(always)]
    pub(in crate::packet) fn push(&mut self, key: u64, item: T) {
        let part = key >> self.shift;
        let list = &mut self.lists[part as usize];
        if list.is_empty() {
            self.used.push(part as u32);
        }
        list.push(item);
    }

    /// Those that are not empty can be taken by their keys, the least first.
    pub(in crate::packet) fn order(&mut self) {
        self.used.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Takes a list that is not empty, to be given back as this part when it is.
    pub(in crate::packet) fn take(&mut self) -> Option<(u32, Vec<T>)> {
        let part = self.used.pop()?;
        Some((part, std::mem::take(&mut self.lists[part as usize])))
    }

    /// Gives back the memory of a list, for the same part: its next packets will be as many.
    pub(in crate::packet) fn give_back(&mut self, part: u32, list: Vec<T>) {
        debug_assert!(list.is_empty(), "packets would be lost");
        self.lists[part as usize] = list;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_come_in_order_and_nothing_is_lost(
            last in 0u64..100,
            most in 1usize..20,
            keys in prop::collection::vec(0u64..100, 0..200),
        ) {
            let mut parts = Parts::default();
            parts.split(last, most);
            let keys: Vec<u64> = keys.into_iter().filter(|&key| key <= last).collect();
            for (place, &key) in keys.iter().enumerate() {
                parts.push(key, (place, key));
            }
            prop_assert_eq!(parts.is_empty(), keys.is_empty());
            parts.order();
            let (mut all, mut lists) = (Vec::new(), 0);
            while let Some((part, mut list)) = parts.take() {
                lists += 1;
                prop_assert!(list.is_sorted_by_key(|&(place, _)| place));
                let after = all.last().map_or(0, |&(_, key): &(usize, u64)| key >> parts.shift);
                prop_assert!(list.iter().all(|&(_, key)| key >> parts.shift >= after));
                all.append(&mut list);
                parts.give_back(part, list);
            }
            prop_assert!(lists <= most);
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(keys.into_iter().enumerate()));
        }
    }
}
