//! Max-min sharing: each flow gets its demand, up to one level that fills the link.
//!
//! The *brick wall* of fair queueing in a fluid: sending beyond the level changes nothing for
//! anybody, neither for the sender nor for the others.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 3.1; A. Demers, S. Keshav, S. Shenker,
//! "Analysis and Simulation of a Fair Queueing Algorithm", SIGCOMM 1989, section 2 (fairness).
//!
//! **Rule** (arrival rate a, weight w, capacity c)
//! ```text
//! sum a <= c:  every flow leaves as it came
//! else:        out_i = min(a_i, w_i L)   with L such that sum out = c
//! ```
//! Deviations: none; the paper's flows weigh the same, which is the default.
//!
//! Defaults by era: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrivals, Sharing, SharingEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Max-min sharing has no parameters; weights belong to flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaxMinParams {}

/// Max-min sharing.
pub struct MaxMin;

impl About<SharingEnv> for MaxMin {
    type Params = MaxMinParams;
    const INFO: Info = Info {
        name: "max-min",
        title: "Max-min fair link, a brick wall",
        source: "McCullough et al. 2010 section 3.1; Demers et al., SIGCOMM 1989",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["maxmin"];

    fn new(_params: MaxMinParams, _env: &SharingEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

/// The level L at which flows of these arrival rates fill the capacity; infinite where they fit.
pub fn level(arrivals: &Arrivals<'_>) -> f64 {
    let weight = |i: usize| arrivals.weight.get(i).copied().unwrap_or(1.0);
    if arrivals.offered() <= arrivals.capacity {
        return f64::INFINITY;
    }
    let mut order: Vec<(f64, usize)> =
        arrivals.rate.iter().enumerate().map(|(i, a)| (a / weight(i), i)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = arrivals.capacity;
    let mut active: f64 = order.iter().map(|&(_, i)| weight(i)).sum();
    for &(demand, i) in &order {
        if demand * active >= left {
            return left / active;
        }
        left -= arrivals.rate[i];
        active -= weight(i);
    }
    // Only rounding leads here: the last flow reaches the level by definition.
    order.last().map_or(f64::INFINITY, |&(demand, _)| demand)
}

impl Sharing for MaxMin {
    fn share(&self, arrivals: &Arrivals<'_>, leaving: &mut [f64]) {
        let level = level(arrivals);
        for (i, (out, &arrived)) in leaving.iter_mut().zip(arrivals.rate).enumerate() {
            let weight = arrivals.weight.get(i).copied().unwrap_or(1.0);
            *out = arrived.min(level * weight);
        }
    }

    fn is_max_min(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_among(capacity: f64, rate: &[f64], weight: &[f64]) -> Vec<f64> {
        let mut leaving = vec![0.0; rate.len()];
        MaxMin.share(&Arrivals { capacity, rate, weight }, &mut leaving);
        leaving
    }

    #[test]
    fn small_flows_get_all_they_demand_and_large_ones_the_same() {
        // Three flows of 2, 4 and 10 on a link of 12: the first two fit below the level 6.
        assert_eq!(share_among(12.0, &[2.0, 4.0, 10.0], &[]), [2.0, 4.0, 6.0]);
        // On a link of 9 the level is (9 - 2) / 2.
        assert_eq!(share_among(9.0, &[2.0, 4.0, 10.0], &[]), [2.0, 3.5, 3.5]);
    }

    #[test]
    fn sending_more_gives_nothing() {
        assert_eq!(share_among(9.0, &[2.0, 4.0, 1e9], &[]), [2.0, 3.5, 3.5]);
    }

    #[test]
    fn weights_scale_the_level() {
        assert_eq!(share_among(9.0, &[10.0, 10.0], &[1.0, 2.0]), [3.0, 6.0]);
        // The first needs less than its three parts of 12; the others share 9, by one and two.
        assert_eq!(share_among(12.0, &[3.0, 10.0, 10.0], &[3.0, 1.0, 2.0]), [3.0, 3.0, 6.0]);
    }
}
