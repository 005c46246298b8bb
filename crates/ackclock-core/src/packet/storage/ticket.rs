//! Packets on the wire, small enough to move fast.

use crate::ids::FlowId;
use crate::memory::{in_large_pages, soon};
use crate::wire::{Flags, MAX_SACK_BLOCKS, Packet, SackBlock};

/// A packet on the wire: all of it but its owner, whom the route knows, and its options, which few
/// packets have. Three whole words, because what is stored in parts and loaded whole stalls the load.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::packet) struct Ticket {
    /// Arrival at the far end.
    pub(in crate::packet) at: u64,
    /// Position in the route table, and 32 bits up the sequence number.
    way: u64,
    /// Place of its options or [`Options::NONE`], 32 bits up the bytes on the wire, 48 up the flags.
    load: u64,
}

impl Ticket {
    /// A ticket of `packet`; its options go to `options`.
    #[inline(always)]
    pub(in crate::packet) fn of(
        packet: &Packet,
        route: u32,
        at: u64,
        options: &mut Options,
    ) -> Self {
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
    pub(in crate::packet) fn parts(self) -> (u64, u64, u64) {
        (self.at, self.way, self.load)
    }

    /// The ticket with these words.
    #[inline(always)]
    pub(in crate::packet) fn from_parts(at: u64, way: u64, load: u64) -> Self {
        Self { at, way, load }
    }

    /// Position in the route table.
    #[inline(always)]
    pub(in crate::packet) fn route(self) -> usize {
        self.way as u32 as usize
    }

    /// Bytes on the wire.
    #[inline(always)]
    pub(in crate::packet) fn size(self) -> u16 {
        (self.load >> 32) as u16
    }

    #[inline(always)]
    pub(in crate::packet) fn flags(self) -> Flags {
        Flags((self.load >> 48) as u16)
    }

    /// The same at the next step of its route, to be reached at `at`.
    #[inline(always)]
    pub(in crate::packet) fn step(self, at: u64) -> Self {
        Self { at, way: self.way + 1, load: self.load }
    }

    /// Whether it has no options.
    #[inline(always)]
    pub(in crate::packet) fn is_bare(self) -> bool {
        self.load as u32 == Options::NONE
    }

    /// The packet of `flow`; its options are taken out of `options`.
    #[inline(never)]
    pub(in crate::packet) fn into_packet(self, flow: FlowId, options: &mut Options) -> Packet {
        let mut packet = self.header(flow);
        if !self.is_bare() {
            options.take(self.load as u32, &mut packet);
        }
        packet
    }

    /// The packet, looked at and left where it is.
    pub(in crate::packet) fn look(self, flow: FlowId, options: &Options) -> Packet {
        let mut packet = self.header(flow);
        if let Some(&list) = options.lists.get(self.load as u32 as usize) {
            (packet.ts, packet.ts_peer, packet.sack_count, packet.sack) = list;
        }
        packet
    }

    /// The packet of `flow` without options.
    #[inline(always)]
    pub(in crate::packet) fn header(self, flow: FlowId) -> Packet {
        let mut packet = Packet::new(flow, (self.way >> 32) as u32, self.size(), self.flags());
        packet.route = self.way as u32;
        packet
    }
}

/// Timestamps of sender and receiver, number of SACK blocks, SACK blocks.
type OptionList = (u32, u32, u8, [SackBlock; MAX_SACK_BLOCKS]);

/// Options of the packets that are on wires and have some.
#[derive(Debug, Default)]
pub(in crate::packet) struct Options {
    lists: Vec<OptionList>,
    free: Vec<u32>,
}

impl Options {
    /// In place of a place: no options.
    pub(in crate::packet) const NONE: u32 = u32::MAX;

    /// Calls up those of a packet.
    #[inline(always)]
    pub(in crate::packet) fn call_up(&self, ticket: Ticket) {
        self.lists.get(ticket.load as u32 as usize).inspect(|list| soon(*list));
    }

    /// Makes room for those of so many packets, in large pages.
    pub(in crate::packet) fn reserve(&mut self, packets: usize) {
        self.lists.reserve(packets);
        in_large_pages(&self.lists);
    }

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
