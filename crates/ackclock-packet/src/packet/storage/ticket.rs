//! Compact form of packets on the wire.

use crate::ids::FlowId;
use crate::memory::{make_room, prefetch, use_large_pages};
use crate::units::Span;
use crate::wire::{Flags, Options, Packet};

/// A packet on the wire, without its flow, which follows from its route, and without its options, which
/// few packets have. It is three whole words: a wide load of what was stored in parts stalls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticket {
    /// Arrival at the far end.
    pub(crate) at: u64,
    /// Position in the route table; from bit 32 on the sequence number.
    route_seq: u64,
    /// Index of its options or [`OptionStore::NONE`]; from bit 32 on the bytes on the wire, from bit 48 on
    /// the flags.
    content: u64,
}

impl Ticket {
    /// The ticket of `packet`; its options are stored in `options`.
    #[inline(always)]
    pub(crate) fn of(packet: &Packet, route: u32, arrival: u64, options: &mut OptionStore) -> Self {
        let is_bare = matches!(packet.options, Options::None) && !packet.flags.has(Flags::LABEL);
        let index = if is_bare { OptionStore::NONE } else { options.insert(packet) };
        let content =
            u64::from(index) | u64::from(packet.size) << 32 | u64::from(packet.flags.0) << 48;
        let ticket = Self {
            at: arrival,
            route_seq: u64::from(route) | u64::from(packet.seq) << 32,
            content,
        };
        debug_assert!(ticket.holds(packet, options), "{packet:?} would arrive changed");
        ticket
    }

    /// Whether what arrives is the packet, but for its place on the route, which the engine sets.
    fn holds(self, packet: &Packet, options: &OptionStore) -> bool {
        let stored = self.inspect(packet.flow, options);
        Packet { route: packet.route, ..stored } == *packet
    }

    /// Its words: the arrival, and two that only this file interprets.
    #[inline(always)]
    pub(crate) fn parts(self) -> (u64, u64, u64) {
        (self.at, self.route_seq, self.content)
    }

    /// The ticket with these words.
    #[inline(always)]
    pub(crate) fn from_parts(arrival: u64, route_seq: u64, content: u64) -> Self {
        Self { at: arrival, route_seq, content }
    }

    /// Position in the route table.
    #[inline(always)]
    pub(crate) fn route(self) -> usize {
        self.route_seq as u32 as usize
    }

    /// Sequence number.
    pub(crate) fn seq(self) -> u32 {
        (self.route_seq >> 32) as u32
    }

    /// A copy without options that begins another route. Only branches make copies, and count them.
    pub(crate) fn copy_to(self, route: u32) -> Self {
        debug_assert!(self.is_bare());
        let route_seq = u64::from(route) | u64::from(self.seq()) << 32;
        Self { at: self.at, route_seq, content: self.content }
    }

    /// Bytes on the wire.
    #[inline(always)]
    pub(crate) fn size(self) -> u16 {
        (self.content >> 32) as u16
    }

    #[inline(always)]
    pub(crate) fn flags(self) -> Flags {
        Flags((self.content >> 48) as u16)
    }

    /// The same packet at the next step of its route, where it arrives at `arrival`.
    #[inline(always)]
    pub(crate) fn advance(self, arrival: u64) -> Self {
        Self { at: arrival, route_seq: self.route_seq + 1, content: self.content }
    }

    /// The last of its words, of a packet that is marked CE.
    pub(crate) fn marked(content: u64) -> u64 {
        content | u64::from(Flags::CE.0) << 48
    }

    /// Whether the packet has no options.
    #[inline(always)]
    pub(crate) fn is_bare(self) -> bool {
        self.content as u32 == OptionStore::NONE
    }

    /// The packet of `flow`; removes its options from `options`.
    #[inline(never)]
    pub(crate) fn into_packet(self, flow: FlowId, options: &mut OptionStore) -> Packet {
        let mut packet = self.header(flow);
        if !self.is_bare() {
            options.remove(self.content as u32, &mut packet);
        }
        packet
    }

    /// A copy of the packet for inspection; its options stay in `options`.
    pub(crate) fn inspect(self, flow: FlowId, options: &OptionStore) -> Packet {
        let mut packet = self.header(flow);
        if let Some(&list) = options.lists.get(self.content as u32 as usize) {
            list.onto(&mut packet);
        }
        packet
    }

    /// The packet of `flow` without options.
    #[inline(always)]
    pub(crate) fn header(self, flow: FlowId) -> Packet {
        let mut packet =
            Packet::new(flow, (self.route_seq >> 32) as u32, self.size(), self.flags());
        packet.route = self.route_seq as u32;
        packet
    }
}

/// What few packets have.
#[derive(Clone, Copy, Debug)]
struct OptionList {
    options: Options,
    label: f32,
}

impl OptionList {
    #[inline(always)]
    fn onto(self, packet: &mut Packet) {
        (packet.options, packet.label) = (self.options, self.label);
    }
}

/// A packet that leaves for a process of another thread, with its options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    /// The channel that it is in; channels have the same numbers in all threads.
    pub(crate) channel: u32,
    ticket: Ticket,
    options: Option<OptionList>,
}

impl Parcel {
    /// Takes a packet, and its options out of `options`.
    pub(crate) fn pack(channel: u32, ticket: Ticket, options: &mut OptionStore) -> Self {
        Self { channel, ticket, options: options.take(ticket.content as u32) }
    }

    /// The ticket in the thread that reads the channel, whose `options` get those of the packet.
    pub(crate) fn unpack(self, options: &mut OptionStore) -> Ticket {
        let Self { mut ticket, options: list, .. } = self;
        let index = list.map_or(OptionStore::NONE, |list| options.store(list));
        ticket.content = ticket.content >> 32 << 32 | u64::from(index);
        ticket
    }
}

/// The options of those packets on wires that have some.
#[derive(Debug, Default)]
pub(crate) struct OptionStore {
    lists: Vec<OptionList>,
    free: Vec<u32>,
}

impl OptionStore {
    /// In place of an index: no options.
    pub(crate) const NONE: u32 = u32::MAX;

    /// Prefetches the options of a packet.
    #[inline(always)]
    pub(crate) fn prefetch(&self, ticket: Ticket) {
        self.lists.get(ticket.content as u32 as usize).inspect(|list| prefetch(*list));
    }

    /// Reserves memory for the options of so many packets, in large pages.
    pub(crate) fn reserve(&mut self, packets: usize) {
        self.lists.reserve(packets);
        use_large_pages(&self.lists);
    }

    /// A packet has waited: the option that accumulates that is brought up to date, if the packet has it.
    pub(crate) fn add_queued(&mut self, ticket: Ticket, waited: Span) {
        if ticket.flags().has(Flags::AQT)
            && let Some(list) = self.lists.get_mut(ticket.content as u32 as usize)
        {
            let mut packet = Packet::new(FlowId(0), 0, 0, ticket.flags());
            list.onto(&mut packet);
            packet.add_queued(waited);
            list.options = packet.options;
        }
    }

    #[inline(never)]
    fn insert(&mut self, packet: &Packet) -> u32 {
        let Packet { options, label, .. } = *packet;
        self.store(OptionList { options, label })
    }

    #[inline(always)]
    fn store(&mut self, list: OptionList) -> u32 {
        if let Some(index) = self.free.pop() {
            self.lists[index as usize] = list;
            return index;
        }
        make_room(&mut self.lists);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{AckFrame, FramePart, MarkCounts, SackBlock, Timestamps};

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), Just(1), Just(u32::MAX), any::<u32>()]
    }

    fn rate() -> impl Strategy<Value = f32> {
        prop_oneof![Just(0.0f32), 0.0f32..1e12]
    }

    fn blocks() -> impl Strategy<Value = Vec<SackBlock>> {
        prop::collection::vec((number(), number()), 0..4)
    }

    /// Every kind of options with every field at 0 and elsewhere.
    fn options() -> impl Strategy<Value = (Options, Option<u32>)> {
        let tcp = (prop::option::of((number(), number())), blocks(), prop::option::of(number()));
        let tcp = tcp.prop_map(|(clocks, blocks, queued)| {
            let mut options = Options::None;
            let tcp = options.tcp_mut();
            tcp.timestamps = clocks.map(|(sender, receiver)| Timestamps { sender, receiver });
            tcp.set_blocks(&blocks);
            (options, queued)
        });
        let frame_part = (number(), number(), number(), number())
            .prop_map(|(stream, frame, offset, size)| FramePart { stream, frame, offset, size });
        let counts =
            (number(), number()).prop_map(|(capable, marked)| MarkCounts { capable, marked });
        let plain = prop_oneof![
            Just(Options::None),
            (number(), prop::option::of(frame_part))
                .prop_map(|(segment, frame_part)| Options::QuicData { segment, frame_part }),
            (number(), number(), blocks(), prop::option::of(counts)).prop_map(
                |(first, delay, older, counts)| Options::QuicAck(AckFrame::new(
                    first, delay, &older, counts
                ))
            ),
            number().prop_map(|group| Options::StopSending { group }),
            (number(), number())
                .prop_map(|(clock, round_trip)| Options::TfrcData { clock, round_trip }),
            (number(), number(), rate(), rate())
                .prop_map(|(echo, delay, rate, p)| Options::TfrcReport { echo, delay, rate, p }),
            rate().prop_map(Options::Goodput),
            number().prop_map(Options::Place),
            (number(), number()).prop_map(|(upper, lower)| Options::Sent([upper, lower])),
        ];
        prop_oneof![tcp, plain.prop_map(|options| (options, None))]
    }

    fn packet() -> impl Strategy<Value = Packet> {
        let label = prop::option::of(rate());
        (number(), 0u32..9, any::<u16>(), any::<u16>(), options(), label).prop_map(
            |(seq, flow, size, flags, (options, queued), label)| {
                let mut packet = Packet::new(FlowId(flow), seq, size, Flags(flags));
                packet.flags.clear(Flags::LABEL | Flags::AQT);
                packet.options = options;
                if let Some(label) = label {
                    packet.flags.set(Flags::LABEL);
                    packet.label = label;
                }
                if let Some(ticks) = queued {
                    packet.set_queued(crate::wire::TIMESTAMP_TICK * u64::from(ticks));
                }
                packet
            },
        )
    }

    fn twin(packet: &Packet) -> Packet {
        Packet { ..*packet }
    }

    proptest! {
        /// Through the store of one thread, and to the store of another, whatever else the stores hold.
        #[test]
        fn every_packet_leaves_the_store_as_it_came(packets in prop::collection::vec(packet(), 1..20)) {
            let (mut here, mut there) = (OptionStore::default(), OptionStore::default());
            let tickets: Vec<Ticket> =
                packets.iter().map(|packet| Ticket::of(packet, 7, 11, &mut here)).collect();
            for (packet, ticket) in packets.iter().zip(&tickets) {
                let expected = Packet { route: 7, ..twin(packet) };
                prop_assert_eq!(ticket.inspect(packet.flow, &here), expected);
            }
            for (i, (packet, ticket)) in packets.iter().zip(tickets).enumerate() {
                let expected = Packet { route: 7, ..twin(packet) };
                let arrived = if i % 2 == 0 {
                    ticket.into_packet(packet.flow, &mut here)
                } else {
                    let ticket = Parcel::pack(0, ticket, &mut here).unpack(&mut there);
                    ticket.into_packet(packet.flow, &mut there)
                };
                prop_assert_eq!(arrived, expected);
            }
            prop_assert_eq!(here.free.len(), here.lists.len());
            prop_assert_eq!(there.free.len(), there.lists.len());
        }
    }
}
