//! `HighSpeed` TCP: increase and decrease depend on the window, for large windows at low loss rates.
//!
//! Up to 38 segments it is Reno. Above, the parameters are such that the window at loss rate p is 0.12 / p^0.835,
//! so that 10 Gbit/s need one loss in ten million packets and not in five billion.
//!
//! **Source**: RFC 3649, sections 4 and 5.
//!
//! **Rule** (w = window; `W`, `W1` = low and high window, `P`, `P1` = loss rates at them, B1 = decrease at W1)
//! ```text
//! w <= W:  a = 1, b = 1/2
//! w > W:   b(w) = (B1 - 1/2) (ln w - ln W) / (ln W1 - ln W) + 1/2
//!          p(w): a line in logarithms from p(W) = P = 1e-3 to p(W1) = P1, about 0.078 / w^1.2
//!          a(w) = w^2 p(w) 2 b(w) / (2 - b(w)),  at least 1
//! ACK:     w += a(w) acked / w;   loss, ECN: w <- (1 - b(w)) w;   timeout: ssthresh as on loss, w <- 1
//! ```
//! Deviations: the functions are evaluated, while Linux and the RFC's appendix use a table of 73 windows with
//! whole increases, so that theirs is lower by up to one segment per round trip. Limited slow start (RFC 3742), which
//! section 8 recommends, is the slow start rule `limited`.
//!
//! Defaults by era: the same in all, those of the RFC: 38, 83000, 1e-3, 1e-7, 0.1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{growth, in_use, reduce_to};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::scenario::Era;

/// Parameters of `HighSpeed` TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HighSpeedParams {
    /// Window up to which it is Reno (`Low_Window`).
    #[schemars(range(min = 2), extend("x-unit" = "segments"))]
    pub low_window: f64,
    /// Window at the loss rate `high_p`, more than `low_window` (`High_Window`).
    #[schemars(extend("exclusiveMinimum" = 2, "x-unit" = "segments"))]
    pub high_window: f64,
    /// Loss rate at the low window (`Low_P`).
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub low_p: f64,
    /// Loss rate at the high window, less than `low_p` (`High_P`).
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub high_p: f64,
    /// Part of the window that a loss takes at the high window (`High_Decrease`).
    #[schemars(range(max = 0.5), extend("exclusiveMinimum" = 0))]
    pub high_decrease: f64,
}

impl Default for HighSpeedParams {
    fn default() -> Self {
        Self {
            low_window: 38.0,
            high_window: 83_000.0,
            low_p: 1e-3,
            high_p: 1e-7,
            high_decrease: 0.1,
        }
    }
}

/// `HighSpeed` TCP.
pub struct HighSpeed {
    params: HighSpeedParams,
    era: Era,
    /// ln of the ratio of the two windows.
    span: f64,
    /// Slope of ln p over ln w.
    slope: f64,
    /// Window for which `a` and `b` are current.
    at: f64,
    a: f64,
    b: f64,
}

impl About<CcEnv> for HighSpeed {
    type Params = HighSpeedParams;
    const INFO: Info = Info {
        name: "highspeed",
        title: "HighSpeed TCP",
        source: "RFC 3649, sections 4 and 5",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["hstcp"];

    fn new(params: HighSpeedParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let HighSpeedParams { low_window, high_window, low_p, high_p, .. } = params;
        if high_window <= low_window {
            let range = format!("more than low_window, {low_window} segments");
            return Err(Problem::out_of_range("high_window", high_window, &range).into());
        }
        if high_p >= low_p {
            let range = format!("less than low_p, {low_p}");
            return Err(Problem::out_of_range("high_p", high_p, &range).into());
        }
        let span = (high_window / low_window).ln();
        let slope = (high_p / low_p).ln() / span;
        Ok(Self { params, era: env.era, span, slope, at: 0.0, a: 1.0, b: 0.5 })
    }
}

impl HighSpeed {
    /// Sets increase and decrease for this window.
    fn adapt(&mut self, w: f64) {
        if w.to_bits() == self.at.to_bits() {
            return;
        }
        self.at = w;
        let low = self.params.low_window;
        if w <= low {
            (self.a, self.b) = (1.0, 0.5);
            return;
        }
        let along = (w / low).ln() / self.span;
        self.b = (0.5 + (self.params.high_decrease - 0.5) * along).max(self.params.high_decrease);
        let p = self.params.low_p * (w / low).powf(self.slope);
        self.a = (w * w * p * 2.0 * self.b / (2.0 - self.b)).max(1.0);
    }
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let units = growth(ack, self.era);
        self.adapt(window.cwnd);
        window.cwnd += units * self.a / window.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        self.adapt(used);
        reduce_to(window, event, self.era, (1.0 - self.b) * used);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("increase", self.a);
        out("decrease", self.b);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::Signal;
    use crate::cc::test_support::{env, mean_window};
    use crate::registry::refusal;
    use crate::units::{Span, Time};

    fn control() -> HighSpeed {
        HighSpeed::new(HighSpeedParams::default(), &env(Era::Rfc)).unwrap()
    }

    /// Windows, increases and decreases of the table in RFC 3649, appendix B, which rounds to two digits.
    #[test]
    fn increase_and_decrease_are_those_of_the_rfcs_table() {
        for (w, a, b) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (1058.0, 8.0, 0.33),
            (1529.0, 10.0, 0.31),
        ] {
            let mut control = control();
            control.adapt(w);
            assert!((control.a / a - 1.0).abs() < 0.03, "a({w}) = {}", control.a);
            assert!((control.b - b).abs() < 0.0051, "b({w}) = {}", control.b);
        }
    }

    /// RFC 3649, section 5, table 2: 38, 263, 1795 and 12279 segments at 1e-3 to 1e-6. The table takes a and b of the
    /// mean window; both follow the window within a cycle, most at the kink at 38 segments.
    #[test]
    fn the_window_at_a_loss_rate_is_that_of_the_response_function() {
        let rtt = Span::from_millis(100);
        for (p, expected) in [(1e-3, 38.0), (1e-4, 263.0), (1e-5, 1795.0), (1e-6, 12_279.0)] {
            let mean = mean_window(&mut control(), p, rtt, expected);
            assert!(
                (mean / expected - 1.0).abs() < if p == 1e-3 { 0.08 } else { 0.05 },
                "{p}: {mean}, expected {expected}"
            );
        }
    }

    #[test]
    fn up_to_38_segments_it_is_reno() {
        let mut control = control();
        let mut window = Window { cwnd: 20.0, ssthresh: 2.0 };
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 20));
        assert_eq!(window.cwnd, 21.0);
        let lost = Signal::FastRetransmit { lost: 1 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 21));
        assert_eq!((window.cwnd, window.ssthresh), (10.5, 10.5));
        // At 83000 a tenth is taken.
        window.cwnd = 83_000.0;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 83_000));
        assert!((window.cwnd - 74_700.0).abs() < 1e-6, "{}", window.cwnd);
    }

    #[test]
    fn windows_in_the_wrong_order_are_refused() {
        let message = refusal::<CcEnv, HighSpeed>(json!({ "high_window": 30 }), &env(Era::Rfc));
        let expected =
            "high_window: 30 is out of range; expected more than low_window, 38 segments";
        assert_eq!(message, expected);
        let message = refusal::<CcEnv, HighSpeed>(json!({ "high_p": 0.5 }), &env(Era::Rfc));
        assert!(
            message.starts_with("high_p: 0.5 is out of range; expected less than"),
            "{message}"
        );
    }
}
