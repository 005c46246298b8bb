//! DCTCP: reduces the window in proportion to the share of marked packets.
//!
//! What: estimates the share of packets that carry a mark, once per window, and reduces the window by half of it.
//!
//! **Source**: RFC 8257, sections 3.3 to 3.5. Compared line by line with these and section 4.2 in draft-ietf-tcpm-dctcp-10, the RFC's
//! last draft, and with `tcp_dctcp.c` of Linux 6.12.
//!
//! **Rule** (F: marked / acknowledged in the last window of data)
//! ```text
//! once per window:      alpha <- (1 - g) alpha + g F
//! marks in a window:    w <- w (1 - alpha / 2),  at most once per window;  ssthresh <- w
//! loss:                 w <- w / 2;   timeout: ssthresh <- w / 2, w <- 1
//! otherwise:            w <- w + acked / w per acknowledgement; also for those that report marks
//! ```
//! Deviations: the counts come from AccECN (RFC 9768) in place of the receiver's echo of CE in ECE; packets
//! are counted, not bytes, and all have one size. Marks may leave one segment of the window; Linux leaves two. Linux has alpha
//! in 1/1024 and forgets what is below 16 of them with the next window, and takes half of cwnd at a timeout where this takes
//! half of what is in flight.
//!
//! Defaults by era: the same in all; g = 1/16 and alpha = 1 at the start, as the RFC recommends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::in_use;
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of DCTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DctcpParams {
    /// Weight of the newest window in the estimate (RFC 8257 section 4.2: 1/16).
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub g: f64,
    /// The estimate before the first window (RFC 8257 section 4.2: 1).
    #[schemars(range(min = 0, max = 1))]
    pub alpha: f64,
}

impl Default for DctcpParams {
    fn default() -> Self {
        Self { g: 1.0 / 16.0, alpha: 1.0 }
    }
}

/// DCTCP.
pub struct Dctcp {
    g: f64,
    alpha: f64,
    era: Era,
    /// Packets acknowledged and marked in the present observation window.
    acked: f64,
    marked: f64,
    window_end: u32,
}

impl About<CcEnv> for Dctcp {
    type Params = DctcpParams;
    const INFO: Info = Info {
        name: "dctcp",
        title: "DCTCP",
        source: "RFC 8257, sections 3.3 to 3.5",
        status: Status::Variant,
    };

    fn new(params: DctcpParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let DctcpParams { g, alpha } = params;
        Ok(Self { g, alpha, era: env.era, acked: 0.0, marked: 0.0, window_end: 0 })
    }
}

impl CongestionControl for Dctcp {
    fn on_ecn_counts(&mut self, _window: &mut Window, counts: &EcnCounts) {
        self.acked += f64::from(counts.acked);
        self.marked += f64::from(counts.marked);
        if counts.una > self.window_end {
            if self.acked > 0.0 {
                let share = (self.marked / self.acked).min(1.0);
                self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
            }
            (self.acked, self.marked) = (0.0, 0.0);
            self.window_end = counts.nxt;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.app_limited {
            window.cwnd += f64::from(ack.acked) / window.cwnd;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let used = in_use(window, event, self.era);
        match event.signal {
            Signal::EcnEcho => {
                window.cwnd = (before * (1.0 - self.alpha / 2.0)).max(1.0);
                window.ssthresh = window.cwnd.max(2.0);
            }
            Signal::FastRetransmit { .. } => {
                window.ssthresh = (used / 2.0).max(2.0);
                window.cwnd = window.ssthresh.min(before);
            }
            Signal::Rto { consecutive } => {
                if consecutive <= 1 {
                    window.ssthresh = (used / 2.0).max(2.0);
                }
                window.cwnd = 1.0;
            }
            Signal::Spurious => {}
        }
    }

    fn needs_ecn_counts(&self) -> bool {
        true
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::near::near;
    use crate::units::Time;

    /// Windows of ten with g = 1/2: from 1, none marked gives 1/2, all marked 3/4, one of ten 0.425.
    #[test]
    fn the_estimate_by_hand() {
        let mut control = Dctcp::new(DctcpParams { g: 0.5, alpha: 1.0 }, &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
        let mut una = 0;
        let mut pass = |control: &mut Dctcp, marked: u32| {
            for packet in 0..10u32 {
                una += 1;
                let marked = u32::from(packet < marked);
                let counts =
                    EcnCounts { acked: 1, marked, una, nxt: una + 9, ..EcnCounts::at(Time::ZERO) };
                control.on_ecn_counts(&mut window, &counts);
            }
            control.alpha
        };
        // The first window ends with its first packet, which is not marked: alpha 1/2.
        pass(&mut control, 0);
        near::<12>(control.alpha, 0.5);
        // Nine unmarked of the pass before and the first marked one: F = 1/10.
        near::<12>(pass(&mut control, 10), 0.5 * 0.5 + 0.5 * 0.1);
        near::<12>(pass(&mut control, 10), 0.3 * 0.5 + 0.5);
        near::<12>(pass(&mut control, 0), 0.65 * 0.5 + 0.5 * 0.9);
    }

    #[test]
    fn marks_reduce_by_half_of_the_estimate_and_losses_by_half() {
        let params = DctcpParams { alpha: 0.2, ..DctcpParams::default() };
        let mut control = Dctcp::new(params, &env(Era::Rfc)).unwrap();
        let event = |signal| Congestion::at(Time::ZERO, signal, 100);
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        control.on_congestion(&mut window, &event(Signal::EcnEcho));
        near::<12>(window.cwnd, 90.0);
        window.cwnd = 100.0;
        control.on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }));
        near::<12>(window.cwnd, 50.0);
        control.on_congestion(&mut window, &event(Signal::Rto { consecutive: 1 }));
        near::<12>(window.cwnd, 1.0);
    }
}
