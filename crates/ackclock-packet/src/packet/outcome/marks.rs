//! Sampling times.

use std::marker::PhantomData;
use std::ops::Range;

use crate::packet::process::clock::Clock;

/// Sampling times of many objects: of each at every interval and at the end of the warm-up.
#[derive(Clone, Debug)]
pub(crate) struct Marks<C> {
    /// In picoseconds.
    interval: u64,
    /// Intervals per picosecond.
    frequency: f64,
    /// A word of time.
    warmup: u64,
    /// By object, intervals that have passed; empty without an interval.
    passed: Vec<u32>,
    clock: PhantomData<C>,
}

impl<C: Clock> Marks<C> {
    /// Of `count` objects; times in picoseconds.
    pub(crate) fn new(interval: Option<u64>, warmup: u64, count: usize) -> Self {
        let passed = vec![0; interval.map_or(0, |_| count)];
        let interval = interval.unwrap_or(0).max(1);
        let frequency = 1.0 / interval as f64;
        Self { interval, frequency, warmup: C::word(warmup), passed, clock: PhantomData }
    }

    /// Between two marks [ps].
    pub(crate) fn interval(&self) -> u64 {
        self.interval
    }

    /// The first mark of each object.
    pub(crate) fn first(&self) -> u64 {
        if self.passed.is_empty() { self.warmup } else { 0 }
    }

    /// Advances object `who` to `now`; returns the numbers of its samples that are due, and its next mark.
    #[inline]
    pub(crate) fn advance(&mut self, who: usize, now: u64) -> (Range<usize>, u64) {
        let (mut rows, mut next) = (0..0, u64::MAX);
        if let Some(passed) = self.passed.get(who).copied() {
            let number = self.first_after(u64::from(passed), now);
            next = self.word_of(number);
            rows = passed as usize..number as usize;
            self.passed[who] = number as u32;
        }
        (rows, if self.warmup > now { next.min(self.warmup) } else { next })
    }

    /// The number of the first mark after `now`, not before `number`.
    #[inline(always)]
    fn first_after(&self, mut number: u64, now: u64) -> u64 {
        if C::IS_EXACT {
            // The number of marks since the last visit is hard to predict, so they are not counted one by
            // one: this is the last that has passed or, rarely, its neighbour.
            number = number.max((now as f64 * self.frequency) as u64);
        }
        while self.word_of(number) <= now {
            number += 1;
        }
        number
    }

    /// Notes for object `who` what has passed in other marks of the same objects.
    pub(crate) fn copy(&mut self, who: usize, other: &Self) {
        if let Some(passed) = self.passed.get_mut(who) {
            *passed = other.passed[who];
        }
    }

    /// The number of objects; 0 without an interval.
    pub(crate) fn count(&self) -> usize {
        self.passed.len()
    }

    /// The number of marks before `end`.
    pub(crate) fn count_before(&self, end: u64) -> usize {
        let mut number = C::ps(end) / self.interval;
        while self.word_of(number) < end {
            number += 1;
        }
        while number > 0 && self.word_of(number - 1) >= end {
            number -= 1;
        }
        number as usize
    }

    #[inline(always)]
    fn word_of(&self, number: u64) -> u64 {
        C::word(self.interval.saturating_mul(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::process::clock::{Picoseconds, Seconds};
    use proptest::prelude::*;

    /// Visits at times given as (intervals, offset beside a mark, more).
    fn marks_pass_once_and_in_time<C: Clock>(
        interval: u64,
        visits: Vec<(u64, u64, u64)>,
        warmup: u64,
    ) -> Result<(), TestCaseError> {
        let mut marks = Marks::<C>::new(Some(interval), warmup, 3);
        let (mut ps, mut expected, mut latest) = (0, 0, 0);
        for (intervals, beside, more) in visits {
            let more = if interval < 20 { more % 1000 } else { more };
            ps = (ps + more) / interval * interval + intervals * interval / 7;
            ps = (ps + beside).saturating_sub(2);
            let now = C::word(ps);
            let begin = expected;
            while C::word(expected as u64 * interval) <= now {
                expected += 1;
            }
            let next = C::word(expected as u64 * interval);
            let warmup = Some(C::word(warmup)).filter(|&warmup| warmup > now);
            let next = warmup.map_or(next, |warmup| warmup.min(next));
            latest = latest.max(now);
            prop_assert_eq!(marks.count_before(latest + 1), expected);
            prop_assert_eq!(marks.advance(1, now), (begin..expected, next));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_mark_is_passed_once_and_not_before_its_time(
            interval in prop_oneof![1u64..20, 1u64..1 << 45],
            // Visits on marks, beside them and far from them, some hours into a run.
            visits in prop::collection::vec((0u64..1 << 10, 0u64..5, 0u64..1 << 40), 1..60),
            warmup in 0u64..1 << 50,
            in_seconds in any::<bool>(),
        ) {
            if in_seconds {
                marks_pass_once_and_in_time::<Seconds>(interval, visits, warmup)?;
            } else {
                marks_pass_once_and_in_time::<Picoseconds>(interval, visits, warmup)?;
            }
        }
    }
}
