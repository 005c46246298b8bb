//! Divides a graph into parts of about equal weight with little between them.
//!
//! A part grows from a node at the edge of what is left, always by the node that is bound most to it and least to the
//! rest; then nodes at the borders of parts go where more of what they are bound to is, as long as no part grows too heavy
//! (Kernighan & Lin 1970, doi:10.1002/j.1538-7305.1970.tb01770.x; Fiduccia & Mattheyses, DAC 1982, without their undoing of
//! moves).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::FxHashSet;

/// An undirected graph with weights.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// By node.
    pub(crate) weights: Vec<f64>,
    /// By node, its neighbours and what binds it to them.
    pub(crate) bonds: Vec<Vec<(u32, f64)>>,
}

/// Looks at all nodes for better places.
const ROUNDS: usize = 10;

const NOWHERE: u16 = u16::MAX;

/// What a part takes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// What is bound most to it and least to the rest.
    ByBond,
    /// What is nearest to its first node, of several what is bound most.
    ByDistance,
}

impl Graph {
    /// For so many nodes without weight and bonds.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { weights: vec![0.0; nodes], bonds: vec![Vec::new(); nodes] }
    }

    /// Binds two nodes.
    pub(crate) fn bind(&mut self, a: usize, b: usize, bond: f64) {
        if a != b {
            self.bonds[a].push((b as u32, bond));
            self.bonds[b].push((a as u32, bond));
        }
    }

    /// By node, the number of its part, of so many at most. A part may be `slack` times as heavy as the mean.
    pub(crate) fn divide(&self, count: usize, slack: f64, by: Growth) -> Vec<u16> {
        let mut homes = vec![NOWHERE; self.weights.len()];
        let mut left: f64 = self.weights.iter().sum();
        let most = left / count.max(1) as f64 * slack;
        for index in 0..count {
            let is_last = index + 1 == count;
            let target = if is_last { f64::INFINITY } else { left / (count - index) as f64 };
            left -= self.grow(&mut homes, index as u16, by, [target, target * slack]);
        }
        self.refine(&mut homes, count, most);
        homes
    }

    /// Lets a part grow to a weight, and up to another by what is bound more to it than to the rest. Returns its weight.
    fn grow(&self, homes: &mut [u16], index: u16, by: Growth, [target, most]: [f64; 2]) -> f64 {
        let mut weight = 0.0;
        let mut near = BinaryHeap::new();
        // By node that is near: its bond to the part less that to the rest.
        let mut gains = vec![0.0f64; homes.len()];
        let mut is_near = vec![false; homes.len()];
        let mut distance = vec![0u32; homes.len()];
        let far = |distance: u32| match by {
            Growth::ByBond => Reverse(0),
            Growth::ByDistance => Reverse(distance),
        };
        let mut from = 0;
        while weight < most {
            let next = loop {
                match near.pop() {
                    // Of several entries the latest is valid.
                    Some((_, Gain(gain), Reverse(node))) if homes[node as usize] == NOWHERE => {
                        if gain == gains[node as usize] {
                            break Some(node as usize);
                        }
                    }
                    Some(_) => {}
                    None => break self.find_edge(homes, &mut from),
                }
            };
            let Some(node) = next else { break };
            // What would go beyond the target by more than stopping falls short of it stays.
            let reached = weight + self.weights[node] / 2.0;
            let is_bound = gains[node] > 0.0 && weight + self.weights[node] <= most;
            if weight > 0.0 && reached > target && !is_bound {
                break;
            }
            homes[node] = index;
            weight += self.weights[node];
            for &(other, bond) in &self.bonds[node] {
                let other = other as usize;
                if homes[other] != NOWHERE {
                    continue;
                }
                if std::mem::replace(&mut is_near[other], true) {
                    gains[other] += 2.0 * bond;
                } else {
                    distance[other] = distance[node] + 1;
                    let to_others =
                        self.bonds[other].iter().filter(|b| homes[b.0 as usize] != index);
                    let bond_to_others: f64 = to_others.map(|b| b.1).sum();
                    gains[other] =
                        self.bonds[other].iter().map(|b| b.1).sum::<f64>() - 2.0 * bond_to_others;
                }
                near.push((far(distance[other]), Gain(gains[other]), Reverse(other as u32)));
            }
        }
        weight
    }

    /// A node without a part that is far from others in what hangs together; `from` is where the search begins.
    fn find_edge(&self, homes: &[u16], from: &mut usize) -> Option<usize> {
        while homes.get(*from).is_some_and(|&home| home != NOWHERE) {
            *from += 1;
        }
        let mut last = Some(*from).filter(|&from| from < homes.len())?;
        for _ in 0..2 {
            // Of what hangs together only: a network may have very many parts.
            let mut visited = FxHashSet::default();
            let mut queue = VecDeque::from([last]);
            visited.insert(last);
            while let Some(node) = queue.pop_front() {
                last = node;
                for &(other, _) in &self.bonds[node] {
                    let other = other as usize;
                    if homes[other] == NOWHERE && visited.insert(other) {
                        queue.push_back(other);
                    }
                }
            }
        }
        Some(last)
    }

    /// Moves nodes to parts that they are bound to more, or from parts that are heavier than `most`.
    fn refine(&self, homes: &mut [u16], count: usize, most: f64) {
        let mut load = self.loads(homes, count);
        let mut bonds = vec![0.0f64; count];
        for _ in 0..ROUNDS {
            let mut has_moved = false;
            for node in 0..homes.len() {
                let (home, weight) = (usize::from(homes[node]), self.weights[node]);
                let neighbours = &self.bonds[node];
                if neighbours.iter().all(|b| homes[b.0 as usize] == homes[node]) {
                    continue;
                }
                bonds.fill(0.0);
                for &(other, bond) in neighbours {
                    bonds[usize::from(homes[other as usize])] += bond;
                }
                let is_heavy = load[home] > most;
                let is_better = |&to: &usize| {
                    let (there, here) = (load[to] + weight, load[home]);
                    let fits = there <= most.max(here - weight) && there < here.max(most);
                    let gain = bonds[to] - bonds[home];
                    to != home
                        && bonds[to] > 0.0
                        && fits
                        && (gain > 0.0 || is_heavy || gain == 0.0 && there < here)
                };
                let best =
                    (0..count).filter(is_better).max_by(|&a, &b| bonds[a].total_cmp(&bonds[b]));
                if let Some(to) = best {
                    homes[node] = to as u16;
                    load[home] -= weight;
                    load[to] += weight;
                    has_moved = true;
                }
            }
            if !has_moved {
                return;
            }
        }
    }

    /// The weight of each part.
    pub(crate) fn loads(&self, homes: &[u16], count: usize) -> Vec<f64> {
        let mut loads = vec![0.0; count];
        for (&home, weight) in homes.iter().zip(&self.weights) {
            loads[usize::from(home)] += weight;
        }
        loads
    }
}

/// A number in order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gain(f64);

impl Eq for Gain {}

impl PartialOrd for Gain {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Gain {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(graph: &Graph, homes: &[u16]) -> f64 {
        let between = |node: usize| {
            let neighbours = graph.bonds[node].iter();
            neighbours.filter(move |b| homes[b.0 as usize] != homes[node]).map(|b| b.1)
        };
        (0..homes.len()).flat_map(between).sum::<f64>() / 2.0
    }

    /// A grid is cut along its short side.
    #[test]
    fn a_grid_is_divided_into_equal_parts_with_short_borders() {
        let (wide, high) = (24, 4);
        let mut graph = Graph::new(wide * high);
        graph.weights.fill(1.0);
        for x in 0..wide {
            for y in 0..high {
                if x + 1 < wide {
                    graph.bind(x * high + y, (x + 1) * high + y, 1.0);
                }
                if y + 1 < high {
                    graph.bind(x * high + y, x * high + y + 1, 1.0);
                }
            }
        }
        for (count, shortest) in [(2, 4.0), (3, 8.0), (4, 12.0)] {
            let homes = graph.divide(count, 1.02, Growth::ByDistance);
            let loads = graph.loads(&homes, count);
            let mean = (wide * high) as f64 / count as f64;
            assert!(loads.iter().all(|load| (load - mean).abs() <= 1.0), "{loads:?}");
            assert!(cut(&graph, &homes) <= 1.5 * shortest, "{count}: {}", cut(&graph, &homes));
        }
    }

    /// Two stars around two hubs: a dumbbell.
    #[test]
    fn a_dumbbell_is_cut_in_its_middle() {
        let mut graph = Graph::new(42);
        graph.weights.fill(1.0);
        graph.bind(0, 1, 40.0);
        for leaf in 2..42 {
            graph.bind(leaf, leaf % 2, 2.0);
        }
        for by in [Growth::ByBond, Growth::ByDistance] {
            let homes = graph.divide(2, 1.02, by);
            assert_ne!(homes[0], homes[1]);
            assert!((2..42).all(|leaf| homes[leaf] == homes[leaf % 2]), "{homes:?}");
        }
    }

    proptest! {
        #[test]
        fn every_node_has_a_part_and_no_part_is_much_too_heavy(
            weights in prop::collection::vec(0.0f64..5.0, 1..80),
            bonds in prop::collection::vec((0usize..80, 0usize..80, 0.1f64..9.0), 0..200),
            parts in 1usize..9,
            is_near in any::<bool>(),
        ) {
            let mut graph = Graph::new(weights.len());
            for (a, b, bond) in bonds {
                graph.bind(a % weights.len(), b % weights.len(), bond);
            }
            let (all, heaviest) = (weights.iter().sum::<f64>(), weights.iter().fold(0.0f64, |a, &b| a.max(b)));
            graph.weights = weights;
            let by = if is_near { Growth::ByDistance } else { Growth::ByBond };
            let homes = graph.divide(parts, 1.02, by);
            prop_assert!(homes.iter().all(|&home| usize::from(home) < parts));
            let most = graph.loads(&homes, parts).into_iter().fold(0.0, f64::max);
            prop_assert!(most <= all / parts as f64 + parts as f64 * heaviest + 1e-9, "{most} of {all}");
        }
    }
}
