//! SEARCH: leaves slow start when less arrives than was sent one round trip before.
//!
//! While the rate doubles each round trip, what is delivered in a window of time equals what was sent in the window a
//! round trip earlier. At the bottleneck's rate deliveries fall behind.
//!
//! **Source**: draft-chung-ccwg-search-09, section 3; of -10, which could be had by its first page only, what its authors reported
//! to the working group (CCWG at IETF 126, minutes): the drain. They announced a rule by signal and noise against exits while the
//! application limits; no text of it is public, and none is here.
//!
//! **Rule** (bins of 0.35 times the first round trip, window of 10 bins; i = present bin, j = i - RTT / bin)
//! ```text
//! slow start:     cwnd += min(acked, limit) per acknowledgement
//! at each bin:    delivered = D(i) - D(i - 10),  sent = S(j) - S(j - 10), linear between bins
//!                 1 - delivered / sent >= 0.26:   ssthresh = cwnd, with drain = true after
//! drain:          target = D(i) - D(i - 3), three bins being the first round trip;  cwnd -= acked / 3 while above target
//! bins passed without an acknowledgement repeat the last; more than 10 of them begin anew
//! ```
//! Segments are counted, not bytes. Deviations: interpolation is between j and the bin before, as a time between two bins
//! demands; the draft's text takes the one after. What was sent is what was delivered and is in flight at an
//! acknowledgement. The drain is off by default: neqo, which runs SEARCH, leaves it out, as CUBIC's window after it is too small.
//! Only for the first slow start; later ones, in which ssthresh is finite, add min(acked, limit).
//!
//! Defaults by era: the same in all. In the RFC era a window not in use does not grow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SlowStart, SlowStartEnv};
use crate::cc::usage::may_grow;
use crate::cc::{Ack, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// Bins of a window.
const WINDOW: u64 = 10;
/// Bins kept beyond a window, to look back by a round trip.
const EXTRA: u64 = 15;
/// Segments acknowledged for each that the drain takes from the window.
const DRAIN_ACKS: f64 = 3.0;
/// Bins stored.
const BINS: usize = (WINDOW + EXTRA) as usize + 2;

/// Parameters of SEARCH.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchParams {
    /// Window of the measurement in first round trips (`WINDOW_SIZE_FACTOR`).
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "round trips"))]
    pub window_factor: f64,
    /// Share by which deliveries must fall behind (`THRESH`).
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub threshold: f64,
    /// Most segments that one acknowledgement adds.
    #[schemars(range(min = 1), extend("x-unit" = "segments"))]
    pub limit: u32,
    /// Whether the window is lowered before slow start ends, by a segment for each three acknowledged, to what was
    /// delivered in the last time of a first round trip.
    pub drain: bool,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self { window_factor: 3.5, threshold: 0.26, limit: 1, drain: false }
    }
}

/// SEARCH.
pub struct Search {
    params: SearchParams,
    era: Era,
    bin: Span,
    bin_end: Time,
    /// Number of the present bin; `None` before the first sample.
    present: Option<u64>,
    /// Delivered and sent segments at the end of each bin.
    bins: [(f64, f64); BINS],
    /// The window to which it is being lowered.
    target: Option<f64>,
}

impl About<SlowStartEnv> for Search {
    type Params = SearchParams;
    const INFO: Info = Info {
        name: "search",
        title: "SEARCH",
        source: "draft-chung-ccwg-search-09, section 3",
        status: Status::Variant,
    };

    fn new(params: SearchParams, env: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            bin: Span::ZERO,
            bin_end: Time::ZERO,
            present: None,
            bins: [(0.0, 0.0); BINS],
            target: None,
        })
    }
}

impl Search {
    fn at(&self, bin: u64) -> (f64, f64) {
        self.bins[(bin % BINS as u64) as usize]
    }

    /// Enters the counts of an acknowledgement; true if that ended a bin.
    fn enter(&mut self, ack: &Ack, rtt: Span) -> bool {
        let counts = (ack.delivered as f64, ack.delivered as f64 + f64::from(ack.in_flight));
        let Some(present) = self.present else {
            self.bin =
                Span::from_seconds(rtt.seconds() * self.params.window_factor / WINDOW as f64);
            if self.bin > Span::ZERO {
                self.begin(ack.now, counts);
            }
            return false;
        };
        if ack.now < self.bin_end {
            return false;
        }
        let passed = ack.now.since(self.bin_end).0 / self.bin.0 + 1;
        if passed > WINDOW {
            self.begin(ack.now, counts);
            return false;
        }
        let last = self.at(present);
        for bin in present + 1..present + passed {
            self.bins[(bin % BINS as u64) as usize] = last;
        }
        let next = present + passed;
        self.bins[(next % BINS as u64) as usize] = counts;
        self.present = Some(next);
        self.bin_end += self.bin * passed;
        true
    }

    fn begin(&mut self, now: Time, counts: (f64, f64)) {
        self.bins = [counts; BINS];
        self.present = Some(0);
        self.bin_end = now + self.bin;
    }

    /// Segments delivered in the last bins that the first round trip fills.
    fn delivered_in_first_rtt(&self) -> f64 {
        let bins = (WINDOW as f64 / self.params.window_factor).ceil() as u64;
        let present = self.present.unwrap_or(0);
        self.at(present).0 - self.at(present.saturating_sub(bins.min(WINDOW))).0
    }

    /// Share by which what was delivered in the window falls behind what was sent in that one round trip before;
    /// `None` where the bins do not reach.
    fn shortfall(&self, rtt: Span) -> Option<f64> {
        let present = self.present?;
        let back = rtt.0 / self.bin.0;
        let fraction = (rtt.0 % self.bin.0) as f64 / self.bin.0 as f64;
        let then = present.checked_sub(back)?;
        if then <= WINDOW || back >= EXTRA {
            return None;
        }
        let delivered = self.at(present).0 - self.at(present - WINDOW).0;
        let sent_until = |bin: u64| self.at(bin).1 - self.at(bin - WINDOW).1;
        let sent = fraction * sent_until(then - 1) + (1.0 - fraction) * sent_until(then);
        (sent > 0.0).then(|| 1.0 - delivered / sent)
    }
}

impl SlowStart for Search {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(target) = self.target.filter(|_| window.ssthresh.is_infinite()) {
            window.cwnd = (window.cwnd - f64::from(ack.acked) / DRAIN_ACKS).max(target);
            if window.cwnd <= target {
                window.ssthresh = window.cwnd;
            }
            return;
        }
        if may_grow(ack, self.era) {
            window.cwnd += f64::from(ack.acked.min(self.params.limit));
        }
        if window.ssthresh.is_finite() {
            return;
        }
        if let Some(rtt) = ack.rtt
            && self.enter(ack, rtt)
            && self.shortfall(rtt).is_some_and(|share| share >= self.params.threshold)
        {
            let target = self.delivered_in_first_rtt().max(2.0);
            if self.params.drain && target < window.cwnd {
                self.target = Some(target);
            } else {
                window.ssthresh = window.cwnd.max(2.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;

    fn search() -> Search {
        Search::new(SearchParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn ms(t: u64) -> Time {
        Time::ZERO + Span::from_millis(t)
    }

    /// A path of 100 ms: bins of 35 ms. The window doubles each round trip up to `capacity` segments a round trip, what is
    /// beyond waits. One acknowledgement a bin. Returns the time at which slow start ended.
    fn exit(capacity: f64) -> Option<u64> {
        let mut rule = search();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        let rate = |t: f64| (10.0 * (t / 100.0).exp2()).min(1e12); // segments per round trip sent at t
        let mut sent = 10.0;
        let (mut delivered, mut backlog) = (0.0, 0.0);
        for t in 0..2000u64 {
            let arriving = if t >= 100 { rate(t as f64 - 100.0) / 100.0 } else { 0.0 };
            backlog += arriving;
            let served = backlog.min(capacity / 100.0);
            backlog -= served;
            delivered += served;
            sent += rate(t as f64) / 100.0;
            if t >= 100 {
                let ack = Ack {
                    rtt: Some(Span::from_millis(100)),
                    delivered: delivered as u64,
                    in_flight: (sent - delivered) as u32,
                    ..Ack::at(ms(t), 0)
                };
                rule.on_ack(&mut window, &ack);
            }
            if window.ssthresh.is_finite() {
                return Some(t);
            }
            if delivered > 1e8 {
                return None;
            }
        }
        None
    }

    #[test]
    fn while_deliveries_keep_up_slow_start_goes_on() {
        assert_eq!(exit(f64::INFINITY), None);
    }

    /// The rate reaches 1000 segments a round trip at log2(100) = 6.64 round trips; it shows one later, and as the window
    /// is 3.5 round trips long, a quarter is missing about one more after that.
    #[test]
    fn it_ends_one_to_two_round_trips_after_the_bottleneck_is_reached() {
        for (capacity, reached) in [(1000.0, 664), (8000.0, 964)] {
            let exit_ms = exit(capacity).unwrap();
            assert!(exit_ms > reached + 100 && exit_ms < reached + 320, "{capacity}: {exit_ms} ms");
        }
    }

    /// Bins of 35 ms and a round trip of 100 ms: 2 bins and 30 ms back.
    #[test]
    fn the_shortfall_by_hand() {
        let mut rule = search();
        rule.bin = Span::from_millis(35);
        rule.present = Some(20);
        // Delivered: 10 a bin. Sent: 15 a bin. 100 delivered, 150 sent: a third is missing.
        for bin in 0..=20u64 {
            rule.bins[(bin % BINS as u64) as usize] = (10.0 * bin as f64, 15.0 * bin as f64);
        }
        assert!((rule.shortfall(Span::from_millis(100)).unwrap() - 1.0 / 3.0).abs() < 1e-12);
        // A jump of 70 sent in bin 18, which is the bin at a round trip of 70 ms and the one after at 105 ms: at 100 ms
        // it counts with 5/35 of what it adds.
        rule.bins[18].1 += 70.0;
        let at_70 = 1.0 - 100.0 / 220.0;
        assert!((rule.shortfall(Span::from_millis(70)).unwrap() - at_70).abs() < 1e-12);
        let at_100 = 1.0 - 100.0 / 160.0;
        assert!((rule.shortfall(Span::from_millis(100)).unwrap() - at_100).abs() < 1e-12);
        // Eleven bins and more back the window is not whole.
        assert_eq!(rule.shortfall(Span::from_millis(350)), None);
    }

    /// 10 segments a bin are delivered of 15: 30 in the three bins of a first round trip of 100 ms. From 60 the window falls by
    /// a third of a segment for each acknowledged, 90 in all; a loss ends that.
    #[test]
    fn the_drain_lowers_the_window_to_what_a_first_round_trip_delivers() {
        let mut rule = search();
        rule.params.drain = true;
        let mut window = Window { cwnd: 60.0, ssthresh: f64::INFINITY };
        rule.bin = Span::from_millis(35);
        rule.present = Some(20);
        rule.bin_end = ms(735);
        for bin in 0..=20u64 {
            rule.bins[(bin % BINS as u64) as usize] = (10.0 * bin as f64, 15.0 * bin as f64);
        }
        let rtt = Some(Span::from_millis(100));
        rule.on_ack(
            &mut window,
            &Ack { rtt, delivered: 210, in_flight: 105, ..Ack::at(ms(735), 0) },
        );
        assert_eq!((window.cwnd, window.ssthresh), (60.0, f64::INFINITY));
        for acked in (3..=90).step_by(3) {
            assert!(window.ssthresh.is_infinite(), "{acked}");
            rule.on_ack(&mut window, &Ack { rtt, ..Ack::at(ms(736), 3) });
        }
        assert!((window.cwnd - 30.0).abs() < 1e-9 && window.ssthresh == window.cwnd, "{window:?}");
        (window.cwnd, window.ssthresh) = (15.0, 25.0);
        rule.on_ack(&mut window, &Ack { rtt, ..Ack::at(ms(737), 1) });
        assert_eq!(window.cwnd, 16.0);
    }

    #[test]
    fn a_later_slow_start_is_standard() {
        let mut rule = search();
        let mut window = Window { cwnd: 2.0, ssthresh: 50.0 };
        for t in 0..60 {
            let rtt = Some(Span::from_millis(100));
            rule.on_ack(&mut window, &Ack { rtt, ..Ack::at(ms(100 * t), 1) });
        }
        assert_eq!((window.cwnd, window.ssthresh), (62.0, 50.0));
    }
}
