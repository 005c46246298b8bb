//! Tahoe: fast retransmit without fast recovery.
//!
//! What: the third duplicate acknowledgement is answered like a timeout: one segment, slow start, and
//! everything from the lost segment on again.
//!
//! **Source**: V. Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988,
//! doi:10.1145/52324.52356; as compared in K. Fall and S. Floyd, "Simulation-based Comparisons of
//! Tahoe, Reno, and SACK TCP", ACM CCR 26(3), 1996, doi:10.1145/235160.235162, section 2.
//!
//! **Rule**
//! ```text
//! third duplicate:  ssthresh by the control, cwnd = 1, next segment to send = una
//! ```
//! With `guard`, no fast retransmit until all that was outstanding at the last one, or at the last
//! timeout, is acknowledged (S. Floyd, "TCP and Successive Fast Retransmits", 1994).
//!
//! Deviations: none known. Limited transmit (RFC 3042) postdates Tahoe and follows the TCP setting.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dupacks::DupAcks;
use super::{AckIn, Digest, LossRecovery, Next, Offer, Phase, RecoveryEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::scoreboard::Scoreboard;
use crate::units::Time;

/// Parameters of Tahoe.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// No second fast retransmit for one window of data.
    pub guard: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { guard: true }
    }
}

/// Fast retransmit, then slow start.
#[derive(Clone, Debug)]
pub struct Tahoe {
    dupacks: DupAcks,
    guard: bool,
}

impl About<RecoveryEnv> for Tahoe {
    type Params = Params;
    const INFO: Info = Info {
        name: "tahoe",
        title: "Tahoe",
        source: "Jacobson 1988, doi:10.1145/52324.52356; Fall & Floyd 1996, doi:10.1145/235160.235162",
        status: Status::Specified,
    };

    fn new(params: Params, env: &RecoveryEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { dupacks: DupAcks::new(env.limited_transmit), guard: params.guard })
    }
}

impl LossRecovery for Tahoe {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckIn) -> Digest {
        if ack.acked > 0 {
            self.dupacks.restart(board);
        } else if ack.duplicate && self.dupacks.reaches_threshold(board) {
            let entry = self.dupacks.entry(board);
            self.on_rto(board, ack.now);
            return Digest { entered: Some(entry), cwnd: Some(1.0), ..Digest::default() };
        }
        Digest::default()
    }

    fn on_rto(&mut self, board: &mut Scoreboard, _now: Time) {
        self.dupacks.go_back(board);
        if self.guard {
            self.dupacks.recover = Some(board.nxt());
        }
    }

    counts_duplicates!(dupacks);
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[test]
    fn the_third_duplicate_starts_over_with_one_segment() {
        let mut bench = Bench::new("tahoe");
        bench.send(8);
        assert_eq!(bench.duplicate(), Digest::default());
        assert_eq!(bench.duplicate(), Digest::default());
        let digest = bench.duplicate();
        assert_eq!(digest.entered.map(|e| (e.lost, e.flight)), Some((1, 8)));
        assert_eq!(digest.cwnd, Some(1.0));
        assert_eq!(bench.send_allowed(1.0), [Next::Retransmit(0)]);
        // The retransmission is acknowledged together with 1 and 2, which had arrived.
        bench.ack(3);
        assert_eq!(bench.send_allowed(2.0), [Next::Retransmit(3), Next::Retransmit(4)]);
    }

    #[test]
    fn segments_sent_needlessly_do_not_start_it_over_again() {
        let mut bench = Bench::new("tahoe");
        bench.send(8);
        bench.duplicates(3);
        bench.send_allowed(1.0);
        bench.ack(4);
        for _ in 0..4 {
            assert_eq!(bench.duplicate().entered, None);
        }
    }
}
