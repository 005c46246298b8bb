//! The virtual time of generalised processor sharing.
//!
//! **Source**: Parekh & Gallager, "A Generalized Processor Sharing Approach to Flow Control in
//! Integrated Services Networks: The Single-Node Case", IEEE/ACM Trans. Networking 1(3), 1993, section III
//! (doi:10.1109/90.234856).
//!
//! **Rule**: dV/dt = C / (sum of the weights of the classes that are backlogged in GPS); a class is
//! backlogged until V reaches the finish tag of its last packet. Tags are bytes per unit of weight.

use crate::qdisc::fair::tournament::Tournament;
use crate::units::{BitRate, PS_PER_S, Time};

/// Tracks V and the set of classes that GPS would be serving.
#[derive(Debug)]
pub(crate) struct Gps {
    bytes_per_ps: f64,
    v: f64,
    at: Time,
    /// Sum of the weights of the backlogged classes, and one over it.
    weight: f64,
    share: f64,
    /// Backlogged classes by a time that is not after the finish tag of their last packet: a class
    /// is ranked anew only when V gets there, not at each of its packets. And then no more than one
    /// `step` later, so that times come in order, which the tournament likes.
    backlogged: Tournament,
    /// The longest service of a packet so far.
    step: f64,
}

impl Gps {
    pub(crate) fn new(rate: BitRate) -> Self {
        Self {
            bytes_per_ps: bytes_per_ps(rate),
            v: 0.0,
            at: Time::ZERO,
            weight: 0.0,
            share: 0.0,
            backlogged: Tournament::default(),
            step: 0.0,
        }
    }

    /// Serves at `rate` from the time of the last [`Self::advance`] on.
    pub(crate) fn set_rate(&mut self, rate: BitRate) {
        self.bytes_per_ps = bytes_per_ps(rate);
    }

    /// V now, after every class that GPS finished serving on the way has left. `class_of` gives the
    /// finish tag of a class's last packet and the class's weight.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time, class_of: impl Fn(u32) -> (f64, f64)) -> f64 {
        let mut bytes = now.since(self.at).0.cast_signed() as f64 * self.bytes_per_ps;
        self.at = now;
        while let Some((ranked, class)) = self.backlogged.first() {
            let needed = greater(ranked - self.v, 0.0) * self.weight;
            if needed > bytes {
                self.v += bytes * self.share;
                break;
            }
            let (last, weight) = class_of(class);
            if last > ranked {
                self.backlogged.set_first(Some(lesser(last, ranked + self.step)));
                continue;
            }
            bytes -= needed;
            self.v = greater(self.v, last);
            self.backlogged.set_first(None);
            self.left(weight);
        }
        self.v
    }

    /// A packet of this service has come to a class of this weight and has finish tag `last`. To be called
    /// at the time of the last `advance`.
    #[inline(always)]
    pub(crate) fn arrived(&mut self, class: u32, last: f64, weight: f64, service: f64) {
        self.step = greater(self.step, service);
        // The finish tag of a class's last packet only grows here: the entry may keep its place.
        if self.backlogged.key(class).is_none() {
            self.weigh(self.weight + weight);
            self.backlogged.set(class, lesser(last, self.v + self.step));
        }
    }

    /// The last packet of a class of this weight now has the lower finish tag `last`. To be called at the
    /// time of the last `advance`.
    #[inline]
    pub(crate) fn dropped(&mut self, class: u32, last: f64, weight: f64) {
        let Some(ranked) = self.backlogged.key(class) else { return };
        if last <= self.v {
            self.backlogged.remove(class);
            self.left(weight);
        } else if last < ranked {
            self.backlogged.set(class, last);
        }
    }

    /// A class of this weight has left the backlogged ones.
    #[inline]
    fn left(&mut self, weight: f64) {
        // An empty system starts from exactly zero, so rounding never adds up.
        let weight = if self.backlogged.first().is_some() { self.weight - weight } else { 0.0 };
        self.weigh(weight);
    }

    /// The backlogged classes now have this weight. V is read at once when a packet comes, and a
    /// division takes its time: it is done here.
    #[inline(always)]
    fn weigh(&mut self, weight: f64) {
        self.weight = weight;
        self.share = 1.0 / weight;
    }
}

/// The greater of two numbers: `f64::max` also tests whether they are numbers.
#[inline(always)]
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

fn bytes_per_ps(rate: BitRate) -> f64 {
    rate.bps() / 8.0 / PS_PER_S as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn virtual_time_slows_with_the_weights_that_share() {
        // 1000 B/s. Class 0 (weight 1) has 1000 B, class 1 (weight 3) 1500 B: finish tags 1000 and 500.
        let classes = |class: u32| [(1000.0, 1.0), (500.0, 3.0)][class as usize];
        let mut gps = Gps::new(BitRate(8000));
        let time = |ms: u64| Time::ZERO + Span::from_millis(ms);
        assert_eq!(gps.advance(time(500), classes), 0.0);
        gps.arrived(0, 1000.0, 1.0, 1000.0);
        gps.arrived(1, 500.0, 3.0, 500.0);
        // Together at 250 per second; class 1 is done after 2 s, then class 0 alone at 1000 per second.
        assert!((gps.advance(time(1500), classes) - 250.0).abs() < 1e-9);
        assert!((gps.advance(time(2750), classes) - 750.0).abs() < 1e-9);
        // Done at 3 s of service; V is constant while nobody is backlogged.
        assert!((gps.advance(time(9000), classes) - 1000.0).abs() < 1e-9);
    }
}
