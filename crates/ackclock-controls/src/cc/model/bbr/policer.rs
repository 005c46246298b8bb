//! How Linux's BBR finds a policer, and follows the rate that it lets through.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_bbr.c` (the behaviour of its long-term bandwidth sampling, `lt_bw`); Flach et al.,
//! "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016 (doi:10.1145/2934872.2934873), on what policers do.
//!
//! **Rule** (an interval of 4 to 16 rounds; its rate: deliveries in it / its length)
//! ```text
//! interval:  begins with the first loss, so that the bucket is empty; a sample limited by the application or more
//!            than 16 rounds: all anew
//! ends:      after at least 4 rounds, with a loss, where losses >= 50/256 of the deliveries
//! policed:   its rate is within 1/8 of that of the interval before, or within 4 kbit/s: bw = their mean, in place of the
//!            largest rate, and gain 1 in ProbeBW, for 48 rounds of ProbeBW; then all anew
//! ```

use crate::cc::RateSample;
use crate::units::Time;

const FEWEST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * FEWEST_ROUNDS;
const LOSS_SHARE: f64 = 50.0 / 256.0;
const RATIO: f64 = 1.0 / 8.0;
/// Bits per second.
const DIFFERENCE: f64 = 4000.0;
const ROUNDS_IN_USE: u32 = 48;

/// What the sampling does to the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    /// The rate is no longer used: the cycle of gains begins anew.
    Released,
}

/// The sampling; rates in segments per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    /// Of the last interval, or the mean of two; 0: none.
    bw: f64,
    in_use: bool,
    is_sampling: bool,
    began: Time,
    delivered: u64,
    lost: u64,
    rounds: u32,
}

impl Policer {
    /// The rate to use in place of the largest.
    pub(super) fn bw(&self) -> Option<f64> {
        self.in_use.then_some(self.bw)
    }

    fn begin_interval(&mut self, now: Time, delivered: u64, lost: u64) {
        (self.began, self.delivered, self.lost, self.rounds) = (now, delivered, lost, 0);
    }

    /// Begins all anew.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// An acknowledgement; `round`: it ended a round trip, `probes`: in `ProbeBW`; `bits`: of a segment, paced.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        delivered: u64,
        rs: &RateSample,
        round: bool,
        probes: bool,
        bits: f64,
    ) -> Change {
        if self.in_use {
            self.rounds += u32::from(probes && round);
            if probes && round && self.rounds >= ROUNDS_IN_USE {
                self.reset();
                return Change::Released;
            }
            return Change::Nothing;
        }
        if !self.is_sampling {
            if rs.newly_lost == 0 {
                return Change::Nothing;
            }
            self.begin_interval(now, delivered, rs.total_lost);
            self.is_sampling = true;
        }
        if rs.is_app_limited {
            self.reset();
            return Change::Nothing;
        }
        self.rounds += u32::from(round);
        if self.rounds > MOST_ROUNDS {
            self.reset();
        } else if self.rounds >= FEWEST_ROUNDS && rs.newly_lost > 0 {
            self.end_interval(now, delivered, rs.total_lost, bits);
        }
        Change::Nothing
    }

    fn end_interval(&mut self, now: Time, delivered: u64, lost: u64, bits: f64) {
        let count = (delivered - self.delivered) as f64;
        let seconds = now.since(self.began).seconds();
        if count == 0.0 || ((lost - self.lost) as f64) < LOSS_SHARE * count || seconds < 1e-3 {
            return;
        }
        let bw = count / seconds;
        let by = (bw - self.bw).abs();
        if self.bw > 0.0 && (by <= RATIO * self.bw || by * bits <= DIFFERENCE) {
            self.bw = f64::midpoint(bw, self.bw);
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.bw = bw;
            self.begin_interval(now, delivered, lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    /// A path that lets 1000 segments a second through and drops a share of the rest: rounds of 100 ms.
    struct Path {
        policer: Policer,
        now: Time,
        delivered: u64,
        lost: u64,
    }

    impl Path {
        fn new() -> Self {
            Self { policer: Policer::default(), now: Time::ZERO, delivered: 0, lost: 0 }
        }

        /// A round that delivers and loses so many.
        fn round(&mut self, delivered: u64, lost: u64) -> Change {
            self.now += Span::from_millis(100);
            self.delivered += delivered;
            self.lost += lost;
            let rs = RateSample {
                has_data: true,
                newly_lost: lost as u32,
                total_lost: self.lost,
                ..RateSample::default()
            };
            self.policer.on_ack(self.now, self.delivered, &rs, true, true, 11_584.0)
        }
    }

    /// The first loss begins an interval and counts as its first round, so three more end it; four end the next.
    #[test]
    fn two_intervals_of_one_rate_and_a_fifth_lost_are_a_policer() {
        let mut path = Path::new();
        for _ in 0..8 {
            assert_eq!(path.policer.bw(), None);
            path.round(100, 25);
        }
        assert_eq!(path.policer.bw(), Some(1000.0));
    }

    /// 19 % of the deliveries are fewer than 50/256.
    #[test]
    fn fewer_losses_are_no_policer() {
        let mut path = Path::new();
        for _ in 0..60 {
            path.round(100, 19);
            assert_eq!(path.policer.bw(), None);
        }
    }

    /// 1000 and then 1200 a second: a fifth apart, and the third interval is compared with the second.
    #[test]
    fn intervals_of_unlike_rates_are_no_policer_and_the_later_is_what_counts() {
        let mut path = Path::new();
        for _ in 0..4 {
            path.round(100, 50);
        }
        for _ in 0..4 {
            path.round(120, 50);
        }
        assert_eq!(path.policer.bw(), None);
        for _ in 0..4 {
            path.round(110, 50);
        }
        assert!((path.policer.bw().unwrap() - 1150.0).abs() < 1e-6);
    }

    #[test]
    fn the_rate_is_used_for_48_rounds() {
        let mut path = Path::new();
        for _ in 0..8 {
            path.round(100, 25);
        }
        for _ in 0..47 {
            assert_eq!(path.round(100, 0), Change::Nothing);
        }
        assert!(path.policer.bw().is_some());
        assert_eq!(path.round(100, 0), Change::Released);
        assert_eq!(path.policer.bw(), None);
    }

    #[test]
    fn a_sample_that_the_application_limited_begins_all_anew() {
        let mut path = Path::new();
        for _ in 0..6 {
            path.round(100, 25);
        }
        let rs = RateSample { has_data: true, is_app_limited: true, ..RateSample::default() };
        path.policer.on_ack(path.now, path.delivered, &rs, false, true, 11_584.0);
        for _ in 0..7 {
            path.round(100, 25);
            assert_eq!(path.policer.bw(), None);
        }
        path.round(100, 25);
        assert!(path.policer.bw().is_some());
    }
}
