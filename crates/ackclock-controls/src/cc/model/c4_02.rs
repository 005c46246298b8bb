//! C4 of draft -02: paces at a nominal rate, allows for the path's jitter, and is the more sensitive the faster it is.
//!
//! The control of an older text, before pushes that go on while the rate rises; `c4` is that of draft -04. Made for real-time media: it holds the largest delivery rate, lowers it when delay or loss show congestion, and pushes
//! it now and then.
//!
//! **Source**: draft-huitema-ccwg-c4-spec -02 of 26 February 2026 (the editors' copy after it), sections "C4 variables", "States and Transition", "Handling of congestion
//! signals".
//!
//! **Rule** (an era is a round trip by packets; R = nominal rate, M = nominal max RTT, s = sensitivity in [0, 1])
//! ```text
//! paced at alpha R, cwnd = alpha R M, >= 2;  alpha: Initial 2, Recovery 15/16, Cruising 1, Pushing 5/4 or 17/16
//! R rises to delivered / max(RTT, send delay, ACK delay) of each ACK, unless congested in Recovery
//! M: after an era sent at alpha <= 1: its largest RTT (at most min + 250 ms) if more, else M <- (7 M + it) / 8
//! Initial -> Recovery: no increase of R in 3 eras, or congestion;  Recovery: one era -> Cruising, or Initial after 3
//!   pushes that raised R;  Cruising: 4 eras -> Pushing;  Pushing: one era -> Recovery
//! delay: RTT > M + min(25 ms, f M), f = 1/16 + (1 - s) 3/16:  R <- (1 - beta) R, beta = (RTT - M - t) / t, <= 1/4
//! loss:  smoothed loss rate > 0.02 + (1 - s) / 2:   R <- 3/4 R
//! s: 0 up to 50 kB/s, 0.92 at 1 MB/s, 1 from 10 MB/s, linear between
//! ```
//! Deviations: the time in which segments were delivered begins with the last delivery before the packet left, not with
//! the packet, as else R is too high by a segment a round trip, and a queue builds up that M takes for jitter.
//! The draft's condition for updating R has its inequality the other way round from its text, which is followed.
//! A first push, of which no predecessor succeeded, is of 17/16. CE marks, which the draft leaves open, count as a loss
//! above the threshold, once a window. A retransmission timeout does not change R (the draft does not answer timers); the
//! window is 2 until the next ACK.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::c4::{delay_threshold, follow_era, interpolate};
use super::filters::Rounds;
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Lost, RateSample, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Span, Time};

const LEAST: f64 = 2.0;
const RECOVERY_ALPHA: f64 = 15.0 / 16.0;
const CAREFUL_PUSH: f64 = 17.0 / 16.0;
const FULL_PUSH: f64 = 5.0 / 4.0;
/// Part of the rate that a loss takes, and most that delay takes.
const BETA: f64 = 0.25;
/// Packets delivered before a loss may end Initial.
const FIRST_PACKETS: u64 = 20;
const QUANTUM_BYTES: f64 = 65_536.0;
/// Data rates in B/s and the sensitivity at each.
const SENSITIVITY: [(f64, f64); 3] = [(50e3, 0.0), (1e6, 0.92), (10e6, 1.0)];

/// Parameters of C4 of draft -02.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct C402Params {
    /// Eras of Cruising before a push.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub cruising_eras: u32,
    /// Eras without increase that end Initial.
    #[schemars(range(min = 1), extend("x-unit" = "round trips"))]
    pub initial_eras: u32,
}

impl Default for C402Params {
    fn default() -> Self {
        Self { cruising_eras: 4, initial_eras: 3 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Recovery,
    Cruising,
    Pushing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// A round trip of so many seconds, beyond the largest.
    Delay(f64),
    Loss,
}

/// C4 of draft -02. Rates in segments per second, times in seconds.
pub struct C402 {
    params: C402Params,
    mss: f64,
    wire_bits: f64,
    state: State,
    rounds: Rounds,
    nominal_rate: f64,
    nominal_max_rtt: f64,
    running_min_rtt: f64,
    era_min_rtt: f64,
    era_max_rtt: f64,
    alpha: f64,
    alpha_previous: f64,
    /// Eras in the present state; in Initial, since the rate last rose.
    eras: u32,
    era_rate: f64,
    congested: bool,
    /// Gain of the push whose outcome Recovery awaits.
    pushed: Option<f64>,
    push_began: u64,
    push_succeeded: bool,
    successes: u32,
    /// The nominal rate at the end of the last Recovery.
    recovered_rate: f64,
    restarted_for_jitter: bool,
    loss_rate: f64,
    pending_losses: u32,
    /// The timer declared losses, which say nothing.
    timed_out: bool,
}

impl About<CcEnv> for C402 {
    type Params = C402Params;
    const INFO: Info = Info {
        name: "c4-02",
        title: "C4 of draft -02",
        source: "draft-huitema-ccwg-c4-spec-02",
        status: Status::Variant,
    };

    fn new(params: C402Params, env: &CcEnv) -> Result<Self, Vec<Problem>> {
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
            alpha: 2.0,
            alpha_previous: 2.0,
            eras: 0,
            era_rate: 0.0,
            congested: false,
            pushed: None,
            push_began: 0,
            push_succeeded: false,
            successes: 0,
            recovered_rate: 0.0,
            restarted_for_jitter: false,
            loss_rate: 0.0,
            pending_losses: 0,
            timed_out: false,
        })
    }
}

impl C402 {
    fn sensitivity(&self) -> f64 {
        interpolate(SENSITIVITY, self.nominal_rate * self.mss)
    }

    fn delay_threshold(&self) -> f64 {
        delay_threshold(self.sensitivity(), self.nominal_max_rtt)
    }

    fn enter(&mut self, state: State, delivered: u64) {
        self.alpha_previous = self.alpha;
        self.alpha = match state {
            State::Initial => 2.0,
            State::Recovery => RECOVERY_ALPHA,
            State::Cruising => 1.0,
            State::Pushing if self.push_succeeded => FULL_PUSH,
            State::Pushing => CAREFUL_PUSH,
        };
        if state == State::Pushing {
            self.pushed = Some(self.alpha);
            self.push_began = delivered;
        }
        (self.state, self.eras) = (state, 0);
        self.begin_era(delivered);
    }

    fn begin_era(&mut self, delivered: u64) {
        self.rounds.restart(delivered);
        (self.era_min_rtt, self.era_max_rtt) = (f64::INFINITY, 0.0);
        self.era_rate = self.nominal_rate;
    }

    /// Updates the round trips by those of an era that was sent at the nominal rate or less.
    fn update_rtts(&mut self) {
        if self.alpha_previous > 1.0 || self.era_max_rtt == 0.0 {
            return;
        }
        let era = (self.era_min_rtt, self.era_max_rtt);
        follow_era(era, &mut self.running_min_rtt, &mut self.nominal_max_rtt);
    }

    fn end_era(&mut self, limited: bool, delivered: u64) {
        if self.state != State::Initial {
            self.update_rtts();
        }
        match self.state {
            State::Initial => {
                if self.nominal_rate > self.era_rate {
                    self.eras = 0;
                } else if !limited {
                    self.eras += 1;
                }
                if self.eras >= self.params.initial_eras {
                    self.congested = false;
                    return self.enter(State::Recovery, delivered);
                }
            }
            State::Recovery => return self.leave_recovery(delivered),
            State::Cruising => {
                self.eras += 1;
                if self.eras >= self.params.cruising_eras && !limited {
                    return self.enter(State::Pushing, delivered);
                }
            }
            State::Pushing => {
                self.congested = false;
                return self.enter(State::Recovery, delivered);
            }
        }
        self.alpha_previous = self.alpha;
        self.begin_era(delivered);
    }

    fn leave_recovery(&mut self, delivered: u64) {
        if let Some(alpha) = self.pushed.take() {
            let needed = if alpha <= CAREFUL_PUSH { 1.0 } else { 1.0 + (alpha - 1.0) / 4.0 };
            let risen = self.nominal_rate > self.recovered_rate * needed;
            self.push_succeeded = risen && !self.congested;
            self.successes = if self.push_succeeded { self.successes + 1 } else { 0 };
        }
        self.congested = false;
        self.recovered_rate = self.nominal_rate;
        let jitter = self.running_min_rtt < self.nominal_max_rtt * 0.4;
        let restart = jitter && !self.restarted_for_jitter;
        self.restarted_for_jitter |= jitter;
        if self.successes >= 3 || restart {
            self.successes = 0;
            self.enter(State::Initial, delivered);
        } else {
            self.enter(State::Cruising, delivered);
        }
    }

    fn measure(&mut self, rs: &RateSample) {
        let Some(rtt) = rs.rtt.map(Span::seconds) else { return };
        if self.nominal_max_rtt == 0.0 {
            (self.nominal_max_rtt, self.running_min_rtt) = (rtt, rtt);
        }
        self.era_min_rtt = self.era_min_rtt.min(rtt);
        self.era_max_rtt = self.era_max_rtt.max(rtt);
        let elapsed = rtt.max(rs.send_elapsed.seconds()).max(rs.ack_elapsed.seconds());
        let holds_rate = self.state == State::Recovery && self.congested;
        if rs.has_data && elapsed > 0.0 && !holds_rate {
            self.nominal_rate = self.nominal_rate.max(rs.delivered as f64 / elapsed);
        }
    }

    /// What this acknowledgement shows of congestion.
    fn detect(&mut self, rs: &RateSample) -> Option<Event> {
        let mut event = None;
        if let Some(rtt) = rs.rtt.map(Span::seconds)
            && rtt > self.nominal_max_rtt + self.delay_threshold()
        {
            event = Some(Event::Delay(rtt));
        }
        self.loss_rate *= (15.0_f64 / 16.0).powf(f64::from(rs.newly_acked));
        let threshold = 0.02 + 0.5 * (1.0 - self.sensitivity());
        if std::mem::take(&mut self.timed_out) {
            self.pending_losses = 0;
        }
        for _ in 0..std::mem::take(&mut self.pending_losses) {
            self.loss_rate = (1.0 + 15.0 * self.loss_rate) / 16.0;
            if self.loss_rate > threshold {
                event = Some(Event::Loss);
            }
        }
        event
    }

    /// Answers congestion; `in_push` says that the packet it is tied to left while pushing. True if that ended the era.
    fn answer(&mut self, event: Event, in_push: bool, delivered: u64) -> bool {
        match self.state {
            State::Recovery => {
                self.congested = true;
                return false;
            }
            State::Initial => {
                let counts = match event {
                    Event::Delay(_) => self.eras >= 2,
                    Event::Loss => delivered > FIRST_PACKETS,
                };
                if !counts {
                    return false;
                }
            }
            State::Cruising | State::Pushing => {
                if !(self.state == State::Pushing && in_push) {
                    self.nominal_rate *= 1.0 - self.beta(event);
                }
            }
        }
        self.congested = true;
        self.enter(State::Recovery, delivered);
        true
    }

    fn beta(&self, event: Event) -> f64 {
        match event {
            Event::Loss => BETA,
            Event::Delay(rtt) => {
                let threshold = self.delay_threshold();
                ((rtt - self.nominal_max_rtt - threshold) / threshold).clamp(0.0, BETA)
            }
        }
    }

    fn is_assessed(&self) -> bool {
        self.nominal_rate > 0.0 && self.nominal_max_rtt > 0.0
    }

    fn set_window(&self, window: &mut Window) {
        if self.is_assessed() {
            window.cwnd = (self.alpha * self.nominal_rate * self.nominal_max_rtt).max(LEAST);
        }
    }
}

impl CongestionControl for C402 {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(rs) = ack.sample else { return };
        self.measure(&rs);
        let in_push = rs.prior_delivered >= self.push_began;
        let event = self.detect(&rs);
        let answered = event.is_some_and(|event| self.answer(event, in_push, ack.delivered));
        if !answered && rs.has_data {
            self.rounds.on_delivered(rs.prior_delivered, ack.delivered);
            if self.rounds.started {
                self.end_era(rs.is_app_limited, ack.delivered);
            }
        }
        self.set_window(window);
    }

    fn on_lost(&mut self, _window: &mut Window, _lost: &Lost) {
        self.pending_losses += 1;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        match event.signal {
            Signal::Rto { .. } => {
                self.timed_out = true;
                window.cwnd = LEAST.min(window.cwnd);
            }
            Signal::EcnEcho if self.state == State::Cruising => {
                self.nominal_rate *= 1.0 - BETA;
                self.alpha = RECOVERY_ALPHA;
                self.state = State::Recovery;
                self.congested = true;
                let before = window.cwnd;
                self.set_window(window);
                window.cwnd = window.cwnd.min(before);
            }
            Signal::EcnEcho => self.congested = true,
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
        let rate = self.alpha * self.nominal_rate * self.wire_bits;
        self.is_assessed().then(|| BitRate((rate as u64).max(1)))
    }

    fn send_quantum(&self) -> u32 {
        let cwnd = self.alpha * self.nominal_rate * self.nominal_max_rtt;
        (cwnd / 4.0).min(QUANTUM_BYTES / self.mss).max(2.0) as u32
    }

    fn phase(&self) -> &'static str {
        match self.state {
            State::Initial => "initial",
            State::Recovery => "c4-recovery",
            State::Cruising => "cruising",
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
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::near::near;

    /// 1000-byte segments, a path of 100 ms.
    struct Bench {
        control: C402,
        window: Window,
        delivered: u64,
    }

    impl Bench {
        fn new() -> Self {
            let control = C402::new(C402Params::default(), &env(Era::Rfc)).unwrap();
            Self { control, window: Window { cwnd: 10.0, ssthresh: f64::INFINITY }, delivered: 0 }
        }

        /// An acknowledgement of `acked` segments, all that left in the era before.
        fn era(&mut self, acked: u32, rtt_ms: u64) {
            let rtt = Span::from_millis(rtt_ms);
            let sample = RateSample {
                has_data: true,
                newly_acked: acked,
                delivered: u64::from(acked),
                prior_delivered: self.delivered,
                rtt: Some(rtt),
                ..RateSample::default()
            };
            self.delivered += u64::from(acked);
            let ack = Ack {
                delivered: self.delivered,
                sample: Some(sample),
                ..Ack::at(Time::ZERO, acked)
            };
            self.control.on_ack(&mut self.window, &ack);
        }

        fn cruising() -> Self {
            let mut bench = Self::new();
            for acked in [10, 20, 40, 80, 80, 80, 80] {
                assert_eq!(bench.control.phase(), "initial");
                bench.era(acked, 100);
            }
            assert_eq!(bench.control.phase(), "c4-recovery");
            bench.era(80, 100);
            assert_eq!(bench.control.phase(), "cruising");
            bench
        }
    }

    /// 10 segments in 100 ms: R = 100 segments/s, M = 100 ms: cwnd = 2 x 10, paced at 200 segments/s of 8320 bits.
    #[test]
    fn the_window_is_twice_the_nominal_one_at_first_and_ends_after_three_eras_without_increase() {
        let mut bench = Bench::new();
        assert!(bench.control.pacing_rate().is_none());
        bench.era(10, 100);
        near::<9>(bench.window.cwnd, 20.0);
        assert_eq!(bench.control.pacing_rate().unwrap().0, 1_664_000);
        let bench = Bench::cruising();
        near::<9>(bench.window.cwnd, 80.0);
    }

    #[test]
    fn four_eras_then_a_push_of_a_sixteenth_and_after_three_that_succeed_initial_again() {
        let mut bench = Bench::cruising();
        let mut gains = Vec::new();
        let mut cwnd = 80.0;
        for push in 0..3 {
            while bench.control.phase() == "cruising" {
                bench.era(cwnd as u32, 100);
            }
            assert_eq!(bench.control.phase(), "pushing");
            gains.push(bench.control.alpha);
            bench.era(cwnd as u32, 100);
            assert_eq!(bench.control.phase(), "c4-recovery");
            cwnd *= bench.control.pushed.unwrap();
            bench.era(cwnd as u32, 100); // what left while pushing arrives at its rate
            let expected = if push == 2 { "initial" } else { "cruising" };
            assert_eq!(bench.control.phase(), expected);
        }
        assert_eq!(gains, [17.0 / 16.0, 1.25, 1.25]);
    }

    /// 0 at 50 kB/s, 0.46 half-way to 1 MB/s, 0.92 there, 0.96 at 5.5 MB/s, 1 from 10 MB/s on.
    #[test]
    fn the_sensitivity_is_linear_between_its_points() {
        let mut control = Bench::new().control;
        let points = [(20.0, 0.0), (50.0, 0.0), (525.0, 0.46), (1000.0, 0.92), (5500.0, 0.96)];
        for (rate, expected) in points.into_iter().chain([(10_000.0, 1.0), (20_000.0, 1.0)]) {
            control.nominal_rate = rate; // of 1000 bytes
            near::<9>(control.sensitivity(), expected);
        }
    }

    /// At 800 segments/s s = 0.92 x 750/950 = 0.72632; t = M (1/16 + 0.27368 x 3/16) = 11.3816 ms. 105 ms is no signal; at
    /// 113 ms beta = (13 - 11.3816) / 11.3816 = 0.142194; at 130 ms a quarter.
    #[test]
    fn delay_lowers_the_rate_in_proportion_up_to_a_quarter() {
        for (rtt, left) in [(105, 800.0), (113, 800.0 * (1.0 - 0.142_194)), (130, 600.0)] {
            let mut bench = Bench::cruising();
            bench.era(8, rtt);
            let rate = bench.control.nominal_rate;
            assert!((rate - left).abs() < 0.01, "{rtt} ms: {rate}");
            let expected = if rtt == 105 { "cruising" } else { "c4-recovery" };
            assert_eq!(bench.control.phase(), expected);
        }
    }

    /// Threshold 0.02 + 0.27368 / 2 = 0.15684: losses in a row make 1/16, 0.1211, 0.1760.
    #[test]
    fn the_third_loss_in_a_row_lowers_the_rate_by_a_quarter() {
        let mut bench = Bench::cruising();
        for (losses, left) in [(2u32, 800.0), (1, 600.0)] {
            for seq in 0..losses {
                bench.control.on_lost(&mut bench.window, &Lost::at(Time::ZERO, seq));
            }
            bench.era(0, 100);
            near::<9>(bench.control.nominal_rate, left);
        }
        near::<9>(bench.window.cwnd, 600.0 * 0.1 * 15.0 / 16.0);
    }

    #[test]
    fn jitter_raises_the_largest_round_trip_and_it_falls_by_an_eighth_of_the_difference() {
        let mut bench = Bench::cruising();
        (bench.control.era_min_rtt, bench.control.era_max_rtt) = (0.09, 0.15);
        bench.control.update_rtts();
        near::<9>(bench.control.nominal_max_rtt, 0.15);
        near::<9>(bench.control.running_min_rtt, 0.09);
        (bench.control.era_min_rtt, bench.control.era_max_rtt) = (0.1, 0.11);
        bench.control.update_rtts();
        near::<9>(bench.control.nominal_max_rtt, (7.0 * 0.15 + 0.11) / 8.0);
        near::<9>(bench.control.running_min_rtt, (7.0 * 0.09 + 0.1) / 8.0);
        // At most 250 ms beyond the smallest.
        (bench.control.era_min_rtt, bench.control.era_max_rtt) = (0.05, 0.9);
        bench.control.update_rtts();
        near::<9>(bench.control.nominal_max_rtt, 0.3);
    }

    /// A queue whose delay is a signal at each acknowledgement must not keep the eras from ending: Initial ends after two
    /// eras without increase, Recovery after one.
    #[test]
    fn a_standing_queue_ends_initial_and_does_not_hold_recovery() {
        let mut bench = Bench::new();
        for (acked, rtt) in [(10, 100), (20, 100), (40, 100), (60, 150), (60, 150), (60, 150)] {
            assert_eq!(bench.control.phase(), "initial");
            bench.era(acked, rtt);
        }
        assert_eq!(bench.control.phase(), "c4-recovery");
        near::<9>(bench.control.nominal_rate, 400.0); // 60 in 150 ms
        bench.era(60, 150);
        assert_eq!(bench.control.phase(), "cruising");
    }

    #[test]
    fn a_timeout_leaves_the_rate() {
        let mut bench = Bench::cruising();
        let timeout = Congestion::at(Time::ZERO, Signal::Rto { consecutive: 1 }, 80);
        bench.control.on_congestion(&mut bench.window, &timeout);
        near::<9>(bench.window.cwnd, 2.0);
        bench.era(2, 100);
        near::<9>(bench.control.nominal_rate, 800.0);
        near::<9>(bench.window.cwnd, 80.0);
    }
}
