//! BIC in the arithmetic of Linux: whole segments, and constants other than the paper's.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_bic.c` (behaviour), at HZ = 250 as in Debian's kernels. Compared line by line: D also
//! counts acknowledgements while segments are missing, where the kernel's does not.
//!
//! **Rule** (one segment per `per` acknowledged; D: acknowledged segments for each acknowledgement, averaged with 1/16)
//! ```text
//! w <= low window:       per = w
//! w < last_max:          d = (last_max - w) / 4:  per = w / 16 for d > 16, w / d, and 5 w for d <= 1
//! last_max <= w:         per = 5 w up to 4 beyond, 3 w / (w - last_max) up to 48 beyond, then w / 16
//! no last_max:           per <= 20
//! per <- per / D, at least 1;   computed when w has changed or 32 ms have passed
//! loss, ECN:  last_max <- w, or w (1 - beta / 2) if w < last_max;   w <- (1 - beta) w, w / 2 up to the low window
//! timeout:    ssthresh as on loss, w <- 1, all is forgotten
//! ```

use super::BicParams;
use crate::cc::credit::Growth;
use crate::cc::usage::may_grow;
use crate::cc::{Ack, Congestion, Signal, Window};
use crate::era::Era;
use crate::units::{Span, Time};

/// `max_increment`.
pub(super) const MAX_INCREMENT: f64 = 16.0;
/// What 819 / 1024 leaves.
pub(super) const BETA: f64 = 205.0 / 1024.0;
/// `BICTCP_B`, and `smooth_part` divided by it.
const B: u32 = 4;
const SMOOTH: u32 = 5;
/// Largest count before a loss: 5 % a round trip.
const FIRST_PER: u32 = 20;
/// Scale of the acknowledgement ratio.
const RATIO: u32 = 16;
/// How long a count stays at an unchanged window: HZ / 32 ticks of 4 ms.
const VALID: Span = Span::from_millis(28);

/// State by the kernel's names.
#[derive(Clone, Debug)]
pub(super) struct Arithmetic {
    low_window: u32,
    max_increment: u32,
    /// Factor kept, of 1024.
    beta: u64,
    fast_convergence: bool,
    growth: Growth,
    per: u32,
    last_max: u32,
    last_cwnd: u32,
    last_time: Time,
    /// Acknowledged segments for each acknowledgement, times `RATIO`.
    delayed_ack: u32,
    searches: bool,
}

impl Arithmetic {
    pub(super) fn new(params: &BicParams, s_max: f64, beta: f64) -> Self {
        Self {
            low_window: params.low_window as u32,
            max_increment: s_max as u32,
            beta: ((1.0 - beta) * 1024.0).round().clamp(1.0, 1023.0) as u64,
            fast_convergence: params.fast_convergence,
            growth: Growth::of(Era::Linux),
            per: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: Time::ZERO,
            delayed_ack: 2 * RATIO,
            searches: false,
        }
    }

    pub(super) fn last_max(&self) -> f64 {
        f64::from(self.last_max)
    }

    pub(super) fn searches(&self) -> bool {
        self.searches
    }

    /// Takes the ratio of segments to acknowledgements.
    pub(super) fn measure(&mut self, ack: &Ack) {
        self.delayed_ack = (self.delayed_ack + ack.acked - self.delayed_ack / RATIO).max(1);
    }

    pub(super) fn grow(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(ack);
        if !may_grow(ack, Era::Linux) {
            return;
        }
        let cwnd = window.cwnd as u32;
        if self.last_cwnd != cwnd || ack.now.since(self.last_time) > VALID {
            (self.last_cwnd, self.last_time) = (cwnd, ack.now);
            self.per = self.count(cwnd);
        }
        self.growth.add_one_per(window, ack, self.per);
    }

    fn count(&mut self, cwnd: u32) -> u32 {
        self.searches = cwnd < self.last_max;
        if cwnd <= self.low_window {
            return cwnd;
        }
        let most = self.max_increment;
        let mut per = if self.searches {
            match (self.last_max - cwnd) / B {
                0 | 1 => cwnd * SMOOTH,
                step => cwnd / step.min(most),
            }
        } else {
            match cwnd - self.last_max {
                beyond if beyond < B => cwnd * SMOOTH,
                beyond if beyond < most * (B - 1) => cwnd * (B - 1) / beyond,
                _ => cwnd / most,
            }
        };
        if self.last_max == 0 {
            per = per.min(FIRST_PER);
        }
        (per * RATIO / self.delayed_ack).max(1)
    }

    pub(super) fn reduce(&mut self, window: &mut Window, event: &Congestion) {
        let cwnd = window.cwnd as u64;
        let lower = self.fast_convergence && cwnd < u64::from(self.last_max);
        let last_max = if lower { cwnd * (1024 + self.beta) / 2048 } else { cwnd };
        self.last_max = last_max as u32;
        let remaining =
            if cwnd <= u64::from(self.low_window) { cwnd / 2 } else { cwnd * self.beta / 1024 };
        self.growth.reduce_to(window, event, remaining as f64);
        if let Signal::Rto { .. } = event.signal {
            (self.last_max, self.last_cwnd, self.per) = (0, 0, 0);
            self.delayed_ack = 2 * RATIO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bic() -> Arithmetic {
        let mut bic = Arithmetic::new(&BicParams::default(), MAX_INCREMENT, BETA);
        bic.delayed_ack = RATIO; // one segment for each acknowledgement
        bic
    }

    /// With `last_max` 1000: at 900 a quarter of the way is 25, so 16 a round trip (900 / 16 = 56 for one); at 960 10 (96); at 993
    /// and up to 3 beyond one in five round trips; 12 beyond 3036 / 12 = 253 for one; 48 beyond 16 (1048 / 16).
    #[test]
    fn the_count_is_the_kernels() {
        let mut bic = bic();
        bic.last_max = 1000;
        for (cwnd, per) in [
            (900, 56),
            (960, 96),
            (993, 4965),
            (1003, 5015),
            (1012, 253),
            (1048, 65),
            (14, 14),
            (10, 10),
        ] {
            assert_eq!(bic.count(cwnd), per, "{cwnd}");
        }
        // Two segments for each acknowledgement double the growth; before a loss it is 5 % a round trip.
        bic.delayed_ack = 2 * RATIO;
        assert_eq!(bic.count(960), 48);
        (bic.last_max, bic.delayed_ack) = (0, RATIO);
        assert_eq!(bic.count(960), 20);
    }

    /// 1000 x 819 / 1024 = 799; then 900 is below 1000: 900 x 1843 / 2048 = 809 and 719. 14 is halved.
    #[test]
    fn a_loss_takes_a_fifth_and_a_timeout_forgets_all() {
        let mut bic = bic();
        let lost = |flight| Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, flight);
        let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
        bic.reduce(&mut window, &lost(1000));
        assert_eq!((window.cwnd, bic.last_max), (799.0, 1000));
        window.cwnd = 900.0;
        bic.reduce(&mut window, &lost(900));
        assert_eq!((window.cwnd, bic.last_max), (719.0, 809));
        window.cwnd = 14.0;
        bic.reduce(&mut window, &lost(14));
        assert_eq!(window.cwnd, 7.0);
        window.cwnd = 1000.0;
        bic.reduce(&mut window, &Congestion::at(Time::ZERO, Signal::Rto { consecutive: 1 }, 1000));
        assert_eq!((window.cwnd, window.ssthresh, bic.last_max), (1.0, 799.0, 0));
    }
}
