//! The clamp algorithm, step by step as the paper prints it.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 4.3, Fig. 5.
//!
//! **Rule**
//! ```text
//! all d_i infinite, J = all flows
//! while J is not empty: compute the flow through the network for J;
//!     i = the flow of J with the least goodput;  d_i = its goodput;  J loses i;
//!     each link of i's path loses that much capacity
//! ```
//! Deviations: ties go to the first flow (the paper: arbitrary). Where flows have demands of their
//! own, these replace infinity.
//!
//! It runs the network once per flow; [`max_min`](super::max_min) gives the same in one pass. Tests
//! prove them equal.

use super::{FluidNet, brick_wall, or};

/// The global max-min allocation by the paper's algorithm.
pub fn clamp(net: &FluidNet, demand: &[f64]) -> Vec<f64> {
    let mut rate = vec![f64::NAN; net.flows()];
    let mut capacity = net.capacity.clone();
    let mut members: Vec<usize> = (0..net.flows()).collect();
    while !members.is_empty() {
        let remaining = subset(net, &members, &capacity);
        let limits: Vec<f64> =
            members.iter().map(|&flow| or(demand, flow, f64::INFINITY)).collect();
        let outcome = brick_wall(&remaining, &limits);
        let least = (0..members.len())
            .min_by(|&a, &b| {
                let per_weight = |i: usize| outcome.goodput(&remaining, i) / remaining.weight(i);
                per_weight(a).total_cmp(&per_weight(b))
            })
            .expect("invariant: members is not empty");
        let flow = members[least];
        rate[flow] = outcome.goodput(&remaining, least);
        for &link in net.route(flow) {
            let left = &mut capacity[link as usize];
            // Rounding may take a hair more than there was.
            *left = (*left - rate[flow]).max(0.0);
        }
        members.remove(least);
    }
    rate
}

/// The network with some of its flows and other capacities, which may be 0.
fn subset(net: &FluidNet, members: &[usize], capacity: &[f64]) -> FluidNet {
    let mut subnet =
        FluidNet { capacity: capacity.to_vec(), offsets: vec![0], ..FluidNet::default() };
    for &flow in members {
        subnet.hops.extend_from_slice(net.route(flow));
        subnet.offsets.push(subnet.hops.len() as u32);
        if !net.weight.is_empty() {
            subnet.weight.push(net.weight[flow]);
        }
    }
    subnet.transpose();
    subnet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_star_of_the_papers_fig_17() {
        // Links of capacity 2: S1, S2, S3 up (0, 1, 2) and down (3, 4, 5). Three flows in a circle
        // get 2 each; with S2->S1 added the total is 5, not 6.
        let three =
            FluidNet::new(vec![2.0; 6], vec![0, 2, 4, 6], vec![0, 4, 1, 5, 2, 3], vec![]).unwrap();
        assert_eq!(clamp(&three, &[]), [2.0; 3]);
        let four =
            FluidNet::new(vec![2.0; 6], vec![0, 2, 4, 6, 8], vec![0, 4, 1, 5, 2, 3, 1, 3], vec![])
                .unwrap();
        assert_eq!(clamp(&four, &[]), [2.0, 1.0, 1.0, 1.0]);
    }
}
