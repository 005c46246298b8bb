//! What Linux's BBR has beside its draft: a margin, whole segments, a window for aggregated ACKs.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_bbr.c` (behaviour); draft-cardwell-iccrg-bbr-congestion-control-01 names
//! neither. The window for aggregated ACKs: N. Cardwell et al., "BBR v2: Congestion-based Congestion Control", IETF 102,
//! 2018.
//!
//! **Rule**
//! ```text
//! pacing rate = 0.99 gain x BtlBw
//! volume:  ceil(gain x BtlBw x RTprop) + extra + 3 quanta, rounded up to an even number, 2 more in the
//!          phase that probes
//! extra:   most acknowledged beyond BtlBw x time since the epoch began, of the last 5 to 10 rounds; at most
//!          cwnd and 0.1 s x BtlBw; in the window only, once the pipe was full
//! epoch:   begins anew when no more than BtlBw x time was acknowledged
//! ```
//!
//! Deviations, read off the kernel's code, in states without recovery: a sample that equals `RTprop` refreshes it, as in the
//! draft, where the kernel requires a smaller one (in whole microseconds), so that on a path without a queue the kernel is in
//! `ProbeRTT` each 10 s and here not; samples of delayed ACKs renew an expired `RTprop`; the largest rate is that of ten
//! rounds, without the kernel's estimate by three samples; phases compare what is in flight now, not at the pacer's next
//! departure; gains are not in 1/256 (2.885 for 2.887, 0.3466 for 0.3438); the first pacing rate has no margin; the end of
//! `ProbeRTT` is not looked for when an idle flow sends again.

use crate::units::Time;

/// Share of the rate that is paced.
pub(super) const MARGIN: f64 = 0.99;
const MOST_SECONDS: f64 = 0.1;
const WINDOW_ROUNDS: u32 = 5;
const MOST_ACKED: f64 = 1_048_575.0;

/// Volume of whole segments around a product of rate and time.
pub(super) fn quantise(volume: f64, quantum: f64, probes: bool) -> f64 {
    let segments = volume.ceil() + 3.0 * quantum.floor();
    let even = 2.0 * (segments / 2.0).ceil();
    if probes { even + 2.0 } else { even }
}

/// The largest aggregates of acknowledgements of two windows of rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    extra: [f64; 2],
    present: usize,
    rounds: u32,
    epoch: Time,
    acked: f64,
}

impl Aggregation {
    /// Takes an acknowledgement of `acked` segments; `btlbw` in segments per second.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        round_began: bool,
        acked: f64,
        btlbw: f64,
        cwnd: f64,
    ) {
        if acked <= 0.0 {
            return;
        }
        if round_began {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.present = 1 - self.present;
                self.extra[self.present] = 0.0;
            }
        }
        let mut expected = (btlbw * now.since(self.epoch).seconds()).floor();
        if self.acked <= expected || self.acked + acked > MOST_ACKED {
            (self.acked, self.epoch, expected) = (0.0, now, 0.0);
        }
        self.acked = (self.acked + acked).min(MOST_ACKED);
        let extra = &mut self.extra[self.present];
        *extra = extra.max((self.acked - expected).min(cwnd));
    }

    /// Begins anew after idleness.
    pub(super) fn restart(&mut self, now: Time) {
        (self.acked, self.epoch) = (0.0, now);
    }

    /// Segments that the window has in addition.
    pub(super) fn extra(&self, btlbw: f64) -> f64 {
        self.extra[0].max(self.extra[1]).min((btlbw * MOST_SECONDS).floor())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 67.3 + 3 x 2 = 74; one more is 75, so 76; in the phase that probes 78.
    #[test]
    fn volumes_are_even() {
        assert_eq!(quantise(67.3, 2.0, false), 74.0);
        assert_eq!((quantise(68.5, 2.0, false), quantise(68.5, 2.0, true)), (76.0, 78.0));
    }

    /// 1000 a second. Twenty at 100 ms are expected by then: a new epoch, of which these are 20 beyond; ten more
    /// at 105 ms are 30 of which 5 were expected.
    #[test]
    fn what_comes_faster_than_the_bottleneck_is_counted_from_the_beginning_of_its_burst() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(at(100), false, 20.0, 1000.0, 500.0);
        assert_eq!(aggregation.extra(1000.0), 20.0);
        aggregation.on_ack(at(105), false, 10.0, 1000.0, 500.0);
        assert_eq!(aggregation.extra(1000.0), 25.0);
        // 30 were expected at 130 ms.
        aggregation.on_ack(at(135), false, 3.0, 1000.0, 500.0);
        assert_eq!(aggregation.extra(1000.0), 25.0);
        assert_eq!(aggregation.extra(100.0), 10.0);
    }

    #[test]
    fn an_aggregate_is_forgotten_after_ten_rounds() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(at(1), false, 40.0, 1000.0, 500.0);
        for round in 1..=10 {
            assert_eq!(aggregation.extra(1000.0), 40.0, "{round}");
            aggregation.on_ack(at(1000 * round), true, 1.0, 1000.0, 500.0);
        }
        assert_eq!(aggregation.extra(1000.0), 1.0);
    }
}
