//! The smallest of many keys: a tournament whose members are re-keyed and removed by their number.
//!
//! Smallest key first, then smallest number: the order is total, so runs repeat exactly. A member has
//! a fixed place, so no table of places is kept and nothing moves; a match is decided without a jump
//! that a processor would have to guess, which in a heap is most of the time. A change goes up until
//! it makes no difference: for one that comes late, at the first match.

use crate::eight::least;

/// Members of a first match. All matches after it have two contestants.
const FIRST: usize = 8;

/// The rank of a member that is not there: that of no number.
const OUT: u64 = u64::MAX;

/// Members `0..` with keys of zero or more, not NaN.
#[derive(Debug, Default)]
pub(super) struct Tournament {
    /// By member, filled up to whole first matches: its key as a whole number of the same order.
    ranks: Vec<u64>,
    /// Who has won match n, whose contestants are the winners of matches 2n and 2n + 1; match 1 is the
    /// final. The second half are the first matches. Rank, and 64 bits below it the number: one
    /// comparison orders both.
    winners: Vec<u128>,
}

#[inline(always)]
fn entry(rank: u64, id: u32) -> u128 {
    u128::from(rank) << 64 | u128::from(id)
}

impl Tournament {
    /// The member with the smallest key.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<(f64, u32)> {
        let winner = *self.winners.get(1)?;
        let rank = (winner >> 64) as u64;
        (rank != OUT).then(|| (f64::from_bits(rank), winner as u32))
    }

    /// The key of a member, `None` if it is not there.
    #[inline(always)]
    pub(super) fn key(&self, id: u32) -> Option<f64> {
        self.ranks.get(id as usize).filter(|&&rank| rank != OUT).map(|&rank| f64::from_bits(rank))
    }

    /// Inserts a member, or changes its key.
    #[inline]
    pub(super) fn set(&mut self, id: u32, key: f64) {
        debug_assert!(key >= 0.0, "{key}");
        if self.ranks.len() <= id as usize {
            self.grow(id as usize + 1);
        }
        // Also for a zero with a sign.
        self.change(id, (key + 0.0).to_bits());
    }

    /// Removes a member if it is there.
    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        if self.key(id).is_some() {
            self.change(id, OUT);
        }
    }

    /// A member has a new rank: the matches on its way are decided anew.
    #[inline]
    fn change(&mut self, id: u32, rank: u64) {
        self.ranks[id as usize] = rank;
        let group = id as usize / FIRST;
        let Some(members) = self.ranks[group * FIRST..].first_chunk() else { return };
        let mut winner = winner(members, (group * FIRST) as u32);
        let winners = &mut self.winners[..];
        let mut at = winners.len() / 2 + group;
        while winners[at] != winner {
            winners[at] = winner;
            if at == 1 {
                return;
            }
            winner = winner.min(winners[at ^ 1]);
            at /= 2;
        }
    }

    /// Makes room for members below `count`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: usize) {
        let groups = count.div_ceil(FIRST).next_power_of_two();
        self.ranks.resize(groups * FIRST, OUT);
        self.winners = vec![0; 2 * groups];
        for (group, members) in self.ranks.chunks_exact(FIRST).enumerate() {
            if let Some(members) = members.first_chunk() {
                self.winners[groups + group] = winner(members, (group * FIRST) as u32);
            }
        }
        for at in (1..groups).rev() {
            self.winners[at] = self.winners[2 * at].min(self.winners[2 * at + 1]);
        }
    }
}

/// Who of a first match has the least rank; the first of them has number `begin`.
#[inline(always)]
fn winner(ranks: &[u64; FIRST], begin: u32) -> u128 {
    let (rank, place) = least(|place| ranks[place]);
    entry(rank, begin + place as u32)
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
