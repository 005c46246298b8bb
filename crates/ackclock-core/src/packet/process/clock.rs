//! What the engine's clock counts. All of the engine but this file sees opaque words that sort by time.
//!
//! Picoseconds are exact. ns-2 keeps seconds in a double, and where two sums of its delays round
//! apart, what would be simultaneous has an order: era `ns2` agrees with it only by doing the same
//! sums. Doubles that are not negative sort as their bits do, so one engine serves both.

use crate::scenario::Era;
use crate::tcp::Deadline;
use crate::units::PS_PER_S;

/// What a word of time means. `u64::MAX` is never, in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::packet) enum Timescale {
    /// Whole picoseconds.
    #[default]
    Picoseconds,
    /// The bits of a double: seconds.
    Seconds,
}

impl Timescale {
    /// What runs of an era count.
    pub(in crate::packet) fn of(era: Era) -> Self {
        if era == Era::Ns2 { Self::Seconds } else { Self::Picoseconds }
    }

    /// The word for a moment or span given in picoseconds.
    pub(in crate::packet) fn word(self, ps: u64) -> u64 {
        match self {
            Self::Picoseconds => ps,
            Self::Seconds => seconds(ps),
        }
    }

    /// The picoseconds of a word, rounded.
    #[inline]
    pub(in crate::packet) fn ps(self, word: u64) -> u64 {
        match self {
            Self::Picoseconds => word,
            Self::Seconds => seconds_to_ps(word),
        }
    }

    /// The moment `span` after `at`.
    #[inline(always)]
    pub(in crate::packet) fn after(self, at: u64, span: u64) -> u64 {
        match self {
            Self::Picoseconds => at.saturating_add(span),
            Self::Seconds => sum(at, span),
        }
    }

    /// The word for a moment given in picoseconds, as reached from the present: never before it.
    pub(in crate::packet) fn word_after(self, now: u64, ps: u64) -> u64 {
        if ps == u64::MAX {
            return ps;
        }
        self.after(now, self.word(ps.saturating_sub(self.ps(now))))
    }

    /// A bound: a moment not later than anything that happens at least `span` after `at`, and later
    /// than `at`. Sums of several delays round by less than the part that is taken off.
    #[inline(always)]
    pub(in crate::packet) fn bound(self, at: u64, span: u64) -> u64 {
        match self {
            Self::Picoseconds => at.saturating_add(span),
            Self::Seconds => sum(at, scaled(span)).max(at.saturating_add(1)),
        }
    }
}

/// When the endpoints' timers go off, where that is not just the deadline: ns-2 adds a timer's delay
/// to the present at which it is set, and so each is worked out then.
#[derive(Default)]
pub(in crate::packet) struct Timers(Vec<(Deadline, u64)>);

impl Timers {
    /// Of so many endpoints.
    pub(in crate::packet) fn new(scale: Timescale, ends: usize) -> Self {
        match scale {
            Timescale::Picoseconds => Self::default(),
            Timescale::Seconds => Self(vec![(Deadline::NEVER, u64::MAX); ends]),
        }
    }

    /// When endpoint `index`, which has this deadline, is to be called.
    #[inline(always)]
    pub(in crate::packet) fn word(
        &mut self,
        scale: Timescale,
        index: usize,
        deadline: Deadline,
        now: u64,
    ) -> u64 {
        match scale {
            Timescale::Picoseconds => deadline.at.0,
            Timescale::Seconds => self.in_seconds(index, deadline, now),
        }
    }

    #[inline(never)]
    fn in_seconds(&mut self, index: usize, deadline: Deadline, now: u64) -> u64 {
        let set = &mut self.0[index];
        if set.0 != deadline {
            *set = (deadline, Timescale::Seconds.word_after(now, deadline.at.0));
        }
        set.1
    }
}

#[inline(never)]
fn seconds(ps: u64) -> u64 {
    if ps == u64::MAX { ps } else { (ps as f64 / PS_PER_S as f64).to_bits() }
}

#[inline(never)]
fn seconds_to_ps(word: u64) -> u64 {
    if word == u64::MAX {
        u64::MAX
    } else {
        (f64::from_bits(word) * PS_PER_S as f64).round() as u64
    }
}

#[inline(never)]
fn sum(at: u64, span: u64) -> u64 {
    if at == u64::MAX || span == u64::MAX {
        return u64::MAX;
    }
    (f64::from_bits(at) + f64::from_bits(span)).to_bits()
}

#[inline(never)]
fn scaled(span: u64) -> u64 {
    if span == u64::MAX { u64::MAX } else { (f64::from_bits(span) * (1.0 - 1e-6)).to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_sort_by_time_and_come_back() {
        for clock in [Timescale::Picoseconds, Timescale::Seconds] {
            let times = [0, 1, 999, 1_000_000_000_000, 419_999_999_999_999, u64::MAX];
            for pair in times.windows(2) {
                assert!(clock.word(pair[0]) < clock.word(pair[1]));
            }
            for ps in times {
                assert_eq!(clock.ps(clock.word(ps)), ps);
            }
            assert_eq!(clock.after(clock.word(5), u64::MAX), u64::MAX);
            assert!(clock.bound(clock.word(5_000), 0) >= clock.word(5_000));
        }
    }

    /// 0.1 + 0.2 is not 0.3 in doubles, and that is the point.
    #[test]
    fn seconds_round_as_doubles_do() {
        let s = Timescale::Seconds;
        let sum = s.after(s.word(100_000_000_000), s.word(200_000_000_000));
        assert!(sum > s.word(300_000_000_000));
        assert_eq!(s.ps(sum), 300_000_000_000);
    }
}
