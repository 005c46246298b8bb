//! The worked examples of McCullough et al.: Figs. 1, 2, 3 and 17, with the numbers they print.

use super::*;
use crate::policy::{PolicyEnv, build};
use crate::registry::Spec;
use crate::sharing::max_min::MaxMin;

/// Links S1->R1, S2->R1, R1->R2, R2->D1, R2->D2 with these capacities; two flows.
fn two_senders(to_d1: f64) -> FluidNet {
    FluidNet::new(vec![20.0, 20.0, 20.0, to_d1, 2.0], vec![0, 3, 6], vec![0, 2, 3, 1, 2, 4], vec![])
        .unwrap()
}

fn naive(net: &FluidNet) -> Outcome {
    let policy = build(&Spec::from("naive"), &PolicyEnv, "sender").unwrap();
    let routers = Routers::all(Box::new(MaxMin));
    fixed_point(net, &Policies::all(policy), &routers, &[], &Options::default()).unwrap().outcome
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|r| r * r).sum::<f64>());
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn figure_1_drops_at_the_access_router_are_not_dead() {
    // M-1: throughputs 5 and 2. M-2: 20 dropped at R1, 10 of each flow, none dead; 8 dead at R2
    // from S2. The hosts S1 and S2 are not routers: R1, their access router, is the second hop.
    let net = two_senders(5.0);
    let fire_hose = naive(&net);
    assert_eq!(fire_hose.demand, [20.0, 20.0]);
    assert_eq!(fire_hose.goodputs(&net), [5.0, 2.0]);
    let books = account(&net, &fire_hose, &max_min(&net, &[]), 2);
    assert_eq!(books.offered[2] - books.carried[2], 20.0);
    assert_eq!(books.dead[2], 0.0);
    assert_eq!(books.flow_dead, [5.0, 8.0]);
    assert_eq!(books.dead[4], 8.0);
    assert_eq!(books.zombies.iter().sum::<f64>(), 0.0);
}

#[test]
fn figure_2_has_8_zombies_that_s2_caused() {
    // M-3: S1 gets 10, the optimum is 18; S2 gets 2; 8 zombies.
    let net = two_senders(20.0);
    let ideal = max_min(&net, &[]);
    assert_eq!(ideal, [18.0, 2.0]);
    let fire_hose = naive(&net);
    assert_eq!(fire_hose.goodputs(&net), [10.0, 2.0]);
    let books = account(&net, &fire_hose, &ideal, 2);
    assert_eq!(books.zombies, [0.0, 0.0, 8.0, 0.0, 0.0]);
    assert_eq!(books.suffered, [8.0, 0.0]);
    assert_eq!(books.caused, [0.0, 8.0]);
    // The formula of section 4.1.1 counts all 10 that S1 loses at R1, though the ideal loses 2 of
    // them, and the 8 of S2 at R2, where S2 has its ideal, which nobody caused.
    assert_eq!(books.zombies_edge, [0.0, 0.0, 10.0, 0.0, 8.0]);
    assert_eq!(books.caused_edge, [0.0, 10.0]);
    assert_eq!(books.uncaused_edge, 8.0);
}

#[test]
fn figure_3_zombies_need_not_lower_the_total() {
    // M-4, M-5. R1->R2 is 12, the only capacity with which the printed numbers come out; S3 joins at
    // R2 (its access router); R2->D1 and R2->D3 share one link of 20 out of R2, as the printed 6 and
    // 14 need. Links: S1->R1, S2->R1, R1->R2, R2->R3, R2->D2, S3->R2, R3->D1, R3->D3.
    let net = FluidNet::new(
        vec![20.0, 20.0, 12.0, 20.0, 2.0, 20.0, 20.0, 20.0],
        vec![0, 4, 7, 10],
        vec![0, 2, 3, 6, 1, 2, 4, 5, 3, 7],
        vec![],
    )
    .unwrap();
    let ideal = max_min(&net, &[]);
    assert_eq!(ideal, [10.0, 2.0, 10.0]);
    assert_eq!((jain(&ideal) * 100.0).round(), 79.0);
    let goodput = naive(&net).goodputs(&net);
    assert_eq!(goodput, [6.0, 2.0, 14.0]);
    assert_eq!((jain(&goodput) * 100.0).round(), 68.0);
}

#[test]
fn figure_17_a_flow_more_lowers_the_total_and_two_more_restore_it() {
    // M-24: links of 2; up 0, 1, 2 and down 3, 4, 5.
    let all: [[u32; 2]; 6] = [[0, 4], [1, 5], [2, 3], [1, 3], [2, 4], [0, 5]];
    let total = |flows: usize| -> f64 {
        let hops = all[..flows].concat();
        let offsets = (0..=flows as u32).map(|i| 2 * i).collect();
        let net = FluidNet::new(vec![2.0; 6], offsets, hops, vec![]).unwrap();
        naive(&net).goodputs(&net).iter().sum()
    };
    assert_eq!([3, 4, 6].map(total), [6.0, 5.0, 6.0]);
}
