//! Growth in whole segments, as Linux counts it: shared by the controls of era `linux`.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_cong.c`, the behaviour of `tcp_cong_avoid_ai`.

use super::usage::{growth, may_grow, reduce_to};
use super::{Ack, Congestion, Window};
use crate::era::Era;

/// Segments acknowledged that have not made the window grow yet (`snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Credit(u32);

impl Credit {
    /// `acked` more are acknowledged, and every `per` of them make one segment of growth: returns the growth.
    ///
    /// Credit gathered while `per` was larger gives one segment at most.
    pub(crate) fn take(&mut self, per: u32, acked: u32) -> u32 {
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
    pub(crate) fn clear(&mut self) {
        self.0 = 0;
    }
}

/// Growth and decrease of a control that adds some segments for each round trip: with fractions, or in era `linux` in
/// whole segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    era: Era,
    credit: Credit,
}

impl Growth {
    pub(crate) fn of(era: Era) -> Self {
        Self { era, credit: Credit::default() }
    }

    /// Grows by `step` segments for a window of acknowledgements, but no faster than slow start.
    pub(crate) fn add(&mut self, window: &mut Window, ack: &Ack, step: f64) {
        if self.era != Era::Linux {
            window.cwnd += growth(ack, self.era) * (step / window.cwnd).min(1.0);
        } else if step > 0.0 {
            self.add_one_per(
                window,
                ack,
                (window.cwnd.floor() / step).min(f64::from(u32::MAX)) as u32,
            );
        }
    }

    /// Grows by one segment for `per` acknowledged ones.
    pub(crate) fn add_one_per(&mut self, window: &mut Window, ack: &Ack, per: u32) {
        if may_grow(ack, self.era) {
            window.cwnd = window.cwnd.floor() + f64::from(self.credit.take(per, ack.acked));
        }
    }

    /// Answers congestion: `remaining` segments stay, in era `linux` a whole number.
    pub(crate) fn reduce_to(&mut self, window: &mut Window, event: &Congestion, remaining: f64) {
        self.credit.clear();
        let remaining = if self.era == Era::Linux { remaining.floor() } else { remaining };
        reduce_to(window, event, self.era, remaining);
    }

    /// Answers congestion by taking `fraction` of `used` segments, in era `linux` a whole number of them.
    pub(crate) fn take_off(
        &mut self,
        window: &mut Window,
        event: &Congestion,
        used: f64,
        fraction: f64,
    ) {
        let reduction = fraction * used;
        let reduction = if self.era == Era::Linux { reduction.floor() } else { reduction };
        self.reduce_to(window, event, used - reduction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Signal;
    use crate::units::Time;

    #[test]
    fn in_era_linux_windows_are_whole_and_elsewhere_not() {
        let run = |era| {
            let mut growth = Growth::of(era);
            let mut window = Window { cwnd: 10.0, ssthresh: 2.0 };
            growth.add(&mut window, &Ack::at(Time::ZERO, 4), 2.0); // 0.8 segments, and 3 left of 5
            growth.add(&mut window, &Ack::at(Time::ZERO, 1), 2.0);
            let grown = window.cwnd;
            let lost = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, 11);
            growth.take_off(&mut window, &lost, 11.0, 0.125); // 1.375
            (grown, window.cwnd)
        };
        assert_eq!(run(Era::Linux), (11.0, 10.0));
        let (grown, left) = run(Era::Rfc);
        assert!((grown - (10.8 + 2.0 / 10.8)).abs() < 1e-12);
        assert_eq!(left, 9.625);
    }

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
