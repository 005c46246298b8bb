//! LIA: linked increases. The windows of all subflows grow together as fast as one TCP's on the best path.
//!
//! Each subflow halves its window by itself at a loss. Between losses it grows by the share `alpha` of what one TCP with
//! the sum of all windows would add, and never faster than a TCP on its own path. `alpha` makes the sum as fast as one TCP on
//! the path where that would be fastest.
//!
//! **Source**: C. Raiciu, M. Handley, D. Wischik, "Coupled Congestion Control for Multipath Transport Protocols", RFC 6356,
//! section 3; D. Wischik, C. Raiciu, A. Greenhalgh, M. Handley, "Design, Implementation and Evaluation of Congestion
//! Control for Multipath TCP", NSDI 2011.
//!
//! **Rule** (`w_i` = window in segments, `r_i` = smoothed round trip of subflow i; sums and the maximum are over all that are open)
//! ```text
//! alpha = (sum w_i) max(w_i / r_i^2) / (sum w_i / r_i)^2
//! each segment acknowledged on i:   w_i <- w_i + min(alpha / sum w_i, 1 / w_i)
//! loss, ECN-Echo, timeout on i:     as Reno
//! slow start of each subflow:       as TCP's
//! ```
//! `alpha` is computed at each acknowledgement, in floating point (section 4.1 does so once in a window).
//! A flow of one path is Reno.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Base, Siblings, Subflow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::error::Problem;
use crate::registry::{About, Fact, Info, Status};

/// LIA has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LiaParams {}

/// LIA.
pub struct Lia {
    base: Base,
    alpha: f64,
}

impl About<CcEnv> for Lia {
    type Params = LiaParams;
    const INFO: Info = Info {
        name: "lia",
        title: "LIA, linked increases",
        source: "RFC 6356, section 3; Wischik et al., NSDI 2011",
        status: Status::Specified,
    };
    const FACTS: &'static [Fact] = &[Fact::Coupled];

    fn new(_params: LiaParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { base: Base::new(env)?, alpha: 1.0 })
    }
}

/// How aggressive all subflows together are, in TCPs with the sum of their windows.
fn alpha(all: &[Subflow]) -> f64 {
    let total: f64 = all.iter().map(|path| path.cwnd).sum();
    let best = all.iter().map(|path| path.rate() / path.srtt_s).fold(0.0, f64::max);
    let rate: f64 = all.iter().map(Subflow::rate).sum();
    total * best / (rate * rate)
}

impl CongestionControl for Lia {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let cwnd = window.cwnd;
        let mut present = 1.0;
        self.base.grow(window, ack, |_, all| {
            present = alpha(all);
            let total: f64 = all.iter().map(|path| path.cwnd).sum();
            (present / total).min(1.0 / cwnd)
        });
        self.alpha = present;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.base.reno.on_congestion(window, event);
    }

    fn take_siblings(&mut self, siblings: Siblings) {
        self.base.siblings = Some(siblings);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{ack, is_reno, loss, pair};
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;

    fn lia(siblings: Option<Siblings>) -> Lia {
        let mut lia = Lia::new(LiaParams {}, &env(Era::Rfc)).unwrap();
        if let Some(siblings) = siblings {
            lia.take_siblings(siblings);
        }
        lia
    }

    fn grown(windows: [f64; 2], round_trips_s: [f64; 2]) -> f64 {
        let mut window = Window { cwnd: windows[0], ssthresh: 2.0 };
        let srtt_ms = (round_trips_s[0] * 1e3).round() as u64;
        lia(Some(pair(windows, round_trips_s))).on_ack(&mut window, &ack(srtt_ms, 0));
        window.cwnd - windows[0]
    }

    /// Equal round trips: alpha = w max w / w^2. Windows of 10 and 30: 40 * 30 / 1600 = 3/4, and each segment adds
    /// 3/4 / 40 = 3/160, less than 1 / 30.
    #[test]
    fn equal_round_trips_by_hand() {
        assert!((grown([10.0, 30.0], [0.1, 0.1]) - 3.0 / 160.0).abs() < 1e-12);
        assert!((grown([30.0, 10.0], [0.1, 0.1]) - 3.0 / 160.0).abs() < 1e-12);
    }

    /// Windows of 10 over 100 ms and 20 over 50 ms: max(w / r^2) = 8000, sum w / r = 500, alpha = 30 * 8000 / 250000 = 0.96;
    /// 0.96 / 30 = 0.032.
    #[test]
    fn unequal_round_trips_by_hand() {
        assert!((grown([10.0, 20.0], [0.1, 0.05]) - 0.032).abs() < 1e-12);
    }

    /// A short path with a small window beside a long one with a large window: alpha = 102 (2 / 1e-4) / (200 + 100)^2 = 22.67,
    /// of which 22.67 / 102 = 0.222 is less than 1 / 2; on the long path a TCP adds 1 / 100 and no more.
    #[test]
    fn no_subflow_grows_faster_than_a_tcp_on_its_path() {
        assert!((grown([2.0, 100.0], [0.01, 1.0]) - 2e4 / 9e4).abs() < 1e-12);
        assert!((grown([100.0, 2.0], [1.0, 0.01]) - 0.01).abs() < 1e-12);
    }

    /// In the fixed point of two paths with loss ratios p and equal round trips each loss of w / 2 is worth what is added
    /// between losses: `w_i` / 2 = (1 / `p_i`) alpha / w. RFC 6356's goal: sum w = max sqrt(2 / `p_i`), as alpha w = max w.
    #[test]
    fn in_the_fixed_point_the_windows_sum_to_the_best_tcp() {
        let p = [0.01, 0.04];
        let mut w = [5.0, 5.0];
        for _ in 0..200_000 {
            let rtts = [0.1, 0.1];
            let change = [grown(w, rtts), grown([w[1], w[0]], rtts)];
            for i in 0..2 {
                w[i] += 0.5 * ((1.0 - p[i]) * change[i] - p[i] * w[i] / 2.0);
            }
        }
        // With a share 1 - p of segments acknowledged, not all: sqrt(2 (1 - p) / p).
        let best = (2.0 * 0.99 / 0.01f64).sqrt();
        // max w / w^2 = p_i w_i / 2 / (1 - p_i): shares are as (1 - p) / p.
        assert!((w[0] / w[1] - (0.99 / 0.01) / (0.96 / 0.04)).abs() < 1e-3, "{w:?}");
        assert!((w[0] + w[1] - best).abs() < 0.01 * best, "{w:?} {best}");
    }

    #[test]
    fn a_loss_halves_the_window_of_its_subflow() {
        let mut window = Window { cwnd: 10.0, ssthresh: 50.0 };
        lia(Some(pair([10.0, 30.0], [0.1, 0.1]))).on_congestion(&mut window, &loss(100, 10));
        assert_eq!((window.cwnd, window.ssthresh), (5.0, 5.0));
    }

    #[test]
    fn with_one_path_it_is_reno() {
        assert!(is_reno(lia(None), &env(Era::Rfc)));
        assert!(is_reno(lia(Siblings::of(1).pop()), &env(Era::Rfc)));
        assert!(is_reno(lia(Siblings::of(2).pop()), &env(Era::Rfc)));
        assert!(!is_reno(lia(Some(pair([10.0, 30.0], [0.1, 0.1]))), &env(Era::Rfc)));
    }
}
