//! Connections of quinn.
//!
//! **Source**: crate `quinn-proto`.

use std::any::Any;
use std::net::SocketAddr;

use bytes::Bytes;
use quinn_proto::congestion::{ControllerMetrics, CubicConfig, NewRenoConfig};
use quinn_proto::{RttEstimator, SendStream, Transmit, WriteError};

use super::{Maker, Names, ZEROS};
use crate::controls::Release;

super::library::library!(quinn_proto);

/// The crate.
pub(super) const RELEASE: Release = Release { name: "quinn-proto", version: "0.11.19" };

/// What a flow may name.
pub(super) const NAMES: Names = &[
    (
        super::shipped(
            "quinn/cubic",
            "CUBIC of a whole connection of quinn",
            "crate quinn-proto, congestion/cubic.rs; RFC 8312, RFC 9438",
        ),
        |env, first| {
            let mut config = CubicConfig::default();
            make(env, Arc::new(config.initial_window(first).clone()))
        },
    ),
    (
        super::shipped(
            "quinn/newreno",
            "NewReno of a whole connection of quinn",
            "crate quinn-proto, congestion/new_reno.rs; RFC 9002 section 7.3",
        ),
        |env, first| {
            let mut config = NewRenoConfig::default();
            make(env, Arc::new(config.initial_window(first).clone()))
        },
    ),
    #[cfg(getrandom_backend = "custom")]
    (
        super::shipped(
            "quinn/bbr",
            "BBR of a whole connection of quinn",
            "crate quinn-proto, congestion/bbr; Cardwell et al. 2016, by way of Chromium's code",
        ),
        BBR,
    ),
];

#[cfg(getrandom_backend = "custom")]
const BBR: Maker = |env, first| {
    let mut config = quinn_proto::congestion::BbrConfig::default();
    make(env, Arc::new(config.initial_window(first).clone()))
};

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, false, None)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, ecn, data, answer)
}

fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    buffer: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, 1, buffer)
}

fn write_zeros(stream: &mut SendStream<'_>, most: usize) -> Result<usize, WriteError> {
    Ok(stream.write_chunks(&mut [Bytes::from_static(&ZEROS[..most])])?.bytes)
}

fn state(connection: &Connection, _: &Seen) -> State {
    let control = connection.congestion_state();
    let path = connection.stats().path;
    State {
        window: control.window(),
        ssthresh: control.metrics().ssthresh,
        srtt: path.rtt,
        rtt_min: path.min_rtt,
        lost: path.lost_packets,
    }
}

fn tune(_: &mut TransportConfig) {}

/// A controller that can be watched: it hands every call on, and notes what it was called with.
struct Watched {
    inner: Box<dyn Controller>,
    seen: Arc<Seen>,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.seen.sends(bytes);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.seen.acknowledges(bytes, rtt.min());
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.seen.ends_acks(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let before = self.inner.window();
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        self.seen.reduces(lost_bytes, before, self.inner.window());
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), seen: Arc::clone(&self.seen) })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
