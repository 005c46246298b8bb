//! LEDBAT: keeps a fixed extra delay in the queue and gives way when others add to it.
//!
//! **Source**: RFC 6817, sections 2.4.2, 2.5, 3.3 and 3.4.
//!
//! **Rule** (B = least delay of the last 10 minutes, kept by the minute; d = least of the last samples)
//! ```text
//! off_target = (target - (d - B)) / target
//! w += gain off_target acked / w,  at most flight + acked + allowed_increase,  at least 2
//! loss, ECN:  w <- min(w, max(w/2, 2)), ssthresh <- w;   timeout: ssthresh <- max(w/2, 2), w <- 1
//! ```
//! Deviations: one-way delays are replaced by round trips, since receivers here send no clock; a queue
//! on the way back counts too. Slow start, which the RFC leaves open, is off unless requested. `d` is
//! the least of the last `current_filter` samples, of no more than half a window.
//!
//! Defaults by era: the same in all; those of the RFC: target 100 ms, gain 1.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{in_use, may_grow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// Least window in segments (RFC 6817 `MIN_CWND`).
const LEAST: f64 = 2.0;
/// Length of a bin of the delay history (RFC 6817 section 3.4.2).
const BIN: Span = Span::from_millis(60_000);

/// Parameters of LEDBAT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LedbatParams {
    /// Queueing delay to keep (RFC 6817 section 2.5).
    #[schemars(range(max = 0.1), extend("exclusiveMinimum" = 0))]
    pub target: Span,
    /// Gain: at 1 it grows no faster than TCP.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub gain: f64,
    /// Segments by which the window may exceed what is in flight.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub allowed_increase: f64,
    /// Length of the delay history.
    #[schemars(range(min = 1), extend("x-unit" = "minutes"))]
    pub base_history: u32,
    /// Samples of which the least is the present delay.
    #[schemars(range(min = 1), extend("x-unit" = "samples"))]
    pub current_filter: u32,
    /// Begin with slow start, until the first loss or half of the target delay.
    pub slow_start: bool,
}

impl Default for LedbatParams {
    fn default() -> Self {
        Self {
            target: Span::from_millis(100),
            gain: 1.0,
            allowed_increase: 1.0,
            base_history: 10,
            current_filter: 4,
            slow_start: false,
        }
    }
}

/// LEDBAT.
pub struct Ledbat {
    params: LedbatParams,
    era: Era,
    /// Least delay of each of the last minutes, the present one last.
    base: VecDeque<Span>,
    bin_ends: Time,
    current: VecDeque<Span>,
    slow: bool,
    queueing: f64,
}

impl About<CcEnv> for Ledbat {
    type Params = LedbatParams;
    const INFO: Info = Info {
        name: "ledbat",
        title: "LEDBAT",
        source: "RFC 6817, sections 2.4.2, 2.5, 3.3, 3.4",
        status: Status::Variant,
    };

    fn new(params: LedbatParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            slow: params.slow_start,
            params,
            era: env.era,
            base: VecDeque::new(),
            bin_ends: Time::ZERO,
            current: VecDeque::new(),
            queueing: 0.0,
        })
    }
}

impl Ledbat {
    fn sample(&mut self, delay: Span, now: Time, cwnd: f64) {
        if self.base.is_empty() || now >= self.bin_ends {
            self.base.push_back(delay);
            self.bin_ends = now + BIN;
            while self.base.len() > self.params.base_history as usize {
                self.base.pop_front();
            }
        } else if let Some(last) = self.base.back_mut() {
            *last = delay.min(*last);
        }
        let length = (self.params.current_filter as usize).min((cwnd / 2.0) as usize).max(1);
        self.current.push_back(delay);
        while self.current.len() > length {
            self.current.pop_front();
        }
        let least = |of: &VecDeque<Span>| of.iter().copied().min().unwrap_or(Span::ZERO).seconds();
        self.queueing = (least(&self.current) - least(&self.base)).max(0.0);
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.sample(rtt, ack.now, window.cwnd);
        }
        let target = self.params.target.seconds();
        let acked = f64::from(ack.acked);
        let grows = may_grow(ack, self.era);
        self.slow &= self.queueing < target / 2.0;
        let off = (target - self.queueing) / target;
        let step = if self.slow { acked } else { self.params.gain * off * acked / window.cwnd };
        let flight = f64::from(ack.in_flight) + acked;
        let room = (flight + self.params.allowed_increase).max(window.cwnd);
        if step < 0.0 {
            window.cwnd = (window.cwnd + step).max(LEAST.min(window.cwnd));
        } else if grows {
            window.cwnd = (window.cwnd + step).min(if self.slow { f64::INFINITY } else { room });
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let half = (in_use(window, event, self.era) / 2.0).max(LEAST);
        self.slow = false;
        if let Signal::Rto { consecutive } = event.signal {
            if self.era.is_ns2() || consecutive <= 1 {
                window.ssthresh = half;
            }
            window.cwnd = 1.0;
        } else {
            window.ssthresh = half;
            window.cwnd = half.min(before);
        }
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn phase(&self) -> &'static str {
        if self.slow { "slow-start" } else { "avoidance" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queueing_delay_s", self.queueing);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::test_support::env;
    use crate::near::near;
    use crate::registry::refusal;

    fn ledbat(change: impl Fn(&mut LedbatParams)) -> Ledbat {
        let mut params = LedbatParams { current_filter: 1, ..LedbatParams::default() };
        change(&mut params);
        Ledbat::new(params, &env(Era::Rfc)).unwrap()
    }

    fn ack(ms: u64, rtt_ms: u64, acked: u32) -> Ack {
        let rtt = Some(Span::from_millis(rtt_ms));
        Ack { rtt, in_flight: 50, ..Ack::at(Time::ZERO + Span::from_millis(ms), acked) }
    }

    #[test]
    fn the_step_is_proportional_to_the_distance_from_the_target() {
        let mut control = ledbat(|_| ());
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        control.on_ack(&mut window, &ack(0, 50, 1)); // no queue: 20 + 1/20
        near::<9>(window.cwnd, 20.05);
        window.cwnd = 20.0;
        control.on_ack(&mut window, &ack(1, 100, 2)); // half the target: 0.5 x 2/20
        near::<9>(window.cwnd, 20.05);
        window.cwnd = 20.0;
        control.on_ack(&mut window, &ack(2, 150, 2)); // at the target
        near::<9>(window.cwnd, 20.0);
        control.on_ack(&mut window, &ack(3, 350, 2)); // 200 ms too much: -2 x 2/20
        near::<9>(window.cwnd, 19.8);
    }

    #[test]
    fn a_window_that_is_not_used_stays_near_what_is_in_flight() {
        let mut control = ledbat(|_| ());
        let mut window = Window { cwnd: 3.0, ssthresh: f64::INFINITY };
        let few = Ack { in_flight: 2, ..ack(0, 50, 1) };
        for _ in 0..100 {
            control.on_ack(&mut window, &few);
        }
        near::<9>(window.cwnd, 4.0); // 2 + 1 in flight, and one more
    }

    #[test]
    fn the_base_forgets_after_its_history() {
        let mut control = ledbat(|p| p.base_history = 2);
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        for (minute, rtt, queueing) in [(0, 50, 0.0), (1, 90, 0.04), (2, 80, 0.0), (3, 85, 0.005)] {
            control.on_ack(&mut window, &ack(minute * 60_000, rtt, 1));
            near::<9>(control.queueing, queueing);
        }
    }

    #[test]
    fn a_loss_halves_down_to_two_and_a_timeout_leaves_one() {
        let mut control = ledbat(|_| ());
        for (before, loss) in [(40.0, 20.0), (3.0, 2.0)] {
            let mut window = Window { cwnd: before, ssthresh: f64::INFINITY };
            let event = |signal| Congestion::at(Time::ZERO, signal, before as u32);
            control.on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }));
            near::<9>(window.cwnd, loss);
            control.on_congestion(&mut window, &event(Signal::Rto { consecutive: 1 }));
            near::<9>(window.cwnd, 1.0);
        }
    }

    #[test]
    fn a_target_above_the_rfcs_bound_is_refused() {
        let message = refusal::<CcEnv, Ledbat>(json!({ "target": "101 ms" }), &env(Era::Rfc));
        let expected = "target: 101 ms is out of range; expected more than 0 and at most 0.1 s";
        assert_eq!(message, expected);
    }
}
