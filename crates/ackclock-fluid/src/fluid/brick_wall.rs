//! What max-min links make of given demands, exactly and in one pass.
//!
//! Each link sees only what arrives, and cuts it at its own level. Routes may lead in circles, so
//! that every link's arrivals depend on every other's; the solution is unique all the same, and is
//! found without iteration:
//!
//! All flows grow together from 0 as in progressive filling. Take the link that is full first, at
//! the level L of its growing flows. No link before it on a growing flow's route cuts below L, since
//! each would be full only at L or above, whatever else arrives; so the flow does reach this link
//! with L or more, or with all it has. Hence this link's cut is L, for good. The flows cut stop on
//! this hop and all *later* ones, where they can arrive with no more; on *earlier* hops they go on
//! growing, because nobody there knows. That is the whole difference to [`max_min`](super::max_min),
//! whose flows stop on all hops.
//!
//! **Source**: McCullough, Raghavan, Snoeren, sections 3.1.2 and 4.2; the order of links by level is
//! our own.

use super::fill::{Filling, Levels, demands_by_level, start};
use super::{FluidNet, Outcome};

/// Rates of all flows where every link is max-min. A demand may be infinite.
pub fn brick_wall(net: &FluidNet, demand: &[f64]) -> Outcome {
    let mut links = start(net);
    let mut state = State {
        net,
        leaving: vec![0.0; net.total_hops()],
        stopped: (0..net.flows()).map(|flow| net.offsets[flow + 1]).collect(),
    };
    let mut demands = demands_by_level(net, demand);
    let mut levels = Levels::of(&links);
    loop {
        let full = levels.next(&links);
        let level = full.map_or(f64::INFINITY, |(level, _)| level);
        if let Some(&(least_demand, flow)) = demands.last()
            && least_demand <= level
        {
            demands.pop();
            let first = net.offsets[flow as usize];
            state.stop(flow as usize, first, demand[flow as usize], &mut links);
            continue;
        }
        let Some((level, link)) = full else { break };
        for &flow in net.crossing(link) {
            let hop = net.offsets[flow as usize] + net.position(flow as usize, link as u32) as u32;
            state.stop(flow as usize, hop, level * net.weight(flow as usize), &mut links);
        }
    }
    Outcome { demand: demand.to_vec(), leaving: state.leaving, sweeps: 1 }
}

struct State<'a> {
    net: &'a FluidNet,
    leaving: Vec<f64>,
    /// Per flow the first hop on which it has stopped.
    stopped: Vec<u32>,
}

impl State<'_> {
    /// A flow stops growing from `hop` on.
    #[inline]
    fn stop(&mut self, flow: usize, hop: u32, rate: f64, links: &mut [Filling]) {
        let end = self.stopped[flow];
        if hop >= end {
            return;
        }
        let weight = self.net.weight(flow);
        for index in hop as usize..end as usize {
            links[self.net.hops[index] as usize].stop(rate, weight);
            self.leaving[index] = rate;
        }
        self.stopped[flow] = hop;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_cut_late_still_crowds_the_links_before() {
        // Fig. 2 of the paper: R1->R2 (20) is shared, R2->D2 is 2; S1 gets 10 and not 18.
        let net = FluidNet::new(
            vec![20.0, 20.0, 20.0, 20.0, 2.0],
            vec![0, 3, 6],
            vec![0, 2, 3, 1, 2, 4],
            vec![],
        )
        .unwrap();
        let outcome = brick_wall(&net, &[20.0, 20.0]);
        assert_eq!(outcome.leaving, [20.0, 10.0, 10.0, 20.0, 10.0, 2.0]);
    }

    #[test]
    fn a_circle_of_links_has_its_solution_in_one_pass() {
        // Three links in a circle, three flows over two links each, demands beyond them. By symmetry
        // each link gets 1 from a flow that begins there and x from one that was cut on the link
        // before; both are above the half of 1, so each flow leaves each link with 1/2.
        let net =
            FluidNet::new(vec![1.0; 3], vec![0, 2, 4, 6], vec![0, 1, 1, 2, 2, 0], vec![]).unwrap();
        assert_eq!(brick_wall(&net, &[1.0; 3]).leaving, [0.5; 6]);
    }
}
