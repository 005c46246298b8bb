//! Distributions of the sizes of finite flows.
//!
//! **Source**: M. Crovella, A. Bestavros, "Self-Similarity in World Wide Web Traffic", IEEE/ACM
//! Trans. Networking 5(6), 1997, doi:10.1109/90.650143 (Pareto); M. Harchol-Balter, M. Crovella,
//! C. Murta, "On Choosing a Task Assignment Policy for a Distributed Server System", J. Parallel
//! and Distributed Computing 59, 1999, doi:10.1006/jpdc.1999.1577 (bounded Pareto).
//!
//! **Rule** (U uniform on [0, 1), Z normal)
//! ```text
//! fixed        mean
//! exponential  -mean ln(1 - U)
//! pareto       s (1 - U)^(-1/a),  s = mean (a - 1) / a
//! bounded      P(X > x) = ((l/x)^a - (l/h)^a) / (1 - (l/h)^a)  for l <= x <= h
//! log-normal   mean exp(sigma Z - sigma^2 / 2)
//! empirical    value i with the probability weight i / sum of weights
//! ```

use serde::{Deserialize, Serialize};

use crate::rng::Stream;

/// A distribution of sizes, in the amount that a link of capacity 1 carries in a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sizes {
    /// All the same.
    Fixed {
        /// The size, above 0.
        mean: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean, above 0.
        mean: f64,
    },
    /// Pareto.
    Pareto {
        /// Mean, above 0.
        mean: f64,
        /// Shape, above 1.
        shape: f64,
    },
    /// Pareto between two bounds.
    BoundedPareto {
        /// Least size, above 0.
        least: f64,
        /// Largest size, above the least.
        most: f64,
        /// Shape, above 0.
        shape: f64,
    },
    /// Log-normal.
    LogNormal {
        /// Mean, above 0.
        mean: f64,
        /// Standard deviation of the natural logarithm, 0 or more.
        sigma: f64,
    },
    /// Listed values.
    Empirical {
        /// The values, each above 0.
        values: Vec<f64>,
        /// How often each occurs, relative to the others, 0 or more; empty: all alike.
        #[serde(default)]
        weights: Vec<f64>,
    },
}

fn positive(name: &str, value: f64) -> Result<(), String> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(format!("{name} is {value}, expected a number above 0"))
    }
}

impl Sizes {
    /// One sentence about a wrong parameter, which begins with its name.
    ///
    /// # Errors
    /// The parameter is out of its range.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Fixed { mean } | Self::Exponential { mean } => positive("mean", *mean),
            Self::Pareto { mean, shape } => {
                positive("mean", *mean)?;
                if *shape > 1.0 && shape.is_finite() {
                    Ok(())
                } else {
                    Err(format!("shape is {shape}, expected a number above 1"))
                }
            }
            Self::BoundedPareto { least, most, shape } => {
                positive("least", *least)?;
                positive("shape", *shape)?;
                if *most > *least && most.is_finite() {
                    Ok(())
                } else {
                    Err(format!("most is {most}, expected a number above least, {least}"))
                }
            }
            Self::LogNormal { mean, sigma } => {
                positive("mean", *mean)?;
                if (0.0..=20.0).contains(sigma) {
                    Ok(())
                } else {
                    Err(format!("sigma is {sigma}, expected 0 to 20"))
                }
            }
            Self::Empirical { values, weights } => {
                if values.is_empty() {
                    return Err("values is empty, expected one size or more".to_owned());
                }
                for (i, value) in values.iter().enumerate() {
                    positive(&format!("values[{i}]"), *value)?;
                }
                if !weights.is_empty() && weights.len() != values.len() {
                    return Err(format!(
                        "weights has {} entries, expected {}, one for each value",
                        weights.len(),
                        values.len()
                    ));
                }
                for (i, weight) in weights.iter().enumerate() {
                    if !(*weight >= 0.0 && weight.is_finite()) {
                        return Err(format!("weights[{i}] is {weight}, expected 0 or more"));
                    }
                }
                if !weights.is_empty() && weights.iter().sum::<f64>() <= 0.0 {
                    return Err("weights are all 0, expected one above 0".to_owned());
                }
                Ok(())
            }
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed { mean }
            | Self::Exponential { mean }
            | Self::Pareto { mean, .. }
            | Self::LogNormal { mean, .. } => *mean,
            Self::BoundedPareto { least, most, shape } => {
                // The density integrated with x; at shape 1 its limit.
                let ratio_power = (least / most).powf(*shape);
                if (shape - 1.0).abs() < 1e-9 {
                    least * (most / least).ln() / (1.0 - ratio_power)
                } else {
                    let below = least - most * ratio_power;
                    shape / (shape - 1.0) * below / (1.0 - ratio_power)
                }
            }
            Self::Empirical { values, weights } => {
                let sum: f64 = weights.iter().sum();
                if weights.is_empty() {
                    values.iter().sum::<f64>() / values.len() as f64
                } else {
                    values.iter().zip(weights).map(|(v, w)| v * w / sum).sum()
                }
            }
        }
    }

    /// A size.
    pub fn draw(&self, rng: &mut Stream) -> f64 {
        match self {
            Self::Fixed { mean } => *mean,
            // 1 - U is never 0, but -ln of it may be.
            Self::Exponential { mean } => rng.exponential(*mean).max(mean * f64::EPSILON),
            Self::Pareto { mean, shape } => rng.pareto(*mean, *shape),
            Self::BoundedPareto { least, most, shape } => {
                let ratio_power = (least / most).powf(*shape);
                let beyond = 1.0 - rng.uniform() * (1.0 - ratio_power);
                (least * beyond.powf(-1.0 / shape)).clamp(*least, *most)
            }
            Self::LogNormal { mean, sigma } => {
                mean * (sigma * normal(rng) - sigma * sigma / 2.0).exp()
            }
            Self::Empirical { values, weights } => {
                if weights.is_empty() {
                    return values[rng.below(values.len() as u64) as usize];
                }
                let mut left = rng.uniform() * weights.iter().sum::<f64>();
                let mut last = 0;
                for (i, weight) in weights.iter().enumerate() {
                    if *weight > 0.0 {
                        last = i;
                        if left < *weight {
                            break;
                        }
                        left -= weight;
                    }
                }
                values[last]
            }
        }
    }
}

/// A normal number by the polar method of Marsaglia and Bray, SIAM Review 6(3), 1964.
fn normal(rng: &mut Stream) -> f64 {
    loop {
        let (x, y) = (2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn draw_many(sizes: &Sizes) -> Vec<f64> {
        let mut rng = Stream::new(5, Purpose::Traffic, 0);
        (0..200_000).map(|_| sizes.draw(&mut rng)).collect()
    }

    #[test]
    fn sample_means_are_the_stated_means() {
        let all = [
            Sizes::Fixed { mean: 3.0 },
            Sizes::Exponential { mean: 3.0 },
            Sizes::Pareto { mean: 3.0, shape: 4.0 },
            Sizes::BoundedPareto { least: 1.0, most: 50.0, shape: 1.1 },
            Sizes::BoundedPareto { least: 1.0, most: 50.0, shape: 1.0 },
            Sizes::LogNormal { mean: 3.0, sigma: 0.8 },
            Sizes::Empirical { values: vec![1.0, 2.0, 10.0], weights: vec![6.0, 0.0, 2.0] },
        ];
        for sizes in all {
            sizes.check().unwrap();
            let values = draw_many(&sizes);
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            let error = 5.0 * (variance / n).sqrt() + 1e-12;
            assert!((mean - sizes.mean()).abs() <= error, "{sizes:?}: {mean} {}", sizes.mean());
        }
    }

    #[test]
    fn tails_are_those_of_the_distributions() {
        // Pareto of mean 3 and shape 1.5 begins at 1; P(X > 4) = 4^-1.5 = 1/8.
        let beyond = |values: &[f64], x: f64| {
            values.iter().filter(|v| **v > x).count() as f64 / values.len() as f64
        };
        let pareto = draw_many(&Sizes::Pareto { mean: 3.0, shape: 1.5 });
        assert!(pareto.iter().all(|v| *v >= 1.0 - 1e-12));
        assert!((beyond(&pareto, 4.0) - 0.125).abs() < 0.005);
        // Bounded to 1..4 with shape 1: P(X > 2) = (1/2 - 1/4) / (1 - 1/4) = 1/3.
        let bounded = draw_many(&Sizes::BoundedPareto { least: 1.0, most: 4.0, shape: 1.0 });
        assert!(bounded.iter().all(|v| (1.0..=4.0).contains(v)));
        assert!((beyond(&bounded, 2.0) - 1.0 / 3.0).abs() < 0.005);
        // The median of a log-normal is mean exp(-sigma^2 / 2).
        let normal = draw_many(&Sizes::LogNormal { mean: 3.0, sigma: 1.0 });
        assert!((beyond(&normal, 3.0 * (-0.5f64).exp()) - 0.5).abs() < 0.005);
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let wrong = [
            (Sizes::Fixed { mean: 0.0 }, "mean is 0, expected a number above 0"),
            (Sizes::Pareto { mean: 1.0, shape: 1.0 }, "shape is 1, expected a number above 1"),
            (
                Sizes::BoundedPareto { least: 2.0, most: 1.0, shape: 1.0 },
                "most is 1, expected a number above least, 2",
            ),
            (Sizes::LogNormal { mean: 1.0, sigma: -1.0 }, "sigma is -1, expected 0 to 20"),
            (
                Sizes::Empirical { values: vec![1.0], weights: vec![1.0, 1.0] },
                "weights has 2 entries, expected 1, one for each value",
            ),
        ];
        for (sizes, message) in wrong {
            assert_eq!(sizes.check(), Err(message.to_owned()));
        }
    }
}
