//! BBR version 2: bounds what is in flight by the losses of its probes, and probes for one round trip or more.
//!
//! What: the model of the path and the states of version 3, which came out of it; a probe for bandwidth ends by what
//! is in flight, not by a plateau of the rate, and the window follows packet conservation as recovery begins.
//!
//! **Source**: draft-cardwell-iccrg-bbr-congestion-control-02 (March 2022); what it does not say is as in version 3.
//! Compared with the pseudocode that s2n-quic-core 0.91.0 quotes of that version beside its own code (sections 2.6 to 2.14, 4.2 to
//! 4.6): the same but for the deviations below. What the draft says of timeouts is not quoted there, and not compared.
//!
//! **Rule**, where it differs from `bbr3`
//! ```text
//! Startup -> Drain   max_bw grew less than 25 % in 3 rounds, or a round of loss > 2 % in 3 ranges or more, which sets
//!                    no inflight_longterm;   Drain has no limit of rounds
//! UP -> DOWN         min_rtt has passed and more than 1.25 BDP is in flight, or loss > 2 %;   cwnd gain of UP: 2
//! no careful probe after one that went too high;   loss > 2 % counts with the acknowledgement, too
//! fast recovery      cwnd = in flight + delivered for a round;   in all of it less what is newly lost
//! extra_acked        of 10 rounds in Startup, too;   quantum of one segment below 1.2 Mbit/s
//! spurious losses    give back the window only
//! ```
//! Names are those of version 3: `inflight_longterm` and `bw_shortterm` are `inflight_hi` and `bw_lo` in the source.
//!
//! Deviations: no ECN response, as in the source, which describes the response to losses only. `bw_hi` is left out, for
//! the source never lowers it. Its section 2.8 gives `BBRHeadroom` as 0.85 where its pseudocode takes the headroom off: a
//! share of 0.15 is taken off here, as in Linux.
//!
//! Linux's alpha of version 2 (`tcp_bbr2.c` of github.com/google/bbr) is another: Startup at 2.885 in rate and window and a
//! threshold of 8 ranges of losses, which sets `inflight_hi`; DOWN at 0.75; a probe after one that went too high stops at
//! `inflight_hi` and, if nothing was lost, refills and probes again.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bbr3, Bbr3Params, Version};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Lost, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{BitRate, Span, Time};

/// Below this rate, in bit/s, a quantum may be one segment.
const SLOW_BPS: f64 = 1.2e6;
/// BDP in flight beyond which a probe has seen enough.
const PROBED_GAIN: f64 = 1.25;

/// Parameters of BBR version 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr2Params {
    /// `BBRStartupPacingGain`: 4 ln 2 doubles the rate each round.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub startup_pacing_gain: f64,
    /// cwnd gain of all states but `ProbeRTT`.
    #[schemars(range(min = 1))]
    pub cwnd_gain: f64,
    /// Pacing gain of `ProbeBW_UP`.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub probe_up_pacing_gain: f64,
    /// Pacing gain of `ProbeBW_DOWN`.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub probe_down_pacing_gain: f64,
    /// `BBRLossThresh`: share of losses in a round trip that a probe may cause.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub loss_thresh: f64,
    /// `BBRBeta`: least share that a bound keeps in a round with losses.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta: f64,
    /// `BBRHeadroom`: share of `inflight_hi` left to others.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub headroom: f64,
    /// `BBRStartupFullLossCnt`: ranges lost in a round that end Startup.
    #[schemars(range(min = 1))]
    pub startup_full_loss_count: u32,
}

impl Default for Bbr2Params {
    fn default() -> Self {
        Self {
            startup_pacing_gain: 2.77,
            cwnd_gain: 2.0,
            probe_up_pacing_gain: 1.25,
            probe_down_pacing_gain: 0.9,
            loss_thresh: 0.02,
            beta: 0.7,
            headroom: 0.15,
            startup_full_loss_count: 3,
        }
    }
}

/// BBR version 2.
pub struct Bbr2(Bbr3);

impl About<CcEnv> for Bbr2 {
    type Params = Bbr2Params;
    const INFO: Info = Info {
        name: "bbr2",
        title: "BBR version 2",
        source: "draft-cardwell-iccrg-bbr-congestion-control-02 (compared with what s2n-quic 0.91 quotes of it)",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["bbrv2"];

    fn new(params: Bbr2Params, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let shared = Bbr3Params {
            startup_pacing_gain: params.startup_pacing_gain,
            drain_pacing_gain: 1.0 / params.cwnd_gain,
            probe_up_pacing_gain: params.probe_up_pacing_gain,
            probe_down_pacing_gain: params.probe_down_pacing_gain,
            cwnd_gain: params.cwnd_gain,
            probe_up_cwnd_gain: params.cwnd_gain,
            loss_thresh: params.loss_thresh,
            beta: params.beta,
            headroom: params.headroom,
            startup_full_loss_count: params.startup_full_loss_count,
            ..Bbr3Params::default()
        };
        Ok(Self(Bbr3::of_version(Version::Two, shared, env)))
    }
}

/// What only one of the two versions does.
impl Bbr3 {
    pub(super) fn least_quantum(&self) -> f64 {
        let slow = self.pacing_rate * self.mss * 8.0 < SLOW_BPS;
        if self.version == Version::Two && slow { 1.0 } else { 2.0 }
    }

    /// The source's condition for the end of `ProbeBW_UP`.
    pub(super) fn has_probed_long_enough(&self) -> bool {
        let enough = self.quantize(self.bdp_multiple_at(self.max_bw, PROBED_GAIN));
        self.now.since(self.cycle_stamp).seconds() > self.min_rtt && self.inflight > enough
    }

    /// Fast recovery began with this acknowledgement: its first round ends when what leaves now arrives.
    pub(super) fn begin_packet_conservation(&mut self) {
        if std::mem::take(&mut self.entered_recovery) {
            self.packet_conservation = true;
            self.rounds.restart(self.delivered);
            self.cwnd = self.inflight + f64::from(self.rs.newly_acked.max(1));
        }
    }

    /// `BBRModulateCwndForRecovery`; true while only what is delivered is replaced.
    pub(super) fn modulates_for_recovery(&mut self) -> bool {
        if self.version == Version::Three {
            return false;
        }
        self.packet_conservation &= !self.rounds.started;
        self.cwnd = (self.cwnd - f64::from(self.rs.newly_lost)).max(1.0);
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(self.inflight + f64::from(self.rs.newly_acked));
        }
        self.packet_conservation
    }
}

impl CongestionControl for Bbr2 {
    fn on_start(&mut self, window: &Window, now: Time, srtt: Span) {
        self.0.on_start(window, now, srtt);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.0.on_ack(window, ack);
    }

    fn on_lost(&mut self, window: &mut Window, lost: &Lost) {
        self.0.on_lost(window, lost);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.0.on_congestion(window, event);
    }

    fn on_recovery_end(&mut self, window: &mut Window, now: Time) {
        self.0.on_recovery_end(window, now);
    }

    fn on_spurious(&mut self, window: &mut Window, event: &Congestion, before: &Window) {
        self.0.on_spurious(window, event, before);
    }

    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.0.on_restart(window, now);
    }

    fn take_stream(&mut self, stream: Stream) {
        self.0.take_stream(stream);
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.0.holds_back()
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.0.pacing_rate()
    }

    fn send_quantum(&self) -> u32 {
        self.0.send_quantum()
    }

    fn phase(&self) -> &'static str {
        self.0.phase()
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.0.probes(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{env, round_ack};
    use crate::cc::{RateSample, Signal};
    use crate::era::Era;
    use crate::rng::Purpose;

    /// A path of 400 segments/s and 100 ms, a BDP of 40 segments; an acknowledgement a round.
    struct Bench {
        control: Bbr2,
        window: Window,
        now: Time,
        delivered: u64,
    }

    impl Bench {
        fn new() -> Self {
            let mut control = Bbr2::new(Bbr2Params::default(), &env(Era::Rfc)).unwrap();
            control.take_stream(Stream::new(1, Purpose::Control, 0));
            let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
            control.on_start(&window, Time::ZERO, Span::from_millis(100));
            Self { control, window, now: Time::ZERO, delivered: 0 }
        }

        fn round_with(&mut self, rate: f64, inflight: u32, change: impl Fn(&mut RateSample)) {
            self.now += Span::from_millis(100);
            let acked = (rate / 10.0) as u32;
            let ack = round_ack(self.now, &mut self.delivered, acked, inflight, |sample| {
                sample.delivery_rate = rate;
                change(sample);
            });
            self.control.on_ack(&mut self.window, &ack);
        }

        fn round(&mut self, rate: f64, inflight: u32) {
            self.round_with(rate, inflight, |_| ());
        }

        fn probing() -> Self {
            let mut bench = Self::new();
            for rate in [100.0, 200.0, 400.0, 400.0, 400.0, 400.0] {
                assert_eq!(bench.control.phase(), "startup");
                bench.round(rate, 80);
            }
            assert_eq!(bench.control.phase(), "drain");
            bench.round(400.0, 40);
            assert_eq!(bench.control.phase(), "probe-bw-cruise");
            bench.now += Span::from_millis(3000);
            bench.round(400.0, 40);
            bench.round(400.0, 40);
            assert_eq!(bench.control.phase(), "probe-bw-up");
            bench
        }
    }

    #[test]
    fn startup_takes_the_place_of_slow_start() {
        assert!(!Bench::new().control.uses_slow_start());
    }

    /// `Inflight(max_bw, 1.25)` is 1.25 x 40 + 2 = 52: 60 in flight at once is too early, 52 later not enough.
    #[test]
    fn a_probe_ends_when_a_round_trip_has_passed_and_more_than_five_quarters_are_in_flight() {
        let mut bench = Bench::probing();
        bench.now = bench.now - Span::from_millis(50);
        bench.round(400.0, 60);
        assert_eq!(bench.control.phase(), "probe-bw-up", "50 ms are less than a round trip");
        for _ in 0..5 {
            bench.round(400.0, 52);
            assert_eq!(bench.control.phase(), "probe-bw-up", "a plateau ends no probe");
        }
        bench.round(400.0, 53);
        assert_eq!(bench.control.phase(), "probe-bw-down");
    }

    /// Six rounds with more in flight than the BDP: version 3 would have left after four.
    #[test]
    fn drain_lasts_until_the_queue_is_gone() {
        let mut bench = Bench::new();
        for rate in [100.0, 200.0, 400.0, 400.0, 400.0, 400.0] {
            bench.round(rate, 80);
        }
        for _ in 0..6 {
            bench.round(400.0, 60);
            assert_eq!(bench.control.phase(), "drain");
        }
        bench.round(400.0, 40);
        assert_eq!(bench.control.phase(), "probe-bw-cruise");
    }

    /// 3 lost of 50 in flight: with the acknowledgement, the bound is what was in flight, and the probe is over.
    #[test]
    fn an_acknowledgement_with_losses_above_the_threshold_bounds_what_is_in_flight() {
        let mut bench = Bench::probing();
        bench.round_with(400.0, 50, |sample| sample.lost = 3);
        assert_eq!(bench.control.phase(), "probe-bw-down");
        let mut bound = f64::NAN;
        bench.control.probes(&mut |name, value| {
            if name == "inflight_longterm" {
                bound = value;
            }
        });
        assert_eq!(bound, 50.0);
    }

    /// 30 in flight, 10 delivered with the ACK that begins recovery, 2 lost with the next: 30 + 10, then less 2, but
    /// not below 28 in flight and 12 delivered; a round later as ever.
    #[test]
    fn recovery_begins_with_packet_conservation() {
        let mut bench = Bench::probing();
        let event = Congestion::at(bench.now, Signal::FastRetransmit { lost: 1 }, 40);
        bench.control.on_congestion(&mut bench.window, &event);
        let recovering = |sample: &mut RateSample| {
            sample.in_recovery = true;
            sample.prior_delivered = 0;
        };
        bench.round_with(100.0, 30, recovering);
        assert_eq!(bench.window.cwnd, 40.0);
        bench.round_with(120.0, 28, |sample| {
            recovering(sample);
            sample.newly_lost = 2;
        });
        assert_eq!(bench.window.cwnd, 40.0);
        bench.round_with(120.0, 20, |sample| sample.in_recovery = true);
        assert_eq!(bench.window.cwnd, 52.0);
        bench.control.on_recovery_end(&mut bench.window, bench.now);
        assert!(bench.window.cwnd > 52.0, "the window of before");
    }
}
