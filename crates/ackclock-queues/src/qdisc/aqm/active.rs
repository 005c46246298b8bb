//! The number of active flows: those with a packet within a window of time.
//!
//! Flows are kept in the order of their latest packets, so that each packet costs constant time and
//! the count is exact at every moment.

use crate::qdisc::links::{Chain, Links};
use crate::units::{Span, Time};

/// Never seen, or not for a window's length.
const IDLE: Time = Time(u64::MAX);

/// Flows by their latest packets.
#[derive(Debug, Default)]
pub(crate) struct Active {
    window: Span,
    latest: Vec<Time>,
    links: Links,
    order: Chain,
    count: u32,
}

impl Active {
    pub(crate) fn new(window: Span, keys: u32) -> Self {
        let mut links = Links::default();
        links.reserve(keys as usize);
        let latest = vec![IDLE; keys as usize];
        Self { window, latest, links, order: Chain::default(), count: 0 }
    }

    /// Flows that are remembered, and bytes for them.
    pub(crate) fn state(&self) -> (usize, usize) {
        // When it came last, and its neighbours in that order.
        let each = size_of::<Time>() + 2 * size_of::<u32>();
        (self.count as usize, self.count as usize * each)
    }

    /// A packet of `key` passes; how many flows had one less than a window ago, itself included.
    #[inline]
    pub(crate) fn packet(&mut self, key: u32, now: Time) -> u32 {
        let slot = key as usize;
        if slot >= self.latest.len() {
            self.latest.resize(slot + 1, IDLE);
            self.links.reserve(slot + 1);
        }
        while let Some(oldest) = self.order.head() {
            if now.since(self.latest[oldest as usize]) < self.window {
                break;
            }
            self.links.remove(&mut self.order, oldest);
            self.latest[oldest as usize] = IDLE;
            self.count -= 1;
        }
        if self.latest[slot] == IDLE {
            self.count += 1;
        } else {
            self.links.remove(&mut self.order, key);
        }
        self.latest[slot] = now;
        self.links.push_back(&mut self.order, key);
        self.count
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_flow_counts_until_a_window_after_its_latest_packet() {
        let time = |ms: u64| Time(Span::from_millis(ms).0);
        let mut active = Active::new(Span::from_millis(100), 2);
        assert_eq!(active.packet(0, time(0)), 1);
        assert_eq!(active.packet(1, time(50)), 2);
        // A window after flow 0's packet it is gone; a key above those announced is welcome.
        assert_eq!(active.packet(5, time(100)), 2);
        assert_eq!(active.packet(1, time(149)), 2);
        assert_eq!(active.packet(0, time(199)), 3);
        assert_eq!(active.packet(0, time(500)), 1);
    }

    proptest! {
        #[test]
        fn the_count_is_that_of_a_table_looked_through(
            packets in prop::collection::vec((0u32..12, 0u64..40), 1..300)
        ) {
            let window = Span::from_millis(60);
            let mut active = Active::new(window, 4);
            let mut table: BTreeMap<u32, Time> = BTreeMap::new();
            let mut now = Time::ZERO;
            for (key, wait) in packets {
                now += Span::from_millis(wait);
                table.insert(key, now);
                let count = table.values().filter(|t| now.since(**t) < window).count();
                prop_assert_eq!(active.packet(key, now) as usize, count);
            }
        }
    }
}
