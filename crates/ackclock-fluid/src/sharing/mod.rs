//! ROOM: sharing rules. What a link of a fluid network lets through of each flow that arrives.
//!
//! A new rule: one file here that implements [`About`](crate::registry::About) and [`Sharing`], and
//! one line in the registry at the end of this file.

pub mod alpha_fair;
pub mod loss_load;
pub mod max_min;
pub mod proportional;

/// The flows that arrive at one link.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals<'a> {
    /// Capacity of the link.
    pub capacity: f64,
    /// Rate at which each flow arrives, finite and not negative.
    pub rate: &'a [f64],
    /// Weight of each flow; empty where all weigh the same.
    pub weight: &'a [f64],
}

impl Arrivals<'_> {
    /// Total rate of arrivals.
    pub fn offered(&self) -> f64 {
        self.rate.iter().sum()
    }
}

/// A rule by which a link divides its capacity.
pub trait Sharing: Send + Sync {
    /// Writes the rate at which each flow leaves: not negative, not above its arrival rate, in sum
    /// not above the capacity, and in sum equal to the arrivals where these fit.
    fn share(&self, arrivals: &Arrivals<'_>, leaving: &mut [f64]);

    /// Whether this is the max-min rule, for which a network has an exact solution.
    fn is_max_min(&self) -> bool {
        false
    }

    /// The aggregate over arriving flows that the router reports to senders, where the rule has one.
    fn aggregate(&self, _arrivals: &Arrivals<'_>) -> f64 {
        0.0
    }
}

/// What a new rule knows about its surroundings: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct SharingEnv;

crate::registry! {
    /// Builds a sharing rule by name.
    "sharing rule": dyn Sharing, SharingEnv {
        "sharing/max_min.rs" => max_min::MaxMin,
        "sharing/proportional.rs" => proportional::Proportional,
        "sharing/loss_load.rs" => loss_load::LossLoad,
        "sharing/alpha_fair.rs" => alpha_fair::AlphaFair,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Spec;
    use proptest::prelude::*;

    #[test]
    fn only_loss_load_reports_an_aggregate() {
        let arrivals = Arrivals { capacity: 1.0, rate: &[2.0, 3.0], weight: &[] };
        for entry in catalogue() {
            let name = entry.info.name;
            let rule = build(&Spec::from(name), &SharingEnv, "sharing").unwrap();
            assert_eq!(rule.aggregate(&arrivals) != 0.0, name == "loss-load", "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
        #[test]
        fn every_rule_keeps_its_books_and_fills_the_link(
            flows in prop::collection::vec((0.0f64..10.0, 0.1f64..10.0), 1..30),
            capacity in 0.01f64..100.0,
        ) {
            let rate: Vec<f64> = flows.iter().map(|f| f.0).collect();
            let weight: Vec<f64> = flows.iter().map(|f| f.1).collect();
            let arrivals = Arrivals { capacity, rate: &rate, weight: &weight };
            for entry in catalogue() {
                let rule = build(&Spec::from(entry.info.name), &SharingEnv, "sharing").unwrap();
                let mut leaving = vec![f64::NAN; rate.len()];
                rule.share(&arrivals, &mut leaving);
                for (out, arrived) in leaving.iter().zip(&rate) {
                    prop_assert!(*out >= 0.0 && *out <= arrived * (1.0 + 1e-12), "{}", entry.info.name);
                }
                let carried: f64 = leaving.iter().sum();
                let most = capacity.min(arrivals.offered());
                prop_assert!(carried <= most * (1.0 + 1e-9), "{}: {carried} of {most}", entry.info.name);
                prop_assert!(carried >= most * (1.0 - 1e-9), "{}: {carried} of {most}", entry.info.name);
            }
        }
    }
}
