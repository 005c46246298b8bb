//! Connections of noq, a descendant of quinn with several paths and BBR version 3.
//!
//! **Source**: crate `noq-proto`. One path is used.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use bytes::Bytes;
#[cfg(getrandom_backend = "custom")]
use noq_proto::congestion::Bbr3Config;
use noq_proto::congestion::{CubicConfig, NewRenoConfig};
use noq_proto::{FourTuple, PathId, RttEstimator, SendStream, Transmit, WriteError};

use super::{Names, ZEROS};
use crate::controls::Release;

super::library::library!(noq_proto);

/// The crate.
pub(super) const RELEASE: Release = Release { name: "noq-proto", version: "1.4.0" };

/// What a flow may name.
pub(super) const NAMES: Names = &[
    (
        super::shipped_info(
            "noq/cubic",
            "CUBIC of a whole connection of noq",
            "crate noq-proto, congestion/cubic.rs; RFC 8312",
        ),
        super::library::maker!(CubicConfig),
    ),
    (
        super::shipped_info(
            "noq/newreno",
            "NewReno of a whole connection of noq",
            "crate noq-proto, congestion/new_reno.rs; RFC 9002 section 7.3",
        ),
        super::library::maker!(NewRenoConfig),
    ),
    #[cfg(getrandom_backend = "custom")]
    (
        super::shipped_info(
            "noq/bbr3",
            "BBR version 3 of a whole connection of noq",
            "crate noq-proto, congestion/bbr3; draft-ietf-ccwg-bbr",
        ),
        super::library::maker!(Bbr3Config),
    ),
];

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, false)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::new(from, None), ecn, data, answer)
}

fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    buffer: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, buffer)
}

fn write_zeros(stream: &mut SendStream<'_>, most: usize) -> Result<usize, WriteError> {
    stream.write_chunks(&mut &mut [Bytes::from_static(&ZEROS[..most])][..])
}

fn state(connection: &Connection, observed: &Seen) -> State {
    let control = connection.congestion_state(PathId::ZERO);
    State {
        window: control.map_or(0, Controller::window),
        ssthresh: control.and_then(|control| control.metrics().ssthresh),
        srtt: connection.rtt(PathId::ZERO).unwrap_or_default(),
        rtt_min: Duration::from_nanos(observed.rtt_min_ns()),
        lost: observed.lost(),
    }
}

/// Paths do not expire.
fn tune(transport: &mut TransportConfig) {
    transport.default_path_max_idle_timeout(None).default_path_keep_alive_interval(None);
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.seen.sends(bytes);
        self.inner.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.seen.acknowledges(bytes, rtt.min());
        self.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        let before = self.inner.window();
        self.inner.on_congestion_event(
            now,
            sent,
            is_persistent_congestion,
            is_ecn,
            lost_bytes,
            largest_lost_pn,
        );
        self.seen.reduces(lost_bytes, before, self.inner.window());
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.seen.loses_packet();
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }

    super::library::hands_on!();
}
