//! Chains of small integers with constant-time insertion and removal.
//!
//! Many chains share one table of links: the packets of thousands of class queues in one pool, the
//! active classes of a round. A chain costs eight bytes and a member costs eight; nothing is
//! allocated when members move.

/// No member.
pub(super) const NONE: u32 = u32::MAX;

/// Neighbours of every possible member. A member is in at most one chain at a time.
#[derive(Debug, Default)]
pub(super) struct Links(Vec<(u32, u32)>);

/// First and last member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    head: u32,
    tail: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl Chain {
    /// The first member.
    #[inline]
    pub(super) fn head(self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// The last member.
    #[inline]
    pub(super) fn tail(self) -> Option<u32> {
        (self.tail != NONE).then_some(self.tail)
    }
}

impl Links {
    /// Makes room for members below `n`.
    #[inline]
    pub(super) fn reserve(&mut self, n: usize) {
        if self.0.len() < n {
            self.0.resize(n, (NONE, NONE));
        }
    }

    /// The member after `id` in its chain.
    #[inline]
    pub(super) fn next(&self, id: u32) -> Option<u32> {
        let next = self.0[id as usize].1;
        (next != NONE).then_some(next)
    }

    /// Appends `id`, which must be in no chain.
    #[inline]
    pub(super) fn push_back(&mut self, chain: &mut Chain, id: u32) {
        self.0[id as usize] = (chain.tail, NONE);
        if chain.tail == NONE {
            chain.head = id;
        } else {
            self.0[chain.tail as usize].1 = id;
        }
        chain.tail = id;
    }

    /// Removes `id`, which must be in this chain.
    #[inline]
    pub(super) fn remove(&mut self, chain: &mut Chain, id: u32) {
        let (before, after) = self.0[id as usize];
        if before == NONE {
            chain.head = after;
        } else {
            self.0[before as usize].1 = after;
        }
        if after == NONE {
            chain.tail = before;
        } else {
            self.0[after as usize].0 = before;
        }
    }

    /// Moves the first member to the end.
    #[inline]
    pub(super) fn rotate(&mut self, chain: &mut Chain) {
        if chain.head != chain.tail {
            let first = chain.head;
            self.remove(chain, first);
            self.push_back(chain, first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(links: &Links, chain: Chain) -> Vec<u32> {
        std::iter::successors(chain.head(), |&id| links.next(id)).collect()
    }

    #[test]
    fn members_leave_from_either_end_and_the_middle() {
        let mut links = Links::default();
        links.reserve(5);
        let mut chain = Chain::default();
        for id in 0..5 {
            links.push_back(&mut chain, id);
        }
        links.remove(&mut chain, 2);
        links.rotate(&mut chain);
        assert_eq!(members(&links, chain), [1, 3, 4, 0]);
        links.remove(&mut chain, 0);
        links.remove(&mut chain, 1);
        assert_eq!((chain.head(), chain.tail()), (Some(3), Some(4)));
        links.remove(&mut chain, 4);
        links.remove(&mut chain, 3);
        assert_eq!(chain, Chain::default());
    }
}
