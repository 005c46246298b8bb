//! Whole connections of quinn as the two ends of a flow: real packets, real ACK frames, TLS.
//!
//! What: a client sends a stream to a server. The engine carries a packet for each of their datagrams, of the same size,
//! through links and queues; what a datagram contains is kept beside ([`wire`]). Neither reads a clock.
//!
//! **Source**: crate `quinn-proto`.
//!
//! Of a flow's settings they follow its size, `max_datagram`, `initial_window`, `packet_threshold`, `time_threshold`,
//! `initial_rtt`, `persistent_congestion_threshold` and `ecn`. Datagrams do not grow by discovery, connections never
//! expire, and flow control is no limit. `retransmits` counts packets declared lost; timeouts are not counted; a window
//! row reports packets acknowledged.
//!
//! Connection IDs, numbers of packets that are skipped and the like are drawn from the flow's stream. Keys are random;
//! what is sent when does not depend on them. `quinn/bbr` is not here: its control draws from the system.

mod tls;
mod watched;
mod wire;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ackclock_core::error::Problem;
use ackclock_core::ids::FlowId;
use ackclock_core::packet::{Ends, EndsEnv, Place};
use ackclock_core::quic::QuicConfig;
use ackclock_core::record::{FlowSample, WindowRow};
use ackclock_core::registry::{Entry, Info, Spec, Status};
use ackclock_core::rng::{Purpose, Stream};
use ackclock_core::tcp::{Deadline, Endpoint, EndpointCtx, Snapshot};
use ackclock_core::units::{Bytes as Size, Time};
use ackclock_core::wire::{Flags, Packet};
use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, EndpointConfig,
    Event, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt, WriteError,
};

use crate::controls::Release;
use watched::{Factory, Seen};
use wire::Wire;

/// The crate.
pub const RELEASE: Release = Release { name: "quinn-proto", version: "0.11.19" };

/// Bytes that the client keeps ready to send.
const READY: u64 = 8 << 20;
/// Bytes of IPv4 and UDP headers.
const BELOW: usize = 28;
/// Smallest datagram of QUIC (RFC 9000 section 14).
const LEAST_DATAGRAM: u32 = 1200;
/// Directions.
const TO_SERVER: usize = 0;
const TO_CLIENT: usize = 1;

const CUBIC: Info = Info {
    name: "quinn/cubic",
    title: "CUBIC of a whole connection of quinn",
    source: "crate quinn-proto, congestion/cubic.rs; RFC 8312, RFC 9438",
    status: Status::Shipped,
};
const NEW_RENO: Info = Info {
    name: "quinn/newreno",
    title: "NewReno of a whole connection of quinn",
    source: "crate quinn-proto, congestion/new_reno.rs; RFC 9002 section 7.3",
    status: Status::Shipped,
};

/// Names of the connections.
pub fn names() -> Vec<&'static str> {
    vec![CUBIC.name, NEW_RENO.name]
}

/// Every connection, as entries of the catalogue.
pub fn catalogue() -> Vec<Entry> {
    let entry = |info| Entry {
        info,
        facts: &[],
        file: "connections/mod.rs",
        params: ackclock_core::registry::Rules::of::<super::controls::s2n::NoParams>()
            .into_schema(),
    };
    vec![entry(CUBIC), entry(NEW_RENO)]
}

fn controller(name: &str, initial_window: u64) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
    if name == CUBIC.name {
        let mut config = CubicConfig::default();
        config.initial_window(initial_window);
        Some(Arc::new(config))
    } else if name == NEW_RENO.name {
        let mut config = NewRenoConfig::default();
        config.initial_window(initial_window);
        Some(Arc::new(config))
    } else {
        None
    }
}

/// The two ends of a flow.
///
/// # Errors
/// There is no such connection, or the flow has settings that it cannot follow.
pub fn build(spec: &Spec, env: &EndsEnv<'_>, place: Place<'_>) -> Result<Ends, Problem> {
    let name = spec.kind();
    let wrong =
        |what: &str| Problem::new(place.path, format!("{name} is a whole connection, {what}"));
    let QuicConfig { max_datagram, initial_window, .. } = *env.config;
    let first = u64::from(max_datagram) * u64::from(initial_window);
    let Some(factory) = controller(name, first) else {
        let what = format!("there is no connection \"{name}\"");
        return Err(Problem::unknown(place.path, &what, name, &names()));
    };
    if let Some(key) = spec.params().keys().next() {
        return Err(wrong(&format!("which has no parameters; expected no \"{key}\"")));
    }
    if max_datagram < LEAST_DATAGRAM {
        return Err(wrong(
            "whose datagrams have 1200 bytes at least; expected a larger max_datagram",
        ));
    }
    if env.is_paced || env.stop.is_some() {
        return Err(wrong(
            "whose application hands over all at once; expected neither app nor stop",
        ));
    }
    if !env.config.handshake {
        return Err(wrong("which begins with its handshake; expected handshake = true"));
    }
    pair(env, factory).map_err(|error| wrong(&format!("which could not be made: {error}")))
}

fn pair(
    env: &EndsEnv<'_>,
    factory: Arc<dyn ControllerFactory + Send + Sync>,
) -> Result<Ends, String> {
    let seen = Arc::new(Seen::default());
    let watched = Arc::new(Factory { inner: Arc::clone(&factory), seen: Arc::clone(&seen) });
    let mut server = ServerConfig::with_crypto(tls::server()?);
    server.transport_config(transport(env.config, factory)?);
    let mut client = ClientConfig::new(tls::client()?);
    client.transport_config(transport(env.config, watched)?);
    // quinn measures differences of instants only; which one the first is does not matter.
    #[expect(clippy::disallowed_methods, reason = "quinn's instants begin somewhere")]
    let base = Instant::now();
    let wire = Wire::default();
    let mut stream = Stream::new(env.seed, Purpose::Control, u64::from(env.flow.0));
    let mut end = |way, server| End::new(env, way, base, wire.clone(), server, &mut stream);
    let sender = Client {
        end: end(TO_SERVER, None)?,
        config: client,
        seen,
        stream: None,
        left: env.size,
        datagram: f64::from(env.config.max_datagram),
        srtt_sum_s: 0.0,
        arrived: 0,
        completed: Time::ZERO,
    };
    let receiver =
        Server { end: end(TO_CLIENT, Some(Arc::new(server)))?, stream: None, delivered: 0 };
    Ok((Box::new(sender), Box::new(receiver)))
}

fn transport(
    config: &QuicConfig,
    factory: Arc<dyn ControllerFactory + Send + Sync>,
) -> Result<Arc<TransportConfig>, String> {
    let mut transport = TransportConfig::default();
    let mtu = u16::try_from(config.max_datagram).map_err(|error| error.to_string())?;
    transport
        .initial_mtu(mtu)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .enable_segmentation_offload(false)
        .send_window(READY)
        .receive_window(VarInt::MAX)
        .stream_receive_window(VarInt::MAX)
        .packet_threshold(config.packet_threshold)
        .time_threshold(config.time_threshold as f32)
        .initial_rtt(Duration::from_secs_f64(config.initial_rtt.seconds()))
        .persistent_congestion_threshold(config.persistent_congestion_threshold.round() as u32)
        .congestion_controller_factory(factory);
    Ok(Arc::new(transport))
}

/// An endpoint of quinn with its only connection, as an end of a flow.
struct End {
    flow: FlowId,
    /// The direction in which it sends.
    way: usize,
    base: Instant,
    wire: Wire,
    ecn: bool,
    endpoint: quinn_proto::Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    deadline: Deadline,
    failure: Option<String>,
    buffer: Vec<u8>,
    sent_packets: u64,
    sent_bytes: u64,
}

fn address(way: usize) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, way as u16 + 1))
}

impl End {
    fn new(
        env: &EndsEnv<'_>,
        way: usize,
        base: Instant,
        wire: Wire,
        server: Option<Arc<ServerConfig>>,
        stream: &mut Stream,
    ) -> Result<Self, String> {
        let mut seed = [0; 32];
        for chunk in seed.chunks_mut(8) {
            chunk.copy_from_slice(&stream.bits().to_le_bytes());
        }
        let mut config = EndpointConfig::default();
        config.rng_seed(Some(seed));
        let most = u16::try_from(env.config.max_datagram).unwrap_or(u16::MAX);
        if u64::from(most) > config.get_max_udp_payload_size() {
            config.max_udp_payload_size(most).map_err(|error| error.to_string())?;
        }
        Ok(Self {
            flow: env.flow,
            way,
            base,
            wire,
            ecn: env.config.ecn,
            endpoint: quinn_proto::Endpoint::new(Arc::new(config), server, false, None),
            connection: None,
            deadline: Deadline::NEVER,
            failure: None,
            buffer: Vec::new(),
            sent_packets: 0,
            sent_bytes: 0,
        })
    }

    fn instant(&self, now: Time) -> Instant {
        self.base + Duration::from_nanos(now.0 / 1000)
    }

    /// Takes the datagram that a packet stands for.
    fn arrive(&mut self, packet: &Packet, now: Time) {
        let Some(datagram) = self.wire.take(1 - self.way, packet.seq) else { return };
        let ecn = match (packet.flags.has(Flags::CE), packet.flags.has(Flags::ECT)) {
            (true, _) => Some(EcnCodepoint::Ce),
            (false, true) => Some(EcnCodepoint::Ect0),
            (false, false) => None,
        };
        let (instant, from) = (self.instant(now), address(1 - self.way));
        let data = BytesMut::from(&datagram[..]);
        let mut answer = Vec::new();
        match self.endpoint.handle(instant, from, None, ecn, data, &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, instant, &mut answer, None) {
                    Ok(made) => self.connection = Some(made),
                    Err(error) => self.failure = Some(error.cause.to_string()),
                }
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Runs timers that are due.
    fn run_timers(&mut self, now: Time) {
        let instant = self.instant(now);
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|at| at <= instant)
        {
            connection.handle_timeout(instant);
        }
    }

    /// What has happened, one event at a time.
    fn poll(&mut self) -> Option<Event> {
        let (handle, connection) = self.connection.as_mut()?;
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        let event = connection.poll()?;
        if let Event::ConnectionLost { reason } = &event {
            self.failure = Some(format!("the connection was lost: {reason}"));
        }
        Some(event)
    }

    /// Sends all that may leave now, and sets the deadline.
    fn transmit(&mut self, ctx: &mut EndpointCtx<'_>) {
        let instant = self.instant(ctx.now);
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(transmit) = connection.poll_transmit(instant, 1, &mut self.buffer) {
            let number = self.wire.put(self.way, &self.buffer[..transmit.size]);
            let mut flags = if self.way == TO_CLIENT { Flags::ACK } else { Flags::default() };
            if self.ecn && transmit.ecn.is_some() {
                flags.set(Flags::ECT);
            }
            let size = (transmit.size + BELOW) as u16;
            ctx.out.send(self.flow, number, size, flags);
            self.sent_packets += 1;
            self.sent_bytes += u64::from(size);
            self.buffer.clear();
        }
        let at = connection.poll_timeout().map_or(Time::MAX, |at| {
            let since = at.saturating_duration_since(self.base).as_nanos() as u64;
            Time(since.saturating_mul(1000)).max(ctx.now)
        });
        if self.failure.is_some() {
            self.deadline = Deadline::FAILED;
        } else if at != self.deadline.at {
            self.deadline = Deadline { at, armed: ctx.now };
        }
    }
}

/// The end that sends data.
struct Client {
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
struct Server {
    end: End,
    stream: Option<StreamId>,
    delivered: u64,
}

impl Server {
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
