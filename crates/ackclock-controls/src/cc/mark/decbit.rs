//! DECbit: the window follows the fraction of packets that routers marked.
//!
//! The queue discipline `decbit` marks packets that find a queue of one or more on average. Flows keep near
//! the knee of the throughput curve: links are busy, queues are about one packet long.
//!
//! **Source**: K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer
//! Networks", ACM Transactions on Computer Systems 8(2), 1990, sections 4 and 5, doi:10.1145/78952.78955.
//!
//! **Rule** (`w_p`, `w`: window before and after the last decision)
//! ```text
//! after a decision the marks of w_p segments are ignored, those of the next w segments are counted, then
//! marked < threshold of them:  w <- w + increase
//! else:                        w <- factor w, at least 1
//! loss:                        w <- w / 2, at least 2;  timeout: ssthresh as on loss, w <- 1; counting restarts
//! ```
//! All users that get the same marks decrease together, and each decrease takes an eighth of their difference:
//! windows become equal. That needs queues which do not know the flows apart. In a network without any randomness
//! windows travel as trains, and each flow finds the queue at a fixed phase of the others' trains: one may be
//! marked at each packet while the other rarely is, and keep a window of 1 for good (at 50 ms and 10 Mbit/s 0.3
//! and 2.9 Mbit/s). With exponential jitter of 5 ms two flows get equal shares, whenever they start.
//!
//! Deviations: what a loss does is TCP's (RFC 5681); the source's networks lose nothing. Receivers report counts of
//! marks (AccECN, RFC 9768) in place of each packet's bit: an acknowledgement of several segments spreads its marks
//! evenly over them. Flows have AccECN whatever `tcp.accecn` says; only era `rfc` can run it.
//!
//! Defaults by era: the source's: threshold 1/2, increase 1, factor 0.875.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::in_use;
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of DECbit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DecbitParams {
    /// Fraction of marked segments from which the window is reduced.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub threshold: f64,
    /// Increase of a decision.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub increase: f64,
    /// Factor kept by a decrease.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub factor: f64,
}

impl Default for DecbitParams {
    fn default() -> Self {
        Self { threshold: 0.5, increase: 1.0, factor: 0.875 }
    }
}

/// DECbit's sender.
pub struct Decbit {
    params: DecbitParams,
    era: Era,
    /// Segments whose marks are still ignored, and those that are still to be counted.
    ignored: f64,
    left: f64,
    counted: f64,
    marked: f64,
    /// Marks reported and not yet assigned to segments.
    reported: f64,
    /// Marked fraction at the last decision.
    fraction: f64,
    /// The window as this control last left it; another value means that someone else moved it.
    last_window: f64,
}

impl About<CcEnv> for Decbit {
    type Params = DecbitParams;
    const INFO: Info = Info {
        name: "decbit",
        title: "DECbit",
        source: "Ramakrishnan and Jain, ACM Transactions on Computer Systems 8(2), 1990, \
                 doi:10.1145/78952.78955",
        status: Status::Specified,
    };

    fn new(params: DecbitParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            ignored: 0.0,
            left: 0.0,
            counted: 0.0,
            marked: 0.0,
            reported: 0.0,
            fraction: 0.0,
            last_window: f64::NAN,
        })
    }
}

impl Decbit {
    /// Counts anew: the marks of `ignored` segments, which left before the window was `cwnd`, do not count.
    fn restart(&mut self, ignored: f64, cwnd: f64) {
        self.ignored = ignored.floor().max(1.0);
        self.left = cwnd.floor().max(1.0);
        (self.counted, self.marked) = (0.0, 0.0);
        self.last_window = cwnd;
    }

    fn decide(&mut self, window: &mut Window, may_grow: bool) {
        let before = window.cwnd;
        self.fraction = self.marked / self.counted;
        if self.fraction >= self.params.threshold {
            window.cwnd = (self.params.factor * before).max(1.0);
        } else if may_grow {
            window.cwnd += self.params.increase;
        }
        self.restart(before, window.cwnd);
    }
}

impl CongestionControl for Decbit {
    fn on_ecn_counts(&mut self, _window: &mut Window, counts: &EcnCounts) {
        self.reported += f64::from(counts.marked);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.cwnd.to_bits() != self.last_window.to_bits() {
            self.restart(window.cwnd, window.cwnd);
        }
        let may_grow = !ack.app_limited || self.era.is_ns2();
        let mut acked = f64::from(ack.acked);
        let share = (std::mem::take(&mut self.reported) / acked).min(1.0);
        while acked > 0.0 {
            let skipped = acked.min(self.ignored);
            self.ignored -= skipped;
            acked -= skipped;
            let counted = acked.min(self.left);
            self.left -= counted;
            acked -= counted;
            self.counted += counted;
            self.marked += share * counted;
            if self.left <= 0.0 {
                self.decide(window, may_grow);
            }
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let half = in_use(window, event, self.era) / 2.0;
        match event.signal {
            Signal::Rto { consecutive } => {
                if self.era.is_ns2() || consecutive <= 1 {
                    window.ssthresh = half.max(2.0);
                }
                window.cwnd = 1.0;
            }
            Signal::FastRetransmit { .. } => {
                window.ssthresh = half.max(2.0);
                window.cwnd = half.max(2.0).min(before);
            }
            Signal::EcnEcho | Signal::Spurious => return,
        }
        self.restart(before, window.cwnd);
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn counts_marks(&self) -> bool {
        true
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("marked_fraction", self.fraction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::units::Time;

    fn decbit() -> Decbit {
        Decbit::new(DecbitParams::default(), &env(Era::Rfc)).unwrap()
    }

    /// An acknowledgement of so many segments, and of so many marks.
    fn acknowledge(control: &mut Decbit, window: &mut Window, acked: u32, marked: u32) {
        let counts = EcnCounts { acked, marked, ..EcnCounts::at(Time::ZERO) };
        control.on_ecn_counts(window, &counts);
        control.on_ack(window, &Ack::at(Time::ZERO, acked));
    }

    fn feed(control: &mut Decbit, window: &mut Window, marks: &[bool]) {
        for &is_marked in marks {
            acknowledge(control, window, 1, u32::from(is_marked));
        }
    }

    #[test]
    fn the_marks_of_one_window_are_ignored_and_half_of_the_next_reduces() {
        let mut control = decbit();
        let mut window = Window { cwnd: 4.0, ssthresh: f64::INFINITY };
        // 4 ignored though marked; of the next 4, one is marked: 5.
        feed(&mut control, &mut window, &[true; 4]);
        feed(&mut control, &mut window, &[true, false, false]);
        assert_eq!(window.cwnd, 4.0);
        feed(&mut control, &mut window, &[false]);
        assert_eq!(window.cwnd, 5.0);
        // 4 ignored; of 5, two are marked, less than half: 6.
        feed(&mut control, &mut window, &[false; 4]);
        feed(&mut control, &mut window, &[true, true, false, false, false]);
        assert_eq!(window.cwnd, 6.0);
        // 5 ignored; of 6, three are marked, half of them: 6 x 0.875 = 5.25.
        feed(&mut control, &mut window, &[false; 5]);
        feed(&mut control, &mut window, &[true, false, true, false, true, false]);
        assert_eq!(window.cwnd, 5.25);
        assert_eq!(control.fraction, 0.5);
    }

    /// Increases are equal and keep the difference, each common decrease keeps 7/8 of it: from 28 it is 1 after
    /// 25 decreases (0.875^25 = 0.0355).
    #[test]
    fn users_who_get_the_same_marks_lose_an_eighth_of_their_difference_by_each_decrease() {
        let mut controls = [decbit(), decbit()];
        let mut windows = [30.0, 2.0].map(|cwnd| Window { cwnd, ssthresh: f64::INFINITY });
        let mut decreases = 0;
        while decreases < 25 {
            let is_marked = windows[0].cwnd + windows[1].cwnd > 20.0;
            decreases += i32::from(is_marked);
            for (control, window) in controls.iter_mut().zip(&mut windows) {
                let before = window.cwnd;
                while window.cwnd.to_bits() == before.to_bits() {
                    feed(control, window, &[is_marked]);
                }
            }
        }
        let difference = windows[0].cwnd - windows[1].cwnd;
        assert!((difference - 28.0 * 0.0355).abs() < 0.01, "{windows:?}");
        assert!(windows.iter().all(|w| w.cwnd > 7.0 && w.cwnd < 12.0), "{windows:?}");
    }

    #[test]
    fn an_acknowledgement_of_many_segments_counts_as_many() {
        let mut control = decbit();
        let mut window = Window { cwnd: 3.0, ssthresh: f64::INFINITY };
        // 3 ignored, 3 counted: 4. Then 3 ignored, 4 counted: 5.
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 13));
        assert_eq!(window.cwnd, 5.0);
        // Two by two: 4 ignored though marked, then 5 counted. A mark on two is half a mark on each, and of the
        // last two segments one is counted: 1 + 2 + 0.5 = 3.5 of 5.
        for marked in [2, 2, 1, 2, 1] {
            acknowledge(&mut control, &mut window, 2, marked);
        }
        assert_eq!((control.fraction, window.cwnd), (0.7, 4.375));
    }

    #[test]
    fn a_loss_halves_and_a_window_that_is_not_used_does_not_grow() {
        let mut control = decbit();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        let lost = Signal::FastRetransmit { lost: 1 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 10));
        assert_eq!((window.cwnd, window.ssthresh), (5.0, 5.0));
        let idle = Ack { app_limited: true, ..Ack::at(Time::ZERO, 40) };
        control.on_ack(&mut window, &idle);
        assert_eq!(window.cwnd, 5.0);
    }
}
