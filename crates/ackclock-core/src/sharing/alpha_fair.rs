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
use crate::registry::{About, Info, Status};

/// Beyond this, weights raised to 1/alpha are all 1 in double precision for practical purposes.
const LARGEST_ALPHA: f64 = 1e6;

/// Parameters of the alpha-fair share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AlphaFairParams {
    /// Aversion to unequal rates, above 0, at most 1e6.
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

    fn new(params: AlphaFairParams, _: &SharingEnv) -> Result<Self, String> {
        let alpha = params.alpha;
        if alpha == 0.0 {
            return Err("alpha is 0, where every division that fills a link is optimal, so that \
                        a link has no rule; expected above 0, or for a whole network \
                        allocation = \"alpha-fair\" with alpha = 0"
                .to_owned());
        }
        if !(alpha > 0.0 && alpha <= LARGEST_ALPHA) {
            return Err(format!("alpha is {alpha}, but it must be above 0 and at most 1e6"));
        }
        Ok(Self { params })
    }
}

impl Sharing for AlphaFair {
    fn share(&self, arrivals: &Arrivals<'_>, leaving: &mut [f64]) {
        let weight: Vec<f64> =
            arrivals.weight.iter().map(|w| w.powf(1.0 / self.params.alpha)).collect();
        MaxMin.share(&Arrivals { weight: &weight, ..*arrivals }, leaving);
    }

    fn is_max_min(&self) -> bool {
        // The rule of weights as they are.
        self.params.alpha.to_bits() == 1f64.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shared(alpha: f64, capacity: f64, rate: &[f64], weight: &[f64]) -> Vec<f64> {
        let mut leaving = vec![0.0; rate.len()];
        let rule = AlphaFair::new(AlphaFairParams { alpha }, &SharingEnv).unwrap();
        rule.share(&Arrivals { capacity, rate, weight }, &mut leaving);
        leaving
    }

    #[test]
    fn weights_count_by_their_root() {
        // Weights 1 and 4: rates 1 : 4 at alpha 1, 1 : 2 at alpha 2, 1 : 16 at alpha 1/2.
        for (alpha, capacity) in [(1.0, 5.0), (2.0, 3.0), (0.5, 17.0)] {
            let got = shared(alpha, capacity, &[100.0; 2], &[1.0, 4.0]);
            assert!((got[0] - 1.0).abs() < 1e-12, "{alpha}: {got:?}");
        }
        // One asks for less than its share: the other has the rest.
        assert_eq!(shared(2.0, 3.0, &[0.5, 9.0], &[1.0, 4.0]), [0.5, 2.5]);
    }

    #[test]
    fn alpha_0_is_refused_with_the_reason() {
        let refused = AlphaFair::new(AlphaFairParams { alpha: 0.0 }, &SharingEnv).err().unwrap();
        assert!(refused.contains("expected above 0"), "{refused}");
        assert!(AlphaFair::new(AlphaFairParams { alpha: f64::NAN }, &SharingEnv).is_err());
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
            let got = shared(alpha, capacity, &rate, &weight);
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
