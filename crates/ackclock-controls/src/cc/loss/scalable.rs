//! Scalable TCP: a fixed increase for each acknowledged segment, a fixed share taken by a loss.
//!
//! The window doubles in the same number of round trips whatever its size, so that the time to recover from a loss
//! does not depend on the rate.
//!
//! **Source**: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM Computer
//! Communication Review 33(2), 2003, section 2, doi:10.1145/956981.956989.
//!
//! **Rule** (w = window; `lw` = legacy window)
//! ```text
//! w <= lw:  Reno: w += acked / w;  loss: w <- w / 2
//! w > lw:   w += a acked;  loss, ECN: w <- (1 - b) w;   timeout: ssthresh as on loss, w <- 1
//! window before a loss at the loss rate p:   a / (b p) = 0.08 / p
//! ```
//! Deviations: none known.
//!
//! Defaults by era: a = 0.01, b = 0.125, legacy window 16. In era `linux` as in Linux 6.12 (`tcp_scalable.c`): whole
//! segments, one for min(w, 1/a) acknowledged, so Reno's increase up to 100 segments, and b at all windows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::usage::{growth, in_use};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of Scalable TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScalableParams {
    /// Growth of the window for each segment acknowledged.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub a: f64,
    /// Part of the window that a loss takes.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub b: f64,
    /// Window up to which it is Reno; in era `linux`, where it is `1 / a` for growth and 0 for losses, of no effect.
    #[schemars(range(min = 0), extend("x-unit" = "segments"))]
    pub legacy_window: f64,
}

impl Default for ScalableParams {
    fn default() -> Self {
        Self { a: 0.01, b: 0.125, legacy_window: 16.0 }
    }
}

/// Scalable TCP.
pub struct Scalable {
    params: ScalableParams,
    era: Era,
    growth: Growth,
}

impl About<CcEnv> for Scalable {
    type Params = ScalableParams;
    const INFO: Info = Info {
        name: "scalable",
        title: "Scalable TCP",
        source: "Kelly, ACM Computer Communication Review 33(2), 2003, section 2, \
                 doi:10.1145/956981.956989",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["stcp"];

    fn new(params: ScalableParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params, era: env.era, growth: Growth::of(env.era) })
    }
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.era == Era::Linux {
            let per = window.cwnd.min(1.0 / self.params.a);
            return self.growth.add_one_per(window, ack, per as u32);
        }
        let legacy = window.cwnd <= self.params.legacy_window;
        let step = if legacy { 1.0 / window.cwnd } else { self.params.a };
        window.cwnd += step * growth(ack, self.era);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        let legacy = self.era != Era::Linux && used <= self.params.legacy_window;
        self.growth.take_off(window, event, used, if legacy { 0.5 } else { self.params.b });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Signal;
    use crate::cc::test_support::{env, mean_window};
    use crate::units::{Span, Time};

    fn control() -> Scalable {
        Scalable::new(ScalableParams::default(), &env(Era::Rfc)).unwrap()
    }

    /// Peak 0.08 / p, as the paper has it. It falls to 7/8 of that and grows by 1 % a round trip, in
    /// ln(8/7) / 0.01 = 13.353 round trips: 1 / (13.353 p) = 0.0749 / p segments each on average.
    #[test]
    fn the_window_at_a_loss_rate_is_inverse_to_it() {
        for p in [1e-3, 1e-4, 1e-5, 1e-6] {
            let mean = mean_window(&mut control(), p, Span::from_millis(100), 0.07 / p);
            assert!((mean * p / 0.0749 - 1.0).abs() < 0.01, "{p}: {}", mean * p);
        }
    }

    #[test]
    fn one_segment_in_a_hundred_and_an_eighth_and_below_the_legacy_window_reno() {
        let mut control = control();
        let mut window = Window { cwnd: 200.0, ssthresh: 2.0 };
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 200));
        assert_eq!(window.cwnd, 202.0);
        let lost = Signal::FastRetransmit { lost: 1 };
        window.cwnd = 200.0;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 200));
        assert_eq!((window.cwnd, window.ssthresh), (175.0, 175.0));
        window.cwnd = 10.0;
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 10));
        assert_eq!(window.cwnd, 11.0);
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 11));
        assert_eq!(window.cwnd, 5.5);
    }

    /// `tcp_scalable.c`: one segment for min(w, 100) acknowledged; w - w/8 in whole numbers at every window.
    #[test]
    fn in_era_linux_it_is_renos_growth_up_to_a_hundred_and_an_eighth_at_all_windows() {
        let lost = Signal::FastRetransmit { lost: 1 };
        for (w, acked, grown, left) in
            [(50.0, 50, 51.0, 44.0), (250.0, 250, 252.0, 219.0), (12.0, 11, 12.0, 11.0)]
        {
            let mut control = Scalable::new(ScalableParams::default(), &env(Era::Linux)).unwrap();
            let mut window = Window { cwnd: w, ssthresh: 2.0 };
            control.on_ack(&mut window, &Ack::at(Time::ZERO, acked));
            assert_eq!(window.cwnd, grown);
            window.cwnd = w;
            control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, w as u32));
            assert_eq!(window.cwnd, left);
        }
    }
}
