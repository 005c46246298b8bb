//! Properties of the engine on random networks.

use proptest::prelude::*;

use super::exact::{agrees, exactly, max_min as oracle, share};
use super::random_nets::{Whole, cases, networks};
use super::*;
use crate::policy::{PolicyEnv, build};
use crate::registry::Spec;
use crate::sharing::max_min::MaxMin;
use crate::sharing::proportional::Proportional;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn all_close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| close(*x, *y))
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn progressive_filling_is_exact(net in networks(8, 12, true)) {
        let rate = max_min(&net.net(), &net.demands());
        for (rate, exact) in rate.iter().zip(oracle(&net)) {
            prop_assert!(agrees(*rate, &exact), "{rate} {exact}");
        }
    }

    #[test]
    fn filling_and_the_papers_clamp_are_equal(net in networks(10, 25, false)) {
        let (fluid, demand) = (net.net(), net.demands());
        prop_assert!(all_close(&max_min(&fluid, &demand), &clamp(&fluid, &demand)));
    }

    #[test]
    fn weighted_filling_and_clamp_are_equal(net in networks(10, 25, true)) {
        let (fluid, demand) = (net.net(), net.demands());
        prop_assert!(all_close(&max_min(&fluid, &demand), &clamp(&fluid, &demand)));
    }

    #[test]
    fn every_link_of_a_brick_wall_network_shares_what_arrives_as_it_alone_would(
        net in networks(8, 15, true)
    ) {
        // The exact share of the rates that the engine says arrive must be what it says leaves.
        let (fluid, demand) = (net.net(), net.finite_demands());
        let outcome = brick_wall(&fluid, &demand);
        for link in 0..fluid.links() {
            let mut arriving = Vec::new();
            let mut leaving = Vec::new();
            for &flow in fluid.crossing(link) {
                let flow = flow as usize;
                let hop = fluid.range(flow).start + fluid.position(flow, link as u32);
                arriving.push((exactly(outcome.arriving(&fluid, flow, hop)), net.weight[flow]));
                leaving.push(outcome.leaving[hop]);
            }
            let capacity = exactly(fluid.capacity()[link]);
            for (leaves, exact) in leaving.iter().zip(share(&capacity, &arriving)) {
                prop_assert!(agrees(*leaves, &exact), "link {link}: {leaves} {exact}");
            }
        }
    }

    #[test]
    fn sweeps_come_to_the_exact_pass_where_they_settle(net in networks(8, 15, true)) {
        let (fluid, demand) = (net.net(), net.finite_demands());
        let routers = Routers::all(Box::new(MaxMin));
        let swept = sweep(&fluid, &demand, &routers, &SweepOptions::default());
        if let Ok(swept) = swept {
            prop_assert!(all_close(&swept.leaving, &brick_wall(&fluid, &demand).leaving));
        }
    }

    #[test]
    fn the_max_min_demands_pass_a_network_of_brick_walls_unharmed(net in networks(10, 25, true)) {
        let fluid = net.net();
        let ideal = max_min(&fluid, &net.demands());
        prop_assert!(all_close(&brick_wall(&fluid, &ideal).goodputs(&fluid), &ideal));
    }

    #[test]
    fn the_books_add_up(net in networks(8, 20, true), mixed in any::<bool>()) {
        let (fluid, demand) = (net.net(), net.finite_demands());
        let ideal = max_min(&fluid, &[]);
        let outcome = if mixed {
            let routers = Routers {
                rules: vec![Box::new(MaxMin), Box::new(Proportional)],
                of_link: (0..fluid.links()).map(|l| (l % 2) as u8).collect(),
            };
            match sweep(&fluid, &demand, &routers, &SweepOptions::default()) {
                Ok(outcome) => outcome,
                Err(_) => return Ok(()),
            }
        } else {
            brick_wall(&fluid, &demand)
        };
        let books = account(&fluid, &outcome, &ideal, 1);
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let goodput = outcome.goodputs(&fluid);
        // What is sent arrives or is dropped at some link.
        let dropped: f64 = books.offered.iter().zip(&books.carried).map(|(a, b)| a - b).sum();
        prop_assert!(close(sum(&demand), sum(&goodput) + dropped));
        for (carried, capacity) in books.carried.iter().zip(fluid.capacity()) {
            prop_assert!(*carried <= capacity * (1.0 + 1e-9));
        }
        // Zombies by link, by who suffered and by who caused them are the same zombies.
        let zombies = sum(&books.zombies);
        prop_assert!(close(zombies, sum(&books.suffered)));
        prop_assert!(close(zombies, sum(&books.caused) + books.uncaused));
        prop_assert!(close(sum(&books.zombies_edge), sum(&books.caused_edge) + books.uncaused_edge));
        prop_assert!(close(sum(&books.dead), sum(&books.flow_dead)));
        prop_assert!(zombies <= sum(&books.zombies_edge) + 1e-9);
        // The gap to the ideal is zombies, and what was not demanded, less what others gained.
        let part = |f: &dyn Fn(f64, f64, f64) -> f64| -> f64 {
            ideal.iter().zip(&demand).zip(&goodput).map(|((m, d), g)| f(*m, *d, *g)).sum()
        };
        let unasked = part(&|m, d, _| (m - d).max(0.0));
        let above = part(&|m, _, g| (g - m).max(0.0));
        prop_assert!(close(sum(&ideal) - sum(&goodput), zombies + unasked - above));
    }
}

fn policy(name: &str) -> Box<dyn crate::policy::DemandPolicy> {
    build(&Spec::from(name), &PolicyEnv, "sender").unwrap()
}

fn ratio(alpha: f64) -> Box<dyn crate::policy::DemandPolicy> {
    let spec = serde_json::json!({"kind": "limited-ratio", "alpha": alpha});
    build(&serde_json::from_value(spec).unwrap(), &PolicyEnv, "sender").unwrap()
}

fn settle(net: &FluidNet, policy: Box<dyn crate::policy::DemandPolicy>) -> FixedPoint {
    let routers = Routers::all(Box::new(MaxMin));
    fixed_point(net, &Policies::all(policy), &routers, &[], &Options::default()).unwrap()
}

/// Each flow with a separate sender: a link before its route.
fn with_own_senders(net: &Whole) -> Whole {
    let mut separate = net.clone();
    for route in &mut separate.routes {
        route.insert(0, separate.capacity.len() as u32);
        separate.capacity.push(10);
    }
    separate
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn a_full_balanced_sender_with_one_flow_is_a_naive_one(net in networks(8, 15, false)) {
        // M-13.
        let fluid = with_own_senders(&net).net();
        let balanced = settle(&fluid, policy("full-balanced"));
        let naive = settle(&fluid, policy("naive"));
        prop_assert!(balanced.converged && naive.converged);
        prop_assert!(all_close(&balanced.outcome.goodputs(&fluid), &naive.outcome.goodputs(&fluid)));
    }

    #[test]
    fn more_effort_than_fits_the_senders_link_does_not_change_the_clamp(net in networks(8, 15, false)) {
        // M-39: demands 50 times the sender's link.
        let fluid = with_own_senders(&net).net();
        let demand: Vec<f64> =
            (0..fluid.flows()).map(|f| 50.0 * fluid.capacity()[fluid.first_link(f) as usize]).collect();
        prop_assert_eq!(max_min(&fluid, &demand), max_min(&fluid, &[]));
    }

    #[test]
    fn the_limited_ratio_comes_to_the_clamp_as_alpha_goes_to_0(net in networks(6, 10, false)) {
        // M-14. One flow per sender, so that Eq. (1) demands no less than the ideal at first. The
        // gap of goodput must shrink with alpha, and be small beside the capacities at the end.
        let fluid = with_own_senders(&net).net();
        let ideal = max_min(&fluid, &[]);
        let gap = |alpha: f64| -> Option<f64> {
            let found = settle(&fluid, ratio(alpha));
            found.converged.then(|| {
                let goodput = found.outcome.goodputs(&fluid);
                ideal.iter().zip(&goodput).map(|(m, g)| (m - g).abs()).fold(0.0, f64::max)
            })
        };
        if let (Some(wide), Some(narrow)) = (gap(0.2), gap(0.002)) {
            prop_assert!(narrow <= wide + 1e-4, "{wide} {narrow}");
            prop_assert!(narrow <= 0.5, "{narrow}");
        }
    }
}
