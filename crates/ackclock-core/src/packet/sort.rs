//! Sorting the packets of a batch by time.

/// Up to so many are sorted by comparing alone.
const FEW: usize = 16;

/// Sorts keys of (time, place): times spread over buckets, and what meets in one is compared. Packets
/// are spread evenly enough over a window that most have a bucket to themselves.
pub(super) fn sort(keys: &mut Vec<u128>, spare: &mut Spare) {
    let n = keys.len();
    if n <= FEW {
        return insert(keys);
    }
    let (least, most) = keys
        .iter()
        .fold((u64::MAX, 0), |(least, most), &key| (least.min(time(key)), most.max(time(key))));
    // At least as many buckets as keys, at most four times as many.
    let shift = (u64::BITS - (most - least).leading_zeros())
        .saturating_sub(usize::BITS - n.leading_zeros() + 1);
    let bucket = |key: u128| ((time(key) - least) >> shift) as usize;
    let Spare { ends, keys: sorted } = spare;
    ends.clear();
    ends.resize(bucket(u128::from(most) << 64) + 1, 0);
    for &key in &*keys {
        ends[bucket(key)] += 1;
    }
    let mut begin = 0;
    for end in &mut *ends {
        begin += std::mem::replace(end, begin);
    }
    sorted.clear();
    sorted.resize(n, 0);
    for &key in &*keys {
        let place = &mut ends[bucket(key)];
        sorted[*place as usize] = key;
        *place += 1;
    }
    std::mem::swap(keys, sorted);
    let mut begin = 0;
    for &end in &*ends {
        if end > begin + 1 {
            insert(&mut keys[begin as usize..end as usize]);
        }
        begin = end;
    }
}

/// Memory for [`sort`].
#[derive(Debug, Default)]
pub(super) struct Spare {
    ends: Vec<u32>,
    keys: Vec<u128>,
}

fn time(key: u128) -> u64 {
    (key >> 64) as u64
}

/// Sorts few keys.
#[inline]
fn insert(keys: &mut [u128]) {
    if keys.len() > FEW {
        return keys.sort_unstable();
    }
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
            times in prop::collection::vec(prop_oneof![0u64..50, 0u64..100_000, any::<u64>()], 0..300),
        ) {
            let mut keys: Vec<u128> =
                times.iter().enumerate().map(|(i, &t)| u128::from(t) << 64 | i as u128).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort(&mut keys, &mut Spare::default());
            prop_assert_eq!(keys, expected);
        }
    }
}
