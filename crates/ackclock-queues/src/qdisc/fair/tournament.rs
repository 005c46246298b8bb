//! The smallest of many keys, whose members are re-keyed and removed by their number.
//!
//! Smallest key first, then smallest number: the order is total, so runs repeat exactly.
//!
//! Virtual time goes on, and so a key that comes is mostly greater than most: one packet's service
//! later than now, or than the packet before. Two sorted lines take what belongs at an end of them or
//! close to it, and it comes to the front by itself. Only what belongs elsewhere plays in a
//! tournament, where every change costs a match on each level.

use crate::agenda::{Agenda, Entry};

/// How many entries may be behind a newcomer in a line.
const NEAR: u32 = 4;

const NOBODY: Entry = Entry { time: Agenda::NEVER, who: u32::MAX };

/// Members in order. One whose rank has changed stays until it is the first, or room is needed.
#[derive(Debug)]
struct Line {
    /// A power of two of places.
    ring: Box<[Entry]>,
    /// Positions count up for ever and wrap.
    head: u32,
    tail: u32,
    /// Rank of the last; 0 if there is none.
    end: u64,
}

impl Line {
    fn new() -> Self {
        Self { ring: [NOBODY; 8].into(), head: 0, tail: 0, end: 0 }
    }

    #[inline(always)]
    fn at(&mut self, position: u32) -> &mut Entry {
        let index = position as usize & (self.ring.len() - 1);
        &mut self.ring[index]
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.tail.wrapping_sub(self.head) as usize == self.ring.len()
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry, ranks: &[u64]) {
        if self.is_full() {
            self.make_room(ranks);
        }
        *self.at(self.tail) = entry;
        self.tail = self.tail.wrapping_add(1);
        self.end = entry.time;
    }

    /// Lets those go whose rank has changed; if most stay, there are twice the places afterwards.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, ranks: &[u64]) {
        let capacity = self.ring.len();
        let all = (0..capacity as u32).map(|i| *self.at(self.head.wrapping_add(i)));
        let mut ring: Vec<Entry> =
            all.filter(|entry| ranks[entry.who as usize] == entry.time).collect();
        (self.head, self.tail) = (0, ring.len() as u32);
        ring.resize(if ring.len() > capacity / 2 { 2 * capacity } else { capacity }, NOBODY);
        self.ring = ring.into();
    }

    /// Inserts an entry if no more than [`NEAR`] are behind it.
    fn insert_near(&mut self, entry: Entry, ranks: &[u64]) -> bool {
        // First of all, as it lets some of those behind go.
        if self.is_full() {
            self.make_room(ranks);
        }
        let most = self.tail.wrapping_sub(self.head).min(NEAR + 1);
        let mut behind = 0;
        while behind < most && entry < *self.at(self.tail.wrapping_sub(behind + 1)) {
            behind += 1;
        }
        if behind > NEAR {
            return false;
        }
        let end = self.end.max(entry.time);
        self.push(entry, ranks);
        for i in 1..=behind {
            let last = self.tail.wrapping_sub(i);
            *self.at(last) = *self.at(last.wrapping_sub(1));
            *self.at(last.wrapping_sub(1)) = entry;
        }
        self.end = end;
        true
    }

    /// The first whose rank is still that by which it was inserted.
    #[inline(always)]
    fn first(&mut self, ranks: &[u64]) -> Entry {
        while self.head != self.tail {
            let front = *self.at(self.head);
            if ranks[front.who as usize] == front.time {
                return front;
            }
            self.head = self.head.wrapping_add(1);
        }
        self.end = 0;
        NOBODY
    }
}

/// A key as a whole number of the same order, also a zero with a sign.
#[inline(always)]
fn rank(key: f64) -> u64 {
    debug_assert!(key >= 0.0, "{key}");
    (key + 0.0).to_bits()
}

/// Members `0..` with keys of zero or more, not NaN.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// By member: its key as a whole number of the same order, [`Agenda::NEVER`] if it is not there.
    ranks: Vec<u64>,
    lines: [Line; 2],
    /// Those that are in no line, and how many they are.
    others: Agenda,
    strays: u32,
    first: Entry,
}

impl Default for Tournament {
    fn default() -> Self {
        Self {
            ranks: Vec::new(),
            lines: [Line::new(), Line::new()],
            others: Agenda::new(1),
            strays: 0,
            first: NOBODY,
        }
    }
}

impl Tournament {
    /// The member with the smallest key.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<(f64, u32)> {
        let Entry { time, who } = self.first;
        // That of no number.
        (time != Agenda::NEVER).then(|| (f64::from_bits(time), who))
    }

    /// The key of a member, `None` if it is not there.
    #[inline(always)]
    pub(crate) fn key(&self, id: u32) -> Option<f64> {
        let rank = *self.ranks.get(id as usize)?;
        (rank != Agenda::NEVER).then(|| f64::from_bits(rank))
    }

    /// Inserts a member, or changes its key.
    #[inline]
    pub(crate) fn set(&mut self, id: u32, key: f64) {
        if id as usize >= self.ranks.len() {
            self.grow(id as usize + 1);
        }
        let entry = Entry { time: rank(key), who: id };
        let before = std::mem::replace(&mut self.ranks[id as usize], entry.time);
        if before == entry.time {
            return;
        }
        self.leave_others(id);
        self.take_place(entry);
        if self.first.who == id {
            self.settle();
        } else if entry < self.first {
            self.first = entry;
        }
    }

    /// Changes the key of the first, which there must be, or removes it.
    #[inline(always)]
    pub(crate) fn set_first(&mut self, key: Option<f64>) {
        let who = self.first.who;
        let time = key.map_or(Agenda::NEVER, rank);
        self.ranks[who as usize] = time;
        self.leave_others(who);
        if key.is_some() {
            self.take_place(Entry { time, who });
        }
        self.settle();
    }

    /// Removes a member if it is there.
    #[inline]
    pub(crate) fn remove(&mut self, id: u32) {
        let Some(rank) = self.ranks.get_mut(id as usize) else { return };
        *rank = Agenda::NEVER;
        self.leave_others(id);
        if self.first.who == id {
            self.settle();
        }
    }

    /// Takes a member whose rank has changed out of the tournament, if it plays there.
    #[inline(always)]
    fn leave_others(&mut self, id: u32) {
        if self.strays > 0 {
            self.stray_no_more(id);
        }
    }

    #[cold]
    #[inline(never)]
    fn stray_no_more(&mut self, id: u32) {
        if self.others.get(id) != Agenda::NEVER {
            self.others.set(id, Agenda::NEVER);
            self.strays -= 1;
        }
    }

    /// Places a member at the end of the line that reaches further, if that can be: so the other
    /// takes more.
    #[inline(always)]
    fn take_place(&mut self, entry: Entry) {
        let [first, second] = &mut self.lines;
        let (further, other) =
            if first.end > second.end { (first, second) } else { (second, first) };
        if further.end < entry.time {
            further.push(entry, &self.ranks);
        } else if other.end < entry.time {
            other.push(entry, &self.ranks);
        } else {
            self.place(entry);
        }
    }

    /// Finds a place for a member that goes to no end.
    #[cold]
    #[inline(never)]
    fn place(&mut self, entry: Entry) {
        if !self.lines.iter_mut().any(|line| line.insert_near(entry, &self.ranks)) {
            self.others.set(entry.who, entry.time);
            self.strays += 1;
        }
    }

    /// Finds the first anew.
    #[inline(always)]
    fn settle(&mut self) {
        let [first, second] = &mut self.lines;
        self.first = first.first(&self.ranks).min(second.first(&self.ranks));
        if self.strays > 0 {
            self.first = self.first.min(self.others.first());
        }
    }

    /// Makes room for members below `count`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: usize) {
        let old = self.ranks.len() as u32;
        self.ranks.resize(count.next_power_of_two(), Agenda::NEVER);
        let before = std::mem::replace(&mut self.others, Agenda::new(self.ranks.len()));
        for id in 0..old {
            self.others.set(id, before.get(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_is_ranked_anew_again_and_again_takes_no_more_room() {
        let mut tournament = Tournament::default();
        tournament.set(0, 1.0);
        for key in 2..10_000 {
            tournament.set(1, f64::from(key));
        }
        assert_eq!(tournament.first(), Some((1.0, 0)));
        assert!(tournament.lines.iter().all(|line| line.ring.len() == 8));
    }

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
