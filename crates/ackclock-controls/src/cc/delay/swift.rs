//! Swift: AIMD on a target delay, with windows below one packet.
//!
//! For data centres: the window rises while round trips are below a target and falls with their excess, at most once a
//! round trip. The target grows for windows that are small, as more flows keep longer queues.
//!
//! **Source**: G. Kumar, N. Dukkipati, K. Jang, H. Wassel, X. Wu, B. Montazeri, Y. Wang, K. Springborn, C. Alfeld, M. Ryan,
//! D. Wetherall, A. Vahdat, "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020,
//! algorithm 1 and section 3.5, doi:10.1145/3387514.3406591.
//!
//! **Rule** (w: window, R: round trip, T: target)
//! ```text
//! T = base + hops h + max(0, min(a / sqrt(w) + b, range)),  a = range / (1/sqrt(w_low) - 1/sqrt(w_high)),  b = -a / sqrt(w_high)
//! R < T:     w + ai acked / w;   w < 1: w + ai acked
//! else:      w max(1 - beta (R - T) / R, 1 - max_mdf),  at most once per R
//! loss:      w (1 - max_mdf), at most once per R;   timeout: the same, w_min from the fifth in a row on
//! w < 1:     one packet every R / w
//! ```
//! The sender's window is one packet at least, so below that it is the pace that makes the window: a packet leaves R / w
//! after the one before, R and w being those when that one left. Deviations: there is no delay in hosts here, so only
//! the window of the fabric exists, and the delay is the whole round trip. A packet does not show how many hops it took:
//! `hops` says it. The window does not grow where the application limits the flow. The source gives no values of the base
//! target, the range and the least window; these are ours.
//!
//! Defaults by era: the same in all. The base target left out is 1.25 least round trips, the range as much as the base.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, MAX_WINDOW, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Span, Time};

/// The base target in least round trips, where none is given.
const BASE: f64 = 1.25;
/// Least window in packets.
const LEAST: f64 = 1e-3;
/// Timeouts in a row from which on the window is the least (`RETX_RESET_THRESHOLD`).
const RESET: u32 = 5;

/// Parameters of Swift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SwiftParams {
    /// Target of a large window over no hop that counts. Left out: 1.25 least round trips.
    pub base_target: Option<Span>,
    /// Hops that count.
    #[schemars(range(min = 0), extend("x-unit" = "hops"))]
    pub hops: u32,
    /// What each of them adds to the target (h).
    pub hop_delay: Span,
    /// What the smallest windows add to the target. Left out: as much as the base target.
    pub range: Option<Span>,
    /// Windows below this add the whole range.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub scaling_low: f64,
    /// Windows above this, which is more than `scaling_low`, add nothing.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub scaling_high: f64,
    /// Growth of the window in a round trip (ai).
    #[schemars(range(max = 1000), extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    pub ai: f64,
    /// Part of the window that the excess of the delay, as part of the delay, takes.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub beta: f64,
    /// Largest part that is taken at once (`max_mdf`).
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub max_mdf: f64,
}

impl Default for SwiftParams {
    fn default() -> Self {
        Self {
            base_target: None,
            hops: 0,
            hop_delay: Span::from_micros(1),
            range: None,
            scaling_low: 0.1,
            scaling_high: 100.0,
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
        }
    }
}

/// Swift.
pub struct Swift {
    params: SwiftParams,
    wire_bits: f64,
    /// Packets; the sender's cwnd is 1 where this is less.
    window: f64,
    rtt: Span,
    min_rtt: Span,
    decreased: Option<Time>,
    target: f64,
}

impl About<CcEnv> for Swift {
    type Params = SwiftParams;
    const INFO: Info = Info {
        name: "swift",
        title: "Swift",
        source: "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, \
                 SIGCOMM 2020, algorithm 1",
        status: Status::Variant,
    };

    fn new(params: SwiftParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let SwiftParams { scaling_low, scaling_high, .. } = params;
        if scaling_low >= scaling_high {
            let range = format!("more than scaling_low, {scaling_low} segments");
            return Err(Problem::out_of_range("scaling_high", scaling_high, &range).into());
        }
        Ok(Self {
            params,
            wire_bits: f64::from(env.wire_size) * 8.0,
            window: 1.0,
            rtt: Span::ZERO,
            min_rtt: Span::ZERO,
            decreased: None,
            target: 0.0,
        })
    }
}

impl Swift {
    /// The target in seconds.
    fn target(&self) -> f64 {
        let SwiftParams { base_target, range, scaling_low, scaling_high, .. } = self.params;
        let base = base_target.map_or(BASE * self.min_rtt.seconds(), Span::seconds);
        let range = range.map_or(base, Span::seconds);
        let (low, high) = (1.0 / scaling_low.sqrt(), 1.0 / scaling_high.sqrt());
        let a = range / (low - high);
        let scaled = (a / self.window.sqrt() - a * high).min(range).max(0.0);
        base + f64::from(self.params.hops) * self.params.hop_delay.seconds() + scaled
    }

    fn may_decrease(&self, now: Time) -> bool {
        self.decreased.is_none_or(|decreased_at| now.since(decreased_at) >= self.rtt)
    }

    /// Takes over a new window.
    fn set(&mut self, window: f64, now: Time) {
        let before = self.window;
        self.window = window.clamp(LEAST, MAX_WINDOW);
        if self.window <= before {
            self.decreased = Some(now);
        }
    }
}

impl CongestionControl for Swift {
    fn on_start(&mut self, window: &Window, _now: Time, srtt: Span) {
        self.window = window.cwnd;
        self.rtt = srtt;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.min_rtt = ack.min_rtt;
        let Some(sample) = ack.sample.filter(|sample| sample.has_data) else { return };
        let Some(rtt) = sample.rtt.filter(|rtt| rtt.0 > 0) else { return };
        self.rtt = rtt;
        self.target = self.target();
        let (delay, acked) = (rtt.seconds(), f64::from(sample.newly_acked));
        let SwiftParams { ai, beta, max_mdf, .. } = self.params;
        if delay < self.target {
            if !sample.is_app_limited {
                let per_packet = if self.window >= 1.0 { ai / self.window } else { ai };
                self.set(self.window + per_packet * acked, ack.now);
            }
        } else if self.may_decrease(ack.now) {
            let excess = (delay - self.target) / delay;
            self.set(self.window * (1.0 - beta * excess).max(1.0 - max_mdf), ack.now);
        }
        window.cwnd = self.window.max(1.0);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let may = self.may_decrease(event.now);
        let reduced = self.window * (1.0 - self.params.max_mdf);
        match event.signal {
            Signal::Rto { consecutive } if consecutive >= RESET => self.set(LEAST, event.now),
            Signal::Rto { .. } | Signal::FastRetransmit { .. } if may => {
                self.set(reduced, event.now);
            }
            _ => {}
        }
        window.cwnd = self.window.max(1.0).min(window.cwnd);
    }

    fn on_spurious(&mut self, _window: &mut Window, _event: &Congestion, _before: &Window) {}

    fn on_recovery_end(&mut self, window: &mut Window, _now: Time) {
        window.cwnd = self.window.max(1.0);
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        (self.window < 1.0 && self.rtt.0 > 0)
            .then(|| BitRate(((self.window * self.wire_bits / self.rtt.seconds()) as u64).max(1)))
    }

    fn phase(&self) -> &'static str {
        if self.window < 1.0 { "paced" } else { "avoidance" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("window", self.window);
        out("target_s", self.target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::RateSample;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::near::near;

    /// A target of 25 us without scaling.
    fn plain() -> SwiftParams {
        let base_target = Some(Span::from_micros(25));
        SwiftParams { base_target, range: Some(Span::ZERO), ..SwiftParams::default() }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    fn ack(us: u64, rtt_us: u64, acked: u32) -> Ack {
        let rtt = Some(Span::from_micros(rtt_us));
        let sample = RateSample { has_data: true, newly_acked: acked, rtt, ..Default::default() };
        Ack { min_rtt: Span::from_micros(20), ..Ack::sampled(at(us), 0, sample) }
    }

    /// The window after acknowledgements, `(time, round trip, segments)` in us.
    fn after(params: SwiftParams, start: f64, acks: &[(u64, u64, u32)]) -> (f64, f64) {
        let mut control = Swift::new(params, &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: start.max(1.0), ssthresh: f64::INFINITY };
        control.on_start(&window, Time::ZERO, Span::ZERO);
        control.window = start;
        for &(us, rtt, acked) in acks {
            control.on_ack(&mut window, &ack(us, rtt, acked));
        }
        (control.window, window.cwnd)
    }

    #[test]
    fn below_the_target_the_window_grows_by_one_a_round_trip() {
        near::<12>(after(plain(), 10.0, &[(0, 24, 1)]).0, 10.1);
        near::<12>(after(plain(), 10.0, &[(0, 24, 5)]).0, 10.5);
        // Below one packet each packet adds a whole one.
        near::<12>(after(plain(), 0.25, &[(0, 24, 1)]).0, 1.25);
    }

    /// 50 us: 1 - 0.8 x 25/50 = 0.6; 100 us: 1 - 0.8 x 75/100 = 0.4, but half at most.
    #[test]
    fn above_it_the_excess_cuts_once_a_round_trip_and_by_half_at_most() {
        near::<12>(after(plain(), 10.0, &[(0, 50, 1)]).0, 6.0);
        near::<12>(after(plain(), 10.0, &[(0, 100, 1)]).0, 5.0);
        near::<12>(after(plain(), 10.0, &[(0, 50, 1), (49, 50, 1)]).0, 6.0);
        near::<12>(after(plain(), 10.0, &[(0, 50, 1), (50, 50, 1)]).0, 3.6);
    }

    /// Range 40 us from 0.1 to 100: a = 40 / (3.16228 - 0.1) = 13.0622, b = -1.30622; at 1 packet 11.7560 us.
    #[test]
    fn small_windows_have_a_later_target() {
        let params = SwiftParams { range: Some(Span::from_micros(40)), hops: 3, ..plain() };
        let mut control = Swift::new(params, &env(Era::Rfc)).unwrap();
        let mut target = |window| {
            control.window = window;
            control.target() * 1e6
        };
        near::<3>(target(1.0), 25.0 + 3.0 + 11.756);
        near::<9>(target(100.0), 28.0);
        near::<9>(target(400.0), 28.0);
        near::<9>(target(0.1), 68.0);
        near::<9>(target(0.01), 68.0);
    }

    /// Left out, the range is the base target.
    #[test]
    fn without_a_range_small_windows_wait_for_twice_the_base_target() {
        let mut control =
            Swift::new(SwiftParams { range: None, ..plain() }, &env(Era::Rfc)).unwrap();
        let mut target = |window| {
            control.window = window;
            control.target() * 1e6
        };
        near::<9>(target(0.1) - target(100.0), 25.0);
    }

    #[test]
    fn a_window_that_the_application_does_not_fill_does_not_grow() {
        let mut control = Swift::new(plain(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        control.on_start(&window, Time::ZERO, Span::ZERO);
        let mut acked = ack(0, 24, 1);
        if let Some(sample) = &mut acked.sample {
            sample.is_app_limited = true;
        }
        control.on_ack(&mut window, &acked);
        assert_eq!((control.window, window.cwnd), (10.0, 10.0));
    }

    /// Algorithm 1 notes the time whenever the window is not larger than before: at the least one too.
    #[test]
    fn a_cut_of_the_least_window_is_the_one_of_its_round_trip() {
        let acks = [(0, 50, 1), (10, 24, 1), (20, 50, 1)];
        near::<12>(after(plain(), LEAST, &acks).0, LEAST + 1.0);
    }

    /// Half a packet in 40 us: one every 80 us, 8320 bit / 80 us = 104 Mbit/s.
    #[test]
    fn below_one_packet_the_pace_makes_the_window() {
        let mut control = Swift::new(plain(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 1.0, ssthresh: f64::INFINITY };
        control.on_start(&window, Time::ZERO, Span::ZERO);
        assert_eq!(control.pacing_rate(), None);
        // 1 - 0.8 x 15/40 = 0.7, a round trip later 0.49; then by 1 - 0.8 x 25/50 = 0.6.
        control.on_ack(&mut window, &ack(0, 40, 1));
        near::<12>(control.window, 0.7);
        assert_eq!((window.cwnd, control.phase()), (1.0, "paced"));
        near::<3>(control.pacing_rate().unwrap().bps() / 1e6, 0.7 * 8320.0 / 40.0);
    }

    #[test]
    fn losses_halve_once_a_round_trip_and_the_fifth_timeout_leaves_the_least() {
        let mut control = Swift::new(plain(), &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 16.0, ssthresh: f64::INFINITY };
        control.on_start(&window, Time::ZERO, Span::from_micros(20));
        let mut answer = |us, signal| {
            control.on_congestion(&mut window, &Congestion::at(at(us), signal, 16));
            (control.window, window.cwnd)
        };
        let lost = Signal::FastRetransmit { lost: 1 };
        assert_eq!(answer(100, lost), (8.0, 8.0));
        assert_eq!(answer(110, lost), (8.0, 8.0));
        assert_eq!(answer(200, Signal::Rto { consecutive: 1 }), (4.0, 4.0));
        assert_eq!(answer(1000, Signal::EcnEcho), (4.0, 4.0));
        assert_eq!(answer(1010, Signal::Rto { consecutive: 5 }), (LEAST, 1.0));
    }
}
