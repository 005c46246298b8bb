//! Sizes of transfers: fixed, uniform, exponential, Pareto, or as measured in a data centre.
//!
//! **Source**: M. Crovella, A. Bestavros, "Self-Similarity in World Wide Web Traffic", IEEE/ACM
//! Trans. Networking 5(6), 1997, doi:10.1109/90.650143 (Pareto sizes of transfers). Sizes of data centres: the percentiles that
//! come with Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, doi:10.1145/3341302.3342085
//! (repository alibaba-edu/High-Precision-Congestion-Control, folder `traffic_gen`).
//!
//! **Rule** (mean m, shape a, cap c)
//! ```text
//! pareto: P(X > x) = (s / x)^a for x >= s = m (a - 1) / a;  with a cap, min(X, c), whose mean is
//!         m - s (s / c)^(a - 1) / (a - 1)
//! measured: sizes at the percentiles of the source, linear between two
//! sizes are rounded to whole bytes, at least 1
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::rng::Stream;
use crate::units::Bytes;

/// A distribution of payload sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sizes {
    /// All the same.
    Fixed {
        /// The size.
        #[schemars(range(min = 1))]
        mean: Bytes,
    },
    /// Uniform between two sizes.
    Uniform {
        /// Smallest.
        #[schemars(range(min = 1))]
        least: Bytes,
        /// Largest.
        #[schemars(range(min = 1))]
        most: Bytes,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        #[schemars(range(min = 1))]
        mean: Bytes,
    },
    /// Pareto.
    Pareto {
        /// Mean before the cap.
        #[schemars(range(min = 1))]
        mean: Bytes,
        /// Shape (below 2 the variance is infinite).
        #[serde(default = "web_shape")]
        #[schemars(extend("exclusiveMinimum" = 1))]
        shape: f64,
        /// Larger sizes become this; left out: no cap.
        #[serde(default)]
        cap: Option<Bytes>,
    },
    /// As measured in a data centre.
    Measured {
        /// Where.
        workload: Workload,
    },
}

/// A workload whose sizes were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Web search (Alizadeh et al. 2010, DCTCP): mean 1.7 MB.
    WebSearch,
    /// Facebook's Hadoop (Roy et al. 2015): mean 120 kB.
    Hadoop,
    /// Alibaba's storage in 2019: mean 41 kB.
    AliStorage,
}

/// A size in bytes and the share of transfers that are no larger, in percent.
type Percentile = (f64, f64);

const WEB_SEARCH: [Percentile; 12] = [
    (0.0, 0.0),
    (10e3, 15.0),
    (20e3, 20.0),
    (30e3, 30.0),
    (50e3, 40.0),
    (80e3, 53.0),
    (200e3, 60.0),
    (1e6, 70.0),
    (2e6, 80.0),
    (5e6, 90.0),
    (10e6, 97.0),
    (30e6, 100.0),
];

const HADOOP: [Percentile; 20] = [
    (0.0, 0.0),
    (100.0, 1.0),
    (200.0, 2.0),
    (300.0, 5.0),
    (350.0, 15.0),
    (400.0, 20.0),
    (500.0, 30.0),
    (600.0, 40.0),
    (700.0, 50.0),
    (1e3, 60.0),
    (2e3, 67.0),
    (7e3, 70.0),
    (30e3, 72.0),
    (50e3, 82.0),
    (80e3, 87.0),
    (120e3, 90.0),
    (300e3, 95.0),
    (1e6, 97.5),
    (2e6, 99.0),
    (10e6, 100.0),
];

const ALI_STORAGE: [Percentile; 9] = [
    (0.0, 0.0),
    (4e3, 22.93),
    (8e3, 69.21),
    (16e3, 80.61),
    (32e3, 90.47),
    (64e3, 93.53),
    (128e3, 96.77),
    (256e3, 97.53),
    (2e6, 100.0),
];

impl Workload {
    fn percentiles(self) -> &'static [Percentile] {
        match self {
            Self::WebSearch => &WEB_SEARCH,
            Self::Hadoop => &HADOOP,
            Self::AliStorage => &ALI_STORAGE,
        }
    }

    fn mean(self) -> f64 {
        let mean_of_piece =
            |of: &[Percentile]| (of[1].1 - of[0].1) / 100.0 * f64::midpoint(of[0].0, of[1].0);
        self.percentiles().windows(2).map(mean_of_piece).sum()
    }

    /// The size that a share of transfers, in [0, 1], do not exceed.
    fn quantile(self, share: f64) -> f64 {
        let (percent, all) = (100.0 * share, self.percentiles());
        let next = all.partition_point(|of| of.1 < percent).clamp(1, all.len() - 1);
        let ((low, below), (high, above)) = (all[next - 1], all[next]);
        low + (high - low) * (percent - below) / (above - below)
    }
}

/// Between the shapes that the source measured (1.1 to 1.5).
fn web_shape() -> f64 {
    1.2
}

impl Default for Sizes {
    fn default() -> Self {
        Self::Fixed { mean: Bytes(100_000) }
    }
}

impl Sizes {
    /// That a cap does not lie below all sizes, nor the largest size below the smallest.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if let Self::Uniform { least, most } = *self
            && most < least
        {
            let range = format!("at least {} B, the smallest size", least.0);
            return Err(Problem::out_of_range("most", format!("{} B", most.0), &range));
        }
        if let Self::Pareto { mean, shape, cap: Some(cap) } = *self
            && (cap.0 as f64) < smallest(mean, shape)
        {
            let least = smallest(mean, shape);
            let range = format!("at least {least:.0} B, the smallest size of this mean and shape");
            return Err(Problem::out_of_range("cap", format!("{} B", cap.0), &range));
        }
        Ok(())
    }

    /// Mean in bytes, the cap considered.
    pub(super) fn mean(&self) -> f64 {
        match *self {
            Self::Fixed { mean } | Self::Exponential { mean } => mean.0 as f64,
            Self::Uniform { least, most } => f64::midpoint(least.0 as f64, most.0 as f64),
            Self::Pareto { mean, shape, cap } => {
                let s = smallest(mean, shape);
                let beyond =
                    cap.map_or(0.0, |cap| s * (s / cap.0 as f64).powf(shape - 1.0) / (shape - 1.0));
                mean.0 as f64 - beyond
            }
            Self::Measured { workload } => workload.mean(),
        }
    }

    /// A size.
    pub(super) fn draw(&self, rng: &mut Stream) -> Bytes {
        let bytes = match *self {
            Self::Fixed { mean } => return mean,
            Self::Uniform { least, most } => {
                return Bytes(least.0 + rng.below(most.0 - least.0 + 1));
            }
            Self::Exponential { mean } => rng.exponential(mean.0 as f64),
            Self::Pareto { mean, shape, cap } => {
                let bytes = rng.pareto(mean.0 as f64, shape);
                cap.map_or(bytes, |cap| bytes.min(cap.0 as f64))
            }
            Self::Measured { workload } => workload.quantile(rng.uniform()),
        };
        Bytes((bytes.round() as u64).max(1))
    }
}

fn smallest(mean: Bytes, shape: f64) -> f64 {
    mean.0 as f64 * (shape - 1.0) / shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    /// Worked by hand from the percentiles: sums of (share of a piece) (middle of the piece).
    #[test]
    fn measured_sizes_have_the_means_and_percentiles_of_their_source() {
        for (workload, mean, median, most) in [
            (Workload::WebSearch, 1_711_250.0, 73_076.9, 30e6),
            (Workload::Hadoop, 120_421.0, 700.0, 10e6),
            (Workload::AliStorage, 40_870.0, 6339.7, 2e6),
        ] {
            let sizes = Sizes::Measured { workload };
            assert!((sizes.mean() / mean - 1.0).abs() < 1e-4, "{workload:?}: {}", sizes.mean());
            assert!(
                (workload.quantile(0.5) / median - 1.0).abs() < 1e-3,
                "{}",
                workload.quantile(0.5)
            );
            assert_eq!(workload.quantile(1.0), most);
            let mut rng = Stream::new(1, Purpose::Traffic, 0);
            let mut draws: Vec<u64> = (0..20_000).map(|_| sizes.draw(&mut rng).0).collect();
            draws.sort_unstable();
            for &(size, percent) in &workload.percentiles()[1..] {
                let below = draws.partition_point(|&of| of as f64 <= size) as f64 / 200.0;
                // Four standard errors of a share of 20,000 draws.
                assert!((below - percent).abs() < 1.5, "{workload:?} {size}: {below}, {percent}");
            }
        }
    }
}
