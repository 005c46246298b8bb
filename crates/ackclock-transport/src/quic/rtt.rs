//! Round-trip times of a QUIC connection, and what follows from them.
//!
//! **Source**: RFC 9002 section 5 and appendix A.7; sections 6.1.2 and 6.2.1.
//!
//! **Rule** (R: latest RTT, D: delay that the receiver reports, at most `max_ack_delay`)
//! ```text
//! min_rtt = min(min_rtt, R)
//! R' = R - D if R >= min_rtt + D, else R
//! first:  SRTT = R, RTTVAR = R / 2
//! later:  RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R'|,  SRTT = 7/8 SRTT + 1/8 R'
//! ```
//! Section 5.3 writes the second update first, appendix A.7 this order, which is that of RFC 6298.

use super::QuicConfig;
use crate::units::{Span, Time};

/// The estimator.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    latest: Span,
    smoothed: u64,
    variation: u64,
    min: Span,
    first_sample: Option<Time>,
}

impl Rtt {
    /// Before the first sample SRTT is `kInitialRtt` and RTTVAR half of it.
    pub(super) fn new(config: &QuicConfig) -> Self {
        let initial = config.initial_rtt;
        Self {
            latest: Span::ZERO,
            smoothed: initial.0,
            variation: initial.0 / 2,
            min: Span::MAX,
            first_sample: None,
        }
    }

    /// Takes a sample, and returns it without the receiver's delay.
    pub(super) fn sample(&mut self, latest: Span, delay: Span, now: Time) -> Span {
        self.latest = latest;
        if self.first_sample.is_none() {
            self.first_sample = Some(now);
            self.min = latest;
            self.smoothed = latest.0;
            self.variation = latest.0 / 2;
            return latest;
        }
        self.min = self.min.min(latest);
        let adjusted = if latest.0 >= self.min.0.saturating_add(delay.0) {
            latest.0 - delay.0
        } else {
            latest.0
        };
        let error = self.smoothed.abs_diff(adjusted);
        self.variation = self.variation - self.variation / 4 + error / 4;
        self.smoothed = self.smoothed - self.smoothed / 8 + adjusted / 8;
        Span(adjusted)
    }

    /// Section 5.2: after persistent congestion the path may be another.
    pub(super) fn forget_min(&mut self) {
        self.min = self.latest;
    }

    /// The smallest sample; zero before the first.
    pub(super) fn min(&self) -> Span {
        if self.min == Span::MAX { Span::ZERO } else { self.min }
    }

    /// SRTT; zero before the first sample.
    pub(super) fn srtt(&self) -> Span {
        if self.first_sample.is_some() { Span(self.smoothed) } else { Span::ZERO }
    }

    /// When the first sample came.
    pub(super) fn first_sample(&self) -> Option<Time> {
        self.first_sample
    }

    /// The period of the probe timer without its backoff; `delay`: `max_ack_delay`, 0 in the handshake.
    pub(super) fn probe_timeout(&self, granularity: Span, delay: Span) -> Span {
        let variation = self.variation.saturating_mul(4).max(granularity.0);
        Span(self.smoothed.saturating_add(variation).saturating_add(delay.0))
    }

    /// How long a packet may be outstanding when later ones are acknowledged.
    pub(super) fn loss_delay(&self, config: &QuicConfig) -> Span {
        let longest = self.latest.0.max(self.smoothed) as f64;
        Span(((longest * config.time_threshold) as u64).max(config.granularity.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::QuicOptions;

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }

    /// 100 ms: SRTT 100, VAR 50. Then 148 ms of which the receiver held it 20: 128; VAR = 37.5 + 7 = 44.5,
    /// SRTT = 87.5 + 16 = 103.5. Then 110 with a delay of 20 would be below the minimum of 100: 110 as it is;
    /// VAR = 33.375 + 1.625 = 35, SRTT = 90.5625 + 13.75 = 104.3125.
    #[test]
    fn the_reported_delay_is_taken_off_unless_that_leads_below_the_minimum() {
        let config = QuicConfig::of(&QuicOptions::default());
        let mut rtt = Rtt::new(&config);
        let now = Time::ZERO;
        assert_eq!(rtt.sample(ms(100), ms(20), now), ms(100));
        assert_eq!(rtt.sample(ms(148), ms(20), now), ms(128));
        assert_eq!((rtt.variation, rtt.smoothed), (44_500_000_000, 103_500_000_000));
        assert_eq!(rtt.sample(ms(110), ms(20), now), ms(110));
        assert_eq!((rtt.variation, rtt.smoothed), (35_000_000_000, 104_312_500_000));
        assert_eq!(rtt.min(), ms(100));
        // 9/8 of the SRTT of 104.3125 ms is less than 9/8 of the latest, 110 ms.
        assert_eq!(rtt.loss_delay(&config), Span(123_750_000_000));
        assert_eq!(rtt.probe_timeout(config.granularity, ms(25)), Span(269_312_500_000));
    }

    /// Section 6.2.1: where nothing varies, 50 ms and the granularity of 1 ms, or four times the variation if that is more.
    #[test]
    fn the_timeout_is_above_the_round_trip_by_the_granularity_at_least() {
        let config = QuicConfig::of(&QuicOptions::default());
        let mut rtt = Rtt::new(&config);
        for _ in 0..100 {
            rtt.sample(ms(50), Span::ZERO, Time::ZERO);
        }
        let above = |granularity, delay| {
            let timeout = rtt.probe_timeout(granularity, delay);
            Span(timeout.0 - rtt.smoothed)
        };
        assert_eq!(above(config.granularity, Span::ZERO), config.granularity);
        assert_eq!(above(ms(4), ms(25)), ms(29));
        assert!(above(Span::ZERO, Span::ZERO) < Span::from_micros(1));
    }

    /// Section 6.2.2: 333 + 4 x 166.5 = 999 ms, "resulting in a 1-second initial timeout".
    #[test]
    fn before_the_first_sample_the_timeout_is_three_initial_rtts() {
        let config = QuicConfig::of(&QuicOptions::default());
        let rtt = Rtt::new(&config);
        assert_eq!(rtt.probe_timeout(config.granularity, Span::ZERO), ms(999));
        assert_eq!((rtt.srtt(), rtt.min()), (Span::ZERO, Span::ZERO));
    }
}
