//! Reno: fast retransmit and fast recovery.
//!
//! What: the third duplicate acknowledgement retransmits one segment; each further duplicate lets one
//! new segment out; the first acknowledgement of new data ends it.
//!
//! **Source**: RFC 5681 section 3.2; RFC 3042; V. Jacobson, "Modified TCP Congestion Avoidance
//! Algorithm", end2end-interest, 30 April 1990.
//!
//! **Rule** (i: inflation, sending while flight + 1 <= cwnd + i)
//! ```text
//! duplicate 1, 2:  i = number of duplicates (limited transmit)
//! duplicate 3:     cwnd by the control (FlightSize without limited transmit), i = 3, resend una
//! further:         i = i + 1
//! new data:        i = 0, recovery ends
//! ```
//! With `guard`, no fast retransmit after a timeout until more than what was outstanding then is
//! acknowledged (S. Floyd, "TCP and Successive Fast Retransmits", 1994; RFC 6582 section 3.2 step 2).
//!
//! Deviations: after a timeout limited transmit waits until go-back-N is complete.
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

/// Parameters of Reno.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// No fast retransmit for data sent before the last timeout.
    pub guard: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { guard: true }
    }
}

/// Fast retransmit and fast recovery.
#[derive(Clone, Debug)]
pub struct Reno {
    dupacks: DupAcks,
    guard: bool,
}

impl About<RecoveryEnv> for Reno {
    type Params = Params;
    const INFO: Info = Info {
        name: "reno",
        title: "Reno",
        source: "RFC 5681 section 3.2",
        status: Status::Specified,
    };

    fn new(params: Params, env: &RecoveryEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { dupacks: DupAcks::new(env.limited_transmit), guard: params.guard })
    }
}

impl LossRecovery for Reno {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckIn) -> Digest {
        let recovering = self.dupacks.phase == Phase::Recovery;
        if ack.acked > 0 {
            if recovering {
                self.dupacks.leave_recovery();
            }
            self.dupacks.restart(board);
            return Digest { ended: recovering, hold_window: recovering, ..Digest::default() };
        }
        if !ack.duplicate {
            return Digest::default();
        }
        if recovering {
            self.dupacks.inflation += 1.0;
        } else if self.dupacks.reaches_threshold(board) {
            let entry = self.dupacks.entry(board);
            self.dupacks.enter_recovery(board);
            return Digest { entered: Some(entry), hold_window: true, ..Digest::default() };
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
    use crate::era::Era;

    /// cwnd 8, 0 lost. Limited transmit lets 8 and 9 out; FlightSize stays 8, cwnd becomes 4, and
    /// 4 + 3 duplicates = 7 < 10 in flight, so new data waits for duplicates 4, 5, 6 and 7.
    #[test]
    fn inflation_lets_new_data_out_when_half_the_window_has_left() {
        let mut bench = Bench::new("reno");
        bench.send(8);
        for _ in 0..2 {
            bench.duplicate();
            assert_eq!(bench.send_allowed(8.0), [Next::New]);
        }
        let digest = bench.duplicate();
        assert_eq!(digest.entered.map(|e| e.flight), Some(8));
        assert_eq!(bench.send_allowed(4.0), [Next::Retransmit(0)]);
        for _ in 0..3 {
            bench.duplicate();
            assert_eq!(bench.send_allowed(4.0), []);
        }
        bench.duplicate();
        assert_eq!(bench.send_allowed(4.0), [Next::New]);
        let end = bench.ack(10);
        assert!(end.ended && end.hold_window);
        assert_eq!(bench.send_allowed(4.0), [Next::New, Next::New, Next::New]);
    }

    /// cwnd 8, eight in flight, one duplicate, then seven of them are acknowledged: seven may follow, not eight.
    #[test]
    fn new_data_forgets_the_duplicates_before_it() {
        let mut bench = Bench::new("reno");
        bench.send(8);
        bench.duplicate();
        bench.ack(7);
        assert_eq!(bench.send_allowed(8.0), [Next::New; 7]);
    }

    #[test]
    fn without_limited_transmit_two_duplicates_send_nothing() {
        let mut bench = Bench::with("reno", RecoveryEnv { limited_transmit: false, era: Era::Rfc });
        bench.send(8);
        for _ in 0..2 {
            bench.duplicate();
            assert_eq!(bench.send_allowed(8.0), []);
        }
    }

    #[test]
    fn a_timeout_goes_back_and_bars_fast_retransmit_of_old_data() {
        let mut bench = Bench::new("reno");
        bench.send(6);
        bench.rto();
        assert_eq!(bench.phase(), Phase::Loss);
        assert_eq!(bench.send_allowed(1.0), [Next::Retransmit(0)]);
        bench.ack(2);
        for _ in 0..4 {
            assert_eq!(bench.duplicate().entered, None);
        }
        bench.ack(6);
        assert_eq!(bench.phase(), Phase::Open);
        // RFC 6582 section 3.2 step 2: the acknowledgement must cover more than the last segment sent before.
        bench.send(4);
        assert!((0..3).all(|_| bench.duplicate().entered.is_none()));
        bench.ack(7);
        bench.duplicates(2);
        assert_eq!(bench.duplicate().entered.map(|e| e.flight), Some(3));
    }

    #[test]
    fn without_guard_duplicates_after_a_timeout_retransmit_at_once() {
        let mut bench = Bench::spec(&serde_json::json!({ "kind": "reno", "guard": false }));
        bench.send(6);
        bench.rto();
        assert_eq!(bench.send_allowed(1.0), [Next::Retransmit(0)]);
        bench.ack(2);
        bench.duplicates(2);
        assert!(bench.duplicate().entered.is_some());
        assert_eq!(bench.phase(), Phase::Recovery);
    }
}
