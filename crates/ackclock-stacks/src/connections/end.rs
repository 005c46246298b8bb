//! An endpoint of quinn with its only connection, between the engine's packets and its datagrams.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ackclock_core::ids::FlowId;
use ackclock_core::packet::EndsEnv;
use ackclock_core::rng::Stream;
use ackclock_core::tcp::{Deadline, EndpointCtx};
use ackclock_core::units::Time;
use ackclock_core::wire::{Flags, Packet};
use bytes::BytesMut;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, EndpointConfig, Event, ServerConfig,
};

use super::wire::Wire;

/// Bytes of IPv4 and UDP headers.
const BELOW: usize = 28;
/// Directions.
pub(super) const TO_SERVER: usize = 0;
pub(super) const TO_CLIENT: usize = 1;

/// An endpoint of quinn with its only connection, as an end of a flow.
pub(super) struct End {
    pub(super) flow: FlowId,
    /// The direction in which it sends.
    way: usize,
    base: Instant,
    wire: Wire,
    ecn: bool,
    pub(super) endpoint: quinn_proto::Endpoint,
    pub(super) connection: Option<(ConnectionHandle, Connection)>,
    pub(super) deadline: Deadline,
    pub(super) failure: Option<String>,
    buffer: Vec<u8>,
    pub(super) sent_packets: u64,
    pub(super) sent_bytes: u64,
}

pub(super) fn address(way: usize) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, way as u16 + 1))
}

impl End {
    pub(super) fn new(
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

    pub(super) fn instant(&self, now: Time) -> Instant {
        self.base + Duration::from_nanos(now.0 / 1000)
    }

    /// Takes the datagram that a packet stands for.
    pub(super) fn arrive(&mut self, packet: &Packet, now: Time) {
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
    pub(super) fn run_timers(&mut self, now: Time) {
        let instant = self.instant(now);
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|at| at <= instant)
        {
            connection.handle_timeout(instant);
        }
    }

    /// What has happened, one event at a time.
    pub(super) fn poll(&mut self) -> Option<Event> {
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
    pub(super) fn transmit(&mut self, ctx: &mut EndpointCtx<'_>) {
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
