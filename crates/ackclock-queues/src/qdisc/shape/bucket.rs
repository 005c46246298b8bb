//! A token bucket in whole numbers: no rounding lets more through than rate and burst allow.

use crate::error::Problem;
use crate::units::{BitRate, Bytes, PS_PER_S, Span, Time};

/// Tokens that come at `rate` and are kept up to `size`. One token is a bit per second for a picosecond,
/// 10^-12 bit: a rate times a time is a whole number of them.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    rate: BitRate,
    size: u128,
    level: u128,
    /// When `level` was true.
    at: Time,
}

/// The tokens that some bytes cost.
fn cost(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * u128::from(PS_PER_S)
}

impl Bucket {
    /// A full bucket at the start of the run.
    pub(crate) fn new(rate: BitRate, size: Bytes) -> Self {
        Self { rate, size: cost(size.0), level: cost(size.0), at: Time::ZERO }
    }

    /// A full bucket that holds a packet of a link, whose typical packet has `packet` bytes.
    pub(crate) fn for_packets(rate: BitRate, burst: Bytes, packet: u32) -> Result<Self, Problem> {
        if burst.0 < u64::from(packet) {
            let expected = format!("at least a packet of this link, {packet} B");
            return Err(Problem::out_of_range("burst", format!("{} B", burst.0), &expected));
        }
        Ok(Self::new(rate, burst))
    }

    /// Whether a packet of `size` bytes can ever have enough tokens.
    pub(crate) fn admits(&self, size: u16) -> bool {
        cost(u64::from(size)) <= self.size
    }

    /// Takes the tokens of a packet, if there are enough.
    pub(crate) fn take(&mut self, size: u16, now: Time) -> bool {
        let come = u128::from(self.rate.0) * u128::from(now.since(self.at).0);
        self.level = (self.level + come).min(self.size);
        self.at = now;
        let needed = cost(u64::from(size));
        let has = self.level >= needed;
        if has {
            self.level -= needed;
        }
        has
    }

    /// When there are enough tokens for a packet that [`Self::admits`], if nothing takes any before.
    pub(crate) fn ready_at(&self, size: u16) -> Time {
        let missing = cost(u64::from(size)).saturating_sub(self.level);
        if self.rate == BitRate(0) && missing > 0 {
            return Time::MAX;
        }
        let wait = missing.div_ceil(u128::from(self.rate.0.max(1)));
        self.at + Span(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    /// Bytes that the bucket holds, as of its last use; for recording.
    pub(crate) fn bytes(&self) -> f64 {
        self.level as f64 / (8.0 * PS_PER_S as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_at_the_rate_up_to_the_size() {
        // 8 Mbit/s are 1 B/us; the bucket holds 1500 B.
        let mut bucket = Bucket::new(BitRate(8_000_000), Bytes(1500));
        let time = |us| Time::ZERO + Span::from_micros(us);
        assert!(bucket.take(1000, time(0)));
        assert!(!bucket.take(1000, time(499)));
        assert_eq!(bucket.ready_at(1000), time(500));
        assert!(bucket.take(1000, time(500)));
        // Full after 1500 us, and no more then.
        assert!(bucket.take(1500, time(9000)));
        assert!(!bucket.take(1, time(9000)));
        assert!(bucket.admits(1500) && !bucket.admits(1501));
    }

    /// A rate below half a bit per second is 0 bit/s.
    #[test]
    fn no_tokens_come_at_no_rate() {
        let mut bucket = Bucket::new(BitRate(0), Bytes(1500));
        assert_eq!(bucket.ready_at(1500), Time::ZERO);
        assert!(bucket.take(1000, Time::ZERO));
        assert_eq!(bucket.ready_at(501), Time::MAX);
        assert_eq!(bucket.ready_at(500), Time::ZERO);
    }

    #[test]
    fn a_time_that_is_no_whole_picosecond_is_rounded_up() {
        // 8 bits at 3 bit/s take 2666666666666.67 ps.
        let mut bucket = Bucket::new(BitRate(3), Bytes(1));
        assert!(bucket.take(1, Time::ZERO));
        assert_eq!(bucket.ready_at(1), Time(2_666_666_666_667));
        assert!(!bucket.take(1, Time(2_666_666_666_666)));
        assert!(bucket.take(1, Time(2_666_666_666_667)));
    }
}
