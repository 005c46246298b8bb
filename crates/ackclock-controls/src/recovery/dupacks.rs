//! What Tahoe, Reno and NewReno share: duplicate acknowledgements, limited transmit, go-back-N.
//!
//! **Source**: RFC 5681 section 3.2 steps 1 to 5; RFC 3042; RFC 6582 section 3.2 steps 2 and 6.

use super::{Entry, Next, Offer, Phase};
use crate::scoreboard::{DUP_THRESH, Scoreboard};

/// Counter of duplicate acknowledgements and what hangs on it.
#[derive(Clone, Debug)]
pub(super) struct DupAcks {
    /// Duplicates since the last new acknowledgement.
    pub(super) count: u32,
    /// Segments that recovery adds to cwnd (may be negative while partial acknowledgements deflate).
    pub(super) inflation: f64,
    /// Retransmitted next, whatever the window says.
    pub(super) retransmit: Option<u32>,
    pub(super) phase: Phase,
    /// Fast retransmit is allowed once more than this is acknowledged.
    pub(super) recover: Option<u32>,
    /// `nxt` at the last timeout, the end of go-back-N.
    loss_end: u32,
    /// New segments sent beyond cwnd for the first two duplicates.
    limited_sent: u32,
    limited_transmit: bool,
}

impl DupAcks {
    pub(super) fn new(limited_transmit: bool) -> Self {
        Self {
            count: 0,
            inflation: 0.0,
            retransmit: None,
            phase: Phase::Open,
            recover: None,
            loss_end: 0,
            limited_sent: 0,
            limited_transmit,
        }
    }

    /// New data was acknowledged outside fast recovery.
    pub(super) fn restart(&mut self, board: &Scoreboard) {
        self.count = 0;
        self.limited_sent = 0;
        if self.phase == Phase::Loss && board.una() >= self.loss_end {
            self.phase = Phase::Open;
        }
        self.inflation = 0.0;
    }

    /// A duplicate outside fast recovery; true for the one that reveals a loss beyond `recover`.
    pub(super) fn reaches_threshold(&mut self, board: &Scoreboard) -> bool {
        self.count += 1;
        if self.limited_transmit && self.phase == Phase::Open {
            self.inflation = f64::from(self.count.min(DUP_THRESH - 1));
        }
        self.count == DUP_THRESH && self.recover.is_none_or(|recover| board.una() > recover)
    }

    /// The loss that the duplicates revealed.
    pub(super) fn entry(&self, board: &Scoreboard) -> Entry {
        Entry { lost: 1, flight: board.flight().saturating_sub(self.limited_sent).max(1) }
    }

    /// Retransmits the first outstanding segment and inflates by the three that have left.
    pub(super) fn enter_recovery(&mut self, board: &Scoreboard) {
        self.phase = Phase::Recovery;
        self.retransmit = Some(board.una());
        self.inflation = f64::from(DUP_THRESH);
    }

    /// Back to sending by cwnd alone.
    pub(super) fn leave_recovery(&mut self) {
        self.phase = Phase::Open;
        self.inflation = 0.0;
        self.retransmit = None;
    }

    /// Go-back-N from the first outstanding segment.
    pub(super) fn go_back(&mut self, board: &mut Scoreboard) {
        board.lose_all();
        self.count = 0;
        self.limited_sent = 0;
        self.inflation = 0.0;
        self.retransmit = None;
        self.phase = Phase::Loss;
        self.loss_end = board.nxt();
    }

    /// What was being repaired is in flight after all.
    pub(super) fn resume(&mut self, board: &mut Scoreboard) {
        board.resume();
        self.count = 0;
        self.limited_sent = 0;
        self.leave_recovery();
    }

    pub(super) fn next(&mut self, board: &mut Scoreboard, offer: &Offer) -> Next {
        if let Some(seq) = self.retransmit.take()
            && seq == board.una()
        {
            return Next::Retransmit(seq);
        }
        let after = f64::from(board.flight()) + 1.0;
        if after > (offer.cwnd + self.inflation).max(1.0) {
            return Next::Nothing;
        }
        if let Some(seq) = board.next_hole(board.lost_below()) {
            board.retransmit_hole(seq);
            return Next::Retransmit(seq);
        }
        if !offer.new_data {
            return Next::Nothing;
        }
        if self.phase != Phase::Recovery && after > offer.cwnd {
            self.limited_sent += 1;
        }
        Next::New
    }
}
