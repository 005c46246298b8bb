//! Sorting the packets of a batch by time.
//!
//! A sort key is one word, so that a comparison is one instruction: the time since the batch's first
//! packet, then the packet's index. Batches with a longer span or more packets than a key can represent
//! are sorted by their full keys.

/// Up to so many keys are sorted by insertion alone.
const FEW: usize = 16;

/// Layout of the sort keys of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyLayout {
    /// Bits of a key that hold the index.
    index_bits: u32,
}

impl KeyLayout {
    /// The layout for a batch of so many packets over `span` units of time, if keys can represent it.
    #[inline(always)]
    pub(crate) fn of(span: u64, packets: usize) -> Option<Self> {
        let index_bits = if packets <= 1 << 16 { 16 } else { 24 };
        let fits = span >> (u64::BITS - index_bits) == 0 && packets <= 1 << index_bits;
        fits.then_some(Self { index_bits })
    }

    /// The key of packet `index` that arrives at `arrival`, in a batch that begins at `begin`.
    #[inline(always)]
    pub(crate) fn key(self, arrival: u64, begin: u64, index: usize) -> u64 {
        arrival.wrapping_sub(begin) << self.index_bits | index as u64
    }

    /// Mask of the bits of a key that hold the index.
    #[inline(always)]
    pub(crate) fn index_mask(self) -> u64 {
        (1 << self.index_bits) - 1
    }

    /// Whether two packets arrive at the same time.
    #[inline(always)]
    pub(crate) fn ties(self, a: u64, b: u64) -> bool {
        (a ^ b) >> self.index_bits == 0
    }
}

/// Sorts keys over `span` units of time: keys are distributed into buckets by time, then sorted by
/// insertion. Arrivals are even enough over a batch that most keys have a bucket to themselves.
#[inline]
pub(crate) fn sort(layout: KeyLayout, keys: &mut Vec<u64>, span: u64, spare: &mut Spare) {
    if keys.len() > FEW && !distribute(layout, keys, span, spare) {
        return keys.sort_unstable();
    }
    insertion_sort(keys);
}

/// Orders keys by bucket; returns false, with the keys unchanged, if a bucket would hold too many.
#[inline(never)]
fn distribute(layout: KeyLayout, keys: &mut Vec<u64>, span: u64, spare: &mut Spare) -> bool {
    let n = keys.len();
    // As many buckets as keys, up to twice as many.
    let shift = (u64::BITS - span.leading_zeros() + layout.index_bits)
        .saturating_sub(usize::BITS - n.leading_zeros());
    let Spare { ends, keys: sorted } = spare;
    let buckets = ((span << layout.index_bits | layout.index_mask()) >> shift) as usize + 1;
    ends.clear();
    ends.resize(buckets, 0);
    for &key in &*keys {
        ends[(key >> shift) as usize] += 1;
    }
    let (mut begin, mut most) = (0, 0);
    for end in &mut *ends {
        let count = std::mem::replace(end, begin);
        begin += count;
        most = most.max(count);
    }
    if most as usize > FEW {
        return false;
    }
    sorted.resize(n, 0);
    for &key in &*keys {
        let cursor = &mut ends[(key >> shift) as usize];
        sorted[*cursor as usize] = key;
        *cursor += 1;
    }
    std::mem::swap(keys, sorted);
    true
}

/// Working memory of [`sort`], reused from batch to batch.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    ends: Vec<u32>,
    keys: Vec<u64>,
}

/// Insertion sort, for keys that are few or almost sorted.
#[inline]
fn insertion_sort(keys: &mut [u64]) {
    for i in 1..keys.len() {
        let key = keys[i];
        let mut hole = i;
        while hole > 0 && keys[hole - 1] > key {
            keys[hole] = keys[hole - 1];
            hole -= 1;
        }
        keys[hole] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_library(
            begin in any::<u64>(),
            times in prop::collection::vec(prop_oneof![0u64..50, 0u64..100_000, 0u64..1 << 48], 1..300),
            (packets, bits) in prop::sample::select(vec![(300usize, 48), (100_000, 40)]),
        ) {
            // Within the span that keys of a batch of so many packets can represent.
            let times: Vec<u64> = times.into_iter().map(|time| time % (1 << bits)).collect();
            let span = times.iter().copied().max().unwrap_or(0);
            let layout = KeyLayout::of(span, packets).expect("a layout for these");
            let mut keys: Vec<u64> = times
                .iter()
                .enumerate()
                .map(|(i, &t)| layout.key(begin.wrapping_add(t), begin, i))
                .collect();
            sort(layout, &mut keys, span, &mut Spare::default());
            let mut expected: Vec<(u64, usize)> = times.iter().copied().zip(0..).collect();
            expected.sort_unstable();
            let places: Vec<usize> = keys.iter().map(|&key| (key & layout.index_mask()) as usize).collect();
            prop_assert_eq!(places, expected.iter().map(|e| e.1).collect::<Vec<_>>());
            for (pair, times) in keys.windows(2).zip(expected.windows(2)) {
                prop_assert_eq!(layout.ties(pair[0], pair[1]), times[0].0 == times[1].0);
            }
        }
    }

    #[test]
    fn a_batch_that_keys_cannot_represent_is_refused() {
        assert!(KeyLayout::of((1 << 48) - 1, 1 << 16).is_some());
        assert!(KeyLayout::of(1 << 48, 1).is_none());
        assert!(KeyLayout::of((1 << 40) - 1, (1 << 16) + 1).is_some());
        assert!(KeyLayout::of(1 << 40, (1 << 16) + 1).is_none());
        assert!(KeyLayout::of(1, (1 << 24) + 1).is_none());
    }
}
