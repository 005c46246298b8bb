//! NewReno: fast recovery that survives partial acknowledgements.
//!
//! What: an acknowledgement that covers some but not all of what was outstanding when recovery began
//! reveals the next loss, which is retransmitted at once: one per round trip.
//!
//! **Source**: RFC 6582 section 3.2; RFC 5681 section 3.2; RFC 3042.
//!
//! **Rule** (i: inflation, sending while flight + 1 <= cwnd + i)
//! ```text
//! third duplicate, una > recover:  recover = nxt, cwnd by the control, i = 3, resend una
//! further duplicate:               i = i + 1
//! partial (una < recover):         resend una; i = i - acked + 1
//! full (una >= recover):           i = 0; cwnd = ssthresh, or min(ssthresh, max(flight, 1) + 1)
//! timeout:                         recover = nxt, recovery ends
//! ```
//! Deviations: `recover` starts below the first segment, so that it may be fast-retransmitted. The
//! optional heuristics of section 4 (timestamps, acknowledgement) are left out.
//!
//! Defaults by era: the same in all (ns-2's newreno is impatient as well).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dupacks::DupAcks;
use super::{AckIn, Digest, LossRecovery, Next, Offer, Phase, RecoveryEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::scoreboard::Scoreboard;
use crate::units::Time;

/// Parameters of NewReno.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Only the first partial acknowledgement restarts the retransmission timer (RFC 6582's default);
    /// otherwise each does ("slow but steady").
    pub impatient: bool,
    /// At the end of recovery cwnd is at most one segment more than is in flight (RFC 6582 step 3,
    /// first option), so that no burst leaves.
    pub avoid_burst: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { impatient: true, avoid_burst: false }
    }
}

/// Fast recovery with partial acknowledgements.
#[derive(Clone, Debug)]
pub struct NewReno {
    dupacks: DupAcks,
    partial_seen: bool,
    params: Params,
}

impl About<RecoveryEnv> for NewReno {
    type Params = Params;
    const INFO: Info =
        Info { name: "newreno", title: "NewReno", source: "RFC 6582", status: Status::Specified };
    const ALSO: &'static [&'static str] = &["new-reno"];

    fn new(params: Params, env: &RecoveryEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { dupacks: DupAcks::new(env.limited_transmit), partial_seen: false, params })
    }
}

impl NewReno {
    fn on_new_data(&mut self, board: &Scoreboard, acked: u32) -> Digest {
        if self.dupacks.phase != Phase::Recovery {
            self.dupacks.restart(board);
            return Digest::default();
        }
        if self.dupacks.recover.is_some_and(|recover| board.una() < recover) {
            let first = !self.partial_seen;
            self.partial_seen = true;
            self.dupacks.retransmit = Some(board.una());
            self.dupacks.inflation += 1.0 - f64::from(acked);
            return Digest {
                hold_window: true,
                hold_timer: self.params.impatient && !first,
                ..Digest::default()
            };
        }
        self.dupacks.leave_recovery();
        self.dupacks.restart(board);
        let cwnd = self.params.avoid_burst.then(|| f64::from(board.flight().max(1)) + 1.0);
        Digest { ended: true, cwnd, hold_window: true, ..Digest::default() }
    }
}

impl LossRecovery for NewReno {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckIn) -> Digest {
        if ack.acked > 0 {
            return self.on_new_data(board, ack.acked);
        }
        if !ack.duplicate {
            return Digest::default();
        }
        if self.dupacks.phase == Phase::Recovery {
            self.dupacks.inflation += 1.0;
        } else if self.dupacks.reaches_threshold(board) {
            let entry = self.dupacks.entry(board);
            self.dupacks.enter_recovery(board);
            self.dupacks.recover = Some(board.nxt());
            self.partial_seen = false;
            return Digest { entered: Some(entry), hold_window: true, ..Digest::default() };
        }
        Digest::default()
    }

    fn on_rto(&mut self, board: &mut Scoreboard, _now: Time) {
        self.dupacks.go_back(board);
        self.dupacks.recover = Some(board.nxt());
    }

    counts_duplicates!(dupacks);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::Bench;
    use super::*;
    use crate::era::Era;

    /// cwnd 10, segments 0 and 4 lost, no limited transmit. Eight duplicates: 5 + 3 + 5 = 13 allows
    /// 10, 11, 12. The partial acknowledgement of 4 segments: 13 - 4 + 1 = 10, flight 13 - 4 = 9,
    /// so 4 leaves again and one new segment with it.
    #[test]
    fn a_partial_acknowledgement_resends_and_deflates() {
        let mut bench =
            Bench::with("newreno", RecoveryEnv { limited_transmit: false, era: Era::Rfc });
        bench.send(10);
        bench.duplicates(3);
        assert_eq!(bench.send_allowed(5.0), [Next::Retransmit(0)]);
        bench.duplicates(5);
        assert_eq!(bench.send_allowed(5.0), [Next::New, Next::New, Next::New]);
        let partial = bench.ack(4);
        assert!(partial.hold_window && !partial.ended && !partial.hold_timer);
        assert_eq!(bench.send_allowed(5.0), [Next::Retransmit(4), Next::New]);
        let full = bench.ack(10);
        assert!(full.ended);
        assert_eq!(bench.phase(), Phase::Open);
    }

    #[test]
    fn impatient_restarts_the_timer_once_and_the_other_variant_always() {
        for (impatient, expected) in [(true, [false, true, true]), (false, [false; 3])] {
            let mut bench = Bench::spec(&json!({"kind": "newreno", "impatient": impatient}));
            bench.send(10);
            bench.duplicates(3);
            let holds_timer: Vec<bool> = (1..=3).map(|ack| bench.ack(ack).hold_timer).collect();
            assert_eq!(holds_timer, expected);
        }
    }

    /// Six segments, of which a timeout lost the first, are acknowledged; four more are sent.
    fn four_more_after_a_timeout() -> Bench {
        let mut bench = Bench::new("newreno");
        bench.send(6);
        bench.rto();
        bench.send_allowed(1.0);
        bench.ack(6);
        bench.send(4);
        bench
    }

    #[test]
    fn duplicates_that_cover_no_more_than_recover_do_not_enter_again() {
        let mut bench = four_more_after_a_timeout();
        assert!((0..3).all(|_| bench.duplicate().entered.is_none()));
        bench.ack(7);
        bench.duplicates(2);
        assert!(bench.duplicate().entered.is_some());
    }

    /// RFC 3042: what is outstanding stays within cwnd + 2 segments, also where the third duplicate enters nothing.
    #[test]
    fn limited_transmit_lets_two_segments_out_however_many_duplicates_come() {
        let mut bench = four_more_after_a_timeout();
        for expected in [&[Next::New][..], &[Next::New], &[], &[]] {
            assert_eq!(bench.duplicate().entered, None);
            assert_eq!(bench.send_allowed(4.0), expected);
        }
    }

    #[test]
    fn a_full_acknowledgement_can_cap_the_window_at_what_is_in_flight() {
        let mut bench = Bench::spec(&json!({"kind": "newreno", "avoid_burst": true}));
        bench.send(10);
        bench.duplicates(3);
        assert_eq!(bench.ack(10).cwnd, Some(2.0));
    }
}
