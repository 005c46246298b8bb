//! Delay that changes at given times: a path that changes its route.
//!
//! **Source**: RFC 9743 section 7.9 ("Transient events", changes of path); a route change replaces one
//! propagation delay by another.
//!
//! **Rule** (steps of time `t_i` and delay `d_i`, ascending)
//! ```text
//! hold = d_i for packets whose transmission ends from t_i on;  0 before t_1
//! ```
//! After a step down, packets on the new path overtake those on the old one, unless `keep_order`.
//! Deviations: delay is added to the link's own, so the link's delay is the least that the path ever has.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::order::Order;
use super::{Fate, Impairment, ImpairmentEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Span;
use crate::wire::Packet;

/// Parameters of delay steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DelayStepsParams {
    /// Times and the delay that the path has from then on, beside the link's own; ascending.
    pub steps: Vec<DelayStep>,
    /// Whether packets are released in the order in which they came.
    pub keep_order: bool,
}

/// A delay from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayStep {
    /// From when.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// How much longer the path is than the link's own delay.
    pub extra: Span,
}

/// Delay steps.
pub struct DelaySteps {
    steps: Vec<DelayStep>,
    passed: usize,
    order: Option<Order>,
}

impl About<ImpairmentEnv> for DelaySteps {
    type Params = DelayStepsParams;
    const INFO: Info = Info {
        name: "delay-steps",
        title: "Delay that changes by schedule",
        source: "RFC 9743, section 7.9",
        status: Status::Specified,
    };

    fn new(params: DelayStepsParams, _: &ImpairmentEnv) -> Result<Self, Vec<Problem>> {
        if params.steps.windows(2).any(|w| w[1].at <= w[0].at) {
            return Err(Problem::new("steps", "are not in order of time without repetition").into());
        }
        Ok(Self { steps: params.steps, passed: 0, order: params.keep_order.then(Order::default) })
    }
}

impl Impairment for DelaySteps {
    fn pass(&mut self, _: &Packet, fate: &mut Fate, _: &mut Stream) {
        while self.steps.get(self.passed).is_some_and(|step| step.at.0 <= fate.release.0) {
            self.passed += 1;
        }
        if let Some(now) = self.passed.checked_sub(1) {
            fate.hold(self.steps[now].extra);
        }
        if let Some(order) = &mut self.order {
            order.keep(fate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fates, rng};
    use super::*;

    #[test]
    fn the_delay_is_that_of_the_last_step() {
        let step = |time, extra| DelayStep {
            at: Span::from_seconds(time),
            extra: Span::from_seconds(extra),
        };
        let params = DelayStepsParams {
            steps: vec![step(0.002, 0.010), step(0.005, 0.001)],
            keep_order: false,
        };
        let delays_ms = |params: DelayStepsParams| -> Vec<u64> {
            let mut path = DelaySteps::new(params, &ImpairmentEnv { delay: Span::ZERO }).unwrap();
            fates(&mut path, 7, Span::from_seconds(0.001), &mut rng(1))
                .iter()
                .map(|(sent, fate)| fate.release.since(*sent).0 / 1_000_000_000)
                .collect()
        };
        assert_eq!(delays_ms(params.clone()), [0, 0, 10, 10, 10, 1, 1]);
        // The packet of 4 ms is released at 14 ms; those behind it do not overtake.
        let in_order = DelayStepsParams { keep_order: true, ..params };
        assert_eq!(delays_ms(in_order), [0, 0, 10, 10, 10, 9, 8]);
    }
}
