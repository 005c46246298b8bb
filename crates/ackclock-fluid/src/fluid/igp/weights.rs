//! Weights that lower the utilisation of the busiest link: a local search.
//!
//! A move gives one link, most often one of the busiest, another weight; it stays if the busiest link
//! is less busy, or as busy at a lower cost. The cost of a link rises with its load in pieces of slope 1, 3, 10, 70, 500
//! and 5000, which end at a utilisation of 1/3, 2/3, 9/10, 1 and 11/10. After a while without a better
//! move some weights of the best found are drawn anew.
//!
//! **Source**: B. Fortz, M. Thorup, "Internet Traffic Engineering by Optimizing OSPF Weights", IEEE
//! INFOCOM 2000, doi:10.1109/INFCOM.2000.832225: the cost, and that finding the best weights is NP-hard. The
//! search is simpler than theirs.

use crate::rng::{Purpose, Stream};

use super::{Igp, Matrix, Progress, Stopped, loads};

/// How long and over what to search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Sets of weights to try.
    pub tries: usize,
    /// Largest weight; weights are 1 to this.
    pub most: u32,
    /// Seed of the draws.
    pub seed: u64,
}

/// The best weights found.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Cost of each directed link.
    pub cost: Vec<f64>,
    /// Utilisation of the busiest link with them.
    pub utilisation: f64,
    /// Sets of weights at which the best was beaten, with that utilisation.
    pub course: Vec<(usize, f64)>,
}

/// Moves without a better one before weights are drawn anew.
const PATIENCE: usize = 100;
/// Part of the weights that are then drawn.
const SHAKEN: f64 = 0.1;
/// The busiest links, of which half of the moves change one.
const BUSIEST: usize = 5;

/// Searches for weights of the groups of directed links in `groups`, which share a weight each.
///
/// # Errors
/// `progress` returned false.
pub fn search_weights(
    igp: &Igp,
    matrix: &Matrix,
    capacity: &[f64],
    groups: &[Vec<u32>],
    search: &Search,
    progress: Progress,
) -> Result<Weights, Stopped> {
    let mut random = Stream::new(search.seed, Purpose::Weights, 0);
    let mut net = igp.clone();
    let mut group_of = vec![0; igp.links()];
    for (number, group) in groups.iter().enumerate() {
        for &link in group {
            group_of[link as usize] = number;
        }
    }
    let (mut now, mut busy) = value(&net, matrix, capacity)?;
    let (mut best, mut best_cost) = (now, net.cost.clone());
    let mut course = vec![(0, best.0)];
    let mut idle = 0;
    for tried in 1..=search.tries {
        if idle >= PATIENCE {
            idle = 0;
            net.cost.clone_from(&best_cost);
            for group in groups {
                if random.uniform() < SHAKEN {
                    set(&mut net, group, random.below(u64::from(search.most)) + 1);
                }
            }
            (now, busy) = value(&net, matrix, capacity)?;
        } else {
            let group = if random.uniform() < 0.5 {
                group_of[busy[random.below(busy.len() as u64) as usize] as usize]
            } else {
                random.below(groups.len() as u64) as usize
            };
            let old = net.cost[groups[group][0] as usize];
            set(&mut net, &groups[group], random.below(u64::from(search.most)) + 1);
            let (then, busiest) = value(&net, matrix, capacity)?;
            if then <= now {
                (now, busy) = (then, busiest);
            } else {
                for &link in &groups[group] {
                    net.cost[link as usize] = old;
                }
            }
        }
        idle += 1;
        if now < best {
            idle = 0;
            best = now;
            best_cost.clone_from(&net.cost);
            course.push((tried, best.0));
        }
        if !progress(tried, search.tries) {
            return Err(Stopped);
        }
    }
    Ok(Weights { cost: best_cost, utilisation: best.0, course })
}

fn set(net: &mut Igp, group: &[u32], weight: u64) {
    for &link in group {
        net.cost[link as usize] = weight as f64;
    }
}

/// Utilisation of the busiest link and cost of all, and the busiest links.
fn value(net: &Igp, matrix: &Matrix, capacity: &[f64]) -> Result<((f64, f64), Vec<u32>), Stopped> {
    let link_loads = loads(net, matrix, None, &[], &mut |_, _| true)?;
    let used: Vec<f64> = link_loads.link.iter().zip(capacity).map(|(l, c)| l / c).collect();
    let mut order: Vec<u32> = (0..used.len() as u32).collect();
    order.sort_by(|&a, &b| used[b as usize].total_cmp(&used[a as usize]).then(a.cmp(&b)));
    order.truncate(BUSIEST);
    let cost = used.iter().zip(capacity).map(|(&u, &c)| c * steepness(u)).sum();
    // Sums in another order differ in the last bits, which must not decide.
    let most = (used[order[0] as usize] * 1e9).round() / 1e9;
    Ok(((most, cost), order))
}

/// Cost of a link at a utilisation, for a capacity of 1.
fn steepness(utilisation: f64) -> f64 {
    const PIECES: [(f64, f64); 6] =
        [(0.0, 1.0), (1.0 / 3.0, 2.0), (2.0 / 3.0, 7.0), (0.9, 60.0), (1.0, 430.0), (1.1, 4500.0)];
    PIECES.iter().map(|&(from, more)| more * (utilisation - from).max(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_has_the_printed_slopes() {
        let slope =
            |utilisation: f64| (steepness(utilisation + 1e-6) - steepness(utilisation)) / 1e-6;
        for (utilisation, printed) in
            [(0.2, 1.0), (0.5, 3.0), (0.8, 10.0), (0.95, 70.0), (1.05, 500.0), (1.5, 5000.0)]
        {
            assert!(
                (slope(utilisation) - printed).abs() < 1e-3 * printed,
                "{utilisation}: {}",
                slope(utilisation)
            );
        }
    }

    /// A square; 0 to 2 by 1 and by 3. With weights of 1 and 10 all goes by 1.
    fn search(traffic: f64, capacity: [f64; 4]) -> Weights {
        let src = vec![0, 1, 0, 3];
        let dst = vec![1, 2, 3, 2];
        let igp = Igp::new(4, src, dst, vec![1.0, 1.0, 10.0, 10.0]);
        let matrix = Matrix::new(4, vec![0], vec![2], vec![traffic]);
        let groups: Vec<Vec<u32>> = (0..4).map(|l| vec![l]).collect();
        let search = Search { tries: 2000, most: 4, seed: 1 };
        search_weights(&igp, &matrix, &capacity, &groups, &search, &mut |_, _| true).unwrap()
    }

    #[test]
    fn two_ways_are_both_used() {
        let result = search(1.0, [1.0; 4]);
        assert_eq!(result.utilisation, 0.5);
        assert_eq!(result.course.first(), Some(&(0, 1.0)));
    }

    /// 3 of 4 are less than half of 3 in 1.
    #[test]
    fn a_way_of_little_capacity_is_avoided() {
        let result = search(3.0, [4.0, 4.0, 1.0, 1.0]);
        assert_eq!(result.course, [(0, 0.75)]);
        assert_eq!(result.utilisation, 0.75);
    }
}
