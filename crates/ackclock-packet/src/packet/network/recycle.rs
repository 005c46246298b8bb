//! REPS: a sender takes paths again of which acknowledgements without a mark came back, and draws others.
//!
//! A path that brought an acknowledgement a round trip ago was not congested then; each acknowledgement admits about one packet,
//! so the paths that work pace the packets that take them. Where a timeout says that a path has failed, the last paths
//! that worked are taken in turns, old or not, until there has been time to route around it.
//!
//! **Source**: T. Bonato et al., "REPS: Recycled Entropies for Packet Spraying", 2024, arXiv:2407.21625 (from memory), as in
//! ultraethernet/uet-htsim, commit 40ccb05, `htsim/sim/uec_mp.cpp` and `buffer_reps.cpp` (read, not copied).
//!
//! **Rule** (a ring of eight paths; fresh: not taken since it was noted; h: the next place that is written)
//! ```text
//! an acknowledgement without a mark:  ring[h] <- the path of what it acknowledges, fresh;  h <- h + 1
//! one with a mark, a NACK:            nothing is noted
//! a packet is sent:    nothing noted, or while exploring (16 packets):  drawn among all, each as likely
//!                      frozen:            the ring in turns, fresh or not
//!                      some are fresh:    the one that has been fresh for longest
//!                      else:              drawn
//! a timeout:           frozen for 10 ms, unless it is exploring
//! the first acknowledgement after that:   ring emptied, explores, and notes
//! ```
//! **Deviations**: what is recycled is the path, where the source recycles a number that every switch hashes: two numbers may
//! share a path there. Acknowledgements take drawn paths. One that a timer of the receiver sends names no path.

use crate::rng::Stream;

/// Paths that are noted.
const PLACES: u8 = 8;
/// How long the ring stays as it is after a timeout, in picoseconds.
const FROZEN_FOR: u64 = 10_000_000_000;
/// Packets whose paths are drawn after that.
const EXPLORED: u32 = 16;

/// The paths that a sender may take again.
#[derive(Debug)]
pub(crate) struct Recycling {
    rng: Stream,
    ring: [u32; PLACES as usize],
    /// A bit for each place whose path is fresh.
    fresh: u8,
    /// The next place that is written.
    head: u8,
    /// How many places have been written.
    noted: u8,
    /// The next place that is taken while it is frozen.
    turn: u8,
    /// Packets whose paths are still drawn.
    exploring: u32,
    /// Until when it is frozen, in picoseconds.
    frozen_until: Option<u64>,
    /// Timeouts that it has answered.
    timeouts: u64,
}

impl Recycling {
    /// Nothing is noted; paths are drawn from `rng`.
    pub(crate) fn new(rng: Stream) -> Self {
        Self {
            rng,
            ring: [0; PLACES as usize],
            fresh: 0,
            head: 0,
            noted: 0,
            turn: 0,
            exploring: 0,
            frozen_until: None,
            timeouts: 0,
        }
    }

    /// The path of the next packet, among so many.
    pub(crate) fn choose(&mut self, paths: u32) -> u32 {
        let is_frozen = self.frozen_until.is_some();
        let is_drawn = self.noted == 0 || (self.fresh == 0 && !is_frozen);
        if self.exploring > 0 || is_drawn {
            self.exploring = self.exploring.saturating_sub(1);
            return self.rng.below(u64::from(paths)) as u32;
        }
        let place = if is_frozen {
            let place = self.turn;
            self.turn = (place + 1) % self.noted;
            place
        } else {
            // Places become fresh in their order, so those that are fresh end before the next one that is written.
            (self.head + PLACES - self.fresh.count_ones() as u8) % PLACES
        };
        self.fresh &= !(1 << place);
        self.ring[place as usize]
    }

    /// An acknowledgement of a packet that took `path` has come at `now`, in picoseconds; `is_clear`: it has no mark and is no
    /// NACK.
    pub(crate) fn acknowledge(&mut self, path: u32, is_clear: bool, now: u64) {
        if self.frozen_until.is_some_and(|until| now > until) {
            self.frozen_until = None;
            (self.fresh, self.head, self.noted, self.turn) = (0, 0, 0, 0);
            self.exploring = EXPLORED;
        }
        if is_clear {
            self.ring[self.head as usize] = path;
            self.fresh |= 1 << self.head;
            self.head = (self.head + 1) % PLACES;
            self.noted = (self.noted + 1).min(PLACES);
        }
    }

    /// The sender has had so many timeouts in all at `now`, in picoseconds.
    pub(crate) fn count_timeouts(&mut self, timeouts: u64, now: u64) {
        let is_new = timeouts > self.timeouts;
        self.timeouts = timeouts;
        if is_new && self.frozen_until.is_none() && self.exploring == 0 {
            self.frozen_until = Some(now + FROZEN_FOR);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Purpose;

    fn recycling() -> Recycling {
        Recycling::new(Stream::new(1, Purpose::Spray, 0))
    }

    #[test]
    fn paths_come_back_in_the_order_of_their_acknowledgements() {
        let mut paths = recycling();
        for path in [5, 3, 9] {
            paths.acknowledge(path, true, 0);
        }
        paths.acknowledge(7, false, 0);
        assert_eq!([paths.choose(64), paths.choose(64)], [5, 3]);
        paths.acknowledge(8, true, 0);
        assert_eq!([paths.choose(64), paths.choose(64)], [9, 8]);
    }

    #[test]
    fn of_more_than_eight_the_last_eight_stay() {
        let mut paths = recycling();
        (100..111).for_each(|path| paths.acknowledge(path, true, 0));
        let taken: Vec<u32> = (0..8).map(|_| paths.choose(64)).collect();
        assert_eq!(taken, (103..111).collect::<Vec<_>>());
        assert!(paths.choose(64) < 64);
    }

    /// 6,400 draws among 64: chi-squared with 63 degrees of freedom is above 103 in one of a thousand.
    #[test]
    fn without_acknowledgements_each_path_is_as_likely() {
        let mut paths = recycling();
        let mut counts = [0f64; 64];
        (0..6400).for_each(|_| counts[paths.choose(64) as usize] += 1.0);
        let chi: f64 = counts.iter().map(|n| (n - 100.0).powi(2) / 100.0).sum();
        assert!(chi < 103.0, "{chi}");
    }

    #[test]
    fn after_a_timeout_the_last_paths_are_taken_in_turns_for_ten_milliseconds() {
        let mut paths = recycling();
        for path in [100, 101, 102] {
            paths.acknowledge(path, true, 0);
        }
        paths.count_timeouts(1, 0);
        let taken: Vec<u32> = (0..6).map(|_| paths.choose(64)).collect();
        assert_eq!(taken, [100, 101, 102, 100, 101, 102]);
        // At its end it is frozen still; after it the ring is emptied, and sixteen packets explore.
        paths.acknowledge(103, true, FROZEN_FOR);
        assert!(paths.choose(64) >= 100);
        paths.acknowledge(104, true, FROZEN_FOR + 1);
        assert!((0..16).all(|_| paths.choose(64) < 64));
        assert_eq!(paths.choose(64), 104);
    }

    #[test]
    fn the_same_timeout_freezes_once_and_none_does_while_it_explores() {
        let mut paths = recycling();
        paths.acknowledge(100, true, 0);
        paths.count_timeouts(1, 0);
        paths.acknowledge(100, true, FROZEN_FOR + 1);
        paths.count_timeouts(2, FROZEN_FOR + 1);
        assert!(paths.frozen_until.is_none());
        (0..16).for_each(|_| _ = paths.choose(64));
        paths.count_timeouts(2, FROZEN_FOR + 2);
        assert!(paths.frozen_until.is_none());
        paths.count_timeouts(3, FROZEN_FOR + 2);
        assert!(paths.frozen_until.is_some());
    }

    proptest! {
        /// Beside a list of what is fresh: the last eight acknowledgements without a mark that nobody has taken.
        #[test]
        fn it_is_a_queue_of_the_last_eight(steps in prop::collection::vec((any::<bool>(), 100u32..200), 0..200)) {
            let mut paths = recycling();
            let mut fresh = std::collections::VecDeque::new();
            for (is_sent, path) in steps {
                if is_sent {
                    let taken = paths.choose(64);
                    match fresh.pop_front() {
                        Some(oldest) => prop_assert_eq!(taken, oldest),
                        None => prop_assert!(taken < 64),
                    }
                } else {
                    paths.acknowledge(path, true, 0);
                    fresh.push_back(path);
                    if fresh.len() > 8 {
                        fresh.pop_front();
                    }
                }
            }
        }
    }
}
