//! Algorithms that are not in the registry: those that a user brings to a run.

use crate::cc::{CcEnv, CongestionControl};
use crate::error::Problem;
use crate::qdisc::{QdiscEnv, QueueDisc};
use crate::registry::Spec;

/// What a user's algorithm was made of, or why it cannot be; `None` leaves the spec to the registry.
pub type Made<A> = Option<Result<Box<A>, Problem>>;

/// Who it is that an algorithm is made for.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Number of the flow or link.
    pub index: u32,
    /// Its name.
    pub name: &'a str,
    /// Where the algorithm stands in the scenario.
    pub path: &'a str,
}

/// A source of algorithms that is asked before the registry. One instance is made for every flow
/// and every link of every run.
pub trait Custom: Sync {
    /// The congestion control that `spec` names.
    fn cc(&self, _spec: &Spec, _env: &CcEnv, _place: Place<'_>) -> Made<dyn CongestionControl> {
        None
    }
    /// The queue discipline that `spec` names.
    fn qdisc(&self, _spec: &Spec, _env: &QdiscEnv, _place: Place<'_>) -> Made<dyn QueueDisc> {
        None
    }
    /// Why the run must stop, if one of its algorithms has failed.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// Nothing but the registry.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegistryOnly;

impl Custom for RegistryOnly {}
