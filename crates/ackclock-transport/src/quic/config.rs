//! A flow's QUIC settings with nothing left open.
//!
//! **Source**: RFC 9000 sections 14 (datagrams of 1200 bytes), 17.3.1 and 19.8 (headers), 18.2 (`max_ack_delay`); RFC
//! 9002 sections 6.1, 6.2, 7.2, 7.6, 7.7 and appendices A.2 and B.2 (constants).

use crate::scenario::QuicOptions;
use crate::tcp::TcpConfig;
use crate::units::Span;

/// Bytes of a datagram that are no data of the stream: a short header with an 8-byte connection ID and a 4-byte
/// packet number (13), the tag of the AEAD (16), the head of a STREAM frame with an 8-byte offset (10).
const OVERHEAD: u32 = 39;
/// Bytes of IPv4 and UDP headers.
pub(super) const BELOW: u32 = 28;
/// Bytes of a datagram with an ACK frame of one range: short header and tag (29), type, largest number (4), delay
/// (2), count, first range (2).
const ACK_BYTES: u32 = 39;
/// Bytes of each further range of an ACK: gap and length.
pub(super) const RANGE_BYTES: u32 = 4;
/// Bytes of the three counts of ECN in an ACK.
pub(super) const COUNTS_BYTES: u32 = 12;
/// Smallest window in packets (RFC 9002 appendix B.2: `kMinimumWindow`).
pub(super) const MIN_WINDOW: f64 = 2.0;
/// Bytes of the datagrams of a handshake (RFC 9000 section 14.1).
pub(super) const HANDSHAKE_BYTES: u32 = 1200;

/// QUIC settings of one flow, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct QuicConfig {
    /// Bytes of a full datagram, the payload of UDP.
    pub max_datagram: u32,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Packets of the stream that the receiver's flow control lets beyond what is acknowledged.
    pub receiver_window: u32,
    /// Handshake before data; without it data leave at once, as 0-RTT.
    pub handshake: bool,
    /// Longest delay of an ACK.
    pub max_ack_delay: Span,
    /// Packets that the receiver leaves unacknowledged: it answers the one after.
    pub ack_eliciting_threshold: u32,
    /// Gap at which the receiver answers at once; `None`: as RFC 9000, 0: never.
    pub reordering_threshold: Option<u32>,
    /// `kPacketThreshold`.
    pub packet_threshold: u32,
    /// `kTimeThreshold`.
    pub time_threshold: f64,
    /// `kGranularity`.
    pub granularity: Span,
    /// `kInitialRtt`.
    pub initial_rtt: Span,
    /// `kPersistentCongestionThreshold`.
    pub persistent_congestion_threshold: f64,
    /// N of the pacing rate N cwnd / SRTT; 0: no pacing but the control's.
    pub pacing_factor: f64,
    /// Packets that may leave at once; the initial window if left out.
    pub pacing_burst: u32,
    /// ECN.
    pub ecn: bool,
}

impl QuicConfig {
    /// The defaults, and over them what `options` say.
    pub fn of(options: &QuicOptions) -> Self {
        let max_datagram = options.max_datagram.unwrap_or(1200);
        // RFC 9002 section 7.2: ten datagrams, at most 14,720 bytes or two datagrams.
        let most = 14_720.max(2 * u64::from(max_datagram)) / u64::from(max_datagram.max(1));
        let initial_window = options.initial_window.unwrap_or(most.min(10) as u32);
        Self {
            max_datagram,
            initial_window,
            receiver_window: options.receiver_window.unwrap_or(u32::MAX / 2),
            handshake: options.handshake.unwrap_or(true),
            max_ack_delay: options.max_ack_delay.unwrap_or(Span::from_millis(25)),
            ack_eliciting_threshold: options.ack_eliciting_threshold.unwrap_or(1),
            reordering_threshold: options.reordering_threshold,
            packet_threshold: options.packet_threshold.unwrap_or(3),
            time_threshold: options.time_threshold.unwrap_or(9.0 / 8.0),
            granularity: options.granularity.unwrap_or(Span::from_millis(1)),
            initial_rtt: options.initial_rtt.unwrap_or(Span::from_millis(333)),
            persistent_congestion_threshold: options.persistent_congestion_threshold.unwrap_or(3.0),
            pacing_factor: options.pacing_factor.unwrap_or(1.25),
            pacing_burst: options.pacing_burst.unwrap_or(initial_window),
            ecn: options.ecn.unwrap_or(false),
        }
    }

    /// Bytes of the stream in a full packet.
    pub fn segment(&self) -> u32 {
        self.max_datagram.saturating_sub(OVERHEAD).max(1)
    }

    /// What these settings are to parts that know TCP's: sizes on the wire, and how often is acknowledged.
    #[must_use]
    pub fn over(&self, tcp: &TcpConfig) -> TcpConfig {
        TcpConfig {
            mss: self.segment(),
            header: OVERHEAD + BELOW,
            ack_size: ACK_BYTES + BELOW,
            initial_window: self.initial_window,
            receiver_window: self.receiver_window,
            initial_ssthresh: f64::INFINITY,
            delayed_ack: self.ack_eliciting_threshold.saturating_add(1),
            delayed_ack_timeout: self.max_ack_delay,
            syn: self.handshake,
            timestamps: false,
            ecn: self.ecn,
            accecn: false,
            aqt: false,
            eifel: false,
            ..tcp.clone()
        }
    }

    /// Bytes on the wire of a full packet.
    pub(super) fn wire_size(&self) -> u32 {
        self.max_datagram + BELOW
    }

    /// Bytes on the wire of a packet with `payload` bytes of the stream.
    pub(super) fn data_size(payload: u32) -> u16 {
        (payload + OVERHEAD + BELOW) as u16
    }

    /// Bytes on the wire of an ACK with so many ranges beyond its first.
    pub(super) fn ack_size(&self, further: u32) -> u16 {
        let counts = if self.ecn { COUNTS_BYTES } else { 0 };
        (ACK_BYTES + BELOW + RANGE_BYTES * further + counts) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9002 section 7.2: 10 x 1200 = 12,000; 14,720 / 1472 = 10; 14,720 / 4000 = 3.68; 2 of 9000.
    #[test]
    fn the_initial_window_is_ten_datagrams_and_at_most_14720_bytes_or_two() {
        for (datagram, window) in [(1200, 10), (1472, 10), (1500, 9), (4000, 3), (9000, 2)] {
            let options = QuicOptions { max_datagram: Some(datagram), ..QuicOptions::default() };
            assert_eq!(QuicConfig::of(&options).initial_window, window, "{datagram}");
        }
    }

    #[test]
    fn a_full_packet_is_a_datagram_and_the_headers_below_it() {
        let config = QuicConfig::of(&QuicOptions::default());
        assert_eq!((config.segment(), config.wire_size()), (1161, 1228));
        assert_eq!(u32::from(QuicConfig::data_size(config.segment())), config.wire_size());
    }
}
