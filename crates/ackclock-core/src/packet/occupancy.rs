//! Time-weighted distribution of a queue's length.

/// Longest length told apart; longer ones are counted as this.
const CAP: usize = 1 << 16;

/// How long (in ps) the queue had each length, since the last reset.
#[derive(Debug, Default)]
pub(super) struct Occupancy {
    time_at: Vec<u64>,
    len: usize,
    since: u64,
}

impl Occupancy {
    /// The queue has `len` packets from `now` on.
    #[inline]
    pub(super) fn set(&mut self, now: u64, len: usize) {
        let held = self.len.min(CAP);
        if held >= self.time_at.len() {
            self.time_at.resize(held + 1, 0);
        }
        self.time_at[held] += now - self.since;
        self.since = now;
        self.len = len;
    }

    /// Forgets everything before `now`.
    pub(super) fn reset(&mut self, now: u64) {
        self.time_at.fill(0);
        self.since = now;
    }

    /// Mean and 99th percentile up to `now`.
    pub(super) fn summary(&mut self, now: u64) -> (f64, f64) {
        self.set(now, self.len);
        let total: u128 = self.time_at.iter().map(|&t| u128::from(t)).sum();
        if total == 0 {
            return (self.len as f64, self.len as f64);
        }
        let weighted: f64 =
            self.time_at.iter().enumerate().map(|(n, &t)| n as f64 * t as f64).sum();
        let mut below = 0u128;
        let p99 = self
            .time_at
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
        o.set(0, 4); // 4 for 10
        o.set(10, 0); // 0 for 985
        o.set(995, 9); // 9 for 5
        let (mean, p99) = o.summary(1000);
        assert!((mean - 0.085).abs() < 1e-12, "{mean}");
        assert_eq!(p99, 4.0); // 98.5 % at 0, 99.5 % at 4 or less
    }
}
