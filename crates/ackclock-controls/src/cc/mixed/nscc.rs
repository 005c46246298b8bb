//! NSCC: Ultra Ethernet's control at the sender, for packets that are sprayed over many paths.
//!
//! Two signals of each acknowledgement, a mark and the delay of queues, choose one of four answers: marked packets may have
//! met one bad path, late ones that are not marked a queue that empties. Only both together reduce the window. Where very little
//! arrives at all, the window becomes what arrived.
//!
//! **Source**: the network-signalled congestion control of the Ultra Ethernet Specification 1.0 (2025), as the reference
//! simulator of its congestion group has it: ultraethernet/uet-htsim, commit 40ccb05, `htsim/sim/uec.cpp`. The design is
//! described in T. Bonato et al., "FASTFLOW: Flexible Adaptive Congestion Control for High-Performance Datacenters", 2024,
//! arXiv:2404.01630.
//!
//! **Rule** (W: window; A: newly acknowledged; R0: least round trip; d = R - R0: delay of the acknowledgement, or D without a
//! sample; D: its average; T: target; a = C R / (100 Gbit/s 12 us) with R the round trip of the network; all in bytes)
//! ```text
//! begins:  W = W_max = 1.5 C R0;  one packet <= W <= W_max
//! D:       D <- D + (s - D) / 80;  s = d, or R0 / 4 if d > T without a mark, or R for a NACK
//! no mark, d < T:    I <- I + 4 mss a (T / 12 us) A (T - d) / T; instead, once more than W arrived with d < 1 us and as long
//!                    as that goes on: W <- W + a A / 4
//! no mark, d >= T:   I <- I + 5 mss a A
//! mark, d >= T:      W <- W max(1 - 0.8 (D - T) / D, 1/2) if D > T, at most once per R0
//! mark, d < T:       nothing
//! after 8 packets or R:  W <- W + I / W, I <- 0; after R also W <- W + 0.15 mss a
//! leaves:  at line rate at most: a card takes a packet when it has sent the one before
//! NACK:    W <- W - packet, unless quick adaptation answers it
//! timeout: W <- W - what is lost
//! quick adaptation, every R0 + T, if something was lost or d > 4 T, and less than W_max / 8 arrived since:
//!          W <- what arrived; then marks and NACKs are ignored until as much was reported as was in flight
//! ```
//! **Deviations**: flows of one host are paced each for itself, where the source's card takes turns. Acknowledgements, marks and NACKs are those of TCP here (AccECN, `tcp.trimming`): what several packets
//! acknowledged together were marked is one mark, and packets out of order are each acknowledged. What is in flight without
//! payload (headers) is not counted. The choice of paths by what acknowledgements say of them is not this control's: packets
//! are sprayed at random. Losses that no NACK reports count as NACKs but after a timeout.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Lost, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, PS_PER_S, Span, Time};

/// The network to which the constants belong: 100 Gbit/s and 12 us.
const REFERENCE_RTT: f64 = 12e-6;
const REFERENCE_BYTES: f64 = 150_000.0;
/// Target in round trips of the network, where none is given.
const TARGET: f64 = 0.75;
/// Largest window in products of bandwidth and least round trip.
const LARGEST: f64 = 1.5;
/// Gain of the average delay.
const GAIN: f64 = 0.0125;
/// Gain of a reduction, and the least that it leaves.
const GAMMA: f64 = 0.8;
const LEAST_LEFT: f64 = 0.5;
/// Delays below which the window may grow fast.
const NO_DELAY: f64 = 1e-6;
/// Packets after which the window takes over its increase.
const PACKETS: f64 = 8.0;

/// Parameters of NSCC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NsccParams {
    /// Queueing delay that the flow aims at (T). Left out: 0.75 round trips of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Span>,
    /// Longest round trip of the idle network (R). Left out: that of the flow's own path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_rtt: Option<Span>,
    /// Initial window. Left out: the largest, 1.5 products of bandwidth and round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576), extend("x-unit" = "segments"))]
    pub initial_window: Option<u32>,
    /// Quick adaptation answers where less than the largest window over two to the power of this arrived.
    #[schemars(range(max = 30))]
    pub qa_gate: Option<u32>,
}

/// NSCC; bytes are those on the wire, times seconds.
pub struct Nscc {
    packet: f64,
    line_rate: BitRate,
    rate: f64,
    network_rtt: f64,
    target: f64,
    gate: f64,
    proportional: f64,
    fair: f64,
    fast: f64,
    step: f64,
    base_rtt: f64,
    window: f64,
    largest: f64,
    delay: f64,
    /// The acknowledgement in hand reports a mark.
    marked: bool,
    /// Bytes by which the window is to grow, times the window.
    increase: f64,
    /// Arrived since the increase was taken over.
    received: f64,
    taken_over: Time,
    reduced: Time,
    /// Arrived without delay, in a row.
    prompt: f64,
    grows_fast: bool,
    /// Quick adaptation: the end of its period, if one has begun; what arrived in it; whether something was lost.
    period_end: Option<Time>,
    achieved: f64,
    lost: bool,
    to_ignore: f64,
    ignored: f64,
    in_flight: f64,
    timeout_at: Option<Time>,
}

impl About<CcEnv> for Nscc {
    type Params = NsccParams;
    const INFO: Info = Info {
        name: "nscc",
        title: "NSCC (Ultra Ethernet)",
        source: "Ultra Ethernet Specification 1.0, as in ultraethernet/uet-htsim, commit 40ccb05",
        status: Status::Variant,
    };

    fn new(params: NsccParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let network_rtt = params.network_rtt.unwrap_or(env.round_trip).seconds();
        if network_rtt <= 0.0 {
            return Err(Problem::out_of_range("network_rtt", network_rtt, "more than 0 s").into());
        }
        let target = params.target.map_or(TARGET * network_rtt, Span::seconds);
        if target <= 0.0 {
            return Err(Problem::out_of_range("target", target, "more than 0 s").into());
        }
        let rate = env.line_rate.bps() / 8.0;
        let scale = rate * network_rtt / REFERENCE_BYTES;
        let (packet, mss) = (f64::from(env.wire_size), f64::from(env.mss));
        let largest = (LARGEST * rate * network_rtt).max(packet);
        let initial = params.initial_window.map(|segments| f64::from(segments) * packet);
        Ok(Self {
            packet,
            line_rate: env.line_rate,
            rate,
            network_rtt,
            target,
            gate: f64::from(1u32 << params.qa_gate.unwrap_or(3).min(30)).recip(),
            proportional: 4.0 * mss * scale * (target / REFERENCE_RTT) / target,
            fair: 5.0 * mss * scale,
            fast: 0.25 * scale,
            step: 0.15 * mss * scale,
            base_rtt: network_rtt,
            window: initial.unwrap_or(largest).min(largest),
            largest,
            delay: 0.0,
            marked: false,
            increase: 0.0,
            received: 0.0,
            taken_over: Time::ZERO,
            reduced: Time::ZERO,
            prompt: 0.0,
            grows_fast: false,
            period_end: None,
            achieved: 0.0,
            lost: false,
            to_ignore: 0.0,
            ignored: 0.0,
            in_flight: 0.0,
            timeout_at: None,
        })
    }
}

fn after(now: Time, seconds: f64) -> Time {
    Time(now.0.saturating_add((seconds * PS_PER_S as f64) as u64))
}

impl Nscc {
    fn bound(&mut self) {
        self.window = self.window.min(self.largest).max(self.packet);
    }

    /// Takes a round trip; returns the delay in it.
    fn take_sample(&mut self, rtt: f64) -> f64 {
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
            self.largest = (LARGEST * self.rate * rtt).max(self.packet);
        }
        let delay = rtt - self.base_rtt;
        let late = !self.marked && delay > self.target;
        self.average(if late { self.base_rtt * 0.25 } else { delay });
        delay
    }

    fn average(&mut self, sample: f64) {
        self.delay += GAIN * (sample - self.delay);
    }

    /// Whether it answers, or what is reported now is of the time before it did.
    fn adapt_quickly(&mut self, now: Time, is_loss: bool, is_marked: bool, delay: f64) -> bool {
        let mut answers = false;
        if self.ignored < self.to_ignore && is_marked {
            answers = true;
        } else if self.period_end.is_none_or(|end| now > end) {
            let is_bad = self.lost || is_loss || delay > 4.0 * self.target;
            if self.period_end.is_some() && is_bad && self.achieved < self.largest * self.gate {
                self.window = self.achieved.max(self.packet);
                (self.to_ignore, self.ignored) = (self.in_flight, 0.0);
                self.lost = false;
                answers = true;
            }
            self.achieved = 0.0;
            self.period_end = Some(after(now, self.base_rtt + self.target));
        }
        if answers {
            (self.increase, self.received) = (0.0, 0.0);
        }
        answers
    }

    /// Room beneath the target.
    fn grow(&mut self, acked: f64, delay: f64) {
        if delay < NO_DELAY {
            self.prompt += acked;
            if self.prompt > self.window || self.grows_fast {
                self.window += acked * self.fast;
                self.grows_fast = true;
                return;
            }
        } else {
            self.prompt = 0.0;
        }
        self.grows_fast = false;
        self.increase += self.proportional * acked * (self.target - delay);
    }

    fn reduce(&mut self, now: Time) {
        (self.grows_fast, self.prompt) = (false, 0.0);
        if self.delay > self.target && now.since(self.reduced).seconds() > self.base_rtt {
            let left = 1.0 - GAMMA * (self.delay - self.target) / self.delay;
            self.window *= left.max(LEAST_LEFT);
            self.bound();
            self.reduced = now;
        }
    }

    fn take_over(&mut self, now: Time) {
        let since = now.since(self.taken_over).seconds();
        if self.received <= PACKETS * self.packet && since <= self.network_rtt {
            return;
        }
        self.window += self.increase / self.window;
        if since >= self.network_rtt {
            self.window += self.step;
            self.taken_over = now;
        }
        (self.increase, self.received) = (0.0, 0.0);
    }

    fn set(&self, window: &mut Window) {
        window.cwnd = self.window / self.packet;
    }
}

impl CongestionControl for Nscc {
    fn on_start(&mut self, window: &Window, _now: Time, _srtt: Span) {
        self.window = (window.cwnd * self.packet).min(self.largest);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let marked = std::mem::take(&mut self.marked);
        self.in_flight = f64::from(ack.in_flight) * self.packet;
        let Some(sample) = ack.sample.filter(|sample| sample.has_data) else { return };
        let acked = f64::from(sample.newly_acked) * self.packet;
        self.achieved += acked;
        self.received += acked;
        self.ignored += acked;
        self.marked = marked;
        let delay = match sample.rtt {
            Some(rtt) => self.take_sample(rtt.seconds()),
            None => self.delay,
        };
        self.marked = false;
        if !self.adapt_quickly(ack.now, false, marked, delay) {
            match (marked, delay >= self.target) {
                (false, true) => self.increase += self.fair * acked,
                (false, false) => self.grow(acked, delay),
                (true, true) => self.reduce(ack.now),
                (true, false) => {}
            }
            self.bound();
            self.take_over(ack.now);
            self.bound();
        }
        self.set(window);
    }

    fn on_lost(&mut self, window: &mut Window, lost: &Lost) {
        if self.timeout_at != Some(lost.now) {
            self.ignored += self.packet;
            self.average(self.network_rtt);
            self.lost = true;
        }
        if self.timeout_at == Some(lost.now) || !self.adapt_quickly(lost.now, true, true, 0.0) {
            self.window -= self.packet;
            self.bound();
        }
        self.in_flight = (self.in_flight - self.packet).max(0.0);
        self.set(window);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if let Signal::Rto { .. } = event.signal {
            self.timeout_at = Some(event.now);
        }
        window.cwnd = window.cwnd.min(self.window / self.packet);
    }

    fn on_ecn_counts(&mut self, _window: &mut Window, counts: &EcnCounts) {
        self.marked |= counts.marked > 0;
    }

    fn on_sent(&mut self, _now: Time, in_flight: u32) {
        self.in_flight = f64::from(in_flight) * self.packet;
    }

    fn on_spurious(&mut self, _window: &mut Window, _event: &Congestion, _before: &Window) {}

    fn on_recovery_end(&mut self, window: &mut Window, _now: Time) {
        self.set(window);
    }

    fn initial_window(&self) -> Option<f64> {
        Some(self.window / self.packet)
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn counts_marks(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(self.line_rate)
    }

    fn phase(&self) -> &'static str {
        if self.ignored < self.to_ignore {
            "adapting"
        } else if self.grows_fast {
            "fast-increase"
        } else {
            "avoidance"
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("delay_s", self.delay);
        out("target_s", self.target);
        out("largest", self.largest / self.packet);
        out("achieved", self.achieved / self.packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::RateSample;
    use crate::era::Era;

    /// 100 Gbit/s and 12 us, so that a = 1: C R = 150000 bytes, of packets of 1000 of which 900 are payload. T = 9 us.
    fn control(params: NsccParams) -> (Nscc, Window) {
        let env = CcEnv {
            mss: 900,
            wire_size: 1000,
            line_rate: BitRate(100_000_000_000),
            round_trip: Span::from_micros(12),
            era: Era::Rfc,
        };
        let nscc = Nscc::new(params, &env).unwrap();
        let window = Window { cwnd: nscc.initial_window().unwrap(), ssthresh: f64::INFINITY };
        (nscc, window)
    }

    /// Whether two values are the same but for a share of them.
    fn near(value: f64, expected: f64, share: f64) -> bool {
        (value - expected).abs() <= share * expected.abs().max(1e-9)
    }

    struct Flow {
        nscc: Nscc,
        window: Window,
        now: Time,
    }

    impl Flow {
        /// Begins with so many packets.
        fn new(packets: u32) -> Self {
            let params = NsccParams { initial_window: Some(packets), ..NsccParams::default() };
            let (nscc, window) = control(params);
            Self { nscc, window, now: Time::ZERO }
        }

        /// Some time later packets are acknowledged whose queueing took so many microseconds.
        fn ack(&mut self, after_us: f64, acked: u32, delay_us: f64, marked: bool) -> f64 {
            self.now = after(self.now, after_us * 1e-6);
            let marks = u32::from(marked);
            let counts = EcnCounts { acked, marked: marks, ..EcnCounts::at(self.now) };
            self.nscc.on_ecn_counts(&mut self.window, &counts);
            let sample = RateSample {
                has_data: true,
                newly_acked: acked,
                rtt: Some(Span::from_seconds((12.0 + delay_us) * 1e-6)),
                ..RateSample::default()
            };
            let ack = Ack { in_flight: 50, ..Ack::sampled(self.now, u64::from(acked), sample) };
            self.nscc.on_ack(&mut self.window, &ack);
            self.window.cwnd * 1000.0
        }

        fn nack(&mut self) -> f64 {
            self.nscc.on_lost(&mut self.window, &Lost::at(self.now, 0));
            self.window.cwnd * 1000.0
        }
    }

    #[test]
    fn it_begins_with_one_and_a_half_products() {
        let (nscc, window) = control(NsccParams::default());
        assert!(near(window.cwnd, 225.0, 1e-12) && near(nscc.target, 9e-6, 1e-12));
        assert!(near(nscc.step, 135.0, 1e-12) && near(nscc.fair, 4500.0, 1e-12));
        // 4 x 900 x (9 / 12) / 9 us
        assert!(near(nscc.proportional, 3e8, 1e-12), "{}", nscc.proportional);
    }

    /// Ten packets at once, so that the increase is taken over: 3e8 x 10000 x (9 - 3) us / 100000 = 180 bytes; late without
    /// a mark: 4500 x 10000 / 100180; with a step of 135 whenever 12 us are over.
    #[test]
    fn the_window_grows_by_the_distance_to_the_target_and_fairly_above_it() {
        let mut flow = Flow::new(100);
        assert!(near(flow.ack(1.0, 10, 3.0, false), 100_180.0, 1e-12));
        let second = 100_180.0 + 4500.0 * 10_000.0 / 100_180.0;
        assert!(near(flow.ack(1.0, 10, 9.5, false), second, 1e-12));
        // Nothing but the step: a mark without delay says that one path is bad.
        assert!(near(flow.ack(1.0, 1, 3.0, true), second, 1e-12));
        assert!(near(flow.ack(10.0, 1, 3.0, true), second + 135.0, 1e-12));
        // Eight packets are not more than eight.
        let before = second + 135.0;
        assert!(near(flow.ack(1.0, 6, 3.0, false), before, 1e-12));
        assert!(flow.ack(1.0, 3, 3.0, false) > before);
    }

    /// Within 1 us, once more than the window of 20 packets has arrived: a quarter of what arrives.
    #[test]
    fn it_grows_fast_where_nothing_waits() {
        let mut flow = Flow::new(20);
        let slow = flow.ack(1.0, 15, 0.5, false);
        let gain = 3e8 * 15_000.0 * 8.5e-6 / 20_000.0;
        assert!(near(slow, 20_000.0 + gain, 1e-12), "{slow}");
        let fast = flow.ack(1.0, 10, 0.5, false);
        assert!(near(fast, slow + 2500.0, 1e-12), "{fast}");
        assert!(near(flow.ack(1.0, 1, 0.9, false), fast + 250.0, 1e-12));
        assert!(flow.ack(1.0, 1, 1.5, false) - fast < 251.0);
    }

    /// 15 packets, one that waited 1.5 us, and 10 more are not more than the window of 20 in a row: 3e8 x 10000 x 8.5 us over
    /// the window, and no quarter.
    #[test]
    fn a_packet_that_waited_begins_the_count_of_those_that_did_not_anew() {
        let mut flow = Flow::new(20);
        flow.ack(1.0, 15, 0.5, false);
        let before = flow.ack(1.0, 1, 1.5, false);
        let gain = 3e8 * (10_000.0 * 8.5e-6 + 1000.0 * 7.5e-6) / before;
        let after = flow.ack(1.0, 10, 0.5, false);
        assert!(near(after, before + gain, 1e-9), "{before} {after}");
        // 20 more, 30 in a row.
        assert!(near(flow.ack(1.0, 20, 0.5, false), after + 5000.0, 1e-9));
    }

    /// The average reaches D after n marked samples of 36 us: 36 (1 - 0.9875^n); beyond 9 us (n = 23) a mark with delay reduces,
    /// once per 12 us.
    #[test]
    fn marks_and_delay_together_reduce_it() {
        let mut flow = Flow::new(200);
        let mut average = 0.0;
        for _ in 0..22 {
            average += 0.0125 * (36.0 - average);
            assert!(near(flow.ack(0.01, 1, 36.0, true), 200_000.0, 1e-12));
        }
        assert!(average < 9.0);
        flow.now = after(flow.now, 12e-6);
        average += 0.0125 * (36.0 - average);
        assert!(average > 9.0);
        let left = 200_000.0 * (1.0 - 0.8 * (average - 9.0) / average);
        // The step is due, too: 12 us are over.
        assert!(near(flow.ack(0.01, 1, 36.0, true), left + 135.0, 1e-9));
        assert!(near(flow.ack(1.0, 1, 36.0, true), left + 135.0, 1e-9));
    }

    /// Without a sample of more than a quarter of the round trip for what was late and not marked.
    #[test]
    fn delay_without_marks_does_not_raise_the_average() {
        let mut flow = Flow::new(200);
        for _ in 0..1000 {
            flow.ack(0.01, 1, 36.0, false);
        }
        assert!(near(flow.nscc.delay, 3e-6, 1e-4), "{}", flow.nscc.delay);
    }

    /// A period is 12 + 9 us. In the first 5 packets arrive and one is lost; then the window is what has arrived, 5 packets and
    /// the one that shows it, and as much as was in flight is ignored.
    #[test]
    fn where_little_arrives_the_window_is_what_arrived() {
        let mut flow = Flow::new(100);
        flow.ack(1.0, 1, 0.0, true);
        assert!(near(flow.nack(), 99_000.0, 1e-12));
        flow.ack(1.0, 5, 2.0, true);
        assert!(near(flow.ack(21.0, 1, 2.0, false), 6000.0, 1e-12));
        // 50 packets were in flight: 49 NACKs do nothing, nor do marks.
        for _ in 0..49 {
            assert!(near(flow.nack(), 6000.0, 1e-12));
        }
        assert!(near(flow.nack(), 5000.0, 1e-12));
        // More than an eighth of the largest window, 28 packets: no quick adaptation.
        let mut flow = Flow::new(100);
        flow.ack(1.0, 1, 0.0, true);
        flow.nack();
        flow.ack(1.0, 28, 2.0, true);
        assert!(flow.ack(21.0, 1, 2.0, true) > 98_000.0);
    }

    #[test]
    fn a_timeout_takes_what_is_lost_and_no_more() {
        let mut flow = Flow::new(100);
        let timeout = Congestion::at(flow.now, Signal::Rto { consecutive: 1 }, 50);
        flow.nscc.on_congestion(&mut flow.window, &timeout);
        assert!(near(flow.window.cwnd, 100.0, 1e-12));
        assert!(near(flow.nack(), 99_000.0, 1e-12));
        assert!(near(flow.nscc.delay, 0.0, 1e-12) && !flow.nscc.lost);
    }

    #[test]
    fn a_shorter_round_trip_lowers_the_largest_window() {
        let mut flow = Flow::new(200);
        // 6 us: 1.5 x 75000 bytes.
        assert!(near(flow.ack(1.0, 1, -6.0, false), 112_500.0, 1e-12));
    }
}
