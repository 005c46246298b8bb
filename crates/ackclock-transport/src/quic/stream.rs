//! What is left to send of a stream: segments by number, those that must be sent again.

use std::collections::VecDeque;

use crate::memory::filled;

const FIRST_RING: usize = 16;

/// What became of a segment that was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Sent,
    Acknowledged,
    /// To be sent again.
    Queued,
}

/// The sending part of a stream (RFC 9000 section 13.3: data is sent again, not packets).
#[derive(Debug, Default)]
pub(super) struct SendStream {
    /// By segment number; as many places as a power of two.
    ring: Box<[Fate]>,
    /// First segment not acknowledged.
    una: u32,
    /// First segment never sent.
    nxt: u32,
    /// Segments to send again, in the order in which their packets were lost.
    lost: VecDeque<u32>,
}

impl SendStream {
    #[inline]
    fn place(&self, segment: u32) -> usize {
        segment as usize & (self.ring.len() - 1)
    }

    pub(super) fn una(&self) -> u32 {
        self.una
    }

    pub(super) fn nxt(&self) -> u32 {
        self.nxt
    }

    /// Segments sent and not yet acknowledged in order.
    pub(super) fn outstanding(&self) -> u32 {
        self.nxt - self.una
    }

    /// Takes the next new segment.
    pub(super) fn take_new(&mut self) -> u32 {
        let segment = self.nxt;
        if self.outstanding() as usize >= self.ring.len() {
            self.grow();
        }
        let index = self.place(segment);
        self.ring[index] = Fate::Sent;
        self.nxt += 1;
        segment
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.ring.len() * 2).max(FIRST_RING);
        let mut ring = filled(Fate::default(), size);
        for segment in self.una..self.nxt {
            ring[segment as usize & (size - 1)] = self.ring[self.place(segment)];
        }
        self.ring = ring.into();
    }

    /// Whether the receiver is known to have this segment.
    pub(super) fn is_acknowledged(&self, segment: u32) -> bool {
        segment < self.una || self.ring[self.place(segment)] == Fate::Acknowledged
    }

    /// A packet with this segment was acknowledged.
    pub(super) fn acknowledge(&mut self, segment: u32) {
        if self.is_acknowledged(segment) {
            return;
        }
        let index = self.place(segment);
        self.ring[index] = Fate::Acknowledged;
        while self.una < self.nxt && self.ring[self.place(self.una)] == Fate::Acknowledged {
            self.una += 1;
        }
    }

    /// A packet with this segment was lost: it must be sent again, unless another packet has brought it.
    pub(super) fn lose(&mut self, segment: u32) {
        if !self.is_acknowledged(segment) && self.ring[self.place(segment)] != Fate::Queued {
            let index = self.place(segment);
            self.ring[index] = Fate::Queued;
            self.lost.push_back(segment);
        }
    }

    /// Whether something waits to be sent again.
    pub(super) fn has_lost(&mut self) -> bool {
        while let Some(&segment) = self.lost.front() {
            if !self.is_acknowledged(segment) {
                return true;
            }
            self.lost.pop_front();
        }
        false
    }

    /// Takes the segment that is to be sent again first.
    pub(super) fn take_lost(&mut self) -> Option<u32> {
        if !self.has_lost() {
            return None;
        }
        let segment = self.lost.pop_front()?;
        let index = self.place(segment);
        self.ring[index] = Fate::Sent;
        Some(segment)
    }

    /// Segments that wait to be sent again, in the order in which their packets were lost.
    pub(super) fn lost(&self) -> impl Iterator<Item = u32> + '_ {
        self.lost.iter().copied().filter(|&segment| !self.is_acknowledged(segment))
    }

    /// Takes this one of the segments that wait to be sent again.
    pub(super) fn take_this_lost(&mut self, segment: u32) {
        self.lost.retain(|&other| other != segment);
        let index = self.place(segment);
        self.ring[index] = Fate::Sent;
    }

    /// What waits to be sent again is not, where it `is_given_up`.
    pub(super) fn give_up(&mut self, is_given_up: impl Fn(u32) -> bool) {
        for index in 0..self.lost.len() {
            if is_given_up(self.lost[index]) {
                self.acknowledge(self.lost[index]);
            }
        }
    }

    /// Gives the memory back.
    pub(super) fn release(&mut self) {
        self.ring = Box::default();
        self.lost = VecDeque::new();
        self.una = self.nxt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five segments; 1 and 3 are lost, 3 arrives after all: only 1 is sent again, and once.
    #[test]
    fn what_arrived_in_another_packet_is_not_sent_again() {
        let mut stream = SendStream::default();
        for expected in 0..5 {
            assert_eq!(stream.take_new(), expected);
        }
        stream.acknowledge(0);
        stream.acknowledge(2);
        stream.lose(1);
        stream.lose(3);
        stream.lose(1);
        stream.acknowledge(3);
        assert_eq!((stream.take_lost(), stream.take_lost()), (Some(1), None));
        stream.acknowledge(1);
        assert_eq!((stream.una(), stream.outstanding()), (4, 1));
        stream.lose(1);
        assert!(!stream.has_lost());
    }
}
