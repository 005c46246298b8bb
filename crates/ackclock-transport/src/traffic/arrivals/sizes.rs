//! Sizes of transfers: fixed, uniform, exponential, or Pareto.
//!
//! **Source**: M. Crovella, A. Bestavros, "Self-Similarity in World Wide Web Traffic", IEEE/ACM
//! Trans. Networking 5(6), 1997, doi:10.1109/90.650143 (Pareto sizes of transfers).
//!
//! **Rule** (mean m, shape a, cap c)
//! ```text
//! pareto: P(X > x) = (s / x)^a for x >= s = m (a - 1) / a;  with a cap, min(X, c), whose mean is
//!         m - s (s / c)^(a - 1) / (a - 1)
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
                let drawn = rng.pareto(mean.0 as f64, shape);
                cap.map_or(drawn, |cap| drawn.min(cap.0 as f64))
            }
        };
        Bytes((bytes.round() as u64).max(1))
    }
}

fn smallest(mean: Bytes, shape: f64) -> f64 {
    mean.0 as f64 * (shape - 1.0) / shape
}
