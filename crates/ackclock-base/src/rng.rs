//! Random numbers: one independent stream per (seed, purpose, index).
//!
//! A flow or a link that is added after the others, or a probe, changes no draw of another, so two
//! scenarios that differ in one algorithm see common random numbers everywhere else. One inserted
//! before others takes their indices, and with them their draws.
//!
//! **Source**: generator xoshiro256++ (Blackman & Vigna, ACM TOMS 47(4), 2021,
//! doi:10.1145/3460772) from the crate `rand_xoshiro`; stream seeds by `SplitMix64` finalisers.

pub mod mrg32k3a;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream is drawn for. The number is part of the file format of results: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Decisions of a queue discipline, indexed by link.
    Qdisc = 1,
    /// Random loss on a link, indexed by link.
    Loss = 2,
    /// A flow's sender, indexed by flow.
    Sender = 3,
    /// A traffic generator, indexed by its place in the scenario.
    Traffic = 4,
    /// A topology generator.
    Topology = 5,
    /// Start times drawn by the compiler, indexed by flow.
    Start = 6,
    /// A flow's receiver, indexed by flow.
    Receiver = 7,
    /// A traffic pattern, indexed by its place in the list of flows.
    Pattern = 8,
    /// Impairments of a link, indexed by link.
    Impairment = 9,
    /// A flow's congestion control, indexed by flow.
    Control = 10,
    /// Choices between equal paths, indexed by flow and direction.
    Path = 11,
    /// What an encoder of media makes, indexed by flow.
    Media = 12,
    /// The path of each packet where packets are sprayed, indexed by flow and end.
    Spray = 13,
    /// Times at which the flows of a fluid case arrive.
    FlowTime = 20,
    /// Pairs between which the flows of a fluid case go.
    FlowPair = 21,
    /// Sizes of the flows of a fluid case.
    FlowSize = 22,
    /// A search for the weights of links.
    Weights = 23,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of (`seed`, `purpose`, `index`).
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mixed = mix(mix(mix(seed) ^ (purpose as u64)) ^ index);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Uniform on [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on {0, .., n - 1}. `n` must not be 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// Pareto with the given mean and shape (shape > 1): scale = mean (shape - 1) / shape.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale / (1.0 - self.uniform()).powf(1.0 / shape)
    }

    /// A raw 64-bit draw.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Spreads the bits of a number: equal numbers give equal ones, others independent ones.
#[inline]
pub fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_every_coordinate_and_repeat_exactly() {
        let first = |s, p, i| Stream::new(s, p, i).bits();
        let a = first(1, Purpose::Qdisc, 0);
        assert_eq!(a, first(1, Purpose::Qdisc, 0));
        assert_ne!(a, first(2, Purpose::Qdisc, 0));
        assert_ne!(a, first(1, Purpose::Loss, 0));
        assert_ne!(a, first(1, Purpose::Qdisc, 1));
    }

    #[test]
    fn pareto_and_exponential_have_the_stated_means() {
        let mut s = Stream::new(7, Purpose::Traffic, 0);
        let n = 200_000;
        let exp: f64 = (0..n).map(|_| s.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((exp - 3.0).abs() < 0.03, "{exp}");
        // Shape 3 has a finite variance, so the mean settles: sd of the mean is 0.004.
        let par: f64 = (0..n).map(|_| s.pareto(3.0, 3.0)).sum::<f64>() / f64::from(n);
        assert!((par - 3.0).abs() < 0.03, "{par}");
    }
}
