//! QUIC settings as the user describes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Span;

/// What carries a flow's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP.
    #[default]
    Tcp,
    /// QUIC (RFC 9000, 9002).
    Quic,
}

/// QUIC settings; whatever is left out is as in RFC 9000 and 9002.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QuicOptions {
    /// Bytes of a full datagram, without IP and UDP headers. Left out: 1200.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1200, max = 65_000), extend("x-unit" = "B"))]
    pub max_datagram: Option<u32>,
    /// Initial window in packets. Left out: 10, at most 14,720 bytes or two packets (RFC 9002 section 7.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_048_576), extend("x-unit" = "packets"))]
    pub initial_window: Option<u32>,
    /// Packets that flow control lets beyond what is acknowledged in order. Left out: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2), extend("x-unit" = "packets"))]
    pub receiver_window: Option<u32>,
    /// A handshake of one round trip before data; without it data leave at once (0-RTT). Left out: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// Longest delay of an ACK. Left out: 25 ms (RFC 9000 section 18.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ack_delay: Option<Span>,
    /// Packets that the receiver may leave unacknowledged; it acknowledges with the one after (`ACK_FREQUENCY` frame of
    /// draft-ietf-quic-ack-frequency). Left out: 1, so that every second packet is acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "packets"))]
    pub ack_eliciting_threshold: Option<u32>,
    /// The receiver acknowledges at once when a number so far below the largest is newly missing; 0: never for
    /// that reason. Left out: at once with every packet out of order (RFC 9000 section 13.2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "packets"))]
    pub reordering_threshold: Option<u32>,
    /// A packet so many numbers below the largest acknowledged is lost (`kPacketThreshold`). Left out: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-unit" = "packets"))]
    pub packet_threshold: Option<u32>,
    /// A packet sent so many round trips before now is lost if a later one is acknowledged (`kTimeThreshold`). Left
    /// out: 9/8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000), extend("x-unit" = "round trips"))]
    pub time_threshold: Option<f64>,
    /// Granularity of timers (`kGranularity`). Left out: 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001))]
    pub granularity: Option<Span>,
    /// Round-trip time that is assumed before the first sample (`kInitialRtt`). Left out: 333 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001))]
    pub initial_rtt: Option<Span>,
    /// Probe timeouts for which all must be lost to make congestion persistent
    /// (`kPersistentCongestionThreshold`). Left out: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub persistent_congestion_threshold: Option<f64>,
    /// N of the pacing rate N cwnd / SRTT, for controls without a pacing rate; 0: no pacing. Left out: 1.25 (RFC
    /// 9002 section 7.7).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub pacing_factor: Option<f64>,
    /// Packets that the pacer lets leave at once after a pause. Left out: the initial window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576), extend("x-unit" = "packets"))]
    pub pacing_burst: Option<u32>,
    /// ECN (RFC 9000 section 13.4). Left out: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
}

impl QuicOptions {
    /// These settings, and those of `base` where they are silent.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        let mut all = base.clone();
        macro_rules! take {
            ($($field:ident),+) => { $( if self.$field.is_some() { all.$field = self.$field; } )+ };
        }
        take!(
            max_datagram,
            initial_window,
            receiver_window,
            handshake,
            max_ack_delay,
            ack_eliciting_threshold,
            reordering_threshold,
            packet_threshold,
            time_threshold,
            granularity,
            initial_rtt,
            persistent_congestion_threshold,
            pacing_factor,
            pacing_burst,
            ecn
        );
        all
    }
}
