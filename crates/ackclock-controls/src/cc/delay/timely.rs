//! TIMELY: a rate that follows the gradient of the round-trip time.
//!
//! For data centres: where round trips grow the rate is cut in proportion to how fast they do, where they shrink it rises; two
//! thresholds frame that.
//!
//! **Source**: R. Mittal, V. T. Lam, N. Dukkipati, E. Blem, H. Wassel, M. Ghobadi, A. Vahdat, Y. Wang, D. Wetherall, D. Zats,
//! "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, algorithm 1; values that it leaves open:
//! Y. Zhu, M. Ghobadi, V. Misra, J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016,
//! footnote 4.
//!
//! **Rule** (once per segment of 16 kB acknowledged; R: its RTT less its time at line rate)
//! ```text
//! d <- (1 - alpha) d + alpha (R - R of the segment before);   gradient = d / minRTT
//! R < T_low:       rate + delta
//! R > T_high:      rate (1 - beta (1 - T_high / R))
//! gradient <= 0:   rate + N delta,  N = 5 from the fifth such segment in a row on, else 1
//! else:            rate (1 - beta gradient)
//! ```
//! A segment leaves in one burst; the pauses between bursts make the rate. Deviations: rates are kept between `least` and the line rate, and a gradient above 1 counts as 1, so that no cut takes more than beta, as none beyond
//! `T_high` does: the source's factor is negative from 1.25 on. The line rate is that of the flow's first link. A flow begins at line rate, as the
//! source's first flow of a host does; it divides by the number of flows, which none knows here. The source has a
//! network without loss: a loss or a timeout halves the rate, once per round trip. In flight are at most eight round trips at
//! line rate, a bound for loss of all feedback; with `window` no more than the rate carries in that time, as TIMELY+win of HPCC's evaluation
//! (Li et al., SIGCOMM 2019) has it. The round trip is that of packets, without a host's delay.
//!
//! Defaults by era: the same in all: beta 0.8, alpha 0.875. Left out, times and rates are in the source's proportions: for its
//! 20 us of least RTT and 10 Gbit/s they are its 50 us, 500 us and 10 Mbit/s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Lost, MAX_WINDOW, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Bytes, Span, Time};

/// `T_low` and `T_high` in least round trips: 50 and 500 us of 20 us.
const LOW: f64 = 2.5;
const HIGH: f64 = 25.0;
/// Part of the line rate that is the step, and the least rate.
const STEP: f64 = 1e-3;
/// Most in flight, in round trips at line rate.
const LEEWAY: f64 = 8.0;
/// Least window in segments.
const LEAST: f64 = 16.0;

/// Parameters of TIMELY.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimelyParams {
    /// Round trips below this let the rate rise whatever their gradient. Left out: 2.5 least round trips.
    pub t_low: Option<Span>,
    /// Round trips above this cut the rate whatever their gradient; `t_low` or more. Left out: 25 least round trips.
    pub t_high: Option<Span>,
    /// The least round trip, by which gradients are normalised. Left out: the least that was measured.
    pub min_rtt: Option<Span>,
    /// Step of the rate (delta). Left out: a thousandth of the line rate.
    pub delta: Option<BitRate>,
    /// Part of the rate that a gradient of 1 takes.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub beta: f64,
    /// Weight of the newest difference of round trips.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub alpha: f64,
    /// Segments in a row with gradients of 0 or less from which on steps are as many times as large.
    #[schemars(range(min = 1), extend("x-unit" = "segments"))]
    pub hyper: u32,
    /// Bytes that leave together and are answered together.
    pub segment: Bytes,
    /// Rate at the start. Left out: the line rate.
    pub initial_rate: Option<BitRate>,
    /// Least rate. Left out: a thousandth of the line rate.
    pub least: Option<BitRate>,
    /// No more is in flight than the rate carries in this time, a segment at least. Left out: eight round trips at line rate.
    pub window: Option<Span>,
}

impl Default for TimelyParams {
    fn default() -> Self {
        Self {
            t_low: None,
            t_high: None,
            min_rtt: None,
            delta: None,
            beta: 0.8,
            alpha: 0.875,
            hyper: 5,
            segment: Bytes(16_000),
            initial_rate: None,
            least: None,
            window: None,
        }
    }
}

/// TIMELY.
pub struct Timely {
    params: TimelyParams,
    wire_bits: f64,
    line: f64,
    /// Packets of a segment.
    packets: u32,
    /// bit/s.
    rate: f64,
    least_rate: f64,
    delta: f64,
    /// Packets acknowledged of the present segment.
    acked: u32,
    /// Seconds, as the rest.
    previous: Option<f64>,
    least: f64,
    difference: f64,
    gradient: f64,
    /// Segments in a row whose gradient was 0 or less.
    falling: u32,
    srtt: Span,
    /// When a loss last halved the rate.
    halved: Option<Time>,
}

impl About<CcEnv> for Timely {
    type Params = TimelyParams;
    const INFO: Info = Info {
        name: "timely",
        title: "TIMELY",
        source: "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015, algorithm 1",
        status: Status::Variant,
    };

    fn new(params: TimelyParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        if let (Some(low), Some(high)) = (params.t_low, params.t_high)
            && low > high
        {
            let range = format!("at least t_low, {} s", low.seconds());
            return Err(Problem::out_of_range("t_high", high.seconds(), &range).into());
        }
        let wire = f64::from(env.wire_size.max(1));
        let line = env.line_rate.bps().max(1.0);
        let initial = params.initial_rate.map_or(line, BitRate::bps);
        let delta = params.delta.map_or(line * STEP, BitRate::bps);
        let least_rate = params.least.map_or(line * STEP, BitRate::bps).min(line);
        Ok(Self {
            wire_bits: wire * 8.0,
            line,
            packets: ((params.segment.0 as f64 / wire) as u32).max(1),
            rate: initial.clamp(least_rate, line),
            least_rate,
            delta,
            acked: 0,
            previous: None,
            least: f64::INFINITY,
            difference: 0.0,
            gradient: 0.0,
            falling: 0,
            srtt: Span::ZERO,
            halved: None,
            params,
        })
    }
}

impl Timely {
    /// A segment is acknowledged, the round trip of its last packet being `rtt` seconds.
    fn complete(&mut self, rtt: f64) {
        let burst = f64::from(self.packets) * self.wire_bits / self.line;
        let rtt = (rtt - burst).max(1e-12);
        self.least = self.least.min(rtt);
        let least = self.params.min_rtt.map_or(self.least, |least| least.seconds().max(1e-12));
        let low = self.params.t_low.map_or(LOW * least, Span::seconds);
        let high = self.params.t_high.map_or(HIGH * least, Span::seconds);
        let difference = self.previous.replace(rtt).map_or(0.0, |previous| rtt - previous);
        self.difference += self.params.alpha * (difference - self.difference);
        self.gradient = self.difference / least;
        self.falling = if self.gradient <= 0.0 { self.falling.saturating_add(1) } else { 0 };
        if rtt < low {
            self.rate += self.delta;
        } else if rtt > high {
            self.rate *= 1.0 - self.params.beta * (1.0 - high / rtt);
        } else if self.gradient <= 0.0 {
            let hyper = self.params.hyper;
            let steps = if self.falling >= hyper { hyper } else { 1 };
            self.rate += f64::from(steps) * self.delta;
        } else {
            self.rate *= 1.0 - self.params.beta * self.gradient.min(1.0);
        }
        self.bound();
    }

    /// Halves the rate for a loss, at most once a round trip.
    fn notice_loss(&mut self, now: Time) {
        if self.halved.is_none_or(|at| now.since(at) >= self.srtt) {
            self.halved = Some(now);
            self.rate /= 2.0;
            self.bound();
        }
    }

    fn bound(&mut self) {
        self.rate = self.rate.clamp(self.least_rate, self.line);
    }

    /// Most in flight, in packets.
    fn most_in_flight(&self) -> f64 {
        if let Some(time) = self.params.window {
            let of_rate = self.rate * time.seconds() / self.wire_bits;
            return of_rate.clamp(f64::from(self.packets), MAX_WINDOW);
        }
        let most = LEEWAY * self.line * self.srtt.seconds() / self.wire_bits;
        if most > 0.0 { most.clamp(LEAST, MAX_WINDOW) } else { MAX_WINDOW }
    }
}

impl CongestionControl for Timely {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.srtt = ack.srtt;
        let Some(sample) = ack.sample else { return };
        self.acked = self.acked.saturating_add(sample.newly_acked);
        if let Some(rtt) = sample.rtt
            && self.acked >= self.packets
        {
            self.acked %= self.packets;
            self.complete(rtt.seconds());
        }
        window.cwnd = self.most_in_flight();
    }

    fn on_congestion(&mut self, _window: &mut Window, event: &Congestion) {
        if let Signal::FastRetransmit { .. } | Signal::Rto { .. } = event.signal {
            self.notice_loss(event.now);
        }
    }

    fn on_lost(&mut self, _window: &mut Window, lost: &Lost) {
        self.notice_loss(lost.now);
    }

    fn on_restart(&mut self, _window: &mut Window, _now: Time) {
        (self.previous, self.acked, self.falling) = (None, 0, 0);
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn initial_window(&self) -> Option<f64> {
        Some(self.most_in_flight())
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate((self.rate as u64).max(1)))
    }

    fn send_quantum(&self) -> u32 {
        self.packets
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate_bps", self.rate);
        out("gradient", self.gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::near::near;

    /// At 10 Gbit/s, from `rate` Gbit/s, with a least round trip of 20 us; a packet is a segment and takes no time of the
    /// round trips, which `rtts` are in us. Returns the rates in Mbit/s.
    fn rates(gbps: u64, rtts: &[f64]) -> Vec<f64> {
        let params = TimelyParams {
            t_low: Some(Span::from_micros(50)),
            t_high: Some(Span::from_micros(500)),
            min_rtt: Some(Span::from_micros(20)),
            segment: Bytes(1),
            initial_rate: Some(BitRate(gbps * 1_000_000_000)),
            ..TimelyParams::default()
        };
        let env = CcEnv {
            line_rate: BitRate(10_000_000_000),
            round_trip: Span::from_micros(20),
            ..env(Era::Rfc)
        };
        let mut control = Timely::new(params, &env).unwrap();
        let burst = 1040.0 * 8.0 / 10e9;
        rtts.iter()
            .map(|rtt| {
                control.complete(rtt * 1e-6 + burst);
                control.rate / 1e6
            })
            .collect()
    }

    #[test]
    fn below_the_low_threshold_the_rate_rises_by_a_step() {
        let sent_rates = rates(5, &[40.0, 49.0]);
        near::<6>(sent_rates[0], 5010.0);
        near::<6>(sent_rates[1], 5020.0); // although the round trip grew
    }

    /// 1000 us, twice `T_high`: 1 - 0.8 (1 - 1/2) = 0.6.
    #[test]
    fn above_the_high_threshold_the_cut_follows_the_excess() {
        near::<6>(rates(5, &[1000.0])[0], 3000.0);
    }

    /// From 100 to 110 us: d = 0.875 x 10 = 8.75 us, gradient 0.4375, factor 1 - 0.35 = 0.65. Then at 110 us again
    /// d = 0.125 x 8.75 = 1.09375 us, gradient 0.0546875, factor 0.95625.
    #[test]
    fn between_them_a_rising_round_trip_cuts_by_its_gradient() {
        let sent_rates = rates(5, &[100.0, 110.0, 110.0]);
        near::<6>(sent_rates[0], 5010.0);
        near::<6>(sent_rates[1], 5010.0 * 0.65);
        near::<6>(sent_rates[2], 5010.0 * 0.65 * 0.95625);
    }

    /// From 100 to 150 us: gradient 0.875 x 50 / 20 = 2.19, but no cut takes more than 0.8.
    #[test]
    fn no_gradient_takes_more_than_beta() {
        near::<6>(rates(5, &[100.0, 150.0])[1], 5010.0 * 0.2);
    }

    /// Four single steps, then five at a time.
    #[test]
    fn from_the_fifth_segment_that_does_not_rise_on_steps_are_five_times_as_large() {
        let sent_rates = rates(5, &[100.0; 7]);
        near::<6>(sent_rates[3], 5040.0);
        near::<6>(sent_rates[4], 5090.0);
        near::<6>(sent_rates[6], 5190.0);
    }

    #[test]
    fn what_is_left_out_is_in_proportion_to_the_least_round_trip() {
        let env = CcEnv {
            line_rate: BitRate(10_000_000_000),
            round_trip: Span::from_micros(20),
            ..env(Era::Rfc)
        };
        let params = TimelyParams { segment: Bytes(1), ..TimelyParams::default() };
        let mut control = Timely::new(params, &env).unwrap();
        let burst = 1040.0 * 8.0 / 10e9;
        control.rate = 5e9;
        control.complete(20e-6 + burst);
        near::<3>(control.rate, 5.01e9); // below 2.5 x 20 us
        control.difference = 0.0;
        control.previous = None;
        control.complete(1000e-6 + burst); // beyond 25 x 20 us = 500 us
        near::<3>(control.rate, 5.01e9 * 0.6);
    }

    #[test]
    fn losses_halve_the_rate_once_a_round_trip() {
        let env = CcEnv {
            line_rate: BitRate(10_000_000_000),
            round_trip: Span::from_micros(20),
            ..env(Era::Rfc)
        };
        let mut control = Timely::new(TimelyParams::default(), &env).unwrap();
        control.srtt = Span::from_micros(100);
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        let mut rate_after = |us| {
            let now = Time::ZERO + Span::from_micros(us);
            control.on_lost(&mut window, &Lost::at(now, 1));
            control.rate / 1e9
        };
        assert_eq!([0, 99, 100].map(&mut rate_after), [5.0, 5.0, 2.5]);
    }

    #[test]
    fn a_segment_is_answered_when_its_last_packet_is_acknowledged() {
        let env = CcEnv {
            line_rate: BitRate(10_000_000_000),
            round_trip: Span::from_micros(20),
            ..env(Era::Rfc)
        };
        let params = TimelyParams { segment: Bytes(10_400), ..TimelyParams::default() };
        let mut control = Timely::new(params, &env).unwrap();
        assert_eq!(control.send_quantum(), 10);
        control.rate = 5e9;
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        for packet in 1..=10u64 {
            let sample = crate::cc::RateSample {
                has_data: true,
                newly_acked: 1,
                rtt: Some(Span::from_micros(40)),
                ..Default::default()
            };
            near::<3>(control.rate, 5e9);
            control.on_ack(&mut window, &Ack::sampled(Time::ZERO, packet, sample));
        }
        near::<3>(control.rate, 5.01e9);
        // 40 us less ten packets at line rate, 8.32 us.
        near::<9>(control.least * 1e6, 31.68);
    }

    /// Three acknowledgements of two packets each are two segments of three.
    #[test]
    fn what_is_acknowledged_beyond_a_segment_is_part_of_the_next() {
        let env = CcEnv { line_rate: BitRate(10_000_000_000), ..env(Era::Rfc) };
        let params = TimelyParams { segment: Bytes(3 * 1040), ..TimelyParams::default() };
        let mut control = Timely::new(params, &env).unwrap();
        control.rate = 5e9;
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        for (number, rate) in (1..).zip([5e9, 5.01e9, 5.02e9]) {
            let sample = crate::cc::RateSample {
                has_data: true,
                newly_acked: 2,
                rtt: Some(Span::from_micros(40)),
                ..Default::default()
            };
            control.on_ack(&mut window, &Ack::sampled(Time::ZERO, 2 * number, sample));
            near::<3>(control.rate, rate);
        }
    }

    /// 10 Gbit/s for 20 us are 25,000 B; a segment of 16 packets is the least.
    #[test]
    fn a_window_follows_the_rate() {
        let window = Some(Span::from_micros(20));
        let params = TimelyParams { window, ..TimelyParams::default() };
        let env = CcEnv { line_rate: BitRate(10_000_000_000), ..env(Era::Rfc) };
        let mut control = Timely::new(params, &env).unwrap();
        near::<9>(control.initial_window().unwrap(), 25_000.0 / 1040.0);
        control.rate = 8e9;
        near::<9>(control.most_in_flight(), 20_000.0 / 1040.0);
        control.rate = 1e9;
        near::<9>(control.most_in_flight(), 15.0);
    }
}
