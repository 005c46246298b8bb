//! The alpha-fair share of one link.
//!
//! A link that knows the rates at which flows arrive, and nothing of their other links, gives them
//! the rates with the largest sum of utilities among those that fit.
//!
//! **Source**: J. Mo, J. Walrand, "Fair end-to-end window-based congestion control", IEEE/ACM Trans.
//! Networking 8(5), 2000, doi:10.1109/90.879343, applied to one link; the solution follows from its conditions
//! of Karush, Kuhn and Tucker.
//!
//! **Rule** (a arrivals, w weights, C capacity, p the price of the link)
//! ```text
//! maximise  sum w_i x_i^(1 - alpha) / (1 - alpha)   (w log x at alpha = 1)
//! over      0 <= x_i <= a_i,  sum x_i <= C
//! so that   x_i = min(a_i, (w_i / p)^(1 / alpha)),  sum x_i = C where sum a_i > C
//! ```
//! That is the max-min share with weights w^(1 / alpha): with equal weights the same for every
//! alpha, as alpha grows the unweighted max-min share. Alpha-fairness of a *network* differs with
//! alpha because a flow pays on every link of its route; no rule that sees one link can find that
//! (`allocation = "alpha-fair"` of a fluid case does). At alpha = 0 any division that fills the link
//! is optimal for equal weights, so that there is no rule.
//!
//! Deviations: none. Defaults by era: the same in all; alpha = 1, proportional fairness.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::max_min::MaxMin;
use super::{Arrivals, Sharing, SharingEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of the alpha-fair share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AlphaFairParams {
    /// Aversion to unequal rates, more than 0.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub alpha: f64,
}

impl Default for AlphaFairParams {
    fn default() -> Self {
        Self { alpha: 1.0 }
    }
}

/// The alpha-fair share.
pub struct AlphaFair {
    params: AlphaFairParams,
}

impl About<SharingEnv> for AlphaFair {
    type Params = AlphaFairParams;
    const INFO: Info = Info {
        name: "alpha-fair",
        title: "Alpha-fair share of one link",
        source: "Mo, Walrand, IEEE/ACM Trans. Networking 8(5), 2000, doi:10.1109/90.879343, for one link",
        status: Status::Variant,
    };

    fn new(params: AlphaFairParams, _: &SharingEnv) -> Result<Self, Vec<Problem>> {
        if params.alpha == 0.0 {
            let range = "more than 0: at 0 every division that fills a link is optimal, and a link has no \
                         rule; for a whole network there is allocation = \"alpha-fair\"";
            return Err(Problem::out_of_range("alpha", params.alpha, range).into());
        }
        Ok(Self { params })
    }
}

/// Beside a share that is 1 one below this is less than any rounding.
const LEAST: f64 = 1e-100;

impl AlphaFair {
    /// Shares where powers of the weights leave the range of numbers: as if those of the largest weights came
    /// first, for next to them the others have nothing.
    fn share_by_rank(&self, arrivals: &Arrivals<'_>, leaving: &mut [f64]) {
        let mut left = arrivals.capacity;
        let mut unserved: Vec<usize> = (0..leaving.len()).collect();
        leaving.fill(0.0);
        while !unserved.is_empty() && left > 0.0 {
            let most = unserved.iter().map(|&i| arrivals.weight[i]).fold(0.0, f64::max);
            let power = |i: usize| (arrivals.weight[i] / most).powf(1.0 / self.params.alpha);
            let (heavy, light): (Vec<usize>, _) =
                unserved.into_iter().partition(|&i| arrivals.weight[i] >= most || power(i) > LEAST);
            let rate: Vec<f64> = heavy.iter().map(|&i| arrivals.rate[i]).collect();
            let weight: Vec<f64> = heavy.iter().map(|&i| power(i)).collect();
            let mut shares = vec![0.0; heavy.len()];
            MaxMin.share(&Arrivals { capacity: left, rate: &rate, weight: &weight }, &mut shares);
            for (&i, share) in heavy.iter().zip(shares) {
                leaving[i] = share;
                left -= share;
            }
            unserved = light;
        }
    }
}

impl Sharing for AlphaFair {
    fn share(&self, arrivals: &Arrivals<'_>, leaving: &mut [f64]) {
        let weight: Vec<f64> =
            arrivals.weight.iter().map(|w| w.powf(1.0 / self.params.alpha)).collect();
        if weight.iter().all(|weight| (LEAST..1.0 / LEAST).contains(weight)) {
            MaxMin.share(&Arrivals { weight: &weight, ..*arrivals }, leaving);
        } else {
            self.share_by_rank(arrivals, leaving);
        }
    }

    fn is_max_min(&self) -> bool {
        // The rule of weights as they are.
        self.params.alpha.to_bits() == 1f64.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::registry::refusal;

    fn share_among(alpha: f64, capacity: f64, rate: &[f64], weight: &[f64]) -> Vec<f64> {
        let mut leaving = vec![0.0; rate.len()];
        let rule = AlphaFair::new(AlphaFairParams { alpha }, &SharingEnv).unwrap();
        rule.share(&Arrivals { capacity, rate, weight }, &mut leaving);
        leaving
    }

    #[test]
    fn weights_count_by_their_root() {
        // Weights 1 and 4: rates 1 : 4 at alpha 1, 1 : 2 at alpha 2, 1 : 16 at alpha 1/2.
        for (alpha, capacity) in [(1.0, 5.0), (2.0, 3.0), (0.5, 17.0)] {
            let got = share_among(alpha, capacity, &[100.0; 2], &[1.0, 4.0]);
            assert!((got[0] - 1.0).abs() < 1e-12, "{alpha}: {got:?}");
        }
        // One demands less than its share: the other has the rest.
        assert_eq!(share_among(2.0, 3.0, &[0.5, 9.0], &[1.0, 4.0]), [0.5, 2.5]);
    }

    #[test]
    fn at_alpha_1_and_nowhere_else_it_is_max_min_of_the_weights() {
        for (alpha, is) in [(1.0, true), (0.999, false), (2.0, false)] {
            let rule = AlphaFair::new(AlphaFairParams { alpha }, &SharingEnv).unwrap();
            assert_eq!(rule.is_max_min(), is, "{alpha}");
            let arrivals =
                Arrivals { capacity: 7.0, rate: &[9.0, 9.0, 1.5], weight: &[1.0, 4.0, 2.0] };
            let (mut ours, mut theirs) = ([0.0; 3], [0.0; 3]);
            rule.share(&arrivals, &mut ours);
            MaxMin.share(&arrivals, &mut theirs);
            assert_eq!(ours == theirs, is, "{alpha}: {ours:?} {theirs:?}");
        }
    }

    /// Towards alpha 0 the largest weight has all that it can use, then the next; equal ones share.
    #[test]
    fn powers_of_weights_beyond_numbers_rank_the_flows() {
        assert_eq!(
            share_among(1e-9, 6.0, &[4.0; 4], &[0.01, 9.0, 0.01, 0.5]),
            [0.0, 4.0, 0.0, 2.0]
        );
        assert_eq!(
            share_among(1e-9, 8.0, &[3.0; 4], &[0.01, 9.0, 0.01, 0.5]),
            [1.0, 3.0, 1.0, 3.0]
        );
        assert_eq!(share_among(1e-9, 6.0, &[1e12, 1.0, 1e12], &[0.01; 3]), [2.5, 1.0, 2.5]);
        // (1/2)^(1/alpha) is 10^-15: more than nothing, and in range.
        let got = share_among(0.02, 1.0, &[9.0; 2], &[2e9, 1e9]);
        assert!((got[1] / got[0] / 0.5f64.powi(50) - 1.0).abs() < 1e-9, "{got:?}");
    }

    /// The rule is x = (w / p)^(1 / alpha) however small that is.
    #[test]
    fn rates_are_as_powers_of_the_weights_over_a_hundred_decades() {
        let got = share_among(1.0, 2.0, &[9.0; 2], &[1e-60, 1e60]);
        assert!((got[0] / 2e-120 - 1.0).abs() < 1e-9 && got[1] == 2.0, "{got:?}");
        let got = share_among(2.0, 2.0, &[9.0; 2], &[1e-80, 1e100]);
        assert!((got[0] / 2e-90 - 1.0).abs() < 1e-9 && got[1] == 2.0, "{got:?}");
    }

    #[test]
    fn alpha_0_is_refused_with_the_reason() {
        let refused = refusal::<SharingEnv, AlphaFair>(json!({ "alpha": 0 }), &SharingEnv);
        assert!(
            refused.starts_with("alpha: 0 is out of range; expected more than 0:"),
            "{refused}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]
        #[test]
        fn no_small_transfer_between_two_flows_raises_the_utility(
            flows in prop::collection::vec((0.1f64..10.0, 0.2f64..5.0), 2..8),
            alpha in 0.3f64..6.0,
            part in 0.2f64..0.9,
        ) {
            let rate: Vec<f64> = flows.iter().map(|f| f.0).collect();
            let weight: Vec<f64> = flows.iter().map(|f| f.1).collect();
            let capacity = part * rate.iter().sum::<f64>();
            let got = share_among(alpha, capacity, &rate, &weight);
            let worth = |i: usize, x: f64| if (alpha - 1.0).abs() < 1e-9 {
                weight[i] * x.ln()
            } else {
                weight[i] * x.powf(1.0 - alpha) / (1.0 - alpha)
            };
            for from in 0..got.len() {
                for to in 0..got.len() {
                    let step = (0.01 * got[from]).min(rate[to] - got[to]);
                    if from == to || step <= 0.0 {
                        continue;
                    }
                    let before = worth(from, got[from]) + worth(to, got[to]);
                    let after = worth(from, got[from] - step) + worth(to, got[to] + step);
                    prop_assert!(after <= before + 1e-9 * before.abs().max(1.0));
                }
            }
        }
    }
}
