//! An 8-ary tournament tree that selects the next of many processes, channels or classes by time.
//!
//! Every match keeps its winner, so the next entry is available without a search. Mostly the time of the
//! overall winner changes: then only the matches on its path are replayed. An entry whose time decreases
//! updates its path as far as it wins. Matches are decided without branches that a processor would have to
//! predict; in a heap most of the time goes to such mispredictions.

/// Entries of a match.
const ARITY: usize = 8;

/// An entry of a match: its time and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its time.
    pub time: u64,
    /// Its number.
    pub who: u32,
}

impl Entry {
    const NONE: Self = Self { time: Agenda::NEVER, who: 0 };
}

/// The times of a fixed number of entries; [`Agenda::NEVER`] for one without a time.
#[derive(Debug)]
pub struct Agenda {
    /// By entry, padded to whole matches.
    times: Vec<u64>,
    /// Winners of the first round, of the second, and so on up to the entries of the final.
    rounds: Vec<Vec<Entry>>,
    /// The winner of the final.
    first: Entry,
    /// Whether the final has at most four entries: then half a match is enough.
    has_small_final: bool,
}

impl Agenda {
    /// The time of an entry without one.
    pub const NEVER: u64 = u64::MAX;

    /// For so many entries, none with a time.
    pub fn new(entries: usize) -> Self {
        let mut rounds = Vec::new();
        let mut width = entries.max(1).div_ceil(ARITY);
        let mut has_small_final = false;
        while width > 1 {
            has_small_final = width <= 4;
            rounds.push(vec![Entry::NONE; width.next_multiple_of(ARITY)]);
            width = width.div_ceil(ARITY);
        }
        let times = vec![Self::NEVER; entries.max(1).next_multiple_of(ARITY)];
        Self { times, rounds, first: Entry::NONE, has_small_final }
    }

    /// The entry with the least time, of several the one with the smallest number.
    #[inline(always)]
    pub fn first(&self) -> Entry {
        self.first
    }

    /// The first entry of the subtree, about a fiftieth of all entries, that `who` belongs to.
    #[inline]
    pub fn first_beside(&self, who: u32) -> u32 {
        let depth = self.rounds.len().saturating_sub(2);
        let node = who as usize / ARITY.pow(depth as u32 + 1);
        self.rounds.get(depth).map_or(self.first.who, |round| round[node].who)
    }

    /// What [`Self::set`] reads first for an entry: its time, and the winner of its first match.
    #[inline]
    pub fn parts_of(&self, who: u32) -> (&u64, Option<&Entry>) {
        let winner = self.rounds.first().map(|round| &round[who as usize / ARITY]);
        (&self.times[who as usize], winner)
    }

    /// The time of an entry.
    #[inline]
    pub fn get(&self, who: u32) -> u64 {
        self.times[who as usize]
    }

    /// Sets the time of an entry.
    #[inline]
    pub fn set(&mut self, who: u32, time: u64) {
        self.times[who as usize] = time;
        if self.first.who == who {
            return self.replay(who);
        }
        let mut changed = Entry { time, who };
        let mut node = who as usize / ARITY;
        for depth in 0..self.rounds.len() {
            let before = self.rounds[depth][node];
            changed = if changed < before {
                changed
            } else if before.who == who {
                self.winner(depth, node)
            } else {
                return;
            };
            self.rounds[depth][node] = changed;
            node /= ARITY;
        }
        self.first = self.first.min(changed);
    }

    /// Replays all matches on the path of an entry.
    #[inline]
    fn replay(&mut self, who: u32) {
        let mut node = who as usize / ARITY;
        for depth in 0..self.rounds.len() {
            self.rounds[depth][node] = self.winner(depth, node);
            node /= ARITY;
        }
        self.first = if self.has_small_final {
            self.winner_of_four()
        } else {
            self.winner(self.rounds.len(), 0)
        };
    }

    /// The winner of a final among the first four entries.
    #[inline(always)]
    fn winner_of_four(&self) -> Entry {
        let Some(four) = self.rounds.last().and_then(|round| round.first_chunk::<4>()) else {
            return Entry::NONE;
        };
        let of = |entry: usize| (four[entry].time, entry);
        four[better(better(of(0), of(1)), better(of(2), of(3))).1]
    }

    /// The winner of the match at this place of a round, or of the final after all rounds.
    #[inline(always)]
    fn winner(&self, depth: usize, node: usize) -> Entry {
        let begin = node * ARITY;
        let Some(below) = depth.checked_sub(1) else {
            let Some(group) = self.times[begin..].first_chunk::<ARITY>() else {
                return Entry::NONE;
            };
            let (time, winner) = least(|entry| group[entry]);
            return Entry { time, who: (begin + winner) as u32 };
        };
        let Some(group) = self.rounds[below][begin..].first_chunk::<ARITY>() else {
            return Entry::NONE;
        };
        group[least(|entry| group[entry].time).1]
    }
}

/// The lesser of two, the first of equals.
#[inline(always)]
fn better(a: (u64, usize), b: (u64, usize)) -> (u64, usize) {
    if b.0 < a.0 { b } else { a }
}

/// The least key of eight places and its place, the first of several. It compares in pairs, so that no
/// comparison waits for more than two others.
#[inline(always)]
fn least(key: impl Fn(usize) -> u64) -> (u64, usize) {
    let of = |index| (key(index), index);
    better(
        better(better(of(0), of(1)), better(of(2), of(3))),
        better(better(of(4), of(5)), better(of(6), of(7))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_plain_list(
            processes in 1usize..700,
            changes in prop::collection::vec((0u32..700, 0u64..100), 0..300),
        ) {
            let mut agenda = Agenda::new(processes);
            let mut list = vec![Agenda::NEVER; processes];
            for (process, time) in changes.into_iter().filter(|c| (c.0 as usize) < processes) {
                let time = if time > 80 { Agenda::NEVER } else { time };
                agenda.set(process, time);
                list[process as usize] = time;
                let least = list.iter().copied().min().unwrap_or(Agenda::NEVER);
                let first = agenda.first();
                prop_assert_eq!(first.time, least);
                prop_assert_eq!(list[first.who as usize], least);
                if least != Agenda::NEVER {
                    let earliest = list.iter().position(|&time| time == least);
                    prop_assert_eq!(Some(first.who as usize), earliest);
                }
                prop_assert_eq!(agenda.get(process), time);
            }
        }
    }
}
