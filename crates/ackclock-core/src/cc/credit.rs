//! Growth in whole segments, as Linux counts it: shared by the controls of era `linux`.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_cong.c`, the behaviour of `tcp_cong_avoid_ai`.

/// Segments acknowledged that have not made the window grow yet (`snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cc) struct Credit(u32);

impl Credit {
    /// `acked` more are acknowledged, and every `per` of them make one segment of growth: returns the growth.
    ///
    /// Credit gathered while `per` was larger gives one segment at most.
    pub(in crate::cc) fn take(&mut self, per: u32, acked: u32) -> u32 {
        let per = per.max(1);
        let mut growth = 0;
        if self.0 >= per {
            self.0 = 0;
            growth = 1;
        }
        self.0 = self.0.saturating_add(acked);
        growth += self.0 / per;
        self.0 %= per;
        growth
    }

    /// The window is reduced.
    pub(in crate::cc) fn clear(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_acknowledged_segments_is_one_of_growth_and_the_rest_is_kept() {
        let mut credit = Credit::default();
        assert_eq!([credit.take(10, 9), credit.take(10, 2), credit.take(11, 10)], [0, 1, 1]);
        assert_eq!(credit.take(11, 33), 3);
    }

    #[test]
    fn what_was_gathered_at_a_slower_pace_counts_once() {
        let mut credit = Credit::default();
        assert_eq!(credit.take(100, 90), 0);
        // 90 would be nine segments at one in ten.
        assert_eq!(credit.take(10, 1), 1);
        assert_eq!(credit.take(10, 9), 1);
    }

    #[test]
    fn a_reduction_forgets_it() {
        let mut credit = Credit::default();
        credit.take(10, 9);
        credit.clear();
        assert_eq!(credit.take(10, 9), 0);
    }
}
