//! A set-associative hash: a flow has one of eight queues, so that few flows share one.
//!
//! **Source**: CAKE paper, section III.B; tc-cake(8).

use crate::qdisc::fair::classes::bucket;

/// Queues that a flow may have.
pub(super) const WAYS: u32 = 8;

/// Which flow has which queue.
#[derive(Debug)]
pub(super) struct Ways {
    /// The last flow of each queue.
    owners: Vec<Option<u32>>,
    salt: u32,
}

/// A queue for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It has this one.
    Own(u32),
    /// It now has this one, which nobody used.
    Fresh(u32),
    /// All of its queues are in use: it shares this one.
    Shared(u32),
}

impl Ways {
    /// `queues`: a multiple of [`WAYS`], or less than that.
    pub(super) fn new(queues: u32, salt: u32) -> Self {
        Self { owners: vec![None; queues as usize], salt }
    }

    /// The queue of a flow. `is_free` reports that a queue has neither packets nor a past.
    pub(super) fn find(&mut self, flow: u32, is_free: impl Fn(u32) -> bool) -> Found {
        let home = bucket(flow, self.salt, self.owners.len() as u32);
        let first = home - home % WAYS;
        let count = WAYS.min(self.owners.len() as u32 - first);
        // The own place first, then the others of the set in turn.
        let slots = (0..count).map(|i| first + (home - first + i) % count);
        if let Some(owned) = slots.clone().find(|&i| self.owners[i as usize] == Some(flow)) {
            return Found::Own(owned);
        }
        let free = slots.clone().find(|&i| is_free(i));
        let queue = free.unwrap_or(home);
        self.owners[queue as usize] = Some(flow);
        if free.is_some() { Found::Fresh(queue) } else { Found::Shared(queue) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Flows of one set in the order of their numbers.
    fn of_set(queues: u32, count: usize) -> Vec<u32> {
        let set = |flow| bucket(flow, 0, queues) / WAYS;
        (0..).filter(|&flow| set(flow) == set(0)).take(count).collect()
    }

    #[test]
    fn eight_flows_of_a_set_have_eight_queues_and_the_ninth_shares() {
        let flows = of_set(64, 9);
        let mut ways = Ways::new(64, 0);
        let mut used = Vec::new();
        for &flow in &flows[..8] {
            let Found::Fresh(queue) = ways.find(flow, |i| !used.contains(&i)) else { panic!() };
            assert_eq!(queue / WAYS, bucket(flow, 0, 64) / WAYS);
            used.push(queue);
        }
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), 8);
        let home = bucket(flows[8], 0, 64);
        assert_eq!(ways.find(flows[8], |_| false), Found::Shared(home));
    }

    #[test]
    fn a_flow_keeps_its_queue_while_others_come_and_go() {
        let flows = of_set(64, 3);
        let mut ways = Ways::new(64, 0);
        let Found::Fresh(first) = ways.find(flows[0], |_| true) else { panic!() };
        let Found::Fresh(second) = ways.find(flows[1], |i| i != first) else { panic!() };
        assert_ne!(first, second);
        assert_eq!(ways.find(flows[0], |_| false), Found::Own(first));
        // The first is free again, and goes to another flow.
        assert!(matches!(ways.find(flows[2], |i| i != second), Found::Fresh(i) if i != second));
        assert_eq!(ways.find(flows[1], |_| false), Found::Own(second));
    }

    /// CAKE paper, section III.B: at 100 flows in 1024 queues hardly any two share one, where direct
    /// mapping has about 100^2 / 2048 = 5 pairs.
    #[test]
    fn a_hundred_flows_hardly_collide() {
        let (mut shared, mut direct) = (0, 0);
        for salt in 0..50 {
            let mut ways = Ways::new(1024, salt);
            let mut used: BTreeMap<u32, u32> = BTreeMap::new();
            for flow in 0..100 {
                let way = ways.find(flow, |i| !used.contains_key(&i));
                match way {
                    Found::Fresh(queue) => drop(used.insert(queue, flow)),
                    Found::Shared(_) => shared += 1,
                    Found::Own(_) => panic!(),
                }
            }
            let homes: std::collections::BTreeSet<u32> =
                (0..100).map(|flow| bucket(flow, salt, 1024)).collect();
            direct += 100 - homes.len();
        }
        assert!(shared == 0 && direct > 100, "{shared} {direct}");
    }
}
