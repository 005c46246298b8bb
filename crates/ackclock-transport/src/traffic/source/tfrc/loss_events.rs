//! Loss events and loss intervals (RFC 5348, section 5).

use std::collections::VecDeque;

use crate::units::{Span, Time};

/// Later packets that must have arrived before a missing one counts as lost (NDUPACK).
const LATER: u32 = 3;
/// Weights of the loss intervals, newest first.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Missing packets between two that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hole {
    first: u64,
    /// One past the last.
    end: u64,
    /// Numbers and arrivals of the packets before and after.
    before: (u64, Time),
    after: (u64, Time),
    /// Later packets that have arrived.
    later: u32,
}

impl Hole {
    /// When packet `seq` would have arrived, by interpolation (section 5.2).
    fn nominal_arrival(&self, seq: u64) -> Time {
        let span_of_hole = (self.after.0 - self.before.0) as f64;
        let fraction = (seq - self.before.0) as f64 / span_of_hole;
        let span = self.after.1.since(self.before.1).0 as f64;
        self.before.1 + Span((span * fraction) as u64)
    }
}

/// The loss history of a receiver.
#[derive(Debug, Default)]
pub(super) struct LossEvents {
    /// Number and arrival of the packet with the highest number.
    highest: Option<(u64, Time)>,
    holes: VecDeque<Hole>,
    /// First packet and begin of the last loss event.
    event: Option<(u64, Time)>,
    /// Closed loss intervals, newest first.
    closed: VecDeque<f64>,
}

impl LossEvents {
    /// Takes a packet; true if it shows a new loss event. `rtt` is the sender's.
    pub(super) fn on_packet(&mut self, seq: u32, now: Time, rtt: Span, is_marked: bool) -> bool {
        let Some((highest, arrival)) = self.highest else {
            self.highest = Some((u64::from(seq), now));
            return is_marked && self.on_loss(u64::from(seq), now, rtt);
        };
        // Numbers wrap after 2^32 packets.
        let ahead = seq.wrapping_sub(highest as u32).cast_signed();
        let seq = highest.saturating_add_signed(i64::from(ahead));
        let mut is_new = false;
        if seq > highest {
            if seq > highest + 1 {
                let (before, after) = ((highest, arrival), (seq, now));
                let hole = Hole { first: highest + 1, end: seq, before, after, later: 0 };
                self.holes.push_back(hole);
            }
            self.highest = Some((seq, now));
            for hole in &mut self.holes {
                hole.later += 1;
            }
            while let Some(&hole) = self.holes.front().filter(|hole| hole.later >= LATER) {
                self.holes.pop_front();
                for lost in hole.first..hole.end {
                    is_new |= self.on_loss(lost, hole.nominal_arrival(lost), rtt);
                }
            }
        } else {
            self.fill(seq);
        }
        is_new | (is_marked && self.on_loss(seq, now, rtt))
    }

    /// A packet arrives after later ones.
    fn fill(&mut self, seq: u64) {
        let Some(i) = self.holes.iter().position(|hole| hole.first <= seq && seq < hole.end) else {
            return;
        };
        let hole = self.holes[i];
        self.holes[i].end = seq;
        let remainder = Hole { first: seq + 1, ..hole };
        if remainder.first < remainder.end {
            self.holes.insert(i + 1, remainder);
        }
        if hole.first == seq {
            self.holes.remove(i);
        }
    }

    /// Packet `seq` was lost or marked at `time`; true if that begins a loss event.
    fn on_loss(&mut self, seq: u64, time: Time, rtt: Span) -> bool {
        if let Some((first, begin)) = self.event {
            if time <= begin + rtt || seq <= first {
                return false;
            }
            self.close((seq - first) as f64);
        }
        self.event = Some((seq, time));
        true
    }

    /// Adds a closed interval; the first one is not counted but computed (section 6.3.1).
    pub(super) fn close(&mut self, interval: f64) {
        self.closed.truncate(WEIGHTS.len() - 1);
        self.closed.push_front(interval);
    }

    /// Whether there was an event but no interval before it yet.
    pub(super) fn lacks_first_interval(&self) -> bool {
        self.event.is_some() && self.closed.is_empty()
    }

    /// The loss event rate (section 5.4); 0 before the first loss.
    pub(super) fn rate(&self) -> f64 {
        let (Some((first, _)), Some((highest, _))) = (self.event, self.highest) else { return 0.0 };
        let open = (highest.saturating_sub(first) + 1) as f64;
        let weigh = |intervals: &mut dyn Iterator<Item = f64>| -> f64 {
            intervals.zip(WEIGHTS).map(|(interval, weight)| interval * weight).sum()
        };
        let with_open = weigh(
            &mut std::iter::once(open)
                .chain(self.closed.iter().copied())
                .take(self.closed.len().max(1)),
        );
        let without = weigh(&mut self.closed.iter().copied());
        let weights: f64 = WEIGHTS[..self.closed.len().max(1)].iter().sum();
        (weights / with_open.max(without)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(50);

    /// Packet k arrives at 10 k ms, those in `lost` do not; returns the numbers at which events show.
    fn drive(events: &mut LossEvents, packets: u32, lost: &[u32]) -> Vec<u32> {
        (0..packets)
            .filter(|seq| !lost.contains(seq))
            .filter(|&seq| {
                let time = Time::ZERO + Span::from_millis(10 * u64::from(seq));
                let is_new = events.on_packet(seq, time, RTT, false);
                if events.lacks_first_interval() {
                    events.close(10.0);
                }
                is_new
            })
            .collect()
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event_and_show_after_three_packets() {
        let mut events = LossEvents::default();
        // 20, 23 and 25 are within 50 ms; 26 is not.
        assert_eq!(drive(&mut events, 100, &[20, 23, 25, 26, 60]), [24, 29, 63]);
        // From 20 to 26, from 26 to 60; the computed one before.
        assert_eq!(events.closed, [34.0, 6.0, 10.0]);
        // Open: 60 to 99 is 40 packets. (40 + 34 + 6) / 3 is more than (34 + 6 + 10) / 3.
        assert!((events.rate() - 3.0 / 80.0).abs() < 1e-12);
    }

    #[test]
    fn eight_intervals_count_with_the_weights_of_the_source() {
        let mut events = LossEvents::default();
        // Events at 100, 200, ... 900: eight intervals of 100, then one more of which 10 have passed.
        let lost: Vec<u32> = (1..=9).map(|k| 100 * k).collect();
        drive(&mut events, 910, &lost);
        assert_eq!(events.closed, [100.0; 8]);
        assert!((events.rate() - 0.01).abs() < 1e-12);
        // An open interval of 700 packets: (700 + 3 x 100 + 0.8 x 100 + ... 0.2 x 100) / 6 = 200.
        let time = Time::ZERO + Span::from_millis(20_000);
        for seq in 910..1600 {
            events.on_packet(seq, time, RTT, false);
        }
        assert!((events.rate() - 1.0 / 200.0).abs() < 1e-12, "{}", events.rate());
    }

    #[test]
    fn reordered_packets_are_no_loss_and_marks_are() {
        let mut events = LossEvents::default();
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        for (k, seq) in [0, 2, 3, 1, 4, 5, 9, 7, 6, 8, 10, 11, 12].into_iter().enumerate() {
            assert!(!events.on_packet(seq, ms(10 * k as u64), RTT, false), "{seq}");
        }
        assert!(events.holes.is_empty() && events.rate() == 0.0);
        assert!(events.on_packet(13, ms(200), RTT, true));
        assert!(!events.on_packet(14, ms(250), RTT, true));
        assert!(events.on_packet(15, ms(251), RTT, true));
    }
}
