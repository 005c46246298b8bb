//! DCQCN: the rate control of RoCE, from congestion notifications that the receiver of marks sends.
//!
//! For data centres: a notification cuts the rate by half of an estimate of congestion; a timer and a byte counter raise it again,
//! first towards the rate before the cut, then beyond.
//!
//! **Source**: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron, J. Padhye, S. Raindel, M. H. Yahia, M. Zhang,
//! "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1 and table of section 5; which events
//! are fast recovery: Y. Zhu, M. Ghobadi, V. Misra, J. Padhye, "ECN or Delay", CoNEXT 2016, section 3.
//!
//! **Rule** (C: present rate, T: target rate; from the first notification on)
//! ```text
//! notification:   T <- C,  C <- C (1 - alpha / 2),  alpha <- (1 - g) alpha + g;  counts and timers start anew
//! alpha timer:    after each 55 us without one  alpha <- (1 - g) alpha
//! timer (55 us), byte counter (10 MB):  count it, then
//!   the counts are at most 5:       C <- (T + C) / 2
//!   the smaller is more than 5:     T <- T + R_HAI,  C <- (T + C) / 2
//!   else:                           T <- T + R_AI,   C <- (T + C) / 2
//! ```
//! With `rule = "card"` it is what network cards of one vendor do, by the vendor's page on its parameters and the simulator of HPCC
//! (SIGCOMM 2019; repository alibaba-edu/High-Precision-Congestion-Control, facts only), with the times that this
//! simulator has for it: notifications are counted by periods from the first on, and no bytes are counted.
//! ```text
//! each alpha_timer (1 us):     alpha <- (1 - g) alpha + g [a notification came in it]
//! each cnp_interval (4 us) in which one came:   if the timer has raised the rate since the last cut  T <- C
//!                              C <- C (1 - alpha / 2);  the timer starts anew
//! timer (300 us):              up to the F-th time C <- (T + C) / 2;  then T <- T + R_AI once and T <- T + R_HAI from then on, C <- (T + C) / 2
//! ```
//! With `window` no more is in flight than the rate carries in that time, as DCQCN+win of HPCC's evaluation has it.
//!
//! Deviations: the source's receiver sends a notification for a marked packet at most every 50 us. Here acknowledgements carry counts
//! of marks (AccECN), and the sender takes one that reports new marks for a notification if 50 us have passed since
//! the last: what an acknowledgement waits for (`tcp.delayed_ack`, one packet where marks begin or end) and what marks fall within
//! the 50 us of another count differently by that. A flow begins at the rate of its first link and has no window, as in the source, but
//! at most eight round trips at line rate are in flight, a bound for loss of all feedback. The source has a network without loss
//! (PFC): a loss or a timeout counts as a notification, once per round trip. No period is shorter than the least round trip, which is
//! within 50 us in the source's networks: on a path of milliseconds the rate would rise by a thousand steps before the first mark is
//! reported (not with `rule = "card"`). The
//! source gives `R_HAI` no value: ten times `R_AI`, as the settings of HPCC's evaluation have it.
//!
//! The fixed point of N flows on a link of rate C (packets a second) follows from the rule: p^3 = `R_AI` N^2 / (K C^2)
//! (1/B + N/(55 us C))^2 for small p (Zhu et al. 2016; B: packets of the byte counter, K: alpha timer); a test compares a run with the
//! equations behind it. They let marks that come within the 50 us after a notification hold the timer back, which the rule does not:
//! with that interval a flow is about a fifth faster than they say, without it they agree within 6 %.
//!
//! Defaults by era: the same in all: g = 1/256, `R_AI` a thousandth of the line rate (40 Mbit/s of 40 Gbit/s, as in the source).

mod card;
#[cfg(test)]
mod fixed_point;

use card::Card;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{
    Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Lost, MAX_WINDOW, Signal, Window,
};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Bytes, Span, Time};

/// Part of the line rate that is `R_AI`, and the least rate.
const STEP: f64 = 1e-3;
/// `R_HAI` in `R_AI`.
const HYPER: f64 = 10.0;
/// Most in flight, in round trips at line rate.
const LEEWAY: f64 = 8.0;
/// Least window in segments.
const LEAST: f64 = 16.0;
/// Timer events that one call makes up for at most, after a pause in which nothing called.
const MOST_AT_ONCE: u32 = 1000;

/// Whose rule it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The paper's: timer and byte counter.
    #[default]
    Paper,
    /// A vendor's cards: periods from the first notification on, timer alone.
    Card,
}

/// Parameters of DCQCN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DcqcnParams {
    /// Weight of a notification in the estimate of congestion.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub g: f64,
    /// Least time between two notifications, and so between two cuts.
    pub cnp_interval: Span,
    /// Time without a notification after which the estimate decays (K).
    #[schemars(range(min = 1e-6))]
    pub alpha_timer: Span,
    /// Period of the timer that raises the rate.
    #[schemars(range(min = 1e-6))]
    pub rate_timer: Span,
    /// Bytes after which the byte counter raises the rate (B).
    #[schemars(range(min = 1500))]
    pub byte_counter: Bytes,
    /// Events of a timer or counter that only recover the rate (F).
    #[schemars(range(min = 1), extend("x-unit" = "events"))]
    pub recovery_events: u32,
    /// Step of additive increase (`R_AI`). Left out: a thousandth of the line rate.
    pub additive: Option<BitRate>,
    /// Step of hyper increase (`R_HAI`). Left out: ten times `additive`.
    pub hyper: Option<BitRate>,
    /// Least rate. Left out: a thousandth of the line rate.
    pub least: Option<BitRate>,
    /// No more is in flight than the rate carries in this time, a packet at least. Left out: eight round trips at line rate.
    pub window: Option<Span>,
    /// `card` is what network cards of one vendor do.
    pub rule: Rule,
}

impl Default for DcqcnParams {
    fn default() -> Self {
        Self {
            g: 1.0 / 256.0,
            cnp_interval: Span::from_micros(50),
            alpha_timer: Span::from_micros(55),
            rate_timer: Span::from_micros(55),
            byte_counter: Bytes(10_000_000),
            recovery_events: 5,
            additive: None,
            hyper: None,
            least: None,
            window: None,
            rule: Rule::Paper,
        }
    }
}

/// DCQCN.
pub struct Dcqcn {
    params: DcqcnParams,
    wire: f64,
    line: f64,
    additive: f64,
    hyper: f64,
    least: f64,
    /// bit/s.
    current: f64,
    target: f64,
    alpha: f64,
    notified: Option<Time>,
    /// Least and smoothed round trip.
    min_rtt: Span,
    srtt: Span,
    /// A notification has come and the line rate is not reached again.
    is_limited: bool,
    alpha_due: Time,
    rate_due: Time,
    bytes: f64,
    timer_events: u32,
    byte_events: u32,
    /// Periods of `rule = "card"`.
    card: Card,
}

impl About<CcEnv> for Dcqcn {
    type Params = DcqcnParams;
    const INFO: Info = Info {
        name: "dcqcn",
        title: "DCQCN",
        source: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 3.1",
        status: Status::Variant,
    };

    fn new(params: DcqcnParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let line = env.line_rate.bps().max(1.0);
        let additive = params.additive.map_or(line * STEP, BitRate::bps);
        let hyper = params.hyper.map_or(HYPER * additive, BitRate::bps);
        let least = params.least.map_or(line * STEP, BitRate::bps).min(line);
        Ok(Self {
            wire: f64::from(env.wire_size.max(1)),
            line,
            additive,
            hyper,
            least,
            current: line,
            target: line,
            alpha: 1.0,
            notified: None,
            min_rtt: Span::ZERO,
            srtt: Span::ZERO,
            is_limited: false,
            alpha_due: Time::MAX,
            rate_due: Time::MAX,
            bytes: 0.0,
            timer_events: 0,
            byte_events: 0,
            card: Card::default(),
            params,
        })
    }
}

impl Dcqcn {
    fn is_card(&self) -> bool {
        self.params.rule == Rule::Card
    }

    /// A period of the paper's rule, at least a round trip of the empty path; of the cards' as it is.
    fn period(&self, of_rule: Span) -> Span {
        if self.is_card() { of_rule } else { of_rule.max(self.min_rtt) }
    }

    /// Most in flight, in segments.
    fn most_in_flight(&self, srtt: Span) -> f64 {
        let bits = 8.0 * self.wire;
        if let Some(time) = self.params.window {
            return (self.current * time.seconds() / bits).clamp(1.0, MAX_WINDOW);
        }
        let most = LEEWAY * self.line * srtt.seconds() / bits;
        if most > 0.0 { most.clamp(LEAST, MAX_WINDOW) } else { MAX_WINDOW }
    }

    /// Runs the timers that are due.
    fn advance(&mut self, now: Time) {
        if self.is_card() {
            return self.advance_card(now);
        }
        if now >= self.alpha_due {
            let period = self.period(self.params.alpha_timer);
            let periods = now.since(self.alpha_due).0 / period.0.max(1) + 1;
            // The same bits on every platform: that of the system differs in the last.
            self.alpha *= libm::pow(1.0 - self.params.g, periods as f64);
            self.alpha_due += period * periods;
        }
        let mut events = 0;
        while self.is_limited && now >= self.rate_due {
            if events == MOST_AT_ONCE {
                self.rate_due = now + self.period(self.params.rate_timer);
                break;
            }
            events += 1;
            self.timer_events = self.timer_events.saturating_add(1);
            self.rate_due += self.period(self.params.rate_timer);
            self.increase();
        }
    }

    fn increase(&mut self) {
        let (timer, bytes) = (self.timer_events, self.byte_events);
        if timer.max(bytes) > self.params.recovery_events {
            let is_hyper = timer.min(bytes) > self.params.recovery_events;
            self.target += if is_hyper { self.hyper } else { self.additive };
            self.target = self.target.min(self.line);
        }
        self.approach_target();
    }

    /// Half-way to the target.
    fn approach_target(&mut self) {
        self.current = f64::midpoint(self.current, self.target);
        if self.line - self.current < 1.0 {
            // No limit is left; alpha goes on to decay.
            self.current = self.line;
            self.is_limited = false;
        }
    }

    /// A loss is a notification, at most once a round trip.
    fn notice_loss(&mut self, now: Time) {
        let interval = self.srtt.max(self.params.cnp_interval);
        if self.notified.is_none_or(|at| now.since(at) >= interval) {
            self.notify(now);
        }
    }

    /// A notification.
    fn notify(&mut self, now: Time) {
        self.advance(now);
        if self.is_card() {
            return self.notify_card(now);
        }
        self.notified = Some(now);
        self.target = self.current;
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.least);
        self.alpha += self.params.g * (1.0 - self.alpha);
        self.is_limited = true;
        self.alpha_due = now + self.period(self.params.alpha_timer);
        self.rate_due = now + self.period(self.params.rate_timer);
        self.bytes = 0.0;
        (self.timer_events, self.byte_events) = (0, 0);
    }
}

impl CongestionControl for Dcqcn {
    fn on_ecn_counts(&mut self, _window: &mut Window, counts: &EcnCounts) {
        let interval = self.period(self.params.cnp_interval);
        let may = self.is_card() || self.notified.is_none_or(|at| counts.now.since(at) >= interval);
        if counts.marked > 0 && may {
            self.notify(counts.now);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        (self.min_rtt, self.srtt) = (ack.min_rtt, ack.srtt);
        self.advance(ack.now);
        window.cwnd = self.most_in_flight(ack.srtt);
    }

    fn on_congestion(&mut self, _window: &mut Window, event: &Congestion) {
        if let Signal::FastRetransmit { .. } | Signal::Rto { .. } = event.signal {
            self.notice_loss(event.now);
        }
    }

    fn on_lost(&mut self, _window: &mut Window, lost: &Lost) {
        self.notice_loss(lost.now);
    }

    fn on_sent(&mut self, now: Time, _in_flight: u32) {
        self.advance(now);
        if self.is_limited && !self.is_card() {
            self.bytes += self.wire;
            if self.bytes >= self.params.byte_counter.0 as f64 {
                self.bytes = 0.0;
                self.byte_events = self.byte_events.saturating_add(1);
                self.increase();
            }
        }
    }

    fn timer_interval(&self) -> Option<Span> {
        Some(self.period(self.params.rate_timer))
    }

    fn interval_after(&self, round_trip: Span) -> Option<Span> {
        let rate_timer = self.params.rate_timer;
        Some(if self.is_card() { rate_timer } else { rate_timer.max(round_trip) })
    }

    fn on_timer(&mut self, window: &mut Window, now: Time) {
        self.advance(now);
        // Without a window, what loss recovery made of it stays until an acknowledgement.
        if self.params.window.is_some() {
            window.cwnd = self.most_in_flight(self.srtt);
        }
    }

    fn on_spurious(&mut self, _window: &mut Window, _event: &Congestion, _before: &Window) {}

    fn wants_samples(&self) -> bool {
        true
    }

    fn counts_marks(&self) -> bool {
        true
    }

    fn initial_window(&self) -> Option<f64> {
        Some(self.most_in_flight(Span::ZERO))
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate((self.current as u64).max(1)))
    }

    fn phase(&self) -> &'static str {
        let most = self.timer_events.max(self.byte_events);
        if self.is_card() {
            return self.phase_card();
        }
        if !self.is_limited {
            "line-rate"
        } else if most <= self.params.recovery_events {
            "fast-recovery"
        } else if self.timer_events.min(self.byte_events) <= self.params.recovery_events {
            "additive-increase"
        } else {
            "hyper-increase"
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate_bps", self.current);
        out("target_bps", self.target);
        out("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::near::near;

    fn control() -> Dcqcn {
        let env = CcEnv { line_rate: BitRate(40_000_000_000), ..env(Era::Rfc) };
        Dcqcn::new(DcqcnParams::default(), &env).unwrap()
    }

    pub(super) fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// Counts of one marked packet; the rate then, in Gbit/s.
    pub(super) fn mark(control: &mut Dcqcn, us: u64) -> f64 {
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        let counts = EcnCounts { acked: 1, marked: 1, ..EcnCounts::at(at(us)) };
        control.on_ecn_counts(&mut window, &counts);
        control.current / 1e9
    }

    /// Alpha is 1 at first: 40 to 20 Gbit/s. 50 us later still 1: to 10, the target 20. Marks between do nothing.
    #[test]
    fn a_notification_cuts_by_half_of_alpha_and_comes_every_50_us_at_most() {
        let mut control = control();
        assert_eq!(control.phase(), "line-rate");
        near::<9>(mark(&mut control, 100), 20.0);
        near::<9>(mark(&mut control, 149), 20.0);
        near::<9>(mark(&mut control, 150), 10.0);
        near::<9>(control.target / 1e9, 20.0);
        near::<12>(control.alpha, 1.0);
    }

    /// After one 55 us without a notification alpha is 255/256, after the next notification 1 - 255/256^2.
    #[test]
    fn alpha_decays_each_55_us_without_notification() {
        let mut control = control();
        mark(&mut control, 0);
        control.advance(at(54));
        near::<15>(control.alpha, 1.0);
        control.advance(at(55));
        near::<15>(control.alpha, 255.0 / 256.0);
        control.advance(at(55 * 3 + 20));
        near::<15>(control.alpha, (255.0f64 / 256.0).powi(3));
        control.alpha = 255.0 / 256.0;
        mark(&mut control, 55 * 3 + 30);
        near::<15>(control.alpha, 1.0 - 255.0 / 65536.0);
    }

    /// In 1100 us there are 20 periods of 55 us, whatever the times at which anything is called.
    #[test]
    fn alpha_decays_by_the_clock_and_not_by_the_calls() {
        for step in [1, 7, 40, 60, 137, 1100] {
            let mut control = control();
            mark(&mut control, 0);
            for us in (step..1100).step_by(step as usize).chain([1100]) {
                control.advance(at(us));
            }
            near::<12>(control.alpha, (255.0f64 / 256.0).powi(20));
        }
    }

    /// From 20 to 40 Gbit/s: 30, 35, 37.5, 38.75, 39.375; then the target, at the line rate, can only stay.
    #[test]
    fn five_events_recover_and_the_sixth_adds() {
        let mut control = control();
        mark(&mut control, 0);
        for (event, expected) in (1..).zip([30.0, 35.0, 37.5, 38.75, 39.375]) {
            assert_eq!(control.phase(), "fast-recovery");
            control.advance(at(55 * event));
            near::<9>(control.current / 1e9, expected);
        }
        // Notified at 39.375: alpha is (255/256)^5 = 0.98062, so to 20.0691 and back half-way to 39.375 five times; the
        // sixth event also adds 40 Mbit/s to the target, 39.415.
        mark(&mut control, 55 * 5);
        let alpha = (255.0f64 / 256.0).powi(5);
        let cut = 39.375 * (1.0 - alpha / 2.0);
        near::<9>(control.current / 1e9, cut);
        control.advance(at(55 * 10));
        let recovered = 39.375 - (39.375 - cut) / 32.0;
        near::<9>(control.current / 1e9, recovered);
        control.advance(at(55 * 11));
        near::<9>(control.target / 1e9, 39.415);
        near::<9>(control.current / 1e9, f64::midpoint(recovered, 39.415));
        assert_eq!(control.phase(), "additive-increase");
    }

    /// The byte counter's 10 MB are 9616 packets of 1040 B; six of its events and six of the timer's make the steps large.
    #[test]
    fn both_counts_beyond_five_make_hyper_increase() {
        let mut control = control();
        mark(&mut control, 0);
        mark(&mut control, 50);
        for _ in 0..6 {
            for _ in 0..9616 {
                control.on_sent(at(51), 1);
            }
        }
        assert_eq!((control.byte_events, control.phase()), (6, "additive-increase"));
        near::<9>(control.target / 1e9, 20.04);
        control.advance(at(50 + 55 * 5));
        near::<9>(control.target / 1e9, 20.04 + 5.0 * 0.04);
        control.advance(at(50 + 55 * 6));
        near::<9>(control.target / 1e9, 20.24 + 0.4);
        assert_eq!(control.phase(), "hyper-increase");
    }

    #[test]
    fn the_byte_counter_begins_again_with_a_notification() {
        let mut control = control();
        mark(&mut control, 0);
        (0..9615).for_each(|_| control.on_sent(at(1), 1));
        mark(&mut control, 50);
        (0..9615).for_each(|_| control.on_sent(at(51), 1));
        assert_eq!(control.byte_events, 0);
        control.on_sent(at(51), 1);
        assert_eq!(control.byte_events, 1);
    }

    /// 40 Gbit/s for 10 us are 50,000 B, at half the rate half of them.
    #[test]
    fn a_window_follows_the_rate() {
        let params = DcqcnParams { window: Some(Span::from_micros(10)), ..DcqcnParams::default() };
        let env = CcEnv { line_rate: BitRate(40_000_000_000), ..env(Era::Rfc) };
        let mut control = Dcqcn::new(params, &env).unwrap();
        near::<9>(control.initial_window().unwrap(), 50_000.0 / 1040.0);
        mark(&mut control, 0);
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        control.on_ack(&mut window, &Ack::at(at(1), 1));
        near::<9>(window.cwnd, 25_000.0 / 1040.0);
    }

    /// Of 200 us here, while marks may notify each 50 us.
    #[test]
    fn losses_notify_once_a_round_trip() {
        let mut control = control();
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        let (srtt, min_rtt) = (Span::from_micros(200), Span::from_micros(20));
        control.on_ack(&mut window, &Ack { min_rtt, srtt, ..Ack::at(at(0), 1) });
        for us in [10, 60, 209] {
            control.on_lost(&mut window, &Lost::at(at(us), 1));
            assert_eq!(control.notified, Some(at(10)), "{us} us");
        }
        control.on_lost(&mut window, &Lost::at(at(210), 1));
        assert_eq!(control.notified, Some(at(210)));
    }

    /// With a least round trip of 1 ms, marks within it do nothing, and the timer's first event comes after it.
    #[test]
    fn on_long_paths_no_period_is_shorter_than_the_round_trip() {
        let mut control = control();
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        let rtt = Span::from_millis(1);
        control.on_ack(&mut window, &Ack { min_rtt: rtt, srtt: rtt, ..Ack::at(at(0), 1) });
        near::<9>(mark(&mut control, 0), 20.0);
        near::<9>(mark(&mut control, 990), 20.0);
        control.advance(at(1000));
        near::<9>(control.current / 1e9, 30.0);
        near::<15>(control.alpha, 255.0 / 256.0);
        assert_eq!(control.timer_interval(), Some(rtt));
        // 8 x 40 Gbit/s x 1 ms in packets of 1040 B.
        near::<3>(window.cwnd, 8.0 * 40e6 / 8320.0);
    }

    #[test]
    fn a_loss_is_a_notification() {
        let mut control = control();
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        let lost = Congestion::at(at(10), Signal::FastRetransmit { lost: 1 }, 9);
        control.on_congestion(&mut window, &lost);
        near::<9>(control.current / 1e9, 20.0);
        assert_eq!(window.cwnd.to_bits(), 100.0f64.to_bits());
    }
}
