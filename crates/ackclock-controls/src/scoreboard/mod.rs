//! The sender's scoreboard: what is outstanding, what of it is SACKed, lost, retransmitted.
//!
//! What: a ring with one record per outstanding segment, and the counts from which `pipe` follows
//! without looking at the window again.
//!
//! **Source**: RFC 6675 sections 2 to 4 (HighACK, HighData, HighRxt, IsLost, SetPipe), DupThresh 3.
//!
//! **Rule** (segments; `una` = HighACK + 1, `nxt` = HighData + 1, `rxt` = HighRxt + 1)
//! ```text
//! IsLost(s):  at least 3 SACKed above s   <=>  s < third-highest SACKed =: lost_below
//! pipe     =  unSACKed in [lost_below, nxt)  +  unSACKed in [una, rxt)
//! ```
//! Both terms are prefixes or suffixes of the window. No SACKed segment but the three highest can lie
//! at or above `lost_below`, and SACKed ones below `rxt` are counted as `rxt` or a block passes
//! them, so an acknowledgement costs amortised O(1).
//!
//! A timeout raises `lost_below` to `nxt` and returns `rxt` to `una`. For recoveries without SACK
//! this is go-back-N: `pipe` is then `snd_nxt - snd_una` of a sender that pulled `snd_nxt` back.
//!
//! Deviations: "more than (DupThresh - 1) * SMSS bytes SACKed above" is counted in segments, which
//! differs by nothing, as only the last segment of a transfer may be short.

#[cfg(any(test, feature = "testing"))]
mod by_definition;
mod marks;
mod records;

use crate::ranges::Ranges;
use crate::units::Time;
use crate::wire::SackBlock;
pub use records::Stamp;
use records::{LOST, REPAIRED, RETRANSMITTED, Record, Records, SACKED};

/// RFC 6675's DupThresh.
pub const DUP_THRESH: u32 = 3;

const FIRST_RING: usize = 8;

/// What a cumulative acknowledgement took off the scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct Advance {
    /// Segments newly acknowledged cumulatively.
    pub acked: u32,
    /// Of these, those that no SACK block had reported before.
    pub delivered: u32,
    /// One of them had been retransmitted: the acknowledgement is ambiguous (Karn).
    pub ambiguous: bool,
    /// When the newest of them that was neither retransmitted nor SACKed before was sent.
    pub clean_sent_at: Option<Time>,
    /// Record of the one sent last.
    pub newest: Stamp,
}

/// Records of outstanding segments.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    ring: Records,
    /// Most segments outstanding in this turn of the ring.
    peak: u32,
    una: u32,
    nxt: u32,
    rxt: u32,
    lost_below: u32,
    /// `nxt` at the last timeout: below it nothing is in flight but what was sent again.
    gone_below: u32,
    sacked_below_rxt: u32,
    /// The three highest SACKed segments ever, descending, each plus one (0: none).
    top: [u32; DUP_THRESH as usize],
    /// Segments that a recovery with separate marks has taken out of the pipe.
    marked: u32,
    /// Losses that it has found.
    losses: u32,
    /// Segments marked lost that have not arrived, sent again or not.
    lost_out: u32,
    /// Retransmissions in flight.
    resent_out: u32,
    /// A recovery marks what is lost; then `lost_below`, `top` and `rxt` rest.
    by_marks: bool,
    sacked: Ranges,
}

impl Scoreboard {
    /// First unacknowledged segment (HighACK + 1).
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// First segment never sent (HighData + 1).
    #[inline]
    pub fn nxt(&self) -> u32 {
        self.nxt
    }

    /// First segment that the present recovery may still retransmit (HighRxt + 1).
    #[inline]
    pub fn rxt(&self) -> u32 {
        self.rxt
    }

    /// Segments below this are lost unless SACKed.
    #[inline]
    pub fn lost_below(&self) -> u32 {
        self.lost_below
    }

    /// Segments sent and not cumulatively acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.nxt - self.una
    }

    /// FlightSize of RFC 5681: outstanding segments, without those that a timeout wrote off and that
    /// have not been sent again.
    #[inline]
    pub fn flight(&self) -> u32 {
        if self.gone_below <= self.una {
            return self.outstanding();
        }
        self.nxt - self.gone_below + (self.rxt.min(self.gone_below) - self.una)
    }

    /// RFC 6675's SetPipe.
    #[inline]
    pub fn pipe(&self) -> u32 {
        let bound = self.lost_below.max(self.una);
        let sacked_above = self.top.iter().filter(|&&t| t > bound).count() as u32;
        (self.nxt - bound - sacked_above) + (self.rxt - self.una - self.sacked_below_rxt)
            - self.marked
    }

    /// Segments now considered lost, sent again or not.
    pub fn lost(&self) -> u32 {
        let bound = self.lost_below.max(self.una);
        bound - self.una - self.sacked_in(bound)
    }

    /// SACKed segments outstanding.
    pub fn sacked_count(&self) -> u32 {
        self.sacked_in(self.nxt)
    }

    fn sacked_in(&self, end: u32) -> u32 {
        self.sacked.as_slice().iter().map(|&(from, to)| to.min(end) - from.min(end)).sum()
    }

    /// Whether an outstanding segment was SACKed.
    #[inline]
    pub fn is_sacked(&self, seq: u32) -> bool {
        self.record(seq).is(SACKED)
    }

    /// RFC 6675's IsLost, and true of everything unSACKed that was outstanding at a timeout.
    #[inline]
    pub fn is_lost(&self, seq: u32) -> bool {
        seq < self.lost_below && !self.is_sacked(seq)
    }

    /// Whether an outstanding segment was ever retransmitted.
    pub fn is_retransmitted(&self, seq: u32) -> bool {
        self.record(seq).is(RETRANSMITTED)
    }

    /// One past the highest SACKed segment, or `una`.
    #[inline]
    pub fn sacked_end(&self) -> u32 {
        self.top[0].max(self.una)
    }

    /// Prefetches what an acknowledgement and the segments that it releases will touch.
    #[inline(always)]
    pub fn prefetch(&self) {
        self.ring.prefetch(self.una);
        self.ring.prefetch(self.nxt);
    }

    /// What is known of an outstanding segment.
    #[inline]
    fn record(&self, seq: u32) -> &Record {
        debug_assert!(self.una <= seq && seq < self.nxt, "segment {seq} is not outstanding");
        self.ring.at(seq)
    }

    /// Notes a new segment and returns its number.
    #[inline]
    pub fn send_new(&mut self, stamp: &Stamp) -> u32 {
        let seq = self.nxt;
        let outstanding = self.outstanding();
        let capacity = self.ring.len();
        if outstanding as usize == capacity {
            self.resize((capacity * 2).max(FIRST_RING));
        } else if seq as usize & (capacity - 1) == 0 {
            self.turn();
        }
        self.ring.put(seq, stamp, 0);
        self.nxt += 1;
        self.peak = self.peak.max(outstanding);
        seq
    }

    /// Notes a retransmission. Does not move HighRxt.
    pub fn send_again(&mut self, seq: u32, stamp: &Stamp) {
        let before = *self.record(seq);
        let (sacked, lost) = (before.bits & SACKED, before.is(LOST));
        self.marked -= u32::from(lost);
        let repaired = if before.is(LOST | REPAIRED) { REPAIRED } else { 0 };
        self.resent_out += u32::from(!before.is_resent() && sacked == 0);
        self.ring.put(seq, stamp, RETRANSMITTED | sacked | repaired);
    }

    /// The ring begins a new turn. One that has become larger than it need be is halved: it would walk
    /// through memory that has left the cache.
    #[cold]
    fn turn(&mut self) {
        let capacity = self.ring.len();
        if (self.peak as usize) < capacity / 8 * 3 && capacity > FIRST_RING {
            self.resize(capacity / 2);
        }
        self.peak = self.outstanding();
    }

    #[cold]
    fn resize(&mut self, size: usize) {
        self.ring.resize(size, self.una..self.nxt);
    }

    /// Takes a cumulative acknowledgement; `ack` must lie in `(una, nxt]`.
    #[inline]
    pub fn advance(&mut self, ack: u32) -> Advance {
        debug_assert!(self.una < ack && ack <= self.nxt);
        // One segment, sent once and not SACKed, is by far the most common.
        if ack == self.una + 1 && !self.record(self.una).is(SACKED | RETRANSMITTED | LOST) {
            let newest = self.ring.stamp(self.una);
            let clean_sent_at = Some(newest.record.sent_at);
            self.una = ack;
            self.rxt = self.rxt.max(ack);
            return Advance { acked: 1, delivered: 1, ambiguous: false, clean_sent_at, newest };
        }
        self.advance_over(ack)
    }

    #[inline(never)]
    fn advance_over(&mut self, ack: u32) -> Advance {
        let mut bits_seen = 0;
        let mut delivered = 0;
        let mut clean_sent_at = None;
        let mut newest = ack - 1;
        for seq in self.una..ack {
            let record = self.ring.at(seq);
            bits_seen |= record.bits;
            self.marked -= u32::from(self.by_marks && record.is(SACKED | LOST));
            if !record.is(SACKED) {
                delivered += 1;
                self.lost_out -= u32::from(record.is(LOST | REPAIRED));
                self.resent_out -= u32::from(record.is_resent());
                if !record.is(RETRANSMITTED) {
                    clean_sent_at = Some(record.sent_at);
                }
            } else if seq < self.rxt {
                self.sacked_below_rxt -= 1;
            }
            if record.sent_at > self.ring.at(newest).sent_at {
                newest = seq;
            }
        }
        let acked = ack - self.una;
        self.una = ack;
        self.rxt = self.rxt.max(ack);
        if bits_seen & SACKED != 0 {
            self.sacked.remove_below(ack);
        }
        Advance {
            acked,
            delivered,
            ambiguous: bits_seen & RETRANSMITTED != 0,
            clean_sent_at,
            newest: self.ring.stamp(newest),
        }
    }

    /// Takes a SACK block; returns how many outstanding segments it newly reports.
    #[inline]
    pub fn sack(&mut self, block: SackBlock) -> u32 {
        self.sack_each(block, |_| ())
    }

    /// Like [`Self::sack`]; calls `each` with every segment newly reported.
    pub fn sack_each(&mut self, block: SackBlock, mut each: impl FnMut(u32)) -> u32 {
        let block = (block.0.max(self.una), block.1.min(self.nxt));
        if self.by_marks {
            return self.sack_marked(block, each);
        }
        let Self { ring, rxt, sacked_below_rxt, top, sacked, resent_out, .. } = self;
        let mut fresh = 0;
        sacked.insert(block, |from, to| {
            fresh += to - from;
            *sacked_below_rxt += to.min(*rxt) - from.min(*rxt);
            for seq in from..to {
                each(seq);
                *resent_out -= u32::from(ring.at(seq).is_resent());
                ring.mark(seq, SACKED);
                raise(top, seq + 1);
            }
        });
        self.lost_below = self.lost_below.max(self.top[DUP_THRESH as usize - 1].saturating_sub(1));
        fresh
    }

    /// A timeout: everything unSACKed is lost, nothing has been sent again.
    pub fn lose_all(&mut self) {
        self.lost_below = self.nxt;
        self.gone_below = self.nxt;
        self.restart_retransmission();
    }

    /// What was given up is in flight after all: only what SACK blocks say counts as lost.
    pub fn resume(&mut self) {
        self.lost_below = self.top[DUP_THRESH as usize - 1].saturating_sub(1);
        self.gone_below = 0;
        self.restart_retransmission();
    }

    /// HighRxt = HighACK.
    #[inline]
    pub fn restart_retransmission(&mut self) {
        self.rxt = self.una;
        self.sacked_below_rxt = 0;
    }

    /// The smallest unSACKed segment above HighRxt and below `end`.
    ///
    /// Moves HighRxt over SACKed segments, which `pipe` does not feel.
    pub fn next_hole(&mut self, end: u32) -> Option<u32> {
        let end = end.min(self.nxt);
        while self.rxt < end {
            if !self.is_sacked(self.rxt) {
                return Some(self.rxt);
            }
            self.rxt += 1;
            self.sacked_below_rxt += 1;
        }
        None
    }

    /// HighRxt = `seq`, the segment that [`Self::next_hole`] returned.
    pub fn retransmit_hole(&mut self, seq: u32) {
        debug_assert!(seq == self.rxt && !self.is_sacked(seq));
        self.rxt = seq + 1;
    }

    /// The highest unSACKed outstanding segment.
    pub fn highest_hole(&self) -> Option<u32> {
        let mut end = self.nxt;
        for &(start, stop) in self.sacked.as_slice().iter().rev() {
            if stop < end {
                break;
            }
            end = start;
        }
        (end > self.una).then(|| end - 1)
    }

    /// Gives the memory back when nothing is outstanding.
    pub fn release(&mut self) {
        if self.outstanding() == 0 {
            self.ring = Records::default();
            self.sacked.release();
        }
    }
}

/// Puts `value` into the descending list, which drops its smallest.
#[inline]
fn raise(top: &mut [u32; DUP_THRESH as usize], value: u32) {
    if value > top[0] {
        *top = [value, top[0], top[1]];
    } else if value > top[1] {
        *top = [top[0], value, top[1]];
    } else if value > top[2] {
        top[2] = value;
    }
}

#[cfg(test)]
mod tests;
