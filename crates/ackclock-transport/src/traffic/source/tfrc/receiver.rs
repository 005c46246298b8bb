//! TFRC's receiver: measures, and reports once per round trip (RFC 5348, section 6).

use std::collections::VecDeque;

use super::loss_events::LossEvents;
use super::{Report, equation};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::record::FlowSample;
use crate::units::{Span, Time};
use crate::wire::{Flags, Options, Packet, TIMESTAMP_TICK, timestamp};

/// Bytes on the wire of a report.
pub(super) const REPORT_SIZE: u16 = 40;

/// TFRC's receiver.
pub(super) struct TfrcReceiver {
    flow: FlowId,
    events: LossEvents,
    /// Arrivals within the last round trip: time, bytes.
    recent: VecDeque<(Time, u32)>,
    /// Timestamp, arrival and size of the newest packet.
    newest: (u32, Time, u16),
    /// The sender's round trip.
    rtt: Span,
    /// Something arrived since the last report.
    is_fresh: bool,
    report: Deadline,
    packets: u64,
    bytes: u64,
    reports: u64,
}

impl TfrcReceiver {
    pub(super) fn new(flow: FlowId) -> Self {
        Self {
            flow,
            events: LossEvents::default(),
            recent: VecDeque::with_capacity(64),
            newest: (0, Time::ZERO, 0),
            rtt: Span::ZERO,
            is_fresh: false,
            report: Deadline::NEVER,
            packets: 0,
            bytes: 0,
            reports: 0,
        }
    }

    /// Rate received within the last round trip [B/s]; 0 before the round trip is known.
    fn rate(&mut self, now: Time) -> f64 {
        while self.recent.front().is_some_and(|&(time, _)| time + self.rtt <= now) {
            self.recent.pop_front();
        }
        if self.rtt == Span::ZERO {
            return 0.0;
        }
        let bytes: u64 = self.recent.iter().map(|&(_, size)| u64::from(size)).sum();
        bytes as f64 / self.rtt.seconds()
    }

    /// Section 6.3.1: the interval with which the equation gives the rate that was received.
    fn first_interval(&mut self, now: Time) -> f64 {
        let size = f64::from(self.newest.2);
        let rtt = self.rtt.seconds().max(TIMESTAMP_TICK.seconds());
        let rate = self.rate(now).max(size / rtt);
        // The equation falls in p: bisection of its logarithm.
        let (mut low, mut high) = (1e-9f64.ln(), 0.0f64);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if equation(size, rtt, middle.exp()) > rate {
                low = middle;
            } else {
                high = middle;
            }
        }
        (-low).exp()
    }

    fn send_report(&mut self, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        let (echo, arrival, _) = self.newest;
        let (rate, p) = (self.rate(now), self.events.rate());
        let report = Report { echo, delay: now.since(arrival), rate, p };
        let flags = Flags::ACK | Flags::DATAGRAM;
        report.write(ctx.out.send(self.flow, self.reports as u32, REPORT_SIZE, flags));
        self.reports += 1;
        self.is_fresh = false;
        self.report = Deadline { at: now + self.rtt, armed: now };
    }
}

impl Endpoint for TfrcReceiver {
    fn start(&mut self, _ctx: &mut EndpointCtx<'_>) {}

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.recent.push_back((now, u32::from(packet.size)));
        let Options::TfrcData { clock, round_trip } = packet.options else { return };
        self.newest = (clock, now, packet.size);
        let ticks = timestamp(now).wrapping_sub(clock);
        ctx.record.delay(now, packet.flow, TIMESTAMP_TICK * u64::from(ticks));
        self.rtt = TIMESTAMP_TICK * u64::from(round_trip);
        self.is_fresh = true;
        let is_marked = packet.flags.has(Flags::CE);
        let is_new = self.events.on_packet(packet.seq, now, self.rtt, is_marked);
        if self.events.lacks_first_interval() {
            let interval = self.first_interval(now);
            self.events.close(interval);
        }
        if is_new || self.rtt == Span::ZERO || self.report == Deadline::NEVER {
            self.send_report(ctx);
        }
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.is_fresh {
            self.send_report(ctx);
        } else {
            self.report = Deadline::NEVER;
        }
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
