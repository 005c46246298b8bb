//! The two ends of a flow: a client that sends a stream, a server that reads it.

use std::sync::Arc;

use ackclock_core::record::{FlowSample, WindowRow};
use ackclock_core::tcp::{Deadline, Endpoint, EndpointCtx, Snapshot};
use ackclock_core::units::{Bytes as Size, Time};
use ackclock_core::wire::Packet;
use bytes::Bytes;
use quinn_proto::{ClientConfig, Dir, Event, StreamEvent, StreamId, WriteError};

use super::end::{End, TO_CLIENT, address};
use super::watched::Seen;

/// The end that sends data.
pub(super) struct Client {
    end: End,
    config: ClientConfig,
    seen: Arc<Seen>,
    stream: Option<StreamId>,
    /// Bytes that the application has still to hand over; `None`: without end.
    left: Option<Size>,
    datagram: f64,
    srtt_sum_s: f64,
    arrived: u64,
    completed: Time,
}

impl Client {
    /// A client that sends `size` bytes, or without end, in datagrams of `datagram` bytes.
    pub(super) fn new(
        end: End,
        config: ClientConfig,
        seen: Arc<Seen>,
        size: Option<Size>,
        datagram: f64,
    ) -> Self {
        Self {
            end,
            config,
            seen,
            stream: None,
            left: size,
            datagram,
            srtt_sum_s: 0.0,
            arrived: 0,
            completed: Time::ZERO,
        }
    }

    fn drive(&mut self, ctx: &mut EndpointCtx<'_>) {
        while let Some(event) = self.end.poll() {
            match event {
                Event::Connected => {
                    let (_, connection) = self.end.connection.as_mut().expect("it connected");
                    self.stream = connection.streams().open(Dir::Uni);
                }
                Event::Stream(StreamEvent::Finished { .. }) => self.completed = ctx.now,
                _ => {}
            }
        }
        if let Err(error) = self.write() {
            self.end.failure = Some(error.to_string());
        }
        self.end.transmit(ctx);
        ctx.record.window(|| WindowRow {
            at: ctx.now,
            flow: self.end.flow,
            cwnd: self.window(),
            ssthresh: self.ssthresh(),
            in_flight: self.in_flight(),
            acked: (self.seen.acked() as f64 / self.datagram) as u32,
        });
    }

    /// Fills the stream as far as the send buffer lets.
    fn write(&mut self) -> Result<(), WriteError> {
        static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
        let (Some(id), Some((_, connection))) = (self.stream, &mut self.end.connection) else {
            return Ok(());
        };
        let mut stream = connection.send_stream(id);
        loop {
            let most = self.left.map_or(ZEROS.len() as u64, |left| left.0.min(ZEROS.len() as u64));
            if most == 0 {
                // Only the first time there is something to finish.
                let _ = stream.finish();
                return Ok(());
            }
            match stream.write_chunks(&mut [Bytes::from_static(&ZEROS[..most as usize])]) {
                Ok(written) => {
                    if let Some(left) = &mut self.left {
                        left.0 -= written.bytes as u64;
                    }
                }
                Err(WriteError::Blocked) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn window(&self) -> f64 {
        let connection = self.end.connection.as_ref();
        connection.map_or(0.0, |(_, c)| c.congestion_state().window() as f64 / self.datagram)
    }

    fn ssthresh(&self) -> f64 {
        let connection = self.end.connection.as_ref();
        let bytes = connection.and_then(|(_, c)| c.congestion_state().metrics().ssthresh);
        match bytes {
            Some(bytes) if bytes < u64::MAX => bytes as f64 / self.datagram,
            _ => f64::INFINITY,
        }
    }

    fn in_flight(&self) -> u32 {
        (self.seen.in_flight() as f64 / self.datagram).round() as u32
    }
}

impl Endpoint for Client {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        let (instant, peer) = (self.end.instant(ctx.now), address(TO_CLIENT));
        let config = self.config.clone();
        match self.end.endpoint.connect(instant, config, peer, "localhost") {
            Ok(made) => self.end.connection = Some(made),
            Err(error) => self.end.failure = Some(error.to_string()),
        }
        self.drive(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        self.end.arrive(&packet, ctx.now);
        self.drive(ctx);
        if let Some((_, connection)) = &self.end.connection {
            self.srtt_sum_s += connection.rtt().as_secs_f64();
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
        let stats = self.end.connection.as_ref().map(|(_, connection)| connection.stats().path);
        let stats = stats.unwrap_or_default();
        Snapshot {
            cwnd: self.window(),
            ssthresh: self.ssthresh(),
            in_flight: self.in_flight(),
            srtt_s: stats.rtt.as_secs_f64(),
            sent_packets: self.end.sent_packets,
            sent_bytes: self.end.sent_bytes,
            retransmits: stats.lost_packets,
            recoveries: self.seen.reductions(),
            acks_received: self.arrived,
            rtt_sum_s: self.srtt_sum_s,
            rtt_count: self.arrived,
            rtt_min_s: stats.min_rtt.as_secs_f64(),
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
    stream: Option<StreamId>,
    delivered: u64,
}

impl Server {
    /// A server that has got nothing.
    pub(super) fn new(end: End) -> Self {
        Self { end, stream: None, delivered: 0 }
    }

    fn drive(&mut self, ctx: &mut EndpointCtx<'_>) {
        while self.end.poll().is_some() {}
        self.read();
        self.end.transmit(ctx);
    }

    /// Takes what has arrived in order.
    fn read(&mut self) {
        let Some((_, connection)) = &mut self.end.connection else { return };
        if self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let Some(id) = self.stream else { return };
        let mut receive = connection.recv_stream(id);
        let Ok(mut chunks) = receive.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.delivered += chunk.bytes.len() as u64;
        }
        // Flow control never needs an update: its windows are without bound.
        let _ = chunks.finalize();
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
        let stats = self.end.connection.as_ref().map(|(_, connection)| connection.stats());
        let received = stats.map_or(0, |stats| stats.udp_rx.datagrams);
        Snapshot {
            delivered_bytes: self.delivered,
            delivered_packets: received,
            received_packets: received,
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
