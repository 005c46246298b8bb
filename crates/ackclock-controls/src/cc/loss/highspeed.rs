//! `HighSpeed` TCP: increase and decrease depend on the window, for large windows at low loss rates.
//!
//! Up to 38 segments it is Reno. Above, the parameters are such that the window at loss rate p is 0.12 / p^0.835,
//! so that 10 Gbit/s need one loss in ten million packets and not in five billion.
//!
//! **Source**: RFC 3649, sections 4 and 5.
//! (Compared: the table of appendix B, as Linux has it in `tcp_highspeed.c`, and table 2; not the rest of the text.)
//!
//! **Rule** (w = window; `W`, `W1` = low and high window, `P`, `P1` = loss rates at them, B1 = decrease at W1)
//! ```text
//! w <= W:  a = 1, b = 1/2
//! w > W:   b(w) = (B1 - 1/2) (ln w - ln W) / (ln W1 - ln W) + 1/2
//!          p(w): a line in logarithms from p(W) = P = 1e-3 to p(W1) = P1, about 0.078 / w^1.2
//!          a(w) = w^2 p(w) 2 b(w) / (2 - b(w)),  at least 1
//! ACK:     w += a(w) acked / w;   loss, ECN: w <- (1 - b(w)) w;   timeout: ssthresh as on loss, w <- 1
//! ```
//! In the eras of ns-2 neither function has a bound, and a loss at a window of up to W leaves the part that the last loss at a
//! larger one took, as ns-2.35 writes that over the decrease of Reno.
//!
//! Deviations: the functions are evaluated, while the RFC's appendix has a table of windows with whole increases. Limited
//! slow start (RFC 3742), which section 8 recommends, is the slow start rule `limited`.
//!
//! Defaults by era: those of the RFC in all, 38, 83000, 1e-3, 1e-7, 0.1; but in the eras of ns-2 `low_p` is 1.5 / `W`^2 =
//! 1.0388e-3, which ns-2.35 computes so that the response function meets Reno's at the low window. Era `linux` follows the
//! table as Linux 6.12 (`tcp_highspeed.c`): by the program of the RFC's appendix B, with p(w) = 1 / (12.8 `w^1.2`), a row
//! begins where a(w) exceeds that of the row before by more than 1; the k-th adds k segments and takes b of its upper window,
//! in 1/256. Each acknowledgement, however many segments it is for, adds k to a count, and w of them make a segment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::usage::{growth, in_use, may_grow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

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
    /// Loss rate at the low window (`Low_P`). Left out: by era.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub low_p: Option<f64>,
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
            low_p: None,
            high_p: 1e-7,
            high_decrease: 0.1,
        }
    }
}

/// Rows of the table in Linux, and a window that none reaches.
const ROWS: usize = 72;
const MOST: f64 = 1e7;

/// `HighSpeed` TCP.
pub struct HighSpeed {
    params: HighSpeedParams,
    low_p: f64,
    era: Era,
    growth: Growth,
    /// Linux's table, empty in other eras, and its count towards the next segment.
    rows: Vec<(f64, f64)>,
    count: f64,
    /// ln of the ratio of the two windows.
    span: f64,
    /// Slope of ln p over ln w.
    slope: f64,
    /// Window for which `a` and `b` are current.
    current_window: f64,
    a: f64,
    b: f64,
    /// Eras of ns-2: what a loss at a low window leaves; ns-2 keeps the part that the last loss at a high one took.
    remaining: f64,
}

impl About<CcEnv> for HighSpeed {
    type Params = HighSpeedParams;
    const INFO: Info = Info {
        name: "highspeed",
        title: "HighSpeed TCP",
        source: "RFC 3649, sections 4 and 5 (its tables compared, not its text)",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["hstcp"];

    fn new(params: HighSpeedParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let HighSpeedParams { low_window, high_window, high_p, .. } = params;
        let of_era = if env.era.is_ns2() { 1.5 / (low_window * low_window) } else { 1e-3 };
        let low_p = params.low_p.unwrap_or(of_era);
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
        let mut control = Self {
            params,
            low_p,
            era: env.era,
            growth: Growth::of(env.era),
            rows: Vec::new(),
            count: 0.0,
            span,
            slope,
            current_window: 0.0,
            a: 1.0,
            b: 0.5,
            remaining: 0.5,
        };
        if env.era == Era::Linux {
            control.rows = control.table();
        }
        Ok(control)
    }
}

impl HighSpeed {
    /// Sets increase and decrease for this window.
    fn adapt(&mut self, w: f64) {
        if w.to_bits() == self.current_window.to_bits() {
            return;
        }
        self.current_window = w;
        let low = self.params.low_window;
        if w <= low {
            (self.a, self.b) = (1.0, 0.5);
            return;
        }
        (self.a, self.b) = if self.era == Era::Linux { self.row(w) } else { self.curves(w) };
    }

    /// Increase and decrease by the functions, above the low window.
    fn curves(&self, w: f64) -> (f64, f64) {
        let low = self.params.low_window;
        let along = (w / low).ln() / self.span;
        let b = 0.5 + (self.params.high_decrease - 0.5) * along;
        let b = if self.era == Era::Linux { b.max(0.01) } else { b.max(self.params.high_decrease) };
        let rounded = self.era == Era::Linux && self.params == HighSpeedParams::default();
        let p = if rounded {
            1.0 / (12.8 * w.powf(1.2))
        } else {
            self.low_p * (w / low).powf(self.slope)
        };
        if self.era.is_ns2() {
            let b = 0.5 + (self.params.high_decrease - 0.5) * along;
            return (w * w * p * 2.0 * b / (2.0 - b), b);
        }
        ((w * w * p * 2.0 * b / (2.0 - b)).max(1.0), b)
    }

    /// The rows of the RFC's table: windows up to which k segments are added, and the decrease there. A row begins where
    /// a(w) exceeds that of the row before by more than one.
    fn table(&self) -> Vec<(f64, f64)> {
        let mut rows = vec![(self.params.low_window.floor(), 0.5)];
        let (mut w, mut a) = (self.params.low_window.floor(), 1.0);
        while rows.len() < ROWS {
            let (mut below, mut top) = (w, 2.0 * w);
            while self.curves(top).0 <= a + 1.0 && top < MOST {
                top *= 2.0;
            }
            while top - below > 1.0 {
                let middle = f64::midpoint(below, top).floor();
                if self.curves(middle).0 > a + 1.0 { top = middle } else { below = middle }
            }
            if top >= MOST {
                break;
            }
            let (row_a, row_b) = self.curves(top);
            (w, a) = (top, row_a);
            rows.push((w, (256.0 * row_b).floor() / 256.0));
        }
        rows
    }

    /// Increase and decrease of the table for this window.
    fn row(&self, w: f64) -> (f64, f64) {
        let index = self.rows.partition_point(|&(top, _)| top < w).min(self.rows.len() - 1);
        (index as f64 + 1.0, self.rows[index].1)
    }
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.adapt(window.cwnd);
        if self.era != Era::Linux {
            window.cwnd += growth(ack, self.era) * self.a / window.cwnd;
        } else if may_grow(ack, self.era) {
            self.count += self.a;
            if self.count >= window.cwnd {
                self.count -= window.cwnd;
                window.cwnd = window.cwnd.floor() + 1.0;
            }
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        self.adapt(used);
        self.count = 0.0;
        if self.era == Era::Linux {
            return self.growth.take_off(window, event, used, self.b);
        }
        if !self.era.is_ns2() {
            return self.growth.reduce_to(window, event, (1.0 - self.b) * used);
        }
        let mut left = 1.0 - self.b;
        if used > self.params.low_window {
            self.remaining = self.b;
        } else {
            left = self.remaining;
        }
        // The sender has ns-2's rules of ssthresh and of timeouts.
        *window = Window { cwnd: (left * used).max(1.0), ssthresh: (left * used).max(2.0) };
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

    /// Rows of `tcp_highspeed.c`: windows up to 38, 118, 221, 1058, 10661, 89053 add 1, 2, 3, 8, 30, 72 and lose 128, 112, 104,
    /// 83, 52, 24 of 256. One above is the next row.
    #[test]
    fn in_era_linux_increase_and_decrease_are_those_of_the_kernels_table() {
        let mut control = HighSpeed::new(HighSpeedParams::default(), &env(Era::Linux)).unwrap();
        for (w, a, b) in [
            (38.0, 1.0, 128.0),
            (39.0, 2.0, 112.0),
            (118.0, 2.0, 112.0),
            (119.0, 3.0, 104.0),
            (221.0, 3.0, 104.0),
            (1058.0, 8.0, 83.0),
            (1059.0, 9.0, 81.0),
            (10_661.0, 30.0, 52.0),
            (89_053.0, 72.0, 24.0),
            (200_000.0, 72.0, 24.0),
        ] {
            control.adapt(w);
            assert_eq!((control.a, control.b * 256.0), (a, b), "{w}");
        }
        // 100 acknowledgements of two segments each add 2 to the count at 100 segments: two segments.
        let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
        for _ in 0..101 {
            control.on_ack(&mut window, &Ack::at(Time::ZERO, 2));
        }
        assert_eq!(window.cwnd, 102.0);
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

    /// 1.5 / 38^2 in the eras of ns-2, unless it is given; 10^-3 in the others.
    #[test]
    fn the_loss_rate_at_the_low_window_goes_by_era() {
        for (era, set_low_p, low_p) in [
            (Era::Rfc, None, 1e-3),
            (Era::Linux, None, 1e-3),
            (Era::Ns2, None, 1.5 / 1444.0),
            (Era::Y2007, None, 1.5 / 1444.0),
            (Era::Ns2, Some(1e-3), 1e-3),
        ] {
            let params = HighSpeedParams { low_p: set_low_p, ..HighSpeedParams::default() };
            let control = HighSpeed::new(params, &env(era)).unwrap();
            assert!((control.low_p / low_p - 1.0).abs() < 1e-5, "{era:?} {}", control.low_p);
        }
    }

    /// By hand of ns-2.35's rule: at W1 a tenth is taken; then, at a low window, only a tenth is left.
    #[test]
    fn in_the_eras_of_ns2_the_last_decrease_at_a_high_window_stays() {
        let mut control = HighSpeed::new(HighSpeedParams::default(), &env(Era::Ns2)).unwrap();
        let mut window = Window { cwnd: 20.0, ssthresh: 2.0 };
        let lost = Signal::FastRetransmit { lost: 1 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 20));
        assert_eq!(window.cwnd, 10.0);
        window.cwnd = 83_000.0;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 83_000));
        assert!((window.cwnd - 74_700.0).abs() < 1e-6, "{}", window.cwnd);
        window.cwnd = 20.0;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 20));
        assert!((window.cwnd - 2.0).abs() < 1e-9, "{}", window.cwnd);
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
