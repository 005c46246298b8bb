//! Whether a flow of FAST has come to rest: shared by the controls that act once it has.
//!
//! **Source**: none; the paper that needs it leaves it open (Rodriguez-Perez et al., section 6: "once it
//! reaches a stable throughput").
//!
//! **Rule** (per round: r = mean round trip, D = base, b = w (r - D) / r by the flow's own measure)
//! ```text
//! calm:  |b - alpha| <= tolerance alpha   and   |r - r of the round before| <= tolerance (r - D)
//! rest:  so many calm rounds in a row
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, fast::Fast};

/// Parameters of the detection of rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CalmParams {
    /// Rounds in a row that must be calm before the flow counts as stable, 1 or more.
    pub stable_rounds: u32,
    /// Part of alpha and of the queueing delay that a calm round may deviate by, in (0, 1).
    pub stable_tolerance: f64,
}

impl Default for CalmParams {
    fn default() -> Self {
        Self { stable_rounds: 10, stable_tolerance: 0.05 }
    }
}

impl CalmParams {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.stable_rounds == 0 {
            return Err("stable_rounds is 0, but it must be 1 or more".to_owned());
        }
        if !(self.stable_tolerance > 0.0 && self.stable_tolerance < 1.0) {
            return Err(format!(
                "stable_tolerance is {}, but it must be between 0 and 1, both excluded",
                self.stable_tolerance
            ));
        }
        Ok(())
    }
}

/// Watches a flow for rest.
pub(super) struct Calm {
    params: CalmParams,
    round: Option<u64>,
    sum: f64,
    count: u32,
    /// Mean round trip of the last whole round [s].
    last: Option<f64>,
    in_a_row: u32,
}

impl Calm {
    pub(super) fn new(params: CalmParams) -> Self {
        Self { params, round: None, sum: 0.0, count: 0, last: None, in_a_row: 0 }
    }

    pub(super) fn restart(&mut self) {
        (self.round, self.last, self.sum, self.count, self.in_a_row) = (None, None, 0.0, 0, 0);
    }

    /// Watches one acknowledgement; gives the mean round trip of the last round [s] once the flow rests.
    pub(super) fn watch(&mut self, fast: &Fast, cwnd: f64, ack: &Ack) -> Option<f64> {
        let ended = *self.round.get_or_insert(ack.round) != ack.round;
        let mut rest = None;
        if ended && self.count > 0 {
            let mean = self.sum / f64::from(self.count);
            let queueing = mean - fast.base();
            let backlog = cwnd.floor() * queueing / mean;
            let bound = self.params.stable_tolerance;
            let steady = self.last.is_some_and(|last| (mean - last).abs() <= bound * queueing);
            let target = (backlog / fast.alpha - 1.0).abs() <= bound;
            self.in_a_row = if steady && target && fast.avoids() { self.in_a_row + 1 } else { 0 };
            self.last = Some(mean);
            (self.sum, self.count) = (0.0, 0);
            rest = (self.in_a_row >= self.params.stable_rounds).then_some(mean);
        }
        self.round = Some(ack.round);
        if let Some(rtt) = ack.rtt {
            self.sum += rtt.seconds();
            self.count += 1;
        }
        rest
    }
}
