//! What is noted of each outstanding segment, in a ring that the scoreboard makes larger and smaller.

use std::ops::Range;

use crate::cc::SentRecord;
use crate::memory::{filled, prefetch};
use crate::units::Time;

pub(super) const SACKED: u32 = 1 << 31;
pub(super) const RETRANSMITTED: u32 = 1 << 30;
const APP_LIMITED: u32 = 1 << 29;
const APART: u32 = 1 << 28;
pub(super) const LOST: u32 = 1 << 27;
/// Was marked lost and has been sent again since; it may be marked lost again.
pub(super) const REPAIRED: u32 = 1 << 26;
const COUNT: u32 = REPAIRED - 1;

/// What is noted when a segment leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamp {
    /// What its acknowledgement will return.
    pub record: SentRecord,
    /// The application, not the window, limited the sender.
    pub app_limited: bool,
}

/// A segment's stamp and what became of it, in a quarter of a cache line. Most segments leave when an
/// acknowledgement has raised the count of those delivered; when that was is stored apart for the others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    pub(super) sent_at: Time,
    delivered: u32,
    pub(super) bits: u32,
}

impl Record {
    fn new(stamp: &Stamp, bits: u32) -> Self {
        let Stamp { record, app_limited } = *stamp;
        let limited = if app_limited { APP_LIMITED } else { 0 };
        let apart = if record.delivered_at == record.sent_at { 0 } else { APART };
        Self {
            sent_at: record.sent_at,
            delivered: record.delivered as u32,
            bits: bits | limited | apart | record.in_flight.min(COUNT),
        }
    }

    /// Whether it has been sent again, and that transmission is in flight as far as is known.
    #[inline]
    pub(super) fn is_resent(&self) -> bool {
        self.bits & (RETRANSMITTED | LOST | SACKED) == RETRANSMITTED
    }

    /// Whether it has one of these marks.
    #[inline]
    pub(super) fn is(&self, marks: u32) -> bool {
        self.bits & marks != 0
    }
}

/// Records by segment number.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    /// As many places as a power of two.
    ring: Box<[Record]>,
    /// Nothing, or for each place when the count of those delivered had been raised.
    apart: Box<[Time]>,
}

impl Records {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    #[inline]
    fn place(&self, seq: u32) -> usize {
        seq as usize & self.ring.len().wrapping_sub(1)
    }

    #[inline]
    pub(super) fn at(&self, seq: u32) -> &Record {
        &self.ring[self.place(seq)]
    }

    /// Prefetches the record of a segment.
    #[inline(always)]
    pub(super) fn prefetch(&self, seq: u32) {
        self.ring.get(self.place(seq)).inspect(|record| prefetch(*record));
    }

    #[inline]
    pub(super) fn mark(&mut self, seq: u32, marks: u32) {
        let index = self.place(seq);
        self.ring[index].bits |= marks;
    }

    #[inline]
    pub(super) fn unmark(&mut self, seq: u32, marks: u32) {
        let index = self.place(seq);
        self.ring[index].bits &= !marks;
    }

    /// Notes that a segment leaves.
    #[inline]
    pub(super) fn put(&mut self, seq: u32, stamp: &Stamp, marks: u32) {
        let (index, record) = (self.place(seq), Record::new(stamp, marks));
        self.ring[index] = record;
        if record.is(APART) {
            self.put_apart(index, stamp.record.delivered_at);
        }
    }

    #[inline(never)]
    fn put_apart(&mut self, index: usize, delivered_at: Time) {
        if self.apart.is_empty() {
            self.apart = filled(Time::ZERO, self.ring.len()).into();
        }
        self.apart[index] = delivered_at;
    }

    /// What a segment left with.
    #[inline]
    pub(super) fn stamp(&self, seq: u32) -> Stamp {
        let Record { sent_at, delivered, bits } = *self.at(seq);
        let delivered_at = if bits & APART == 0 { sent_at } else { self.apart[self.place(seq)] };
        let delivered = u64::from(delivered);
        let record = SentRecord { sent_at, delivered, delivered_at, in_flight: bits & COUNT };
        Stamp { record, app_limited: bits & APP_LIMITED != 0 }
    }

    /// Makes so many places, a power of two, and keeps the records of these segments.
    pub(super) fn resize(&mut self, size: usize, segments: Range<u32>) {
        let mut ring = filled(Record::default(), size);
        let mut apart = filled(Time::ZERO, if self.apart.is_empty() { 0 } else { size });
        for seq in segments {
            let (from, to) = (self.place(seq), seq as usize & (size - 1));
            ring[to] = self.ring[from];
            if ring[to].is(APART) {
                apart[to] = self.apart[from];
            }
        }
        (self.ring, self.apart) = (ring.into(), apart.into());
    }
}
