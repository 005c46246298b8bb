//! Packets on the wire, small enough to move fast, and the rings in which they wait to arrive.

use crate::ids::FlowId;
use crate::wire::{Flags, MAX_SACK_BLOCKS, Packet, SackBlock};

/// A packet on the wire: all of it but its SACK blocks, which few have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticket {
    /// Arrival at the far end.
    pub(super) at: u64,
    /// Position in the route table.
    pub(super) route: u32,
    pub(super) flow: u32,
    pub(super) seq: u32,
    pub(super) ts: u32,
    /// Place of its SACK blocks, or [`Blocks::NONE`].
    pub(super) blocks: u32,
    /// Bytes on the wire.
    pub(super) size: u16,
    pub(super) flags: Flags,
}

impl Ticket {
    /// A ticket of `packet`; its SACK blocks go to `blocks`.
    #[inline(always)]
    pub(super) fn of(packet: &Packet, route: u32, at: u64, blocks: &mut Blocks) -> Self {
        let place = if packet.sack_count == 0 { Blocks::NONE } else { blocks.put(packet) };
        let &Packet { seq, ts, flow, size, flags, .. } = packet;
        Self { at, route, flow: flow.0, seq, ts, blocks: place, size, flags }
    }

    /// The packet; its SACK blocks are taken out of `blocks`.
    #[inline(always)]
    pub(super) fn into_packet(self, blocks: &mut Blocks) -> Packet {
        let mut packet = self.header();
        if self.blocks != Blocks::NONE {
            blocks.take(self.blocks, &mut packet);
        }
        packet
    }

    /// The packet, looked at and left where it is.
    pub(super) fn look(&self, blocks: &Blocks) -> Packet {
        let mut packet = self.header();
        if let Some(&(count, list)) = blocks.lists.get(self.blocks as usize) {
            (packet.sack_count, packet.sack) = (count, list);
        }
        packet
    }

    #[inline(always)]
    fn header(self) -> Packet {
        let mut packet = Packet::new(FlowId(self.flow), self.seq, self.size, self.flags);
        packet.ts = self.ts;
        packet.route = self.route;
        packet
    }
}

/// SACK blocks of the packets that are on wires and have some.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    lists: Vec<(u8, [SackBlock; MAX_SACK_BLOCKS])>,
    free: Vec<u32>,
}

impl Blocks {
    /// In place of a place: no blocks.
    pub(super) const NONE: u32 = u32::MAX;

    #[inline(never)]
    fn put(&mut self, packet: &Packet) -> u32 {
        let list = (packet.sack_count, packet.sack);
        if let Some(place) = self.free.pop() {
            self.lists[place as usize] = list;
            return place;
        }
        self.lists.push(list);
        self.lists.len() as u32 - 1
    }

    #[inline(never)]
    fn take(&mut self, place: u32, packet: &mut Packet) {
        (packet.sack_count, packet.sack) = self.lists[place as usize];
        self.free.push(place);
    }
}

/// A first-in first-out ring that grows by doubling.
#[derive(Debug)]
pub(super) struct Ring {
    buffer: Vec<Ticket>,
    /// Positions count up for ever; a mask makes places of them.
    head: usize,
    tail: usize,
}

impl Ring {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::new(), head: 0, tail: 0 }
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
        if self.tail - self.head == self.buffer.len() {
            self.grow();
        }
        let place = self.tail & (self.buffer.len() - 1);
        self.buffer[place] = ticket;
        self.tail += 1;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = Vec::with_capacity((2 * self.buffer.len()).max(4));
        while let Some(ticket) = self.pop() {
            larger.push(ticket);
        }
        self.head = 0;
        self.tail = larger.len();
        larger.resize(larger.capacity().next_power_of_two(), Ticket::default());
        self.buffer = larger;
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
