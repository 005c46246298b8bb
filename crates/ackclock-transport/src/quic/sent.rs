//! Packets that have been sent: which are in flight, which are lost.
//!
//! **Source**: RFC 9002 section 6.1 and appendix A.1.
//!
//! A packet that was sent before another and has not arrived is judged lost no later than that one, so packets are
//! lost in the order of their numbers. Those declared lost are remembered for three probe timeouts, so that a late
//! acknowledgement is noticed.

use std::collections::VecDeque;

use super::QuicConfig;
use crate::memory::filled;
use crate::scoreboard::Stamp;
use crate::units::{Span, Time};
use crate::wire::SackBlock;

const FIRST_RING: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Record {
    stamp: Stamp,
    segment: u32,
    /// Acknowledged or lost.
    is_gone: bool,
}

/// A packet that an acknowledgement or a loss takes out of flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    pub(super) number: u32,
    pub(super) segment: u32,
    pub(super) stamp: Stamp,
}

#[derive(Clone, Copy, Debug)]
struct LostPacket {
    number: u32,
    segment: u32,
    lost_at: Time,
}

/// The packets of the one packet number space.
#[derive(Debug, Default)]
pub(super) struct SentPackets {
    /// By packet number; as many places as a power of two.
    ring: Box<[Record]>,
    /// All below is acknowledged or lost.
    first: u32,
    /// The number of the next packet.
    next: u32,
    in_flight: u32,
    largest_acked: Option<u32>,
    /// Those declared lost lately, ascending.
    lost: VecDeque<LostPacket>,
}

impl SentPackets {
    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The number that the next packet will have.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// All packets below are acknowledged or lost.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    pub(super) fn largest_acked(&self) -> Option<u32> {
        self.largest_acked
    }

    /// Notes a packet with this segment of the stream; its number.
    pub(super) fn send(&mut self, segment: u32, stamp: Stamp) -> u32 {
        let number = self.next;
        if (self.next - self.first) as usize >= self.ring.len() {
            self.grow(segment, stamp);
        }
        let index = self.place(number);
        self.ring[index] = Record { stamp, segment, is_gone: false };
        self.next += 1;
        self.in_flight += 1;
        number
    }

    #[cold]
    fn grow(&mut self, segment: u32, stamp: Stamp) {
        let size = (self.ring.len() * 2).max(FIRST_RING);
        let mut ring = filled(Record { stamp, segment, is_gone: false }, size);
        for number in self.first..self.next {
            ring[number as usize & (size - 1)] = self.ring[self.place(number)];
        }
        self.ring = ring.into();
    }

    /// Segments of the packets in flight, oldest packet first.
    pub(super) fn segments_in_flight(&self) -> impl Iterator<Item = u32> + '_ {
        (self.first..self.next)
            .map(|number| &self.ring[self.place(number)])
            .filter(|record| !record.is_gone)
            .map(|record| record.segment)
    }

    /// Takes a range of numbers that an ACK acknowledges; calls `each` for every packet that was in flight.
    pub(super) fn acknowledge(&mut self, (from, to): SackBlock, mut each: impl FnMut(Gone)) {
        let to = to.min(self.next);
        for number in from.max(self.first)..to {
            let index = self.place(number);
            let record = &mut self.ring[index];
            if !record.is_gone {
                record.is_gone = true;
                self.in_flight -= 1;
                each(Gone { number, segment: record.segment, stamp: record.stamp });
            }
        }
        self.largest_acked = self.largest_acked.max(to.checked_sub(1));
        self.skip_gone();
    }

    fn skip_gone(&mut self) {
        while self.first < self.next && self.ring[self.place(self.first)].is_gone {
            self.first += 1;
        }
    }

    /// Calls `each` with the segment of every packet of a range that had been declared lost.
    pub(super) fn find_late(&mut self, (from, to): SackBlock, mut each: impl FnMut(u32)) {
        if self.lost.back().is_none_or(|lost| lost.number < from) {
            return;
        }
        let start = self.lost.partition_point(|lost| lost.number < from);
        while let Some(&LostPacket { number, segment, .. }) = self.lost.get(start)
            && number < to
        {
            each(segment);
            self.lost.remove(start);
        }
    }

    /// Declares packets lost; calls `each` for every one of them. When the next may be, if any.
    pub(super) fn detect_lost(
        &mut self,
        config: &QuicConfig,
        loss_delay: Span,
        now: Time,
        mut each: impl FnMut(Gone),
    ) -> Option<Time> {
        let largest = self.largest_acked?;
        let mut due = None;
        for number in self.first..=largest {
            let Record { stamp, segment, is_gone } = self.ring[self.place(number)];
            if !is_gone {
                let lost_after = stamp.record.sent_at + loss_delay;
                if lost_after > now && largest - number < config.packet_threshold {
                    due = Some(lost_after);
                    // What was sent later is due later.
                    break;
                }
                let index = self.place(number);
                self.ring[index].is_gone = true;
                self.in_flight -= 1;
                self.lost.push_back(LostPacket { number, segment, lost_at: now });
                each(Gone { number, segment, stamp });
            }
        }
        self.skip_gone();
        due
    }

    /// Forgets what was declared lost before `then`.
    pub(super) fn forget_lost(&mut self, then: Time) {
        while self.lost.front().is_some_and(|lost| lost.lost_at < then) {
            self.lost.pop_front();
        }
    }

    /// Gives the memory back.
    pub(super) fn release(&mut self) {
        self.ring = Box::default();
        self.lost = VecDeque::new();
        self.first = self.next;
        self.in_flight = 0;
    }
}

/// How long the longest loss without a delivery has lasted.
///
/// **Source**: RFC 9002 section 7.6.
#[derive(Debug, Default)]
pub(super) struct Outage {
    /// The packet lost last, and when the first of those lost with nothing delivered between had left.
    run: Option<(u32, Time)>,
}

impl Outage {
    /// A packet was lost, later in order than those before it; the time from the transmission of the first of its run.
    pub(super) fn on_lost(&mut self, gone: &Gone, first_sample: Option<Time>) -> Span {
        let sent_at = gone.stamp.record.sent_at;
        // What left before the first RTT sample is not counted.
        if first_sample.is_none_or(|sampled_at| sent_at <= sampled_at) {
            return Span::ZERO;
        }
        let began = match self.run {
            Some((last, began)) if last + 1 == gone.number => began,
            _ => sent_at,
        };
        self.run = Some((gone.number, began));
        sent_at.since(began)
    }

    /// A packet of the run arrived after all, or the run has been answered.
    pub(super) fn forget(&mut self) {
        self.run = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::SentRecord;

    fn gone(number: u32, sent_ms: u64) -> Gone {
        let sent_at = Time::ZERO + Span::from_millis(sent_ms);
        let record = SentRecord { sent_at, delivered: 0, delivered_at: Time::ZERO, in_flight: 1 };
        Gone { number, segment: number, stamp: Stamp { record, app_limited: false } }
    }

    /// RFC 9002 section 7.6.2: of all packets between the two none is acknowledged. Numbers 3, 4 and 5 are lost, 6 arrived, 7 and
    /// 8 are lost: from 30 to 50 ms, and from 70 ms on. What left before the first sample, at 25 ms, does not count.
    #[test]
    fn an_outage_is_between_packets_of_which_all_are_lost() {
        let sampled = Some(Time::ZERO + Span::from_millis(25));
        let mut outage = Outage::default();
        let lasted: Vec<_> = [2, 3, 4, 5, 7, 8]
            .map(|number| outage.on_lost(&gone(number, 10 * u64::from(number)), sampled))
            .into();
        assert_eq!(lasted, [0, 0, 10, 20, 0, 10].map(Span::from_millis));
        outage.forget();
        assert_eq!(outage.on_lost(&gone(9, 90), sampled), Span::ZERO);
        assert_eq!(Outage::default().on_lost(&gone(3, 30), None), Span::ZERO);
    }
}
