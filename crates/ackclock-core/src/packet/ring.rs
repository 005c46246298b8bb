//! Packets on the wire, small enough to move fast, and the rings in which they wait to arrive.

use crate::ids::FlowId;
use crate::memory::soon;
use crate::wire::{Flags, MAX_SACK_BLOCKS, Packet, SackBlock};

/// A packet on the wire: all of it but its owner, whom the route knows, and its options, which few
/// packets have. Three whole words, because what is stored in parts and loaded whole stalls the load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticket {
    /// Arrival at the far end.
    pub(super) at: u64,
    /// Position in the route table, and 32 bits up the sequence number.
    way: u64,
    /// Place of its options or [`Options::NONE`], 32 bits up the bytes on the wire, 48 up the flags.
    load: u64,
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
        let load =
            u64::from(place) | u64::from(packet.size) << 32 | u64::from(packet.flags.0) << 48;
        Self { at, way: u64::from(route) | u64::from(packet.seq) << 32, load }
    }

    /// Its words: the arrival, and two that only this file reads.
    #[inline(always)]
    pub(super) fn parts(self) -> (u64, u64, u64) {
        (self.at, self.way, self.load)
    }

    /// The ticket with these words.
    #[inline(always)]
    pub(super) fn from_parts(at: u64, way: u64, load: u64) -> Self {
        Self { at, way, load }
    }

    /// Position in the route table.
    #[inline(always)]
    pub(super) fn route(self) -> usize {
        self.way as u32 as usize
    }

    /// Bytes on the wire.
    #[inline(always)]
    pub(super) fn size(self) -> u16 {
        (self.load >> 32) as u16
    }

    #[inline(always)]
    pub(super) fn flags(self) -> Flags {
        Flags((self.load >> 48) as u16)
    }

    /// The same at the next step of its route, to be reached at `at`.
    #[inline(always)]
    pub(super) fn step(self, at: u64) -> Self {
        Self { at, way: self.way + 1, load: self.load }
    }

    /// Whether it has no options.
    #[inline(always)]
    pub(super) fn is_bare(self) -> bool {
        self.load as u32 == Options::NONE
    }

    /// The packet of `flow`; its options are taken out of `options`.
    #[inline(never)]
    pub(super) fn into_packet(self, flow: FlowId, options: &mut Options) -> Packet {
        let mut packet = self.header(flow);
        if !self.is_bare() {
            options.take(self.load as u32, &mut packet);
        }
        packet
    }

    /// The packet, looked at and left where it is.
    pub(super) fn look(self, flow: FlowId, options: &Options) -> Packet {
        let mut packet = self.header(flow);
        if let Some(&list) = options.lists.get(self.load as u32 as usize) {
            (packet.ts, packet.ts_peer, packet.sack_count, packet.sack) = list;
        }
        packet
    }

    /// The packet of `flow` without options.
    #[inline(always)]
    pub(super) fn header(self, flow: FlowId) -> Packet {
        let mut packet = Packet::new(flow, (self.way >> 32) as u32, self.size(), self.flags());
        packet.route = self.way as u32;
        packet
    }
}

/// Timestamps of sender and receiver, number of SACK blocks, SACK blocks.
type OptionList = (u32, u32, u8, [SackBlock; MAX_SACK_BLOCKS]);

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
        let list = (packet.ts, packet.ts_peer, packet.sack_count, packet.sack);
        if let Some(place) = self.free.pop() {
            self.lists[place as usize] = list;
            return place;
        }
        self.lists.push(list);
        self.lists.len() as u32 - 1
    }

    fn take(&mut self, place: u32, packet: &mut Packet) {
        (packet.ts, packet.ts_peer, packet.sack_count, packet.sack) = self.lists[place as usize];
        self.free.push(place);
    }
}

/// A first-in first-out ring that grows by doubling, and halves when a whole turn has used less than
/// three eighths of it: a ring that is larger than it need be walks through memory that has left the
/// cache.
#[derive(Debug)]
pub(super) struct Ring<T> {
    buffer: Box<[T]>,
    /// Positions count up for ever and wrap; a mask makes places of them.
    head: u32,
    tail: u32,
    /// Longest that was noted in this turn.
    peak: u32,
}

impl Ring<Ticket> {
    /// Moves the tickets that arrive before `until` to the end of `out`; the arrival of the first
    /// that is left.
    #[inline]
    pub(super) fn take_before(&mut self, until: u64, out: &mut Vec<Ticket>) -> u64 {
        self.note();
        loop {
            let begin = self.place(self.head);
            let end = (begin + self.len()).min(self.buffer.len());
            let Some(items @ [_, ..]) = self.buffer.get(begin..end) else { return u64::MAX };
            let taken = items.iter().take_while(|ticket| ticket.at < until).count();
            out.extend_from_slice(&items[..taken]);
            let later = items.get(taken).map(|ticket| ticket.at);
            self.leave(taken as u32);
            if let Some(later) = later {
                return later;
            }
        }
    }
}

/// A ring never gets smaller than this.
const SMALLEST: usize = 8;

impl<T: Copy + Default> Ring<T> {
    pub(super) fn new() -> Self {
        Self { buffer: Box::new([]), head: 0, tail: 0, peak: 0 }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    #[inline(always)]
    fn place(&self, position: u32) -> usize {
        position as usize & self.buffer.len().wrapping_sub(1)
    }

    #[inline(always)]
    pub(super) fn front(&self) -> Option<&T> {
        if self.head == self.tail {
            return None;
        }
        self.buffer.get(self.place(self.head))
    }

    /// Calls up the first item and the place of the next.
    #[inline(always)]
    pub(super) fn call_up(&self) {
        self.buffer.get(self.place(self.head)).inspect(|place| soon(*place));
        self.buffer.get(self.place(self.tail)).inspect(|place| soon(*place));
    }

    pub(super) fn back(&self) -> Option<&T> {
        if self.head == self.tail {
            return None;
        }
        self.buffer.get(self.place(self.tail.wrapping_sub(1)))
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.leave(1);
        Some(item)
    }

    /// Puts an item that was popped just now back to the front.
    #[cold]
    pub(super) fn put_back(&mut self, item: T) {
        self.head = self.head.wrapping_sub(1);
        let place = self.place(self.head);
        self.buffer[place] = item;
    }

    /// Lets the first `count` items go. A ring that is empty begins again: it need not walk through
    /// all of its memory. Place 0 is where a turn begins.
    #[inline(always)]
    fn leave(&mut self, count: u32) {
        self.head = self.head.wrapping_add(count);
        if self.head == self.tail {
            (self.head, self.tail) = (1, 1);
        }
    }

    /// Notes how long it is, which must happen before items leave.
    #[inline(always)]
    pub(super) fn note(&mut self) {
        self.peak = self.peak.max(self.len() as u32);
    }

    #[inline(always)]
    pub(super) fn push(&mut self, item: T) {
        let mut place = self.place(self.tail);
        if place == 0 || self.len() == self.buffer.len() {
            self.turn();
            place = self.place(self.tail);
        }
        self.buffer[place] = item;
        self.tail = self.tail.wrapping_add(1);
    }

    /// The ring is full, or the next push begins a new turn.
    #[cold]
    #[inline(never)]
    fn turn(&mut self) {
        let capacity = self.buffer.len();
        if self.len() == capacity {
            self.resize((2 * capacity).max(SMALLEST));
        } else if self.len().max(self.peak as usize) < capacity / 8 * 3 && capacity > SMALLEST {
            self.resize(capacity / 2);
        }
        self.peak = 0;
    }

    fn resize(&mut self, capacity: usize) {
        let mut buffer = Vec::with_capacity(capacity);
        while let Some(item) = self.pop() {
            buffer.push(item);
        }
        (self.head, self.tail) = (0, buffer.len() as u32);
        buffer.resize(capacity, T::default());
        self.buffer = buffer.into_boxed_slice();
    }

    /// All items, first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len() as u32)
            .filter_map(|i| self.buffer.get(self.place(self.head.wrapping_add(i))))
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
                ring.note();
                prop_assert_eq!(ring.len(), queue.len());
                prop_assert_eq!(ring.back().map(|t| t.at), queue.back().copied());
                prop_assert!(ring.iter().map(|t| t.at).eq(queue.iter().copied()));
            }
        }

        #[test]
        fn what_arrives_before_a_time_is_taken(
            gaps in prop::collection::vec(0u64..4, 1..100),
            bounds in prop::collection::vec(0u64..200, 1..8),
        ) {
            let mut ring = Ring::new();
            let mut queue = VecDeque::new();
            let (mut at, mut taken, mut expected) = (0, Vec::new(), Vec::new());
            for part in gaps.chunks(gaps.len().div_ceil(bounds.len())) {
                for gap in part {
                    at += gap;
                    ring.push(Ticket { at, ..Ticket::default() });
                    queue.push_back(at);
                }
                let until = bounds[expected.len() % bounds.len()];
                let next = ring.take_before(until, &mut taken);
                while queue.front().is_some_and(|&at| at < until) {
                    expected.extend(queue.pop_front());
                }
                prop_assert_eq!(next, queue.front().copied().unwrap_or(u64::MAX));
                prop_assert!(taken.iter().map(|t| t.at).eq(expected.iter().copied()));
                prop_assert_eq!(ring.len(), queue.len());
            }
        }
    }
}
