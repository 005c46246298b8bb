//! The receiver of packet pair: acknowledges each packet at once.

use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::record::FlowSample;
use crate::traffic::source::count_delay;
use crate::wire::{Flags, Packet};

/// Bytes on the wire of an acknowledgement.
pub(super) const ACK_SIZE: u16 = 40;

/// Counts datagrams and acknowledges each by its number.
pub(super) struct Echo {
    flow: FlowId,
    packets: u64,
    bytes: u64,
}

impl Echo {
    pub(super) fn new(flow: FlowId) -> Self {
        Self { flow, packets: 0, bytes: 0 }
    }
}

impl Endpoint for Echo {
    fn start(&mut self, _ctx: &mut EndpointCtx<'_>) {}

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        count_delay(&packet, ctx);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        ctx.out.send(self.flow, packet.seq, ACK_SIZE, Flags::ACK | Flags::DATAGRAM);
    }

    fn on_timer(&mut self, _ctx: &mut EndpointCtx<'_>) {}

    fn deadline(&self) -> Deadline {
        Deadline::NEVER
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered_bytes: self.bytes,
            delivered_packets: self.packets,
            received_packets: self.packets,
            acks_sent: self.packets,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.bytes;
    }
}
