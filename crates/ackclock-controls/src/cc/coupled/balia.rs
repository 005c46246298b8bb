//! BALIA: balanced linked adaptation, between LIA and OLIA in how fast it answers and how friendly it is.
//!
//! Growth and cuts of a subflow depend on how its rate compares with that of the fastest. A slow one grows faster than
//! LIA lets it, and is cut deeper at a loss.
//!
//! **Source**: Q. Peng, A. Walid, J. Hwang, S. Low, "Multipath TCP: Analysis, Design, and Implementation", IEEE/ACM
//! Transactions on Networking 24(1), 2016, doi:10.1109/TNET.2014.2379698; draft-walid-mptcp-congestion-control-04. From memory;
//! compared with the behaviour of `mptcp_balia.c` of the MPTCP kernel 0.9x.
//!
//! **Rule** (`w_r` = window in segments, `t_r` = smoothed round trip, `x_r` = `w_r` / `t_r`, `a_r` = max over k of `x_k` / `x_r`)
//! ```text
//! each segment acknowledged on r:   w_r <- w_r + (x_r / t_r) / (sum x_k)^2 (1 + a_r) / 2 (4 + a_r) / 5
//! loss, ECN-Echo on r:              w_r <- w_r - (w_r / 2) min(a_r, 1.5),  1 at least
//! timeout:                          ssthresh as on loss, w_r <- 1
//! slow start of each subflow:       as TCP's; ssthresh may be one segment
//! ```
//! A flow of one path, where a = 1, is Reno.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Base, Siblings, Subflow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::error::Problem;
use crate::registry::{About, Fact, Info, Status};

/// BALIA has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BaliaParams {}

/// BALIA.
pub struct Balia {
    base: Base,
    ratio: f64,
}

impl About<CcEnv> for Balia {
    type Params = BaliaParams;
    const INFO: Info = Info {
        name: "balia",
        title: "BALIA, balanced linked adaptation",
        source: "Peng, Walid, Hwang, Low, IEEE/ACM Transactions on Networking 24(1), 2016, doi:10.1109/TNET.2014.2379698; \
                 draft-walid-mptcp-congestion-control-04 (from memory; compared with mptcp_balia.c)",
        status: Status::Specified,
    };
    const FACTS: &'static [Fact] = &[Fact::Coupled];

    fn new(_params: BaliaParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { base: Base::new(env)?, ratio: 1.0 })
    }
}

/// The rate of the fastest subflow, by that of this one.
fn ratio(own: usize, all: &[Subflow]) -> f64 {
    all.iter().map(Subflow::rate).fold(0.0, f64::max) / all[own].rate()
}

impl CongestionControl for Balia {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let mut present = 1.0;
        self.base.grow(window, ack, |own, all| {
            present = ratio(own, all);
            let total: f64 = all.iter().map(Subflow::rate).sum();
            let first = all[own].rate() / all[own].srtt_s / (total * total);
            first * (1.0 + present) / 2.0 * (4.0 + present) / 5.0
        });
        self.ratio = present;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.base.cut(window, event, |own, all| 1.0 - ratio(own, all).min(1.5) / 2.0);
    }

    fn take_siblings(&mut self, siblings: Siblings) {
        self.base.siblings = Some(siblings);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate_ratio", self.ratio);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{ack, is_reno, loss, pair};
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;

    fn balia(siblings: Option<Siblings>) -> Balia {
        let mut balia = Balia::new(BaliaParams {}, &env(Era::Rfc)).unwrap();
        if let Some(siblings) = siblings {
            balia.take_siblings(siblings);
        }
        balia
    }

    /// Windows of 10 and 30 over 100 ms: x = 100 and 300, a = 3 and 1. On the slow path (100 / 0.1) / 400^2 * 2 * 7/5 = 7 / 400,
    /// on the fast one (300 / 0.1) / 400^2 = 3 / 160.
    #[test]
    fn growth_by_hand() {
        for (windows, step) in [([10.0, 30.0], 7.0 / 400.0), ([30.0, 10.0], 3.0 / 160.0)] {
            let mut window = Window { cwnd: windows[0], ssthresh: 2.0 };
            balia(Some(pair(windows, [0.1, 0.1]))).on_ack(&mut window, &ack(100, 0));
            assert!((window.cwnd - windows[0] - step).abs() < 1e-12, "{windows:?}");
        }
    }

    /// The fast path loses half; one with 4/5 of its rate 5/8; one with a third 3/4 and no more.
    #[test]
    fn a_slow_path_is_cut_deeper() {
        for (windows, left) in [([30.0, 10.0], 15.0), ([24.0, 30.0], 9.0), ([12.0, 36.0], 3.0)] {
            let mut window = Window { cwnd: windows[0], ssthresh: 50.0 };
            let event = loss(100, windows[0] as u32);
            balia(Some(pair(windows, [0.1, 0.1]))).on_congestion(&mut window, &event);
            assert!((window.cwnd - left).abs() < 1e-12, "{windows:?} {}", window.cwnd);
            assert_eq!(window.cwnd, window.ssthresh);
        }
    }

    #[test]
    fn with_one_path_it_is_reno() {
        assert!(is_reno(balia(None), &env(Era::Rfc)));
        assert!(is_reno(balia(Siblings::of(1).pop()), &env(Era::Rfc)));
        assert!(!is_reno(balia(Some(pair([10.0, 30.0], [0.1, 0.1]))), &env(Era::Rfc)));
    }
}
