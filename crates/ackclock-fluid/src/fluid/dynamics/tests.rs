//! Finite flows against hand-computed runs, closed forms, conservation and full solutions.

use proptest::prelude::*;
use serde_json::json;

use super::active::Active;
use super::*;
use crate::fluid::max_min;
use crate::fluid::random_nets::{Whole, cases, networks};
use crate::policy::PolicyEnv;
use crate::sharing::max_min::MaxMin;

fn window(until: f64) -> Window {
    Window { until, drain: false, interval: None }
}

fn drained_window() -> Window {
    Window { until: f64::INFINITY, drain: true, interval: None }
}

fn run(net: &FluidNet, transfers: &Transfers, rule: &Rule<'_>, window: Window) -> Report {
    let report = simulate(net, &[], transfers, rule, &window, &mut |_, _| true).unwrap();
    assert_eq!(report.check(net, transfers), Ok(()));
    report
}

fn transfers(list: &[(f64, u32, f64)]) -> Transfers {
    Transfers {
        time: list.iter().map(|t| t.0).collect(),
        class: list.iter().map(|t| t.1).collect(),
        size: list.iter().map(|t| t.2).collect(),
    }
}

fn policies(spec: &serde_json::Value) -> Policies {
    let spec = serde_json::from_value(spec.clone()).unwrap();
    Policies::all(crate::policy::build(&spec, &PolicyEnv, "sender").unwrap())
}

fn max_min_routers() -> Routers {
    Routers::all(Box::new(MaxMin))
}

fn one_link() -> FluidNet {
    FluidNet::new(vec![1.0], vec![0, 1], vec![0], vec![]).unwrap()
}

/// Two senders with links of 4 over one link of 4.
fn two_senders() -> FluidNet {
    FluidNet::new(vec![4.0; 3], vec![0, 2, 4], vec![0, 2, 1, 2], vec![]).unwrap()
}

#[test]
fn two_flows_on_one_link_end_when_computed_by_hand() {
    // The first has half of its size left when the second comes; both have half of the link then.
    // It ends at 1.5, when the second has half of its size left, which takes 0.5 more.
    let report = run(
        &one_link(),
        &transfers(&[(0.0, 0, 1.0), (0.5, 0, 1.0)]),
        &Rule::MaxMin,
        drained_window(),
    );
    assert_eq!(report.completion, [1.5, 2.0]);
    assert_eq!(report.carried, [2.0]);
    assert_eq!((report.events, report.most_active), (4, 2));
    // One flow for 1 s, two for 1 s.
    assert_eq!(report.mean_active, 1.5);
    // The half of the link that the first frees goes to the second; the last counts for nothing.
    assert_eq!((report.freed, report.taken_up), (0.5, 0.5));
}

#[test]
fn a_run_that_does_not_drain_leaves_flows_in_part() {
    let window = Window { until: 1.0, drain: false, interval: Some(0.5) };
    let list = transfers(&[(0.25, 0, 1.0), (0.5, 0, 1.0), (1.0, 0, 1.0)]);
    let report = run(&one_link(), &list, &Rule::MaxMin, window);
    assert!(report.completion.iter().all(|end| end.is_nan()));
    assert_eq!(report.delivered, [0.5, 0.25, 0.0]);
    assert_eq!(report.samples, [0.5, 1.0]);
    assert_eq!(report.sampled_active, [0.5, 2.0]);
    assert_eq!(report.end, 1.0);
}

#[test]
fn the_peak_rate_bounds_a_flow_and_leaves_the_rest_to_others() {
    let net = FluidNet::new(vec![1.0], vec![0, 1, 2], vec![0, 0], vec![]).unwrap();
    let list = transfers(&[(0.0, 0, 0.5), (0.0, 1, 1.5)]);
    let report = simulate(
        &net,
        &[0.25, f64::INFINITY],
        &list,
        &Rule::MaxMin,
        &drained_window(),
        &mut |_, _| true,
    )
    .unwrap();
    assert_eq!(report.completion, [2.0, 2.0]);
}

#[test]
fn processor_sharing_has_its_mean_response_for_every_distribution_of_sizes() {
    // M/G/1-PS (Kleinrock, "Queueing Systems" II, section 4.4): E[T | x] = x / (1 - rho), and the
    // number of flows is geometric with mean rho / (1 - rho), whatever the distribution.
    let distributions = [
        Sizes::Fixed { mean: 1.0 },
        Sizes::Exponential { mean: 1.0 },
        Sizes::BoundedPareto { least: 0.2, most: 100.0, shape: 1.3 },
        Sizes::LogNormal { mean: 1.0, sigma: 1.0 },
    ];
    for sizes in distributions {
        for load in [0.3, 0.7] {
            let options = DrawOptions { seed: 11, until: f64::INFINITY, count: 150_000 };
            let list = draw(&[1.0], &sizes, Demand::Load(load), sizes.mean(), &options);
            let report = run(&one_link(), &list, &Rule::MaxMin, drained_window());
            let slowdown = |keep: &dyn Fn(f64) -> bool| {
                let selected: Vec<f64> = (0..list.time.len())
                    .filter(|&i| keep(list.size[i]))
                    .map(|i| (report.completion[i] - list.time[i]) / list.size[i])
                    .collect();
                selected.iter().sum::<f64>() / selected.len() as f64
            };
            let expected = 1.0 / (1.0 - load);
            let all = slowdown(&|_| true);
            assert!((all / expected - 1.0).abs() < 0.06, "{sizes:?} {load}: {all} {expected}");
            if !matches!(sizes, Sizes::Fixed { .. }) {
                // Short flows and long ones are slowed alike.
                let long = slowdown(&|size| size > 1.0);
                assert!((long / expected - 1.0).abs() < 0.06, "{sizes:?} {load}: long {long}");
            }
            let number = report.mean_active * (1.0 - load) / load;
            assert!((number - 1.0).abs() < 0.1, "{sizes:?} {load}: {number}");
        }
    }
}

#[test]
fn a_linear_network_under_proportional_load_is_stable_below_capacity_only() {
    // Three links, one flow class over all of them and one on each (Bonald, Massoulie, "Impact of
    // fairness on Internet performance", SIGMETRICS 2001): max-min is stable where each link's load
    // is below 1. At 0.9 nearly all ends; at 1.2 flows pile up in proportion to time.
    let net =
        FluidNet::new(vec![1.0; 3], vec![0, 3, 4, 5, 6], vec![0, 1, 2, 0, 1, 2], vec![]).unwrap();
    let sizes = Sizes::Exponential { mean: 1.0 };
    let left = |load: f64, until: f64| {
        let options = DrawOptions { seed: 3, until, count: u64::MAX };
        // Of two flows a second, one on each link: a load of 2/4 + 2/4 per link and rate.
        let list = draw(&[1.0; 4], &sizes, Demand::Load(load), 0.5, &options);
        let report = run(&net, &list, &Rule::MaxMin, window(until));
        report.completion.iter().filter(|end| end.is_nan()).count()
    };
    assert!(left(0.9, 4000.0) < 150, "{}", left(0.9, 4000.0));
    let (early, late) = (left(1.2, 1000.0), left(1.2, 4000.0));
    assert!(late > 3 * early && early > 100, "{early} {late}");
}

#[test]
fn naive_senders_share_one_link_like_processor_sharing() {
    let (policies, routers) = (policies(&json!("naive")), max_min_routers());
    let options = Options::default();
    let list = transfers(&[(0.0, 0, 1.0), (0.5, 0, 1.0)]);
    for reaction in [None, Some(0.3)] {
        let rule =
            Rule::Senders { policies: &policies, routers: &routers, options: &options, reaction };
        let report = run(&one_link(), &list, &rule, drained_window());
        assert!((report.completion[0] - 1.5).abs() < 1e-9, "{reaction:?} {report:?}");
        assert!((report.completion[1] - 2.0).abs() < 1e-9, "{reaction:?} {report:?}");
    }
}

#[test]
fn what_a_departure_frees_is_taken_up_by_as_much_as_senders_over_drive() {
    // Both begin with 4 (Eq. 1), get 2 each, and at 1 s offer 1.25 times that. The first ends at
    // 1.5 s; the second has 2.5 of the 4 then, until it answers at 2 s with 3.125.
    let list = transfers(&[(0.0, 0, 3.0), (0.0, 1, 3.0 + 1.25 + 1.5625)]);
    let (routers, options) = (max_min_routers(), Options::default());
    let limited = policies(&json!({"kind": "limited-ratio", "alpha": 0.25}));
    let late = |policies| Rule::Senders {
        policies,
        routers: &routers,
        options: &options,
        reaction: Some(1.0),
    };
    let report = run(&two_senders(), &list, &late(&limited), drained_window());
    assert!((report.completion[0] - 1.5).abs() < 1e-9, "{report:?}");
    assert!((report.completion[1] - 2.5).abs() < 1e-9, "{report:?}");
    assert!((report.taken_up / report.freed - 0.25).abs() < 1e-9, "{report:?}");
    // A sender that fills its link takes all of it at once.
    let naive = policies(&json!("naive"));
    let report = run(&two_senders(), &list, &late(&naive), drained_window());
    assert!((report.taken_up / report.freed - 1.0).abs() < 1e-9, "{report:?}");
}

#[test]
fn draws_repeat_and_each_purpose_has_a_stream_of_its_own() {
    let options = DrawOptions { seed: 4, until: 100.0, count: u64::MAX };
    let of = |sizes: &Sizes, share: &[f64], options: &DrawOptions| {
        draw(share, sizes, Demand::Rate(10.0), 1.0, options)
    };
    let (fixed, other) = (Sizes::Fixed { mean: 1.0 }, Sizes::Exponential { mean: 2.0 });
    let first = of(&fixed, &[1.0, 3.0], &options);
    assert_eq!(first, of(&fixed, &[1.0, 3.0], &options));
    let second = of(&other, &[1.0, 3.0], &options);
    assert_eq!((&first.time, &first.class), (&second.time, &second.class));
    assert_eq!(second.size, of(&other, &[5.0, 1.0], &options).size);
    assert_ne!(first.time, of(&fixed, &[1.0, 3.0], &DrawOptions { seed: 5, ..options }).time);
    // Three of four are of the second class, and some 1000 come in 100 s.
    let (all, of_second) = (first.time.len(), first.class.iter().filter(|c| **c == 1).count());
    assert!(all.abs_diff(1000) < 150, "{all}");
    assert!((of_second as f64 / all as f64 - 0.75).abs() < 0.05);
}

#[test]
fn the_caller_can_end_a_run() {
    let list = transfers(&vec![(0.0, 0, 1.0); 2000]);
    let ended =
        simulate(&one_link(), &[], &list, &Rule::MaxMin, &drained_window(), &mut |_, _| false);
    assert_eq!(ended.unwrap_err(), DynamicsError::Stopped);
}

/// When flow 5 joins, a first solution finds the flow on links 0 and 3 held by link 0, a later one, of all flows, by
/// link 3, where it takes what is left when flow 4 leaves.
#[test]
fn a_link_that_held_a_flow_in_a_solution_that_was_not_the_last_does_not_hold_it() {
    let net = Whole {
        capacity: vec![21, 2, 3, 19],
        routes: vec![vec![1, 2, 3], vec![0, 3], vec![0, 2], vec![0, 1, 3], vec![1, 3, 2, 0]],
        weight: vec![1, 1, 2, 1, 1],
        demand: vec![],
    }
    .net();
    let mut active = Active::new(&net, &[]);
    for (slot, class) in [0, 1, 2, 2, 3, 4].into_iter().enumerate() {
        active.join(slot as u32, class, &mut Vec::new());
    }
    active.leave(4, &mut Vec::new());
    let rates: Vec<f64> = [0, 1, 2, 3, 5].map(|slot| active.rate(slot)).to_vec();
    let expected = max_min(&net.of_flows([0, 1, 2, 2, 4].into_iter()), &[]);
    for (rate, right) in rates.iter().zip(&expected) {
        assert!((rate - right).abs() <= 1e-9 * right, "{rates:?} {expected:?}");
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn after_each_join_and_departure_rates_are_those_of_the_whole_network(
        net in networks(25, 12, true),
        steps in prop::collection::vec((any::<prop::sample::Index>(), 0u8..3), 1..60),
    ) {
        let (fluid, peak) = (net.net(), net.demands());
        let mut active = Active::new(&fluid, &peak);
        let mut slots: Vec<Option<u32>> = Vec::new();
        let mut changed = Vec::new();
        let mut rates: Vec<f64> = Vec::new();
        for (pick, what) in steps {
            let present: Vec<usize> =
                (0..slots.len()).filter(|&s| slots[s].is_some()).collect();
            let gone = if what == 0 && !present.is_empty() {
                let slot = present[pick.index(present.len())];
                active.leave(slot as u32, &mut changed);
                slots[slot] = None;
                Some(slot)
            } else {
                let slot = slots.iter().position(Option::is_none).unwrap_or(slots.len());
                let class = pick.index(fluid.flows()) as u32;
                if slot == slots.len() {
                    slots.push(None);
                    rates.push(0.0);
                }
                rates[slot] = 0.0;
                slots[slot] = Some(class);
                active.join(slot as u32, class, &mut changed);
                None
            };
            for (slot, old) in changed.drain(..) {
                // What is said to have changed had this rate.
                prop_assert!(Some(slot as usize) != gone);
                prop_assert_eq!(rates[slot as usize], old);
                rates[slot as usize] = active.rate(slot);
            }
            let classes: Vec<u32> = slots.iter().flatten().copied().collect();
            let all = fluid.of_flows(classes.iter().copied());
            let demand: Vec<f64> = classes.iter().map(|&c| peak[c as usize]).collect();
            let whole = max_min(&all, &demand);
            let found: Vec<f64> =
                (0..slots.len()).filter(|&s| slots[s].is_some()).map(|s| rates[s]).collect();
            for (a, b) in found.iter().zip(&whole) {
                prop_assert!((a - b).abs() <= 1e-7 * b.max(1.0), "{found:?} {whole:?}");
            }
        }
    }

    #[test]
    fn what_links_carry_is_what_flows_delivered(
        net in networks(10, 10, true),
        list in prop::collection::vec((0.0f64..20.0, any::<prop::sample::Index>(), 0.01f64..50.0), 1..40),
        sender in prop::option::of(0usize..3),
        until in 1.0f64..30.0,
    ) {
        let fluid = net.net();
        let mut list: Vec<(f64, u32, f64)> =
            list.iter().map(|(at, of, size)| (*at, of.index(fluid.flows()) as u32, *size)).collect();
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
        let list = transfers(&list);
        let (routers, options) = (max_min_routers(), Options::default());
        let kinds = [
            policies(&json!("naive")),
            policies(&json!("full-balanced")),
            policies(&json!({"kind": "limited-ratio", "alpha": 0.2})),
        ];
        let rule = match sender {
            None => Rule::MaxMin,
            Some(kind) => Rule::Senders {
                policies: &kinds[kind], routers: &routers, options: &options, reaction: Some(0.7),
            },
        };
        let report = run(&fluid, &list, &rule, window(until));
        let mut expected = vec![0.0; fluid.links()];
        for (i, &delivered) in report.delivered.iter().enumerate() {
            prop_assert!(delivered >= 0.0 && delivered <= list.size[i] * (1.0 + 1e-9));
            let route = fluid.route(list.class[i] as usize);
            for &link in route {
                expected[link as usize] += delivered;
            }
        }
        for (link, expected) in expected.iter().copied().enumerate() {
            let (carried, offered) = (report.carried[link], report.offered[link]);
            let most = fluid.capacity()[link] * report.end;
            prop_assert!(carried <= most * (1.0 + 1e-9) && carried <= offered * (1.0 + 1e-9));
            // Nobody drops where the allocation is global; else links before a drop carry more.
            let enough = expected <= carried * (1.0 + 1e-9) + 1e-9;
            prop_assert!(enough, "link {link}: {expected} {carried}");
            if sender.is_none() {
                prop_assert!((carried - expected).abs() <= 1e-9 * carried.max(1.0));
            }
        }
    }
}

#[test]
fn a_report_that_no_network_can_bring_about_is_refused() {
    // 1 bit/s for 2 s.
    let (net, transfers) = (one_link(), transfers(&[(0.0, 0, 2.0)]));
    let report = run(&net, &transfers, &Rule::MaxMin, drained_window());
    let refused = |change: &dyn Fn(&mut Report)| {
        let mut wrong = report.clone();
        change(&mut wrong);
        wrong.check(&net, &transfers).unwrap_err()
    };
    let message = refused(&|r| r.carried[0] = 2.1);
    assert_eq!(message, "link 0 can carry 2 bit and carries 2.1 bit");
    assert!(refused(&|r| r.carried[0] = f64::NAN).starts_with("link 0 can carry"));
    let message = refused(&|r| r.delivered[0] = 2.1);
    assert_eq!(message, "transfer 0 of 2 bit began at 0 s, ended at 2 s and got 2.1 bit");
    assert!(refused(&|r| r.completion[0] = -1.0).contains("ended at -1 s"));
    // What is small enough ends when it begins, but for rounding.
    let at_once = Report { completion: vec![0.0], ..report };
    assert_eq!(at_once.check(&net, &transfers), Ok(()));
}
