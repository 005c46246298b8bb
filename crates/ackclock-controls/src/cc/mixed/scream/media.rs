//! The rate that SCReAM gives to an encoder: the draft's section "Media Rate Control", with what concerns media of
//! "Sender Transmission Control".

use crate::cc::{Frame, MediaSource};
use crate::units::Time;

/// `PACKET_OVERHEAD`, bytes.
const PACKET_OVERHEAD: f64 = 20.0;
/// What the window carries is divided by this, which the draft has no name for.
const RESERVE: f64 = 1.2;
/// `RATE_ADJUST_GAIN` and `FRAME_SIZE_DEV_ALPHA`.
const ADJUST_GAIN: f64 = 1.0 / 16.0;
const DEVIATION_GAIN: f64 = 1.0 / 64.0;
/// `REF_WND_OVERHEAD_MIN` and `REF_WND_OVERHEAD_MAX`.
const LEAST_OVERHEAD: f64 = 1.5;
const MOST_OVERHEAD: f64 = 3.0;
/// `RELAXED_PACING_LIMIT_LOW` and `MAX_RELAXED_PACING_FACTOR`.
const RELAXED_FROM: f64 = 0.8;
const MOST_RELAXED: f64 = 4.0;
/// Of the published program: near the largest rate is above this part of it, where the window is at most what was in
/// flight in so many round trips, or what so much more than the largest rate needs.
const NEAR_MOST: f64 = 0.95;
const FLIGHTS: usize = 20;
const RATE_HEADROOM: f64 = 1.5;
/// Of the published program: the part by which SRTT falls in a round trip, while the flow is limited by the application.
const SLOW_DECAY: f64 = 1.0 / 1024.0;

/// How many times the reference window may be in flight; `steadiness` is `ref_wnd_delay_scale`.
pub(super) fn overhead(steadiness: f64) -> f64 {
    LEAST_OVERHEAD + (MOST_OVERHEAD - LEAST_OVERHEAD) * steadiness
}

/// The media that a flow carries.
pub(super) struct Carried {
    mss: f64,
    min: f64,
    max: f64,
    period: f64,
    /// `target_bitrate`, of payload, in bit/s.
    pub(super) target: f64,
    /// `rate_adjust_factor` and `frame_size_dev`.
    pub(super) adjust: f64,
    pub(super) deviation: f64,
    /// Much less is in flight than the window.
    pub(super) is_limited: bool,
    srtt: f64,
    srtt_at: Time,
    /// The most in flight in round trips before, in a ring, segments.
    flights: [f64; FLIGHTS],
    next: usize,
}

impl Carried {
    pub(super) fn new(source: MediaSource, mss: f64) -> Self {
        Self {
            mss,
            min: source.min.bps(),
            max: source.max.bps(),
            period: source.period,
            target: source.min.bps(),
            adjust: 0.0,
            deviation: 0.0,
            is_limited: false,
            srtt: 0.0,
            srtt_at: Time::ZERO,
            flights: [0.0; FLIGHTS],
            next: 0,
        }
    }

    /// The smoothed round trip to compute with, seconds: the transport's, but that it falls slowly while the
    /// application limits the flow.
    pub(super) fn measure_srtt(&mut self, now: Time, srtt: f64) -> f64 {
        if !self.is_limited || srtt >= self.srtt {
            self.srtt = srtt;
            self.srtt_at = now;
        } else if now.since(self.srtt_at).seconds() >= self.srtt {
            self.srtt += SLOW_DECAY * (srtt - self.srtt);
            self.srtt_at = now;
        }
        self.srtt
    }

    /// Notes how far the queue and the size of a frame are from what they should be.
    pub(super) fn on_frame(&mut self, frame: &Frame) {
        let error = (frame.waited.seconds() - self.period / 4.0) / self.period;
        self.adjust = (self.adjust + error * ADJUST_GAIN).clamp(0.0, 0.5);
        let nominal = self.target * self.period / 8.0;
        let excess = ((frame.bytes - nominal) / nominal).max(0.0);
        self.deviation = (self.deviation + DEVIATION_GAIN * (excess - self.deviation)).min(0.2);
    }

    /// Computes the target of a reference window, segments.
    pub(super) fn aim(&mut self, window: f64) {
        if self.srtt <= 0.0 {
            return;
        }
        let ratio = (1.0 / window).min(1.0);
        let mut scale = 1.0 - (ratio - 0.1).clamp(0.0, 0.2);
        scale *= self.mss / (self.mss + PACKET_OVERHEAD);
        scale /= RESERVE + self.adjust + self.deviation;
        let rate = scale * 8.0 * window * self.mss / self.srtt;
        self.target = rate.max(self.min).min(self.max);
    }

    /// How many times faster packets may leave than with the common headroom.
    pub(super) fn relax(&self) -> f64 {
        let part = (self.target / self.max - RELAXED_FROM) / (1.0 - RELAXED_FROM);
        1.0 / (1.0 - part).clamp(1.0 / MOST_RELAXED, 1.0)
    }

    /// Whether a larger window would give a larger rate.
    pub(super) fn is_below_most(&self) -> bool {
        self.target < self.max
    }

    /// The largest window, where the rate is near its largest; `flight` was in flight in this round trip.
    pub(super) fn limit_window(&mut self, flight: f64, srtt: f64) -> Option<f64> {
        self.flights[self.next] = flight;
        self.next = (self.next + 1) % FLIGHTS;
        if self.target <= NEAR_MOST * self.max {
            return None;
        }
        let needed = RATE_HEADROOM * self.max * srtt / (8.0 * self.mss);
        Some(self.flights.iter().fold(needed, |most, flight| most.max(*flight)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;
    use crate::units::{BitRate, Span};

    fn carried() -> Carried {
        let source = MediaSource { min: BitRate(100_000), max: BitRate(20_000_000), period: 0.02 };
        Carried::new(source, 1000.0)
    }

    /// A window of 20 segments in 25 ms are 6.4 Mbit/s: of them 1000/1020, divided by 1.2. With 4 segments 1/4 - 0.1 less, with
    /// 2 a fifth less, and no less than the least.
    #[test]
    fn the_target_is_what_the_window_carries_less_a_reserve() {
        let mut media = carried();
        media.aim(20.0);
        near::<9>(media.target, 1e5); // no round trip yet
        media.measure_srtt(Time::ZERO, 0.025);
        for (window, target) in [
            (20.0, 6.4e6 / 1.02 / 1.2),
            (4.0, 1.28e6 * 0.85 / 1.02 / 1.2),
            (2.0, 0.64e6 * 0.8 / 1.02 / 1.2),
            (0.1, 1e5),
            (200.0, 2e7),
        ] {
            media.aim(window);
            near::<12>(media.target / target, 1.0);
        }
        assert!(!media.is_below_most());
    }

    /// Frames of 20 ms: 25 ms of waiting are a period more than a fourth, so 1/16; then nothing waits: 1/64 less. A frame a
    /// half larger than 2 Mbit/s x 20 ms = 5000 bytes: 0.5/64; one that is smaller: 63/64 of it.
    #[test]
    fn what_waits_and_frames_that_are_too_large_lower_the_target() {
        let mut media = carried();
        media.target = 2e6;
        let frame = |bytes, ms| Frame { bytes, waited: Span::from_millis(ms) };
        media.on_frame(&frame(7500.0, 25));
        near::<12>(media.adjust, 1.0 / 16.0);
        near::<12>(media.deviation, 0.5 / 64.0);
        media.on_frame(&frame(4000.0, 0));
        near::<12>(media.adjust, 3.0 / 64.0);
        near::<12>(media.deviation, 0.5 / 64.0 * 63.0 / 64.0);
        media.measure_srtt(Time::ZERO, 0.025);
        media.aim(20.0);
        near::<9>(media.target, 6.4e6 / 1.02 / (1.2 + media.adjust + media.deviation));
        for _ in 0..100 {
            media.on_frame(&frame(100_000.0, 100));
        }
        near::<12>(media.adjust, 0.5);
        near::<12>(media.deviation, 0.2);
    }

    /// Of 20 Mbit/s: up to 16 not at all, at 18 (half of the rest) twice, from 19 on four times.
    #[test]
    fn pacing_is_relaxed_near_the_largest_rate() {
        let mut media = carried();
        for (target, factor) in [(1e6, 1.0), (16e6, 1.0), (18e6, 2.0), (19e6, 4.0), (20e6, 4.0)] {
            media.target = target;
            near::<12>(media.relax(), factor);
        }
    }

    /// 1.5 x 20 Mbit/s x 25 ms are 93.75 segments; 100 in flight count for 20 round trips.
    #[test]
    fn near_the_largest_rate_the_window_is_what_was_in_flight_or_that_rate_needs() {
        let mut media = carried();
        media.target = 18e6;
        assert_eq!(media.limit_window(100.0, 0.025), None);
        media.target = 20e6;
        for _ in 1..FLIGHTS {
            near::<12>(media.limit_window(10.0, 0.025).unwrap(), 100.0);
        }
        near::<12>(media.limit_window(10.0, 0.025).unwrap(), 93.75);
    }

    #[test]
    fn a_round_trip_falls_slowly_while_the_application_limits_the_flow() {
        let mut media = carried();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        near::<12>(media.measure_srtt(at(0), 0.1), 0.1);
        near::<12>(media.measure_srtt(at(10), 0.05), 0.05);
        near::<12>(media.measure_srtt(at(20), 0.1), 0.1);
        media.is_limited = true;
        near::<12>(media.measure_srtt(at(100), 0.05), 0.1); // within a round trip
        near::<12>(media.measure_srtt(at(120), 0.05), 0.1 - 0.05 / 1024.0);
        near::<12>(media.measure_srtt(at(130), 0.2), 0.2);
    }

    #[test]
    fn three_windows_may_be_in_flight_and_one_and_a_half_where_delay_varies() {
        near::<12>(overhead(1.0), 3.0);
        near::<12>(overhead(0.0), 1.5);
    }
}
