//! AQMs: they decide (pass, mark, drop); storage and scheduling are the discipline's. One that implements
//! [`Aqm::into_prototype`] also serves inside another discipline, one instance for each class queue.

pub(crate) mod active;
pub mod afd;
pub mod blue;
pub mod cobalt;
pub mod codel;
pub(crate) mod curve;
pub mod decbit;
pub mod fifo;
pub mod fred;
pub mod green;
pub(crate) mod passive;
pub mod pie;
pub mod red;
pub mod rem;
pub mod rio;
pub mod sfb;
pub mod sred;
pub(crate) mod zombies;

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
pub(crate) fn inner(
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
            let sentence = format!("there is no AQM \"{}\"", spec.kind());
            Err(Problem::unknown("aqm", &sentence, spec.kind(), &names).into())
        }
    }
}

/// Names of the AQMs that serve inside another discipline.
pub(crate) fn inner_names(env: &QdiscEnv) -> Vec<&'static str> {
    let serves = |name: &str| {
        build(&Spec::from(name), env, "").is_ok_and(|disc| disc.into_prototype().is_some())
    };
    names().into_iter().filter(|name| serves(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;
    use crate::qdisc::testing::env;
    use crate::qdisc::{QueueState, Verdict};
    use crate::rng::{Purpose, Stream};
    use crate::units::{Bytes, Time};
    use crate::wire::{Flags, Packet};

    /// Ten wait where the link has room for two. RED's average is still 0: by itself on the link it would refuse the
    /// packet for want of room, which inside a discipline is not its to know.
    #[test]
    fn inside_a_discipline_the_limit_of_the_link_is_not_applied() {
        let env = QdiscEnv { limit: Limit { packets: 2, bytes: u64::MAX }, ..env() };
        let prototype = inner(Some(&Spec::from("red")), &env).unwrap().unwrap();
        let queue = QueueState { now: Time::ZERO, packets: 10, bytes: Bytes(10_000), key: 0 };
        let packet = Packet::new(FlowId(0), 0, 1000, Flags::default());
        let mut rng = Stream::new(1, Purpose::Qdisc, 0);
        let verdict = prototype.fresh().on_enqueue(&packet, &queue, &mut rng);
        assert!(matches!(verdict, Verdict::Pass));
    }
}
