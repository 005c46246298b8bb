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

mod end;
mod ends;
mod tls;
mod watched;
mod wire;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ackclock_core::error::Problem;
use ackclock_core::packet::{Ends, EndsEnv, Place};
use ackclock_core::quic::QuicConfig;
use ackclock_core::registry::{Entry, Info, Spec, Status};
use ackclock_core::rng::{Purpose, Stream};
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{ClientConfig, ServerConfig, TransportConfig, VarInt};

use crate::controls::Release;
use end::{End, TO_CLIENT, TO_SERVER};
use ends::{Client, Server};
use watched::{Factory, Seen};
use wire::Wire;

/// The crate.
pub const RELEASE: Release = Release { name: "quinn-proto", version: "0.11.19" };

/// Bytes that the client keeps ready to send.
const READY: u64 = 8 << 20;
/// Smallest datagram of QUIC (RFC 9000 section 14).
const LEAST_DATAGRAM: u32 = 1200;

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
    let datagram = f64::from(env.config.max_datagram);
    let sender = Client::new(end(TO_SERVER, None)?, client, seen, env.size, datagram);
    let receiver = Server::new(end(TO_CLIENT, Some(Arc::new(server)))?);
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
