//! C4: paces at a nominal rate, allows for the path's jitter, and is the more sensitive the faster it is.
//!
//! Made for real-time media: it holds the largest delivery rate, lowers it when losses or marks show congestion, probes for
//! more now and then, and pushes on as long as the rate rises.
//!
//! **Source**: draft-huitema-ccwg-c4-spec-04 (7 July 2026), by the implementation that its authors aligned with it: picoquic,
//! `c4.c` of the same day, read and not copied. Compared line by line with both; where they differ, below, it is picoquic's.
//!
//! **Rule** (an era is a round trip by packets; R = nominal rate, M = nominal max RTT, s = sensitivity in [0, 1])
//! ```text
//! paced at alpha R, cwnd = alpha R (M + min(15 ms, M / 4));  alpha: Initial 2, Recovery 15/16, Cruising 1, Pushing 1.227
//! at once after a pause: 4/1024 s of the pacing rate, 2 segments to 64 KiB
//! R rises to each ACK's rate, unless congested in Recovery;  M: of eras sent at alpha <= 1, as in c4-02, >= 1 ms
//! Initial: cwnd + acked / 8^n, paced at 1,048,576 bit/s or more; n eras without increase; n = 3, or a signal -> Recovery
//! Recovery: one era;  R risen: level + 1, else level 1;  two in a row congested: R <= the largest rate since
//!   level > 3 -> Initial (alpha 2), > 1 -> Pushing, else Cruising: 2 eras -> Probing: one era at 17/16 -> Recovery
//! Pushing: goes on while R rises by more than 3/4 of the gain, else one era -> Recovery
//! delay: RTT > M + min(25 ms, f M) after an era at alpha > 1, a signal in Recovery: alpha 7/8, and the era begins anew
//! loss rate > 0.02 + (1 - s) / 2:  in Cruising R, M <- (1 - (1 + s) / 8) of it;  -> Recovery, without if it was a push
//! resuming: saved_cwnd, paced over the first RTT, for two eras of full flights -> Recovery
//! ```
//! Deviations: CE marks, of which picoquic has an average as DCTCP's, are a signal that takes a quarter of R, once a window,
//! and after which a push that brings nothing is followed by probes at 33/32. The window of Initial does not grow by what was
//! sent while the application limited, and the peak of short trains of packets does not raise it. The time in which segments
//! were delivered begins with the last delivery before the packet left. A retransmission timeout changes nothing but that the
//! window is 2 until the next ACK.
//!
//! The draft's text differs from picoquic and this so: s is 0.92 at 1 MB/s, not 963/1024; a push is 5/4, and after three round trips
//! of pushing Initial begins again; the window of Initial always grows by what is acknowledged; a loss takes a quarter of R and
//! nothing of M, and nothing changes R outside Cruising; Recovery is one era at 15/16; delay counts after eras at any alpha;
//! Initial is tried again for jitter at any M and R; two congested recoveries set R to the largest rate since, also
//! upwards. The delay's f is the draft's; picoquic has 196/1024 for 3/16.
//!
//! **Compared** with picoquic of August 2026 in its simulator, on paths of 40 ms, picoquic first: 10 Mbit/s with 1 and 5 %
//! random loss 8.5 and 8.6, 6.9 and 7.2 Mbit/s on the wire; four flows on 20 Mbit/s lose 9.7 and 9.1 % at 1 BDP; alone 0.7 ms
//! of queue in both at 1 BDP, 0.7 and 11.4 ms at 4. picoquic counts deliveries without the 16 bytes of the AEAD tag, so paces
//! 1.1 % below the rate it measures, and ages its loss rate twice at a loss; here both count alike, and once, as in the draft.
//! "What differed" in the documentation has more.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::Rounds;
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Lost, RateSample, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Span, Time};

const LEAST: f64 = 2.0;
/// `MAX_JITTER` in seconds.
const MAX_JITTER: f64 = 0.25;
/// Smallest nominal max RTT in seconds; below, Cruising is a little faster.
const LEAST_MAX_RTT: f64 = 0.001;
const SHORT_CRUISE: f64 = 1.0 + 48.0 / 1024.0;
const INITIAL_ALPHA: f64 = 2.0;
const RECOVERY_ALPHA: f64 = 15.0 / 16.0;
const SECOND_RECOVERY_ALPHA: f64 = 7.0 / 8.0;
const PUSH_ALPHA: f64 = 1256.0 / 1024.0;
/// Gains of probes by level.
const PROBES: [f64; 4] = [33.0 / 32.0, LOW_PUSH, 1.5, 3.0];
/// Above this gain the rate shows whether a push succeeded; at most this, that it rose at all.
const LOW_PUSH: f64 = 17.0 / 16.0;
const DEFAULT_LEVEL: usize = 1;
/// Part of the rate that delay and marks take at most, and losses at the highest sensitivity.
const BETA: f64 = 0.25;
/// Largest delay threshold in seconds.
const MOST_DELAY: f64 = 0.025;
/// Time that the window allows beyond the nominal max RTT in seconds, at most a quarter of that.
const MARGIN: f64 = 0.015;
/// Acknowledgements and losses before a loss may end Initial.
const FIRST_EVENTS: u64 = 20;
/// Eras of Resuming.
const RESUMING_ERAS: u32 = 2;
/// Least pacing rate in Initial in bit/s.
const INITIAL_PACING: f64 = 1_048_576.0;
const QUANTUM_BYTES: f64 = 65_536.0;
/// Length in seconds of what may leave at once after a pause.
const QUANTUM: f64 = 4.0 / 1024.0;
/// Data rates in B/s and the sensitivity at each.
const SENSITIVITY: [(f64, f64); 3] = [(50e3, 0.0), (1e6, 963.0 / 1024.0), (10e6, 1.0)];

/// The sensitivity at a data rate in B/s, linear between the points and 1 above them.
pub(super) fn interpolate(points: [(f64, f64); 3], rate: f64) -> f64 {
    let mut before = (0.0, 0.0);
    for point in points {
        if rate <= point.0 {
            return before.1 + (point.1 - before.1) * (rate - before.0) / (point.0 - before.0);
        }
        before = point;
    }
    1.0
}

/// The delay beyond the nominal largest round trip that is a sign of congestion.
pub(super) fn delay_threshold(sensitivity: f64, nominal_max_rtt: f64) -> f64 {
    let fraction = 1.0 / 16.0 + (1.0 - sensitivity) * 3.0 / 16.0;
    (fraction * nominal_max_rtt).min(MOST_DELAY)
}

/// Follows the smallest and largest round trip of an era: down and up at once, back by an eighth.
pub(super) fn follow_era((least, most): (f64, f64), running_min: &mut f64, nominal_max: &mut f64) {
    *running_min = if least < *running_min { least } else { (7.0 * *running_min + least) / 8.0 };
    let largest = most.min(*running_min + MAX_JITTER);
    *nominal_max =
        if largest > *nominal_max { largest } else { (7.0 * *nominal_max + largest) / 8.0 };
}

/// Parameters of C4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct C4Params {
    /// Eras of Cruising before a probe.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub cruising_eras: u32,
    /// Eras without increase that end Initial.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub initial_eras: u32,
    /// Window of an earlier connection, which is tried from the first acknowledgement on; left out: none.
    #[schemars(range(min = 4), extend("x-unit" = "segments"))]
    pub saved_cwnd: Option<f64>,
}

impl Default for C4Params {
    fn default() -> Self {
        Self { cruising_eras: 2, initial_eras: 3, saved_cwnd: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Resuming,
    Recovery,
    Cruising,
    Probing,
    Pushing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signs {
    Delay,
    Loss,
    Marks,
}

/// How the rate answered the last push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    None,
    Slow,
    Fast,
}

/// C4. Rates in segments per second, times in seconds.
pub struct C4 {
    params: C4Params,
    mss: f64,
    wire_bits: f64,
    state: State,
    rounds: Rounds,
    nominal_rate: f64,
    nominal_max_rtt: f64,
    running_min_rtt: f64,
    era_min_rtt: f64,
    era_max_rtt: f64,
    /// When the era began, and the last acknowledgement came.
    era_began: Time,
    now: Time,
    /// Segments delivered in total.
    delivered: u64,
    alpha: f64,
    alpha_previous: f64,
    /// The window of Initial.
    initial_cwnd: f64,
    /// Acknowledgements and losses in Initial.
    events: u64,
    eras_without_increase: u32,
    eras_resuming: u32,
    cruises_left: u32,
    level: usize,
    /// Nominal rate before the last push, and its gain.
    rate_before: f64,
    push_alpha: f64,
    /// The network and not the application limited deliveries since then.
    was_not_limited: bool,
    congested: bool,
    marked_after_push: bool,
    /// Recoveries in a row that were congested, and the largest rate since the last.
    congestions: u32,
    recent_rate: f64,
    delay_excess: f64,
    restarted_for_jitter: bool,
    loss_rate: f64,
    /// Segments declared lost since the last acknowledgement.
    pending_losses: u32,
    /// The timer declared losses, which say nothing.
    timed_out: bool,
    /// Smoothed round trip of the path.
    srtt: f64,
}

impl About<CcEnv> for C4 {
    type Params = C4Params;
    const INFO: Info = Info {
        name: "c4",
        title: "C4",
        source: "draft-huitema-ccwg-c4-spec-04, as picoquic's c4.c of July 2026 has it",
        status: Status::Variant,
    };

    fn new(params: C4Params, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            mss: f64::from(env.mss),
            wire_bits: f64::from(env.wire_size) * 8.0,
            state: State::Initial,
            rounds: Rounds::default(),
            nominal_rate: 0.0,
            nominal_max_rtt: 0.0,
            running_min_rtt: f64::INFINITY,
            era_min_rtt: f64::INFINITY,
            era_max_rtt: 0.0,
            era_began: Time::ZERO,
            now: Time::ZERO,
            delivered: 0,
            alpha: INITIAL_ALPHA,
            alpha_previous: INITIAL_ALPHA,
            initial_cwnd: 0.0,
            events: 0,
            eras_without_increase: 0,
            eras_resuming: 0,
            cruises_left: 0,
            level: DEFAULT_LEVEL,
            rate_before: 0.0,
            push_alpha: INITIAL_ALPHA,
            was_not_limited: false,
            congested: false,
            marked_after_push: false,
            congestions: 0,
            recent_rate: 0.0,
            delay_excess: 0.0,
            restarted_for_jitter: false,
            loss_rate: 0.0,
            pending_losses: 0,
            timed_out: false,
            srtt: 0.0,
        })
    }
}

impl C4 {
    fn sensitivity(&self) -> f64 {
        interpolate(SENSITIVITY, self.nominal_rate * self.mss)
    }

    fn delay_threshold(&self) -> f64 {
        delay_threshold(self.sensitivity(), self.nominal_max_rtt)
    }

    fn growth(&self) -> Growth {
        if self.push_alpha <= LOW_PUSH {
            let has_risen = self.nominal_rate > self.rate_before && !self.congested;
            return if has_risen { Growth::Fast } else { Growth::None };
        }
        let target = |share: f64| self.rate_before * (1.0 + share * (self.push_alpha - 1.0));
        if self.nominal_rate > target(0.75) {
            Growth::Fast
        } else if self.nominal_rate >= target(0.25) {
            Growth::Slow
        } else {
            Growth::None
        }
    }

    fn reset_growth(&mut self) {
        (self.congested, self.was_not_limited) = (false, false);
        self.rate_before = self.nominal_rate;
        self.push_alpha = self.alpha;
    }

    fn begin_era(&mut self) {
        self.rounds.restart(self.delivered);
        self.era_began = self.now;
        (self.era_min_rtt, self.era_max_rtt) = (f64::INFINITY, 0.0);
        self.alpha_previous = self.alpha;
    }

    fn enter_initial(&mut self, cwnd: f64) {
        self.state = State::Initial;
        self.initial_cwnd = cwnd;
        (self.level, self.alpha) = (DEFAULT_LEVEL, INITIAL_ALPHA);
        (self.events, self.eras_without_increase) = (0, 0);
        self.begin_era();
        self.reset_growth();
    }

    fn leave_initial(&mut self) {
        if self.nominal_rate <= 0.0 {
            return;
        }
        self.nominal_max_rtt = (self.initial_cwnd / 2.0 / self.nominal_rate).max(LEAST_MAX_RTT);
        (self.eras_without_increase, self.level) = (0, DEFAULT_LEVEL);
        self.enter_recovery(None);
    }

    fn enter_resuming(&mut self) {
        self.nominal_max_rtt = self.nominal_max_rtt.max(self.srtt);
        (self.state, self.eras_resuming) = (State::Resuming, 0);
        self.alpha = PROBES[3];
        self.reset_growth();
        self.begin_era();
    }

    fn enter_recovery(&mut self, signs: Option<Signs>) {
        if self.state == State::Initial {
            self.reset_growth();
        }
        if self.state != State::Recovery {
            self.marked_after_push = signs == Some(Signs::Marks);
            self.state = State::Recovery;
            self.begin_era();
            self.alpha = RECOVERY_ALPHA;
        }
    }

    fn leave_recovery(&mut self, cwnd: f64) {
        if self.growth() == Growth::None {
            if self.was_not_limited {
                self.level = if self.marked_after_push { 0 } else { DEFAULT_LEVEL };
            }
            self.congestions = if self.congested { self.congestions + 1 } else { 0 };
            if self.congestions >= 2 && self.recent_rate > 0.0 {
                self.nominal_rate = self.nominal_rate.min(self.recent_rate);
            }
        } else {
            if !self.marked_after_push && self.eras_resuming == 0 {
                self.level += 1;
            }
            self.congestions = 0;
        }
        (self.eras_resuming, self.recent_rate) = (0, 0.0);
        self.reset_growth();
        (self.delay_excess, self.loss_rate) = (0.0, 0.0);
        if self.level >= PROBES.len() {
            self.enter_initial(cwnd);
        } else if self.level > DEFAULT_LEVEL {
            self.alpha = PUSH_ALPHA;
            self.state = State::Pushing;
            self.reset_growth();
            self.begin_era();
        } else {
            self.begin_era();
            if self.cruises_left == 0 {
                self.cruises_left = if self.level == 0 { 1 } else { self.params.cruising_eras };
            }
            self.alpha = if self.srtt < LEAST_MAX_RTT { SHORT_CRUISE } else { 1.0 };
            self.state = State::Cruising;
        }
    }

    /// Updates the round trips by those of an era that was sent at the nominal rate or less.
    fn update_rtts(&mut self) {
        if self.era_max_rtt == 0.0 {
            return;
        }
        if self.alpha_previous <= 1.0 {
            let era = (self.era_min_rtt, self.era_max_rtt);
            follow_era(era, &mut self.running_min_rtt, &mut self.nominal_max_rtt);
        }
        self.nominal_max_rtt = self.nominal_max_rtt.max(LEAST_MAX_RTT);
    }

    /// Whether a first Initial that jitter or others cut short is to be tried again.
    fn restarts_for_jitter(&self) -> bool {
        !self.restarted_for_jitter
            && self.nominal_max_rtt > 0.05
            && self.nominal_rate * self.mss < 1e6
            && 5.0 * self.running_min_rtt < 2.0 * self.nominal_max_rtt
    }

    fn end_era(&mut self, limited: bool, cwnd: f64) {
        if self.state == State::Initial {
            if self.growth() != Growth::None {
                self.eras_without_increase = 0;
            } else if self.was_not_limited && self.nominal_rate > 0.0 {
                self.eras_without_increase += 1;
            }
            self.begin_era();
            if self.eras_without_increase >= self.params.initial_eras {
                self.leave_initial();
            } else {
                self.reset_growth();
            }
            return;
        }
        self.update_rtts();
        if self.restarts_for_jitter() {
            self.restarted_for_jitter = true;
            return self.enter_initial(cwnd);
        }
        match self.state {
            State::Initial => {}
            State::Recovery => self.leave_recovery(cwnd),
            State::Cruising => {
                self.cruises_left = self.cruises_left.saturating_sub(1);
                self.begin_era();
                if self.cruises_left == 0 && !limited {
                    self.alpha = PROBES[self.level];
                    self.push_alpha = self.alpha;
                    self.begin_era();
                    self.state = State::Probing;
                }
            }
            State::Pushing if self.growth() == Growth::Fast => {
                self.reset_growth();
                self.begin_era();
            }
            State::Probing | State::Pushing => self.enter_recovery(None),
            State::Resuming => {
                self.eras_resuming += 1;
                if self.eras_resuming >= RESUMING_ERAS {
                    self.enter_recovery(None);
                } else {
                    self.begin_era();
                }
            }
        }
    }

    fn measure(&mut self, rs: &RateSample) {
        let Some(rtt) = rs.rtt.map(Span::seconds) else { return };
        self.era_min_rtt = self.era_min_rtt.min(rtt);
        self.era_max_rtt = self.era_max_rtt.max(rtt);
        self.running_min_rtt = self.running_min_rtt.min(rtt);
        if self.nominal_max_rtt == 0.0 {
            self.nominal_max_rtt = rtt.max(LEAST_MAX_RTT);
            self.delay_excess = 0.0;
        } else {
            let most = self.nominal_max_rtt + self.delay_threshold();
            self.delay_excess = (rtt - most).max(0.0);
        }
    }

    fn raise_rate(&mut self, rs: &RateSample) {
        let Some(rtt) = rs.rtt.map(Span::seconds) else { return };
        let elapsed = rtt.max(rs.send_elapsed.seconds()).max(rs.ack_elapsed.seconds());
        if !rs.has_data || elapsed <= 0.0 {
            return;
        }
        let rate = rs.delivered as f64 / elapsed;
        self.recent_rate = self.recent_rate.max(rate);
        let holds_rate = self.state == State::Recovery && self.congested;
        if rate > self.nominal_rate && !holds_rate {
            self.was_not_limited = true;
            self.nominal_rate = rate;
        } else if rs.delivered as f64 > self.running_min_rtt * self.nominal_rate {
            self.was_not_limited = true;
        }
    }

    /// Answers signs of congestion.
    fn answer(&mut self, signs: Signs) {
        let beta = match signs {
            Signs::Loss => BETA * (1.0 + self.sensitivity()) / 2.0,
            Signs::Marks => BETA,
            Signs::Delay => (self.delay_excess / self.delay_threshold()).min(BETA),
        };
        self.congested = true;
        if signs != Signs::Delay {
            self.delay_excess = 0.0;
        }
        if self.state == State::Recovery {
            if self.alpha == RECOVERY_ALPHA {
                self.alpha = SECOND_RECOVERY_ALPHA;
                self.rounds.restart(self.delivered);
                self.era_began = self.now;
            }
            self.marked_after_push |= signs == Signs::Marks;
            return;
        }
        if !matches!(self.state, State::Probing | State::Pushing) {
            self.nominal_rate *= 1.0 - beta;
            if signs == Signs::Loss {
                self.nominal_max_rtt = (self.nominal_max_rtt * (1.0 - beta)).max(LEAST_MAX_RTT);
            }
        }
        self.enter_recovery(Some(signs));
    }

    /// Whether delay, or marks, end Initial.
    fn has_stalled(&self) -> bool {
        self.delay_excess > 0.0
            && self.eras_without_increase > 1
            && self.rate_before >= self.nominal_rate
    }

    fn detect_delay(&mut self) {
        if self.state == State::Initial {
            if self.has_stalled() {
                self.leave_initial();
            }
        } else if self.delay_excess > 0.0 && self.alpha_previous > 1.0 {
            self.answer(Signs::Delay);
        }
    }

    fn detect_losses(&mut self, newly_acked: u32) {
        self.loss_rate *= (15.0_f64 / 16.0).powf(f64::from(newly_acked));
        let lost = std::mem::take(&mut self.pending_losses);
        if std::mem::take(&mut self.timed_out) {
            return;
        }
        for _ in 0..lost {
            self.loss_rate = (1.0 + 15.0 * self.loss_rate) / 16.0;
            if self.loss_rate <= 0.02 + 0.5 * (1.0 - self.sensitivity()) {
                continue;
            }
            if self.state == State::Initial {
                self.events += 1;
                if self.events > FIRST_EVENTS {
                    self.leave_initial();
                }
            } else {
                self.answer(Signs::Loss);
            }
        }
    }

    fn is_assessed(&self) -> bool {
        self.nominal_rate > 0.0 && self.nominal_max_rtt > 0.0
    }

    /// Pacing rate in segments a second.
    fn paced(&self) -> f64 {
        match (self.state, self.params.saved_cwnd) {
            (State::Resuming, Some(saved)) if self.srtt > 0.0 => saved / self.srtt,
            (State::Initial, _) => {
                (self.alpha * self.nominal_rate).max(INITIAL_PACING / self.wire_bits)
            }
            _ => self.alpha * self.nominal_rate,
        }
    }

    fn set_window(&mut self, window: &mut Window) {
        if !self.is_assessed() {
            return;
        }
        let target = self.alpha * self.nominal_rate * self.nominal_max_rtt;
        let cwnd = match (self.state, self.params.saved_cwnd) {
            (State::Initial, _) => {
                self.initial_cwnd = self.initial_cwnd.max(target);
                self.initial_cwnd
            }
            (State::Resuming, Some(saved)) => saved,
            _ => {
                let margin = MARGIN.min(self.nominal_max_rtt / 4.0);
                let gained = (self.alpha - 1.0) * self.nominal_rate * self.nominal_max_rtt;
                let is_push = matches!(self.state, State::Probing | State::Pushing);
                let least = if is_push { (1.0 - gained).max(0.0) } else { 0.0 };
                target + self.alpha * self.nominal_rate * margin + least
            }
        };
        window.cwnd = cwnd.max(LEAST);
    }
}

impl CongestionControl for C4 {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(rs) = ack.sample else { return };
        (self.now, self.delivered, self.srtt) = (ack.now, ack.delivered, ack.srtt.seconds());
        if self.initial_cwnd == 0.0 {
            self.initial_cwnd = window.cwnd;
        }
        self.measure(&rs);
        self.detect_delay();
        self.detect_losses(rs.newly_acked);
        if rs.has_data {
            self.raise_rate(&rs);
            if self.state == State::Initial {
                self.events += 1;
                if !rs.is_app_limited {
                    let divisor = 8_f64.powf(f64::from(self.eras_without_increase));
                    self.initial_cwnd += f64::from(rs.newly_acked) / divisor;
                }
                if self.params.saved_cwnd.is_some() && self.events == 1 && self.srtt > 0.0 {
                    self.enter_resuming();
                }
            } else if let (State::Resuming, Some(saved)) = (self.state, self.params.saved_cwnd)
                && f64::from(ack.in_flight) * 17.0 / 16.0 < saved
            {
                // What was not sent at the saved rate shows nothing of it.
                self.rounds.restart(ack.delivered);
            }
            self.rounds.on_delivered(rs.prior_delivered, ack.delivered);
            if self.rounds.started {
                self.end_era(rs.is_app_limited, window.cwnd);
            } else if self.state == State::Pushing && self.growth() == Growth::Fast {
                self.reset_growth();
                self.begin_era();
            }
        }
        self.set_window(window);
    }

    fn on_lost(&mut self, _window: &mut Window, lost: &Lost) {
        // Losses of packets that left before Recovery say nothing new.
        if self.state != State::Recovery || lost.sent_at >= self.era_began {
            self.pending_losses += 1;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        match event.signal {
            Signal::Rto { .. } => {
                self.timed_out = true;
                window.cwnd = LEAST.min(window.cwnd);
            }
            Signal::EcnEcho if self.state == State::Initial => {
                if self.has_stalled() {
                    self.leave_initial();
                }
            }
            Signal::EcnEcho => {
                self.answer(Signs::Marks);
                let before = window.cwnd;
                self.set_window(window);
                window.cwnd = window.cwnd.min(before);
            }
            Signal::FastRetransmit { .. } | Signal::Spurious => {}
        }
    }

    fn on_spurious(&mut self, window: &mut Window, _event: &Congestion, before: &Window) {
        window.cwnd = window.cwnd.max(before.cwnd);
    }

    fn on_recovery_end(&mut self, window: &mut Window, _now: Time) {
        self.set_window(window);
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        let rate = self.paced() * self.wire_bits;
        self.is_assessed().then(|| BitRate((rate as u64).max(1)))
    }

    fn burst_budget(&self) -> u32 {
        (self.paced() * QUANTUM).min(QUANTUM_BYTES / self.mss).max(2.0) as u32 - 1
    }

    fn phase(&self) -> &'static str {
        match self.state {
            State::Initial => "initial",
            State::Resuming => "resuming",
            State::Recovery => "c4-recovery",
            State::Cruising => "cruising",
            State::Probing => "probing",
            State::Pushing => "pushing",
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("nominal_rate_bps", self.nominal_rate * self.mss * 8.0);
        out("nominal_max_rtt_s", self.nominal_max_rtt);
        out("alpha", self.alpha);
        out("loss_rate", self.loss_rate);
        out("sensitivity", self.sensitivity());
    }
}

#[cfg(test)]
mod tests;
