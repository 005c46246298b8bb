//! What is compared: the window over time, and what arrived.

use std::time::Duration;

/// The window after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Duration,
    /// cwnd in bytes.
    pub window: f64,
}

/// A run of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Each change of the window.
    pub windows: Vec<Sample>,
    /// Bytes of the stream that had arrived by the end of the warm-up, and by the end.
    pub delivered: [u64; 2],
    /// Packets that the bottleneck dropped.
    pub dropped: u64,
}

impl Trace {
    /// The window changes at `time`, if it does.
    pub(crate) fn note(&mut self, time: Duration, window: f64) {
        if self.windows.last().is_none_or(|last| last.window != window) {
            self.windows.push(Sample { at: time, window });
        }
    }

    /// Bits per second between the end of the warm-up and the end.
    pub fn goodput_bps(&self, warmup: Duration, end: Duration) -> f64 {
        (self.delivered[1] - self.delivered[0]) as f64 * 8.0 / (end - warmup).as_secs_f64()
    }

    /// Least, mean over time, and largest window between two times, in bytes.
    pub fn window(&self, from: Duration, to: Duration) -> [f64; 3] {
        let (mut least, mut most, mut sum) = (f64::INFINITY, 0.0f64, 0.0);
        for (i, sample) in self.windows.iter().enumerate() {
            let end = self.windows.get(i + 1).map_or(to, |next| next.at).min(to);
            let begin = sample.at.max(from);
            if begin < end {
                least = least.min(sample.window);
                most = most.max(sample.window);
                sum += sample.window * (end - begin).as_secs_f64();
            }
        }
        [least, sum / (to - from).as_secs_f64(), most]
    }

    /// Times at which the window fell by more than a tenth.
    pub fn cuts(&self) -> Vec<Duration> {
        let pairs = self.windows.windows(2);
        pairs.filter(|pair| pair[1].window < 0.9 * pair[0].window).map(|pair| pair[1].at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_window_is_that_over_time() {
        let mut trace = Trace::default();
        for (s, window) in [(0, 10.0), (2, 30.0), (2, 30.0), (6, 15.0)] {
            trace.note(Duration::from_secs(s), window);
        }
        // 10 for one second, 30 for four, 15 for two.
        let [least, mean, most] = trace.window(Duration::from_secs(1), Duration::from_secs(8));
        assert_eq!((least, most), (10.0, 30.0));
        assert!((mean - 160.0 / 7.0).abs() < 1e-12);
        assert_eq!(trace.cuts(), [Duration::from_secs(6)]);
    }
}
