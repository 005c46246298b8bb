//! Finds how much of a series is a warm-up, by MSER-5, and whether that moves its mean.
//!
//! The truncation with the least standard error of the mean of what is left, over means of five values: K. P. White,
//! "An effective truncation heuristic for bias reduction in simulation output", Simulation 69 (1997), 323-334;
//! K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five steady-state truncation heuristics for
//! simulation", Winter Simulation Conference 2000, 755-760.

/// Values of a batch, whose means the rule looks at.
const BATCH: usize = 5;

/// Batches that a series must have for its truncation to say anything.
const FEWEST: usize = 8;

/// Long batches of what is left, whose means give its standard error.
const LONG: usize = 10;

/// Relative change of the mean from which on a warm-up is worth saying.
const LEAST_MOVE: f64 = 0.01;

/// Standard errors by which what is cut off differs from the rest: of series without a warm-up, 300 values with a
/// correlation of 0.5 from one to the next, 0.8 % are said to have one.
const LEAST_ERRORS: f64 = 4.0;

/// A warm-up that was found in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// Values to leave out.
    pub length: usize,
    /// Mean of all values.
    pub mean: f64,
    /// Mean of those that are left.
    pub mean_after: f64,
    /// It is half of the series, the most that is looked at: it may be longer.
    pub is_longer: bool,
}

impl WarmUp {
    /// How far the mean lies from that of the values that are left, relative to it.
    pub fn shift(&self) -> f64 {
        (self.mean - self.mean_after) / self.mean_after.abs()
    }
}

/// Finds the warm-up of a run's values at equal intervals; `None` where nothing is to be cut off, where the mean moves
/// by less than 1 %, or where what is cut off differs by less than four standard errors.
pub fn find_warm_up(values: &[f64]) -> Option<WarmUp> {
    let count = values.len() / BATCH;
    if count < FEWEST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let batches: Vec<f64> = values.chunks_exact(BATCH).map(mean).collect();
    let cut = least_error(&batches);
    if cut == 0 {
        return None;
    }
    let (before, after) = batches.split_at(cut);
    let warm_up = WarmUp {
        length: cut * BATCH,
        mean: mean(values),
        mean_after: mean(&values[cut * BATCH..]),
        is_longer: cut == count / 2,
    };
    if warm_up.mean_after == 0.0 || warm_up.shift().abs() < LEAST_MOVE {
        return None;
    }
    // Neighbours in a series are alike, so the error is that of long batches.
    let long: Vec<f64> = after.chunks_exact((after.len() / LONG).max(1)).map(mean).collect();
    let middle = mean(&long);
    let squares: f64 = long.iter().map(|value| (value - middle).powi(2)).sum();
    let error = (squares / (long.len() - 1) as f64 / long.len() as f64).sqrt();
    let apart = (mean(before) - mean(after)).abs();
    let least = LEAST_ERRORS * error * (1.0 + after.len() as f64 / cut as f64).sqrt();
    (apart >= least).then_some(warm_up)
}

/// The number of batches to cut off, at most half, for the least squared standard error of the mean of the others.
fn least_error(batches: &[f64]) -> usize {
    let (mut total, mut squares) = (0.0, 0.0);
    let (mut cut, mut least) = (0, f64::INFINITY);
    for (number, value) in batches.iter().enumerate().rev() {
        total += value;
        squares += value * value;
        let left = (batches.len() - number) as f64;
        let error = (squares - total * total / left) / (left * left);
        if number <= batches.len() / 2 && error <= least {
            (cut, least) = (number, error);
        }
    }
    cut
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(values: &[f64]) -> Vec<f64> {
        values.iter().flat_map(|&value| [value; BATCH]).collect()
    }

    /// The statistic, for each number of batches that is cut off, as White writes it.
    fn by_definition(batches: &[f64]) -> usize {
        let error = |cut: usize| {
            let after = &batches[cut..];
            let squares: f64 = after.iter().map(|value| (value - mean(after)).powi(2)).sum();
            squares / (after.len() * after.len()) as f64
        };
        (0..=batches.len() / 2).min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap()
    }

    #[test]
    fn the_truncation_is_that_with_the_least_error_by_hand() {
        let means = [0.0, 0.0, 10.0, 11.0, 10.0, 11.0, 10.0, 11.0, 10.0, 11.0];
        let warm_up = find_warm_up(&batches(&means)).unwrap();
        assert_eq!(warm_up, WarmUp { length: 10, mean: 8.4, mean_after: 10.5, is_longer: false });
        assert!((warm_up.shift() + 0.2).abs() < 1e-12);
        assert_eq!(by_definition(&means), 2);
    }

    #[test]
    fn what_says_nothing_is_no_warm_up() {
        assert_eq!(find_warm_up(&[]), None);
        assert_eq!(find_warm_up(&[1.0; 39]), None);
        assert_eq!(find_warm_up(&[1.0; 400]), None);
        let with_nan = [vec![0.0; 20], vec![1.0; 100], vec![f64::NAN]].concat();
        assert_eq!(find_warm_up(&with_nan), None);
        // Less than a hundredth of the mean.
        let little = [vec![0.96; 10], [1.0, 1.001].repeat(95)].concat();
        assert_eq!(find_warm_up(&little), None);
        // Half is the most that is looked at.
        let growing: Vec<f64> = (10..=100).map(|step| (f64::from(step) / 100.0).powi(2)).collect();
        assert!(find_warm_up(&growing).unwrap().is_longer);
    }

    proptest::proptest! {
        #[test]
        fn sums_from_the_end_give_the_truncation_of_the_definition(
            values in proptest::collection::vec(0u8..50, FEWEST..60),
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let (cut, defined) = (least_error(&values), by_definition(&values));
            let error = |cut: usize| {
                let rest = &values[cut..];
                let squares: f64 = rest.iter().map(|value| (value - mean(rest)).powi(2)).sum();
                squares / (rest.len() * rest.len()) as f64
            };
            // Ties, to rounding, may be broken either way.
            proptest::prop_assert!((error(cut) - error(defined)).abs() < 1e-9);
        }
    }
}
