//! AQMs that can serve inside another discipline, one instance for each class queue.

use super::{Aqm, Limit, QdiscEnv, blue::Blue, codel::Codel, pie::Pie, red::Red, rem::Rem};
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
    /// Builds the AQM that `spec` names; `path` says where it stands in the scenario.
    "AQM": dyn Prototype, QdiscEnv {
        "qdisc/red.rs" => Red,
        "qdisc/codel.rs" => Codel,
        "qdisc/pie.rs" => Pie,
        "qdisc/blue.rs" => Blue,
        "qdisc/rem.rs" => Rem,
    }
}

/// The prototype for a discipline's class queues. Room is the shared buffer's business, not theirs.
pub(super) fn inner(
    spec: Option<&Spec>,
    env: &QdiscEnv,
) -> Result<Option<Box<dyn Prototype>>, String> {
    let env = QdiscEnv { limit: Limit::NONE, ..env.clone() };
    spec.map(|spec| build(spec, &env, "aqm")).transpose().map_err(|problem| problem.to_string())
}
