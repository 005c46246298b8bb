//! BIC: searches the window at which the last loss occurred by bisection, and beyond it by slow start's mirror image.
//!
//! **Source**: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance
//! Networks", IEEE INFOCOM 2004, section III, doi:10.1109/INFCOM.2004.1354672.
//! The text could not be had. Compared line by line with its pseudocode as a public program keeps it, by the source's names
//! (`Helper.Net.RUDP.BIC`, after the authors' page), and in era `linux` with `tcp_bic.c` of Linux 6.12.
//!
//! **Rule** (per round trip of w acknowledgements; w >= low window, else Reno)
//! ```text
//! w < w_max:  w += min((w_max - w) / 2, S_max), at least S_min: the way to the middle of w and w_max
//! w >= w_max (max probing): w += s, s = 1, 2, 4 .. doubled when w has grown by it, up to S_max
//! loss, ECN:  w_max <- w, or (w + (1 - beta) w) / 2 if w < the w_max before (fast convergence)
//!             w <- (1 - beta) w;   w < low window: w <- w / 2;   timeout: ssthresh as on loss, w <- 1
//! ```
//! Deviations: below the low window `w_max` becomes w, as in Linux, where the source's pseudocode leaves it. That pseudocode
//! forgets `w_max` when max probing begins, so that the next loss counts as one of a window that shrinks; here, as in
//! Linux, only one below `w_max` does. An acknowledgement adds no more than a segment. The pseudocode has no `S_min`. As in it
//! the middle is taken anew with each acknowledgement.
//!
//! Defaults by era: low window 14, `S_max` 32, `S_min` 0.01, beta 0.125. Era `linux` has Linux's arithmetic (`bic/linux.rs`):
//! `S_max` 16, beta 205/1024, a quarter of the way, slower near `w_max`, no `S_min`.

mod linux;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{growth, in_use, reduce_to};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of BIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BicParams {
    /// Window up to which it is Reno.
    #[schemars(range(min = 2), extend("x-unit" = "segments"))]
    pub low_window: f64,
    /// Largest increase for a round trip (`S_max`), `s_min` or more. Left out: 32; in era `linux` 16, a whole number.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub s_max: Option<f64>,
    /// Least increase for a round trip (`S_min`). Left out: 0.01; refused in era `linux`, whose arithmetic has none.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub s_min: Option<f64>,
    /// Part of the window that a loss takes. Left out: 0.125; in era `linux` 205/1024.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta: Option<f64>,
    /// Let a window that shrinks between losses aim lower.
    pub fast_convergence: bool,
}

impl Default for BicParams {
    fn default() -> Self {
        Self { low_window: 14.0, s_max: None, s_min: None, beta: None, fast_convergence: true }
    }
}

/// BIC.
pub struct Bic {
    params: BicParams,
    s_max: f64,
    s_min: f64,
    beta: f64,
    era: Era,
    linux: Option<linux::Arithmetic>,
    /// Infinite before the first loss: max probing from the start.
    w_max: Option<f64>,
    /// Step of max probing, and where it doubles.
    probe: Option<(f64, f64)>,
    searching: bool,
}

impl About<CcEnv> for Bic {
    type Params = BicParams;
    const INFO: Info = Info {
        name: "bic",
        title: "BIC",
        source: "Xu, Harfoush, Rhee, IEEE INFOCOM 2004, section III, doi:10.1109/INFCOM.2004.1354672 \
                 (compared with its pseudocode as others keep it, and with Linux)",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["bic-tcp"];

    fn new(params: BicParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let is_linux = env.era == Era::Linux;
        if let Some(s_min) = params.s_min.filter(|_| is_linux) {
            let range = "to be left out in era \"linux\", whose BIC has no least increase";
            return Err(Problem::out_of_range("s_min", s_min, range).into());
        }
        let s_max = params.s_max.unwrap_or(if is_linux { linux::MAX_INCREMENT } else { 32.0 });
        let s_min = params.s_min.unwrap_or(0.01_f64.min(s_max));
        if s_max < s_min {
            let range = format!("at least s_min, {s_min} segments");
            return Err(Problem::out_of_range("s_max", s_max, &range).into());
        }
        if is_linux && (s_max.fract() != 0.0 || s_max < 1.0) {
            let range = "a whole number of at least 1 in era \"linux\"";
            return Err(Problem::out_of_range("s_max", s_max, range).into());
        }
        let beta = params.beta.unwrap_or(if is_linux { linux::BETA } else { 0.125 });
        let linux = is_linux.then(|| linux::Arithmetic::new(&params, s_max, beta));
        Ok(Self {
            params,
            s_max,
            s_min,
            beta,
            era: env.era,
            linux,
            w_max: None,
            probe: None,
            searching: false,
        })
    }
}

impl Bic {
    /// Increase for a round trip at window `w`.
    fn step(&mut self, w: f64) -> f64 {
        let (s_max, s_min) = (self.s_max, self.s_min);
        if let Some(w_max) = self.w_max.filter(|&w_max| w < w_max) {
            self.searching = true;
            self.probe = None;
            return ((w_max - w) / 2.0).clamp(s_min, s_max);
        }
        self.searching = false;
        let (step, doubles_at) = self.probe.unwrap_or((1.0_f64.min(s_max), w + 1.0));
        let (step, doubles_at) = if w >= doubles_at {
            let step = (2.0 * step).min(s_max);
            (step, w + step)
        } else {
            (step, doubles_at)
        };
        self.probe = Some((step, doubles_at));
        step
    }
}

impl CongestionControl for Bic {
    fn on_slow_start(&mut self, _window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            linux.measure(ack);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.grow(window, ack);
        }
        let units = growth(ack, self.era);
        let w = window.cwnd;
        if units == 0.0 {
            return;
        }
        let step = if w < self.params.low_window { 1.0 } else { self.step(w) };
        // No more than slow start's growth.
        window.cwnd += units * (step / w).min(1.0);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if event.signal == Signal::Spurious {
            return;
        }
        if let Some(linux) = &mut self.linux {
            return linux.reduce(window, event);
        }
        let used = in_use(window, event, self.era);
        if used < self.params.low_window {
            reduce_to(window, event, self.era, used / 2.0);
            self.w_max = Some(used);
        } else {
            let remaining = (1.0 - self.beta) * used;
            let shrinks = self.params.fast_convergence && self.w_max.is_some_and(|w| used < w);
            self.w_max = Some(if shrinks { f64::midpoint(used, remaining) } else { used });
            reduce_to(window, event, self.era, remaining);
        }
        self.probe = None;
    }

    fn phase(&self) -> &'static str {
        let searching = self.linux.as_ref().map_or(self.searching, linux::Arithmetic::searches);
        if searching { "binary-search" } else { "max-probing" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let w_max = self.linux.as_ref().map(linux::Arithmetic::last_max).or(self.w_max);
        out("w_max", w_max.unwrap_or(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{env, mean_window};
    use crate::units::{Span, Time};

    const LOSS: Signal = Signal::FastRetransmit { lost: 1 };

    fn bic() -> Bic {
        Bic::new(BicParams::default(), &env(Era::Rfc)).unwrap()
    }

    /// Windows after each of some round trips, each of as many acknowledged segments as the window holds.
    fn rounds(control: &mut Bic, window: &mut Window, count: u32) -> Vec<f64> {
        (0..count)
            .map(|_| {
                let step = control.step(window.cwnd);
                window.cwnd += step;
                window.cwnd
            })
            .collect()
    }

    /// A loss at 256: 224. The middle of 224 and 256 is 240: a step of 16; then 8, 4, 2, 1.
    #[test]
    fn after_a_loss_the_window_bisects_towards_where_it_was_lost() {
        let mut control = bic();
        let mut window = Window { cwnd: 256.0, ssthresh: 2.0 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 256));
        assert_eq!((window.cwnd, window.ssthresh), (224.0, 224.0));
        assert_eq!(rounds(&mut control, &mut window, 5), [240.0, 248.0, 252.0, 254.0, 255.0]);
        assert_eq!(control.phase(), "binary-search");
    }

    /// Far below: at most 32 a round trip. From 1024 to 896: the middle is 960, so 32, 32; then 32 (to 992), 16, 8.
    #[test]
    fn a_step_is_at_most_s_max() {
        let mut control = bic();
        let mut window = Window { cwnd: 1024.0, ssthresh: 2.0 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 1024));
        let windows = rounds(&mut control, &mut window, 5);
        assert_eq!(windows, [928.0, 960.0, 992.0, 1008.0, 1016.0]);
    }

    /// Beyond the old maximum: 1, then 2, 4, 8, 16, 32, 32 segments a round trip.
    #[test]
    fn beyond_the_maximum_steps_double() {
        let mut control = bic();
        control.w_max = Some(100.0);
        let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
        let windows = rounds(&mut control, &mut window, 7);
        assert_eq!(windows, [101.0, 103.0, 107.0, 115.0, 131.0, 163.0, 195.0]);
        assert_eq!(control.phase(), "max-probing");
    }

    #[test]
    fn an_acknowledgement_adds_its_share_of_the_step() {
        let mut control = bic();
        let mut window = Window { cwnd: 256.0, ssthresh: 2.0 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 256));
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 14)); // 14 x 16 / 224
        assert_eq!(window.cwnd, 225.0);
    }

    #[test]
    fn a_window_that_shrinks_between_losses_aims_between_and_a_small_one_is_renos() {
        let mut control = bic();
        let mut window = Window { cwnd: 256.0, ssthresh: 2.0 };
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 256));
        window.cwnd = 240.0;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 240));
        assert_eq!((window.cwnd, control.w_max), (210.0, Some(225.0)));
        window.cwnd = 12.0;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 12));
        assert_eq!(window.cwnd, 6.0);
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 6));
        assert_eq!(window.cwnd, 7.0);
    }

    /// The source's section on deterministic losses: between losses at W the window takes N1 linear steps of `S_max` and
    /// N2 that halve the rest, and `1 / p` segments leave; solved for W round trip by round trip, the mean window is
    /// 714.3, 3757.2 and 14,285.7 segments at 1e-4, 1e-5 and 1e-6. With growth by acknowledgements the window passes W
    /// before the loss comes, and is larger, but not than that of AIMD with a = 32, b = 1/8, `sqrt(240 / p)` (1549, 4899
    /// and 15,492), to which the source has it tend for large W. Fast convergence, which that section leaves out, gives
    /// some of it away.
    #[test]
    fn the_window_at_a_loss_rate_is_between_the_source_s_recursion_and_its_limit() {
        let rtt = Span::from_millis(100);
        for (p, mean) in [(1e-4, 714.3), (1e-5, 3757.2), (1e-6, 14_285.7)] {
            let params = BicParams { fast_convergence: false, ..BicParams::default() };
            let mut plain = Bic::new(params, &env(Era::Rfc)).unwrap();
            let got = mean_window(&mut plain, p, rtt, mean);
            assert!(got > mean && got < f64::sqrt(240.0 / p), "{p}: {got}, expected {mean}");
            let fast = mean_window(&mut bic(), p, rtt, mean);
            assert!(fast > 0.5 * mean && fast < got, "{p}: {fast}, expected {mean}");
        }
    }
}
