//! Time-weighted distribution of a queue's length.
//!
//! The time spent at a length is the sum of the times at which it was left less the sum of the times at
//! which it was reached. So it suffices to keep, for each pair of neighbouring lengths, the sum of the
//! times of rises less that of falls: one addition for each change.

use crate::memory::prefetch;

/// Greatest length that is distinguished; longer ones count as this.
const CAP: usize = 1 << 16;

/// How long (in ps) the queue had each length, since the last reset.
#[derive(Debug, Default)]
pub(crate) struct Occupancy {
    /// Entry n: times of rises from n to n + 1 less times of falls back. It may overflow, as only
    /// differences of entries are used.
    crossings: Vec<u64>,
    /// Time and length at the last reset.
    begin: u64,
    begin_len: u32,
    /// Packets in a discipline, as last [`Self::set`]: they count beside those in a computed FIFO.
    held: u32,
}

impl Occupancy {
    /// The length, of all that waits, rises from `len` to one more.
    #[inline(always)]
    pub(crate) fn rise(&mut self, now: u64, len: usize) {
        match self.crossings.get_mut(len) {
            Some(crossing) => *crossing = crossing.wrapping_add(now),
            None => self.rise_higher(now, len),
        }
    }

    #[cold]
    #[inline(never)]
    fn rise_higher(&mut self, now: u64, len: usize) {
        if len < CAP {
            self.crossings.resize((len + 1).next_power_of_two(), 0);
            self.rise(now, len);
        }
    }

    /// Prefetches the entries of short lengths.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        self.crossings.first().inspect(|crossing| prefetch(*crossing));
    }

    /// A computed FIFO falls to `len` from one more.
    #[inline(always)]
    pub(crate) fn fall(&mut self, now: u64, len: usize) {
        if let Some(crossing) = self.crossings.get_mut(len + self.held as usize) {
            *crossing = crossing.wrapping_sub(now);
        }
    }

    /// Whether the discipline was last [`Self::set`] to hold nothing.
    #[inline]
    pub(crate) fn holds_nothing(&self) -> bool {
        self.held == 0
    }

    /// A discipline holds `held` packets from `now` on, beside `computed` in a computed FIFO. Every change is to be reported.
    #[inline]
    pub(crate) fn set(&mut self, now: u64, held: usize, computed: usize) {
        while (self.held as usize) < held {
            self.rise(now, computed + self.held as usize);
            self.held += 1;
        }
        while self.held as usize > held {
            self.held -= 1;
            self.fall(now, computed);
        }
    }

    /// Restarts at `now`, when the queue has `len` packets.
    pub(crate) fn reset(&mut self, now: u64, len: usize) {
        self.crossings.fill(0);
        // Later falls need an entry.
        self.crossings.resize(self.crossings.len().max(len.min(CAP)), 0);
        (self.begin, self.begin_len) = (now, len as u32);
    }

    /// Time at each length up to `now`, when the queue has `len` packets.
    fn times(&self, now: u64, len: usize) -> Vec<u64> {
        let mut times = vec![0u64; self.crossings.len() + 1];
        let mut below = 0u64;
        for (time, &crossing) in times.iter_mut().zip(self.crossings.iter().chain(&[0])) {
            *time = crossing.wrapping_sub(below);
            below = crossing;
        }
        let longest = times.len() - 1;
        let (len, begin) = (len.min(longest), (self.begin_len as usize).min(longest));
        times[len] = times[len].wrapping_add(now);
        times[begin] = times[begin].wrapping_sub(self.begin);
        times
    }

    /// Mean and 99th percentile up to `now`, when the queue has `len` packets.
    pub(crate) fn summary(&self, now: u64, len: usize) -> (f64, f64) {
        let times = self.times(now, len);
        let total: u128 = times.iter().map(|&t| u128::from(t)).sum();
        if total == 0 {
            return (len as f64, len as f64);
        }
        let weighted: f64 = times.iter().enumerate().map(|(n, &t)| n as f64 * t as f64).sum();
        let mut below = 0u128;
        let p99 = times
            .iter()
            .position(|&t| {
                below += u128::from(t);
                below * 100 >= total * 99
            })
            .unwrap_or(0);
        (weighted / total as f64, p99 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_percentile_weigh_by_time() {
        let mut o = Occupancy::default();
        o.set(0, 4, 0); // 4 for 10
        o.set(10, 0, 0); // 0 for 985
        o.set(995, 9, 0); // 9 for 5
        let (mean, p99) = o.summary(1000, 9);
        assert!((mean - 0.085).abs() < 1e-12, "{mean}");
        assert_eq!(p99, 4.0); // 98.5 % at 0, 99.5 % at 4 or less
    }

    #[test]
    fn a_reset_in_mid_queue_leaves_only_what_follows() {
        let mut o = Occupancy::default();
        o.set(0, 7, 0);
        o.reset(100, 7); // 7 for 50, 6 for 150
        o.set(150, 6, 0);
        let (mean, p99) = o.summary(300, 6);
        assert!((mean - 6.25).abs() < 1e-12, "{mean}");
        assert_eq!(p99, 7.0);
    }

    #[test]
    fn what_a_discipline_holds_counts_behind_a_computed_fifo() {
        let mut o = Occupancy::default();
        o.rise(0, 0); // computed: 2 for 30
        o.rise(0, 1);
        o.set(10, 3, 2); // with the discipline's 5 for 20
        o.fall(30, 1); // 4 for 10
        o.fall(40, 0); // 3 for 10
        o.set(50, 0, 0); // 0 for 50
        let (mean, p99) = o.summary(100, 0);
        assert!((mean - (2.0 * 10.0 + 5.0 * 20.0 + 40.0 + 30.0) / 100.0).abs() < 1e-12, "{mean}");
        assert_eq!(p99, 5.0);
    }

    #[test]
    fn lengths_beyond_the_cap_count_as_the_cap() {
        let mut o = Occupancy::default();
        o.set(0, CAP + 10, 0);
        o.set(500, CAP + 1, 0);
        o.set(900, 0, 0);
        let (mean, _) = o.summary(1000, 0);
        assert!((mean - 0.9 * CAP as f64).abs() < 1e-6, "{mean}");
    }
}
