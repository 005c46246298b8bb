//! Proportional rate reduction, an option of SACK recovery.
//!
//! What: spreads the reduction of the window over the acknowledgements of one round trip.
//!
//! **Source**: RFC 9937 (which replaces RFC 6937) section 6.
//!
//! **Rule** (per acknowledgement in recovery; D: newly delivered, FS: RecoverFS)
//! ```text
//! prr_delivered += D
//! pipe > ssthresh:  n = ceil(prr_delivered * ssthresh / FS) - prr_out
//! otherwise:        n = min(ssthresh - pipe, max(prr_delivered - prr_out, D) + safe)
//! safe = 1 if una advanced and no further loss was found
//! ```
//! The first retransmission leaves in any case.
//! n segments may leave; `ssthresh` is the cwnd that the control chose. RecoverFS is what was
//! outstanding at the start, without what had been SACKed before that acknowledgement.

use super::AckIn;
use crate::scoreboard::Scoreboard;

/// The meter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    recover_fs: u32,
    delivered: u32,
    out: u32,
    /// Of the last acknowledgement, until it is metered.
    fresh: Option<Fresh>,
    /// Segments that may still leave for the last acknowledgement.
    budget: u32,
    lost_seen: u32,
}

#[derive(Clone, Copy, Debug)]
struct Fresh {
    delivered: u32,
    safe: bool,
}

impl Prr {
    /// Recovery begins with `ack`.
    pub(super) fn start(&mut self, board: &Scoreboard, ack: &AckIn) {
        let sacked: u32 = board.sacked_count();
        let sacked_before = sacked.saturating_sub(ack.sacked);
        *self = Self {
            recover_fs: (board.outstanding() + ack.acked).saturating_sub(sacked_before).max(1),
            lost_seen: board.losses_found(),
            ..Self::default()
        };
        self.on_ack(board, ack);
    }

    /// An acknowledgement in recovery.
    pub(super) fn on_ack(&mut self, board: &Scoreboard, ack: &AckIn) {
        let further_loss = board.losses_found() > self.lost_seen;
        self.lost_seen = board.losses_found();
        self.delivered += ack.delivered;
        self.fresh = Some(Fresh { delivered: ack.delivered, safe: ack.acked > 0 && !further_loss });
    }

    /// Whether one more segment may leave.
    pub(super) fn meter(&mut self, pipe: u32, ssthresh: f64) -> bool {
        if let Some(fresh) = self.fresh.take() {
            self.budget = self.allowance(pipe, ssthresh, fresh);
        }
        self.budget > 0
    }

    /// A segment left.
    pub(super) fn spend(&mut self) {
        self.out += 1;
        self.budget = self.budget.saturating_sub(1);
    }

    fn allowance(&self, pipe: u32, ssthresh: f64, fresh: Fresh) -> u32 {
        if f64::from(pipe) > ssthresh {
            let target = f64::from(self.delivered) * ssthresh / f64::from(self.recover_fs);
            (target.ceil() as u32).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(fresh.delivered)
                + u32::from(fresh.safe);
            limit.min((ssthresh.floor() as u32).saturating_sub(pipe))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::Next;
    use super::super::testing::Bench;
    use super::{AckIn, Prr};
    use crate::scoreboard::Scoreboard;
    use crate::units::Time;

    /// Twenty sent, 0 lost, the control chooses 10: after the first retransmission one segment leaves
    /// for every two delivered, and ten new ones have left when all the others have arrived.
    #[test]
    fn halving_sends_one_segment_for_two_delivered() {
        let mut bench = Bench::spec(&json!({"kind": "sack", "prr": true}));
        bench.send(20);
        // Limited transmit would add two; without data it cannot.
        bench.sack(1, 2);
        bench.sack(2, 3);
        assert!(bench.sack(3, 4).entered.is_some());
        assert_eq!(bench.send_allowed(10.0), [Next::Retransmit(0)]);
        // RecoverFS = 20 - 2 = 18, one delivered by the third duplicate: ceil(n * 10 / 18) - out.
        let mut sent = Vec::new();
        for seq in 4..13 {
            bench.sack(seq, seq + 1);
            sent.push(bench.send_allowed(10.0).len());
        }
        // n = 2..10: ceil(1.1, 1.7, 2.2, 2.8, 3.3, 3.9, 4.4, 5, 5.6) = 2 2 3 3 4 4 5 5 6, out from 1.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
    }
    /// Ten sent, 0 to 6 lost, the control chooses 5. Nothing is in flight, so one leaves for the block,
    /// and two for every acknowledgement of new data that reveals no further loss.
    #[test]
    fn after_heavy_loss_it_grows_like_slow_start() {
        let mut bench = Bench::spec(&json!({"kind": "sack", "prr": true}));
        bench.send(10);
        bench.sack(7, 8);
        bench.sack(8, 9);
        assert!(bench.sack(9, 10).entered.is_some());
        assert_eq!(bench.send_allowed(5.0), [Next::Retransmit(0)]);
        bench.ack(1);
        assert_eq!(bench.send_allowed(5.0), [Next::Retransmit(1), Next::Retransmit(2)]);
        bench.ack(2);
        assert_eq!(bench.send_allowed(5.0), [Next::Retransmit(3), Next::Retransmit(4)]);
    }

    fn ack(acked: u32, delivered: u32) -> AckIn {
        AckIn { acked, delivered, ..AckIn::at(Time::ZERO) }
    }

    /// Ten lost, fifty sent: the meter by itself, at an ssthresh of 20.
    fn start_recovery() -> (Prr, Scoreboard) {
        let board = Scoreboard::with_marks();
        (Prr { recover_fs: 40, ..Prr::default() }, board)
    }

    /// How many segments leave for an acknowledgement.
    fn leave(prr: &mut Prr, pipe: u32) -> u32 {
        let mut sent = 0;
        while prr.meter(pipe, 20.0) {
            prr.spend();
            sent += 1;
        }
        sent
    }

    /// RFC 9937 section 6: a pipe of exactly ssthresh is not above it, and leaves no room.
    #[test]
    fn a_pipe_of_ssthresh_lets_nothing_out() {
        let (mut prr, board) = start_recovery();
        prr.on_ack(&board, &ack(0, 2));
        assert_eq!(leave(&mut prr, 20), 0);
        prr.on_ack(&board, &ack(0, 2));
        // Above: ceil(4 x 20 / 40) = 2.
        assert_eq!(leave(&mut prr, 21), 2);
    }

    /// Below ssthresh one more than was delivered leaves, if the acknowledgement advanced and no loss was
    /// found with it.
    #[test]
    fn a_further_loss_is_not_safe_and_counts_once() {
        let (mut prr, mut board) = start_recovery();
        let stamp = crate::scoreboard::Stamp {
            record: crate::cc::SentRecord {
                sent_at: Time::ZERO,
                delivered: 0,
                delivered_at: Time::ZERO,
                in_flight: 0,
            },
            app_limited: false,
        };
        for _ in 0..50 {
            board.send_new(&stamp);
        }
        prr.on_ack(&board, &ack(1, 1));
        assert_eq!(leave(&mut prr, 5), 2, "safe");
        prr.on_ack(&board, &ack(0, 1));
        assert_eq!(leave(&mut prr, 5), 1, "una did not advance");
        board.mark_lost(30);
        prr.on_ack(&board, &ack(1, 1));
        assert_eq!(leave(&mut prr, 5), 1, "a further loss");
        prr.on_ack(&board, &ack(1, 1));
        assert_eq!(leave(&mut prr, 5), 2, "that loss is known already");
    }

    /// RFC 9937's variables, kept by its text for a whole recovery.
    struct Published {
        prr_delivered: u64,
        prr_out: u64,
        recover_fs: u64,
    }

    impl Published {
        fn snd_cnt(
            &mut self,
            acked: bool,
            delivered: u64,
            lost: bool,
            pipe: u64,
            ssthresh: u64,
        ) -> u64 {
            self.prr_delivered += delivered;
            let count = if pipe > ssthresh {
                // CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out, in whole numbers.
                let allowed = (self.prr_delivered * ssthresh).div_ceil(self.recover_fs);
                allowed.saturating_sub(self.prr_out)
            } else {
                let mut limit = delivered.max(self.prr_delivered.saturating_sub(self.prr_out));
                if acked && !lost {
                    limit += 1;
                }
                limit.min(ssthresh - pipe)
            };
            self.prr_out += count;
            count
        }
    }

    proptest! {
        #[test]
        fn every_acknowledgement_lets_out_what_the_rfc_says(
            acks in prop::collection::vec((any::<bool>(), 0u32..4, any::<bool>(), 0u32..40), 1..60),
            recover_fs in 1u32..60,
            ssthresh in 1u32..30,
        ) {
            let mut board = Scoreboard::with_marks();
            let mut prr = Prr { recover_fs, ..Prr::default() };
            let mut published =
                Published { prr_delivered: 0, prr_out: 0, recover_fs: u64::from(recover_fs) };
            let stamp = crate::scoreboard::Stamp {
                record: crate::cc::SentRecord {
                    sent_at: Time::ZERO,
                    delivered: 0,
                    delivered_at: Time::ZERO,
                    in_flight: 0,
                },
                app_limited: false,
            };
            for (acked, delivered, lost, pipe) in acks {
                let seq = board.send_new(&stamp);
                if lost {
                    board.mark_lost(seq);
                }
                prr.on_ack(&board, &ack(u32::from(acked), delivered));
                let mut sent = 0;
                // Each segment that leaves is in the pipe; the budget is that of the acknowledgement.
                while prr.meter(pipe + sent, f64::from(ssthresh)) {
                    prr.spend();
                    sent += 1;
                }
                let expected = published.snd_cnt(
                    acked, u64::from(delivered), lost, u64::from(pipe), u64::from(ssthresh),
                );
                prop_assert_eq!(u64::from(sent), expected);
            }
        }
    }
}
