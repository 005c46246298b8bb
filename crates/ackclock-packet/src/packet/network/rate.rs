//! How long a packet takes to leave a link: constant rate, steps, or delivery opportunities.

use crate::compile::OPPORTUNITY_BYTES;
use crate::units::{BitRate, Bytes, PS_PER_S, Span};

/// A link's rate over time.
#[derive(Debug)]
pub(crate) enum Rate {
    Constant(BitRate),
    Steps(Box<Steps>),
    Opportunities(Box<Opportunities>),
}

impl Rate {
    /// When a transmission of `size` bytes that starts at `start` ends. Starts never decrease.
    pub(crate) fn end(&mut self, start: u64, size: u16) -> u64 {
        match self {
            Self::Constant(rate) => start.saturating_add(rate.transmission(bytes(size)).0),
            Self::Steps(s) => s.end(start, size),
            Self::Opportunities(o) => o.end(start, size),
        }
    }

    /// Transmission time of `size` bytes at the rate in force at the latest start; 0 for opportunities.
    #[inline]
    pub(crate) fn estimate(&self, size: u16) -> u64 {
        match self {
            Self::Constant(rate) => rate.transmission(bytes(size)).0,
            Self::Steps(s) => {
                BitRate(s.changes[s.current].1).transmission(Bytes(u64::from(size))).0
            }
            Self::Opportunities(_) => 0,
        }
    }

    /// Whether it and another are always the same.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Constant(a), Self::Constant(b)) if a.0 == b.0)
    }

    /// The rate in force at the latest start; of opportunities, their mean.
    pub(crate) fn present(&self) -> BitRate {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(s) => BitRate(s.changes[s.current].1),
            Self::Opportunities(_) => BitRate(self.capacity_bits(0, PS_PER_S) as u64),
        }
    }

    /// The shortest transmission of `size` bytes that can ever happen.
    pub(crate) fn shortest(&self, size: u16) -> u64 {
        match self {
            Self::Constant(rate) => rate.transmission(bytes(size)).0,
            Self::Steps(s) => {
                let top = s.changes.iter().map(|s| s.1).max().unwrap_or(0);
                BitRate(top).transmission(Bytes(u64::from(size))).0
            }
            Self::Opportunities(_) => 0,
        }
    }

    /// The change of the scheduled rate after the first `index`, if it has happened by `now`.
    pub(crate) fn change(&self, index: usize, now: u64) -> Option<(u64, BitRate)> {
        match self {
            Self::Steps(s) => s
                .changes
                .get(index)
                .filter(|s| s.0 <= now)
                .map(|&(time, rate)| (time, BitRate(rate))),
            Self::Constant(_) | Self::Opportunities(_) => None,
        }
    }

    /// Bits still to be sent at `now` of a packet of `size` bytes that has left at `end`.
    pub(crate) fn unsent_bits(&self, now: u64, end: u64, size: u16) -> f64 {
        match self {
            // It waits for its opportunity and is then sent at once.
            Self::Opportunities(_) => f64::from(size) * 8.0,
            Self::Steps(s) => match s.last {
                Some(start) if start <= now => f64::from(size) * 8.0 - s.capacity_bits(start, now),
                _ => s.capacity_bits(now, end),
            },
            Self::Constant(_) => self.capacity_bits(now, end),
        }
    }

    /// Bits that could be sent from `from` to `to`.
    pub(crate) fn capacity_bits(&self, from: u64, to: u64) -> f64 {
        match self {
            Self::Constant(rate) => rate.bps() * Span(to.saturating_sub(from)).seconds(),
            Self::Steps(s) => s.capacity_bits(from, to),
            Self::Opportunities(o) => o.count(from, to) as f64 * (OPPORTUNITY_BYTES * 8) as f64,
        }
    }
}

/// Transmission times at a constant rate without a division: whole picoseconds a byte, and the remainder in
/// units of 2^-64 ps.
///
/// For rate r and s bytes, [`BitRate::transmission`] is floor((8e12 s + floor(r / 2)) / r), which is
/// floor((8e12 s + r / 2) / r): if r is odd, no whole number lies between the two sums. Split 8e12 into
/// whole multiples of r and a remainder m: the fraction m s / r + 1 / 2 is a multiple of 1 / 2r, and its
/// first term is rounded up here, by less than s / 2^64 < 2^-48. So the floor is the same where
/// r <= 2^47.
///
/// Fields have 32 bits to fit into the first cache lines of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    whole: u32,
    /// The remainder's upper and lower half.
    part: [u32; 2],
}

impl Pace {
    /// In place of whole picoseconds: the rate is not constant, or out of range.
    const UNKNOWN: u32 = u32::MAX;

    /// The transmission times are unknown.
    pub(crate) const NONE: Self = Self { whole: Self::UNKNOWN, part: [0; 2] };

    /// Whether the rate is constant, so that transmission times are known.
    #[inline(always)]
    pub(crate) fn is_constant(self) -> bool {
        self.whole != Self::UNKNOWN
    }

    pub(crate) fn of(rate: &Rate) -> Self {
        let Rate::Constant(BitRate(rate @ 1..=0x8000_0000_0000)) = *rate else { return Self::NONE };
        let byte = 8 * PS_PER_S;
        let fraction = (u128::from(byte % rate) << 64).div_ceil(u128::from(rate)) as u64;
        // Below 1863 bit/s a byte takes too long.
        let Ok(ps_per_byte) = u32::try_from(byte / rate) else { return Self::NONE };
        Self { whole: ps_per_byte, part: [(fraction >> 32) as u32, fraction as u32] }
    }

    /// The transmission time of `size` bytes.
    #[inline(always)]
    pub(crate) fn transmission(self, size: u16) -> u64 {
        let size = u64::from(size);
        let [high, low] = self.part;
        let fraction = u64::from(high) << 32 | u64::from(low);
        let product = u128::from(size) * u128::from(fraction) + (1 << 63);
        size * u64::from(self.whole) + (product >> 64) as u64
    }
}

fn bytes(size: u16) -> Bytes {
    Bytes(u64::from(size))
}

/// A rate that changes in steps, which apply to a packet in transmission at once.
#[derive(Debug)]
pub(crate) struct Steps {
    /// (from ps, bit/s), by time, the first at 0.
    changes: Vec<(u64, u64)>,
    /// The step in force at the latest start.
    current: usize,
    /// Start of the transmission that never ends, if the rate falls to zero for ever.
    last: Option<u64>,
}

impl Steps {
    /// `steps` sorted by time; `initial` holds before the first.
    pub(crate) fn new(initial: BitRate, steps: &[(u64, BitRate)]) -> Self {
        let mut all = vec![(0, initial.0)];
        for &(time, rate) in steps {
            if time == 0 {
                all.clear();
            }
            all.push((time, rate.0));
        }
        Self { changes: all, current: 0, last: None }
    }

    fn end(&mut self, start: u64, size: u16) -> u64 {
        while self.changes.get(self.current + 1).is_some_and(|s| s.0 <= start) {
            self.current += 1;
        }
        // Work in bit picoseconds per second, which is exact.
        let mut left = u128::from(size) * 8 * u128::from(PS_PER_S);
        let mut from = start;
        let mut step = self.current;
        loop {
            let rate = u128::from(self.changes[step].1);
            match self.changes.get(step + 1) {
                Some(&(until, _)) => {
                    let possible = u128::from(until - from) * rate;
                    if rate > 0 && possible >= left {
                        return from + left.div_ceil(rate) as u64;
                    }
                    left -= possible;
                    from = until;
                    step += 1;
                }
                None if rate == 0 => {
                    // What comes after it never starts.
                    self.last.get_or_insert(start);
                    return NEVER;
                }
                None => {
                    return from
                        .saturating_add(u64::try_from(left.div_ceil(rate)).unwrap_or(NEVER))
                        .min(NEVER);
                }
            }
        }
    }

    fn capacity_bits(&self, from: u64, to: u64) -> f64 {
        let mut bits = 0.0;
        for (i, &(begin, rate)) in self.changes.iter().enumerate() {
            let until = self.changes.get(i + 1).map_or(u64::MAX, |s| s.0);
            let (a, b) = (begin.max(from), until.min(to));
            if b > a {
                bits += rate as f64 * Span(b - a).seconds();
            }
        }
        bits
    }
}

/// The end of a transmission that never ends; the value above it means an idle link.
pub(crate) const NEVER: u64 = u64::MAX - 1;

/// Mahimahi's packet-delivery trace: at each opportunity up to 1500 bytes leave; what an empty
/// queue does not use is lost; a packet leaves with its last byte.
#[derive(Debug)]
pub(crate) struct Opportunities {
    times: Vec<u64>,
    period: u64,
    /// Opportunity in use, counted over all periods.
    next: u64,
    /// Bytes left in it.
    left: u64,
    /// Size of the latest packet.
    latest: u16,
}

impl Opportunities {
    /// Times in milliseconds, not decreasing, the last more than 0.
    pub(crate) fn new(milliseconds: &[u64]) -> Self {
        let ms = Span::from_millis(1).0;
        let times: Vec<u64> = milliseconds.iter().map(|t| t * ms).collect();
        let period = times.last().copied().unwrap_or(ms).max(ms);
        Self { times, period, next: 0, left: OPPORTUNITY_BYTES, latest: 0 }
    }

    fn time(&self, n: u64) -> u64 {
        let len = self.times.len() as u64;
        (n / len)
            .saturating_mul(self.period)
            .saturating_add(self.times[(n % len) as usize])
            .min(NEVER)
    }

    fn end(&mut self, start: u64, size: u16) -> u64 {
        self.latest = size;
        // Skip whole periods at once, then single opportunities that passed unused.
        let len = self.times.len() as u64;
        let behind = start.saturating_sub(self.time(self.next)) / self.period;
        if behind > 1 {
            self.next += (behind - 1) * len;
            self.left = OPPORTUNITY_BYTES;
        }
        while self.time(self.next) < start || self.left == 0 {
            self.next += 1;
            self.left = OPPORTUNITY_BYTES;
        }
        let mut needed = u64::from(size);
        while needed > self.left {
            needed -= self.left;
            self.next += 1;
            self.left = OPPORTUNITY_BYTES;
        }
        self.left -= needed;
        self.time(self.next)
    }

    fn count(&self, from: u64, to: u64) -> u64 {
        let before = |t: u64| {
            let within = self.times.partition_point(|&x| x < t % self.period) as u64;
            t / self.period * self.times.len() as u64 + within
        };
        before(to) - before(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000_000;

    proptest! {
        #[test]
        fn a_pace_rounds_as_the_division_does(
            rate in prop_oneof![1u64..100, 1u64..1 << 20, 1_000u64..1 << 34, 1u64..=1 << 47],
            size in prop_oneof![0u16..200, any::<u16>()],
        ) {
            let pace = Pace::of(&Rate::Constant(BitRate(rate)));
            prop_assert_eq!(pace.is_constant(), rate >= 1863);
            if !pace.is_constant() {
                return Ok(());
            }
            prop_assert_eq!(pace.transmission(size), BitRate(rate).transmission(bytes(size)).0);
        }
    }

    #[test]
    fn a_pace_is_refused_for_rates_out_of_range() {
        assert!(!Pace::of(&Rate::Constant(BitRate(0))).is_constant());
        assert!(!Pace::of(&Rate::Constant(BitRate((1 << 47) + 1))).is_constant());
        // Half a picosecond is rounded up: 1 byte at 16 Tb/s.
        let pace = Pace::of(&Rate::Constant(BitRate(16_000_000_000_000)));
        assert_eq!((pace.transmission(1), pace.transmission(3)), (1, 2));
    }

    #[test]
    fn a_step_in_mid_packet_slows_the_rest_of_it() {
        // 1000 B = 8000 bit at 8 Mb/s is 1 ms; after 0.5 ms the rate halves: 0.5 + 1.0 ms.
        let mut rate =
            Rate::Steps(Box::new(Steps::new(BitRate(8_000_000), &[(MS / 2, BitRate(4_000_000))])));
        assert_eq!(rate.end(0, 1000), MS * 3 / 2);
        assert_eq!(rate.end(MS * 3 / 2, 1000), MS * 7 / 2);
        // 4000 bit before the step, 2 ms of 4 Mb/s after it.
        assert!((rate.capacity_bits(0, MS * 5 / 2) - 12_000.0).abs() < 1e-6);
    }

    #[test]
    fn an_outage_holds_packets_until_the_rate_returns_or_for_ever() {
        let steps = [(0, BitRate(0)), (3 * MS, BitRate(8_000_000)), (5 * MS, BitRate(0))];
        let mut rate = Rate::Steps(Box::new(Steps::new(BitRate(1), &steps)));
        assert_eq!(rate.end(0, 1000), 4 * MS);
        assert_eq!(rate.end(4 * MS, 1000), 5 * MS);
        assert_eq!(rate.end(5 * MS, 1000), NEVER);
    }

    #[test]
    fn of_a_packet_that_never_ends_the_rest_is_unsent() {
        // 12000 bit at 1 Mb/s; at 10 ms, after 2000 of them, the rate is 0 for ever.
        let mut rate =
            Rate::Steps(Box::new(Steps::new(BitRate(1_000_000), &[(10 * MS, BitRate(0))])));
        assert_eq!(rate.end(8 * MS, 1500), NEVER);
        assert_eq!(rate.end(NEVER, 1500), NEVER);
        for (now, unsent) in [(8, 12_000.0), (9, 11_000.0), (10, 10_000.0), (50, 10_000.0)] {
            assert!((rate.unsent_bits(now * MS, NEVER, 1500) - unsent).abs() < 1e-6, "{now}");
        }
    }

    #[test]
    fn opportunities_carry_1500_bytes_each_and_repeat() {
        let mut o = Opportunities::new(&[1, 3, 10]);
        assert_eq!(o.end(0, 1000), MS); // 500 B of the first are left ...
        assert_eq!(o.end(MS, 1000), 3 * MS); // ... and the packet's last byte leaves with the second
        assert_eq!(o.end(3 * MS, 1000), 3 * MS); // both fit: 500 + 1000
        assert_eq!(o.end(3 * MS, 40), 10 * MS);
        assert_eq!(o.end(15 * MS, 1500), 20 * MS); // 11 and 13 ms passed unused; the period is 10 ms
        assert_eq!(o.count(0, 10 * MS + 1), 3);
        assert_eq!(o.count(0, 11 * MS + 1), 4);
    }
}
