//! An oracle in exact rational arithmetic, written without a look at the engine's way: water is
//! raised by the least step that stops somebody, with every sum formed anew.

use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

use super::random_nets::Whole;

fn whole(n: u32) -> BigRational {
    BigRational::from_integer(n.into())
}

/// The max-min allocation, exactly.
pub(super) fn max_min(net: &Whole) -> Vec<BigRational> {
    let flows = net.routes.len();
    let mut rate = vec![BigRational::zero(); flows];
    let mut stopped = vec![false; flows];
    while stopped.iter().any(|s| !s) {
        let mut step: Option<BigRational> = None;
        let mut least = |s: BigRational| {
            if step.as_ref().is_none_or(|old| s < *old) {
                step = Some(s);
            }
        };
        let used = |link: usize, rate: &[BigRational]| {
            let mut sum = BigRational::zero();
            for (flow, route) in net.routes.iter().enumerate() {
                if route.contains(&(link as u32)) {
                    sum += &rate[flow];
                }
            }
            sum
        };
        for link in 0..net.capacity.len() {
            let mut weight = BigRational::zero();
            for (flow, route) in net.routes.iter().enumerate() {
                if !stopped[flow] && route.contains(&(link as u32)) {
                    weight += whole(net.weight[flow]);
                }
            }
            if !weight.is_zero() {
                least((whole(net.capacity[link]) - used(link, &rate)) / weight);
            }
        }
        for flow in 0..flows {
            if !stopped[flow] && net.demand[flow] > 0 {
                least((whole(net.demand[flow]) - &rate[flow]) / whole(net.weight[flow]));
            }
        }
        let step = step.unwrap();
        for flow in 0..flows {
            if !stopped[flow] {
                rate[flow] += whole(net.weight[flow]) * &step;
            }
        }
        for flow in 0..flows {
            let has_all = net.demand[flow] > 0 && rate[flow] >= whole(net.demand[flow]);
            let full = net.routes[flow]
                .iter()
                .any(|&link| used(link as usize, &rate) >= whole(net.capacity[link as usize]));
            stopped[flow] |= has_all || full;
        }
    }
    rate
}

/// What one max-min link lets through, exactly: raise the level over the sorted arrivals.
pub(super) fn share(capacity: &BigRational, arriving: &[(BigRational, u32)]) -> Vec<BigRational> {
    let total: BigRational =
        arriving.iter().map(|a| a.0.clone()).fold(BigRational::zero(), |a, b| a + b);
    if total <= *capacity {
        return arriving.iter().map(|a| a.0.clone()).collect();
    }
    let mut satisfied = vec![false; arriving.len()];
    loop {
        let (mut left, mut weight) = (capacity.clone(), BigRational::zero());
        for (is_satisfied, (rate, w)) in satisfied.iter().zip(arriving) {
            if *is_satisfied {
                left -= rate;
            } else {
                weight += whole(*w);
            }
        }
        let level = left / weight;
        let mut grew = false;
        for (is_satisfied, (rate, w)) in satisfied.iter_mut().zip(arriving) {
            if !*is_satisfied && *rate <= &level * whole(*w) {
                *is_satisfied = true;
                grew = true;
            }
        }
        if !grew {
            return satisfied
                .iter()
                .zip(arriving)
                .map(
                    |(is_satisfied, (rate, w))| {
                        if *is_satisfied { rate.clone() } else { &level * whole(*w) }
                    },
                )
                .collect();
        }
    }
}

/// An engine's rate as the exact number that it is.
pub(super) fn exactly(rate: f64) -> BigRational {
    BigRational::from_float(rate).unwrap()
}

/// Whether an engine's rate is the exact one up to rounding.
pub(super) fn agrees(rate: f64, exact: &BigRational) -> bool {
    let exact = exact.to_f64().unwrap();
    (rate - exact).abs() <= 1e-9 * exact.abs().max(1.0)
}

#[test]
fn the_oracle_solves_the_textbooks_parking_lot() {
    let net = Whole {
        capacity: vec![1, 2, 4],
        routes: vec![vec![0, 1, 2], vec![0], vec![1], vec![2]],
        weight: vec![1; 4],
        demand: vec![0; 4],
    };
    let half = BigRational::one() / whole(2);
    assert_eq!(max_min(&net), [half.clone(), half.clone(), whole(3) * &half, whole(7) * &half]);
}
