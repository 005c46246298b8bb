//! Compact form of packets on the wire.

use crate::ids::FlowId;
use crate::memory::{prefetch, use_large_pages};
use crate::units::Span;
use crate::wire::{Flags, MAX_SACK_BLOCKS, Packet, SackBlock};

/// A packet on the wire, without its flow, which follows from its route, and without its options, which
/// few packets have. It is three whole words: a wide load of what was stored in parts stalls.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::packet) struct Ticket {
    /// Arrival at the far end.
    pub(in crate::packet) at: u64,
    /// Position in the route table; from bit 32 on the sequence number.
    route_seq: u64,
    /// Index of its options or [`Options::NONE`]; from bit 32 on the bytes on the wire, from bit 48 on
    /// the flags.
    content: u64,
}

impl Ticket {
    /// The ticket of `packet`; its options are stored in `options`.
    #[inline(always)]
    pub(in crate::packet) fn of(
        packet: &Packet,
        route: u32,
        at: u64,
        options: &mut Options,
    ) -> Self {
        let index = if packet.sack_count == 0
            && packet.ts == 0
            && packet.flags.0 & (Flags::LABEL | Flags::AQT).0 == 0
        {
            Options::NONE
        } else {
            options.insert(packet)
        };
        let content =
            u64::from(index) | u64::from(packet.size) << 32 | u64::from(packet.flags.0) << 48;
        Self { at, route_seq: u64::from(route) | u64::from(packet.seq) << 32, content }
    }

    /// Its words: the arrival, and two that only this file interprets.
    #[inline(always)]
    pub(in crate::packet) fn parts(self) -> (u64, u64, u64) {
        (self.at, self.route_seq, self.content)
    }

    /// The ticket with these words.
    #[inline(always)]
    pub(in crate::packet) fn from_parts(at: u64, route_seq: u64, content: u64) -> Self {
        Self { at, route_seq, content }
    }

    /// Position in the route table.
    #[inline(always)]
    pub(in crate::packet) fn route(self) -> usize {
        self.route_seq as u32 as usize
    }

    /// Sequence number.
    pub(in crate::packet) fn seq(self) -> u32 {
        (self.route_seq >> 32) as u32
    }

    /// A copy without options that begins another route. Only branches make copies, and count them.
    pub(in crate::packet) fn copy_to(self, route: u32) -> Self {
        debug_assert!(self.is_bare());
        let route_seq = u64::from(route) | u64::from(self.seq()) << 32;
        Self { at: self.at, route_seq, content: self.content }
    }

    /// Bytes on the wire.
    #[inline(always)]
    pub(in crate::packet) fn size(self) -> u16 {
        (self.content >> 32) as u16
    }

    #[inline(always)]
    pub(in crate::packet) fn flags(self) -> Flags {
        Flags((self.content >> 48) as u16)
    }

    /// The same packet at the next step of its route, where it arrives at `at`.
    #[inline(always)]
    pub(in crate::packet) fn advance(self, at: u64) -> Self {
        Self { at, route_seq: self.route_seq + 1, content: self.content }
    }

    /// Whether the packet has no options.
    #[inline(always)]
    pub(in crate::packet) fn is_bare(self) -> bool {
        self.content as u32 == Options::NONE
    }

    /// The packet of `flow`; removes its options from `options`.
    #[inline(never)]
    pub(in crate::packet) fn into_packet(self, flow: FlowId, options: &mut Options) -> Packet {
        let mut packet = self.header(flow);
        if !self.is_bare() {
            options.remove(self.content as u32, &mut packet);
        }
        packet
    }

    /// A copy of the packet for inspection; its options stay in `options`.
    pub(in crate::packet) fn inspect(self, flow: FlowId, options: &Options) -> Packet {
        let mut packet = self.header(flow);
        if let Some(&list) = options.lists.get(self.content as u32 as usize) {
            list.onto(&mut packet);
        }
        packet
    }

    /// The packet of `flow` without options.
    #[inline(always)]
    pub(in crate::packet) fn header(self, flow: FlowId) -> Packet {
        let mut packet =
            Packet::new(flow, (self.route_seq >> 32) as u32, self.size(), self.flags());
        packet.route = self.route_seq as u32;
        packet
    }
}

/// What few packets have.
#[derive(Clone, Copy, Debug)]
struct OptionList {
    ts: u32,
    ts_peer: u32,
    label: f32,
    sack_count: u8,
    sack: [SackBlock; MAX_SACK_BLOCKS],
}

impl OptionList {
    #[inline(always)]
    fn onto(self, packet: &mut Packet) {
        let Self { ts, ts_peer, label, sack_count, sack } = self;
        (packet.ts, packet.ts_peer, packet.label) = (ts, ts_peer, label);
        (packet.sack_count, packet.sack) = (sack_count, sack);
    }
}

/// A packet that leaves for a process of another thread, with its options.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Parcel {
    /// The channel that it is in; channels have the same numbers in all threads.
    pub(in crate::packet) channel: u32,
    ticket: Ticket,
    options: Option<OptionList>,
}

impl Parcel {
    /// Takes a packet, and its options out of `options`.
    pub(in crate::packet) fn pack(channel: u32, ticket: Ticket, options: &mut Options) -> Self {
        Self { channel, ticket, options: options.take(ticket.content as u32) }
    }

    /// The ticket in the thread that reads the channel, whose `options` get those of the packet.
    pub(in crate::packet) fn unpack(self, options: &mut Options) -> Ticket {
        let Self { mut ticket, options: list, .. } = self;
        let index = list.map_or(Options::NONE, |list| options.store(list));
        ticket.content = ticket.content >> 32 << 32 | u64::from(index);
        ticket
    }
}

/// Options of those packets on wires that have some.
#[derive(Debug, Default)]
pub(in crate::packet) struct Options {
    lists: Vec<OptionList>,
    free: Vec<u32>,
}

impl Options {
    /// In place of an index: no options.
    pub(in crate::packet) const NONE: u32 = u32::MAX;

    /// Prefetches the options of a packet.
    #[inline(always)]
    pub(in crate::packet) fn prefetch(&self, ticket: Ticket) {
        self.lists.get(ticket.content as u32 as usize).inspect(|list| prefetch(*list));
    }

    /// Reserves memory for the options of so many packets, in large pages.
    pub(in crate::packet) fn reserve(&mut self, packets: usize) {
        self.lists.reserve(packets);
        use_large_pages(&self.lists);
    }

    /// A packet has waited: the option that accumulates that is brought up to date, if the packet has it.
    pub(in crate::packet) fn add_queued(&mut self, ticket: Ticket, waited: Span) {
        if ticket.flags().has(Flags::AQT)
            && let Some(list) = self.lists.get_mut(ticket.content as u32 as usize)
        {
            let mut packet = Packet::new(FlowId(0), 0, 0, ticket.flags());
            list.onto(&mut packet);
            packet.add_queued(waited);
            list.sack = packet.sack;
        }
    }

    #[inline(never)]
    fn insert(&mut self, packet: &Packet) -> u32 {
        let Packet { ts, ts_peer, label, sack_count, sack, .. } = *packet;
        self.store(OptionList { ts, ts_peer, label, sack_count, sack })
    }

    #[inline(always)]
    fn store(&mut self, list: OptionList) -> u32 {
        if let Some(index) = self.free.pop() {
            self.lists[index as usize] = list;
            return index;
        }
        self.lists.push(list);
        self.lists.len() as u32 - 1
    }

    fn remove(&mut self, index: u32, packet: &mut Packet) {
        self.lists[index as usize].onto(packet);
        self.free.push(index);
    }

    /// Removes the options at an index, if it is one.
    fn take(&mut self, index: u32) -> Option<OptionList> {
        let list = *self.lists.get(index as usize)?;
        self.free.push(index);
        Some(list)
    }
}
