//! <Title>: <what it does, in a sentence>.
//!
//! What: <what it is good for, and what it assumes>.
//!
//! **Source**: <authors, "title", venue year, section, doi>.
//!
//! **Rule**
//! ```text
//! <at most ten lines of formulas>
//! ```
//! Deviations: <none, or what and why>.
//!
//! Defaults by era: <the same in all, or which>.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dupacks::DupAcks;
use super::{AckIn, Digest, LossRecovery, Next, Offer, Phase, RecoveryEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::tcp::Scoreboard;

/// Parameters of {{Name}}.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// <What it does, in a phrase>.
#[derive(Clone, Debug)]
pub struct {{Name}} {
    dupacks: DupAcks,
}

impl About<RecoveryEnv> for {{Name}} {
    type Params = Params;
    const INFO: Info = Info {
        name: "{{name}}",
        title: "<Title>",
        source: "<authors year, section, doi>",
        status: Status::Variant,
    };

    fn new(_: Params, env: &RecoveryEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { dupacks: DupAcks::new(env.limited_transmit) })
    }
}

impl LossRecovery for {{Name}} {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckIn) -> Digest {
        if ack.acked > 0 {
            self.dupacks.restart(board);
        } else if ack.duplicate && self.dupacks.reaches_threshold() {
            let entry = self.dupacks.entry(board);
            self.on_rto(board);
            return Digest { entered: Some(entry), cwnd: Some(1.0), ..Digest::default() };
        }
        Digest::default()
    }

    fn on_rto(&mut self, board: &mut Scoreboard) {
        self.dupacks.go_back(board);
    }

    fn next(&mut self, board: &mut Scoreboard, offer: &Offer) -> Next {
        self.dupacks.next(board, offer)
    }

    fn pipe(&self, board: &Scoreboard) -> u32 {
        board.flight()
    }

    fn phase(&self) -> Phase {
        self.dupacks.phase
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[test]
    fn the_third_duplicate_sends_the_first_segment_again() {
        let mut bench = Bench::new("{{name}}");
        bench.send(8);
        bench.duplicates(2);
        let digest = bench.duplicate();
        assert_eq!(digest.entered.map(|e| (e.lost, e.flight)), Some((1, 8)));
        assert_eq!(bench.allowed(1.0), [Next::Retransmit(0)]);
    }
}
