//! SCReAM v2: the reference window of a control for media, from marks, loss and queueing delay, and the rate that an encoder is to have.
//!
//! Made for video over links whose rate changes: marks of L4S take in proportion, classic marks and losses a fixed part, and delay that grows
//! beyond half of a target is answered like marks. Near the window of the last congestion it moves little. A flow with `media` follows the whole
//! draft: the encoder gets less than the window carries, so that little waits at the sender, and more than the window may be in flight, so that a
//! frame leaves soon.
//!
//! **Source**: I. Johansson, M. Westerlund, M. Kühlewind, draft-ietf-ccwg-rfc8298bis-screamv2, the editors' copy of August 2026
//! (after -01), sections "Network Congestion Control", "Sender Transmission Control" and "Media Rate Control".
//!
//! **Rule** (w: reference window in segments, `w_i`: that of the last congestion, V = 25 ms, q: mean queueing delay)
//! ```text
//! s = max(0.1, min(1, (8 (w - w_i) / w_i)^2))
//! at most once per min(V, SRTT), and by the first that applies:
//!   loss:           w <- 0.7 w
//!   mark (L4S):     w <- w (1 - b),  b = alpha / 2 / max(1, SRTT / V), while the delay is below target / 4 times max(0.25, s) max(0.25, j)
//!   mark (classic): w <- 0.8 w
//!   q > target / 2: w <- w (1 - b),  b = min(1, 2 q / target - 1) / 2 / max(1, SRTT / V)
//! once per SRTT:    w += u / w  min(1, SRTT / V) max(0.25, s) max(0.1, j) (1 + 0.02 w c s)      unless w > 1 + 1.5 (most in flight)
//!   u: segments acknowledged without mark;  c = min(1, time since congestion / (100 max(V, SRTT)))
//! alpha: each min(10 ms, SRTT) from the share F of marks:  alpha + (F - alpha) / 8 if F >= alpha, else alpha 127 / 128
//! q:     each min(V, SRTT) from the delay:  the delay if it is less, else q + (delay - q) / 4
//! j:     1; with `reduce_jitter` 1 less the mean range of the delay / 10 ms, at least 0
//! media: rate R = (1 - min(0.2, max(0, 1/w - 0.1))) MSS / (MSS + 20) / (1.2 + a + d)  w / SRTT, within the encoder's range
//!        each frame:  a += (time that the oldest data waits / T - 1/4) / 16 in [0, 0.5];  d: mean (1/64) excess over R T in [0, 0.2]
//!        in flight:   w (1.5 + 1.5 j)
//! paced: 1.5 R, from 0.8 of the encoder's largest rate on up to 4 times that; without media 1.5 w / SRTT;   w >= 3000 B
//! ```
//! Without `media` the flow has data always, and the window is the limit in flight. The draft refers to the published program (EricssonResearch/scream,
//! commit c8f84c3) for two rules of media, whose numbers are that program's: near the largest rate (0.95) w is at most the most in flight in 20 round
//! trips or what 1.5 times that rate needs, and SRTT falls by 1/1024 a round trip only while 1 + 1.5 (most in flight) < w. Left out are the
//! options: policer detection, undershoot remedy, a threshold of loss, competing-flows compensation (the target stays at `qdelay_target`), clock drift.
//! Deviations: the queueing delay is the round trip less its minimum, not one way; segments take the place of bytes; the frame period is the
//! encoder's mean, not measured; lost data is sent again, as the flow's transport does, which RTP does not; a timeout, which the source leaves
//! open, leaves one segment, and the least window from the next acknowledgement on. ECN is always on (`l4s` says which).
//!
//! Defaults by era: the same in all, the draft's.

mod media;
#[cfg(test)]
mod tests;

use media::Carried;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{
    Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Frame, Lost, MAX_WINDOW, MediaSource,
    Signal, Window,
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
/// `QDELAY_MIN_MAX_AVG_G`, `QDELAY_DEV_AVG_G` and `QDELAY_DEV_THRESHOLD`, seconds.
const RANGE_GAIN: f64 = 1.0 / 16.0;
const JITTER_GAIN: f64 = 1.0 / 32.0;
const JITTER_LIMIT: f64 = 0.01;

/// Parameters of SCReAM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScreamParams {
    /// Data leaves as ECT(1), and marks are L4S's (`IS_L4S`); else they are classic ones.
    pub l4s: bool,
    /// Queueing delay that is answered in full; half of it is none yet (`QDELAY_TARGET_LO`).
    #[schemars(range(min = 1e-6))]
    pub qdelay_target: Span,
    /// Rate at which the window stops to grow (`TARGET_BITRATE_MAX`). Left out: none. With `media` its largest rate is that.
    pub max_rate: Option<BitRate>,
    /// Delay that varies makes changes of the window smaller and lets less be in flight (`REDUCE_JITTER`, which the published program always does).
    pub reduce_jitter: bool,
}

impl Default for ScreamParams {
    fn default() -> Self {
        Self {
            l4s: false,
            qdelay_target: Span::from_millis(60),
            max_rate: None,
            reduce_jitter: false,
        }
    }
}

/// SCReAM v2.
pub struct Scream {
    params: ScreamParams,
    wire_bits: f64,
    least: f64,
    media: Option<Carried>,
    mss: f64,
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
    /// Seconds: largest and least delay, both forgotten, the mean of their distance; 1 down to 0 as that grows.
    most_delay: f64,
    least_delay: f64,
    jitter: f64,
    steadiness: f64,
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
        let mss = f64::from(env.mss.max(1));
        let least = (LEAST_BYTES / mss).max(1.0);
        let params_target = params.qdelay_target.seconds();
        Ok(Self {
            params,
            wire_bits: f64::from(env.wire_size) * 8.0,
            least,
            window: least,
            inflection: 1.0 / mss,
            media: None,
            mss,
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
            most_delay: params_target,
            least_delay: 0.0,
            jitter: 0.0,
            steadiness: 1.0,
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
        if self.params.reduce_jitter {
            let target = self.params.qdelay_target.seconds();
            self.most_delay = delay.max(self.most_delay).min(target);
            self.least_delay = self.least_delay.min(delay);
        }
        if now.since(self.mean_delay_at).seconds() >= srtt.min(VIRTUAL_RTT) {
            if delay < self.mean_delay {
                self.mean_delay = delay;
            } else {
                self.mean_delay += DELAY_GAIN * (delay - self.mean_delay);
            }
            if self.params.reduce_jitter {
                self.measure_jitter();
            }
            self.mean_delay_at = now;
        }
    }

    /// `calculate_ref_wnd_delay_scale`.
    fn measure_jitter(&mut self) {
        self.most_delay *= 1.0 - RANGE_GAIN;
        self.least_delay += RANGE_GAIN * (self.most_delay - self.least_delay);
        self.jitter += JITTER_GAIN * (self.most_delay - self.least_delay - self.jitter);
        self.steadiness = (1.0 - self.jitter / JITTER_LIMIT).clamp(0.0, 1.0);
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
                backoff *= distance.max(0.25) * self.steadiness.max(0.25);
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
        step *= (srtt / VIRTUAL_RTT).min(1.0) * distance.max(0.25) * self.steadiness.max(0.1);
        step *= 1.0 + MULTIPLICATIVE * self.window * calm * distance;
        let most = 1.0 + self.flight.max(self.flight_before) * FLIGHT_HEADROOM;
        let rate = self.window * self.wire_bits / srtt.max(1e-9);
        let is_below = match &self.media {
            Some(media) => media.is_below_most(),
            None => self.params.max_rate.is_none_or(|max| rate < max.bps()),
        };
        if self.window + step <= most.min(MAX_WINDOW) && is_below {
            self.may_move_inflection |= step > 0.0;
            self.window += step;
        }
        if let Some(media) = &mut self.media {
            media.is_limited = most < self.window;
            if let Some(most) = media.limit_window(self.flight, srtt) {
                self.window = self.window.min(most).max(self.least);
            }
        }
        (self.flight_before, self.flight) = (self.flight, 0.0);
    }

    /// What may be in flight, segments (`ref_wnd` times `ref_wnd_overhead`).
    fn limit(&self) -> f64 {
        if self.media.is_some() {
            self.window * media::overhead(self.steadiness)
        } else {
            self.window
        }
    }
}

impl CongestionControl for Scream {
    fn take_media(&mut self, source: MediaSource) {
        self.media = Some(Carried::new(source, self.mss));
    }

    fn on_frame(&mut self, _now: Time, frame: &Frame) {
        if let Some(media) = &mut self.media {
            media.on_frame(frame);
            media.aim(self.window);
        }
    }

    fn media_rate(&self) -> Option<BitRate> {
        self.media.as_ref().map(|media| BitRate((media.target as u64).max(1)))
    }

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
        let (now, mut srtt) = (ack.now, ack.srtt.seconds());
        let Some(sample) = ack.sample else { return };
        if let Some(media) = &mut self.media {
            srtt = media.measure_srtt(now, srtt);
        }
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
        window.cwnd = self.limit();
        if let Some(media) = &mut self.media {
            media.aim(self.window);
            let wire = self.wire_bits / (self.mss * 8.0);
            self.pace = media.target.max(LEAST_PACE) * PACING_HEADROOM * media.relax() * wire;
        } else if srtt > 0.0 {
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
        window.cwnd = self.limit();
    }

    fn initial_window(&self) -> Option<f64> {
        Some(self.limit())
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
        if let Some(media) = &self.media {
            out("target_bps", media.target);
            out("rate_adjust_factor", media.adjust);
            out("frame_size_dev", media.deviation);
            out("steadiness", self.steadiness);
        }
    }
}
