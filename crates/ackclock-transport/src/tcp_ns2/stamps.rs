//! When each packet left, by the number that its timestamp option carries.
//!
//! ns-2's timestamps are its clock, a double. An option here has 32 bits, so it carries the number of the
//! transmission, and the sender keeps the times of those whose echo may come.

use std::collections::VecDeque;

use crate::units::Time;

/// Times of the transmissions since the one whose echo came last.
#[derive(Debug)]
pub(super) struct Stamps {
    /// Number of the first that is kept.
    first: u32,
    times: VecDeque<Time>,
}

impl Default for Stamps {
    fn default() -> Self {
        // 0 in a packet means that it has no option.
        Self { first: 1, times: VecDeque::new() }
    }
}

impl Stamps {
    /// Notes a transmission at `now` and returns its number.
    pub(super) fn note(&mut self, now: Time) -> u32 {
        let number = self.first.wrapping_add(self.times.len() as u32);
        self.times.push_back(now);
        number
    }

    /// When transmission `number` left; forgets those before it. None for an older one, and for no number at all.
    pub(super) fn find_echoed(&mut self, number: u32) -> Option<Time> {
        let index = number.wrapping_sub(self.first) as usize;
        if number == 0 || index >= self.times.len() {
            return None;
        }
        self.times.drain(..index);
        self.first = number;
        self.times.front().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_finds_its_transmission_and_what_is_older_is_forgotten() {
        let mut stamps = Stamps::default();
        let numbers: Vec<u32> = (10..14).map(|sent_ps| stamps.note(Time(sent_ps))).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        assert_eq!(stamps.find_echoed(0), None);
        assert_eq!(stamps.find_echoed(3), Some(Time(12)));
        assert_eq!(stamps.find_echoed(3), Some(Time(12)));
        assert_eq!(stamps.find_echoed(2), None);
        assert_eq!(stamps.find_echoed(5), None);
        assert_eq!((stamps.note(Time(20)), stamps.find_echoed(5)), (5, Some(Time(20))));
    }
}
