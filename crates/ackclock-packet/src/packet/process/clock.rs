//! The clock of a run: what a `u64` word of simulated time means.
//!
//! The engine compares words of time and adds spans to them through [`Clock`] only. [`Picoseconds`] are
//! exact. ns-2 keeps seconds in a double, and where two sums of its delays round differently, events that
//! would be simultaneous have an order: era `ns2` agrees with ns-2 only by forming the same sums
//! ([`Seconds`]). Non-negative doubles sort as their bits do, so one engine, generic over its clock, serves
//! both.

use std::fmt::Debug;
use std::marker::PhantomData;

use crate::endpoint::Deadline;
use crate::units::{BitRate, Bytes, PS_PER_S};

/// Arithmetic of time words. `u64::MAX` is never, on every clock.
pub(crate) trait Clock: Copy + Debug + Default + 'static {
    /// Whether words are picoseconds, so that conversions change nothing.
    const IS_EXACT: bool;

    /// Whether several threads share the run, so that packets may leave for another one.
    const IS_DIVIDED: bool = false;

    /// The word for a moment or span given in picoseconds.
    fn word(ps: u64) -> u64;

    /// The picoseconds of a word, rounded.
    fn ps(word: u64) -> u64;

    /// The seconds of a word, where that says more than its picoseconds do.
    fn seconds(_word: u64) -> Option<f64> {
        None
    }

    /// The moment `span` after `moment`.
    fn after(moment: u64, span: u64) -> u64;

    /// A lower bound: a moment after `moment` and not later than anything that happens at least `span` after
    /// `moment`, however sums of several delays round.
    fn bound(moment: u64, span: u64) -> u64;

    /// Transmission time of `size` bytes at a constant rate, as a word.
    fn transmission(rate: BitRate, size: u16) -> u64;

    /// Arrival at the far end of a link of a packet whose transmission begins at `start`.
    fn arrival(start: u64, transmission: u64, delay: u64) -> u64;

    /// The word for a moment given in picoseconds, as the sum of `now` and the time left: never before
    /// `now`.
    fn word_after(now: u64, ps: u64) -> u64 {
        if ps == u64::MAX {
            return ps;
        }
        Self::after(now, Self::word(ps.saturating_sub(Self::ps(now))))
    }
}

/// Words are whole picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Picoseconds;

impl Clock for Picoseconds {
    const IS_EXACT: bool = true;

    #[inline(always)]
    fn word(ps: u64) -> u64 {
        ps
    }

    #[inline(always)]
    fn ps(word: u64) -> u64 {
        word
    }

    #[inline(always)]
    fn after(moment: u64, span: u64) -> u64 {
        moment.saturating_add(span)
    }

    #[inline(always)]
    fn bound(moment: u64, span: u64) -> u64 {
        moment.saturating_add(span)
    }

    fn transmission(rate: BitRate, size: u16) -> u64 {
        rate.transmission(Bytes(u64::from(size))).0
    }

    #[inline(always)]
    fn arrival(start: u64, transmission: u64, delay: u64) -> u64 {
        start.saturating_add(transmission).saturating_add(delay)
    }
}

/// Words are whole picoseconds, of a run that several threads share (`turn/divided.rs`). The engine is compiled for
/// it separately: what dividing a run needs costs other runs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Divided;

impl Clock for Divided {
    const IS_EXACT: bool = true;
    const IS_DIVIDED: bool = true;

    #[inline(always)]
    fn word(ps: u64) -> u64 {
        ps
    }

    #[inline(always)]
    fn ps(word: u64) -> u64 {
        word
    }

    #[inline(always)]
    fn after(moment: u64, span: u64) -> u64 {
        Picoseconds::after(moment, span)
    }

    #[inline(always)]
    fn bound(moment: u64, span: u64) -> u64 {
        Picoseconds::bound(moment, span)
    }

    fn transmission(rate: BitRate, size: u16) -> u64 {
        Picoseconds::transmission(rate, size)
    }

    #[inline(always)]
    fn arrival(start: u64, transmission: u64, delay: u64) -> u64 {
        Picoseconds::arrival(start, transmission, delay)
    }
}

/// Words are the bits of doubles: seconds, as in ns-2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seconds;

impl Seconds {
    fn of(word: u64) -> f64 {
        f64::from_bits(word)
    }
}

impl Clock for Seconds {
    const IS_EXACT: bool = false;

    fn word(ps: u64) -> u64 {
        if ps == u64::MAX { ps } else { (ps as f64 / PS_PER_S as f64).to_bits() }
    }

    fn ps(word: u64) -> u64 {
        if word == u64::MAX { word } else { (Self::of(word) * PS_PER_S as f64).round() as u64 }
    }

    fn seconds(word: u64) -> Option<f64> {
        Some(Self::of(word))
    }

    fn after(moment: u64, span: u64) -> u64 {
        if moment == u64::MAX || span == u64::MAX {
            return u64::MAX;
        }
        (Self::of(moment) + Self::of(span)).to_bits()
    }

    /// Sums of several delays round by less than the part that is taken off.
    fn bound(moment: u64, span: u64) -> u64 {
        let span = if span == u64::MAX { span } else { (Self::of(span) * (1.0 - 1e-6)).to_bits() };
        Self::after(moment, span).max(moment.saturating_add(1))
    }

    fn transmission(rate: BitRate, size: u16) -> u64 {
        (f64::from(size) * 8.0 / rate.bps()).to_bits()
    }

    /// ns-2 adds the sum of transmission time and delay to the present.
    fn arrival(start: u64, transmission: u64, delay: u64) -> u64 {
        Self::after(start, Self::after(transmission, delay))
    }
}

/// When the timers of endpoints expire. ns-2 adds a timer's delay to the moment at which it is set, so on
/// its clock each expiry is computed once, when the deadline is set.
#[derive(Debug)]
pub(crate) struct Timers<C> {
    /// By endpoint, the deadline and its word; empty on an exact clock.
    set: Vec<(Deadline, u64)>,
    clock: PhantomData<C>,
}

impl<C: Clock> Timers<C> {
    /// For so many endpoints.
    pub(crate) fn new(endpoints: usize) -> Self {
        let count = if C::IS_EXACT { 0 } else { endpoints };
        Self { set: vec![(Deadline::NEVER, u64::MAX); count], clock: PhantomData }
    }

    /// When endpoint `index`, which has this deadline, is to be called.
    #[inline(always)]
    pub(crate) fn word(&mut self, index: usize, deadline: Deadline, now: u64) -> u64 {
        if C::IS_EXACT { deadline.at.0 } else { self.convert(index, deadline, now) }
    }

    #[inline(never)]
    fn convert(&mut self, index: usize, deadline: Deadline, now: u64) -> u64 {
        let set = &mut self.set[index];
        if set.0 != deadline {
            *set = (deadline, C::word_after(now, deadline.at.0));
        }
        set.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_sort_by_time_and_convert_back<C: Clock>() {
        let times = [0, 1, 999, 1_000_000_000_000, 419_999_999_999_999, u64::MAX];
        for pair in times.windows(2) {
            assert!(C::word(pair[0]) < C::word(pair[1]));
        }
        for ps in times {
            assert_eq!(C::ps(C::word(ps)), ps);
        }
        assert_eq!(C::after(C::word(5), u64::MAX), u64::MAX);
        assert!(C::bound(C::word(5_000), 0) >= C::word(5_000));
    }

    #[test]
    fn words_of_both_clocks_sort_by_time_and_convert_back() {
        words_sort_by_time_and_convert_back::<Picoseconds>();
        words_sort_by_time_and_convert_back::<Seconds>();
    }

    /// 0.1 + 0.2 is not 0.3 in doubles, as in ns-2.
    #[test]
    fn seconds_round_as_doubles_do() {
        let word = Seconds::word;
        let sum = Seconds::after(word(100_000_000_000), word(200_000_000_000));
        assert!(sum > word(300_000_000_000));
        assert_eq!(Seconds::ps(sum), 300_000_000_000);
    }
}
