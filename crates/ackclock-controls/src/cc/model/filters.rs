//! What controls that model the path share: windowed maxima, packet-timed rounds, the first pacing rate.

use crate::units::Span;

/// The largest value of each of the last `N` slots of a virtual time that only rises.
#[derive(Clone, Debug)]
pub(super) struct RecentMax<const N: usize> {
    largest: [f64; N],
    slots: [u64; N],
    /// The last query, slot and length, and the answer with what has been added to that slot since.
    last: (u64, u64, f64),
}

impl<const N: usize> RecentMax<N> {
    /// Without values.
    pub(super) fn new() -> Self {
        Self { largest: [0.0; N], slots: [0; N], last: (u64::MAX, 0, 0.0) }
    }

    /// A value of slot `slot`.
    pub(super) fn add(&mut self, slot: u64, value: f64) {
        let index = (slot % N as u64) as usize;
        if self.slots[index] != slot {
            self.slots[index] = slot;
            self.largest[index] = 0.0;
        }
        self.largest[index] = self.largest[index].max(value);
        if slot == self.last.0 {
            self.last.2 = self.last.2.max(value);
        }
    }

    /// The largest value of slot `slot` and the `len - 1` before it; 0 without values.
    pub(super) fn largest(&mut self, slot: u64, len: u64) -> f64 {
        if (slot, len) != (self.last.0, self.last.1) {
            self.last = (slot, len, self.search(slot, len));
        }
        self.last.2
    }

    fn search(&self, slot: u64, len: u64) -> f64 {
        let recent = |&(_, &of): &(&f64, &u64)| of <= slot && slot - of < len;
        let values = self.largest.iter().zip(&self.slots).filter(recent);
        values.fold(0.0, |largest, (&value, _)| largest.max(value))
    }
}

/// Packet-timed round trips: one ends when a packet is delivered that left after it had begun.
///
/// **Source**: draft-ietf-ccwg-bbr-06, "Tracking Packet-Timed Round Trips".
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// Round trips so far.
    pub(super) count: u64,
    /// The last acknowledgement ended one.
    pub(super) started: bool,
    next: u64,
}

impl Rounds {
    /// A packet that left after `prior_delivered` deliveries is delivered, `delivered` in total.
    pub(super) fn on_delivered(&mut self, prior_delivered: u64, delivered: u64) {
        self.started = prior_delivered >= self.next;
        if self.started {
            self.count += 1;
            self.restart(delivered);
        }
    }

    /// A round begins now.
    pub(super) fn restart(&mut self, delivered: u64) {
        self.next = delivered;
    }
}

/// Initial round trip where none is known.
const NOMINAL_RTT_SECONDS: f64 = 1e-3;

/// BBR's first pacing rate, in segments a second: `gain` windows of `cwnd` a round trip.
pub(super) fn first_rate(gain: f64, cwnd: f64, srtt: Span) -> f64 {
    let rtt = if srtt > Span::ZERO { srtt.seconds() } else { NOMINAL_RTT_SECONDS };
    gain * cwnd / rtt
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_maximum_is_that_of_all_values_in_the_window(
            steps in prop::collection::vec((0u64..3, 1u32..1000, 1u64..=4), 1..80),
        ) {
            let mut filter = RecentMax::<4>::new();
            let mut all: Vec<(u64, f64)> = Vec::new();
            let mut slot = 0;
            for (step, value, len) in steps {
                slot += step;
                filter.add(slot, f64::from(value));
                all.push((slot, f64::from(value)));
                let expected = all
                    .iter()
                    .filter(|(of, _)| of + len > slot)
                    .fold(0.0, |largest: f64, (_, value)| largest.max(*value));
                prop_assert_eq!(filter.largest(slot, len), expected);
            }
        }
    }

    /// Windows of four: the round ends with the first packet that left after the window before was delivered.
    #[test]
    fn a_window_is_a_round() {
        let mut rounds = Rounds::default();
        let mut ends = Vec::new();
        for packet in 0..12u64 {
            // Packet 4 left when one had been delivered, and so on.
            rounds.on_delivered((packet + 1).saturating_sub(4), packet + 1);
            if rounds.started {
                ends.push(packet);
            }
        }
        assert_eq!((ends, rounds.count), (vec![0, 4, 8], 3));
    }
}
