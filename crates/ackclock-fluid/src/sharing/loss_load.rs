//! Loss-load sharing: a flow's losses grow with a power of its rate.
//!
//! The router reports its total load and one power sum; from these a sender computes which loss each
//! rate would meet (its loss-load curve).
//!
//! **Source**: C. L. Williamson, D. R. Cheriton, "Loss-load curves: support for rate-based
//! congestion control in high-speed datagram networks", SIGCOMM 1991, doi:10.1145/115992.115996.
//!
//! **Rule** (arrival rate r, capacity m, penalty k)
//! ```text
//! L = sum r;  L <= m: no drops
//! p_i = (L - m) r_i^k / sum_j r_j^(k+1),   out_i = r_i (1 - p_i)
//! ```
//! Deviations: the original's formula was not to be had. This form is rebuilt from what
//! McCullough et al. (2010, sections 3.1.2 and 9) say of it: in the steady state senders that
//! optimise meet the loss 1/(k+1) at the load (1 + 1/k) m. It does so for every number of flows.
//! Where `p_i` would be above 1, which no sender that optimises brings about, the largest flow is
//! dropped whole and the others share what excess remains by the same rule. Weights have no effect.
//!
//! Defaults by era: k = 10, the value that the paper names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrivals, Sharing, SharingEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of loss-load routers and of the senders that answer them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LossLoadParams {
    /// Penalty: the power of a flow's rate to which its loss is proportional.
    #[schemars(range(max = 64), extend("exclusiveMinimum" = 0))]
    pub k: f64,
}

impl Default for LossLoadParams {
    fn default() -> Self {
        Self { k: 10.0 }
    }
}

/// Loss-load sharing.
pub struct LossLoad {
    k: f64,
}

impl About<SharingEnv> for LossLoad {
    type Params = LossLoadParams;
    const INFO: Info = Info {
        name: "loss-load",
        title: "Loss-load router",
        source: "Williamson and Cheriton, SIGCOMM 1991, doi:10.1145/115992.115996",
        status: Status::Reconstructed,
    };

    fn new(params: LossLoadParams, _env: &SharingEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { k: params.k })
    }
}

/// From this loss on its difference to 1 has lost too many digits.
const CANCELLING: f64 = 0.999;

impl LossLoad {
    /// Writes what leaves of the flows `lossy` of a link that is overloaded many times. With q = (r / largest)^k,
    /// the part that passes of a flow is
    ///
    /// ```text
    /// 1 - p_i = (m q_i + (1 - q_i) sum r - sum r (1 - q)) / sum r q
    /// ```
    ///
    /// in which nothing cancels for the largest flows, those with q = 1. False, and nothing is written, if these
    /// would lose more than all.
    fn pass_rest(&self, capacity: f64, largest: f64, lossy: &[usize], leaving: &mut [f64]) -> bool {
        let (mut sum, mut light, mut heavy) = (0.0, 0.0, 0.0);
        for &i in lossy {
            let (rate, q) = (leaving[i], (leaving[i] / largest).powf(self.k));
            sum += rate;
            light += rate * (1.0 - q);
            heavy += rate * q;
        }
        if light >= capacity {
            return false;
        }
        for &i in lossy {
            let q = (leaving[i] / largest).powf(self.k);
            let fraction = (capacity * q + (1.0 - q) * sum - light) / heavy;
            leaving[i] *= fraction.clamp(0.0, 1.0);
        }
        true
    }
}

impl Sharing for LossLoad {
    fn share(&self, arrivals: &Arrivals<'_>, leaving: &mut [f64]) {
        let excess = arrivals.offered() - arrivals.capacity;
        leaving.copy_from_slice(arrivals.rate);
        if excess <= 0.0 {
            return;
        }
        let mut order: Vec<usize> = (0..leaving.len()).collect();
        order.sort_unstable_by(|&a, &b| leaving[b].total_cmp(&leaving[a]).then(a.cmp(&b)));
        let mut excess = excess;
        for (rank, &first) in order.iter().enumerate() {
            // In units of the largest rate, so that no power overflows.
            let largest = leaving[first];
            let lossy = &order[rank..];
            let power: f64 = lossy.iter().map(|&i| (leaving[i] / largest).powf(self.k + 1.0)).sum();
            let loss = excess / (largest * power);
            if loss > CANCELLING {
                // Whether it is 1 or more depends on digits that the excess has lost.
                if self.pass_rest(arrivals.capacity, largest, lossy, leaving) {
                    break;
                }
                leaving[first] = 0.0;
                // Summed anew: the difference of two large sums would keep none of the small rates.
                let left: f64 = order[rank + 1..].iter().map(|&i| leaving[i]).sum();
                excess = left - arrivals.capacity;
                if excess <= 0.0 {
                    break;
                }
                continue;
            }
            for &i in lossy {
                leaving[i] *= 1.0 - loss * (leaving[i] / largest).powf(self.k);
            }
            break;
        }
    }

    fn aggregate(&self, arrivals: &Arrivals<'_>) -> f64 {
        // As a ratio to the capacity's own power, for the same reason.
        let scale = arrivals.capacity;
        let sum: f64 = arrivals.rate.iter().map(|r| (r / scale).powf(self.k + 1.0)).sum();
        // Senders divide by it: beyond the largest number any other is as good.
        sum.min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::refusal;

    #[test]
    fn equal_flows_lose_the_same_and_fill_the_link() {
        let rule = LossLoad { k: 3.0 };
        let mut leaving = [0.0; 4];
        rule.share(&Arrivals { capacity: 6.0, rate: &[2.0; 4], weight: &[] }, &mut leaving);
        assert_eq!(leaving, [1.5; 4]);
    }

    #[test]
    fn the_larger_flow_bears_more_by_the_power_k() {
        // By hand, k = 1: L - m = 1, sum r^2 = 5; p = (1/5, 2/5); out = (0.8, 1.2).
        let mut leaving = [0.0; 2];
        let rate = [1.0, 2.0];
        LossLoad { k: 1.0 }
            .share(&Arrivals { capacity: 2.0, rate: &rate, weight: &[] }, &mut leaving);
        assert!(
            (leaving[0] - 0.8).abs() < 1e-15 && (leaving[1] - 1.2).abs() < 1e-15,
            "{leaving:?}"
        );
    }

    #[test]
    fn a_flow_that_would_lose_more_than_all_is_dropped_whole() {
        // k = 1: L - m = 11, sum r^2 = 102; 11 * 10 / 102 > 1. Without the large flow 1 is too much
        // of 2, by half of each.
        let mut leaving = [0.0; 3];
        let rate = [1.0, 10.0, 1.0];
        LossLoad { k: 1.0 }
            .share(&Arrivals { capacity: 1.0, rate: &rate, weight: &[] }, &mut leaving);
        assert_eq!(leaving, [0.5, 0.0, 0.5]);
    }

    /// Two flows of 10^12 beside one of 2 over a link of 6: of the small one next to nothing is lost, so that
    /// each of the large ones keeps 2.
    #[test]
    fn an_overload_of_any_size_fills_the_link_and_no_more() {
        let mut leaving = [0.0; 3];
        let rate = [1e12, 2.0, 1e12];
        LossLoad { k: 10.0 }
            .share(&Arrivals { capacity: 6.0, rate: &rate, weight: &[] }, &mut leaving);
        for (left, expected) in leaving.iter().zip([2.0, 2.0, 2.0]) {
            assert!((left - expected).abs() < 1e-9, "{leaving:?}");
        }
        // The large one loses more than all of it: the link is left to the others, which fit.
        let rate = [1e12, 2.0, 3.0];
        LossLoad { k: 10.0 }
            .share(&Arrivals { capacity: 6.0, rate: &rate, weight: &[] }, &mut leaving);
        assert!(leaving.iter().sum::<f64>() <= 6.0 * (1.0 + 1e-9), "{leaving:?}");
        assert_eq!(leaving[1..], [2.0, 3.0]);
    }

    /// The small flow alone fills the link: of the large ones nothing passes, in any order of the sum.
    #[test]
    fn flows_beside_which_a_small_one_fills_the_link_lose_all() {
        let large = 1.242_156_862_745_098e16;
        for position in 0..4 {
            let mut rate = [large; 4];
            rate[position] = 83.0 / 6.0;
            let mut leaving = [0.0; 4];
            let arrivals = Arrivals { capacity: 12.421_568_627_450_98, rate: &rate, weight: &[] };
            LossLoad { k: 10.0 }.share(&arrivals, &mut leaving);
            for (i, left) in leaving.iter().enumerate() {
                let expected = if i == position { arrivals.capacity } else { 0.0 };
                assert!((left - expected).abs() < 1e-9, "{position}: {leaving:?}");
            }
        }
    }

    #[test]
    fn the_aggregate_is_finite_at_any_overload() {
        let rule = LossLoad { k: 64.0 };
        let arrivals = Arrivals { capacity: 1.0, rate: &[1e12, 1e12], weight: &[] };
        assert!(rule.aggregate(&arrivals).is_finite());
    }

    #[test]
    fn a_penalty_of_zero_is_refused() {
        let refused = refusal::<SharingEnv, LossLoad>(json!({ "k": 0 }), &SharingEnv);
        assert_eq!(refused, "k: 0 is out of range; expected more than 0 and at most 64");
    }
}
