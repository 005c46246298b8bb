//! The smallest of many keys, whose members are re-keyed and removed by their number.
//!
//! Smallest key first, then smallest number: the order is total, so runs repeat exactly. A member has
//! a fixed place, so no table of places is kept and nothing moves.

use crate::agenda::Agenda;

/// Members `0..` with keys of zero or more, not NaN.
#[derive(Debug)]
pub(super) struct Tournament {
    /// By member: its key as a whole number of the same order.
    ranks: Agenda,
    members: usize,
}

impl Default for Tournament {
    fn default() -> Self {
        Self { ranks: Agenda::new(1), members: 1 }
    }
}

impl Tournament {
    /// The member with the smallest key.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<(f64, u32)> {
        let first = self.ranks.first();
        // That of no number.
        (first.time != Agenda::OUT).then(|| (f64::from_bits(first.time), first.who))
    }

    /// The key of a member, `None` if it is not there.
    #[inline(always)]
    pub(super) fn key(&self, id: u32) -> Option<f64> {
        if id as usize >= self.members {
            return None;
        }
        let rank = self.ranks.get(id);
        (rank != Agenda::OUT).then(|| f64::from_bits(rank))
    }

    /// Inserts a member, or changes its key.
    #[inline]
    pub(super) fn set(&mut self, id: u32, key: f64) {
        debug_assert!(key >= 0.0, "{key}");
        if id as usize >= self.members {
            self.grow(id as usize + 1);
        }
        // Also for a zero with a sign.
        self.ranks.set(id, (key + 0.0).to_bits());
    }

    /// Removes a member if it is there.
    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        if self.key(id).is_some() {
            self.ranks.set(id, Agenda::OUT);
        }
    }

    /// Makes room for members below `count`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: usize) {
        let old = std::mem::replace(&mut self.members, count.next_power_of_two());
        let before = std::mem::replace(&mut self.ranks, Agenda::new(self.members));
        for id in 0..old as u32 {
            self.ranks.set(id, before.get(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_tournament_agrees_with_a_sorted_map(
            members in prop::sample::select(vec![1u32, 8, 20, 100, 700]),
            operations in prop::collection::vec((0u32..700, prop::option::of(0u32..50)), 0..300)
        ) {
            let mut tournament = Tournament::default();
            let mut map = BTreeMap::new();
            for (id, key) in operations {
                let id = id % members;
                if let Some(key) = key {
                    tournament.set(id, f64::from(key));
                    map.insert(id, key);
                } else {
                    tournament.remove(id);
                    map.remove(&id);
                }
                let expected = map.iter().map(|(&id, &key)| (key, id)).min();
                let first = tournament.first();
                prop_assert_eq!(first, expected.map(|(key, id)| (f64::from(key), id)));
                for id in 0..members + 10 {
                    prop_assert_eq!(tournament.key(id), map.get(&id).copied().map(f64::from));
                }
            }
        }
    }
}
