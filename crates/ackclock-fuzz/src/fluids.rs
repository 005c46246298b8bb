//! Sharing rules and sender policies, alone and in small networks: no link carries more than its capacity. Finite
//! flows end when they end if the whole network is solved anew at each arrival and end.

use std::sync::LazyLock;

use ackclock_core::fluid::{
    self, FluidNet, Options, Policies, Routers, Rule, SweepOptions, Transfers, Window,
};
use ackclock_core::policy::{self, Hop, PolicyEnv, Sender};
use ackclock_core::registry::{Entry, Fact, Spec};
use ackclock_core::sharing::{self, Arrivals, SharingEnv};

use crate::input::Input;
use crate::schema::spec;

static RULES: LazyLock<Vec<Entry>> = LazyLock::new(sharing::catalogue);
static POLICIES: LazyLock<Vec<Entry>> = LazyLock::new(policy::catalogue);

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (rule, sender) = (spec(&mut input, &RULES), spec(&mut input, &POLICIES));
    share(&mut input, &rule);
    answer(&mut input, &sender);
    solve(&mut input, &rule, &sender);
}

/// A rate: 0, tiny, huge or between.
fn rate(input: &mut Input<'_>) -> f64 {
    match input.below(8) {
        0 => 0.0,
        1 => 1e-6,
        2 => 1e12,
        3 => 1.0,
        _ => f64::from(input.byte()) * 0.37,
    }
}

fn share(input: &mut Input<'_>, spec: &Spec) {
    let Ok(rule) = sharing::build(spec, &SharingEnv, "sharing") else { return };
    let flows = 1 + input.below(8);
    let rates: Vec<f64> = (0..flows).map(|_| rate(input)).collect();
    let weights: Vec<f64> = if input.flag() {
        Vec::new()
    } else {
        (0..flows).map(|_| 0.01 + input.share() * 10.0).collect()
    };
    let arrivals = Arrivals { capacity: 1e-3 + rate(input), rate: &rates, weight: &weights };
    let mut leaving = vec![f64::NAN; flows];
    rule.share(&arrivals, &mut leaving);
    for (out, arrived) in leaving.iter().zip(&rates) {
        assert!(
            (0.0..=arrived * (1.0 + 1e-9)).contains(out),
            "{spec:?}: {arrivals:?} to {leaving:?}"
        );
    }
    let most = arrivals.capacity.min(arrivals.offered());
    let carried: f64 = leaving.iter().sum();
    assert!(carried <= most * (1.0 + 1e-9), "{spec:?}: {arrivals:?} to {leaving:?}");
    assert!(carried >= most * (1.0 - 1e-6), "{spec:?}: {arrivals:?} to {leaving:?}");
    assert!(rule.aggregate(&arrivals).is_finite(), "{spec:?}: {arrivals:?}");
}

fn answer(input: &mut Input<'_>, spec: &Spec) {
    let Ok(policy) = policy::build(spec, &PolicyEnv, "sender") else { return };
    let capacity = 1e-3 + rate(input);
    let demand: Vec<f64> = (0..=input.below(6)).map(|_| rate(input)).collect();
    let sum = demand.iter().sum::<f64>().max(capacity);
    let goodput: Vec<f64> = demand.iter().map(|d| d * input.share() * capacity / sum).collect();
    let other_rates = rate(input);
    let hop = |own_rate: f64| {
        [Hop {
            capacity,
            offered: own_rate + other_rates,
            aggregate: (own_rate + other_rates).powi(2),
            own_rate,
        }]
    };
    let hops: Vec<[Hop; 1]> = demand.iter().map(|&own_rate| hop(own_rate)).collect();
    let paths: Vec<&[Hop]> = hops.iter().map(<[Hop; 1]>::as_slice).collect();
    let paths = if policy.needs_reports() { &paths[..] } else { &[] };
    let mut next = vec![f64::NAN; demand.len()];
    let sender = Sender { capacity, demand: &demand, goodput: &goodput, paths };
    policy.demand(&sender, &mut next);
    assert!(
        next.iter().all(|rate| rate.is_finite() && *rate >= 0.0),
        "{spec:?}: {sender:?} to {next:?}"
    );
    let overdrives = POLICIES
        .iter()
        .any(|entry| entry.info.name == spec.kind() && entry.facts.contains(&Fact::Overdrives));
    assert!(
        overdrives || next.iter().sum::<f64>() <= capacity * (1.0 + 1e-9),
        "{spec:?}: {sender:?} to {next:?}"
    );
}

fn solve(input: &mut Input<'_>, rule: &Spec, sender: &Spec) {
    let links = 1 + input.below(6);
    let capacity: Vec<f64> = (0..links).map(|_| 0.5 + input.share() * 20.0).collect();
    let (mut offsets, mut hops) = (vec![0], Vec::new());
    for _ in 0..=input.below(6) {
        let mut route: Vec<u32> = Vec::new();
        for _ in 0..=input.below(4) {
            let link = input.below(links) as u32;
            if !route.contains(&link) {
                route.push(link);
            }
        }
        hops.extend(route);
        offsets.push(hops.len() as u32);
    }
    let Ok(net) = FluidNet::new(capacity, offsets, hops, Vec::new()) else { return };
    let demand: Vec<f64> = (0..net.flows()).map(|_| input.share() * 10.0).collect();
    let best = fluid::max_min(&net, &demand);
    assert!(
        best.iter().zip(&demand).all(|(got, wanted)| (0.0..=wanted * (1.0 + 1e-9)).contains(got))
    );
    check(&net, &fluid::brick_wall(&net, &demand), 0.0);
    transfer(input, &net, &demand);
    let Ok(rule) = sharing::build(rule, &SharingEnv, "sharing") else { return };
    let routers = Routers::all(rule);
    let sweep = SweepOptions { limit: 200, ..SweepOptions::default() };
    if let Ok(outcome) = fluid::sweep(&net, &demand, &routers, &sweep) {
        check(&net, &outcome, sweep.tolerance);
    }
    let Ok(policy) = policy::build(sender, &PolicyEnv, "sender") else { return };
    let options = Options { limit: 30, sweep, ..Options::default() };
    if let Ok(solution) = fluid::fixed_point(&net, &Policies::all(policy), &routers, &[], &options)
    {
        check(&net, &solution.outcome, sweep.tolerance);
    }
}

fn transfer(input: &mut Input<'_>, net: &FluidNet, demand: &[f64]) {
    let peak: Vec<f64> = demand.iter().map(|rate| rate.max(0.1)).collect();
    let mut transfers = Transfers { time: vec![], class: vec![], size: vec![] };
    let mut time = 0.0;
    for _ in 0..=input.below(40) {
        time += input.share();
        transfers.time.push(time);
        transfers.class.push(input.below(net.flows()) as u32);
        transfers.size.push(0.1 + 20.0 * input.share());
    }
    let window = Window { until: time + 1.0, drain: true, interval: None };
    let report = fluid::simulate(net, &peak, &transfers, &Rule::MaxMin, &window, &mut |_, _| true)
        .expect("rates of max-min settle");
    report.check(net, &transfers).expect("a possible report");
    let expected_ends = ends(net, &peak, &transfers);
    for (number, (end, expected)) in report.completion.iter().zip(&expected_ends).enumerate() {
        assert!(
            (end - expected).abs() <= 1e-6 * expected,
            "transfer {number} ended at {end} s in place of {expected} s: {net:?} {peak:?} {transfers:?}"
        );
    }
}

/// When each transfer ends, with the whole network solved at each arrival and end.
fn ends(net: &FluidNet, peak: &[f64], transfers: &Transfers) -> Vec<f64> {
    let mut left = transfers.size.clone();
    let mut end = vec![f64::NAN; left.len()];
    let (mut now, mut arrived) = (0.0, 0);
    loop {
        let present: Vec<usize> = (0..arrived).filter(|&i| end[i].is_nan()).collect();
        let classes: Vec<u32> = present.iter().map(|&i| transfers.class[i]).collect();
        let now_there = net.of_flows(classes.iter().copied());
        let peaks: Vec<f64> = classes.iter().map(|&class| peak[class as usize]).collect();
        let rates = fluid::max_min(&now_there, &peaks);
        let lasts = present.iter().zip(&rates).map(|(&i, rate)| left[i] / rate);
        let next_end = now + lasts.fold(f64::INFINITY, f64::min);
        let next = next_end.min(transfers.time.get(arrived).copied().unwrap_or(f64::INFINITY));
        if next.is_infinite() {
            return end;
        }
        for (&i, rate) in present.iter().zip(&rates) {
            left[i] -= rate * (next - now);
            if left[i] <= 1e-9 * transfers.size[i] {
                end[i] = next;
            }
        }
        now = next;
        while transfers.time.get(arrived).is_some_and(|&time| time <= now) {
            arrived += 1;
        }
    }
}

/// As the binding checks what it gives: links that are visited again and again settle to a tolerance.
fn check(net: &FluidNet, outcome: &fluid::Outcome, tolerance: f64) {
    if let Err(broken) = outcome.check_within(net, tolerance) {
        panic!("{broken}: {outcome:?} of {net:?}");
    }
}
