//! What a control that models the path learns of each acknowledgement and of each loss.
//!
//! **Source**: draft-ietf-ccwg-bbr-06, "Delivery Rate Samples" and "Per-ACK Rate Sample State".
//!
//! Data is counted in segments. The draft's `C` is the connection, `P` the packet sent last among those
//! that the acknowledgement newly reports as delivered.

use crate::units::{PS_PER_S, Span, Time};

/// The draft's `RS`: the rate sample of one acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// The acknowledgement reports new deliveries; without them only the losses below say something.
    pub has_data: bool,
    /// Segments newly delivered, cumulatively or by SACK blocks (`RS.newly_acked`).
    pub newly_acked: u32,
    /// Segments newly declared lost (`RS.newly_lost`).
    pub newly_lost: u32,
    /// Segments delivered between the transmission of P and now (`RS.delivered`).
    pub delivered: u64,
    /// Length of the sampling interval: the longer of the next two.
    pub interval: Span,
    /// From the first send of P's flight to the transmission of P.
    pub send_elapsed: Span,
    /// From the last delivery before P left to now.
    pub ack_elapsed: Span,
    /// Delivered segments per second; 0 if the interval is no sound sample.
    pub delivery_rate: f64,
    /// Segments delivered in total when P left (`P.delivered`).
    pub prior_delivered: u64,
    /// When that count was last raised before P left (`P.delivered_time`).
    pub prior_time: Time,
    /// The application limited the sender when P left.
    pub is_app_limited: bool,
    /// When P left.
    pub sent_at: Time,
    /// Segments in flight just after P left, P included.
    pub tx_in_flight: u32,
    /// Segments declared lost between the transmission of P and now (`RS.lost`).
    pub lost: u64,
    /// Round-trip time of the segment sent last among those delivered that were sent once.
    pub rtt: Option<Span>,
    /// Segments lost in total.
    pub total_lost: u64,
    /// The window was full at some time in the last packet-timed round trip (`C.is_cwnd_limited`).
    pub is_cwnd_limited: bool,
    /// The sender repairs losses now, after duplicates or a timeout.
    pub in_recovery: bool,
    /// The receiver reports by SACK blocks, so more than one loss a round trip can be found.
    pub has_selective_acks: bool,
}

impl RateSample {
    /// Completes interval and rate from what was delivered and the two elapsed times.
    ///
    /// An interval below the smallest round trip gives no rate: the packet was sent again needlessly, and
    /// the acknowledgement is of its first transmission.
    pub fn complete(&mut self, min_rtt: Span) {
        self.interval = self.send_elapsed.max(self.ack_elapsed);
        self.delivery_rate = 0.0;
        if self.interval.0 > 0 && self.interval >= min_rtt {
            self.delivery_rate = self.delivered as f64 * PS_PER_S as f64 / self.interval.0 as f64;
        }
    }
}

/// A segment that was declared lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// The present.
    pub now: Time,
    /// Its number.
    pub seq: u32,
    /// When it left.
    pub sent_at: Time,
    /// Segments in flight just after it left, itself included.
    pub tx_in_flight: u32,
    /// Segments declared lost since it left, itself included.
    pub lost: u64,
    /// The application limited the sender when it left.
    pub is_app_limited: bool,
    /// Segments delivered in total.
    pub delivered: u64,
    /// The receiver reports by SACK blocks.
    pub has_selective_acks: bool,
    /// Congestion is persistent by this loss or one declared together with it (RFC 9002 section 7.6).
    pub persistent: bool,
}

impl Lost {
    /// A loss of segment `seq` at `now` with everything else neutral; for controls that are driven by hand.
    pub fn at(now: Time, seq: u32) -> Self {
        Self {
            now,
            seq,
            sent_at: now,
            tx_in_flight: 1,
            lost: 1,
            is_app_limited: false,
            delivered: 0,
            has_selective_acks: true,
            persistent: false,
        }
    }
}
