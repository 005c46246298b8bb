//! ns-2's RTT estimator: whole ticks, SRTT with three and RTTVAR with two fractional bits.
//!
//! **Rule** (m: sample in ticks, at least 1):
//! ```text
//! first:  srtt8 = 8 m, rttvar4 = 2 m
//! then:   d = m - srtt8/8;  srtt8 += d;  rttvar4 += |d| - rttvar4/4;  both at least 1
//! RTO   = ((8 rttvar4 + srtt8) / 8) ticks x backoff, bounded by min_rto x backoff and max_rto
//! ```
//! Divisions drop the remainder. The clock that counts ticks runs `boot` ahead of simulated time.

use crate::tcp::TcpConfig;
use crate::units::{Span, Time};

/// RTT estimate, RTO and backoff.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    tick: u64,
    boot: u64,
    min_rto: u64,
    max_rto: u64,
    /// RTO before backoff in picoseconds.
    current: u64,
    multiply_minimum: bool,
    /// Last sample in ticks, 0 before the first.
    pub(super) sample: i32,
    pub(super) srtt8: i32,
    pub(super) rttvar4: i32,
    pub(super) backoff: u32,
}

impl Clock {
    pub(super) fn new(config: &TcpConfig, multiply_minimum: bool) -> Self {
        Self {
            tick: config.tick.0.max(1),
            boot: config.boot.0,
            min_rto: config.min_rto.0,
            max_rto: config.max_rto.0,
            current: config.initial_rto.0,
            multiply_minimum,
            sample: 0,
            srtt8: 0,
            rttvar4: 0,
            backoff: 1,
        }
    }

    /// Ticks on the flow's clock at `time`.
    pub(super) fn ticks(&self, time: Time) -> u64 {
        (time.0 + self.boot) / self.tick
    }

    /// Takes the time between `sent` (in ticks) and `now` as a sample.
    pub(super) fn measure(&mut self, sent: u64, now: Time) {
        self.enter(self.ticks(now).saturating_sub(sent));
    }

    /// Takes a span as a sample, rounded to whole ticks as ns-2 does with timestamps, wherever its ticks begin.
    pub(super) fn measure_rounded(&mut self, span: Span) {
        self.enter((span.seconds() / Span(self.tick).seconds() + 0.5) as u64);
    }

    fn enter(&mut self, ticks: u64) {
        let m = i32::try_from(ticks.max(1)).unwrap_or(i32::MAX / 16).min(i32::MAX / 16);
        self.sample = m;
        if self.srtt8 == 0 {
            self.srtt8 = 8 * m;
            self.rttvar4 = 2 * m;
        } else {
            let d = m - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + d).max(1);
            self.rttvar4 = (self.rttvar4 + d.abs() - (self.rttvar4 >> 2)).max(1);
        }
        let ticks = ((i64::from(self.rttvar4) << 3) + i64::from(self.srtt8)) >> 3;
        self.current = (ticks as u64).saturating_mul(self.tick);
    }

    /// A timeout: doubles the backoff, up to 64 or, by RFC 2988, until the RTO is at its maximum;
    /// beyond 8, SRTT is no longer trusted and moves into RTTVAR.
    pub(super) fn back_off(&mut self) {
        if self.backoff < 64 || (self.multiply_minimum && self.rto().0 < self.max_rto) {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > 8 {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// The retransmission timeout with backoff.
    pub(super) fn rto(&self) -> Span {
        let backoff = u64::from(self.backoff);
        let timeout = if self.multiply_minimum {
            self.current.max(self.min_rto).saturating_mul(backoff)
        } else {
            self.current.saturating_mul(backoff).max(self.min_rto)
        };
        Span(timeout.min(self.max_rto).max(2 * self.tick))
    }

    /// SRTT, zero before the first sample.
    pub(super) fn srtt(&self) -> Span {
        Span((self.srtt8.max(0) as u64).saturating_mul(self.tick) / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::Era;

    #[test]
    fn samples_of_4_5_5_4_ticks_give_the_integers_of_the_reference_trace() {
        let config = TcpConfig::of_era(Era::Ns2);
        let mut clock = Clock::new(&config, true);
        assert_eq!(clock.rto(), Span::from_millis(3000));
        // Boot 0: sent at 0, received at 42.384 ms, that is 4 ticks of 10 ms.
        let mut estimates = Vec::new();
        for ticks in [4, 5, 5, 4] {
            clock.measure(0, Time(ticks * config.tick.0 + 1));
            estimates.push((clock.srtt8, clock.rttvar4));
        }
        assert_eq!(estimates, [(32, 8), (33, 7), (34, 7), (34, 6)]);
        // (8 * 6 + 34) / 8 = 10 ticks = 0.1 s, below the minimum of 0.2 s.
        assert_eq!(clock.rto(), Span::from_millis(200));
        clock.back_off();
        assert_eq!(clock.rto(), Span::from_millis(400));
    }

    /// 12.4 ticks are 12 and 12.5 are 13, wherever the ticks of the clock begin; less than a tick is one.
    #[test]
    fn timestamps_round_to_the_nearest_tick() {
        let mut config = TcpConfig::of_era(Era::Ns2);
        config.boot = Span::from_millis(6);
        for (us, ticks) in [(124_000, 12), (125_100, 13), (134_999, 13), (3_000, 1)] {
            let mut clock = Clock::new(&config, true);
            clock.measure_rounded(Span::from_micros(us));
            assert_eq!((clock.sample, clock.srtt8), (ticks, 8 * ticks));
        }
    }

    #[test]
    fn boot_time_moves_the_tick_boundaries() {
        let mut config = TcpConfig::of_era(Era::Ns2);
        config.boot = Span::from_millis(6);
        let clock = Clock::new(&config, true);
        assert_eq!(clock.ticks(Time(Span::from_millis(3).0)), 0);
        assert_eq!(clock.ticks(Time(Span::from_millis(4).0)), 1);
    }

    #[test]
    fn beyond_a_backoff_of_8_srtt_moves_into_rttvar_and_rto_is_bounded() {
        let config = TcpConfig::of_era(Era::Ns2);
        let mut clock = Clock::new(&config, true);
        clock.measure(0, Time(40 * config.tick.0));
        assert_eq!((clock.srtt8, clock.rttvar4), (320, 80));
        for _ in 0..4 {
            clock.back_off();
        }
        assert_eq!((clock.backoff, clock.srtt8, clock.rttvar4), (16, 0, 120));
        for _ in 0..4 {
            clock.back_off();
        }
        assert_eq!((clock.backoff, clock.rto()), (64, config.max_rto));
    }
}
