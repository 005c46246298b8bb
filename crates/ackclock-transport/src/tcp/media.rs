//! A video encoder whose rate follows the congestion control of the flow that carries it.
//!
//! **Source**: X. Zhu, S. Mena, Z. Sarker, "Video Traffic Models for RTP Congestion Control Evaluations",
//! RFC 8593, May 2019, section 5 (the statistical model); its numbers, and the lag of 100 ms, as
//! Z. Sarker, V. Singh, X. Zhu, M. Ramalho, RFC 8867, January 2021, section 4.3.
//!
//! **Rule** (`R_v` the target, `R_o` the output, t0 = 1 / fps, L(b) Laplace of mean 0 and scale b)
//! ```text
//! target:   R_v = mss cwnd / srtt, no more than the control's pacing rate; R_min before the first sample
//! lag:      R_o takes the value of R_v, within [R_min, R_max], not sooner than tau_v after its last change
//! frames:   t0 (1 + L(SCALE_t)) apart, of R_o t0 (1 + L(SCALE_B)) / 8 bytes each
//! burst:    a change of R_o by more than 10 % begins K_d frames of together K_d R_o t0 / 8 bytes, the first of
//!           K_B at most, the others alike
//! skipping: no frame is made while what waits to be sent would take longer than `patience` at R_o
//! ```
//! Deviations: whole segments leave; what a frame has beyond them leaves with the next one. What is lost is sent
//! again, as the flow's transport does. RFC 8593 leaves open when frames are skipped (its section 4).
//!
//! Defaults by era: the same in all.

use crate::rng::Stream;
use crate::scenario::Media;
use crate::units::{Span, Time};

/// A change of the rate by more than this part of it is a transient (RFC 8593 section 7).
const TRANSIENT: f64 = 0.1;

/// The state of an encoder.
#[derive(Debug)]
pub(crate) struct Encoder {
    rng: Stream,
    /// Output rate [bit/s]; 0 before the first frame.
    rate: f64,
    changed_at: Time,
    /// Frames left of a transient, the size of each but the first [bytes].
    transient: (u32, f64),
}

impl Encoder {
    pub(crate) fn new(rng: Stream) -> Self {
        Self { rng, rate: 0.0, changed_at: Time::ZERO, transient: (0, 0.0) }
    }

    /// The size of a frame [bytes], and when the next one is due. `target` is in bit/s, `waiting` in bits.
    pub(crate) fn frame(
        &mut self,
        media: &Media,
        now: Time,
        target: f64,
        waiting: f64,
    ) -> (f64, Span) {
        let began = self.follow(media, now, target);
        let t0 = 1.0 / media.fps;
        let interval = Span::from_seconds(t0 * (1.0 + self.laplace(media.scale_t)).max(0.0));
        let factor = (1.0 + self.laplace(media.scale_b)).max(0.0);
        if waiting > self.rate * media.patience.seconds() {
            return (0.0, interval);
        }
        let mean = self.rate * t0 / 8.0;
        if let (true, Some(burst)) = (began, media.burst) {
            let frames = media.burst_frames;
            let all = mean * f64::from(frames);
            let first = all.min(burst.0 as f64);
            self.transient = (frames - 1, (all - first) / f64::from(frames - 1));
            return (first, interval);
        }
        if self.transient.0 > 0 {
            self.transient.0 -= 1;
            return (self.transient.1, interval);
        }
        (mean * factor, interval)
    }

    /// Takes the target's value, if it may; whether a transient begins.
    fn follow(&mut self, media: &Media, now: Time, target: f64) -> bool {
        let first = self.rate == 0.0;
        if !first && now.since(self.changed_at) < media.lag {
            return false;
        }
        let rate = target.clamp(media.min.bps(), media.max.bps());
        let change = (rate - self.rate).abs();
        if change > 0.0 {
            let before = self.rate;
            (self.rate, self.changed_at) = (rate, now);
            return !first && change > TRANSIENT * before;
        }
        false
    }

    /// A number of the Laplace distribution of mean 0.
    fn laplace(&mut self, scale: f64) -> f64 {
        let u = self.rng.uniform() - 0.5;
        // 1 - 2 |u| is in (0, 1] but for u = -0.5, whose deviation is that of the smallest other one.
        -scale * u.signum() * (1.0 - 2.0 * u.abs()).max(f64::EPSILON).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use crate::scenario::Pause;
    use crate::units::Bytes;

    fn encoder() -> Encoder {
        Encoder::new(Stream::new(3, Purpose::Media, 0))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A Laplace variable has standard deviation sqrt(2) b: 60,000 frames know the mean rate to 0.09 %,
    /// and the deviation, whose kurtosis is 6, to 0.5 %.
    #[test]
    fn frames_have_the_mean_and_the_spread_of_rfc_8593() {
        let (media, mut encoder) = (Media::default(), encoder());
        let (mut now, mut sizes, mut gaps) = (Time::ZERO, Vec::new(), Vec::new());
        for _ in 0..60_000 {
            let (bytes, gap) = encoder.frame(&media, now, 1e6, 0.0);
            sizes.push(bytes / (1e6 / 30.0 / 8.0) - 1.0);
            gaps.push(gap.seconds() * 30.0 - 1.0);
            now += gap;
        }
        for all in [sizes, gaps] {
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let spread = (all.iter().map(|x| x * x).sum::<f64>() / all.len() as f64).sqrt();
            assert!(mean.abs() < 0.004, "{mean}");
            assert!((spread / (0.15 * 2f64.sqrt()) - 1.0).abs() < 0.02, "{spread}");
        }
    }

    #[test]
    fn the_rate_follows_the_target_after_the_lag_and_stays_in_its_range() {
        let media = Media { scale_b: 0.0, ..Media::default() };
        let mut encoder = encoder();
        let mut rate = |ms, target| encoder.frame(&media, at(ms), target, 0.0).0 * 8.0 * 30.0;
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        near(rate(0, 0.0), 150e3);
        near(rate(50, 1e6), 150e3);
        near(rate(100, 1e6), 1e6);
        near(rate(150, 9e6), 1e6);
        near(rate(200, 9e6), 1.5e6);
        near(rate(300, 1.0), 150e3);
    }

    /// RFC 8593's example: 1 Mbit/s, 30 frames/s, `K_d` = 8, `K_B` = 13.5 kB; the other seven have
    /// (8 x 4166.7 - 13500) / 7 = 2833.3 bytes.
    #[test]
    fn a_burst_is_made_good_in_the_frames_after_it() {
        let burst = Some(Bytes(13_500));
        let media = Media { scale_b: 0.0, scale_t: 0.0, burst, ..Media::default() };
        let mut encoder = encoder();
        encoder.frame(&media, at(0), 5e5, 0.0);
        let sizes: Vec<f64> =
            (1..=9).map(|i| encoder.frame(&media, at(100 + 33 * i), 1e6, 0.0).0).collect();
        assert!((sizes[0] - 13_500.0).abs() < 1e-9);
        assert!(sizes[1..8].iter().all(|s| (s - 2833.333).abs() < 1e-2), "{sizes:?}");
        assert!((sizes[8] - 4166.667).abs() < 1e-2);
    }

    #[test]
    fn a_frame_is_skipped_while_much_waits_and_nothing_is_made_in_a_pause() {
        let pauses = vec![Pause { at: Span::from_millis(1000), until: Span::from_millis(2000) }];
        let media = Media { pauses, ..Media::default() };
        let mut encoder = encoder();
        // At 150 kbit/s, 15,000 bits take 100 ms.
        assert!(encoder.frame(&media, at(0), 0.0, 15_000.0).0 > 0.0);
        assert!(encoder.frame(&media, at(1), 0.0, 15_001.0).0 == 0.0);
        assert_eq!(media.pause(at(999)), None);
        assert_eq!(media.pause(at(1000)), Some(at(2000)));
        assert_eq!(media.pause(at(2000)), None);
    }
}
