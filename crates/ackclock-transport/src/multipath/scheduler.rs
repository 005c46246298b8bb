//! Which subflow takes which segments of the connection.

use super::ConnectionParts;
use super::repeats::Repeats;
use crate::scenario::Scheduler;
use crate::units::Time;

/// What the connection knows of a subflow after its last call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// Segments that fit into its window, as far as it sends.
    pub(super) room: u32,
    /// Smoothed round trip in seconds; 0 before the first sample.
    pub(super) srtt_s: f64,
    /// It had segments offered in its last call and took none.
    pub(super) refuses: bool,
    /// Since when it should take segments, or end.
    pub(super) wake: Option<Time>,
    /// It has been closed, as the connection is complete.
    pub(super) is_closed: bool,
    /// The segment that it sends next, where all send all.
    next: u32,
}

impl Share {
    /// Segments that it takes at most.
    fn takes(&self) -> u32 {
        if self.refuses { 0 } else { self.room }
    }

    /// What sorts subflows by their round trips.
    fn distance(&self) -> f64 {
        if self.srtt_s > 0.0 { self.srtt_s } else { f64::INFINITY }
    }
}

/// The sending side of a connection.
#[derive(Debug)]
pub(super) struct Sending {
    scheduler: Scheduler,
    /// Segments of the whole; `u32::MAX` if endless.
    total: u32,
    window: u32,
    /// The first segment that is not acknowledged to the connection.
    una: u32,
    /// The next new one.
    next: u32,
    /// The subflow whose turn it is.
    turn: usize,
    again: Repeats,
    pub(super) shares: Vec<Share>,
    /// When all was acknowledged.
    pub(super) completed: Option<Time>,
}

impl Sending {
    pub(super) fn new(parts: &ConnectionParts) -> Self {
        Self {
            scheduler: parts.scheduler,
            total: parts.total(),
            window: parts.receiver_window,
            una: 0,
            next: 0,
            turn: 0,
            again: Repeats::new(parts.subflows),
            shares: vec![Share::default(); parts.subflows],
            completed: None,
        }
    }

    /// One past the last segment that may be sent now.
    fn limit(&self) -> u32 {
        self.total.min(self.una.saturating_add(self.window))
    }

    /// All before `segment` is acknowledged.
    pub(super) fn acknowledge(&mut self, segment: u32, now: Time) {
        self.una = self.una.max(segment.min(self.total));
        self.again.acknowledge(self.una);
        if self.una == self.total {
            self.completed.get_or_insert(now);
        }
    }

    /// Segments that a subflow may take in a call that begins now. Its window will have changed by then, that of no other.
    pub(super) fn offer(&self, subflow: usize) -> u32 {
        if self.scheduler == Scheduler::Redundant {
            return self.limit().saturating_sub(self.shares[subflow].next.max(self.una));
        }
        let new = self.limit().saturating_sub(self.next);
        let mut shares = [0; crate::cc::coupled::MOST_SUBFLOWS];
        self.divide(new, Some(subflow), &mut shares);
        self.again.count_for(subflow).saturating_add(shares[subflow])
    }

    /// Divides so many new segments; a subflow that is `unbounded` takes whatever it gets.
    fn divide(&self, new: u32, unbounded: Option<usize>, shares: &mut [u32]) {
        let takes = |i: usize| if unbounded == Some(i) { new } else { self.shares[i].takes() };
        let count = self.shares.len();
        let mut left = new;
        if self.scheduler == Scheduler::RoundRobin {
            let others = (0..count).filter(|&i| unbounded != Some(i)).map(|i| u64::from(takes(i)));
            let most = others.clone().max().unwrap_or(0);
            // Where all get what they take, turns do not matter.
            let bounded = others.sum::<u64>();
            if bounded + most + 1 < u64::from(new) {
                for (i, share) in shares.iter_mut().enumerate().take(count) {
                    *share = if unbounded == Some(i) { new - bounded as u32 } else { takes(i) };
                }
                return;
            }
            let mut idle = 0;
            let mut subflow = self.turn;
            while left > 0 && idle < count {
                if shares[subflow] < takes(subflow) {
                    shares[subflow] += 1;
                    (left, idle) = (left - 1, 0);
                } else {
                    idle += 1;
                }
                subflow = (subflow + 1) % count;
            }
            return;
        }
        let mut order = [0; crate::cc::coupled::MOST_SUBFLOWS];
        let order = &mut order[..count];
        order.iter_mut().enumerate().for_each(|(i, place)| *place = i);
        let key = |&i: &usize| self.shares[i].distance();
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        for &mut subflow in order {
            shares[subflow] = takes(subflow).min(left);
            left -= shares[subflow];
        }
    }

    /// The segment that a subflow sends now, one of those offered to it.
    pub(super) fn take(&mut self, subflow: usize) -> u32 {
        if self.scheduler == Scheduler::Redundant {
            let next = &mut self.shares[subflow].next;
            let segment = (*next).max(self.una);
            *next = segment + 1;
            return segment;
        }
        self.turn = (subflow + 1) % self.shares.len();
        if let Some(segment) = self.again.take(subflow) {
            return segment;
        }
        self.next += 1;
        self.next - 1
    }

    /// A timeout of a subflow: others are to send what it has outstanding.
    pub(super) fn repeat(&mut self, subflow: usize, segments: impl Iterator<Item = u32>) {
        if self.scheduler == Scheduler::Redundant || self.shares.len() < 2 {
            return;
        }
        for segment in segments.filter(|&segment| segment >= self.una) {
            self.again.add(subflow, segment);
        }
    }

    /// Wakes the siblings of a subflow that has been called: those that have room and get segments, and all once the connection
    /// is complete.
    pub(super) fn wake_others(&mut self, subflow: usize, now: Time) {
        let mut shares = [0; crate::cc::coupled::MOST_SUBFLOWS];
        if self.scheduler != Scheduler::Redundant && self.completed.is_none() {
            self.divide(self.limit().saturating_sub(self.next), None, &mut shares);
        }
        for other in (0..self.shares.len()).filter(|&other| other != subflow) {
            let gets = if self.completed.is_some() {
                !self.shares[other].is_closed
            } else {
                let has_some = match self.scheduler {
                    Scheduler::Redundant => self.offer(other) > 0,
                    _ => shares[other] > 0 || self.again.count_for(other) > 0,
                };
                has_some && self.shares[other].takes() > 0
            };
            if gets {
                self.shares[other].wake.get_or_insert(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(scheduler: Scheduler, size: u64, rooms: &[(u32, f64)]) -> Sending {
        let parts = ConnectionParts {
            scheduler,
            subflows: rooms.len(),
            size: Some(crate::units::Bytes(1000 * size)),
            mss: 1000,
            receiver_window: 1000,
        };
        let mut sending = Sending::new(&parts);
        for (share, &(room, srtt_s)) in sending.shares.iter_mut().zip(rooms) {
            (share.room, share.srtt_s) = (room, srtt_s);
        }
        sending
    }

    fn woken(sending: &Sending) -> Vec<bool> {
        sending.shares.iter().map(|share| share.wake.is_some()).collect()
    }

    #[test]
    fn the_shortest_round_trip_comes_first_and_one_without_a_sample_last() {
        let sending = sending(Scheduler::LowestRtt, 10, &[(8, 0.2), (6, 0.1), (4, 0.0)]);
        let offers: Vec<u32> = (0..3).map(|i| sending.offer(i)).collect();
        assert_eq!(offers, [4, 10, 0]);
    }

    #[test]
    fn in_turns_each_gets_one() {
        let mut sending = sending(Scheduler::RoundRobin, 7, &[(8, 0.2), (2, 0.1), (8, 0.0)]);
        // 0 1 2 0 1 2 0
        assert_eq!((0..3).map(|i| sending.offer(i)).collect::<Vec<_>>(), [3, 2, 2]);
        assert_eq!(sending.take(0), 0);
        // 1 2 0 1 2 0
        assert_eq!((0..3).map(|i| sending.offer(i)).collect::<Vec<_>>(), [2, 2, 2]);
    }

    #[test]
    fn where_there_is_enough_all_get_what_fits() {
        let sending = sending(Scheduler::RoundRobin, 900, &[(8, 0.2), (2, 0.1), (4, 0.0)]);
        assert_eq!(sending.offer(0), 900 - 6);
        assert_eq!(sending.offer(1), 900 - 12);
    }

    #[test]
    fn all_send_all_but_what_is_acknowledged() {
        let mut sending = sending(Scheduler::Redundant, 10, &[(8, 0.2), (2, 0.1)]);
        assert_eq!([sending.take(0), sending.take(0), sending.take(1)], [0, 1, 0]);
        sending.acknowledge(5, Time(1));
        assert_eq!([sending.take(1), sending.take(0)], [5, 5]);
        assert_eq!([sending.offer(0), sending.offer(1)], [4, 4]);
    }

    #[test]
    fn the_window_of_the_receiver_is_one_for_all() {
        let mut sending = sending(Scheduler::LowestRtt, 5000, &[(8, 0.2), (0, 0.1)]);
        assert_eq!(sending.offer(0), 1000);
        (0..1000).for_each(|segment| assert_eq!(sending.take(segment as usize % 2), segment));
        assert_eq!([sending.offer(0), sending.offer(1)], [0, 0]);
        sending.acknowledge(3, Time(1));
        assert_eq!(sending.offer(0), 3);
        sending.wake_others(1, Time(2));
        assert_eq!(woken(&sending), [true, false]);
    }

    #[test]
    fn after_a_timeout_others_send_again_before_anything_new_and_each_segment_once() {
        let mut sending = sending(Scheduler::LowestRtt, 10, &[(8, 0.2), (8, 0.1)]);
        (0..4).for_each(|_| _ = sending.take(0));
        sending.acknowledge(1, Time(1));
        sending.repeat(0, [0, 1, 2].into_iter());
        sending.repeat(0, [2, 3].into_iter());
        // Three again, and six that are new.
        assert_eq!(sending.offer(1), 9);
        assert_eq!([sending.take(1), sending.take(0), sending.take(1)], [1, 4, 2]);
        sending.acknowledge(4, Time(2));
        assert_eq!(sending.take(1), 5);
    }

    #[test]
    fn who_took_nothing_is_not_woken_again_and_the_end_wakes_all() {
        let mut sending = sending(Scheduler::LowestRtt, 10, &[(8, 0.2), (8, 0.1), (8, 0.3)]);
        sending.shares[1].refuses = true;
        sending.wake_others(2, Time(5));
        assert_eq!(woken(&sending), [true, false, false]);
        sending.acknowledge(10, Time(6));
        sending.wake_others(2, Time(6));
        assert_eq!(woken(&sending), [true, true, false]);
        assert_eq!(sending.completed, Some(Time(6)));
        // Later acknowledgements of the same, by other paths, change nothing.
        sending.acknowledge(10, Time(9));
        assert_eq!(sending.completed, Some(Time(6)));
    }
}
