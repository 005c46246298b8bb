//! ROOM: senders without TCP: unresponsive ones, and those that follow reports of their receivers.
//!
//! Sources send datagrams: no retransmission; `seq` counts packets from 0. All
//! times in their parameters count from the flow's start. No packet leaves at or after the flow's
//! stop. The other end is a [`DatagramSink`] unless [`Source::receiver`] names another.
//!
//! A new source: one file here that implements [`About`](crate::registry::About), [`Endpoint`] and
//! [`Source`], and one line in the registry at the end of this file.

pub mod cbr;
pub mod coded;
pub mod fire_hose;
pub mod on_off;
pub mod packet_pair;
mod sink;
pub mod tfrc;
pub mod trace;

pub use fire_hose::bundle::Bundles;
pub use sink::DatagramSink;

use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::era::Era;
use crate::ids::{FlowId, LinkId};
use crate::units::{BitRate, Span, Time};
use crate::wire::{Flags, Packet};

/// What a new source knows about its flow.
#[derive(Clone, Debug)]
pub struct SourceEnv {
    /// The flow that the packets belong to.
    pub flow: FlowId,
    /// When the engine will call [`Endpoint::start`], counted from the start of the run.
    pub start: Span,
    /// When the source must be silent, counted from the start of the run.
    pub stop: Option<Span>,
    /// Defaults of this era apply where a parameter is left out.
    pub era: Era,
    /// The link on which the flow leaves its host, and that link's rate; none if it stays there.
    pub first_link: Option<LinkId>,
    /// See `first_link`.
    pub access: Option<BitRate>,
    /// The highest rate that this link ever has, where that is known.
    pub peak: Option<BitRate>,
    /// What joins the flows of one sender; one for all flows of a run.
    pub bundles: Bundles,
}

/// What a source would send, for predictions of a run's work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// Packets, whatever becomes of them; infinite for a source that sends as much as its network takes.
    pub packets: f64,
    /// Mean size of a packet on the wire [bytes].
    pub packet_bytes: f64,
    /// Packets of the other end for each packet that arrives there.
    pub answers: f64,
}

/// Sizes of a source's packets on the wire [bytes].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSizes {
    /// Of its smallest packet.
    pub smallest: u16,
    /// Of its largest.
    pub largest: u16,
    /// Of the packets of the other end; 0 if that sends none.
    pub answer: u16,
}

impl PacketSizes {
    /// Packets of one size.
    fn equal(size: u16, answer: u16) -> Self {
        Self { smallest: size, largest: size, answer }
    }
}

/// The sending end of a flow that has no TCP, and what its receiving end is.
pub trait Source: Endpoint {
    /// How large its packets are.
    fn packet_sizes(&self) -> PacketSizes;

    /// What it would send in its first `active` of time, on average over its random choices.
    fn offers(&self, active: Span) -> Offer;

    /// Packets that it tries to keep in queues besides, for predictions.
    fn standing(&self) -> f64 {
        0.0
    }

    /// The other end: counts what arrives, unless the source needs reports.
    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(DatagramSink::default())
    }
}

/// Counts how long a datagram was under way, at its receiver, if it says when it was sent.
fn count_delay(packet: &Packet, ctx: &mut EndpointCtx<'_>) {
    if let Some(sent) = packet.sent() {
        ctx.record.delay(ctx.now, packet.flow, ctx.now.since(sent));
    }
}

/// The way out that all sources share: numbers, counts, and the stop time.
struct Outlet {
    flow: FlowId,
    stop: Time,
    deadline: Deadline,
    packets: u64,
    bytes: u64,
}

impl Outlet {
    fn new(env: &SourceEnv) -> Self {
        let stop = env.stop.map_or(Time::MAX, |stop| Time::ZERO + stop);
        Self { flow: env.flow, stop, deadline: Deadline::NEVER, packets: 0, bytes: 0 }
    }

    fn send(&mut self, size: u16, ctx: &mut EndpointCtx<'_>) {
        let (flow, now) = (self.flow, ctx.now);
        let is_measured = ctx.record.measures(flow);
        let packet = self.send_with(size, Flags::DATAGRAM, ctx);
        if is_measured {
            packet.set_sent(now);
        }
    }

    fn send_with<'c>(
        &mut self,
        size: u16,
        flags: Flags,
        ctx: &'c mut EndpointCtx<'_>,
    ) -> &'c mut Packet {
        // The number wraps after 2^32 packets; nothing orders datagrams by it.
        let number = self.packets as u32;
        self.packets += 1;
        self.bytes += u64::from(size);
        ctx.out.send(self.flow, number, size, flags)
    }

    /// Schedules a call at `due`, or none if there is nothing before the stop.
    fn arm(&mut self, due: Option<Time>, now: Time) {
        self.deadline = match due {
            Some(due) if due < self.stop => Deadline { at: due, armed: now },
            _ => Deadline::NEVER,
        };
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { sent_packets: self.packets, sent_bytes: self.bytes, ..Snapshot::default() }
    }
}

crate::registry! {
    /// Builds a source by name.
    "source": dyn Source, SourceEnv {
        "traffic/source/cbr.rs" => cbr::Cbr,
        "traffic/source/on_off.rs" => on_off::ExponentialOnOff,
        "traffic/source/on_off.rs" => on_off::ParetoOnOff,
        "traffic/source/trace.rs" => trace::Trace,
        "traffic/source/tfrc.rs" => tfrc::Tfrc,
        "traffic/source/packet_pair.rs" => packet_pair::PacketPair,
        "traffic/source/fire_hose.rs" => fire_hose::FireHose,
        "traffic/source/coded.rs" => coded::Coded,
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
