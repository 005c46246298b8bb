//! Sorting the packets of a batch by time.
//!
//! A key is one word, so that a comparison is one instruction: the time since the batch's first
//! packet, then the packet's place. Batches that last longer, or have more packets, than that can tell
//! are sorted by time and place as they are.

/// Up to so many are sorted by comparing alone.
const FEW: usize = 16;

/// How keys of a batch are made.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Form {
    /// Bits of a key that hold the place.
    place: u32,
}

impl Form {
    /// One that tells all packets of most batches apart, and of the few that are very large and short.
    #[inline(always)]
    pub(in crate::packet) fn of(span: u64, packets: usize) -> Option<Self> {
        let place = if packets <= 1 << 16 { 16 } else { 24 };
        (span >> (u64::BITS - place) == 0 && packets <= 1 << place).then_some(Self { place })
    }

    /// The key of the packet at `place` that arrives at `at`, in a batch that begins at `begin`.
    #[inline(always)]
    pub(in crate::packet) fn key(self, at: u64, begin: u64, place: usize) -> u64 {
        at.wrapping_sub(begin) << self.place | place as u64
    }

    /// The bits of a key that hold the place.
    #[inline(always)]
    pub(in crate::packet) fn places(self) -> u64 {
        (1 << self.place) - 1
    }

    /// Whether two packets arrive at the same time.
    #[inline(always)]
    pub(in crate::packet) fn ties(self, a: u64, b: u64) -> bool {
        (a ^ b) >> self.place == 0
    }
}

/// Sorts keys over `span` units of time: they are spread over buckets by time, and what meets in one is
/// compared. Packets are spread evenly enough over a window that most have a bucket to themselves.
#[inline]
pub(in crate::packet) fn sort(form: Form, keys: &mut Vec<u64>, span: u64, spare: &mut Spare) {
    if keys.len() > FEW && !spread(form, keys, span, spare) {
        return keys.sort_unstable();
    }
    insert(keys);
}

/// Puts keys into buckets by time, all but sorted; false if too many would meet in one.
#[inline(never)]
fn spread(form: Form, keys: &mut Vec<u64>, span: u64, spare: &mut Spare) -> bool {
    let n = keys.len();
    // As many buckets as keys, up to twice as many.
    let shift = (u64::BITS - span.leading_zeros() + form.place)
        .saturating_sub(usize::BITS - n.leading_zeros());
    let Spare { ends, keys: sorted } = spare;
    let buckets = ((span << form.place | form.places()) >> shift) as usize + 1;
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
        let place = &mut ends[(key >> shift) as usize];
        sorted[*place as usize] = key;
        *place += 1;
    }
    std::mem::swap(keys, sorted);
    true
}

/// Memory for [`sort`].
#[derive(Debug, Default)]
pub(in crate::packet) struct Spare {
    ends: Vec<u32>,
    keys: Vec<u64>,
}

/// Sorts keys that are few, or all but sorted.
#[inline]
fn insert(keys: &mut [u64]) {
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
            // Of a batch of so many packets as long as keys can tell.
            let times: Vec<u64> = times.into_iter().map(|time| time % (1 << bits)).collect();
            let span = times.iter().copied().max().unwrap_or(0);
            let form = Form::of(span, packets).expect("a form for these");
            let mut keys: Vec<u64> = times
                .iter()
                .enumerate()
                .map(|(i, &t)| form.key(begin.wrapping_add(t), begin, i))
                .collect();
            sort(form, &mut keys, span, &mut Spare::default());
            let mut expected: Vec<(u64, usize)> = times.iter().copied().zip(0..).collect();
            expected.sort_unstable();
            let places: Vec<usize> = keys.iter().map(|&key| (key & form.places()) as usize).collect();
            prop_assert_eq!(places, expected.iter().map(|e| e.1).collect::<Vec<_>>());
            for (pair, times) in keys.windows(2).zip(expected.windows(2)) {
                prop_assert_eq!(form.ties(pair[0], pair[1]), times[0].0 == times[1].0);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_known() {
        assert!(Form::of((1 << 48) - 1, 1 << 16).is_some());
        assert!(Form::of(1 << 48, 1).is_none());
        assert!(Form::of((1 << 40) - 1, (1 << 16) + 1).is_some());
        assert!(Form::of(1 << 40, (1 << 16) + 1).is_none());
        assert!(Form::of(1, (1 << 24) + 1).is_none());
    }
}
