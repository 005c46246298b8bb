//! The path: one FIFO bottleneck for data, a wire for what comes back.

use std::collections::VecDeque;
use std::time::Duration;

/// Bytes of IPv4 and UDP headers.
const BELOW: usize = 28;

/// A path with one bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Rate of the bottleneck in bit/s.
    pub rate_bps: f64,
    /// Propagation delay of each direction.
    pub delay: Duration,
    /// Packets that may wait at the bottleneck, besides the one in transmission.
    pub buffer: usize,
}

/// The bottleneck's state.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    path: Path,
    /// When the packets in it, the one in transmission first, have left.
    departures: VecDeque<Duration>,
    pub(crate) dropped: u64,
}

impl Bottleneck {
    pub(crate) fn new(path: Path) -> Self {
        Self { path, departures: VecDeque::new(), dropped: 0 }
    }

    /// When a datagram of `size` bytes that leaves its sender now arrives; `None`: it is dropped.
    pub(crate) fn carry(&mut self, now: Duration, size: usize) -> Option<Duration> {
        while self.departures.front().is_some_and(|&at| at <= now) {
            self.departures.pop_front();
        }
        if self.departures.len() > self.path.buffer {
            self.dropped += 1;
            return None;
        }
        let free = self.departures.back().copied().unwrap_or(now).max(now);
        let done = free + transmission(size, self.path.rate_bps);
        self.departures.push_back(done);
        Some(done + self.path.delay)
    }
}

/// Time that a datagram of `size` bytes takes at a rate.
pub(crate) fn transmission(size: usize, rate_bps: f64) -> Duration {
    Duration::from_secs_f64((size + BELOW) as f64 * 8.0 / rate_bps)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 972 + 28 B at 8 Mbit/s take 1 ms. One in transmission, two wait, the fourth is dropped; 1 ms later there is
    /// room for one.
    #[test]
    fn a_buffer_of_two_holds_two_besides_the_one_in_transmission() {
        let path = Path { rate_bps: 8e6, delay: Duration::from_millis(10), buffer: 2 };
        let mut link = Bottleneck::new(path);
        let ms = Duration::from_millis;
        let seen: Vec<_> = (0..4).map(|_| link.carry(ms(0), 972)).collect();
        assert_eq!(seen, [Some(ms(11)), Some(ms(12)), Some(ms(13)), None]);
        assert_eq!(link.carry(ms(1), 972), Some(ms(14)));
        assert_eq!(link.carry(ms(1), 972), None);
        assert_eq!(link.dropped, 2);
    }
}
