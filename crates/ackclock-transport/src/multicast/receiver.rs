//! The receiver of a group: counts packets and losses, and sends its control's decisions up the tree.
//!
//! A membership message carries the number of layers held in place of a sequence number. It is sent when
//! that number changes, and repeated every [`REFRESH`]. An announcement carries the layer of an experiment in
//! the same place and goes to all receivers of the group.

use super::{LayerControl, MAX_LAYERS, MEMBERSHIP_BYTES, NUMBER_BITS, REFRESH, Seen, layer_of};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::record::{FlowSample, LayersRow};
use crate::units::Time;
use crate::wire::{Flags, Packet};

/// What a receiver is made of.
pub struct ReceiverParts {
    /// The flow whose packets reach it.
    pub flow: FlowId,
    /// Number of layers of its group.
    pub layers: u32,
    /// Its control.
    pub control: Box<dyn LayerControl>,
}

/// The latest packet of a layer.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    /// Number of the packet expected next; `None` before the first since the layer was joined.
    expected: Option<u32>,
    at: Time,
}

/// Numbers of packets count modulo this.
const NUMBERS: u32 = 1 << NUMBER_BITS;

/// A receiver.
pub struct Receiver {
    flow: FlowId,
    control: Box<dyn LayerControl>,
    layers: u32,
    held: u32,
    latest: Vec<Latest>,
    refresh_at: Time,
    armed: Time,
    joins: u64,
    leaves: u64,
    lost: u64,
    received: u64,
    delivered: u64,
    delivered_bytes: u64,
    messages: u64,
}

impl Receiver {
    /// A receiver that has not joined yet.
    pub fn new(config: ReceiverParts) -> Self {
        let ReceiverParts { flow, layers, control } = config;
        debug_assert!(layers as usize <= MAX_LAYERS);
        Self {
            flow,
            control,
            layers,
            held: 0,
            latest: vec![Latest::default(); layers as usize],
            refresh_at: Time::MAX,
            armed: Time::ZERO,
            joins: 0,
            leaves: 0,
            lost: 0,
            received: 0,
            delivered: 0,
            delivered_bytes: 0,
            messages: 0,
        }
    }

    /// Holds `layers` layers from now on.
    fn hold(&mut self, layers: u32, ctx: &mut EndpointCtx<'_>) {
        let layers = layers.min(self.layers);
        if layers == self.held {
            return;
        }
        for latest in &mut self.latest[self.held.min(layers) as usize..] {
            latest.expected = None;
        }
        self.joins += u64::from(layers.saturating_sub(self.held));
        self.leaves += u64::from(self.held.saturating_sub(layers));
        self.held = layers;
        ctx.record.note(|| LayersRow { at: ctx.now, flow: self.flow, layers });
        self.send_membership(ctx);
    }

    fn send_membership(&mut self, ctx: &mut EndpointCtx<'_>) {
        ctx.out.send(self.flow, self.held, MEMBERSHIP_BYTES, Flags::ACK | Flags::DATAGRAM);
        self.messages += 1;
        self.refresh_at = ctx.now + REFRESH;
    }

    /// Announces an experiment with layer `layer`, counted from 1, to the other receivers.
    fn announce(&mut self, layer: u32, ctx: &mut EndpointCtx<'_>) {
        let flags = Flags::ACK | Flags::DATAGRAM | Flags::ANNOUNCEMENT;
        ctx.out.send(self.flow, layer, MEMBERSHIP_BYTES, flags);
        self.messages += 1;
    }

    /// Notes the arrival of a packet of a layer that is held.
    fn note(&mut self, layer: u32, packet: &Packet, now: Time) -> Seen {
        let number = packet.seq % NUMBERS;
        let latest = &mut self.latest[layer as usize];
        let missing = latest.expected.map_or(0, |expected| number.wrapping_sub(expected) % NUMBERS);
        let mut arrival = Seen { now, size: packet.size, lost: 0, pair_gap: None };
        if missing >= NUMBERS / 2 {
            // It was counted as lost and is late.
            self.lost = self.lost.saturating_sub(1);
            return arrival;
        }
        if latest.expected.is_some() && missing == 0 && number % 2 == 1 {
            arrival.pair_gap = Some(now.since(latest.at));
        }
        arrival.lost = missing;
        self.lost += u64::from(missing);
        *latest = Latest { expected: Some((number + 1) % NUMBERS), at: now };
        arrival
    }
}

impl Endpoint for Receiver {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        let layers = self.control.start(ctx.now, ctx.rng);
        self.hold(layers, ctx);
        self.armed = ctx.now;
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        self.received += 1;
        if packet.flags.has(Flags::ANNOUNCEMENT) {
            self.control.on_announcement(packet.seq, ctx.now);
            return;
        }
        let layer = layer_of(packet.seq);
        // Packets of a layer that was left arrive until the branch has learned of it.
        if layer >= self.held {
            return;
        }
        self.delivered += 1;
        self.delivered_bytes += u64::from(packet.size);
        let arrival = self.note(layer, &packet, ctx.now);
        let layers = self.control.on_packet(&arrival, ctx.rng);
        self.hold(layers, ctx);
        self.armed = ctx.now;
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.control.deadline() <= ctx.now {
            let layers = self.control.on_timer(ctx.now, ctx.rng);
            if let Some(layer) = self.control.take_announcement() {
                self.announce(layer, ctx);
            }
            self.hold(layers, ctx);
        }
        if self.refresh_at <= ctx.now {
            self.send_membership(ctx);
        }
        self.armed = ctx.now;
    }

    fn deadline(&self) -> Deadline {
        if self.held == 0 {
            return Deadline::NEVER;
        }
        Deadline { at: self.control.deadline().min(self.refresh_at), armed: self.armed }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered_bytes: self.delivered_bytes,
            delivered_packets: self.delivered,
            received_packets: self.received,
            acks_sent: self.messages,
            layers: self.held,
            layer_joins: self.joins,
            layer_leaves: self.leaves,
            missing_packets: self.lost,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.delivered_bytes;
    }
}
