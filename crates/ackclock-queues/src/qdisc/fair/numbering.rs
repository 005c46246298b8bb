//! Classification keys as numbers without gaps.

use std::sync::Arc;

/// The keys that can pass a link, numbered in their order. In a large network few of all keys pass one
/// link; numbered without gaps, what is kept for each lies close together in memory.
pub(crate) struct Numbering {
    /// Ascending; empty: a key is its own number.
    passing: Arc<[u32]>,
    /// Neighbours in `passing` for a distance of 2^32 if all are equally far from each other, which is
    /// tried first.
    density: u64,
}

impl Numbering {
    pub(crate) fn new(passing: &Arc<[u32]>) -> Self {
        let mut density = 0;
        if let [first, .., last] = **passing {
            let step = (last - first) / (passing.len() as u32 - 1);
            density = (1 << 32) / u64::from(step.max(1)) + 1;
        }
        Self { passing: Arc::clone(passing), density }
    }

    /// Values by key as values by number.
    pub(crate) fn renumber(&self, by_key: Vec<f64>, default: f64) -> Vec<f64> {
        if self.passing.is_empty() {
            return by_key;
        }
        let value = |&key: &u32| by_key.get(key as usize).copied().unwrap_or(default);
        self.passing.iter().map(value).collect()
    }

    /// The number of a key.
    #[inline]
    pub(crate) fn of(&self, key: u32) -> u32 {
        let Some(&first) = self.passing.first() else { return key };
        let guess = ((u64::from(key.wrapping_sub(first)) * self.density) >> 32) as u32;
        if self.passing.get(guess as usize) == Some(&key) {
            return guess;
        }
        self.passing.partition_point(|&passing| passing < key) as u32
    }
}
