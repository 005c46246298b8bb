//! Endpoints of QUIC flows: a sender and a receiver beside those of TCP.
//!
//! What: one stream over one connection, or the streams of a call ([`frames`]). Controls, slow start rules, rate samples and delivery counts are those
//! of TCP; what differs is recovery, timers and signals.
//!
//! **Source**: RFC 9000 (ACK frames: sections 13.2 and 19.3; ECN: 13.4), RFC 9002 (loss detection and congestion
//! control), draft-ietf-quic-ack-frequency (when a receiver answers).
//!
//! **Rule**
//! ```text
//! numbers:  each packet has a number that is used once; what is sent again is a new packet
//! RTT:      from each ACK whose largest number is newly acknowledged, less the delay that it reports
//! lost:     3 numbers below the largest acknowledged, or sent 9/8 max(SRTT, latest RTT) before now, if
//!           something sent later is acknowledged
//! PTO:      SRTT + max(4 RTTVAR, 1 ms) + max_ack_delay, doubled each time; two probes leave, nothing is lost
//! window:   one reduction for what was sent before it; never below 2; to 2 where all is lost for 3 PTOs
//! paced:    1.25 cwnd / SRTT with a burst of the initial window, unless the control has its rate
//! ```
//! On the wire of the engine a data packet carries its number as `seq`, an ACK the largest number; what else they say
//! is in their options (`wire/options.rs`).
//!
//! Deviations: the handshake is a datagram each way; keys, the anti-amplification limit, migration and closing
//! have no model. A packet holds one segment of the stream. An ACK has the four newest ranges, three with ECN.
//! Frames are counted as if in their longest usual form.

mod config;
mod frames;
mod receiver;
mod rtt;
mod sender;
mod sent;
mod stream;
#[cfg(test)]
mod tests;

pub use config::QuicConfig;
pub use frames::FrameStreams;
pub use receiver::{QuicReceiver, QuicReceiverParts};
pub use sender::{QuicSender, QuicSenderParts};

use crate::units::Span;

/// One unit of the delay that an ACK reports: `2^ack_delay_exponent` microseconds (RFC 9000 section 18.2: 3).
const ACK_DELAY_UNIT: Span = Span(8_000_000);
