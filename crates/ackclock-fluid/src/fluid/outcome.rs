//! What links make of demands: the rate of each flow on each hop, and who shares how.

use crate::policy::DemandPolicy;
use crate::sharing::Sharing;

use super::FluidNet;

/// Rates of all flows on all of their hops.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Rate at which each flow is offered to its first link.
    pub demand: Vec<f64>,
    /// Rate at which each flow leaves each of its hops; see [`FluidNet::range`].
    pub leaving: Vec<f64>,
    /// Sweeps over the links that it took; 1 for an exact solution in one pass.
    pub sweeps: usize,
}

impl Outcome {
    /// Rate at which a flow arrives at its destination.
    #[inline]
    pub fn goodput(&self, net: &FluidNet, flow: usize) -> f64 {
        self.leaving[net.range(flow).end - 1]
    }

    /// Goodput of every flow.
    pub fn goodputs(&self, net: &FluidNet) -> Vec<f64> {
        (0..net.flows()).map(|flow| self.goodput(net, flow)).collect()
    }

    /// Rate at which a flow arrives at a hop, given by its place in the array of all hops.
    #[inline]
    pub fn arriving(&self, net: &FluidNet, flow: usize, hop: usize) -> f64 {
        if hop == net.range(flow).start { self.demand[flow] } else { self.leaving[hop - 1] }
    }

    /// Checks what no network can bring about: rates are numbers, a flow leaves no hop faster than it arrives
    /// there, and no link carries more than its capacity.
    ///
    /// # Errors
    /// The first link or flow for which this is not so, by number, with the rates.
    pub fn check(&self, net: &FluidNet) -> Result<(), String> {
        self.check_within(net, 0.0)
    }

    /// As [`Outcome::check`], for rates that sweeps found: where links feed each other in a circle, what
    /// arrives may have changed since by `tolerance` of a link's capacity, at which sweeps end.
    ///
    /// # Errors
    /// As there.
    pub fn check_within(&self, net: &FluidNet, tolerance: f64) -> Result<(), String> {
        for flow in 0..net.flows() {
            let mut arriving = self.demand[flow];
            let mut widest: f64 = 0.0;
            for hop in net.range(flow) {
                let leaving = self.leaving[hop];
                widest = widest.max(net.capacity[net.hops[hop] as usize]);
                let most = arriving * SLACK + tolerance * widest;
                // Written so that NaN fails.
                if !(leaving >= 0.0 && leaving.is_finite() && leaving <= most) {
                    let link = net.hops[hop];
                    return Err(format!(
                        "flow {flow} arrives at link {link} at {arriving} bit/s and leaves it at {leaving} bit/s"
                    ));
                }
                arriving = leaving;
            }
        }
        let (_, carried) = self.loads(net);
        check_loads(&carried, &net.capacity, "bit/s")
    }

    /// Per link: the rate that arrives and the rate that leaves.
    pub fn loads(&self, net: &FluidNet) -> (Vec<f64>, Vec<f64>) {
        let (mut offered, mut carried) = (vec![0.0; net.links()], vec![0.0; net.links()]);
        for flow in 0..net.flows() {
            let mut arriving = self.demand[flow];
            for hop in net.range(flow) {
                let link = net.hops[hop] as usize;
                offered[link] += arriving;
                arriving = self.leaving[hop];
                carried[link] += arriving;
            }
        }
        (offered, carried)
    }
}

/// Rounding of sums of rates, which grows with the number of flows: far below what matters.
pub(super) const SLACK: f64 = 1.0 + 1e-6;

/// Checks that no link carries more than its capacity, both in `unit`.
pub(super) fn check_loads(carried: &[f64], capacity: &[f64], unit: &str) -> Result<(), String> {
    for (link, (&carried, &capacity)) in carried.iter().zip(capacity).enumerate() {
        // Written so that NaN fails.
        if !(0.0..=capacity * SLACK).contains(&carried) {
            return Err(format!(
                "link {link} can carry {capacity} {unit} and carries {carried} {unit}"
            ));
        }
    }
    Ok(())
}

/// The sharing rules of a network: which link has which.
pub struct Routers {
    /// The rules in use.
    pub rules: Vec<Box<dyn Sharing>>,
    /// Per link the number of its rule; empty: all have the first.
    pub of_link: Vec<u8>,
}

impl Routers {
    /// The same rule everywhere.
    pub fn all(rule: Box<dyn Sharing>) -> Self {
        Self { rules: vec![rule], of_link: Vec::new() }
    }

    /// The rule of a link.
    #[inline]
    pub fn rule(&self, link: usize) -> &dyn Sharing {
        let number = self.of_link.get(link).copied().unwrap_or(0);
        self.rules[usize::from(number)].as_ref()
    }

    /// Whether every link is max-min.
    pub fn are_max_min(&self) -> bool {
        let used = |rule: u8| self.of_link.is_empty() && rule == 0 || self.of_link.contains(&rule);
        (0..self.rules.len() as u8)
            .all(|rule| !used(rule) || self.rules[usize::from(rule)].is_max_min())
    }
}

/// The policies of a network's senders: which sender has which.
pub struct Policies {
    /// The policies in use.
    pub policies: Vec<Box<dyn DemandPolicy>>,
    /// Per link, as the sender of the flows that begin on it, the number of its policy; empty: all
    /// have the first.
    pub of_link: Vec<u8>,
}

impl Policies {
    /// The same policy for all senders.
    pub fn all(policy: Box<dyn DemandPolicy>) -> Self {
        Self { policies: vec![policy], of_link: Vec::new() }
    }

    /// The policy of the sender that is a link.
    #[inline]
    pub fn policy(&self, link: usize) -> &dyn DemandPolicy {
        let number = self.of_link.get(link).copied().unwrap_or(0);
        self.policies[usize::from(number)].as_ref()
    }

    /// The policies that some link has.
    fn used(&self) -> impl Iterator<Item = &dyn DemandPolicy> {
        let has = |number: usize| match self.of_link.as_slice() {
            [] => number == 0,
            of_link => of_link.iter().any(|&of| usize::from(of) == number),
        };
        let all = self.policies.iter().enumerate();
        all.filter(move |(number, _)| has(*number)).map(|(_, policy)| policy.as_ref())
    }

    /// Whether the first answer of every sender is its last.
    pub fn are_open_loop(&self) -> bool {
        self.used().all(DemandPolicy::is_open_loop)
    }

    /// Whether some policy reads what routers report.
    pub fn needs_reports(&self) -> bool {
        self.used().any(DemandPolicy::needs_reports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::brick_wall;

    /// Two flows of 6 bit/s each over a link of 10 bit/s; the first goes on over one of 8 bit/s.
    fn solve_example() -> (FluidNet, Outcome) {
        let net = FluidNet::new(vec![10.0, 8.0], vec![0, 2, 3], vec![0, 1, 0], vec![]).unwrap();
        let outcome = brick_wall(&net, &[6.0, 6.0]);
        assert_eq!(outcome.check(&net), Ok(()));
        (net, outcome)
    }

    #[test]
    fn a_link_above_its_capacity_is_refused() {
        let (net, mut outcome) = solve_example();
        outcome.leaving[2] = 5.1;
        let message = outcome.check(&net).unwrap_err();
        assert_eq!(message, "link 0 can carry 10 bit/s and carries 10.1 bit/s");
    }

    #[test]
    fn a_flow_that_grows_on_its_way_or_is_no_number_is_refused() {
        let (net, outcome) = solve_example();
        for rate in [5.1, f64::NAN, -1.0, f64::INFINITY] {
            let mut wrong = outcome.clone();
            wrong.leaving[1] = rate;
            let message = wrong.check(&net).unwrap_err();
            let expected =
                format!("flow 0 arrives at link 1 at 5 bit/s and leaves it at {rate} bit/s");
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn what_sweeps_leave_open_is_within_their_tolerance_of_the_capacity() {
        let (net, outcome) = solve_example();
        let mut late = outcome.clone();
        // 5.0001 leaves where 5 arrives: a hundred-thousandth of 10 bit/s, the wider of the two links.
        late.leaving[1] = 5.000_1;
        assert_eq!(late.check_within(&net, 1e-5), Ok(()));
        assert!(late.check_within(&net, 0.9e-5).is_err());
        assert!(late.check(&net).is_err());
    }

    #[test]
    fn links_are_max_min_if_all_rules_in_use_are() {
        use crate::sharing::{SharingEnv, build};
        let rules = || {
            ["max-min", "proportional"]
                .map(|name| build(&name.into(), &SharingEnv, "sharing").unwrap())
        };
        for (of_link, expected) in [
            (vec![], true), // all have the first
            (vec![0, 0], true),
            (vec![1, 0], false),
            (vec![1, 1], false),
        ] {
            let routers = Routers { rules: rules().into(), of_link };
            assert_eq!(routers.are_max_min(), expected, "{:?}", routers.of_link);
        }
        let [max_min, proportional] = rules();
        let routers = Routers { rules: vec![proportional, max_min], of_link: vec![1, 1] };
        assert!(routers.are_max_min(), "no link has the other rule");
    }
}
