//! AQMs: they decide (pass, mark, drop); storage and scheduling are the discipline's. Those in the
//! registry below also serve inside another discipline, one instance for each class queue.

pub(in crate::qdisc) mod active;
pub mod afd;
pub mod blue;
pub mod codel;
pub(in crate::qdisc) mod curve;
pub mod decbit;
pub mod fifo;
pub mod fred;
pub mod green;
pub(in crate::qdisc) mod passive;
pub mod pie;
pub mod red;
pub mod rem;
pub mod rio;
pub mod sfb;
pub mod sred;
pub(in crate::qdisc) mod zombies;

use blue::Blue;
use codel::Codel;
use pie::Pie;
use red::Red;
use rem::Rem;

use super::{Aqm, Limit, QdiscEnv};
use crate::error::Problem;
use crate::registry;
use crate::registry::Spec;

/// An AQM of which further instances can be made.
pub trait Prototype: Aqm {
    /// A new instance in its first state.
    fn fresh(&self) -> Box<dyn Aqm>;
}

impl<A: Aqm + Clone + 'static> Prototype for A {
    fn fresh(&self) -> Box<dyn Aqm> {
        Box::new(self.clone())
    }
}

registry! {
    /// Builds the AQM that `spec` names; `path` is its place in the scenario.
    "AQM": dyn Prototype, QdiscEnv {
        "qdisc/aqm/red.rs" => Red,
        "qdisc/aqm/codel.rs" => Codel,
        "qdisc/aqm/pie.rs" => Pie,
        "qdisc/aqm/blue.rs" => Blue,
        "qdisc/aqm/rem.rs" => Rem,
    }
}

/// The prototype for a discipline's class queues. Room is the shared buffer's business, not theirs.
pub(in crate::qdisc) fn inner(
    spec: Option<&Spec>,
    env: &QdiscEnv,
) -> Result<Option<Box<dyn Prototype>>, Vec<Problem>> {
    let env = QdiscEnv { limit: Limit::NONE, ..env.clone() };
    spec.map(|spec| build(spec, &env, "aqm")).transpose()
}
