//! BBR version 1: paces at the largest delivery rate of ten rounds, with two such products in flight.
//!
//! What: holds `BtlBw`, the largest delivery rate of the last ten round trips, and `RTprop`, the smallest round-trip
//! time of the last ten seconds; cycles its pacing gain to probe for more and to drain; does not answer losses.
//!
//! **Source**: Cardwell et al. 2016 (doi:10.1145/3009824); draft-cardwell-iccrg-bbr-congestion-control-00,
//! section 4, whose names the code has. Compared line by line with sections 4.1.1.3 to 4.3.4 of the draft and with `tcp_bbr.c` of
//! Linux 6.12.
//!
//! **Rule**
//! ```text
//! pacing rate = gain x BtlBw;   cwnd <= gain x BtlBw x RTprop + 3 quanta, >= 4
//! Startup 2/ln 2 -> Drain ln 2/2 when BtlBw grew less than 25 % in three rounds
//! Drain -> ProbeBW when in flight <= BDP; ProbeBW: 1.25, 0.75, 1, 1, 1, 1, 1, 1, each for RTprop, begun at random
//!   1.25 lasts until losses or 1.25 BDP are in flight; 0.75 ends when the BDP is in flight
//! ProbeRTT: RTprop not refreshed in 10 s: cwnd = 4 for 200 ms and one round
//! recovery: first round cwnd = in flight + delivered; then as before; at its end cwnd as it was; era
//!   linux: recoveries that follow each other at once are one
//! ```
//! Volumes are counted in segments and rates in segments per second.
//!
//! Deviations: after a loss that was none, the search for a full pipe begins anew in all eras, as in Linux; the draft restores
//! the window only.
//!
//! Defaults by era: the same in all. Era `linux` has what the kernel added: a margin of the pacing rate, rounded volumes and
//! the window for aggregated ACKs (`bbr/linux.rs`), and the search for policers (`bbr/policer.rs`).

mod linux;
mod policer;
#[cfg(test)]
mod tests;

use std::f64::consts::LN_2;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::{RecentMax, Rounds, first_rate};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, RateSample, Signal, Window, pace};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};

/// `BBRMinPipeCwnd` in segments.
const MIN_PIPE_CWND: f64 = 4.0;
/// `BtlBwFilterLen`, rounds.
const BTLBW_FILTER_LEN: usize = 10;
const FULL_BW_ROUNDS: u32 = 3;
const FULL_BW_GROWTH: f64 = 1.25;
/// Pacing gains of `ProbeBW`.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Below the first rate, in bit/s, a quantum is one segment; below the second, two; above, one millisecond.
const QUANTUM_RATES: [f64; 2] = [1.2e6, 24e6];
const QUANTUM_SECONDS: f64 = 1e-3;
const QUANTUM_BYTES: f64 = 65_536.0;

/// Parameters of BBR version 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BbrParams {
    /// `BBRHighGain`: 2/ln 2 doubles the rate each round.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub high_gain: f64,
    /// cwnd gain of `ProbeBW`.
    #[schemars(range(min = 1))]
    pub cwnd_gain: f64,
    /// `RTpropFilterLen`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rtprop_filter_len: Span,
    /// `ProbeRTTDuration`.
    pub probe_rtt_duration: Span,
}

impl Default for BbrParams {
    fn default() -> Self {
        Self {
            high_gain: 2.0 / LN_2,
            cwnd_gain: 2.0,
            rtprop_filter_len: Span::from_millis(10_000),
            probe_rtt_duration: Span::from_millis(200),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// What the sender repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Repair {
    #[default]
    None,
    Recovery,
    Timeout,
}

/// BBR version 1. Volumes in segments, rates in segments per second.
pub struct Bbr {
    params: BbrParams,
    mss: f64,
    wire_bits: f64,
    stream: Stream,
    state: State,
    now: Time,
    cwnd: f64,
    initial_cwnd: f64,
    inflight: f64,
    prior_inflight: f64,
    delivered: u64,
    holds_back: bool,
    rs: RateSample,
    pacing_gain: f64,
    cwnd_gain: f64,
    pacing_rate: f64,
    send_quantum: f64,
    rounds: Rounds,
    btlbw_filter: RecentMax<BTLBW_FILTER_LEN>,
    btlbw: f64,
    rtprop: f64,
    rtprop_stamp: Time,
    rtprop_expired: bool,
    filled_pipe: bool,
    full_bw: f64,
    full_bw_count: u32,
    cycle_index: usize,
    cycle_stamp: Time,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    prior_cwnd: f64,
    repair: Repair,
    /// Recovery's first round: only what is delivered is replaced.
    packet_conservation: bool,
    entered_recovery: bool,
    linux: Option<linux::Aggregation>,
    policer: policer::Policer,
}

impl About<CcEnv> for Bbr {
    type Params = BbrParams;
    const INFO: Info = Info {
        name: "bbr",
        title: "BBR version 1",
        source: "Cardwell et al. 2016, doi:10.1145/3009824; \
                 draft-cardwell-iccrg-bbr-congestion-control-00",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["bbr1", "bbrv1"];

    fn new(params: BbrParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let gain = params.high_gain;
        Ok(Self {
            params,
            mss: f64::from(env.mss),
            wire_bits: f64::from(env.wire_size) * 8.0,
            stream: Stream::new(0, Purpose::Control, 0),
            state: State::Startup,
            now: Time::ZERO,
            cwnd: 0.0,
            initial_cwnd: 0.0,
            inflight: 0.0,
            prior_inflight: 0.0,
            delivered: 0,
            holds_back: false,
            rs: RateSample::default(),
            pacing_gain: gain,
            cwnd_gain: gain,
            pacing_rate: 0.0,
            send_quantum: 1.0,
            rounds: Rounds::default(),
            btlbw_filter: RecentMax::new(),
            btlbw: 0.0,
            rtprop: f64::INFINITY,
            rtprop_stamp: Time::ZERO,
            rtprop_expired: false,
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            prior_cwnd: 0.0,
            repair: Repair::None,
            packet_conservation: false,
            entered_recovery: false,
            linux: (env.era == Era::Linux).then(linux::Aggregation::default),
            policer: policer::Policer::default(),
        })
    }
}

impl Bbr {
    fn start(&mut self, window: &Window, now: Time, srtt: Span) {
        self.now = now;
        self.initial_cwnd = window.cwnd;
        self.rtprop_stamp = now;
        if srtt > Span::ZERO {
            self.rtprop = srtt.seconds();
        }
        self.pacing_rate = first_rate(self.params.high_gain, window.cwnd, srtt);
    }

    fn enter(&mut self, window: &Window, now: Time) {
        if self.initial_cwnd == 0.0 {
            self.start(window, now, Span::ZERO);
        }
        self.now = now;
        self.cwnd = window.cwnd;
    }

    fn inflight_at(&self, gain: f64) -> f64 {
        if self.rtprop.is_infinite() {
            return self.initial_cwnd;
        }
        self.volume(gain * self.btlbw * self.rtprop)
    }

    fn volume(&self, product: f64) -> f64 {
        if self.linux.is_some() {
            let probes = self.state == State::ProbeBw && self.cycle_index == 0;
            return linux::quantise(product, self.send_quantum, probes);
        }
        product + 3.0 * self.send_quantum
    }

    /// The rate that is paced and that the window follows.
    fn bw(&self) -> f64 {
        self.policer.bw().unwrap_or(self.btlbw)
    }

    /// What the window aims at.
    fn target(&self) -> f64 {
        if let Some(aggregation) = &self.linux
            && self.filled_pipe
            && self.rtprop.is_finite()
        {
            let product = (self.cwnd_gain * self.bw() * self.rtprop).ceil();
            return self.volume(product + aggregation.extra(self.bw()));
        }
        self.inflight_at(self.cwnd_gain)
    }

    fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.pacing_gain = self.params.high_gain;
        self.cwnd_gain = self.params.high_gain;
    }

    fn enter_probe_bw(&mut self) {
        self.state = State::ProbeBw;
        self.cwnd_gain = self.params.cwnd_gain;
        // Any phase but the one that drains.
        self.cycle_index = CYCLE.len() - 1 - self.stream.below(CYCLE.len() as u64 - 1) as usize;
        self.advance_cycle_phase();
    }

    fn advance_cycle_phase(&mut self) {
        self.cycle_stamp = self.now;
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.set_cycle_gain();
    }

    fn set_cycle_gain(&mut self) {
        let is_policed = self.policer.bw().is_some();
        self.pacing_gain = if is_policed { 1.0 } else { CYCLE[self.cycle_index] };
    }

    fn update_btlbw(&mut self) {
        self.rounds.started = false;
        if !self.rs.has_data {
            return;
        }
        let rate = self.rs.delivery_rate;
        if self.linux.is_some() && rate <= 0.0 {
            return; // no sample, no round
        }
        self.rounds.on_delivered(self.rs.prior_delivered, self.delivered);
        if self.rounds.started {
            self.packet_conservation &= self.entered_recovery;
        }
        if self.linux.is_some() {
            self.look_for_policer();
        }
        if rate > 0.0 && (rate >= self.btlbw || !self.rs.is_app_limited) {
            self.btlbw_filter.add(self.rounds.count, rate);
        }
        let largest = self.btlbw_filter.largest(self.rounds.count, BTLBW_FILTER_LEN as u64);
        // Ten rounds of samples that the application limited leave the estimate as it was.
        if largest > 0.0 {
            self.btlbw = largest;
        }
    }

    fn look_for_policer(&mut self) {
        let probes = self.state == State::ProbeBw;
        let bits = linux::MARGIN * self.mss * 8.0;
        let round = self.rounds.started;
        let change = self.policer.on_ack(self.now, self.delivered, &self.rs, round, probes, bits);
        if change == policer::Change::Released {
            self.enter_probe_bw();
        } else if probes {
            self.set_cycle_gain();
        }
    }

    fn check_cycle_phase(&mut self) {
        if self.state != State::ProbeBw {
            return;
        }
        let full_length = self.now.since(self.cycle_stamp).seconds() > self.rtprop;
        let next = if self.pacing_gain > 1.0 {
            full_length
                && (self.rs.newly_lost > 0
                    || self.prior_inflight >= self.inflight_at(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            full_length || self.prior_inflight <= self.inflight_at(1.0)
        } else {
            full_length
        };
        if next {
            self.advance_cycle_phase();
        }
    }

    fn check_full_pipe(&mut self) {
        if self.filled_pipe || !self.rounds.started || self.rs.is_app_limited {
            return;
        }
        if self.btlbw >= self.full_bw * FULL_BW_GROWTH {
            self.full_bw = self.btlbw;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= FULL_BW_ROUNDS;
    }

    fn check_drain(&mut self) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
            self.pacing_gain = 1.0 / self.params.high_gain;
            self.cwnd_gain = self.params.high_gain;
        }
        if self.state == State::Drain && self.inflight <= self.inflight_at(1.0) {
            self.enter_probe_bw();
        }
    }

    fn update_rtprop(&mut self) {
        self.rtprop_expired = self.now > self.rtprop_stamp + self.params.rtprop_filter_len;
        if let Some(rtt) = self.rs.rtt.map(Span::seconds)
            && (rtt < self.rtprop
                || (rtt <= self.rtprop && self.linux.is_none())
                || self.rtprop_expired)
        {
            self.rtprop = rtt;
            self.rtprop_stamp = self.now;
        }
    }

    fn check_probe_rtt(&mut self) {
        if self.state != State::ProbeRtt && self.rtprop_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt();
        }
        self.idle_restart = false;
    }

    fn handle_probe_rtt(&mut self) {
        self.holds_back = true;
        match self.probe_rtt_done_stamp {
            None if self.inflight <= MIN_PIPE_CWND => {
                self.probe_rtt_done_stamp = Some(self.now + self.params.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.rounds.restart(self.delivered);
            }
            None => {}
            Some(end) => {
                self.probe_rtt_round_done |= self.rounds.started;
                if self.probe_rtt_round_done && self.now > end {
                    self.rtprop_stamp = self.now;
                    self.restore_cwnd();
                    if self.filled_pipe {
                        self.enter_probe_bw();
                    } else {
                        self.enter_startup();
                    }
                }
            }
        }
    }

    fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let margin = if self.linux.is_some() { linux::MARGIN } else { 1.0 };
        let rate = margin * gain * self.bw();
        if (self.filled_pipe && rate > 0.0) || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn set_send_quantum(&mut self) {
        let bps = self.pacing_rate * self.mss * 8.0;
        self.send_quantum = if bps < QUANTUM_RATES[0] {
            1.0
        } else if bps < QUANTUM_RATES[1] {
            2.0
        } else {
            (self.pacing_rate * QUANTUM_SECONDS).min(QUANTUM_BYTES / self.mss).max(1.0)
        };
    }

    fn set_cwnd(&mut self) {
        if self.linux.is_some() && self.rs.newly_acked == 0 {
            return;
        }
        let target = self.target();
        let acked = f64::from(self.rs.newly_acked);
        self.cwnd = (self.cwnd - f64::from(self.rs.newly_lost)).max(1.0);
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(self.inflight + acked);
        } else {
            if self.filled_pipe {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || (self.delivered as f64) < self.initial_cwnd {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND);
        }
    }

    fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.repair == Repair::None && self.state != State::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}

impl CongestionControl for Bbr {
    fn on_start(&mut self, window: &Window, now: Time, srtt: Span) {
        self.start(window, now, srtt);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(rs) = ack.sample else { return };
        self.enter(window, ack.now);
        self.rs = rs;
        self.inflight = f64::from(ack.in_flight);
        self.prior_inflight = self.inflight + f64::from(rs.newly_acked + rs.newly_lost);
        self.delivered = ack.delivered;
        self.holds_back = false;
        if std::mem::take(&mut self.entered_recovery) {
            // Fast recovery began with this acknowledgement; its first round ends when what leaves now arrives.
            self.rounds.restart(ack.delivered);
            self.cwnd = self.inflight + f64::from(rs.newly_acked.max(1));
        }
        self.update_btlbw();
        if let Some(aggregation) = &mut self.linux {
            let acked = f64::from(rs.newly_acked);
            let bw = self.policer.bw().unwrap_or(self.btlbw);
            aggregation.on_ack(ack.now, self.rounds.started, acked, bw, window.cwnd);
        }
        self.check_cycle_phase();
        self.check_full_pipe();
        self.check_drain();
        self.update_rtprop();
        self.check_probe_rtt();
        self.set_pacing_rate_with_gain(self.pacing_gain);
        self.set_send_quantum();
        self.set_cwnd();
        window.cwnd = self.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.enter(window, event.now);
        match event.signal {
            Signal::Rto { .. } => {
                self.save_cwnd();
                self.repair = Repair::Timeout;
                self.packet_conservation = false;
                self.entered_recovery = false;
                self.cwnd = 1.0;
                if self.linux.is_some() {
                    // @src Linux 6.12, tcp_bbr.c: `bbr_set_state`.
                    self.full_bw = 0.0;
                    self.rounds.started = true;
                    self.rs.newly_lost = 1;
                    self.look_for_policer();
                }
            }
            Signal::FastRetransmit { .. } => {
                self.save_cwnd();
                // One that follows another at once goes on with it.
                if self.repair != Repair::Recovery {
                    self.packet_conservation = true;
                    self.entered_recovery = true;
                }
                self.repair = Repair::Recovery;
            }
            Signal::Spurious | Signal::EcnEcho => {}
        }
        window.cwnd = self.cwnd;
    }

    fn on_recovery_end(&mut self, window: &mut Window, now: Time) {
        self.enter(window, now);
        self.repair = Repair::None;
        self.packet_conservation = false;
        self.entered_recovery = false;
        self.restore_cwnd();
        window.cwnd = self.cwnd;
    }

    fn on_spurious(&mut self, window: &mut Window, event: &Congestion, _before: &Window) {
        self.on_recovery_end(window, event.now);
        // The plateau may have been that of the recovery.
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.policer.reset();
    }

    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.enter(window, now);
        self.idle_restart = true;
        if let Some(aggregation) = &mut self.linux {
            aggregation.restart(now);
        }
        if self.state == State::ProbeBw {
            self.set_pacing_rate_with_gain(1.0);
        }
    }

    fn take_stream(&mut self, stream: Stream) {
        self.stream = stream;
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        pace(self.pacing_rate, self.wire_bits)
    }

    fn send_quantum(&self) -> u32 {
        self.send_quantum as u32
    }

    fn phase(&self) -> &'static str {
        match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBw => "probe-bw",
            State::ProbeRtt => "probe-rtt",
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let bits = self.mss * 8.0;
        out("bw_bps", self.btlbw * bits);
        out("pacing_rate_bps", self.pacing_rate * bits);
        out("pacing_gain", self.pacing_gain);
        out("cwnd_gain", self.cwnd_gain);
        out("inflight", self.inflight);
        out("delivery_rate_bps", self.rs.delivery_rate * bits);
        out("is_app_limited", f64::from(u8::from(self.rs.is_app_limited)));
        out("bdp_inflight", self.inflight_at(1.0));
        out("round_count", self.rounds.count as f64);
        out("full_bw_count", f64::from(self.full_bw_count));
        out("full_bw_reached", f64::from(u8::from(self.filled_pipe)));
        out("idle_restart", f64::from(u8::from(self.idle_restart)));
        if self.rtprop.is_finite() {
            out("min_rtt_s", self.rtprop);
        }
    }
}
