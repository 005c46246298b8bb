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
