//! Packets on the wire, small enough to move fast, and the rings in which they wait to arrive.

use crate::ids::FlowId;
use crate::wire::{Flags, MAX_SACK_BLOCKS, Packet, SackBlock};

/// A packet on the wire: all of it but its owner, whom the route knows, and its options, which few
/// packets have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticket {
    /// Arrival at the far end.
    pub(super) at: u64,
    /// Position in the route table.
    pub(super) route: u32,
    pub(super) seq: u32,
    /// Place of its options, or [`Options::NONE`].
    pub(super) options: u32,
    /// Bytes on the wire.
    pub(super) size: u16,
    pub(super) flags: Flags,
}

impl Ticket {
    /// A ticket of `packet`; its options go to `options`.
    #[inline(always)]
    pub(super) fn of(packet: &Packet, route: u32, at: u64, options: &mut Options) -> Self {
        let place = if packet.sack_count == 0 && packet.ts == 0 {
            Options::NONE
        } else {
            options.put(packet)
        };
        let &Packet { seq, size, flags, .. } = packet;
        Self { at, route, seq, options: place, size, flags }
    }

    /// The packet of `flow`; its options are taken out of `options`.
    #[inline(always)]
    pub(super) fn into_packet(self, flow: FlowId, options: &mut Options) -> Packet {
        let mut packet = self.header(flow);
        if self.options != Options::NONE {
            options.take(self.options, &mut packet);
        }
        packet
    }

    /// The packet, looked at and left where it is.
    pub(super) fn look(&self, flow: FlowId, options: &Options) -> Packet {
        let mut packet = self.header(flow);
        if let Some(&list) = options.lists.get(self.options as usize) {
            (packet.ts, packet.sack_count, packet.sack) = list;
        }
        packet
    }

    #[inline(always)]
    fn header(self, flow: FlowId) -> Packet {
        let mut packet = Packet::new(flow, self.seq, self.size, self.flags);
        packet.route = self.route;
        packet
    }
}

/// Timestamp, number of SACK blocks, SACK blocks.
type OptionList = (u32, u8, [SackBlock; MAX_SACK_BLOCKS]);

/// Options of the packets that are on wires and have some.
#[derive(Debug, Default)]
pub(super) struct Options {
    lists: Vec<OptionList>,
    free: Vec<u32>,
}

impl Options {
    /// In place of a place: no options.
    pub(super) const NONE: u32 = u32::MAX;

    #[inline(never)]
    fn put(&mut self, packet: &Packet) -> u32 {
        let list = (packet.ts, packet.sack_count, packet.sack);
        if let Some(place) = self.free.pop() {
            self.lists[place as usize] = list;
            return place;
        }
        self.lists.push(list);
        self.lists.len() as u32 - 1
    }

    #[inline(never)]
    fn take(&mut self, place: u32, packet: &mut Packet) {
        (packet.ts, packet.sack_count, packet.sack) = self.lists[place as usize];
        self.free.push(place);
    }
}

/// A first-in first-out ring that grows by doubling, and halves when a whole turn has used less than
/// a quarter of it: a ring that is larger than it need be walks through memory that has left the cache.
#[derive(Debug)]
pub(super) struct Ring {
    buffer: Vec<Ticket>,
    /// Positions count up for ever; a mask makes places of them.
    head: usize,
    tail: usize,
    /// Longest so far in this turn.
    peak: usize,
}

/// A ring never gets smaller than this.
const SMALLEST: usize = 8;

impl Ring {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::new(), head: 0, tail: 0, peak: 0 }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    #[inline(always)]
    pub(super) fn front(&self) -> Option<&Ticket> {
        if self.head == self.tail {
            return None;
        }
        self.buffer.get(self.head & (self.buffer.len() - 1))
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Ticket> {
        let ticket = *self.front()?;
        self.head += 1;
        Some(ticket)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, ticket: Ticket) {
        let len = self.tail - self.head;
        let mut place = self.tail & self.buffer.len().wrapping_sub(1);
        if len == self.buffer.len() || place == 0 {
            self.turn(len);
            place = self.tail & (self.buffer.len() - 1);
        }
        self.peak = self.peak.max(len);
        self.buffer[place] = ticket;
        self.tail += 1;
    }

    /// The ring is full, or the next push begins a new turn.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, len: usize) {
        let capacity = self.buffer.len();
        if len == capacity {
            self.resize((2 * capacity).max(SMALLEST));
        } else if self.peak < capacity / 4 && capacity > SMALLEST {
            self.resize(capacity / 2);
        }
        self.peak = 0;
    }

    fn resize(&mut self, capacity: usize) {
        let mut buffer = Vec::with_capacity(capacity);
        while let Some(ticket) = self.pop() {
            buffer.push(ticket);
        }
        self.head = 0;
        self.tail = buffer.len();
        buffer.resize(capacity, Ticket::default());
        self.buffer = buffer;
    }

    /// All tickets, first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Ticket> {
        (self.head..self.tail).filter_map(|i| self.buffer.get(i & (self.buffer.len() - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(ops in prop::collection::vec(prop::option::of(0u64..1000), 0..300)) {
            let mut ring = Ring::new();
            let mut queue = VecDeque::new();
            for op in ops {
                match op {
                    Some(at) => { ring.push(Ticket { at, ..Ticket::default() }); queue.push_back(at); }
                    None => { prop_assert_eq!(ring.pop().map(|t| t.at), queue.pop_front()); }
                }
                prop_assert_eq!(ring.front().map(|t| t.at), queue.front().copied());
                prop_assert!(ring.iter().map(|t| t.at).eq(queue.iter().copied()));
            }
        }
    }
}
