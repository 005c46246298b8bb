//! Prague: DCTCP's response to marks, made fit for the Internet: independent of the round trip below 25 ms, paced.
//!
//! Over a queue that marks for L4S it keeps two marks a round trip, so that the queue stays short; a loss is answered as
//! Reno does.
//!
//! **Source**: draft-briscoe-iccrg-prague-congestion-control-04, section 2.4; requirements: RFC 9331, section 4. Compared line by
//! line with `tcp_prague` 0.6 and 0.7 of the L4S team; of the draft, with what quic-go's notes, noq and quiche quote of it.
//!
//! **Rule** (V = max(SRTT, 25 ms), the virtual round trip; F = marked / acknowledged since the last update)
//! ```text
//! alpha:  1 at the first mark; then once per V  alpha <- (1 - g) alpha + g F
//! mark:   w <- (1 - alpha / 2) w,  at most once per V;  ssthresh <- w;   w >= 2
//! ACK:    w += (SRTT / V)^2 u / w,  u = segments acknowledged without a mark; SRTT / V counts as 1 in slow start and
//!         in the first 500 round trips after it
//! loss:   w <- w / 2, of the window before a reduction by marks in the same round trip;  timeout: w <- 1
//! paced:  w / SRTT, twice that while w < ssthresh / 2;  at most 250 us of segments at once
//! ```
//! Deviations: no detection of classic ECN queues and no fall-back on them (RFC 9331, section 4.3, item 4); Linux does
//! not scale by V above 100 ms, which is the same, as V = SRTT there. Counts are AccECN's (RFC 9768), of packets.
//! Linux's module (`tcp_prague` 0.6 of the L4S team) goes by a segment for each acknowledgement to what a mark leaves, updates
//! alpha at the end of a round only, gives no credit to a loss for a reduction by marks, and paces below two segments in a round
//! trip where this keeps them. It counts its 500 rounds out of slow start over the connection; here they begin anew after a
//! timeout. Its version 0.7 (2024) is another control: the first mark halves the window and alpha begins at 0, V applies after 4
//! rounds, and after marks a window of up to 4 segments gives way to a rate of 100 kbit/s or
//! more, 3 % above and below it in the halves of V, with smaller packets.
//!
//! Defaults by era: the same in all: g = 1/16, V = 25 ms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::in_use;
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Signal, Window, pace};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Span, Time};

/// Least window in segments.
const LEAST: f64 = 2.0;
/// Most time at the pacing rate that leaves at once, in seconds.
const BURST: f64 = 250e-6;

/// Parameters of Prague.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PragueParams {
    /// Weight of the newest round trip in the estimate.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub g: f64,
    /// Least virtual round trip; flows with shorter ones get the rate of one with this. 0: each has its own.
    pub rtt_virt_min: Span,
    /// Round trips after slow start before the virtual round trip applies.
    #[schemars(range(min = 0), extend("x-unit" = "round trips"))]
    pub rtt_transition: u32,
}

impl Default for PragueParams {
    fn default() -> Self {
        Self { g: 1.0 / 16.0, rtt_virt_min: Span::from_millis(25), rtt_transition: 500 }
    }
}

/// Prague.
pub struct Prague {
    params: PragueParams,
    era: Era,
    wire_bits: f64,
    /// None before the first mark.
    alpha: Option<f64>,
    acked: f64,
    marked: f64,
    updated: Time,
    /// Segments of the present acknowledgement that no mark is reported for.
    unmarked: u32,
    srtt: Span,
    /// When a mark last reduced the window, and by how much.
    reduced: Option<(Time, f64)>,
    round: Option<u64>,
    /// Round trips in congestion avoidance.
    rounds: u32,
    pacing: f64,
}

impl About<CcEnv> for Prague {
    type Params = PragueParams;
    const INFO: Info = Info {
        name: "prague",
        title: "TCP Prague",
        source: "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4 (compared with tcp_prague 0.6 and 0.7)",
        status: Status::Variant,
    };

    fn new(params: PragueParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            wire_bits: f64::from(env.wire_size) * 8.0,
            alpha: None,
            acked: 0.0,
            marked: 0.0,
            updated: Time::ZERO,
            unmarked: 0,
            srtt: Span::ZERO,
            reduced: None,
            round: None,
            rounds: 0,
            pacing: 0.0,
        })
    }
}

impl Prague {
    fn virtual_rtt(&self) -> Span {
        if self.rounds >= self.params.rtt_transition {
            self.srtt.max(self.params.rtt_virt_min)
        } else {
            self.srtt
        }
    }

    fn pace(&mut self, window: &Window) {
        if self.srtt > Span::ZERO {
            let gain = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.0 };
            self.pacing = gain * window.cwnd / self.srtt.seconds();
        }
    }
}

impl CongestionControl for Prague {
    fn on_ecn_counts(&mut self, _window: &mut Window, counts: &EcnCounts) {
        self.acked += f64::from(counts.acked);
        self.marked += f64::from(counts.marked);
        self.unmarked = counts.acked.saturating_sub(counts.marked);
        match self.alpha {
            None if counts.marked > 0 => {
                self.alpha = Some(1.0);
                (self.acked, self.marked, self.updated) = (0.0, 0.0, counts.now);
            }
            Some(alpha) if counts.now.since(self.updated) >= self.virtual_rtt() => {
                if self.acked > 0.0 {
                    let share = (self.marked / self.acked).min(1.0);
                    self.alpha = Some(alpha + self.params.g * (share - alpha));
                }
                (self.acked, self.marked, self.updated) = (0.0, 0.0, counts.now);
            }
            _ => {}
        }
    }

    fn on_slow_start(&mut self, window: &mut Window, ack: &Ack) {
        (self.srtt, self.round) = (ack.srtt, Some(ack.round));
        self.rounds = 0;
        self.pace(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.srtt = ack.srtt;
        if self.round.replace(ack.round).is_some_and(|round| round != ack.round) {
            self.rounds = self.rounds.saturating_add(1);
        }
        if !ack.app_limited {
            let virtual_rtt = self.virtual_rtt().seconds();
            let ratio = if virtual_rtt > 0.0 { ack.srtt.seconds() / virtual_rtt } else { 1.0 };
            let unmarked = f64::from(self.unmarked.min(ack.acked));
            window.cwnd += ratio * ratio * unmarked / window.cwnd;
        }
        self.unmarked = 0;
        self.pace(window);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        match event.signal {
            Signal::EcnEcho => {
                let limit = self.virtual_rtt();
                if self.reduced.is_some_and(|(reduced_at, _)| event.now.since(reduced_at) < limit) {
                    return;
                }
                let alpha = self.alpha.unwrap_or(1.0);
                window.cwnd = (before * (1.0 - alpha / 2.0)).max(LEAST).min(before);
                window.ssthresh = window.cwnd.max(2.0);
                self.reduced = Some((event.now, before - window.cwnd));
            }
            Signal::FastRetransmit { .. } | Signal::Rto { .. } => {
                let recent = self
                    .reduced
                    .take()
                    .filter(|&(reduced_at, _)| event.now.since(reduced_at) < self.srtt);
                let credit = recent.map_or(0.0, |(_, reduction)| reduction);
                let remaining = f64::midpoint(in_use(window, event, self.era), credit);
                if let Signal::Rto { consecutive } = event.signal {
                    if consecutive <= 1 {
                        window.ssthresh = remaining.max(2.0);
                    }
                    window.cwnd = 1.0;
                } else {
                    window.ssthresh = remaining.max(2.0);
                    window.cwnd = window.ssthresh.min(before);
                }
            }
            Signal::Spurious => {}
        }
        self.pace(window);
    }

    fn needs_ecn_counts(&self) -> bool {
        true
    }

    fn sends_ect_1(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        pace(self.pacing, self.wire_bits)
    }

    fn send_quantum(&self) -> u32 {
        ((self.pacing * BURST) as u32).max(1)
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha.unwrap_or(0.0));
        out("virtual_rtt_s", self.virtual_rtt().seconds());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::near::near;

    fn prague(change: impl Fn(&mut PragueParams)) -> Prague {
        let mut params = PragueParams::default();
        change(&mut params);
        Prague::new(params, &env(Era::Rfc)).unwrap()
    }

    fn ms(t: u64) -> Time {
        Time::ZERO + Span::from_millis(t)
    }

    fn counts(t: u64, acked: u32, marked: u32) -> EcnCounts {
        EcnCounts { acked, marked, ..EcnCounts::at(ms(t)) }
    }

    /// Nothing before the first mark, then 1; 15/16 + (1/16) 2/20 = 0.94375 a round trip later.
    #[test]
    fn the_estimate_begins_with_the_first_mark() {
        let mut control = prague(|_| ());
        let mut window = Window { cwnd: 20.0, ssthresh: 10.0 };
        control.srtt = Span::from_millis(40);
        control.on_ecn_counts(&mut window, &counts(0, 20, 0));
        assert_eq!(control.alpha, None);
        control.on_ecn_counts(&mut window, &counts(10, 1, 1));
        near::<12>(control.alpha.unwrap(), 1.0);
        control.on_ecn_counts(&mut window, &counts(49, 10, 2));
        near::<12>(control.alpha.unwrap(), 1.0);
        control.on_ecn_counts(&mut window, &counts(50, 10, 0));
        near::<12>(control.alpha.unwrap(), 0.943_75);
    }

    /// A flow of 5 ms has a virtual round trip of 25 ms once it has left slow start for long: the estimate and the window
    /// change once in 25 ms, before that once in 5 ms.
    #[test]
    fn the_estimate_and_the_reduction_go_by_the_virtual_round_trip() {
        for (rounds, updates) in [(0, [true; 5]), (2, [false, false, false, false, true])] {
            let mut control = prague(|p| p.rtt_transition = 2);
            let mut window = Window { cwnd: 100.0, ssthresh: 10.0 };
            (control.srtt, control.rounds) = (Span::from_millis(5), rounds);
            control.on_ecn_counts(&mut window, &counts(100, 1, 1));
            control.on_congestion(&mut window, &Congestion::at(ms(100), Signal::EcnEcho, 100));
            for (i, updates) in updates.into_iter().enumerate() {
                let t = 105 + 5 * i as u64;
                let before = (control.alpha, window.cwnd);
                control.on_ecn_counts(&mut window, &counts(t, 10, 1));
                control.on_congestion(&mut window, &Congestion::at(ms(t), Signal::EcnEcho, 100));
                assert_eq!(control.alpha != before.0, updates, "{rounds} rounds, {t} ms");
                assert_eq!(window.cwnd < before.1, updates, "{rounds} rounds, {t} ms");
            }
        }
    }

    #[test]
    fn marks_take_half_of_the_estimate_once_a_round_trip_and_a_loss_half_in_all() {
        let mut control = prague(|_| ());
        let mut window = Window { cwnd: 100.0, ssthresh: 10.0 };
        (control.srtt, control.alpha) = (Span::from_millis(40), Some(0.2));
        let event = |t, signal, flight| Congestion::at(ms(t), signal, flight);
        control.on_congestion(&mut window, &event(100, Signal::EcnEcho, 100));
        near::<12>(window.cwnd, 90.0);
        control.on_congestion(&mut window, &event(120, Signal::EcnEcho, 90));
        near::<12>(window.cwnd, 90.0);
        // A loss in the same round trip: half of 100, not of 90.
        let lost = Signal::FastRetransmit { lost: 1 };
        control.on_congestion(&mut window, &event(130, lost, 90));
        near::<12>(window.cwnd, 50.0);
        control.on_congestion(&mut window, &event(400, lost, 50));
        near::<12>(window.cwnd, 25.0);
    }

    #[test]
    fn marked_segments_do_not_count_for_the_increase() {
        let mut control = prague(|_| ());
        let mut window = Window { cwnd: 100.0, ssthresh: 10.0 };
        control.on_ecn_counts(&mut window, &counts(0, 100, 40));
        let srtt = Span::from_millis(10);
        control.on_ack(&mut window, &Ack { srtt, ..Ack::at(ms(0), 100) });
        near::<12>(window.cwnd, 100.6);
    }

    /// After 500 round trips a flow of 5 ms grows by (5 / 25)^2 = 0.04 segments a round trip, one of 50 ms by 1.
    #[test]
    fn short_round_trips_grow_by_the_square_of_their_share() {
        for (rtt, grown) in [(5, 0.04), (25, 1.0), (50, 1.0)] {
            let mut control = prague(|p| p.rtt_transition = 2);
            let srtt = Span::from_millis(rtt);
            let mut window = Window { cwnd: 100.0, ssthresh: 10.0 };
            let mut steps = Vec::new();
            for round in 0..4 {
                control.on_ecn_counts(&mut window, &counts(0, 100, 0));
                let before = window.cwnd;
                control.on_ack(&mut window, &Ack { srtt, round, ..Ack::at(ms(0), 100) });
                steps.push((window.cwnd - before) * before / 100.0);
            }
            near::<12>(steps[1], 1.0);
            near::<12>(steps[2], grown);
            near::<12>(steps[3], grown);
        }
    }

    /// Marks on each 40th segment: with an update and a reduction once per 25 ms the fluid is
    /// 1 / V = x p V / 2 per V, so that the rate is sqrt-free, 2 / (p V) = 3200 segments/s for every round trip.
    #[test]
    fn the_rate_does_not_depend_on_the_round_trip_below_25_ms() {
        for rtt_ms in [5u64, 10, 25] {
            let mut control = prague(|p| p.rtt_transition = 0);
            let rtt = Span::from_millis(rtt_ms);
            let mut window = Window { cwnd: 16.0 * rtt_ms as f64 / 5.0, ssthresh: 2.0 };
            let (mut now, mut sum, mut time) = (0.0, 0.0, 0.0);
            for segment in 0..400_000u32 {
                let step = rtt.seconds() / window.cwnd;
                now += step;
                let now_time = Time::ZERO + Span::from_seconds(now);
                let marked = u32::from(segment % 40 == 0);
                let report = EcnCounts { acked: 1, marked, ..EcnCounts::at(now_time) };
                control.on_ecn_counts(&mut window, &report);
                if marked > 0 {
                    let event =
                        Congestion::at(now_time, Signal::EcnEcho, window.cwnd.ceil() as u32);
                    control.on_congestion(&mut window, &event);
                }
                control.on_ack(&mut window, &Ack { srtt: rtt, ..Ack::at(now_time, 1) });
                if segment > 200_000 {
                    (sum, time) = (sum + 1.0, time + step);
                }
            }
            let rate = sum / time;
            assert!((rate / 3200.0 - 1.0).abs() < 0.1, "{rtt_ms} ms: {rate}");
        }
    }
}
