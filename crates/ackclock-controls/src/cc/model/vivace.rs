//! PCC Vivace: climbs the gradient of a utility of rate, loss and the slope of the delay.
//!
//! Time is divided into monitor intervals. Two of them, a little above and a little below the rate, show in which
//! direction the utility rises; the rate moves that way, faster the longer it goes on.
//!
//! **Source**: M. Dong, T. Meng, D. Zarchy, E. Arslan, Y. Gilad, B. Godfrey, M. Schapira, "PCC Vivace: Online-Learning
//! Congestion Control", NSDI 2018, sections 3 and 4.
//!
//! **Rule** (r: rate in Mbit/s; L: loss ratio, D: slope of the RTT over time, by linear regression, 0 below 0.01)
//! ```text
//! u(r) = r^t - b r D - c r L                  t = 0.9, b = 900, c = 11.35;  D < 0 counts as 0
//! start:  r doubles each interval until the utility falls; then the rate before that;  r is at most 8 times the
//!         rate of the last interval whose outcome is known
//! then:   intervals at r (1 + eps) and r (1 - eps), in random order; r while their outcome is awaited
//!         gamma = (u(r (1 + eps)) - u(r (1 - eps))) / (2 eps r),   step = m(k) theta gamma
//!         k: decisions in this direction, from 0;  m(k) = max(k, 1) up to 3, then 2 k - 3
//!         |step| <= (omega + j delta) r, else j + 1 at the next decision; j falls to what suffices; 0 when
//!         the direction changes
//! ```
//! A monitor interval lasts an SRTT, and ten packets at least. Deviations: the rate of an interval is the one aimed
//! at; an interval in which the application was the limit is repeated, and one with losses but no two samples of the
//! RTT has D = 0. Losses count for the interval whose packets are being resolved when they are found, a few packets
//! late. cwnd is two rates times the SRTT, a bound for loss of all feedback, which the source does not have, and at most
//! 2^31 segments, as is the rate that makes it so; after a timeout the rate starts anew. The source has no bound of the start by known outcomes: without one, a start from
//! which nothing comes back doubles its rate without end.
//!
//! Defaults by era: the same in all.

mod interval;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Lost, MAX_WINDOW, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};

use interval::{Interval, Outcome};

/// Least packets of a monitor interval.
const LEAST_PACKETS: f64 = 10.0;
/// Least window in segments, and least packets per round trip.
const LEAST: f64 = 4.0;
/// cwnd in rates times round trip.
const WINDOW_GAIN: f64 = 2.0;
/// At the start, the rate is at most this times the last one whose outcome is known: an outcome is known when a round
/// trip has passed after its interval, two doublings on, or three beside a queue.
const AHEAD: f64 = 8.0;
/// Round trip that is assumed before the first sample.
const ASSUMED: Span = Span::from_millis(100);

/// Parameters of Vivace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VivaceParams {
    /// Exponent of the rate in the utility (t).
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub exponent: f64,
    /// Weight of the slope of the delay (b); 0 makes Vivace-Loss.
    #[schemars(range(min = 0))]
    pub latency: f64,
    /// Weight of loss (c).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub loss: f64,
    /// Part of the rate by which it is tried higher and lower (epsilon).
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 0.5))]
    pub probe: f64,
    /// Rate that a gradient of 1 is worth (theta).
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "Mbit/s"))]
    pub step: f64,
    /// Largest part of the rate of a first step (omega).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub bound: f64,
    /// What is added to it for each step that it has bounded (delta).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub bound_step: f64,
    /// Slopes of the delay below this are taken for noise.
    #[schemars(range(min = 0))]
    pub slope_filter: f64,
}

impl Default for VivaceParams {
    fn default() -> Self {
        Self {
            exponent: 0.9,
            latency: 900.0,
            loss: 11.35,
            probe: 0.05,
            step: 1.0,
            bound: 0.05,
            bound_step: 0.1,
            slope_filter: 0.01,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Doubling; the utility and rate of the interval before.
    Starting(Option<(f64, f64)>),
    /// The first of the pair is under way; whether it is the higher.
    First { high: bool },
    /// The second is.
    Second { high: bool },
    /// Both have left.
    Waiting,
}

/// PCC Vivace.
pub struct Vivace {
    params: VivaceParams,
    wire_bits: f64,
    stream: Stream,
    phase: Phase,
    /// The base rate in Mbit/s; 0 before the start.
    rate: f64,
    /// At the start: the last rate whose outcome is known, or else the first one, in Mbit/s.
    known_rate: f64,
    /// Intervals whose packets are not all resolved, the present one last.
    intervals: std::collections::VecDeque<Interval>,
    /// Utilities of the pair: of the lower rate, of the higher.
    pair: [Option<f64>; 2],
    /// Decisions in the same direction, and which it is.
    steady: i32,
    last_gradient: f64,
    /// Steps in a row that the bound has cut.
    bounded: u32,
    sent: u64,
    srtt: Span,
    utility: f64,
}

impl About<CcEnv> for Vivace {
    type Params = VivaceParams;
    const INFO: Info = Info {
        name: "vivace",
        title: "PCC Vivace",
        source: "Dong et al., PCC Vivace: Online-Learning Congestion Control, NSDI 2018, sections 3 and 4",
        status: Status::Variant,
    };
    const ALSO: &'static [&'static str] = &["pcc-vivace"];

    fn new(params: VivaceParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            wire_bits: f64::from(env.wire_size) * 8.0,
            stream: Stream::new(0, Purpose::Control, 0),
            phase: Phase::Starting(None),
            rate: 0.0,
            known_rate: 0.0,
            intervals: std::collections::VecDeque::new(),
            pair: [None; 2],
            steady: 0,
            last_gradient: 0.0,
            bounded: 0,
            sent: 0,
            srtt: Span::ZERO,
            utility: 0.0,
        })
    }
}

impl Vivace {
    fn utility(&self, rate: f64, slope: f64, loss: f64) -> f64 {
        let slope = if slope < self.params.slope_filter { 0.0 } else { slope };
        // The same bits on every platform: that of the system differs in the last.
        libm::pow(rate, self.params.exponent)
            - self.params.latency * rate * slope
            - self.params.loss * rate * loss
    }

    fn srtt(&self) -> Span {
        if self.srtt == Span::ZERO { ASSUMED } else { self.srtt }
    }

    /// The least rate in Mbit/s.
    fn floor(&self) -> f64 {
        LEAST * self.wire_bits / self.srtt().seconds() / 1e6
    }

    /// A rate in Mbit/s, at least the least one, and at most that whose cwnd is the largest of all windows: steps of a
    /// user's bounds may grow without end.
    fn in_range(&self, rate: f64) -> f64 {
        let most = MAX_WINDOW * self.wire_bits / (WINDOW_GAIN * self.srtt().seconds()) / 1e6;
        rate.max(self.floor()).min(most)
    }

    /// The rate at which packets leave now, in Mbit/s.
    fn rate_now(&self) -> f64 {
        self.intervals.back().map_or(self.rate, |interval| interval.rate)
    }

    /// Begins an interval at `rate` Mbit/s; `use_for`: what its outcome is for.
    fn begin(&mut self, rate: f64, purpose: Outcome, now: Time) {
        let packets = LEAST_PACKETS * self.wire_bits / (rate * 1e6);
        let length = self.srtt().seconds().max(packets);
        let end = now + Span::from_seconds(length);
        self.intervals.push_back(Interval::new(rate, purpose, now, end, self.sent));
    }

    /// Begins the next interval, if the present one is over.
    fn go_on(&mut self, now: Time) {
        let Some(present) = self.intervals.back() else { return };
        if now < present.end {
            return;
        }
        let (rate, probe) = (self.rate, self.params.probe);
        let side = |high: bool| if high { 1.0 + probe } else { 1.0 - probe };
        match self.phase {
            Phase::Starting(_) => {
                if 2.0 * self.rate <= AHEAD * self.known_rate {
                    self.rate = self.in_range(2.0 * self.rate);
                }
                self.begin(self.rate, Outcome::Start, now);
            }
            Phase::First { high } => {
                self.phase = Phase::Second { high: !high };
                self.begin(rate * side(!high), Outcome::Pair { high: !high }, now);
            }
            Phase::Second { .. } => {
                self.phase = Phase::Waiting;
                self.begin(rate, Outcome::None, now);
            }
            Phase::Waiting => self.begin(rate, Outcome::None, now),
        }
    }

    /// Tries both sides of the rate anew.
    fn probe(&mut self, now: Time) {
        self.pair = [None; 2];
        let high = self.stream.uniform() < 0.5;
        self.phase = Phase::First { high };
        let factor = if high { 1.0 + self.params.probe } else { 1.0 - self.params.probe };
        self.begin(self.rate * factor, Outcome::Pair { high }, now);
    }

    /// Takes the outcome of all intervals whose packets are resolved.
    fn conclude(&mut self, resolved: u64, now: Time) {
        while self.intervals.len() > 1 && resolved >= self.intervals[1].first_packet {
            let Some(interval) = self.intervals.pop_front() else { return };
            let sent = self.intervals[0].first_packet - interval.first_packet;
            let is_seen = interval.has_slope() || interval.lost > 0;
            let is_sound = sent > 0 && !interval.app_limited && is_seen;
            let utility = self.utility(interval.rate, interval.slope(), interval.loss(sent));
            match (interval.purpose, self.phase) {
                (Outcome::Start, Phase::Starting(before)) if is_sound => {
                    self.utility = utility;
                    self.known_rate = interval.rate;
                    match before {
                        Some((last, rate)) if utility < last => {
                            self.rate = self.in_range(rate);
                            self.probe(now);
                        }
                        _ => self.phase = Phase::Starting(Some((utility, interval.rate))),
                    }
                }
                (Outcome::Pair { high }, _) => {
                    if is_sound {
                        self.pair[usize::from(high)] = Some(utility);
                    }
                    if self.phase == Phase::Waiting && !self.awaits_pair() {
                        self.decide(now);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether an interval of the pair is unresolved.
    fn awaits_pair(&self) -> bool {
        self.intervals.iter().any(|interval| matches!(interval.purpose, Outcome::Pair { .. }))
    }

    /// Moves the rate along the gradient, if both sides are known.
    fn decide(&mut self, now: Time) {
        if let [Some(low), Some(high)] = self.pair {
            self.utility = f64::midpoint(low, high);
            let gradient = (high - low) / (2.0 * self.params.probe * self.rate);
            let step = self.step(gradient);
            self.rate = self.in_range(self.rate + step);
        }
        self.probe(now);
    }

    /// The step in Mbit/s that a gradient makes.
    fn step(&mut self, gradient: f64) -> f64 {
        if gradient * self.last_gradient > 0.0 {
            self.steady += 1;
        } else {
            (self.steady, self.bounded) = (0, 0);
        }
        self.last_gradient = gradient;
        let amplifier = match self.steady {
            0..=1 => 1,
            k @ 2..=3 => k,
            k => 2 * k - 3,
        };
        let step = f64::from(amplifier) * self.params.step * gradient;
        let bound =
            |j: u32| (self.params.bound + f64::from(j) * self.params.bound_step) * self.rate;
        if step.abs() > bound(self.bounded) {
            let most = bound(self.bounded);
            self.bounded += 1;
            return most.copysign(step);
        }
        while self.bounded > 0 && step.abs() <= bound(self.bounded - 1) {
            self.bounded -= 1;
        }
        step
    }

    /// Begins as at the start, at `rate` Mbit/s.
    fn restart(&mut self, rate: f64, now: Time) {
        self.intervals.clear();
        self.phase = Phase::Starting(None);
        (self.steady, self.bounded, self.last_gradient) = (0, 0, 0.0);
        self.rate = self.in_range(rate);
        self.known_rate = self.rate;
        self.begin(self.rate, Outcome::Start, now);
    }

    fn set_window(&self, window: &mut Window) {
        let packets = WINDOW_GAIN * self.rate_now() * 1e6 * self.srtt().seconds() / self.wire_bits;
        window.cwnd = packets.clamp(2.0 * LEAST, MAX_WINDOW);
        window.ssthresh = window.cwnd;
    }
}

impl CongestionControl for Vivace {
    fn on_start(&mut self, window: &Window, now: Time, srtt: Span) {
        self.srtt = srtt;
        let rate = window.cwnd * self.wire_bits / self.srtt().seconds() / 1e6;
        self.restart(rate, now);
    }

    fn on_sent(&mut self, now: Time, _in_flight: u32) {
        self.go_on(now);
        self.sent += 1;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.srtt > Span::ZERO {
            self.srtt = ack.srtt;
        }
        if let Some(rtt) = ack.rtt {
            let left = Time(ack.now.0.saturating_sub(rtt.0));
            let interval = self.intervals.iter_mut().rev().find(|each| each.start <= left);
            if let Some(interval) = interval {
                interval.add(left, rtt);
                interval.app_limited |= ack.app_limited;
            }
        }
        self.go_on(ack.now);
        self.conclude(self.sent.saturating_sub(u64::from(ack.in_flight)), ack.now);
        self.set_window(window);
    }

    fn on_lost(&mut self, _window: &mut Window, _lost: &Lost) {
        if let Some(first) = self.intervals.front_mut() {
            first.lost += 1;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if let Signal::Rto { consecutive } = event.signal {
            if consecutive == 1 {
                self.restart(0.0, event.now);
            }
            window.cwnd = 1.0;
        }
    }

    fn on_restart(&mut self, _window: &mut Window, now: Time) {
        // What was measured before the pause says little of the path now.
        if self.phase == Phase::Starting(None) {
            self.restart(self.rate, now);
        } else {
            self.intervals.clear();
            self.probe(now);
        }
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn take_stream(&mut self, stream: Stream) {
        self.stream = stream;
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate((self.rate_now().max(self.floor()) * 1e6) as u64))
    }

    fn phase(&self) -> &'static str {
        match self.phase {
            Phase::Starting(_) => "starting",
            Phase::First { .. } | Phase::Second { .. } => "probing",
            Phase::Waiting => "waiting",
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate_bps", self.rate * 1e6);
        out("utility", self.utility);
    }
}
