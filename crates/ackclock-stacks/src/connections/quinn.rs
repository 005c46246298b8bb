//! Connections of quinn.
//!
//! **Source**: crate `quinn-proto`.

use std::net::SocketAddr;

use bytes::Bytes;
#[cfg(getrandom_backend = "custom")]
use quinn_proto::congestion::BbrConfig;
use quinn_proto::congestion::{CubicConfig, NewRenoConfig};
use quinn_proto::{RttEstimator, SendStream, Transmit, WriteError};

use super::{Names, ZEROS};
use crate::controls::Release;

super::library::library!(quinn_proto);

/// The crate.
pub(super) const RELEASE: Release = Release { name: "quinn-proto", version: "0.11.19" };

/// What a flow may name.
pub(super) const NAMES: Names = &[
    (
        super::shipped_info(
            "quinn/cubic",
            "CUBIC of a whole connection of quinn",
            "crate quinn-proto, congestion/cubic.rs; RFC 8312, RFC 9438",
        ),
        super::library::maker!(CubicConfig),
    ),
    (
        super::shipped_info(
            "quinn/newreno",
            "NewReno of a whole connection of quinn",
            "crate quinn-proto, congestion/new_reno.rs; RFC 9002 section 7.3",
        ),
        super::library::maker!(NewRenoConfig),
    ),
    #[cfg(getrandom_backend = "custom")]
    (
        super::shipped_info(
            "quinn/bbr",
            "BBR of a whole connection of quinn",
            "crate quinn-proto, congestion/bbr; Cardwell et al. 2016, by way of Chromium's code",
        ),
        super::library::maker!(BbrConfig),
    ),
];

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

    super::library::hands_on!();
}
