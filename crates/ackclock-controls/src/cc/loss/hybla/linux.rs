//! Hybla in the arithmetic of Linux: rho in eighths, growth in 128ths of a segment.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_hybla.c` (behaviour), compared line by line.
//!
//! **Rule** (e = 8 SRTT / RTT0 cut to a whole number, at least 8, of the smallest SRTT so far; per acknowledgement)
//! ```text
//! slow start:  w += (2^(e div 8) f(e mod 8) - 128) / 128,  f(i) about 128 x 2^(i / 8);  up to ssthresh
//! avoidance:   w += (2 e^2 div w) / 128; if that is nothing, one segment for w acknowledgements, as Reno
//! growth of less than a segment is kept until it makes one
//! loss, ECN:   w <- w div 2;   timeout: ssthresh <- w div 2, w <- 1
//! ```

use super::HyblaParams;
use crate::cc::credit::Growth;
use crate::cc::usage::may_grow;
use crate::cc::{Ack, Congestion, Window};
use crate::era::Era;
use crate::units::Span;

/// 128 times the powers of two with exponents of 0, 1/8, .. 7/8, as the kernel rounds them.
const POWERS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// Parts of a segment.
const PARTS: u64 = 128;

/// What Linux keeps of a flow.
#[derive(Clone, Debug)]
pub(super) struct Arithmetic {
    rtt0: Span,
    most_rho: u64,
    largest_window: u64,
    growth: Growth,
    least_srtt: Span,
    /// rho in eighths (`rho_3ls`).
    eighths: u64,
    /// Growth that makes no segment yet (`snd_cwnd_cents`).
    parts: u64,
    /// Acknowledgements since the window grew (`snd_cwnd_cnt`).
    count: u64,
}

impl Arithmetic {
    pub(super) fn new(params: &HyblaParams) -> Self {
        Self {
            rtt0: params.rtt0,
            most_rho: params.slow_start_rho as u64,
            largest_window: params.largest_window as u64,
            growth: Growth::of(Era::Linux),
            least_srtt: Span::MAX,
            eighths: 8,
            parts: 0,
            count: 0,
        }
    }

    pub(super) fn rho(&self) -> f64 {
        self.eighths as f64 / 8.0
    }

    pub(super) fn grow(&mut self, window: &mut Window, ack: &Ack) {
        if Span::ZERO < ack.srtt && ack.srtt < self.least_srtt {
            self.least_srtt = ack.srtt;
            self.eighths = (ack.srtt.0.saturating_mul(8) / self.rtt0.0).max(8);
        }
        if !may_grow(ack, Era::Linux) {
            return;
        }
        let cwnd = window.cwnd as u64;
        let is_slow = window.cwnd < window.ssthresh;
        let step = if is_slow {
            let exponent = (self.eighths / 8).min(self.most_rho);
            (POWERS[(self.eighths % 8) as usize] << exponent) - PARTS
        } else {
            2 * self.eighths.saturating_mul(self.eighths).min(u64::MAX / 2) / cwnd.max(1)
        };
        if !is_slow && step < PARTS {
            self.count += 1;
        }
        self.parts += step % PARTS;
        let mut segments = step / PARTS;
        if self.parts >= PARTS {
            segments += 1;
            (self.parts, self.count) = (self.parts - PARTS, 0);
        }
        if step == 0 && self.count >= cwnd {
            segments += 1;
            self.count = 0;
        }
        window.cwnd = cwnd.saturating_add(segments).min(self.largest_window) as f64;
        if is_slow {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
    }

    pub(super) fn reduce(&mut self, window: &mut Window, event: &Congestion) {
        self.count = 0;
        let remaining = (window.cwnd / 2.0).floor();
        self.growth.reduce_to(window, event, remaining);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn windows(srtt_us: u64, start: f64, ssthresh: f64, counts: &[u32]) -> Vec<f64> {
        let mut linux = Arithmetic::new(&HyblaParams::default());
        let mut window = Window { cwnd: start, ssthresh };
        let srtt = Span::from_micros(srtt_us);
        let grow = |&count: &u32| {
            for _ in 0..count {
                linux.grow(&mut window, &Ack { srtt, ..Ack::at(Time::ZERO, 2) });
            }
            window.cwnd
        };
        counts.iter().map(grow).collect()
    }

    /// 37.5 ms are 12 eighths: 2^1 x 181 - 128 = 234 parts, a segment and 106. 200 ms: 2^8 x 128 - 128, 255 segments. 36 ms
    /// are 11.52 eighths, so 11: 2 x 165 - 128 = 202. 600 ms: rho 24 is held at 16. 430 ms are 137: 2^16 x 139 - 128 parts.
    #[test]
    fn slow_start_is_the_kernels() {
        assert_eq!(windows(37_500, 10.0, 1e6, &[1, 1]), [11.0, 13.0]);
        assert_eq!(windows(200_000, 10.0, 1e6, &[1, 1]), [265.0, 520.0]);
        assert_eq!(windows(36_000, 10.0, 1e6, &[1, 1]), [11.0, 13.0]);
        assert_eq!(windows(36_000, 10.0, 1e6, &[4, 4]), [16.0, 22.0]); // 808 and 1616 parts
        assert_eq!(windows(600_000, 10.0, 1e6, &[1]), [65_535.0]);
        assert_eq!(windows(10_000, 10.0, 12.0, &[1, 1, 1]), [11.0, 12.0, 12.0]);
    }

    /// 200 ms: 2 x 64^2 = 8192 parts for a window. At 6400 one part for each acknowledgement, so 128 of them make a
    /// segment; at 1000 eight, so 16. 25 ms: 128 parts: at 100 one, at 200 none, where 200 acknowledgements make a segment.
    #[test]
    fn avoidance_cuts_parts_and_is_renos_where_nothing_is_left() {
        assert_eq!(windows(200_000, 6400.0, 2.0, &[127, 1]), [6400.0, 6401.0]);
        assert_eq!(windows(200_000, 1000.0, 2.0, &[15, 1]), [1000.0, 1001.0]);
        assert_eq!(windows(25_000, 100.0, 2.0, &[127, 1]), [100.0, 101.0]);
        assert_eq!(windows(25_000, 200.0, 2.0, &[199, 1, 200, 1]), [200.0, 201.0, 201.0, 202.0]);
    }

    #[test]
    fn a_loss_halves_and_the_smallest_srtt_gives_rho() {
        let mut linux = Arithmetic::new(&HyblaParams::default());
        let mut window = Window { cwnd: 101.0, ssthresh: 2.0 };
        for srtt_ms in [400, 200, 300] {
            let srtt = Span::from_millis(srtt_ms);
            linux.grow(&mut window, &Ack { srtt, app_limited: true, ..Ack::at(Time::ZERO, 1) });
        }
        assert_eq!((window.cwnd, linux.rho()), (101.0, 8.0));
        let lost = crate::cc::Signal::FastRetransmit { lost: 1 };
        linux.reduce(&mut window, &Congestion::at(Time::ZERO, lost, 101));
        assert_eq!((window.cwnd, window.ssthresh), (50.0, 50.0));
    }
}
