//! OLIA: opportunistic linked increases. The first term of its growth is Pareto-optimal, the second moves window to paths that
//! are better than they are used.
//!
//! A path is best where a TCP would be fastest, as far as the segments between its losses say; a path that is best and has not the
//! largest window gets what those with the largest windows give up. Without such paths nothing is moved, and two equal
//! paths are used equally and without flapping.
//!
//! **Source**: R. Khalili, N. Gast, M. Popovic, J.-Y. Le Boudec, "MPTCP Is Not Pareto-Optimal: Performance Issues and a
//! Possible Solution", CoNEXT 2012, IEEE/ACM Transactions on Networking 21(5), 2013, doi:10.1109/TNET.2013.2274462;
//! draft-khalili-mptcp-congestion-control-05. From memory; compared with the behaviour of `mptcp_olia.c` of the MPTCP kernel 0.9x.
//!
//! **Rule** (`w_r` = window in segments, `t_r` = smoothed round trip, `l_r` = the larger of the segments delivered since the last loss
//! and between the last two; n subflows that are open)
//! ```text
//! B = those of the largest l_r / t_r^2,  M = those of the largest w_r
//! a_r =  1 / (n |B \ M|)  on B \ M;   -1 / (n |M|)  on M, if B \ M is not empty;   else 0
//! each segment acknowledged on r:   w_r <- w_r + (w_r / t_r^2) / (sum w_p / t_p)^2 + a_r / w_r,  1 at least
//! loss, ECN-Echo on r:              w_r <- w_r / 2,  1 at least;  timeout: ssthresh the same, w_r <- 1
//! slow start of each subflow:       as TCP's; ssthresh may be one segment
//! ```
//! Windows and values that differ by less than a millionth are equal. A flow of one path is Reno.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Base, Siblings, Subflow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Fact, Info, Status};

/// OLIA has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OliaParams {}

/// OLIA.
pub struct Olia {
    base: Base,
    /// Segments delivered in all, at the last acknowledgement and at the last loss.
    delivered: u64,
    delivered_at_loss: u64,
    /// Segments between the last two losses.
    between: f64,
    moved: f64,
}

impl About<CcEnv> for Olia {
    type Params = OliaParams;
    const INFO: Info = Info {
        name: "olia",
        title: "OLIA, opportunistic linked increases",
        source: "Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05; \
                 doi:10.1109/TNET.2013.2274462 (from memory; compared with mptcp_olia.c)",
        status: Status::Specified,
    };
    const FACTS: &'static [Fact] = &[Fact::Coupled];

    fn new(_params: OliaParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let base = Base::new(env)?;
        Ok(Self { base, delivered: 0, delivered_at_loss: 0, between: 0.0, moved: 0.0 })
    }
}

/// Differences that do not count.
const ROUNDING: f64 = 1e-6;

/// The term a of the subflow `own`.
fn moved_to(own: usize, all: &[Subflow]) -> f64 {
    let quality = |path: &Subflow| path.delivered[0].max(path.delivered[1]) / path.srtt_s.powi(2);
    let best = all.iter().map(quality).fold(0.0, f64::max) * (1.0 - ROUNDING);
    let largest = all.iter().map(|path| path.cwnd).fold(0.0, f64::max) * (1.0 - ROUNDING);
    let is_largest = |path: &Subflow| path.cwnd >= largest;
    let gets = |path: &Subflow| quality(path) >= best && !is_largest(path);
    let getting = all.iter().filter(|path| gets(path)).count();
    let count = all.len() as f64;
    if getting == 0 {
        0.0
    } else if gets(&all[own]) {
        1.0 / (count * getting as f64)
    } else if is_largest(&all[own]) {
        -1.0 / (count * all.iter().filter(|path| is_largest(path)).count() as f64)
    } else {
        0.0
    }
}

impl Olia {
    fn count(&mut self, ack: &Ack) {
        self.delivered = ack.delivered;
        if let Some(siblings) = &self.base.siblings {
            let since = ack.delivered.saturating_sub(self.delivered_at_loss) as f64;
            siblings.publish_delivered([since, self.between]);
        }
    }
}

impl CongestionControl for Olia {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.count(ack);
        let cwnd = window.cwnd;
        let mut moved = 0.0;
        self.base.grow(window, ack, |own, all| {
            moved = moved_to(own, all);
            let rate: f64 = all.iter().map(Subflow::rate).sum();
            let srtt_s = all[own].srtt_s;
            cwnd / (srtt_s * srtt_s) / (rate * rate) + moved / cwnd
        });
        self.moved = moved;
    }

    fn on_slow_start(&mut self, _window: &mut Window, ack: &Ack) {
        self.count(ack);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.base.cut(window, event, |_, _| 0.5);
        let since = self.delivered.saturating_sub(self.delivered_at_loss);
        // A timeout again, and marks that follow at once, say nothing new of the distance between losses.
        if event.signal != Signal::Spurious && since > 0 {
            (self.between, self.delivered_at_loss) = (since as f64, self.delivered);
            if let Some(siblings) = &self.base.siblings {
                siblings.publish_delivered([0.0, self.between]);
            }
        }
    }

    fn take_siblings(&mut self, siblings: Siblings) {
        self.base.siblings = Some(siblings);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("moved", self.moved);
        out("between_losses", self.between);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{ack, is_reno, loss, pair};
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;

    fn olia(siblings: Option<Siblings>) -> Olia {
        let mut olia = Olia::new(OliaParams {}, &env(Era::Rfc)).unwrap();
        if let Some(siblings) = siblings {
            olia.take_siblings(siblings);
        }
        olia
    }

    fn path(cwnd: f64, srtt_s: f64, delivered: [f64; 2]) -> Subflow {
        Subflow { cwnd, srtt_s, is_open: true, delivered }
    }

    /// Windows of 10 and 30 over 100 ms: (10 / 0.01) / 400^2 = 1 / 160. The other path is best and largest: nothing moves.
    #[test]
    fn without_better_paths_only_the_first_term_counts() {
        let siblings = pair([10.0, 30.0], [0.1, 0.1]);
        let other = Siblings { own: 1, all: siblings.all.clone() };
        other.publish_delivered([500.0, 900.0]);
        let mut window = Window { cwnd: 10.0, ssthresh: 2.0 };
        let mut control = olia(Some(siblings));
        control.on_ack(&mut window, &ack(100, 100));
        assert!((window.cwnd - 10.0 - 1.0 / 160.0).abs() < 1e-12, "{}", window.cwnd);
    }

    /// The same, but this path has delivered more between losses: it gets 1 / (2 * 1) / 10 = 1 / 20 besides, and the other
    /// would give 1 / (2 * 1) / 30.
    #[test]
    fn a_better_path_with_a_smaller_window_gets_some_of_the_larger_one() {
        let siblings = pair([10.0, 30.0], [0.1, 0.1]);
        let mut window = Window { cwnd: 10.0, ssthresh: 2.0 };
        olia(Some(siblings)).on_ack(&mut window, &ack(100, 100));
        assert!((window.cwnd - 10.0 - 1.0 / 160.0 - 1.0 / 20.0).abs() < 1e-12, "{}", window.cwnd);
        let all = [path(10.0, 0.1, [100.0, 0.0]), path(30.0, 0.1, [50.0, 99.0])];
        assert_eq!([moved_to(0, &all), moved_to(1, &all)], [0.5, -0.5]);
    }

    /// Three paths, of which two are best and small: 1 / (3 * 2) each, and the largest gives 1 / 3.
    #[test]
    fn what_is_given_is_shared() {
        let all = [
            path(10.0, 0.1, [100.0, 0.0]),
            path(10.0, 0.2, [0.0, 400.0]),
            path(30.0, 0.1, [50.0, 99.0]),
        ];
        let moved: Vec<f64> = (0..3).map(|own| moved_to(own, &all)).collect();
        assert_eq!(moved, [1.0 / 6.0, 1.0 / 6.0, -1.0 / 3.0]);
        // A shorter round trip counts squared.
        let all = [path(10.0, 0.1, [100.0, 0.0]), path(30.0, 0.2, [399.0, 0.0])];
        assert_eq!(moved_to(0, &all), 0.5);
    }

    #[test]
    fn the_distance_between_losses_is_counted_in_delivered_segments() {
        let siblings = pair([10.0, 30.0], [0.1, 0.1]);
        let mut control = olia(Some(siblings.clone()));
        let mut window = Window { cwnd: 10.0, ssthresh: 2.0 };
        let delivered = || siblings.lock()[0].delivered;
        control.on_ack(&mut window, &ack(100, 70));
        assert_eq!(delivered(), [70.0, 0.0]);
        control.on_congestion(&mut window, &loss(100, 10));
        assert_eq!(delivered(), [0.0, 70.0]);
        control.on_slow_start(&mut window, &ack(100, 95));
        assert_eq!(delivered(), [25.0, 70.0]);
        control.on_congestion(&mut window, &loss(100, 10));
        control.on_congestion(&mut window, &loss(100, 10));
        assert_eq!(delivered(), [0.0, 25.0]);
    }

    #[test]
    fn a_loss_halves_the_window_down_to_one_segment() {
        let mut control = olia(Some(pair([3.0, 30.0], [0.1, 0.1])));
        let mut window = Window { cwnd: 3.0, ssthresh: 50.0 };
        control.on_congestion(&mut window, &loss(100, 3));
        assert_eq!((window.cwnd, window.ssthresh), (1.5, 1.5));
        control.on_congestion(&mut window, &loss(100, 1));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 1.0));
    }

    #[test]
    fn with_one_path_it_is_reno() {
        assert!(is_reno(olia(None), &env(Era::Rfc)));
        assert!(is_reno(olia(Siblings::of(1).pop()), &env(Era::Rfc)));
        assert!(!is_reno(olia(Some(pair([10.0, 30.0], [0.1, 0.1]))), &env(Era::Rfc)));
    }
}
