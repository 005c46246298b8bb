//! Random networks for property tests: small whole numbers, so that an exact oracle can follow.

use proptest::prelude::*;

use super::FluidNet;

/// A network in whole numbers.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) capacity: Vec<u32>,
    pub(super) routes: Vec<Vec<u32>>,
    pub(super) weight: Vec<u32>,
    /// Demand of each flow; 0 stands for no bound.
    pub(super) demand: Vec<u32>,
}

impl Whole {
    pub(super) fn net(&self) -> FluidNet {
        let mut offsets = vec![0];
        let mut hops = Vec::new();
        for route in &self.routes {
            hops.extend_from_slice(route);
            offsets.push(hops.len() as u32);
        }
        let floats = |values: &[u32]| values.iter().map(|&v| f64::from(v)).collect();
        let plain = self.weight.iter().all(|&w| w == 1);
        let weight = if plain { Vec::new() } else { floats(&self.weight) };
        FluidNet::new(floats(&self.capacity), offsets, hops, weight).unwrap()
    }

    /// Demands as the engine takes them.
    pub(super) fn demands(&self) -> Vec<f64> {
        self.demand.iter().map(|&d| if d == 0 { f64::INFINITY } else { f64::from(d) }).collect()
    }

    /// Demands that are all finite: where there is no bound, the capacity of the first link.
    pub(super) fn finite_demands(&self) -> Vec<f64> {
        self.demand
            .iter()
            .zip(&self.routes)
            .map(|(&d, route)| f64::from(if d == 0 { self.capacity[route[0] as usize] } else { d }))
            .collect()
    }
}

/// Networks of up to `links` links and `flows` flows. Routes are any sequences of distinct links,
/// so that links feed each other in circles more than on any real network.
pub(super) fn networks(links: usize, flows: usize, weighted: bool) -> impl Strategy<Value = Whole> {
    let most_weight = if weighted { 4u32 } else { 1 };
    (2..=links).prop_flat_map(move |count| {
        let all: Vec<u32> = (0..count as u32).collect();
        let route = prop::sample::subsequence(all, 1..=count.min(6)).prop_shuffle();
        let flow = (route, 1..=most_weight, prop_oneof![Just(0u32), 1u32..30]);
        (prop::collection::vec(1u32..40, count), prop::collection::vec(flow, 1..=flows)).prop_map(
            |(capacity, flows)| {
                let (mut routes, mut weight, mut demand) = (Vec::new(), Vec::new(), Vec::new());
                for (route, w, d) in flows {
                    routes.push(route);
                    weight.push(w);
                    demand.push(d);
                }
                Whole { capacity, routes, weight, demand }
            },
        )
    })
}

/// How many cases each property is tried on.
pub(super) fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(count) }
}
