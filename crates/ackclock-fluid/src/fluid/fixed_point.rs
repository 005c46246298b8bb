//! Senders that answer what they see, until nothing changes.
//!
//! **Source**: McCullough, Raghavan, Snoeren, section 5, Fig. 6.
//!
//! **Rule**
//! ```text
//! d = Eq. (1);  repeat: g = flow through the network; d' = d; d = what the policy says
//! until max |d_i - d'_i| <= epsilon
//! ```
//! Deviations: epsilon, unstated in the paper, is relative to the capacity of the sender's link. The
//! paper has no damping: `damping` 1 is its rule, and is halved whenever the demands come back to
//! where they were some rounds ago without having settled (an oscillation). What oscillates even so
//! is reported with its period.

use crate::policy::{Hop, Sender, even};
use crate::sharing::Arrivals;

use super::sweep::{SweepOptions, Sweeper};
use super::{FluidError, FluidNet, Outcome, Policies, Routers, brick_wall, or};

/// How the iteration goes and when it ends.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Change of a demand, relative to the capacity of the sender's link, below which it is settled.
    pub tolerance: f64,
    /// Part of each change that is taken over, above 0, at most 1.
    pub damping: f64,
    /// Least damping to which oscillation may lead; equal to `damping`: it is left as it is.
    pub least_damping: f64,
    /// Most rounds.
    pub limit: usize,
    /// When sweeps over links end, where links are not all max-min.
    pub sweep: SweepOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            damping: 1.0,
            least_damping: 1.0 / 64.0,
            limit: 2000,
            sweep: SweepOptions::default(),
        }
    }
}

/// Where senders and network came to rest, or that they did not.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    /// Rates of the last round.
    pub outcome: Outcome,
    /// Whether no demand changed by more than the tolerance.
    pub converged: bool,
    /// Rounds: how often the policy was evaluated.
    pub rounds: usize,
    /// Largest change of a demand in the last round, relative to the sender's link, undamped.
    pub change: f64,
    /// Rounds after which the demands repeat, where they oscillate.
    pub period: Option<usize>,
    /// Damping at the end.
    pub damping: f64,
}

/// Lets senders answer until nothing changes. `limits` bounds each demand; empty: nothing does.
///
/// Links that do not settle for the demands of a round on the way are no error: senders answer what
/// they see there. At rest is only what both senders and links leave as it is.
///
/// # Errors
/// Links that feed each other in a circle did not settle for the last demands.
pub fn fixed_point(
    net: &FluidNet,
    policies: &Policies,
    routers: &Routers,
    limits: &[f64],
    options: &Options,
) -> Result<FixedPoint, FluidError> {
    let senders = Senders::new(net, limits);
    let sweeper = (!routers.are_max_min()).then(|| Sweeper::new(net));
    let evaluate = |demand: &[f64]| match &sweeper {
        None => (brick_wall(net, demand), None),
        Some(sweeper) => sweeper.run_on(demand, routers, &options.sweep),
    };
    let mut demand = senders.first();
    let mut damping = options.damping;
    let mut reference = Seen::at(&demand);
    let (mut outcome, mut restless) = evaluate(&demand);
    let (mut period, mut change) = (None, f64::INFINITY);
    for round in 1..=options.limit {
        let answer = senders.next(policies, &outcome, routers);
        change = senders.distance(&answer, &demand);
        let settled = change <= options.tolerance && restless.is_none();
        if settled || policies.are_open_loop() {
            if !settled {
                (outcome, restless) = evaluate(&answer);
                change = 0.0;
            }
            if let Some(error) = restless {
                return Err(error);
            }
            return Ok(FixedPoint {
                outcome,
                converged: true,
                rounds: round,
                change,
                period: None,
                damping,
            });
        }
        for (now, new) in demand.iter_mut().zip(&answer) {
            *now += damping * (new - *now);
        }
        (outcome, restless) = evaluate(&demand);
        // Coming back means nearer to an old place than a hundredth of the step just made.
        let back = senders.distance(&demand, &reference.demand) <= 0.01 * damping * change;
        if back {
            period = Some(round - reference.round);
            reference = Seen { round, next: round + 1, demand: demand.clone() };
            if damping > options.least_damping {
                damping = (damping * 0.5).max(options.least_damping);
                period = None;
            }
        } else if round >= reference.next {
            // A period holds until as many rounds have gone by without a return.
            period = period.filter(|&p| round - reference.round < p);
            reference.update(round, &demand);
        }
    }
    if let Some(error) = restless {
        return Err(error);
    }
    Ok(FixedPoint { outcome, converged: false, rounds: options.limit, change, period, damping })
}

/// An old place to which an oscillation comes back: kept for twice as many rounds each time (Brent).
struct Seen {
    round: usize,
    next: usize,
    demand: Vec<f64>,
}

impl Seen {
    fn at(demand: &[f64]) -> Self {
        Self { round: 0, next: 1, demand: demand.to_vec() }
    }

    fn update(&mut self, round: usize, demand: &[f64]) {
        let age = (self.next - self.round).max(1);
        self.round = round;
        self.next = round + 2 * age;
        self.demand.copy_from_slice(demand);
    }
}

/// Flows by sender, and room to gather what a sender sees.
pub(super) struct Senders<'a> {
    net: &'a FluidNet,
    limits: &'a [f64],
    offsets: Vec<u32>,
    flows: Vec<u32>,
}

impl<'a> Senders<'a> {
    pub(super) fn new(net: &'a FluidNet, limits: &'a [f64]) -> Self {
        let (offsets, flows) = net.by_sender();
        Self { net, limits, offsets, flows }
    }

    /// Each sender's link and flows.
    fn each(&self) -> impl Iterator<Item = (usize, &[u32])> {
        (0..self.net.links())
            .map(|link| {
                (link, &self.flows[self.offsets[link] as usize..self.offsets[link + 1] as usize])
            })
            .filter(|(_, flows)| !flows.is_empty())
    }

    /// The demands of Eq. (1).
    pub(super) fn first(&self) -> Vec<f64> {
        let mut demand = vec![0.0; self.net.flows()];
        let mut next = Vec::new();
        for (link, flows) in self.each() {
            next.clear();
            next.resize(flows.len(), 0.0);
            even(self.net.capacity[link], &mut next);
            self.scatter(flows, &next, &mut demand);
        }
        demand
    }

    fn scatter(&self, flows: &[u32], next: &[f64], demand: &mut [f64]) {
        for (&flow, &rate) in flows.iter().zip(next) {
            let flow = flow as usize;
            demand[flow] = rate.min(or(self.limits, flow, f64::INFINITY));
        }
    }

    /// The demands that the policies choose, given the outcome of the present ones.
    pub(super) fn next(
        &self,
        policies: &Policies,
        outcome: &Outcome,
        routers: &Routers,
    ) -> Vec<f64> {
        let reports = policies.needs_reports().then(|| Reports::new(self.net, outcome, routers));
        let mut answer = vec![0.0; self.net.flows()];
        let (mut demand, mut goodput, mut next) = (Vec::new(), Vec::new(), Vec::new());
        for (link, flows) in self.each() {
            demand.clear();
            goodput.clear();
            for &flow in flows {
                demand.push(outcome.demand[flow as usize]);
                goodput.push(outcome.goodput(self.net, flow as usize));
            }
            let policy = policies.policy(link);
            let needed = reports.as_ref().filter(|_| policy.needs_reports());
            let paths: Vec<&[Hop]> = needed.map_or_else(Vec::new, |reports| {
                flows.iter().map(|&flow| &reports.hops[self.net.range(flow as usize)]).collect()
            });
            next.clear();
            next.resize(flows.len(), 0.0);
            let sender = Sender {
                capacity: self.net.capacity[link],
                demand: &demand,
                goodput: &goodput,
                paths: &paths,
            };
            policy.demand(&sender, &mut next);
            self.scatter(flows, &next, &mut answer);
        }
        answer
    }

    /// Largest difference of two demands, relative to the capacity of the sender's link.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let of = |flow: usize| {
            (a[flow] - b[flow]).abs() / self.net.capacity[self.net.first_link(flow) as usize]
        };
        (0..self.net.flows()).map(of).fold(0.0, f64::max)
    }
}

/// What routers report on every hop of every flow.
struct Reports {
    hops: Vec<Hop>,
}

impl Reports {
    fn new(net: &FluidNet, outcome: &Outcome, routers: &Routers) -> Self {
        let arriving: Vec<f64> = (0..net.flows())
            .flat_map(|flow| net.range(flow).map(move |hop| (flow, hop)))
            .map(|(flow, hop)| outcome.arriving(net, flow, hop))
            .collect();
        let mut gathered: Vec<Vec<f64>> = vec![Vec::new(); net.links()];
        for (hop, &link) in net.hops.iter().enumerate() {
            gathered[link as usize].push(arriving[hop]);
        }
        let links: Vec<(f64, f64)> = gathered
            .iter()
            .enumerate()
            .map(|(link, rate)| {
                let arrivals = Arrivals { capacity: net.capacity[link], rate, weight: &[] };
                (arrivals.offered(), routers.rule(link).aggregate(&arrivals))
            })
            .collect();
        let hops = net
            .hops
            .iter()
            .zip(&arriving)
            .map(|(&link, &arriving_rate)| {
                let (offered, aggregate) = links[link as usize];
                Hop {
                    capacity: net.capacity[link as usize],
                    offered,
                    aggregate,
                    own_rate: arriving_rate,
                }
            })
            .collect();
        Self { hops }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{DemandPolicy, PolicyEnv, build};
    use crate::registry::Spec;
    use crate::sharing;

    fn policy(spec: &serde_json::Value) -> Policies {
        let spec = serde_json::from_value::<Spec>(spec.clone()).unwrap();
        Policies::all(build(&spec, &PolicyEnv, "sender").unwrap())
    }

    fn max_min_routers() -> Routers {
        Routers::all(Box::new(sharing::max_min::MaxMin))
    }

    #[test]
    fn loss_load_settles_at_loss_1_over_k_plus_1_for_any_number_of_flows() {
        // M-34: n senders with links of 10 on one link of 1; load (1 + 1/k), loss 1/(k + 1).
        for k in [1.0, 2.0, 5.0, 10.0] {
            for n in [2u32, 5, 50] {
                let mut capacity = vec![10.0; n as usize];
                capacity.push(1.0);
                let hops = (0..n).flat_map(|i| [i, n]).collect();
                let net = FluidNet::new(capacity, (0..=n).map(|i| 2 * i).collect(), hops, vec![])
                    .unwrap();
                let rule = sharing::build(
                    &serde_json::from_value(serde_json::json!({"kind": "loss-load", "k": k}))
                        .unwrap(),
                    &sharing::SharingEnv,
                    "sharing",
                )
                .unwrap();
                let sender = policy(&serde_json::json!({"kind": "loss-load", "k": k}));
                let fine = Options { tolerance: 1e-9, ..Options::default() };
                let solution = fixed_point(&net, &sender, &Routers::all(rule), &[], &fine).unwrap();
                assert!(
                    solution.converged,
                    "k {k} n {n}: {} {:?}",
                    solution.change, solution.period
                );
                let load: f64 = solution.outcome.demand.iter().sum();
                let through: f64 = solution.outcome.goodputs(&net).iter().sum();
                assert!((load - (1.0 + 1.0 / k)).abs() < 1e-4, "k {k} n {n}: load {load}");
                assert!((1.0 - through / load - 1.0 / (k + 1.0)).abs() < 1e-4, "k {k} n {n}");
            }
        }
    }

    #[test]
    fn each_sender_has_its_own_policy() {
        // Two senders of 4 over one link of 4: the first sends all it can, the second 1.2 times what
        // arrives, which is half of the link.
        let net = FluidNet::new(vec![4.0; 3], vec![0, 2, 4], vec![0, 2, 1, 2], vec![]).unwrap();
        let [naive, ratio] = [
            serde_json::json!("naive"),
            serde_json::json!({"kind": "limited-ratio", "alpha": 0.2}),
        ]
        .map(|spec| policy(&spec).policies.remove(0));
        let mixed = Policies { policies: vec![naive, ratio], of_link: vec![0, 1, 0] };
        let solution =
            fixed_point(&net, &mixed, &max_min_routers(), &[], &Options::default()).unwrap();
        assert!(solution.converged);
        assert!((solution.outcome.demand[0] - 4.0).abs() < 1e-5);
        assert!((solution.outcome.demand[1] - 2.4).abs() < 1e-5);
        assert!(solution.outcome.goodputs(&net).iter().all(|rate| (rate - 2.0).abs() < 1e-5));
    }

    #[test]
    fn the_application_bounds_the_demand() {
        let net = FluidNet::new(vec![4.0], vec![0, 1, 2], vec![0, 0], vec![]).unwrap();
        let solution = fixed_point(
            &net,
            &policy(&serde_json::json!("naive")),
            &max_min_routers(),
            &[0.5, f64::INFINITY],
            &Options::default(),
        )
        .unwrap();
        assert_eq!(solution.outcome.demand, [0.5, 2.0]);
        assert!(solution.converged);
    }

    /// Sends this part of its link, whatever arrives.
    struct Part(f64);

    impl DemandPolicy for Part {
        fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
            next.fill(self.0 * sender.capacity);
        }
    }

    #[test]
    fn links_may_be_restless_on_the_way_but_not_at_the_end() {
        // Three proportional links in a circle need more than three sweeps for demands of 1, with
        // which senders begin, and settle at once for 0.1.
        let net =
            FluidNet::new(vec![1.0; 3], vec![0, 2, 4, 6], vec![0, 1, 1, 2, 2, 0], vec![]).unwrap();
        let routers = Routers::all(Box::new(sharing::proportional::Proportional));
        let hurried = Options {
            sweep: SweepOptions { limit: 3, ..SweepOptions::default() },
            limit: 9,
            ..Options::default()
        };
        let solution =
            fixed_point(&net, &Policies::all(Box::new(Part(0.1))), &routers, &[], &hurried)
                .unwrap();
        assert!(solution.converged);
        assert!(solution.outcome.leaving.iter().all(|rate| (rate - 0.1).abs() < 1e-12));
        let refused =
            fixed_point(&net, &Policies::all(Box::new(Part(1.0))), &routers, &[], &hurried);
        assert!(matches!(refused, Err(FluidError::NotConverged { sweeps: 3, .. })), "{refused:?}");
    }

    /// Sends all when little arrives, and little when all arrives: never at rest undamped.
    struct Contrary;

    impl DemandPolicy for Contrary {
        fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
            next[0] = sender.capacity - sender.goodput[0];
        }
    }

    #[test]
    fn an_oscillation_is_reported_with_its_period_and_damping_ends_it() {
        let net = FluidNet::new(vec![4.0], vec![0, 1], vec![0], vec![]).unwrap();
        let plain = Options { least_damping: 1.0, limit: 50, ..Options::default() };
        let solution =
            fixed_point(&net, &Policies::all(Box::new(Contrary)), &max_min_routers(), &[], &plain)
                .unwrap();
        assert!(!solution.converged);
        assert_eq!(solution.period, Some(2));
        let damped = fixed_point(
            &net,
            &Policies::all(Box::new(Contrary)),
            &max_min_routers(),
            &[],
            &Options::default(),
        )
        .unwrap();
        assert!(damped.converged && damped.damping < 1.0);
        assert!((damped.outcome.demand[0] - 2.0).abs() < 1e-5);
    }
}
