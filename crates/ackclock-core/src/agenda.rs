//! Who is next, of many processes, channels or classes: an eight-ary tournament by time.
//!
//! Every match notes its winner, so the next one is at hand without a search. What a winner does
//! changes mostly its own time, and then the matches on its way to the final are played again; one
//! that is woken earlier only wins more of them. A match is decided without a jump that a processor
//! would have to guess, which in a heap is most of the time.

/// Contestants of a match.
const ARITY: usize = 8;

/// A contestant of a match: its time, and who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) time: u64,
    pub(crate) who: u32,
}

impl Entry {
    const OUT: Self = Self { time: Agenda::OUT, who: 0 };
}

/// The times of a fixed number of contestants; [`Agenda::OUT`] for one that has nothing to do.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// By contestant, filled up to whole matches.
    times: Vec<u64>,
    /// Winners of the first matches, of those between them, and so on up to the contestants of the
    /// final.
    rounds: Vec<Vec<Entry>>,
    /// The winner of the final.
    first: Entry,
    /// Whether four at most contest the final: then half a match is enough.
    has_small_final: bool,
}

impl Agenda {
    /// One that has nothing to do.
    pub(crate) const OUT: u64 = u64::MAX;

    /// All of `contestants`, with nothing to do.
    pub(crate) fn new(contestants: usize) -> Self {
        let mut rounds = Vec::new();
        let mut width = contestants.max(1).div_ceil(ARITY);
        let mut has_small_final = false;
        while width > 1 {
            has_small_final = width <= 4;
            rounds.push(vec![Entry::OUT; width.next_multiple_of(ARITY)]);
            width = width.div_ceil(ARITY);
        }
        let times = vec![Self::OUT; contestants.max(1).next_multiple_of(ARITY)];
        Self { times, rounds, first: Entry::OUT, has_small_final }
    }

    /// The one with the least time, of several the one with the smallest number.
    #[inline(always)]
    pub(crate) fn first(&self) -> Entry {
        self.first
    }

    /// The first of the part of all contestants, about a fiftieth, that this one belongs to.
    #[inline]
    pub(crate) fn next_beside(&self, who: u32) -> u32 {
        let depth = self.rounds.len().saturating_sub(2);
        let place = who as usize / ARITY.pow(depth as u32 + 1);
        self.rounds.get(depth).map_or(self.first.who, |round| round[place].who)
    }

    /// What a change of its time touches first: the time, and the winner of its first match.
    #[inline]
    pub(crate) fn places(&self, who: u32) -> (&u64, Option<&Entry>) {
        let winner = self.rounds.first().map(|round| &round[who as usize / ARITY]);
        (&self.times[who as usize], winner)
    }

    /// The time of a contestant.
    #[inline]
    pub(crate) fn get(&self, who: u32) -> u64 {
        self.times[who as usize]
    }

    /// Changes the time of a contestant.
    #[inline]
    pub(crate) fn set(&mut self, who: u32, time: u64) {
        self.times[who as usize] = time;
        if self.first.who == who {
            return self.play_again(who);
        }
        let mut changed = Entry { time, who };
        let mut place = who as usize / ARITY;
        for depth in 0..self.rounds.len() {
            let before = self.rounds[depth][place];
            changed = if changed < before {
                changed
            } else if before.who == who {
                self.winner(depth, place)
            } else {
                return;
            };
            self.rounds[depth][place] = changed;
            place /= ARITY;
        }
        self.first = self.first.min(changed);
    }

    /// Plays all matches of a contestant again.
    #[inline]
    fn play_again(&mut self, who: u32) {
        let mut place = who as usize / ARITY;
        for depth in 0..self.rounds.len() {
            self.rounds[depth][place] = self.winner(depth, place);
            place /= ARITY;
        }
        self.first = if self.has_small_final {
            self.winner_of_four()
        } else {
            self.winner(self.rounds.len(), 0)
        };
    }

    /// Who wins a final with no contestants but the first four.
    #[inline(always)]
    fn winner_of_four(&self) -> Entry {
        let Some(four) = self.rounds.last().and_then(|round| round.first_chunk::<4>()) else {
            return Entry::OUT;
        };
        let of = |place: usize| (four[place].time, place);
        four[better(better(of(0), of(1)), better(of(2), of(3))).1]
    }

    /// Who wins a match whose winner has this place in a round, or in the final after all rounds.
    #[inline(always)]
    fn winner(&self, depth: usize, place: usize) -> Entry {
        let begin = place * ARITY;
        let Some(below) = depth.checked_sub(1) else {
            let Some(group) = self.times[begin..].first_chunk::<ARITY>() else { return Entry::OUT };
            let (time, winner) = least(|place| group[place]);
            return Entry { time, who: (begin + winner) as u32 };
        };
        let Some(group) = self.rounds[below][begin..].first_chunk::<ARITY>() else {
            return Entry::OUT;
        };
        group[least(|place| group[place].time).1]
    }
}

/// The lesser of two, the first of equals.
#[inline(always)]
fn better(a: (u64, usize), b: (u64, usize)) -> (u64, usize) {
    if b.0 < a.0 { b } else { a }
}

/// The least of the keys of eight places and its place, the first of several: in pairs, so that no
/// decision waits for more than two others.
#[inline(always)]
fn least(key: impl Fn(usize) -> u64) -> (u64, usize) {
    let of = |place| (key(place), place);
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
            let mut list = vec![Agenda::OUT; processes];
            for (process, time) in changes.into_iter().filter(|c| (c.0 as usize) < processes) {
                let time = if time > 80 { Agenda::OUT } else { time };
                agenda.set(process, time);
                list[process as usize] = time;
                let least = list.iter().copied().min().unwrap_or(Agenda::OUT);
                let first = agenda.first();
                prop_assert_eq!(first.time, least);
                prop_assert_eq!(list[first.who as usize], least);
                if least != Agenda::OUT {
                    let earliest = list.iter().position(|&time| time == least);
                    prop_assert_eq!(Some(first.who as usize), earliest);
                }
                prop_assert_eq!(agenda.get(process), time);
            }
        }
    }
}
