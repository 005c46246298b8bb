//! SCReAM v2: the reference window of a control for media, from marks, loss and queueing delay.
//!
//! Made for video over links whose rate changes: marks of L4S take in proportion, classic marks and losses a fixed part, and delay that grows
//! beyond half of a target is answered like marks. Near the window of the last congestion it moves little.
//!
//! **Source**: I. Johansson, M. Westerlund, M. Kühlewind, draft-ietf-ccwg-rfc8298bis-screamv2, the editors' copy of August 2026
//! (after -01), section "Network Congestion Control".
//!
//! **Rule** (w: reference window in segments, `w_i`: that of the last congestion, V = 25 ms, q: mean queueing delay)
//! ```text
//! s = max(0.1, min(1, (8 (w - w_i) / w_i)^2))
//! at most once per min(V, SRTT), and by the first that applies:
//!   loss:           w <- 0.7 w
//!   mark (L4S):     w <- w (1 - b),  b = alpha / 2 / max(1, SRTT / V), times max(0.25, s) while the delay is below target / 4
//!   mark (classic): w <- 0.8 w
//!   q > target / 2: w <- w (1 - b),  b = min(1, 2 q / target - 1) / 2 / max(1, SRTT / V)
//! once per SRTT:    w += u / w  min(1, SRTT / V) max(0.25, s) (1 + 0.02 w c s)      unless w > 1 + 1.5 (most in flight)
//!   u: segments acknowledged without mark;  c = min(1, time since congestion / (100 max(V, SRTT)))
//! alpha: each min(10 ms, SRTT) from the share F of marks:  alpha + (F - alpha) / 8 if F >= alpha, else alpha 127 / 128
//! q:     each min(V, SRTT) from the delay:  the delay if it is less, else q + (delay - q) / 4
//! paced: 1.5 w / SRTT;   w >= 3000 B
//! ```
//! Left out is what makes media of it: frames, the media queue, the target bit rate with its corrections for frame sizes, relaxed
//! pacing, and the room of 1.5 to 3 windows in flight that lets a frame leave at once. Without frames the flow has data
//! always, and the window is the limit in flight. Left out as well are the options: jitter filter (`REDUCE_JITTER`),
//! policer detection, undershoot remedy, competing-flows compensation (the target stays at `qdelay_target`), clock drift. Deviations: the
//! queueing delay is the round trip less its minimum, not one way; segments take the place of bytes; a timeout, which the source leaves
//! open, leaves one segment, and the least window from the next acknowledgement on. ECN is always on (`l4s` says which).
//!
//! Defaults by era: the same in all, the draft's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{
    Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Lost, MAX_WINDOW, Signal, Window,
};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Span, Time};

/// `VIRTUAL_RTT`, seconds.
const VIRTUAL_RTT: f64 = 0.025;
/// `MIN_REF_WND`, bytes.
const LEAST_BYTES: f64 = 3000.0;
/// `BETA_LOSS` and `BETA_ECN`.
const AFTER_LOSS: f64 = 0.7;
const AFTER_CLASSIC_MARK: f64 = 0.8;
/// `BYTES_IN_FLIGHT_HEAD_ROOM`.
const FLIGHT_HEADROOM: f64 = 1.5;
/// `MUL_INCREASE_FACTOR`.
const MULTIPLICATIVE: f64 = 0.02;
/// `POST_CONGESTION_DELAY_RTTS`.
const CAUTIOUS_ROUNDS: f64 = 100.0;
/// `L4S_AVG_G_UP`, `L4S_AVG_G_DOWN`, and the least interval of both in seconds.
const ALPHA_UP: f64 = 1.0 / 8.0;
const ALPHA_DOWN: f64 = 1.0 / 128.0;
const ALPHA_INTERVAL: f64 = 0.01;
/// `QDELAY_AVG_G`.
const DELAY_GAIN: f64 = 0.25;
/// `PACKET_PACING_HEADROOM` and `RATE_PACE_MIN`.
const PACING_HEADROOM: f64 = 1.5;
const LEAST_PACE: f64 = 50_000.0;

/// Parameters of SCReAM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScreamParams {
    /// Data leaves as ECT(1), and marks are L4S's (`IS_L4S`); else they are classic ones.
    pub l4s: bool,
    /// Queueing delay that is answered in full; half of it is none yet (`QDELAY_TARGET_LO`).
    #[schemars(range(min = 1e-6))]
    pub qdelay_target: Span,
    /// Rate at which the window stops to grow (`TARGET_BITRATE_MAX`). Left out: none.
    pub max_rate: Option<BitRate>,
}

impl Default for ScreamParams {
    fn default() -> Self {
        Self { l4s: false, qdelay_target: Span::from_millis(60), max_rate: None }
    }
}

/// SCReAM v2.
pub struct Scream {
    params: ScreamParams,
    wire_bits: f64,
    least: f64,
    /// The reference window and its inflection point, segments.
    window: f64,
    inflection: f64,
    may_move_inflection: bool,
    is_lost: bool,
    is_marked: bool,
    alpha: f64,
    alpha_at: Time,
    delivered: f64,
    marked: f64,
    /// Seconds: the queueing delay now and on average.
    delay: f64,
    mean_delay: f64,
    mean_delay_at: Time,
    congested_at: Time,
    reacted_at: Time,
    /// Segments acknowledged and marked since the window last grew, when that was, and the most in flight then and before.
    acked: f64,
    acked_marked: f64,
    grown_at: Time,
    flight: f64,
    flight_before: f64,
    pace: f64,
}

impl About<CcEnv> for Scream {
    type Params = ScreamParams;
    const INFO: Info = Info {
        name: "scream",
        title: "SCReAM v2",
        source: "draft-ietf-ccwg-rfc8298bis-screamv2 (editors' copy of August 2026), Network Congestion Control",
        status: Status::Variant,
    };

    fn new(params: ScreamParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let least = (LEAST_BYTES / f64::from(env.mss.max(1))).max(1.0);
        Ok(Self {
            params,
            wire_bits: f64::from(env.wire_size) * 8.0,
            least,
            window: least,
            inflection: 1.0 / f64::from(env.mss.max(1)),
            may_move_inflection: true,
            is_lost: false,
            is_marked: false,
            alpha: 0.0,
            alpha_at: Time::ZERO,
            delivered: 0.0,
            marked: 0.0,
            delay: 0.0,
            mean_delay: 0.0,
            mean_delay_at: Time::ZERO,
            congested_at: Time::ZERO,
            reacted_at: Time::ZERO,
            acked: 0.0,
            acked_marked: 0.0,
            grown_at: Time::ZERO,
            flight: 0.0,
            flight_before: 0.0,
            pace: 0.0,
        })
    }
}

impl Scream {
    /// How far the window is from that of the last congestion, 0.1 to 1.
    fn distance(&self) -> f64 {
        let distance = 8.0 * (self.window - self.inflection) / self.inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    fn measure_delay(&mut self, delay: f64, now: Time, srtt: f64) {
        self.delay = delay;
        if now.since(self.mean_delay_at).seconds() >= srtt.min(VIRTUAL_RTT) {
            if delay < self.mean_delay {
                self.mean_delay = delay;
            } else {
                self.mean_delay += DELAY_GAIN * (delay - self.mean_delay);
            }
            self.mean_delay_at = now;
        }
    }

    /// Reduces the window for what was seen since the last time.
    fn react(&mut self, now: Time, srtt: f64, distance: f64) {
        if self.is_lost || self.is_marked {
            self.congested_at = now;
        }
        let since = now.since(self.reacted_at).seconds();
        if since < srtt.min(VIRTUAL_RTT) {
            return;
        }
        let target = self.params.qdelay_target.seconds();
        let by_delay = (2.0 * self.mean_delay / target - 1.0).clamp(0.0, 1.0);
        if !self.is_lost && !self.is_marked && by_delay <= 0.0 {
            return;
        }
        if std::mem::take(&mut self.may_move_inflection) {
            self.inflection = self.window;
        }
        let long_way = (srtt / VIRTUAL_RTT).max(1.0);
        if self.is_lost {
            self.window *= AFTER_LOSS;
        } else if self.is_marked && self.params.l4s {
            let mut backoff = self.alpha / 2.0 / long_way;
            if self.delay < target * 0.25 {
                backoff *= distance.max(0.25);
            }
            // Long without congestion the window may be far above what is in flight.
            if since > CAUTIOUS_ROUNDS * srtt.max(VIRTUAL_RTT) && self.flight_before > 0.0 {
                self.window = self.window.min(self.flight_before);
            }
            self.window *= 1.0 - backoff;
        } else if self.is_marked {
            self.window *= AFTER_CLASSIC_MARK;
        } else {
            self.window *= 1.0 - by_delay / 2.0 / long_way;
        }
        self.window = self.window.max(self.least);
        (self.is_lost, self.is_marked, self.reacted_at) = (false, false, now);
    }

    /// Lets the window grow, once per round trip.
    fn grow(&mut self, now: Time, srtt: f64, distance: f64) {
        if now.since(self.grown_at).seconds() < srtt {
            return;
        }
        self.grown_at = now;
        let since = now.since(self.congested_at).seconds();
        let calm = (since / (CAUTIOUS_ROUNDS * srtt.max(VIRTUAL_RTT))).min(1.0);
        let unmarked = (self.acked - self.acked_marked).max(0.0);
        (self.acked, self.acked_marked) = (0.0, 0.0);
        let mut step = unmarked * (1.0 / self.window).min(1.0);
        step *= (srtt / VIRTUAL_RTT).min(1.0) * distance.max(0.25);
        step *= 1.0 + MULTIPLICATIVE * self.window * calm * distance;
        let most = 1.0 + self.flight.max(self.flight_before) * FLIGHT_HEADROOM;
        let rate = self.window * self.wire_bits / srtt.max(1e-9);
        let is_below = self.params.max_rate.is_none_or(|max| rate < max.bps());
        if self.window + step <= most.min(MAX_WINDOW) && is_below {
            self.may_move_inflection |= step > 0.0;
            self.window += step;
        }
        (self.flight_before, self.flight) = (self.flight, 0.0);
    }
}

impl CongestionControl for Scream {
    fn on_sent(&mut self, _now: Time, in_flight: u32) {
        self.flight = self.flight.max(f64::from(in_flight));
    }

    fn on_ecn_counts(&mut self, _window: &mut Window, counts: &EcnCounts) {
        self.delivered += f64::from(counts.acked);
        self.marked += f64::from(counts.marked);
        self.acked_marked += f64::from(counts.marked);
        self.is_marked |= counts.marked > 0;
    }

    fn on_lost(&mut self, _window: &mut Window, _lost: &Lost) {
        self.is_lost = true;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let (now, srtt) = (ack.now, ack.srtt.seconds());
        let Some(sample) = ack.sample else { return };
        self.acked += f64::from(sample.newly_acked) + f64::from(sample.newly_lost);
        if let Some(rtt) = sample.rtt {
            self.measure_delay(rtt.seconds() - ack.min_rtt.seconds(), now, srtt);
        }
        if self.delivered > 0.0 && now.since(self.alpha_at).seconds() >= srtt.min(ALPHA_INTERVAL) {
            let share = (self.marked / self.delivered).min(1.0);
            if share >= self.alpha {
                self.alpha += ALPHA_UP * (share - self.alpha);
            } else {
                self.alpha *= 1.0 - ALPHA_DOWN;
            }
            (self.delivered, self.marked, self.alpha_at) = (0.0, 0.0, now);
        }
        let distance = self.distance();
        self.react(now, srtt, distance);
        self.grow(now, srtt, distance);
        window.cwnd = self.window;
        if srtt > 0.0 {
            self.pace = (self.window * self.wire_bits / srtt).max(LEAST_PACE) * PACING_HEADROOM;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if let Signal::Rto { .. } = event.signal {
            self.window = self.least;
            window.cwnd = 1.0;
        }
    }

    fn on_recovery_end(&mut self, window: &mut Window, _now: Time) {
        window.cwnd = self.window;
    }

    fn initial_window(&self) -> Option<f64> {
        Some(self.least)
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn counts_marks(&self) -> bool {
        true
    }

    fn sends_ect_1(&self) -> bool {
        self.params.l4s
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        (self.pace > 0.0).then(|| BitRate((self.pace as u64).max(1)))
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("reference_window", self.window);
        out("inflection", self.inflection);
        out("alpha", self.alpha);
        out("mean_queueing_s", self.mean_delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::RateSample;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::near::near;

    fn scream(l4s: bool, window: f64, inflection: f64) -> Scream {
        let params = ScreamParams { l4s, ..ScreamParams::default() };
        let mut control = Scream::new(params, &env(Era::Rfc)).unwrap();
        (control.window, control.inflection) = (window, inflection);
        control
    }

    fn ms(t: u64) -> Time {
        Time::ZERO + Span::from_millis(t)
    }

    fn react(control: &mut Scream, srtt: f64) -> f64 {
        let distance = control.distance();
        control.react(ms(1000), srtt, distance);
        control.window
    }

    /// Alpha 0.5 takes a quarter. 20 is far from 10: (8 x 10/10)^2 = 64, so 1. At the last congestion's window the least,
    /// 0.1, counts as 0.25. With 50 ms the cut is half as large, as it may come twice a round trip.
    #[test]
    fn a_mark_of_l4s_takes_half_of_alpha_and_less_where_congestion_was_before() {
        let cut = |inflection: f64, srtt: f64, delay: f64| {
            let mut control = scream(true, 20.0, inflection);
            (control.alpha, control.is_marked, control.delay) = (0.5, true, delay);
            react(&mut control, srtt)
        };
        near::<12>(cut(10.0, 0.025, 0.0), 15.0);
        near::<12>(cut(20.0, 0.025, 0.0), 20.0 * (1.0 - 0.25 * 0.25));
        near::<12>(cut(20.0, 0.025, 0.016), 15.0); // delay of more than a quarter of 60 ms
        near::<12>(cut(10.0, 0.05, 0.0), 17.5);
    }

    /// What was answered is not answered again, however long nothing else comes.
    #[test]
    fn a_mark_or_a_loss_is_answered_once() {
        for is_lost in [false, true] {
            let mut control = scream(true, 20.0, 10.0);
            (control.alpha, control.is_marked, control.is_lost) = (0.5, !is_lost, is_lost);
            let answered = react(&mut control, 0.025);
            assert!(answered < 20.0);
            let distance = control.distance();
            for later in [1025, 1100, 3000] {
                control.react(ms(later), 0.025, distance);
                near::<12>(control.window, answered);
            }
        }
    }

    /// The mean delay of 45 ms is half-way from 30 to 60: half of a cut by half, and a fourth of that with 100 ms.
    #[test]
    fn losses_classic_marks_and_delay_have_their_factors() {
        let mut control = scream(false, 20.0, 10.0);
        control.is_lost = true;
        control.is_marked = true;
        near::<12>(react(&mut control, 0.025), 14.0);
        let mut control = scream(false, 20.0, 10.0);
        control.is_marked = true;
        near::<12>(react(&mut control, 0.025), 16.0);
        let mut control = scream(true, 20.0, 10.0);
        control.mean_delay = 0.045;
        near::<12>(react(&mut control, 0.1), 20.0 * (1.0 - 0.25 / 4.0));
        // Not again within 25 ms, and the inflection point stays until the window has grown.
        assert_eq!(control.inflection.to_bits(), 20.0f64.to_bits());
        control.mean_delay = 0.06;
        near::<12>(react(&mut control, 0.1), 18.75);
    }

    /// Ten segments acknowledged of a window of ten make one; long after congestion times 1 + 0.02 x 10.
    #[test]
    fn a_round_trip_adds_a_segment_and_two_per_cent_when_congestion_is_long_ago() {
        let grown = |inflection: f64, srtt: f64, congested_ms: u64| {
            let mut control = scream(true, 10.0, inflection);
            (control.acked, control.flight) = (10.0, 10.0);
            control.congested_at = ms(congested_ms);
            let distance = control.distance();
            control.grow(ms(10_000), srtt, distance);
            control.window - 10.0
        };
        near::<12>(grown(1.0, 0.025, 0), 1.2);
        near::<12>(grown(1.0, 0.025, 10_000), 1.0);
        // 1.25 s of the 2.5 s that 100 virtual round trips are.
        near::<12>(grown(1.0, 0.025, 8_750), 1.1);
        near::<12>(grown(1.0, 0.0125, 10_000), 0.5);
        near::<12>(grown(10.0, 0.025, 0), 0.25 * (1.0 + 0.2 * 0.1));
    }

    /// Six of ten segments without a mark make 0.6.
    #[test]
    fn what_was_marked_adds_nothing() {
        let mut control = scream(true, 10.0, 1.0);
        (control.acked, control.acked_marked, control.flight) = (10.0, 4.0, 10.0);
        control.congested_at = ms(10_000);
        control.grow(ms(10_000), 0.025, 1.0);
        near::<12>(control.window, 10.6);
    }

    /// Of 20 in flight a window of up to 31 may come in this round trip and in the next, not in the one after it.
    #[test]
    fn a_window_may_grow_for_what_was_in_flight_a_round_trip_before() {
        let mut control = scream(true, 10.0, 1.0);
        for (t, flight, window) in [(10_000, 20.0, 11.0), (10_025, 5.0, 12.0), (10_050, 5.0, 12.0)]
        {
            (control.acked, control.flight) = (control.window, flight);
            control.congested_at = ms(t);
            control.grow(ms(t), 0.025, 1.0);
            near::<9>(control.window, window);
        }
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut control = scream(true, 10.0, 1.0);
        (control.acked, control.flight) = (10.0, 5.0);
        control.grow(ms(10_000), 0.025, 1.0);
        near::<12>(control.window, 10.0); // 1 + 1.5 x 5 = 8.5
    }

    /// Shares 0.4, then none: 0.4 / 8 = 0.05, then 0.05 x 127/128.
    #[test]
    fn alpha_rises_by_an_eighth_and_falls_by_a_128th() {
        let mut control = scream(true, 10.0, 1.0);
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        for (t, marked) in [(100, 4), (200, 0)] {
            let counts = EcnCounts { acked: 10, marked, ..EcnCounts::at(ms(t)) };
            control.on_ecn_counts(&mut window, &counts);
            let sample = RateSample { has_data: true, newly_acked: 10, ..RateSample::default() };
            let srtt = Span::from_millis(25);
            control.on_ack(&mut window, &Ack { srtt, ..Ack::sampled(ms(t), 10, sample) });
        }
        near::<12>(control.alpha, 0.05 * 127.0 / 128.0);
    }
}
