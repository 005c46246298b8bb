//! Chains of small integers with constant-time insertion and removal.
//!
//! Many chains share one table of links: the packets of thousands of class queues in one pool, the
//! active classes of a round. A chain costs eight bytes and a member costs eight, and what is noted
//! of it; nothing is allocated when members move.

use crate::memory::reserve;

/// No member.
pub(super) const NONE: u32 = u32::MAX;

/// A possible member: its neighbours, and what is noted of it. Who goes along a chain to look at its
/// members finds both in one place.
#[derive(Clone, Debug)]
struct Member<T> {
    before: u32,
    after: u32,
    note: T,
}

/// Every possible member. A member is in at most one chain at a time.
#[derive(Debug, Default)]
pub(super) struct Links<T = ()>(Vec<Member<T>>);

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

impl<T: Clone + Default> Links<T> {
    /// Makes room for members below `n`.
    #[inline]
    pub(super) fn reserve(&mut self, n: usize) {
        if self.0.len() < n {
            let count = self.0.len();
            reserve(&mut self.0, (n - count).max(count / 2));
            self.0.resize(n, Member { before: NONE, after: NONE, note: T::default() });
        }
    }

    /// The member after `id` in its chain.
    #[inline]
    pub(super) fn next(&self, id: u32) -> Option<u32> {
        let next = self.0[id as usize].after;
        (next != NONE).then_some(next)
    }

    /// What is noted of a possible member.
    #[inline]
    pub(super) fn note(&self, id: u32) -> &T {
        &self.0[id as usize].note
    }

    /// Appends `id`, which must be in no chain, with this note.
    #[inline]
    pub(super) fn push_noted(&mut self, chain: &mut Chain, id: u32, note: T) {
        self.0[id as usize].note = note;
        self.push_back(chain, id);
    }

    /// Appends `id`, which must be in no chain.
    #[inline]
    pub(super) fn push_back(&mut self, chain: &mut Chain, id: u32) {
        let member = &mut self.0[id as usize];
        (member.before, member.after) = (chain.tail, NONE);
        if chain.tail == NONE {
            chain.head = id;
        } else {
            self.0[chain.tail as usize].after = id;
        }
        chain.tail = id;
    }

    /// Removes `id`, which must be in this chain.
    #[inline]
    pub(super) fn remove(&mut self, chain: &mut Chain, id: u32) {
        let Member { before, after, .. } = self.0[id as usize];
        if before == NONE {
            chain.head = after;
        } else {
            self.0[before as usize].after = after;
        }
        if after == NONE {
            chain.tail = before;
        } else {
            self.0[after as usize].before = before;
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
        let mut links: Links = Links::default();
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
