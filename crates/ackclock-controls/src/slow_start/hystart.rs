//! `HyStart`, as Linux has it: leaves slow start at the end of an ACK train as long as half a round trip, or when the
//! delay rises.
//!
//! **Source**: S. Ha, I. Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55(9), 2011, section 4,
//! doi:10.1016/j.comnet.2011.01.014; constants: Linux 6.12, `net/ipv4/tcp_cubic.c`.
//!
//! **Rule** (per round; base = smallest sample of data so far)
//! ```text
//! slow start: cwnd += acked per acknowledgement
//! looks from w >= 16 segments; a train begins with the round, also where that began below
//! ACK train:  acknowledgements at most 2 ms apart; when they span more than
//!             (base + min(1 ms, 256 KiB / pacing rate)) / 2, pacing rate = 2 w / SRTT:      ssthresh = cwnd
//! delay:      from the ninth sample of a round: least of the round > base + clamp(base / 8, 4 ms, 16 ms):
//!             ssthresh = cwnd
//! found once: not again before a timeout
//! ```
//! Deviations: Linux lets the train last twice as long for a paced flow; a sender here that paces has its slow start
//! inside its control. The RFC era's window not in use does not grow. A timeout is known by the window of one segment
//! that it leaves.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SlowStart, SlowStartEnv};
use crate::cc::usage::may_grow;
use crate::cc::{Ack, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// Parameters of `HyStart`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinuxHystartParams {
    /// Least window at which slow start may end (`hystart_low_window`).
    #[schemars(range(min = 2), extend("x-unit" = "segments"))]
    pub low_window: f64,
    /// Largest gap between acknowledgements of a train (`hystart_ack_delta_us`).
    pub ack_delta: Span,
    /// Detect by the length of the ACK train.
    pub ack_train: bool,
    /// Detect by the rise of the delay.
    pub delay: bool,
    /// Samples at the beginning of a round that count (`HYSTART_MIN_SAMPLES`).
    #[schemars(range(min = 1))]
    pub min_samples: u32,
}

impl Default for LinuxHystartParams {
    fn default() -> Self {
        Self {
            low_window: 16.0,
            ack_delta: Span::from_millis(2),
            ack_train: true,
            delay: true,
            min_samples: 8,
        }
    }
}

/// Smallest and largest rise of the delay that ends slow start.
const RISE: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));

/// Longest time of a burst of segmentation offload that a train is allowed on top, and bytes of four.
const BURST: (Span, f64) = (Span::from_millis(1), 4.0 * 65_536.0);

/// `HyStart` of Linux.
pub struct LinuxHystart {
    params: LinuxHystartParams,
    era: Era,
    mss: f64,
    round: Option<u64>,
    began: Time,
    last: Time,
    /// Smallest sample of the flow, and of the round.
    base: Span,
    least: Span,
    samples: u32,
    exit_found: bool,
}

impl About<SlowStartEnv> for LinuxHystart {
    type Params = LinuxHystartParams;
    const INFO: Info = Info {
        name: "hystart",
        title: "HyStart of Linux",
        source: "Ha, Rhee, Computer Networks 55(9), 2011, section 4, \
                 doi:10.1016/j.comnet.2011.01.014; constants of Linux 6.12",
        status: Status::Specified,
    };

    fn new(params: LinuxHystartParams, env: &SlowStartEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            mss: f64::from(env.mss),
            round: None,
            began: Time::ZERO,
            last: Time::ZERO,
            base: Span::MAX,
            least: Span::MAX,
            samples: 0,
            exit_found: false,
        })
    }
}

impl LinuxHystart {
    /// Takes an acknowledgement; true if slow start is to end.
    fn is_full(&mut self, cwnd: f64, ack: &Ack) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        self.base = self.base.min(rtt);
        if self.exit_found && cwnd > 1.0 {
            return false;
        }
        self.exit_found = false;
        if self.round.replace(ack.round) != Some(ack.round) {
            (self.began, self.last) = (ack.now, ack.now);
            (self.least, self.samples) = (Span::MAX, 0);
        }
        if cwnd < self.params.low_window {
            return false;
        }
        if self.params.ack_train && ack.now.since(self.last) <= self.params.ack_delta {
            self.last = ack.now;
            let burst = ack.srtt.seconds() * BURST.1 / (2.0 * cwnd * self.mss);
            let burst = BURST.0.min(Span::from_seconds(burst));
            self.exit_found |= ack.now.since(self.began) > Span((self.base + burst).0 / 2);
        }
        if self.params.delay {
            self.least = self.least.min(rtt);
            if self.samples < self.params.min_samples {
                self.samples += 1;
            } else {
                let rise = Span(self.base.0 / 8).max(RISE.0).min(RISE.1);
                self.exit_found |= self.least > self.base + rise;
            }
        }
        self.exit_found
    }
}

impl SlowStart for LinuxHystart {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.is_full(window.cwnd, ack) {
            window.ssthresh = window.cwnd.max(2.0);
            return;
        }
        if may_grow(ack, self.era) {
            window.cwnd += f64::from(ack.acked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;

    fn rule(change: impl Fn(&mut LinuxHystartParams)) -> LinuxHystart {
        let mut params = LinuxHystartParams::default();
        change(&mut params);
        LinuxHystart::new(params, &env(Era::Rfc)).unwrap()
    }

    fn ack(round: u64, us: u64, rtt_ms: u64) -> Ack {
        let rtt = Some(Span::from_millis(rtt_ms));
        let now = Time::ZERO + Span::from_micros(us);
        Ack { rtt, round, srtt: Span::from_millis(100), ..Ack::at(now, 1) }
    }

    fn large() -> Window {
        Window { cwnd: 40.0, ssthresh: f64::INFINITY }
    }

    /// Base 100 ms and a burst of 1 ms: a train of acknowledgements 1 ms apart ends slow start with the first
    /// beyond 50.5 ms.
    #[test]
    fn a_train_of_more_than_half_a_round_trip_ends_slow_start() {
        let mut rule = rule(|p| p.delay = false);
        let mut window = large();
        for i in 0..=50 {
            rule.on_ack(&mut window, &ack(1, 1000 * i, 100));
            assert!(window.ssthresh.is_infinite(), "{i}");
        }
        rule.on_ack(&mut window, &ack(1, 51_000, 100));
        assert_eq!((window.cwnd, window.ssthresh), (91.0, 91.0));
    }

    /// 20,000 segments of 1000 bytes in 100 ms: 256 KiB take 0.655 ms at twice that rate, so a train may last 50.33 ms.
    #[test]
    fn a_burst_at_a_high_rate_is_short() {
        let mut rule = rule(|p| p.delay = false);
        let mut window = Window { cwnd: 20_000.0, ssthresh: f64::INFINITY };
        for us in (0..=50_000).step_by(1000).chain([50_300]) {
            rule.on_ack(&mut window, &ack(1, us, 100));
            assert!(window.ssthresh.is_infinite(), "{us}");
        }
        rule.on_ack(&mut window, &ack(1, 50_400, 100));
        assert!(window.ssthresh.is_finite());
    }

    #[test]
    fn a_gap_ends_the_train_and_a_new_round_begins_another() {
        let mut rule = rule(|p| p.delay = false);
        let mut window = large();
        for i in 0..30 {
            rule.on_ack(&mut window, &ack(1, 1000 * i, 100));
        }
        for i in 32..90 {
            rule.on_ack(&mut window, &ack(1, 1000 * i, 100)); // 3 ms after the last
        }
        assert!(window.ssthresh.is_infinite());
        for i in 90..140 {
            rule.on_ack(&mut window, &ack(2, 1000 * i, 100));
        }
        assert!(window.ssthresh.is_infinite());
    }

    /// 100 ms / 8 = 12.5 ms: nine samples of 113 ms do, of 112 ms do not; one of 101 ms at any place is enough
    /// to go on.
    #[test]
    fn the_ninth_of_nine_samples_above_the_threshold_ends_slow_start() {
        let first = ack(0, 0, 100);
        for (ms, ends) in [(112, false), (113, true)] {
            let (mut rule, mut window) = (rule(|_| ()), large());
            rule.on_ack(&mut window, &first);
            for i in 1..=9 {
                assert!(window.ssthresh.is_infinite());
                rule.on_ack(&mut window, &ack(1, 5000 * i, ms));
            }
            assert_eq!(window.ssthresh.is_finite(), ends, "{ms}");
        }
        let (mut rule, mut window) = (rule(|_| ()), large());
        rule.on_ack(&mut window, &first);
        for i in 1..=20 {
            rule.on_ack(&mut window, &ack(1, 5000 * i, if i == 9 { 101 } else { 130 }));
        }
        assert!(window.ssthresh.is_infinite());
    }

    /// What ended it once does not end it again before a timeout has.
    #[test]
    fn it_is_found_once() {
        let (mut rule, mut window) = (rule(|_| ()), large());
        rule.on_ack(&mut window, &ack(0, 0, 100));
        for round in 1..3 {
            for i in 0..9 {
                rule.on_ack(&mut window, &ack(round, 100_000 * round + 5000 * i, 120));
            }
        }
        assert_eq!(window.ssthresh, 49.0);
        let mut again = Window { cwnd: 1.0, ssthresh: 60.0 };
        rule.on_ack(&mut again, &ack(4, 900_000, 120));
        again.cwnd = 30.0;
        for i in 0..9 {
            rule.on_ack(&mut again, &ack(5, 1_000_000 + 5000 * i, 120));
        }
        assert_eq!((again.cwnd, again.ssthresh), (38.0, 38.0));
    }

    #[test]
    fn a_small_window_goes_on() {
        let mut rule = rule(|_| ());
        let mut window = Window { cwnd: 2.0, ssthresh: f64::INFINITY };
        for i in 0..14 {
            rule.on_ack(&mut window, &ack(1, 5000 * i, 200));
            assert!(window.ssthresh.is_infinite());
        }
        assert_eq!(window.cwnd, 16.0);
    }
}
