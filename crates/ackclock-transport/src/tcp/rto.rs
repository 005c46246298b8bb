//! Retransmission timeout.
//!
//! What: smoothed round-trip time, its variation, and the timeout that follows from them.
//!
//! **Source**: RFC 6298 sections 2 to 5; Karn & Partridge 1987 (doi:10.1145/55483.55484).
//!
//! **Rule**
//! ```text
//! first sample R:  SRTT = R, RTTVAR = R/2
//! later:           RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|;  SRTT = 7/8 SRTT + 1/8 R
//! RTO = SRTT + max(G, 4 RTTVAR), at least min_rto, at most max_rto
//! era linux:       RTO = SRTT + max(4 RTTVAR, min_rto), at most max_rto (Linux 6.12, `tcp_rtt_estimator`)
//! timeout:         RTO = min(2 RTO, max_rto), kept until the next valid sample
//! ```
//! A sender that measures each segment (RACK, or rate samples) also takes a sample of a segment that was sent once and is
//! reported by SACK, if the timeout is backed off: a repair in which nothing else is sent once would keep it at `max_rto`
//! for minutes (RFC 6298 (5.7) waits for "a new RTT measurement"; RFC 8985 section 6.2 step 1 measures such segments).
//! In era linux it takes one whenever the acknowledgement advances over no segment that was sent once (`tcp_ack_update_rtt`).
//! Other senders measure what is acknowledged only, as section 3 has it, and so keep the backoff, up to 60 s, until a
//! segment that was sent once is: after the last of a window of losses is repaired, not before.
//! Deviations: samples come from the simulator's exact clock; the granularity G enters the formula
//! only. Arithmetic is in whole picoseconds. Linux's RTTVAR also is the largest of a round trip, falls once a round
//! trip, and hardly rises when the round trip becomes shorter.
//!
//! Defaults by era: `TcpConfig` (RFC 6298: minimum 1 s, initial 1 s, maximum 60 s, G 1 ms).

use crate::era::Era;
use crate::tcp::TcpConfig;
use crate::units::Span;

const AFTER_LOST_REQUEST: Span = Span::from_millis(3000);

/// Estimator of the retransmission timeout. Its constants are in the settings, which flows share.
#[derive(Clone, Debug)]
pub struct Rto {
    srtt: u64,
    /// [`Self::NONE`] before the first sample.
    rttvar: u64,
    timeout: u64,
}

impl Rto {
    const NONE: u64 = u64::MAX;

    /// An estimator without samples.
    pub fn new(config: &TcpConfig) -> Self {
        let timeout = config.initial_rto.0.min(config.max_rto.0);
        Self { srtt: 0, rttvar: Self::NONE, timeout }
    }

    /// Takes a sample of a segment that was sent once (Karn's rule is the caller's); ends backoff.
    #[inline]
    pub fn sample(&mut self, rtt: Span, config: &TcpConfig) {
        let r = rtt.0;
        if self.rttvar == Self::NONE {
            self.srtt = r;
            self.rttvar = r / 2;
        } else {
            let error = self.srtt.abs_diff(r);
            self.rttvar = self.rttvar - self.rttvar / 4 + error / 4;
            self.srtt = self.srtt - self.srtt / 8 + r / 8;
        }
        self.timeout = self.estimate(config);
    }

    /// The timeout that follows from the samples, without backoff.
    #[inline]
    fn estimate(&self, config: &TcpConfig) -> u64 {
        let mut variation = config.tick.0.max(self.rttvar.saturating_mul(4));
        if config.era == Era::Linux {
            variation = variation.max(config.min_rto.0);
        }
        let rto = self.srtt.saturating_add(variation);
        rto.max(config.min_rto.0).min(config.max_rto.0)
    }

    /// Whether the timer expired since the last sample.
    pub fn is_backed_off(&self, config: &TcpConfig) -> bool {
        let without = match self.rttvar {
            Self::NONE => config.initial_rto.0.min(config.max_rto.0),
            _ => self.estimate(config),
        };
        self.timeout > without
    }

    /// The timer expired: doubles the timeout.
    pub fn back_off(&mut self, config: &TcpConfig) {
        self.timeout = self.timeout.saturating_mul(2).min(config.max_rto.0);
    }

    /// A connection request was lost: an initial timeout under 3 s becomes 3 s when data begins
    /// (RFC 6298 (5.7)).
    pub fn restart_after_lost_request(&mut self, config: &TcpConfig) {
        if config.initial_rto < AFTER_LOST_REQUEST {
            self.timeout = AFTER_LOST_REQUEST.0.min(config.max_rto.0);
        }
    }

    /// The timeout now.
    #[inline]
    pub fn timeout(&self) -> Span {
        Span(self.timeout)
    }

    /// The smoothed round-trip time; zero before the first sample.
    #[inline]
    pub fn srtt(&self) -> Span {
        Span(self.srtt)
    }

    /// The variation of the round-trip time; zero before the first sample.
    pub fn rttvar(&self) -> Span {
        Span(if self.rttvar == Self::NONE { 0 } else { self.rttvar })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(min_ms: u64) -> (Rto, TcpConfig) {
        let mut config = TcpConfig::of_era(Era::Rfc);
        config.min_rto = Span::from_millis(min_ms);
        (Rto::new(&config), config)
    }

    /// By hand: 800 ms gives SRTT 800, VAR 400, RTO 2400. Then 400 ms: VAR = 300 + 100 = 400,
    /// SRTT = 700 + 50 = 750, RTO 2350. Then 750 ms: VAR = 300, SRTT 750, RTO 1950.
    #[test]
    fn three_samples_by_hand() {
        let (mut rto, config) = estimator(1000);
        for (sample, srtt, var, timeout) in
            [(800, 800, 400, 2400), (400, 750, 400, 2350), (750, 750, 300, 1950)]
        {
            rto.sample(Span::from_millis(sample), &config);
            assert_eq!(rto.srtt(), Span::from_millis(srtt));
            assert_eq!(rto.rttvar(), Span::from_millis(var));
            assert_eq!(rto.timeout(), Span::from_millis(timeout));
        }
    }

    #[test]
    fn starts_at_one_second_and_is_never_below_the_minimum() {
        let (mut rto, config) = estimator(1000);
        assert_eq!(rto.timeout(), Span::from_millis(1000));
        rto.sample(Span::from_millis(10), &config);
        assert_eq!(rto.timeout(), Span::from_millis(1000));
    }

    #[test]
    fn a_steady_path_leaves_srtt_plus_granularity() {
        let (mut rto, config) = estimator(0);
        for _ in 0..200 {
            rto.sample(Span::from_millis(64), &config);
        }
        let ms = rto.timeout().seconds() * 1e3;
        assert!((ms - 65.0).abs() < 1e-3, "{ms}");
    }

    #[test]
    fn backoff_doubles_to_the_maximum_and_ends_with_a_sample() {
        let (mut rto, config) = estimator(1000);
        rto.sample(Span::from_millis(100), &config);
        let timeouts_s: Vec<u64> = (0..8)
            .map(|_| {
                rto.back_off(&config);
                rto.timeout().0 / 1_000_000_000_000
            })
            .collect();
        assert_eq!(timeouts_s, [2, 4, 8, 16, 32, 60, 60, 60]);
        assert!(rto.is_backed_off(&config));
        rto.sample(Span::from_millis(100), &config);
        assert!(!rto.is_backed_off(&config));
        assert_eq!(rto.timeout(), Span::from_millis(1000));
    }

    #[test]
    fn a_lost_request_sets_a_short_initial_timeout_to_three_seconds() {
        let (mut rto, config) = estimator(1000);
        rto.back_off(&config);
        rto.back_off(&config);
        rto.restart_after_lost_request(&config);
        assert_eq!(rto.timeout(), Span::from_millis(3000));
        let mut config = TcpConfig::of_era(Era::Y2002);
        config.initial_rto = Span::from_millis(6000);
        let mut rto = Rto::new(&config);
        rto.restart_after_lost_request(&config);
        assert_eq!(rto.timeout(), Span::from_millis(6000));
        // Never above the greatest.
        let (_, mut config) = estimator(1000);
        config.max_rto = Span::from_millis(2000);
        let mut rto = Rto::new(&config);
        rto.restart_after_lost_request(&config);
        assert_eq!(rto.timeout(), Span::from_millis(2000));
    }
}
