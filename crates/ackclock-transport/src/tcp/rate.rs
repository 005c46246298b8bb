//! Delivery rate and rounds.
//!
//! What: how fast the receiver gets segments, sampled with each acknowledgement; a count of round
//! trips by delivered segments.
//!
//! **Source**: draft-cheng-iccrg-delivery-rate-estimation-02, sections 2 and 3; the round count is
//! that of the BBR draft (draft-cardwell-iccrg-bbr-congestion-control-02 section 4.5.1).
//!
//! **Rule** (P: the segment sent last among those newly acknowledged)
//! ```text
//! rate  = (delivered now - delivered when P left) / (now - P.delivered_at)
//! round = round + 1 when P left after the present round began
//! ```
//! Deviations: the interval is the acknowledgement side only, without the sending side's; a sample over
//! less than the smallest RTT is dropped as the draft says.

use crate::scoreboard::Stamp;
use crate::units::{PS_PER_S, Span, Time};

/// Counts deliveries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deliveries {
    /// Segments delivered in total, SACKed ones included.
    pub(crate) delivered: u64,
    /// When `delivered` was last raised.
    pub(crate) delivered_at: Time,
    /// Round trips so far.
    pub(crate) round: u64,
    /// Segments delivered per second; 0 before the first sample.
    pub(crate) rate: f64,
    next_round: u64,
    app_limited_until: u64,
}

impl Deliveries {
    /// Segments start to leave after nothing was in flight.
    pub(crate) fn restart(&mut self, now: Time) {
        self.delivered_at = now;
    }

    /// The application ran dry with `pipe` segments in flight.
    #[inline]
    pub(crate) fn limit_by_application(&mut self, pipe: u32) {
        self.app_limited_until = self.delivered + u64::from(pipe).max(1);
    }

    /// A timeout wrote off all that was in flight: from now on the window is the limit again.
    pub(crate) fn end_application_limit(&mut self) {
        self.app_limited_until = 0;
    }

    /// Whether segments sent now are marked as limited by the application.
    #[inline]
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until > self.delivered
    }

    /// `count` segments were delivered, the one sent last with `newest`.
    #[inline]
    pub(crate) fn on_delivery(&mut self, now: Time, count: u32, newest: &Stamp, min_rtt: Span) {
        self.delivered += u64::from(count);
        self.delivered_at = now;
        let sent = &newest.record;
        if sent.delivered >= self.next_round {
            self.next_round = self.delivered;
            self.round += 1;
        }
        let interval = now.since(sent.delivered_at);
        if interval.0 > 0 && interval >= min_rtt {
            let segments = self.delivered - sent.delivered;
            self.rate = segments as f64 * PS_PER_S as f64 / interval.0 as f64;
        }
    }

    /// `count` segments were reported by SACK blocks only.
    pub(crate) fn on_sacked(&mut self, now: Time, count: u32) {
        self.delivered += u64::from(count);
        self.delivered_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::SentRecord;

    fn stamp(counts: &Deliveries, now: Time) -> Stamp {
        Stamp {
            record: SentRecord {
                sent_at: now,
                delivered: counts.delivered,
                delivered_at: counts.delivered_at,
                in_flight: 0,
            },
            app_limited: false,
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Windows of 4 every 100 ms: 40 segments per second, one round per window.
    #[test]
    fn a_steady_window_gives_its_rate_and_one_round_per_round_trip() {
        let mut counts = Deliveries::default();
        counts.restart(at(0));
        for window in 0..5u64 {
            let sent = stamp(&counts, at(100 * window));
            for _ in 0..4 {
                counts.on_delivery(at(100 * (window + 1)), 1, &sent, Span::from_millis(100));
            }
            assert_eq!(counts.round, window + 1);
        }
        assert!((counts.rate - 40.0).abs() < 1e-9, "{}", counts.rate);
    }

    #[test]
    fn a_sample_shorter_than_the_smallest_rtt_is_dropped() {
        let mut counts = Deliveries::default();
        let sent = stamp(&counts, at(0));
        counts.on_delivery(at(100), 1, &sent, Span::from_millis(100));
        let late = stamp(&counts, at(100));
        counts.on_delivery(at(101), 50, &late, Span::from_millis(100));
        assert!((counts.rate - 10.0).abs() < 1e-9, "{}", counts.rate);
    }

    #[test]
    fn the_application_limit_ends_when_what_was_in_flight_is_delivered() {
        let mut counts = Deliveries::default();
        counts.limit_by_application(2);
        let sent = stamp(&counts, at(0));
        counts.on_delivery(at(10), 1, &sent, Span::ZERO);
        assert!(counts.is_app_limited());
        counts.on_delivery(at(10), 1, &sent, Span::ZERO);
        assert!(!counts.is_app_limited());
    }
}
