//! AQMs: they decide (pass, mark, drop); storage and scheduling are the discipline's. One that implements
//! [`Aqm::into_prototype`] also serves inside another discipline, one instance for each class queue.

pub(in crate::qdisc) mod active;
pub mod afd;
pub mod blue;
pub mod cobalt;
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

use super::{Aqm, Limit, QdiscEnv, QueueDisc, build, names};
use crate::error::Problem;
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

/// The prototype for a discipline's class queues. Room is the shared buffer's business, not theirs.
///
/// # Errors
/// There is no such AQM, or it serves only as a link's discipline; what is wrong with its parameters.
pub(in crate::qdisc) fn inner(
    spec: Option<&Spec>,
    env: &QdiscEnv,
) -> Result<Option<Box<dyn Prototype>>, Vec<Problem>> {
    let Some(spec) = spec else { return Ok(None) };
    let env = QdiscEnv { limit: Limit::NONE, ..env.clone() };
    let built = build(spec, &env, "aqm");
    let refused = match built.map(QueueDisc::into_prototype) {
        Ok(Some(aqm)) => return Ok(Some(aqm)),
        Ok(None) => None,
        Err(problems) => Some(problems),
    };
    let names = inner_names(&env);
    match refused {
        Some(problems) if names.contains(&spec.kind()) => Err(problems),
        _ => {
            let what = format!("there is no AQM \"{}\"", spec.kind());
            Err(Problem::unknown("aqm", &what, spec.kind(), &names).into())
        }
    }
}

/// Names of the AQMs that serve inside another discipline.
pub(in crate::qdisc) fn inner_names(env: &QdiscEnv) -> Vec<&'static str> {
    let serves = |name: &str| {
        build(&Spec::from(name), env, "").is_ok_and(|disc| disc.into_prototype().is_some())
    };
    names().into_iter().filter(|name| serves(name)).collect()
}
