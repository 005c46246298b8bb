//! Losses that a recovery marks segment by segment, as RACK does, in place of RFC 6675's IsLost.
//!
//! The pipe is then what is outstanding without the segments marked: those SACKed and those lost that were not
//! sent again.

use super::Scoreboard;
use super::records::{LOST, REPAIRED, SACKED};
use crate::units::Time;
use crate::wire::SackBlock;

impl Scoreboard {
    /// An empty scoreboard on which a recovery marks what is lost.
    pub fn with_marks() -> Self {
        Self { by_marks: true, ..Self::default() }
    }

    /// Takes a segment out of the pipe, as lost; it must be outstanding, not SACKed and not marked.
    pub fn mark_lost(&mut self, seq: u32) {
        debug_assert!(self.by_marks && !self.is_sacked(seq) && !self.is_marked_lost(seq));
        let before = *self.record(seq);
        self.resent_out -= u32::from(before.is_resent());
        self.lost_out += u32::from(!before.is(REPAIRED));
        self.ring.mark(seq, LOST);
        self.marked += 1;
        self.losses += 1;
    }

    /// Whether an outstanding segment is marked lost and was not sent again.
    #[inline]
    pub fn is_marked_lost(&self, seq: u32) -> bool {
        self.record(seq).is(LOST)
    }

    /// Whether an outstanding segment was marked lost before and has been sent again since.
    pub fn is_repaired(&self, seq: u32) -> bool {
        self.record(seq).is(REPAIRED)
    }

    /// Segments marked lost that have not arrived, sent again or not (Linux: `lost_out`).
    pub fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Retransmissions in flight (Linux: `retrans_out`).
    pub fn resent_out(&self) -> u32 {
        self.resent_out
    }

    /// Whether a retransmission is in flight, or the first outstanding segment was ever sent again.
    pub fn has_resent(&self) -> bool {
        self.resent_out > 0 || (self.outstanding() > 0 && self.is_retransmitted(self.una))
    }

    /// When an outstanding segment was last sent.
    #[inline]
    pub fn sent_at(&self, seq: u32) -> Time {
        self.record(seq).sent_at
    }

    /// Nothing outstanding is lost after all.
    pub fn unmark_lost(&mut self) {
        for seq in self.una..self.nxt {
            if self.is_marked_lost(seq) {
                self.ring.unmark(seq, LOST);
                self.marked -= 1;
                self.resent_out += u32::from(self.record(seq).is_resent());
            }
            self.ring.unmark(seq, REPAIRED);
        }
        self.lost_out = 0;
    }

    /// A count that rises with every loss found.
    pub fn losses_found(&self) -> u32 {
        if self.by_marks { self.losses } else { self.lost_below }
    }

    /// Takes a SACK block where a recovery marks losses.
    #[cold]
    pub(super) fn sack_marked(&mut self, block: SackBlock, mut each: impl FnMut(u32)) -> u32 {
        let Self { ring, marked, sacked, lost_out, resent_out, .. } = self;
        let mut fresh = 0;
        sacked.insert(block, |from, to| {
            fresh += to - from;
            for seq in from..to {
                each(seq);
                let before = *ring.at(seq);
                // Lost or not, it is out of the pipe now.
                *marked += u32::from(!before.is(LOST));
                *lost_out -= u32::from(before.is(LOST | REPAIRED));
                *resent_out -= u32::from(before.is_resent());
                ring.unmark(seq, LOST | REPAIRED);
                ring.mark(seq, SACKED);
            }
        });
        fresh
    }
}
