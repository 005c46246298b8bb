//! Percentiles of times in bounded memory: counts by classes whose width is a 64th of their octave.
//!
//! **Source**: the bucket rule of high dynamic range histograms, <http://hdrhistogram.org>.
//!
//! A percentile is the middle of its class, so it is within 1/128 (0.8 %) of a time of that rank, or within 33 ns of one
//! below 4.2 us. Times from 2251 s on count as the longest class. Only octaves in which there are times have memory: 256 B
//! each, at most 7.7 kB.

use crate::memory::make_room;
use crate::units::Span;

/// Bits of a picosecond count that are below the resolution of 65.5 ns.
const FINE: u32 = 16;
/// Bits that distinguish the classes of an octave.
const BITS: u32 = 6;
/// Classes of an octave.
const CLASSES: usize = 1 << BITS;
/// The first holds times below 64 units; each of the others, times up to twice as long as the one before.
const OCTAVES: usize = 30;
/// In place of the number of a block: the octave has none.
const NONE: u8 = u8::MAX;

/// How often each time occurred, up to the resolution.
#[derive(Clone, Debug)]
pub struct Percentiles {
    /// By octave, its block.
    block_of: [u8; OCTAVES],
    blocks: Vec<[u32; CLASSES]>,
    count: u64,
    sum_ps: u128,
}

impl Default for Percentiles {
    fn default() -> Self {
        Self { block_of: [NONE; OCTAVES], blocks: Vec::new(), count: 0, sum_ps: 0 }
    }
}

impl Percentiles {
    /// Counts a time.
    #[inline]
    pub fn note(&mut self, time: Span) {
        let (octave, class) = place_of(time.0);
        let block = self.block_of[octave];
        self.count += 1;
        self.sum_ps += u128::from(time.0);
        match self.blocks.get_mut(usize::from(block)) {
            Some(block) => block[class] = block[class].saturating_add(1),
            None => self.begin_octave(octave, class),
        }
    }

    /// Counts the first time of an octave.
    #[cold]
    #[inline(never)]
    fn begin_octave(&mut self, octave: usize, class: usize) {
        self.block_of[octave] = self.blocks.len() as u8;
        let mut block = [0; CLASSES];
        block[class] = 1;
        make_room(&mut self.blocks);
        self.blocks.push(block);
    }

    /// Forgets all times; octaves keep their memory.
    pub fn clear(&mut self) {
        self.blocks.fill([0; CLASSES]);
        (self.count, self.sum_ps) = (0, 0);
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their exact mean in seconds; NaN without any.
    pub fn mean_s(&self) -> f64 {
        if self.count == 0 {
            return f64::NAN;
        }
        self.sum_ps as f64 / self.count as f64 / 1e12
    }

    /// The time in seconds that a share `rank` of them, in [0, 1], do not exceed (nearest rank); NaN without any.
    pub fn at_s(&self, rank: f64) -> f64 {
        let needed = ((rank * self.count as f64).ceil() as u64).max(1);
        let mut passed = 0;
        for (octave, &block_index) in self.block_of.iter().enumerate() {
            let Some(block) = self.blocks.get(usize::from(block_index)) else { continue };
            for (class, &times) in block.iter().enumerate() {
                passed += u64::from(times);
                if passed >= needed {
                    return middle_of(octave, class);
                }
            }
        }
        f64::NAN
    }
}

/// The octave and the class of a time in picoseconds.
#[inline]
fn place_of(ps: u64) -> (usize, usize) {
    let units = ps >> FINE;
    let octave = (u64::BITS - (units >> BITS).leading_zeros()) as usize;
    if octave == 0 {
        return (0, units as usize);
    }
    if octave >= OCTAVES {
        return (OCTAVES - 1, CLASSES - 1);
    }
    (octave, (units >> (octave - 1)) as usize & (CLASSES - 1))
}

/// The middle of a class in seconds; of the first, whose times are as good as 0, its beginning.
fn middle_of(octave: usize, class: usize) -> f64 {
    let unit = (1u64 << FINE) as f64 / 1e12;
    match (octave, class) {
        (0, 0) => 0.0,
        (0, _) => (class as f64 + 0.5) * unit,
        _ => (CLASSES as f64 + class as f64 + 0.5) * (1u64 << (octave - 1)) as f64 * unit,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentiles_by_hand() {
        let mut times = Percentiles::default();
        assert!(times.at_s(0.5).is_nan() && times.mean_s().is_nan());
        for ms in 1..=100 {
            times.note(Span::from_millis(ms));
        }
        for (rank, expected) in [(0.5, 0.050), (0.95, 0.095), (0.99, 0.099), (1.0, 0.100)] {
            assert!((times.at_s(rank) / expected - 1.0).abs() < 0.01, "{rank}");
        }
        assert!((times.mean_s() - 0.0505).abs() < 1e-12);
        // As new: nothing of before counts, neither in classes nor in the mean.
        times.clear();
        assert!(times.at_s(0.5).is_nan() && times.mean_s().is_nan() && times.count() == 0);
        times.note(Span::ZERO);
        assert_eq!((times.at_s(0.0), times.at_s(1.0), times.count()), (0.0, 0.0, 1));
        assert_eq!(times.mean_s(), 0.0);
    }

    #[test]
    fn the_longest_time_has_a_class() {
        let mut times = Percentiles::default();
        times.note(Span(u64::MAX));
        assert!((times.at_s(1.0) / 2251.8 - 1.0).abs() < 0.01, "{}", times.at_s(1.0));
    }

    proptest! {
        /// Against the sorted list, at any rank.
        #[test]
        fn a_percentile_is_within_one_percent_of_the_time_of_its_rank(
            times in prop::collection::vec((0u32..51, any::<u64>()), 1..300),
            rank in 0.0f64..=1.0,
        ) {
            let mut times: Vec<u64> =
                times.into_iter().map(|(bits, any)| any & ((2 << bits) - 1)).collect();
            let mut classes = Percentiles::default();
            for &ps in &times {
                classes.note(Span(ps));
            }
            times.sort_unstable();
            let place = ((rank * times.len() as f64).ceil() as usize).max(1) - 1;
            let exact = Span(times[place]).seconds();
            let error = (classes.at_s(rank) - exact).abs();
            prop_assert!(error <= 0.01 * exact || error <= 66e-9, "{exact} {error}");
        }
    }
}
