//! BBR version 3: a model of the path's rate, round-trip time and safe volume in flight.
//!
//! What: paces at a multiple of the largest recent delivery rate and bounds what is in flight by a multiple of
//! rate times round-trip time; loss lowers two further bounds, one for the present and one until the next probe.
//!
//! **Source**: draft-ietf-ccwg-bbr-06, "Detailed Algorithm"; names in the code are the draft's. Compared line by line with the
//! pseudocode of -06, which the editors' copy of 3 August 2026 (4ce5e87) leaves as it is: the same but for the deviations below.
//!
//! **Rule** (bw: the smaller of `max_bw` and `bw_shortterm`; LT, ST: `inflight_longterm`, `inflight_shortterm`)
//! ```text
//! pacing rate = gain x bw x 0.99;   cwnd <= gain x bw x min_rtt + extra_acked, LT or 0.85 LT, ST; >= 4
//! Startup 2.77 | Drain 0.5 | DOWN 0.9 | CRUISE 1 | REFILL 1 | UP 1.25 | ProbeRTT 1, cwnd gain 0.5
//! Startup -> Drain   no growth of 25 % in 3 rounds, or a round of loss > 2 % in 6 ranges or more
//! Drain -> DOWN      in flight <= BDP, or 3 rounds
//! DOWN -> CRUISE     in flight <= BDP and <= 0.85 LT;   CRUISE -> REFILL  after 2 to 3 s or min(BDP, 63) rounds
//! REFILL -> UP       one round;   UP -> DOWN  no growth in 3 rounds, loss > 2 %: LT = max(flight, 0.7 BDP)
//! ProbeRTT           min_rtt not refreshed in 5 s: 200 ms and one round
//! loss, not probing: bw_shortterm = max(bw_latest, 0.7 bw_shortterm), ST alike
//! ```
//! Volumes are counted in segments and rates in segments per second.
//!
//! Deviations: no ECN response, as in the draft. The offload budget is three quanta over QUIC too, for which the draft has one. The share of a lost packet beyond the loss threshold is kept
//! within the packet. Where the draft gives text only (`CheckStartupHighLoss`), ranges of lost segments are
//! counted as they are declared lost. `full_bw_now` is set there too, as the draft's test cases have it. What a
//! spurious episode is to restore is saved once, when it begins, as the text ("Saving State Upon Loss Recovery") and
//! the test cases have it: the pseudocode's `NoteLoss` would save it again with the loss after the one that ends
//! `ProbeBW_UP`, as `StartProbeBW_DOWN` resets `is_loss_in_round`, and a further timeout of the same episode would.
//!
//! A timeout never raises the window to what is in flight and one more.
//!
//! Linux's `tcp_bbr.c` (branch v3 of github.com/google/bbr, `BBR_VERSION` 3) was compared, too, and differs so: Drain at 0.347, until
//! in flight is the BDP, however long; DOWN at 0.91; growth of the rate counts with each acknowledgement, not at the end of a
//! round only; a loss of more than 2 % counts with the acknowledgement, too, and in Startup by acknowledgements that
//! report losses, not by ranges; `extra_acked` of two periods of 5 rounds, at most 100 ms of bw; CRUISE begins with ST at
//! most LT; Startup grows up to twice the initial window; a quantum is the larger for a small round trip; a timeout sets
//! ST to the window before it and begins the search for a full pipe anew; a lost tail that a probe repaired counts as a
//! loss; ECN below 5 ms. It returns to no state after a loss that was none.
//!
//! Defaults by era: the same in all.

pub mod bbr2;
mod path;
mod probe_bw;
mod probe_rtt;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::{RecentMax, Rounds, first_rate};
use crate::cc::{
    Ack, CcEnv, Congestion, CongestionControl, Lost, RateSample, Signal, Window, pace,
};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};

/// `MinPipeCwnd` in segments.
const MIN_PIPE_CWND: f64 = 4.0;
/// Rounds without growth after which the pipe is full.
const FULL_BW_ROUNDS: u32 = 3;
/// Growth of the delivery rate in one round that counts.
const FULL_BW_GROWTH: f64 = 1.25;
/// Round trips in Drain at most.
const DRAIN_ROUNDS: u64 = 3;
/// `MaxBwFilterLen`, cycles.
const MAX_BW_FILTER_LEN: usize = 2;
/// `ExtraAckedFilterLen`, rounds.
const EXTRA_ACKED_FILTER_LEN: usize = 10;
/// Length and largest volume of a send quantum.
const QUANTUM_SECONDS: f64 = 1e-3;
const QUANTUM_BYTES: f64 = 65_536.0;

/// Parameters of BBR version 3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr3Params {
    /// `StartupPacingGain`: 4 ln 2 doubles the rate each round.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub startup_pacing_gain: f64,
    /// `DrainPacingGain`.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub drain_pacing_gain: f64,
    /// Pacing gain of `ProbeBW_UP`.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub probe_up_pacing_gain: f64,
    /// Pacing gain of `ProbeBW_DOWN`.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub probe_down_pacing_gain: f64,
    /// `DefaultCwndGain`.
    #[schemars(range(min = 1))]
    pub cwnd_gain: f64,
    /// cwnd gain of `ProbeBW_UP`.
    #[schemars(range(min = 1))]
    pub probe_up_cwnd_gain: f64,
    /// `ProbeRTTCwndGain`.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub probe_rtt_cwnd_gain: f64,
    /// `LossThresh`: share of losses in a round trip that a probe may cause.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub loss_thresh: f64,
    /// `Beta`: least share that a bound keeps in a round with losses.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta: f64,
    /// `Headroom`: share of `inflight_longterm` left to others.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub headroom: f64,
    /// `PacingMarginPercent` / 100: how far below bw it paces.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub pacing_margin: f64,
    /// `BBRStartupFullLossCnt`: ranges lost in a round that end Startup.
    #[schemars(range(min = 1))]
    pub startup_full_loss_count: u32,
    /// `MinRTTFilterLen`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub min_rtt_filter_len: Span,
    /// `ProbeRTTInterval`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub probe_rtt_interval: Span,
    /// `ProbeRTTDuration`.
    pub probe_rtt_duration: Span,
}

impl Default for Bbr3Params {
    fn default() -> Self {
        Self {
            startup_pacing_gain: 2.77,
            drain_pacing_gain: 0.5,
            probe_up_pacing_gain: 1.25,
            probe_down_pacing_gain: 0.9,
            cwnd_gain: 2.0,
            probe_up_cwnd_gain: 2.25,
            probe_rtt_cwnd_gain: 0.5,
            loss_thresh: 0.02,
            beta: 0.7,
            headroom: 0.15,
            pacing_margin: 0.01,
            startup_full_loss_count: 6,
            min_rtt_filter_len: Span::from_millis(10_000),
            probe_rtt_interval: Span::from_millis(5000),
            probe_rtt_duration: Span::from_millis(200),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Whose rules apply where the versions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

/// What the acknowledgements that arrive say of the bandwidth probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// BBR version 3. Volumes in segments, rates in segments per second.
pub struct Bbr3 {
    params: Bbr3Params,
    version: Version,
    mss: f64,
    wire_bits: f64,
    stream: Stream,
    state: State,
    // Of the connection.
    now: Time,
    cwnd: f64,
    inflight: f64,
    delivered: u64,
    initial_cwnd: f64,
    in_recovery: bool,
    /// And not what follows a timeout.
    in_fast_recovery: bool,
    holds_back: bool,
    rs: RateSample,
    // Control parameters.
    pacing_rate: f64,
    send_quantum: f64,
    prior_cwnd: f64,
    idle_restart: bool,
    // The model of the path.
    rounds: Rounds,
    max_bw_filter: RecentMax<MAX_BW_FILTER_LEN>,
    cycle_count: u64,
    max_bw: f64,
    bw_shortterm: f64,
    bw: f64,
    min_rtt: f64,
    min_rtt_stamp: Time,
    inflight_longterm: f64,
    inflight_shortterm: f64,
    extra_acked_filter: RecentMax<EXTRA_ACKED_FILTER_LEN>,
    extra_acked_interval_start: Time,
    extra_acked_delivered: f64,
    extra_acked: f64,
    // Congestion signals.
    bw_latest: f64,
    inflight_latest: f64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
    loss_ranges: u32,
    last_lost: Option<u32>,
    // Full pipe.
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,
    drain_start_round: u64,
    // ProbeBW.
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    bw_probe_wait: Span,
    cycle_stamp: Time,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    // ProbeRTT.
    probe_rtt_min_delay: f64,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    // Undo.
    undo_state: Option<State>,
    undo_bw_shortterm: f64,
    undo_inflight_shortterm: f64,
    undo_inflight_longterm: f64,
    // Version 2: recovery's first round, in which only what is delivered is replaced.
    packet_conservation: bool,
    entered_recovery: bool,
}

impl About<CcEnv> for Bbr3 {
    type Params = Bbr3Params;
    const INFO: Info = Info {
        name: "bbr3",
        title: "BBR version 3",
        source: "draft-ietf-ccwg-bbr-06",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["bbrv3"];

    fn new(params: Bbr3Params, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self::of_version(Version::Three, params, env))
    }
}

impl Bbr3 {
    fn of_version(version: Version, params: Bbr3Params, env: &CcEnv) -> Self {
        Self {
            version,
            mss: f64::from(env.mss),
            wire_bits: f64::from(env.wire_size) * 8.0,
            stream: Stream::new(0, Purpose::Control, 0),
            state: State::Startup,
            now: Time::ZERO,
            cwnd: 0.0,
            inflight: 0.0,
            delivered: 0,
            initial_cwnd: 0.0,
            in_recovery: false,
            in_fast_recovery: false,
            holds_back: false,
            rs: RateSample::default(),
            pacing_rate: 0.0,
            send_quantum: 2.0,
            prior_cwnd: 0.0,
            idle_restart: false,
            rounds: Rounds::default(),
            max_bw_filter: RecentMax::new(),
            cycle_count: 0,
            max_bw: 0.0,
            bw_shortterm: f64::INFINITY,
            bw: 0.0,
            min_rtt: f64::INFINITY,
            min_rtt_stamp: Time::ZERO,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            extra_acked_filter: RecentMax::new(),
            extra_acked_interval_start: Time::ZERO,
            extra_acked_delivered: 0.0,
            extra_acked: 0.0,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            loss_ranges: 0,
            last_lost: None,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            drain_start_round: 0,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Span::ZERO,
            cycle_stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            probe_rtt_min_delay: f64::INFINITY,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            undo_state: None,
            undo_bw_shortterm: 0.0,
            undo_inflight_shortterm: 0.0,
            undo_inflight_longterm: 0.0,
            packet_conservation: false,
            entered_recovery: false,
            params,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.params.startup_pacing_gain,
            State::Drain => self.params.drain_pacing_gain,
            State::Down => self.params.probe_down_pacing_gain,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => self.params.probe_up_pacing_gain,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => self.params.probe_up_cwnd_gain,
            State::ProbeRtt => self.params.probe_rtt_cwnd_gain,
            _ => self.params.cwnd_gain,
        }
    }

    fn is_in_a_probe_bw_state(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// Takes over what the sender may have changed.
    fn enter(&mut self, window: &Window, now: Time) {
        if self.initial_cwnd == 0.0 {
            self.start(window, now, Span::ZERO);
        }
        self.now = now;
        self.cwnd = window.cwnd;
    }

    /// `OnInit`.
    fn start(&mut self, window: &Window, now: Time, srtt: Span) {
        self.now = now;
        self.initial_cwnd = window.cwnd;
        self.min_rtt = if srtt > Span::ZERO { srtt.seconds() } else { f64::INFINITY };
        self.min_rtt_stamp = now;
        self.probe_rtt_min_delay = self.min_rtt;
        self.probe_rtt_min_stamp = now;
        self.extra_acked_interval_start = now;
        self.pacing_rate = first_rate(self.params.startup_pacing_gain, window.cwnd, srtt);
    }

    fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// The draft's text "Exiting Startup Based on Packet Loss".
    fn check_startup_high_loss(&mut self) {
        if self.state == State::Startup && !self.full_bw_reached && self.rs.in_recovery {
            let too_high = if self.rs.has_selective_acks {
                self.loss_round_start
                    && self.loss_ranges >= self.params.startup_full_loss_count
                    && self.is_inflight_too_high(&self.rs)
            } else {
                self.rs.newly_lost > 0
            };
            if too_high {
                self.undo_state = Some(State::Startup);
                self.full_bw_reached = true;
                self.full_bw_now = true;
                if self.version == Version::Three {
                    self.inflight_longterm = self.bdp().max(self.inflight_latest);
                }
            }
        }
        if self.loss_round_start {
            self.loss_ranges = 0;
        }
    }

    fn check_drain_done(&mut self) {
        let drained = self.inflight <= self.quantize(self.bdp_multiple(1.0));
        let late = self.version == Version::Three
            && self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (drained || late) {
            self.start_probe_bw_down();
        }
    }

    fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * self.bw * (1.0 - self.params.pacing_margin);
        if (self.full_bw_reached && rate > 0.0) || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn set_send_quantum(&mut self) {
        let quantum = self.pacing_rate * QUANTUM_SECONDS;
        self.send_quantum = quantum.min(QUANTUM_BYTES / self.mss).max(self.least_quantum());
    }

    fn set_cwnd(&mut self) {
        let max_inflight = self.quantize(self.bdp_multiple(self.cwnd_gain()) + self.extra_acked);
        let acked = f64::from(self.rs.newly_acked);
        if !self.modulates_for_recovery() {
            if self.full_bw_reached {
                self.cwnd = (self.cwnd + acked).min(max_inflight);
            } else if self.cwnd < max_inflight || (self.delivered as f64) < self.initial_cwnd {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    fn bound_cwnd_for_model(&mut self) {
        let longterm = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::ProbeRtt | State::Cruise => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = longterm.min(self.inflight_shortterm).max(MIN_PIPE_CWND);
        self.cwnd = self.cwnd.min(cap);
    }

    fn save_cwnd(&mut self) {
        self.prior_cwnd = if !self.in_recovery && self.state != State::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}

impl CongestionControl for Bbr3 {
    fn on_start(&mut self, window: &Window, now: Time, srtt: Span) {
        self.start(window, now, srtt);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(rs) = ack.sample else { return };
        self.enter(window, ack.now);
        self.rs = rs;
        self.inflight = f64::from(ack.in_flight);
        self.delivered = ack.delivered;
        self.in_recovery = rs.in_recovery;
        self.holds_back = false;
        self.begin_packet_conservation();
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.update_ack_aggregation();
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw_cycle_phase();
        self.update_min_rtt();
        self.check_probe_rtt();
        if self.loss_round_start {
            self.bw_latest = rs.delivery_rate;
            self.inflight_latest = rs.delivered as f64;
        }
        self.bw = self.max_bw.min(self.bw_shortterm);
        self.set_pacing_rate_with_gain(self.pacing_gain());
        self.set_send_quantum();
        self.set_cwnd();
        window.cwnd = self.cwnd;
    }

    fn on_lost(&mut self, window: &mut Window, lost: &Lost) {
        self.enter(window, lost.now);
        self.delivered = lost.delivered;
        self.handle_lost_packet(lost);
        window.cwnd = self.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.enter(window, event.now);
        match event.signal {
            Signal::Rto { consecutive } => {
                self.save_cwnd();
                if consecutive <= 1 {
                    self.save_state_upon_loss();
                }
                self.in_recovery = true;
                self.in_fast_recovery = false;
                self.packet_conservation = false;
                self.cwnd = self.cwnd.min(f64::from(event.pipe) + 1.0);
            }
            Signal::FastRetransmit { .. } => {
                self.save_cwnd();
                self.save_state_upon_loss();
                // One that follows another at once goes on with it.
                self.entered_recovery |= self.version == Version::Two && !self.in_fast_recovery;
                self.in_fast_recovery = true;
                self.in_recovery = true;
            }
            Signal::Spurious => {
                self.in_fast_recovery = false;
                self.handle_spurious_loss_detection();
            }
            Signal::EcnEcho => {}
        }
        window.cwnd = self.cwnd;
    }

    fn on_recovery_end(&mut self, window: &mut Window, now: Time) {
        self.enter(window, now);
        self.in_recovery = false;
        self.in_fast_recovery = false;
        self.packet_conservation = false;
        self.entered_recovery = false;
        self.restore_cwnd();
        window.cwnd = self.cwnd;
    }

    fn on_spurious(&mut self, window: &mut Window, event: &Congestion, _before: &Window) {
        self.on_congestion(window, event);
    }

    /// `HandleRestartFromIdle`.
    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.enter(window, now);
        self.idle_restart = true;
        self.extra_acked_interval_start = now;
        if self.is_in_a_probe_bw_state() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done();
        }
        window.cwnd = self.cwnd;
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
            State::Down => "probe-bw-down",
            State::Cruise => "probe-bw-cruise",
            State::Refill => "probe-bw-refill",
            State::Up => "probe-bw-up",
            State::ProbeRtt => "probe-rtt",
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let bits = self.mss * 8.0;
        let finite = [
            ("min_rtt_s", self.min_rtt),
            ("bw_shortterm_bps", self.bw_shortterm * bits),
            ("inflight_longterm", self.inflight_longterm),
            ("inflight_shortterm", self.inflight_shortterm),
            ("inflight_with_headroom", self.inflight_with_headroom()),
            ("probe_up_acked_per_inc", self.probe_up_acked_per_inc),
            ("probe_rtt_min_delay_s", self.probe_rtt_min_delay),
            ("undo_bw_shortterm_bps", self.undo_bw_shortterm * bits),
            ("undo_inflight_shortterm", self.undo_inflight_shortterm),
            ("undo_inflight_longterm", self.undo_inflight_longterm),
        ];
        out("max_bw_bps", self.max_bw * bits);
        out("bw_bps", self.bw * bits);
        out("pacing_rate_bps", self.pacing_rate * bits);
        out("pacing_gain", self.pacing_gain());
        out("cwnd_gain", self.cwnd_gain());
        out("inflight", self.inflight);
        out("extra_acked", self.extra_acked);
        out("delivery_rate_bps", self.rs.delivery_rate * bits);
        out("is_app_limited", f64::from(u8::from(self.rs.is_app_limited)));
        out("bdp_inflight", self.quantize(self.bdp_multiple_at(self.max_bw, 1.0)));
        out("round_count", self.rounds.count as f64);
        out("drain_start_round", self.drain_start_round as f64);
        out("cycle_count", self.cycle_count as f64);
        out("bw_probe_up_rounds", f64::from(self.bw_probe_up_rounds));
        out("full_bw_count", f64::from(self.full_bw_count));
        out("full_bw_now", f64::from(u8::from(self.full_bw_now)));
        out("full_bw_reached", f64::from(u8::from(self.full_bw_reached)));
        out("idle_restart", f64::from(u8::from(self.idle_restart)));
        out("bw_probe_wait_s", self.bw_probe_wait.seconds());
        // An infinite bound is none.
        for (name, value) in finite {
            if value.is_finite() {
                out(name, value);
            }
        }
    }
}
