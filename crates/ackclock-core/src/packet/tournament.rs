//! A tournament: which of many entrants has the smallest key. The engine's one way of choosing what
//! comes next, of processes and of channels alike.
//!
//! A complete binary tree whose inner nodes hold the smaller of their children's keys. A change
//! plays the matches on one path to the root, without a branch that depends on a key, so it costs
//! the same whatever the keys are and mispredicts nothing; in a heap such branches are a coin's toss.

/// Who plays: the key's more and less significant halves; the less significant ends in the entrant's
/// number, so that no two are equal. Two words and not one `u128`, because what is stored in halves
/// and loaded whole stalls the load.
type Player = (u64, u64);

/// The tournament of a fixed number of entrants.
#[derive(Debug)]
pub(super) struct Tournament {
    /// Node 1 is the root, the leaves are the last half.
    nodes: Vec<Player>,
    leaves: usize,
}

impl Tournament {
    /// An entrant that takes no part.
    pub(super) const OUT: u128 = u128::MAX;
    const ABSENT: Player = (u64::MAX, u64::MAX);

    /// All of `entrants`, none taking part.
    pub(super) fn new(entrants: usize) -> Self {
        let leaves = entrants.next_power_of_two();
        Self { nodes: vec![Self::ABSENT; 2 * leaves], leaves }
    }

    /// The smallest key in halves.
    #[inline(always)]
    pub(super) fn first_halves(&self) -> (u64, u64) {
        self.nodes.get(1).copied().unwrap_or(Self::ABSENT)
    }

    /// The smallest key.
    #[inline(always)]
    pub(super) fn first(&self) -> u128 {
        join(self.first_halves())
    }

    /// The key of an entrant.
    #[inline]
    pub(super) fn key(&self, entrant: u32) -> u128 {
        join(self.nodes[self.leaves + entrant as usize])
    }

    /// Changes the key of an entrant.
    #[inline(always)]
    pub(super) fn set(&mut self, entrant: u32, key: u128) {
        let mut node = self.leaves + entrant as usize;
        let nodes = &mut self.nodes[..2 * self.leaves];
        let mut winner = ((key >> 64) as u64, key as u64);
        nodes[node] = winner;
        while node > 1 {
            let other = nodes[node ^ 1];
            let wins = other.0 < winner.0 || (other.0 == winner.0 && other.1 < winner.1);
            winner.0 = if wins { other.0 } else { winner.0 };
            winner.1 = if wins { other.1 } else { winner.1 };
            node >>= 1;
            nodes[node] = winner;
        }
    }
}

#[inline(always)]
fn join((high, low): Player) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_that_of_a_sorted_list(entrants in 1usize..70, changes in prop::collection::vec((0u32..70, 0u128..100), 0..300)) {
            let mut tournament = Tournament::new(entrants);
            let mut keys = vec![Tournament::OUT; entrants];
            for (entrant, key) in changes.into_iter().filter(|c| (c.0 as usize) < entrants) {
                let key = if key > 80 { Tournament::OUT } else { key << 64 | u128::from(entrant) };
                tournament.set(entrant, key);
                keys[entrant as usize] = key;
                prop_assert_eq!(tournament.first(), keys.iter().copied().min().unwrap());
                prop_assert_eq!(tournament.key(entrant), key);
            }
        }
    }
}
