//! A monitor interval: what left in it, and what became of that.

use crate::units::{Span, Time};

/// What an interval's outcome is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The doubling at the start.
    Start,
    /// The gradient.
    Pair {
        /// It tries the higher rate.
        high: bool,
    },
    /// Nothing: the outcome of others is awaited.
    None,
}

/// A monitor interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    /// Its rate in Mbit/s.
    pub(super) rate: f64,
    pub(super) purpose: Outcome,
    pub(super) start: Time,
    pub(super) end: Time,
    /// Packets sent before it.
    pub(super) first_packet: u64,
    pub(super) lost: u64,
    pub(super) app_limited: bool,
    /// Sums of the regression of round trips on the times at which packets left, since `start`.
    count: f64,
    times: f64,
    rtts: f64,
    squares: f64,
    products: f64,
}

impl Interval {
    pub(super) fn new(rate: f64, purpose: Outcome, start: Time, end: Time, sent: u64) -> Self {
        Self {
            rate,
            purpose,
            start,
            end,
            first_packet: sent,
            lost: 0,
            app_limited: false,
            count: 0.0,
            times: 0.0,
            rtts: 0.0,
            squares: 0.0,
            products: 0.0,
        }
    }

    /// A packet that left at `left` was acknowledged after `rtt`.
    pub(super) fn add(&mut self, left: Time, rtt: Span) {
        let (x, y) = (left.since(self.start).seconds(), rtt.seconds());
        self.count += 1.0;
        self.times += x;
        self.rtts += y;
        self.squares += x * x;
        self.products += x * y;
    }

    /// Sum of squares of the times about their mean, times their number.
    fn spread(&self) -> f64 {
        self.count * self.squares - self.times * self.times
    }

    /// Whether the samples lie apart.
    pub(super) fn has_slope(&self) -> bool {
        self.count >= 2.0 && self.spread() > 0.0
    }

    /// Seconds by which the round trip grows per second.
    pub(super) fn slope(&self) -> f64 {
        if self.has_slope() {
            (self.count * self.products - self.times * self.rtts) / self.spread()
        } else {
            0.0
        }
    }

    /// Share of its packets that were lost, of `sent`.
    pub(super) fn loss(&self, sent: u64) -> f64 {
        if sent == 0 { 0.0 } else { (self.lost as f64 / sent as f64).min(1.0) }
    }
}
