//! CUBIC in the arithmetic of Linux: whole segments, a clock of 4 ms, a growth computed at most eight times in 256 ms.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_cubic.c` (behaviour), at HZ = 250 as in Debian's kernels.
//!
//! **Rule** (where it differs from RFC 9438; j: ticks of 4 ms, D: smallest round trip)
//! ```text
//! growth:    one segment per `per` acknowledged; per = w / (target - w), 100 w where target <= w, at least 2
//! target:    W(t + D): D in place of SRTT, rounded up to j; the clock t is in 1/1024 s, K the same
//! computed:  when w has changed or 7 j have passed, at most once per j
//! before the first loss: per <= 20
//! friendly:  w_est + 1 for every 15/8 w acknowledged (alpha = 8/15 for 9/17), also above the window before
//! loss:      from cwnd, not FlightSize; factors in 1/1024
//! timeout:   all is forgotten, W_max too
//! idle:      the clock stops
//! D:         of samples outside the first second of an epoch
//! ```
//! Deviations: the cube root is exact; the kernel's is 0.2 % off on average.

use super::CubicParams;
use crate::cc::credit::Credit;
use crate::cc::{Ack, Congestion, Signal, Window};
use crate::units::{PS_PER_S, Span, Time};

/// Ticks of the kernel's clock in a second (`CONFIG_HZ`).
const HZ: u64 = 250;
const JIFFY: u64 = PS_PER_S / HZ;
/// Fixed-point one.
const ONE: u64 = 1024;

/// State by the kernel's names.
#[derive(Clone, Debug)]
pub(super) struct Arithmetic {
    /// Scale of the curve, 1024/10 C.
    scale: u64,
    /// Factor kept, of 1024.
    beta: u64,
    fast_convergence: bool,
    friendly: bool,
    credit: Credit,
    per: u32,
    last_max: u32,
    last_cwnd: u32,
    last_time: u64,
    origin: u32,
    k: u64,
    delay_min: Option<Span>,
    /// Beginning of the epoch in ticks; 0: none.
    epoch_start: u64,
    acked: u32,
    w_est: u32,
    last_sent: u64,
}

fn jiffies(now: Time) -> u64 {
    // As in the kernel, 0 is no time.
    now.0 / JIFFY + 1
}

impl Arithmetic {
    pub(super) fn new(params: &CubicParams) -> Self {
        let beta = (params.beta * ONE as f64).round().clamp(1.0, ONE as f64 - 1.0);
        Self {
            scale: (params.c * ONE as f64 / 10.0).round().max(1.0) as u64,
            beta: beta as u64,
            fast_convergence: params.fast_convergence,
            friendly: params.reno_friendly,
            credit: Credit::default(),
            per: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            k: 0,
            delay_min: None,
            epoch_start: 0,
            acked: 0,
            w_est: 0,
            last_sent: 0,
        }
    }

    /// Takes the round trip of an acknowledgement, in slow start too.
    pub(super) fn measure(&mut self, ack: &Ack) {
        let fresh = self.epoch_start != 0 && jiffies(ack.now) < self.epoch_start + HZ;
        if let Some(rtt) = ack.rtt
            && !fresh
        {
            self.delay_min = Some(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// A segment leaves; after idleness the epoch begins so much later.
    pub(super) fn on_sent(&mut self, now: Time, in_flight: u32) {
        let now = jiffies(now);
        if in_flight <= 1 && self.epoch_start != 0 {
            self.epoch_start = (self.epoch_start + now - self.last_sent).min(now);
        }
        self.last_sent = now;
    }

    pub(super) fn grow(&mut self, window: &mut Window, ack: &Ack) {
        let cwnd = window.cwnd as u32;
        self.update(cwnd, ack.acked, jiffies(ack.now));
        window.cwnd = f64::from(cwnd.saturating_add(self.credit.take(self.per, ack.acked)));
    }

    fn update(&mut self, cwnd: u32, acked: u32, now: u64) {
        self.acked = self.acked.saturating_add(acked);
        if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
            return;
        }
        if self.epoch_start == 0 || now != self.last_time {
            self.follow_curve(cwnd, acked, now);
        }
        if self.friendly {
            self.befriend(cwnd);
        }
        self.per = self.per.max(2);
    }

    fn follow_curve(&mut self, cwnd: u32, acked: u32, now: u64) {
        (self.last_cwnd, self.last_time) = (cwnd, now);
        if self.epoch_start == 0 {
            self.epoch_start = now;
            (self.acked, self.w_est) = (acked, cwnd);
            self.origin = self.last_max.max(cwnd);
            // (W_max - w) / C in units of (1/1024 s)^3.
            let room = f64::from(self.origin - cwnd) * (1u64 << 40) as f64;
            self.k = (room / (10 * self.scale) as f64).cbrt() as u64;
        }
        let ahead = self.delay_min.map_or(0, |delay| delay.0.div_ceil(JIFFY));
        let t = (now - self.epoch_start + ahead) * ONE / HZ;
        let offset = u128::from(t.abs_diff(self.k));
        let delta = (u128::from(10 * self.scale) * offset.pow(3)) >> 40;
        let delta = u32::try_from(delta).unwrap_or(u32::MAX);
        let target = if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        self.per = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max == 0 {
            self.per = self.per.min(20);
        }
    }

    fn befriend(&mut self, cwnd: u32) {
        let scale = 8 * (ONE + self.beta) / 3 / (ONE - self.beta);
        let round = ((u64::from(cwnd) * scale) >> 3).max(1) as u32;
        // One more when more than a round is acknowledged, not with the last of it.
        let rounds = self.acked.saturating_sub(1) / round;
        self.acked -= rounds * round;
        self.w_est = self.w_est.saturating_add(rounds);
        if self.w_est > cwnd {
            self.per = self.per.min(cwnd / (self.w_est - cwnd));
        }
    }

    pub(super) fn reduce(&mut self, window: &mut Window, event: &Congestion) {
        let cwnd = window.cwnd as u32;
        self.epoch_start = 0;
        self.credit.clear();
        let converge = self.fast_convergence && cwnd < self.last_max;
        let reduced =
            |numerator: u64, denominator: u64| (u64::from(cwnd) * numerator / denominator) as u32;
        self.last_max = if converge { reduced(ONE + self.beta, 2 * ONE) } else { cwnd };
        let ssthresh = f64::from(reduced(self.beta, ONE).max(2));
        match event.signal {
            Signal::Rto { consecutive } => {
                if consecutive <= 1 {
                    window.ssthresh = ssthresh;
                }
                window.cwnd = 1.0;
                *self = Self {
                    per: 0,
                    last_max: 0,
                    last_cwnd: 0,
                    last_time: 0,
                    origin: 0,
                    k: 0,
                    acked: 0,
                    w_est: 0,
                    delay_min: None,
                    ..self.clone()
                };
            }
            Signal::FastRetransmit { .. } | Signal::EcnEcho => {
                window.ssthresh = ssthresh;
                window.cwnd = ssthresh.min(window.cwnd);
            }
            Signal::Spurious => {}
        }
    }

    /// Whether the window follows Reno's, and the probes.
    pub(super) fn phase(&self) -> &'static str {
        match self.epoch_start {
            0 => "avoidance",
            _ if self.w_est > self.last_cwnd => "reno-friendly",
            start if self.last_time.saturating_sub(start) * ONE / HZ < self.k => "concave",
            _ => "convex",
        }
    }

    /// `w_max`, K in seconds, the window of Reno.
    pub(super) fn state(&self) -> (f64, f64, f64) {
        (f64::from(self.last_max), self.k as f64 / ONE as f64, f64::from(self.w_est))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn new() -> Arithmetic {
        Arithmetic::new(&CubicParams::default())
    }

    fn lose(control: &mut Arithmetic, window: &mut Window, ms: u64) {
        let lost = Signal::FastRetransmit { lost: 1 };
        control.reduce(window, &Congestion::at(at(ms), lost, 0));
    }

    /// 134 x 717 / 1024 = 93.8; 94 x 1741 / 2048 = 79.9.
    #[test]
    fn factors_are_of_1024_and_whole_segments_are_kept() {
        let (mut control, mut window) = (new(), Window { cwnd: 134.0, ssthresh: f64::INFINITY });
        lose(&mut control, &mut window, 0);
        assert_eq!((window.cwnd, window.ssthresh, control.last_max), (93.0, 93.0, 134));
        window.cwnd = 94.0;
        lose(&mut control, &mut window, 1);
        assert_eq!((window.cwnd, control.last_max), (65.0, 79));
    }

    /// `W_max` 100, w 70: K = cbrt(30 / 0.4004) = 4.21579 s = 4316/1024. At 1 s with D = 40 ms = 10 ticks:
    /// t = 260 ticks = 1064; 410 x 3252^3 / 2^40 = 12.8, so the target is 88, per = 70 / 18 = 3.
    #[test]
    fn the_curve_in_whole_numbers() {
        let mut control = Arithmetic { friendly: false, ..new() };
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        lose(&mut control, &mut window, 0);
        assert_eq!(window.cwnd, 70.0);
        control.delay_min = Some(Span::from_millis(40));
        control.grow(&mut window, &Ack::at(at(4), 1));
        assert_eq!(control.state(), (100.0, 4316.0 / 1024.0, 70.0));
        control.grow(&mut window, &Ack::at(at(1004), 1));
        assert_eq!((control.per, window.cwnd), (3, 70.0));
        // Two acknowledged so far; every three are a segment.
        control.grow(&mut window, &Ack::at(at(1004), 1));
        assert_eq!(window.cwnd, 71.0);
    }

    /// As above, at 1584 ms with D = 41 ms, which is 11 ticks as the kernel rounds up (`usecs_to_jiffies`): t = 406 ticks =
    /// 1662; 410 x 2654^3 / 2^40 = 6.97, so the target is 94, per = 70 / 24 = 2. With 10 ticks it would be 93, and 3.
    #[test]
    fn a_smallest_round_trip_counts_in_whole_ticks_rounded_up() {
        let mut control = Arithmetic { friendly: false, ..new() };
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        lose(&mut control, &mut window, 0);
        control.delay_min = Some(Span::from_millis(41));
        control.grow(&mut window, &Ack::at(at(4), 1));
        control.grow(&mut window, &Ack::at(at(1584), 1));
        assert_eq!(control.per, 2);
    }

    /// 19 acknowledged of the 20 that a segment takes are forgotten (Linux 6.12, `tcp_init_cwnd_reduction`: `snd_cwnd_cnt = 0`):
    /// after a second at 70, where three are a segment, the third acknowledgement is the first to make one.
    #[test]
    fn a_reduction_forgets_what_was_acknowledged_towards_the_next_segment() {
        let mut control = Arithmetic { friendly: false, ..new() };
        let mut window = Window { cwnd: 100.0, ssthresh: 100.0 };
        for _ in 0..19 {
            control.grow(&mut window, &Ack::at(at(0), 1));
        }
        lose(&mut control, &mut window, 0);
        control.delay_min = Some(Span::from_millis(40));
        let grown = [4, 1004, 1004].map(|ms| {
            control.grow(&mut window, &Ack::at(at(ms), 1));
            window.cwnd
        });
        assert_eq!(grown, [70.0, 70.0, 71.0]);
    }

    #[test]
    fn before_the_first_loss_twenty_acknowledged_are_one_segment() {
        let (mut control, mut window) = (new(), Window { cwnd: 200.0, ssthresh: 200.0 });
        for _ in 0..20 {
            control.grow(&mut window, &Ack::at(at(8), 1));
        }
        assert_eq!(window.cwnd, 201.0);
    }

    /// 50 x 15 / 8 = 93 acknowledged and one more are a segment of the friendly window.
    #[test]
    fn the_friendly_window_grows_by_8_15ths_a_round() {
        let (mut control, mut window) = (new(), Window { cwnd: 72.0, ssthresh: f64::INFINITY });
        lose(&mut control, &mut window, 0);
        assert_eq!(window.cwnd, 50.0);
        for i in 0..93 {
            control.update(50, 1, 10 + i * 8);
        }
        assert_eq!(control.w_est, 50);
        control.update(50, 1, 10 + 93 * 8);
        assert_eq!(control.w_est, 51);
    }

    #[test]
    fn a_timeout_forgets_the_plateau() {
        let (mut control, mut window) = (new(), Window { cwnd: 100.0, ssthresh: 100.0 });
        lose(&mut control, &mut window, 0);
        let timeout = Signal::Rto { consecutive: 1 };
        control.reduce(&mut window, &Congestion::at(at(9), timeout, 0));
        assert_eq!((window.cwnd, window.ssthresh, control.last_max), (1.0, 49.0, 0));
    }

    #[test]
    fn samples_of_the_first_second_of_an_epoch_do_not_count() {
        let (mut control, mut window) = (new(), Window { cwnd: 100.0, ssthresh: 100.0 });
        let sample = |ms, rtt| Ack { rtt: Some(Span::from_millis(rtt)), ..Ack::at(at(ms), 1) };
        control.measure(&sample(0, 80));
        control.grow(&mut window, &sample(4, 80));
        control.measure(&sample(500, 40));
        assert_eq!(control.delay_min, Some(Span::from_millis(80)));
        control.measure(&sample(1004, 50));
        assert_eq!(control.delay_min, Some(Span::from_millis(50)));
    }
}
