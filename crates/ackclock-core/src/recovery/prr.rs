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
use crate::tcp::Scoreboard;

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
    use serde_json::json;

    use super::super::Next;
    use super::super::testing::Bench;

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
        assert_eq!(bench.allowed(10.0), [Next::Retransmit(0)]);
        // RecoverFS = 20 - 2 = 18, one delivered by the third duplicate: ceil(n * 10 / 18) - out.
        let mut sent = Vec::new();
        for seq in 4..13 {
            bench.sack(seq, seq + 1);
            sent.push(bench.allowed(10.0).len());
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
        assert_eq!(bench.allowed(5.0), [Next::Retransmit(0)]);
        bench.ack(1);
        assert_eq!(bench.allowed(5.0), [Next::Retransmit(1), Next::Retransmit(2)]);
        bench.ack(2);
        assert_eq!(bench.allowed(5.0), [Next::Retransmit(3), Next::Retransmit(4)]);
    }
}
