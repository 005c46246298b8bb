//! The virtual time of generalised processor sharing.
//!
//! **Source**: Parekh & Gallager, "A Generalized Processor Sharing Approach to Flow Control in
//! Integrated Services Networks: The Single-Node Case", IEEE/ACM Trans. Networking 1(3), 1993, section III
//! (doi:10.1109/90.234856).
//!
//! **Rule**: dV/dt = C / (sum of the weights of the classes that are backlogged in GPS); a class is
//! backlogged until V reaches the finish tag of its last packet. Tags are bytes per unit of weight.

use super::tournament::Tournament;
use crate::units::{BitRate, Time};

/// Tracks V and the set of classes that GPS would be serving.
#[derive(Debug)]
pub(super) struct Gps {
    bytes_per_s: f64,
    v: f64,
    at: Time,
    /// Sum of the weights of the backlogged classes.
    weight: f64,
    /// Backlogged classes by a time that is not after the finish tag of their last packet: a class
    /// is ranked anew only when V gets there, not at each of its packets.
    backlogged: Tournament,
    /// Finish tag of the last packet of each class.
    last: Vec<f64>,
}

impl Gps {
    pub(super) fn new(rate: BitRate) -> Self {
        Self {
            bytes_per_s: rate.bps() / 8.0,
            v: 0.0,
            at: Time::ZERO,
            weight: 0.0,
            backlogged: Tournament::default(),
            last: Vec::new(),
        }
    }

    /// Serves at `rate` from the time of the last [`Self::advance`] on.
    pub(super) fn set_rate(&mut self, rate: BitRate) {
        self.bytes_per_s = rate.bps() / 8.0;
    }

    /// V now, after every class that GPS finished serving on the way has left.
    #[inline]
    pub(super) fn advance(&mut self, now: Time, weight: impl Fn(u32) -> f64) -> f64 {
        let mut bytes = now.since(self.at).seconds() * self.bytes_per_s;
        self.at = now;
        while let Some((ranked, class)) = self.backlogged.first() {
            let needed = (ranked - self.v).max(0.0) * self.weight;
            if needed > bytes {
                self.v += bytes / self.weight;
                break;
            }
            let last = self.last[class as usize];
            if last > ranked {
                self.backlogged.set(class, last);
                continue;
            }
            bytes -= needed;
            self.v = self.v.max(last);
            self.leave(class, weight(class));
        }
        self.v
    }

    /// The last packet of a class of this weight now has finish tag `last`. To be called at the time
    /// of the last `advance`.
    #[inline]
    pub(super) fn set(&mut self, class: u32, last: f64, weight: f64) {
        let ranked = self.backlogged.key(class);
        if last > self.v {
            if self.last.len() <= class as usize {
                self.last.resize(class as usize + 1, 0.0);
            }
            self.last[class as usize] = last;
            if ranked.is_none() {
                self.weight += weight;
            }
            if ranked.is_none_or(|ranked| last < ranked) {
                self.backlogged.set(class, last);
            }
        } else if ranked.is_some() {
            self.leave(class, weight);
        }
    }

    #[inline]
    fn leave(&mut self, class: u32, weight: f64) {
        self.backlogged.remove(class);
        // An empty system starts from exactly zero, so rounding never adds up.
        self.weight = if self.backlogged.first().is_some() { self.weight - weight } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn virtual_time_slows_with_the_weights_that_share() {
        // 1000 B/s. Class 0 (weight 1) has 1000 B, class 1 (weight 3) 1500 B: finish tags 1000 and 500.
        let weights = |class: u32| if class == 0 { 1.0 } else { 3.0 };
        let mut gps = Gps::new(BitRate(8000));
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        assert_eq!(gps.advance(at(500), weights), 0.0);
        gps.set(0, 1000.0, 1.0);
        gps.set(1, 500.0, 3.0);
        // Together at 250 per second; class 1 is done after 2 s, then class 0 alone at 1000 per second.
        assert!((gps.advance(at(1500), weights) - 250.0).abs() < 1e-9);
        assert!((gps.advance(at(2750), weights) - 750.0).abs() < 1e-9);
        // Done at 3 s of service; V stands while nobody is backlogged.
        assert!((gps.advance(at(9000), weights) - 1000.0).abs() < 1e-9);
    }
}
