//! The receiving end of a source: counts what arrives, answers nothing.

use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::record::FlowSample;
use crate::traffic::source::count_delay;
use crate::wire::Packet;

/// Counts datagrams and their bytes on the wire.
#[derive(Debug, Default)]
pub struct DatagramSink {
    packets: u64,
    bytes: u64,
}

impl Endpoint for DatagramSink {
    fn start(&mut self, _ctx: &mut EndpointCtx<'_>) {}

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        count_delay(&packet, ctx);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
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
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.bytes;
    }
}
