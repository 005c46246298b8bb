//! TCP-LP: low priority by early congestion indication; uses what others leave.
//!
//! **Source**: A. Kuzmanovic, E. W. Knightly, "TCP-LP: Low-Priority Service via End-Point Congestion Control", IEEE/ACM
//! Transactions on Networking 14(4), 2006, section III, doi:10.1109/TNET.2006.879702.
//!
//! **Rule** (d = delay sample, sd = (7 sd + d) / 8, dmin and dmax = extremes)
//! ```text
//! congested:  sd > dmin + delta (dmax - dmin)
//! first time: w <- w / 2, and for `inference` round trips (3) nothing grows
//! again while that lasts:                 w <- 1
//! else ACK:   w += acked / w
//! loss, ECN:  w <- w / 2;   timeout: ssthresh <- w / 2, w <- 1
//! ```
//! Deviations: one-way delays are replaced by round trips, since receivers here send no clock; a queue on the way back
//! counts too. A second indication counts a round trip after the first at the earliest: sd still has the queue of
//! before. What comes back from a segment that was alone gives no sample: a receiver that delays acknowledgements may
//! have waited for a second segment, and at one segment nothing would ever be below the threshold again. The first slow
//! start is Reno's: before its end dmax is hardly more than dmin, and any delay would be above the threshold. Linux
//! (`tcp_lp.c`) uses the receiver's timestamps, leaves ssthresh at an early indication (here it is half, then 2, so that
//! slow start does not undo it), and takes as extremes after one what it has smoothed.
//!
//! Defaults by era: the same in all: delta 0.15, 3 round trips; in era `linux` windows are whole segments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::usage::{growth, in_use};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::Span;

/// Parameters of TCP-LP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LpParams {
    /// Share of the range of delays beyond which the path counts as congested.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub delta: f64,
    /// Weight of a new sample in the smoothed delay.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub gamma: f64,
    /// Round trips that an early indication is observed.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub inference: u64,
}

impl Default for LpParams {
    fn default() -> Self {
        Self { delta: 0.15, gamma: 0.125, inference: 3 }
    }
}

/// TCP-LP.
pub struct Lp {
    params: LpParams,
    era: Era,
    growth: Growth,
    smoothed: f64,
    least: f64,
    most: f64,
    /// Round in which the present inference phase began, and of the last indication.
    inference: Option<(u64, u64)>,
}

impl About<CcEnv> for Lp {
    type Params = LpParams;
    const INFO: Info = Info {
        name: "lp",
        title: "TCP-LP",
        source: "Kuzmanovic, Knightly, IEEE/ACM Transactions on Networking 14(4), 2006, section III, \
                 doi:10.1109/TNET.2006.879702",
        status: Status::Variant,
    };
    const ALSO: &'static [&'static str] = &["tcp-lp"];

    fn new(params: LpParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            growth: Growth::of(env.era),
            smoothed: 0.0,
            least: f64::INFINITY,
            most: 0.0,
            inference: None,
        })
    }
}

impl Lp {
    /// Takes a sample; true if it indicates congestion.
    fn is_congested(&mut self, ack: &Ack) -> bool {
        let was_alone = ack.acked == 1 && ack.in_flight == 0;
        let Some(delay) = ack.rtt.map(Span::seconds).filter(|_| !was_alone) else { return false };
        self.least = self.least.min(delay);
        self.most = self.most.max(delay);
        let first = self.smoothed == 0.0;
        self.smoothed =
            if first { delay } else { self.smoothed + self.params.gamma * (delay - self.smoothed) };
        self.smoothed > self.least + self.params.delta * (self.most - self.least)
    }

    /// Answers an early indication.
    fn give_way(&mut self, window: &mut Window, round: u64) {
        match self.inference {
            Some((_, last)) if round <= last + 1 => {}
            Some(_) => {
                window.cwnd = 1.0;
                window.ssthresh = window.ssthresh.min(2.0);
                self.inference = Some((round, round));
            }
            None => {
                let half = window.cwnd / 2.0;
                let half = if self.era == Era::Linux { half.floor() } else { half }.max(1.0);
                window.cwnd = half.min(window.cwnd);
                window.ssthresh = half.max(2.0);
                self.inference = Some((round, round));
            }
        }
    }

    fn watch(&mut self, window: &mut Window, ack: &Ack) {
        if self.inference.is_some_and(|(began, _)| ack.round >= began + self.params.inference) {
            self.inference = None;
        }
        if self.is_congested(ack) && window.ssthresh.is_finite() {
            self.give_way(window, ack.round);
        }
    }
}

impl CongestionControl for Lp {
    fn on_slow_start(&mut self, window: &mut Window, ack: &Ack) {
        self.watch(window, ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.watch(window, ack);
        if self.inference.is_some() {
            return;
        }
        if window.cwnd < window.ssthresh {
            // The acknowledgement that ends the inference phase; slow start handles those that follow.
            window.cwnd = (window.cwnd + growth(ack, self.era)).min(window.ssthresh);
        } else if self.era == Era::Linux {
            self.growth.add(window, ack, 1.0);
        } else {
            window.cwnd += growth(ack, self.era) / window.cwnd;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        self.growth.reduce_to(window, event, used / 2.0);
    }

    // Nothing grows in the inference phase, not from one segment to two either.
    fn uses_slow_start(&self) -> bool {
        self.inference.is_none() || self.era.is_ns2()
    }

    fn phase(&self) -> &'static str {
        if self.inference.is_some() { "inference" } else { "avoidance" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("smoothed_delay_s", self.smoothed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Signal;
    use crate::cc::test_support::env;
    use crate::units::Time;

    fn lp() -> Lp {
        Lp::new(LpParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn ack(round: u64, rtt_ms: u64, acked: u32) -> Ack {
        let rtt = Some(Span::from_millis(rtt_ms));
        Ack { rtt, round, ..Ack::at(Time::ZERO, acked) }
    }

    /// Range 100 to 200 ms: the threshold is 115. After 100 a sample of 200 makes sd 112.5, a second 123.4.
    #[test]
    fn the_smoothed_delay_must_pass_15_percent_of_the_range() {
        let mut control = lp();
        assert!(!control.is_congested(&ack(0, 100, 2)));
        assert!(!control.is_congested(&ack(0, 200, 2)));
        assert!((control.smoothed - 0.1125).abs() < 1e-12);
        assert!(control.is_congested(&ack(0, 200, 2)));
    }

    /// At one segment each acknowledgement waits for the receiver's timer of 200 ms. It is no sample, or the window would
    /// be one segment for ever.
    #[test]
    fn the_wait_of_a_receiver_for_a_second_segment_is_no_congestion() {
        let mut control = lp();
        let mut window = Window { cwnd: 1.0, ssthresh: 2.0 };
        assert!(!control.is_congested(&ack(0, 20, 2)));
        for round in 1..20 {
            control.on_ack(&mut window, &ack(round, 220, 1));
        }
        assert!(window.cwnd >= 2.0, "{window:?}");
        assert_eq!((control.smoothed, control.most), (0.02, 0.02));
    }

    #[test]
    fn the_first_indication_halves_and_the_second_within_three_round_trips_leaves_one() {
        let mut control = lp();
        let mut window = Window { cwnd: 40.0, ssthresh: 2.0 };
        for rtt in [100, 200, 200] {
            control.on_ack(&mut window, &ack(5, rtt, 0));
        }
        assert_eq!((window.cwnd, control.phase()), (20.0, "inference"));
        control.on_ack(&mut window, &ack(6, 200, 20)); // the queue of before; nothing grows
        assert_eq!(window.cwnd, 20.0);
        control.on_ack(&mut window, &ack(7, 200, 20));
        assert_eq!(window.cwnd, 1.0);
        // Three round trips later it grows again, once sd has fallen.
        for _ in 0..40 {
            control.on_ack(&mut window, &ack(10, 100, 0));
        }
        window.cwnd = 10.0;
        for round in 11..16 {
            control.on_ack(&mut window, &ack(round, 100, 10));
        }
        assert_eq!(control.phase(), "avoidance");
        assert!(window.cwnd > 10.0);
    }

    #[test]
    fn a_loss_halves_and_a_free_path_grows_by_one_segment() {
        let mut control = lp();
        let mut window = Window { cwnd: 40.0, ssthresh: 2.0 };
        control.on_ack(&mut window, &ack(0, 100, 40));
        assert_eq!(window.cwnd, 41.0);
        let lost = Signal::FastRetransmit { lost: 1 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 41));
        assert_eq!(window.cwnd, 20.5);
    }
}
