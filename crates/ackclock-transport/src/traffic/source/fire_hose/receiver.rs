//! The receiver of a fire-hose: reports the rate at which packets arrive.

use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::record::FlowSample;
use crate::traffic::source::count_delay;
use crate::units::{Span, Time};
use crate::wire::{Flags, Options, Packet};

/// Bytes on the wire of a report.
pub(super) const REPORT_SIZE: u16 = 40;

/// The goodput that a report carries [bit/s]; 0 in what is no report.
pub(super) fn read_goodput(packet: &Packet) -> f64 {
    match packet.options {
        Options::Goodput(rate) => f64::from(rate),
        _ => 0.0,
    }
}

/// Writes the goodput into a report.
pub(super) fn write_goodput(packet: &mut Packet, goodput: f64) {
    packet.options = Options::Goodput(goodput as f32);
}

/// Counts datagrams, and reports their rate.
pub(super) struct GoodputReporter {
    flow: FlowId,
    interval: Span,
    report: Deadline,
    /// The newest arrival, that of the last report, and the bytes between them.
    newest: Time,
    reported: Time,
    fresh: u64,
    packets: u64,
    bytes: u64,
    reports: u64,
}

impl GoodputReporter {
    pub(super) fn new(flow: FlowId, interval: Span) -> Self {
        Self {
            flow,
            interval,
            report: Deadline::NEVER,
            newest: Time::ZERO,
            reported: Time::ZERO,
            fresh: 0,
            packets: 0,
            bytes: 0,
            reports: 0,
        }
    }
}

impl Endpoint for GoodputReporter {
    fn start(&mut self, _ctx: &mut EndpointCtx<'_>) {}

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        count_delay(&packet, ctx);
        self.newest = ctx.now;
        if self.packets == 0 {
            // The time before the first packet says nothing.
            self.reported = ctx.now;
        } else {
            self.fresh += u64::from(packet.size);
        }
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        if self.report == Deadline::NEVER {
            self.report = Deadline { at: ctx.now + self.interval, armed: ctx.now };
        }
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if ctx.now < self.report.at {
            return;
        }
        let elapsed = self.newest.since(self.reported).seconds();
        let goodput = if elapsed > 0.0 { 8.0 * self.fresh as f64 / elapsed } else { 0.0 };
        let flags = Flags::ACK | Flags::DATAGRAM;
        write_goodput(ctx.out.send(self.flow, self.reports as u32, REPORT_SIZE, flags), goodput);
        self.reports += 1;
        // After an interval without packets the next one starts the timer again.
        self.report = if self.fresh > 0 {
            Deadline { at: ctx.now + self.interval, armed: ctx.now }
        } else {
            Deadline::NEVER
        };
        (self.fresh, self.reported) = (0, self.newest);
    }

    fn deadline(&self) -> Deadline {
        self.report
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered_bytes: self.bytes,
            delivered_packets: self.packets,
            received_packets: self.packets,
            acks_sent: self.reports,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.bytes;
    }
}
