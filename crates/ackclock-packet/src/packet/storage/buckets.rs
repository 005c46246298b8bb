//! Buckets of packets by key, for cache locality.
//!
//! In order of time, consecutive packets of a large batch belong to different flows, and in a network
//! larger than the caches each link and channel that they touch has to be loaded from memory. Packets of
//! one bucket touch memory that is close together, and are handled one after the other.

/// Packets in buckets by key; within a bucket they keep their order.
#[derive(Debug)]
pub(crate) struct Buckets<T> {
    lists: Vec<Vec<T>>,
    /// Low bits of a key that are ignored.
    shift: u32,
    /// Buckets that are not empty.
    used: Vec<u32>,
}

impl<T> Default for Buckets<T> {
    fn default() -> Self {
        Self { lists: vec![Vec::new()], shift: Self::SINGLE, used: Vec::new() }
    }
}

impl<T> Buckets<T> {
    /// With this shift there is one bucket.
    const SINGLE: u32 = u64::BITS - 1;

    /// Uses one bucket for all keys. All buckets must be empty.
    pub(crate) fn merge(&mut self) {
        debug_assert!(self.is_empty(), "a bucket is in use");
        self.shift = Self::SINGLE;
    }

    /// Uses at most `buckets` buckets for keys up to `last`. All buckets must be empty.
    pub(crate) fn split(&mut self, last: u64, buckets: usize) {
        debug_assert!(self.is_empty(), "a bucket is in use");
        let too_narrow = last / buckets as u64;
        self.shift = u64::BITS - too_narrow.leading_zeros();
        let buckets = (last >> self.shift) as usize + 1;
        self.lists.resize_with(buckets.max(self.lists.len()), Vec::new);
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, key: u64, item: T) {
        let index = key >> self.shift;
        let bucket = &mut self.lists[index as usize];
        if bucket.is_empty() {
            self.used.push(index as u32);
        }
        bucket.push(item);
    }

    /// Takes a bucket that is not empty, with its index.
    pub(crate) fn take(&mut self) -> Option<(u32, Vec<T>)> {
        let index = self.used.pop()?;
        Some((index, std::mem::take(&mut self.lists[index as usize])))
    }

    /// Returns the memory of an emptied bucket to its index, whose next packets will be as many.
    pub(crate) fn give_back(&mut self, index: u32, bucket: Vec<T>) {
        debug_assert!(bucket.is_empty(), "packets would be lost");
        self.lists[index as usize] = bucket;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_separate_keys_keep_order_and_lose_nothing(
            last in 0u64..100,
            most in 1usize..20,
            keys in prop::collection::vec(0u64..100, 0..200),
        ) {
            let mut buckets = Buckets::default();
            buckets.split(last, most);
            let keys: Vec<u64> = keys.into_iter().filter(|&key| key <= last).collect();
            for (place, &key) in keys.iter().enumerate() {
                buckets.push(key, (place, key));
            }
            prop_assert_eq!(buckets.is_empty(), keys.is_empty());
            let (mut all, mut ranges) = (Vec::new(), Vec::new());
            while let Some((index, mut bucket)) = buckets.take() {
                prop_assert!(bucket.is_sorted_by_key(|&(place, _)| place));
                let lowest = bucket.iter().map(|&(_, key)| key).min();
                ranges.push((lowest, bucket.iter().map(|&(_, key)| key).max()));
                all.append(&mut bucket);
                buckets.give_back(index, bucket);
            }
            prop_assert!(ranges.len() <= most);
            // The key ranges of buckets do not overlap.
            ranges.sort_unstable();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(keys.into_iter().enumerate()));
        }
    }
}
