//! The two ends of a flow: a client that sends a stream, a server that reads it.

use std::sync::Arc;

use ackclock_core::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use ackclock_core::record::{FlowSample, WindowRow};
use ackclock_core::units::{Bytes, Time};
use ackclock_core::wire::Packet;

use super::ZEROS;
use super::end::End;
use super::peer::{Happened, State};
use super::seen::Seen;

/// The end that sends data.
pub(super) struct Client {
    end: End,
    seen: Arc<Seen>,
    /// Bytes that the application has still to hand over; `None`: without end.
    left: Option<Bytes>,
    datagram: f64,
    srtt_sum_s: f64,
    arrived: u64,
    completed: Time,
}

impl Client {
    /// A client that sends `size` bytes, or without end, in datagrams of `datagram` bytes.
    pub(super) fn new(end: End, observed: Arc<Seen>, size: Option<Bytes>, datagram: f64) -> Self {
        Self {
            end,
            seen: observed,
            left: size,
            datagram,
            srtt_sum_s: 0.0,
            arrived: 0,
            completed: Time::ZERO,
        }
    }

    fn drive(&mut self, ctx: &mut EndpointCtx<'_>) {
        while let Some(happened) = self.end.poll() {
            match happened {
                Happened::Connected => self.end.peer.open(),
                Happened::Finished => self.completed = ctx.now,
                _ => {}
            }
        }
        if let Err(error) = self.write() {
            self.end.failure = Some(error);
        }
        self.end.transmit(ctx);
        ctx.record.note(|| {
            let state = self.state();
            WindowRow {
                at: ctx.now,
                flow: self.end.flow,
                cwnd: self.in_datagrams(state.window),
                ssthresh: self.ssthresh(&state),
                in_flight: self.in_flight(),
                acked: self.in_datagrams(self.seen.acked()) as u32,
            }
        });
    }

    /// Fills the stream as far as the send buffer lets.
    fn write(&mut self) -> Result<(), String> {
        loop {
            let most =
                self.left.map_or(ZEROS.len(), |left| (ZEROS.len() as u64).min(left.0) as usize);
            if most == 0 {
                self.end.peer.finish();
                return Ok(());
            }
            let written = self.end.peer.write(most)?;
            if written == 0 {
                return Ok(());
            }
            if let Some(left) = &mut self.left {
                left.0 -= written as u64;
            }
        }
    }

    fn state(&self) -> State {
        self.end.peer.state().unwrap_or_default()
    }

    fn in_datagrams(&self, bytes: u64) -> f64 {
        bytes as f64 / self.datagram
    }

    fn ssthresh(&self, state: &State) -> f64 {
        let bytes = state.ssthresh.filter(|&bytes| bytes < u64::MAX);
        bytes.map_or(f64::INFINITY, |bytes| self.in_datagrams(bytes))
    }

    fn in_flight(&self) -> u32 {
        self.in_datagrams(self.seen.in_flight()).round() as u32
    }
}

impl Endpoint for Client {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.end.connect(ctx.now);
        self.drive(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        self.end.arrive(&packet, ctx.now);
        self.drive(ctx);
        if let Some(state) = self.end.peer.state() {
            self.srtt_sum_s += state.srtt.as_secs_f64();
            self.arrived += 1;
        }
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.end.run_timers(ctx.now);
        self.drive(ctx);
    }

    fn deadline(&self) -> Deadline {
        self.end.deadline
    }

    fn snapshot(&self) -> Snapshot {
        let state = self.state();
        Snapshot {
            cwnd: self.in_datagrams(state.window),
            ssthresh: self.ssthresh(&state),
            in_flight: self.in_flight(),
            srtt_s: state.srtt.as_secs_f64(),
            sent_packets: self.end.sent_packets,
            sent_bytes: self.end.sent_bytes,
            retransmits: state.lost,
            recoveries: self.seen.reductions(),
            acks_received: self.arrived,
            rtt_sum_s: self.srtt_sum_s,
            rtt_count: self.arrived,
            rtt_min_s: state.rtt_min.as_secs_f64(),
            completed_s: self.completed.seconds(),
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        self.snapshot().sample_sender(row);
    }

    fn failure(&self) -> Option<String> {
        self.end.failure.clone()
    }
}

/// The end that receives data.
pub(super) struct Server {
    end: End,
    delivered: u64,
}

impl Server {
    /// A server that has got nothing.
    pub(super) fn new(end: End) -> Self {
        Self { end, delivered: 0 }
    }

    fn drive(&mut self, ctx: &mut EndpointCtx<'_>) {
        while self.end.poll().is_some() {}
        self.delivered += self.end.peer.read();
        self.end.transmit(ctx);
    }
}

impl Endpoint for Server {
    fn start(&mut self, _: &mut EndpointCtx<'_>) {}

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        self.end.arrive(&packet, ctx.now);
        self.drive(ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.end.run_timers(ctx.now);
        self.drive(ctx);
    }

    fn deadline(&self) -> Deadline {
        self.end.deadline
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered_bytes: self.delivered,
            delivered_packets: self.end.received,
            received_packets: self.end.received,
            acks_sent: self.end.sent_packets,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.delivered;
        row.received_bytes = self.delivered;
    }

    fn failure(&self) -> Option<String> {
        self.end.failure.clone()
    }
}
