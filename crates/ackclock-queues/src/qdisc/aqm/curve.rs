//! The three parts of RED that RIO shares: the average, the drop curve, the spacing of drops.
//!
//! **Source**: Floyd & Jacobson, "Random Early Detection Gateways for Congestion Avoidance",
//! IEEE/ACM Trans. Networking 1(4), 1993, sections 4, 7 and 11 (doi:10.1109/90.251892); gentle curve: Floyd,
//! "Recommendation on using the 'gentle' variant of RED", 2000.

use crate::units::Time;

/// Exponentially weighted moving average of the queue that decays over idle time as if small
/// packets had found the queue empty.
#[derive(Clone, Debug)]
pub(crate) struct Average {
    pub(crate) value: f64,
    w_q: f64,
    /// Packets of mean size that the link sends in a second.
    packet_rate: f64,
    /// Since when the queue has been empty and the link idle, at its present rate.
    idle_since: Option<Time>,
    /// Packets that could have been sent in the same idle time at the rates before.
    missed: f64,
    /// The present and the time since when the link is idle on ns-2's clock [s], where that is the run's.
    clock: Option<f64>,
    idle_since_s: f64,
}

/// An average below this adds nothing to any other: what is left of its decay needs no single steps.
const NOTHING: f64 = 1e-60;

/// Steps of zero from which on they are not taken one by one. An average of less weight than 0.0014 is not nothing by then.
const MANY_STEPS: u64 = 100_000;

impl Average {
    pub(crate) fn new(w_q: f64, packet_rate: f64) -> Self {
        Self {
            value: 0.0,
            w_q,
            packet_rate,
            idle_since: Some(Time::ZERO),
            missed: 0.0,
            clock: None,
            idle_since_s: 0.0,
        }
    }

    /// The present on ns-2's clock [s].
    pub(crate) fn set_clock(&mut self, seconds: f64) {
        self.clock = Some(seconds);
    }

    /// The link sends `packet_rate` packets of mean size in a second from `now` on, and arrivals have
    /// the weight `w_q`.
    pub(crate) fn set_rate(&mut self, now: Time, packet_rate: f64, w_q: f64) {
        if let Some(since) = &mut self.idle_since {
            self.missed += self.packet_rate * now.since(*since).seconds();
            *since = now;
        }
        (self.packet_rate, self.w_q) = (packet_rate, w_q);
    }

    /// The weight of an arrival.
    pub(crate) fn w_q(&self) -> f64 {
        self.w_q
    }

    /// An arrival sees `queue` waiting: one step, preceded by a step of zero for each packet that
    /// could have been sent while the link was idle.
    #[inline]
    pub(crate) fn arrival(&mut self, now: Time, queue: f64) {
        let keep = 1.0 - self.w_q;
        if let Some(since) = self.idle_since.take() {
            if let Some(now_s) = self.clock {
                self.decay(now_s);
                self.value += self.w_q * queue;
                return;
            }
            let missed = (self.missed + self.packet_rate * now.since(since).seconds()).floor();
            self.value *= keep.powf(missed);
        }
        self.value = self.value * keep + self.w_q * queue;
    }

    /// Steps of zero as ns-2 takes them, with that of the arrival. Where the idle time is a whole number of packets but
    /// for rounding, whether the last one counts is decided by ns-2's sums of times: the product is formed of the same
    /// doubles, and each step is a multiplication.
    fn decay(&mut self, now_s: f64) {
        let keep = 1.0 - self.w_q;
        let mut missed = (self.packet_rate * (now_s - self.idle_since_s)) as u64;
        if missed > MANY_STEPS && self.value > NOTHING {
            self.value *= keep.powf((missed - MANY_STEPS) as f64);
            missed = MANY_STEPS;
        }
        while missed > 0 && self.value > NOTHING {
            self.value *= keep;
            missed -= 1;
        }
        if missed > 0 {
            self.value = 0.0;
        }
        self.value *= keep;
    }

    /// The link went idle.
    pub(crate) fn idle(&mut self, now: Time) {
        self.idle_since = Some(now);
        self.idle_since_s = self.clock.unwrap_or_default();
        self.missed = 0.0;
    }

    /// The link is busy although no arrival was averaged.
    pub(crate) fn busy(&mut self) {
        self.idle_since = None;
    }
}

/// Drop probability over the average queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub(crate) min_th: f64,
    pub(crate) max_th: f64,
    pub(crate) max_p: f64,
    pub(crate) gentle: bool,
    /// Where the gentle part begins; follows `max_p` unless the implementation froze it.
    pub(crate) gentle_p: f64,
}

impl Curve {
    pub(crate) fn new(min_th: f64, max_th: f64, max_p: f64, gentle: bool) -> Self {
        Self { min_th, max_th, max_p, gentle, gentle_p: max_p }
    }

    /// `p_b` at this average, which must not be below `min_th`.
    #[inline]
    pub(crate) fn p(&self, avg: f64) -> f64 {
        let p = if avg < self.max_th {
            self.max_p * (avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.gentle && avg < self.ceiling() {
            self.gentle_p + (1.0 - self.gentle_p) * (avg - self.max_th) / self.max_th
        } else {
            1.0
        };
        p.min(1.0)
    }

    /// The average from which every arrival is dropped.
    #[inline]
    pub(crate) fn ceiling(&self) -> f64 {
        if self.gentle { 2.0 * self.max_th } else { self.max_th }
    }
}

/// How drops are spread over arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    /// No drop before 1 / `p_b` arrivals have passed since the last one.
    pub(crate) wait: bool,
    /// Arrivals are counted, and probabilities scaled, by size over this mean packet size.
    pub(crate) by_bytes: Option<u32>,
}

/// Arrivals since the last drop, which make the gaps between drops uniform.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spacing {
    count: u64,
    count_bytes: u64,
    /// The average has been at or above the minimum threshold since the arrival before.
    pub(crate) above: bool,
}

impl Spacing {
    #[inline]
    pub(crate) fn arrival(&mut self, size: u16) {
        self.count += 1;
        self.count_bytes += u64::from(size);
    }

    /// Counts anew after a drop or mark.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }

    /// Counts anew from the arrival that crossed the minimum threshold, which is the first
    /// (ns-2) or is not yet counted (1993).
    #[inline]
    pub(crate) fn cross(&mut self, counts: bool, size: u16) {
        self.above = true;
        self.count = u64::from(counts);
        self.count_bytes = if counts { u64::from(size) } else { 0 };
    }

    /// `p_a`: the probability of dropping this arrival, from `p_b`.
    #[inline]
    pub(crate) fn p(&self, p_b: f64, size: u16, spread: Spread) -> f64 {
        let count = match spread.by_bytes {
            Some(mean) => (self.count_bytes / u64::from(mean)) as f64,
            None => self.count as f64,
        };
        let expected = count * p_b;
        let mut p = match (spread.wait, expected) {
            (true, e) if e < 1.0 => 0.0,
            (true, e) if e < 2.0 => p_b / (2.0 - e),
            (false, e) if e < 1.0 => p_b / (1.0 - e),
            _ => 1.0,
        };
        if let Some(mean) = spread.by_bytes
            && p < 1.0
        {
            p *= f64::from(size) / f64::from(mean);
        }
        p.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;
    use crate::units::Span;

    #[test]
    fn a_constant_queue_is_approached_geometrically() {
        let mut avg = Average::new(0.002, 1000.0);
        avg.busy();
        for _ in 0..500 {
            avg.arrival(Time::ZERO, 50.0);
        }
        // After n arrivals at a constant queue q: q (1 - (1 - w)^n); 0.998^500 = 0.36751 (by logarithm).
        assert!((avg.value - 50.0 * (1.0 - 0.367_51)).abs() < 1e-3, "{}", avg.value);
    }

    #[test]
    fn idle_time_counts_as_empty_arrivals() {
        let mut avg = Average::new(0.5, 1000.0);
        avg.busy();
        avg.arrival(Time::ZERO, 16.0);
        near::<12>(avg.value, 8.0);
        // 2.5 ms at 1000 packets/s: two whole packets missed, then one arrival at an empty queue.
        avg.idle(Time::ZERO);
        avg.arrival(Time::ZERO + Span::from_micros(2500), 0.0);
        near::<12>(avg.value, 1.0);
    }

    /// At 10^15 bit/s a second is 10^11 packets of 1250 B: their steps are a power, and ns-2's product but for rounding.
    #[test]
    fn very_many_steps_of_zero_on_the_clock_of_ns2_are_a_power() {
        for (w_q, packets) in [(1e-12, 1e11), (1e-9, 1e11), (1e-5, 99_999.0), (1e-5, 300_000.0)] {
            let mut avg = Average::new(w_q, packets);
            avg.set_clock(0.0);
            avg.idle(Time::ZERO);
            avg.value = 8.0;
            avg.set_clock(1.0);
            avg.arrival(Time::ZERO + Span::from_seconds(1.0), 0.0);
            let expected = 8.0 * ((-w_q).ln_1p() * (packets + 1.0)).exp();
            assert!((avg.value / expected - 1.0).abs() < 1e-3, "{} of {expected}", avg.value);
        }
    }

    #[test]
    fn the_curve_has_its_published_corners() {
        let gentle = Curve::new(5.0, 15.0, 0.1, true);
        near::<12>(gentle.p(5.0), 0.0);
        near::<12>(gentle.p(10.0), 0.05);
        near::<12>(gentle.p(15.0), 0.1);
        near::<12>(gentle.p(22.5), 0.55);
        near::<12>(gentle.p(30.0), 1.0);
        near::<12>(gentle.p(300.0), 1.0);
        // Every arrival is dropped at the upper corner: 1, and no rounding below it.
        assert!(Curve::new(2.0, 5.0, 0.162_809_813_090_917_94, true).p(10.0) >= 1.0);
        let classic = Curve { gentle: false, ..gentle };
        near::<12>(classic.p(14.0), 0.09);
        near::<12>(classic.p(15.0), 1.0);
    }

    /// Probability of each gap between drops at `p_b` = 1/8, from `p_a` alone.
    fn gaps(wait: bool) -> Vec<f64> {
        let spread = Spread { wait, by_bytes: None };
        let mut spacing = Spacing::default();
        let mut survive = 1.0;
        (1..=16)
            .map(|_| {
                spacing.arrival(1000);
                let p = spacing.p(0.125, 1000, spread);
                let here = survive * p;
                survive *= 1.0 - p;
                here
            })
            .collect()
    }

    #[test]
    fn gaps_are_uniform() {
        // 1993: on 1..7, as p/(1 - p), p/(1 - 2p), .. reach 1 at the seventh arrival.
        for (i, p) in gaps(false).into_iter().enumerate() {
            near::<12>(p, if i < 7 { 1.0 / 7.0 } else { 0.0 });
        }
        // Waiting: on 8..15, between one and two mean gaps.
        for (i, p) in gaps(true).into_iter().enumerate() {
            near::<12>(p, if (7..15).contains(&i) { 0.125 } else { 0.0 });
        }
    }

    #[test]
    fn bytes_mode_scales_by_size() {
        let spread = Spread { wait: false, by_bytes: Some(500) };
        let mut spacing = Spacing::default();
        spacing.arrival(1000);
        // 1000 B are two mean packets: p_b/(1 - 2 p_b) = 0.125 at p_b = 0.1, times 40/500.
        near::<12>(spacing.p(0.1, 40, spread), 0.01);
        near::<12>(spacing.p(0.1, 1000, spread), 0.25);
    }
}
