//! How late packets were: a histogram of fixed size, however long an emulation lasts.

/// Parts of each power of two: percentiles are exact to 1.6 %.
const PARTS: u64 = 64;
const PARTS_LOG: u32 = PARTS.ilog2();
const BUCKETS: usize = (64 - PARTS_LOG as usize) * PARTS as usize + PARTS as usize;

/// Counts of spans of time [ns].
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    total: u64,
    most: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, most: 0 }
    }
}

/// The bucket of a value: below 64 one each, then 64 for each power of two.
fn bucket(ns: u64) -> usize {
    let power = ns.max(1).ilog2();
    if power < PARTS_LOG {
        return ns as usize;
    }
    let shift = power - PARTS_LOG;
    (u64::from(shift + 1) * PARTS + (ns >> shift) - PARTS) as usize
}

/// The largest value of a bucket.
fn largest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PARTS {
        return bucket;
    }
    let shift = bucket / PARTS - 1;
    (((bucket % PARTS + PARTS + 1) as u128) << shift).saturating_sub(1).min(u64::MAX.into()) as u64
}

impl Lateness {
    /// Counts a span.
    pub fn note(&mut self, ns: u64) {
        self.counts[bucket(ns)] += 1;
        self.total += 1;
        self.most = self.most.max(ns);
    }

    /// Spans counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The longest.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The span that a share of all, in `0..=1`, do not exceed; 0 if there are none.
    pub fn quantile(&self, share: f64) -> u64 {
        // A product such as 100 times 0.07 may come out above the whole number that it is.
        let needed = self.total as f64 * share;
        let rank = ((needed * (1.0 - 1e-12)).ceil() as u64).max(1);
        let mut below = 0;
        let bucket_found = self.counts.iter().position(|&count| {
            below += count;
            below >= rank
        });
        bucket_found.map_or(0, |bucket| largest(bucket).min(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_quantile_is_that_of_the_sorted_spans(
            mut spans in prop::collection::vec((0u64..64, 0u32..58).prop_map(|(v, s)| (v << s) + v), 1..200),
            percent in 1u64..=100,
        ) {
            let mut lateness = Lateness::default();
            for &ns in &spans {
                lateness.note(ns);
            }
            spans.sort_unstable();
            let rank = (spans.len() as u64 * percent).div_ceil(100) as usize;
            let (exact, found) = (spans[rank - 1], lateness.quantile(percent as f64 / 100.0));
            prop_assert!(found >= exact && found as f64 <= exact as f64 * (1.0 + 1.0 / 64.0), "{exact} {found}");
            prop_assert_eq!(lateness.most(), spans[spans.len() - 1]);
        }
    }

    #[test]
    fn buckets_follow_each_other_up_to_the_longest_span() {
        assert_eq!((bucket(63), bucket(64), bucket(127), bucket(128)), (63, 64, 127, 128));
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(largest(BUCKETS - 1), u64::MAX);
        assert_eq!(Lateness::default().quantile(0.5), 0);
    }
}
