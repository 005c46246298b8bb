//! ROOM: sender policies. How fast the senders of a fluid network offer their flows.
//!
//! A sender is a link that leaves a source together with the flows that begin on it. It knows their
//! goodputs at once, as in the paper, and nothing else, unless routers report more.
//!
//! A new policy: one file here that implements [`About`](crate::registry::About) and
//! [`DemandPolicy`], and one line in the registry at the end of this file.

pub mod full_balanced;
pub mod full_share;
pub mod limited_ratio;
pub mod loss_load;
pub mod naive;
pub mod naive_ratio;

/// What the router at one link of a flow's path reports to its sender.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Capacity of the link.
    pub capacity: f64,
    /// Total rate that arrives there.
    pub offered: f64,
    /// The aggregate of the link's sharing rule ([`Sharing::aggregate`](crate::sharing::Sharing::aggregate)).
    pub aggregate: f64,
    /// Rate at which this flow arrives there.
    pub own_rate: f64,
}

/// One sender and its flows, in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    /// Capacity of the sender's own link.
    pub capacity: f64,
    /// Rate at which each flow is offered now.
    pub demand: &'a [f64],
    /// Rate at which each flow arrives at its destination.
    pub goodput: &'a [f64],
    /// What routers report on each flow's path, hop after hop; empty unless the policy needs it.
    pub paths: &'a [&'a [Hop]],
}

/// A rule by which a sender chooses the rates of its flows.
pub trait DemandPolicy: Send + Sync {
    /// Writes the rate at which each flow is to be offered, not negative and finite.
    fn demand(&self, sender: &Sender<'_>, next: &mut [f64]);

    /// Whether the policy looks at [`Sender::paths`].
    fn needs_reports(&self) -> bool {
        false
    }

    /// Whether one answer is the last: the rates do not depend on what the sender sees.
    fn is_open_loop(&self) -> bool {
        false
    }
}

/// The rates of Eq. (1), with which every policy begins: the link divided evenly.
pub fn even(capacity: f64, next: &mut [f64]) {
    let share = capacity / next.len() as f64;
    next.fill(share);
}

/// Rates in proportion to goodputs that in sum fill `total`; evenly where no flow gets anything.
pub(crate) fn in_proportion(goodput: &[f64], total: f64, next: &mut [f64]) {
    let sum: f64 = goodput.iter().sum();
    if sum > 0.0 {
        for (rate, got) in next.iter_mut().zip(goodput) {
            *rate = got * (total / sum);
        }
    } else {
        even(total, next);
    }
}

/// What a new policy knows about its surroundings: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct PolicyEnv;

crate::registry! {
    /// Builds a sender policy by name.
    "sender policy": dyn DemandPolicy, PolicyEnv {
        "policy/naive.rs" => naive::Naive,
        "policy/full_balanced.rs" => full_balanced::FullBalanced,
        "policy/full_share.rs" => full_share::FullShare,
        "policy/naive_ratio.rs" => naive_ratio::NaiveRatio,
        "policy/limited_ratio.rs" => limited_ratio::LimitedRatio,
        "policy/loss_load.rs" => loss_load::LossLoad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Fact, Spec};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
        #[test]
        fn every_policy_gives_finite_rates_and_keeps_to_its_link_if_it_says_so(
            flows in prop::collection::vec((0.0f64..10.0, 0.0f64..=1.0), 1..20),
            capacity in 0.01f64..100.0,
            others in 0.0f64..100.0,
        ) {
            let demand: Vec<f64> = flows.iter().map(|f| f.0).collect();
            // Goodputs never exceed demands, nor in sum the link.
            let sum: f64 = demand.iter().sum::<f64>().max(capacity);
            let goodput: Vec<f64> = flows.iter().map(|f| f.0 * f.1 * capacity / sum).collect();
            let hops: Vec<[Hop; 1]> = demand
                .iter()
                .map(|&own| [Hop { capacity, offered: own + others, aggregate: (own + others).powi(2), own_rate: own }])
                .collect();
            let paths: Vec<&[Hop]> = hops.iter().map(<[Hop; 1]>::as_slice).collect();
            for entry in catalogue() {
                let policy = build(&Spec::from(entry.info.name), &PolicyEnv, "sender").unwrap();
                let mut next = vec![f64::NAN; demand.len()];
                let paths = if policy.needs_reports() { &paths[..] } else { &[] };
                policy.demand(&Sender { capacity, demand: &demand, goodput: &goodput, paths }, &mut next);
                prop_assert!(next.iter().all(|d| d.is_finite() && *d >= 0.0), "{}: {next:?}", entry.info.name);
                if !entry.facts.contains(&Fact::Overdrives) {
                    let total: f64 = next.iter().sum();
                    prop_assert!(total <= capacity * (1.0 + 1e-9), "{}: {total}", entry.info.name);
                }
            }
        }
    }
}
