//! TCP-NV: avoids congestion in data centres by the largest rate of each round trip.
//!
//! The rate at which data arrive, times the smallest round trip, is the window that fills the path; more than `pad`
//! segments above it are too many.
//!
//! **Source**: L. Brakmo, "TCP-NV: Congestion Avoidance for Data Centers", Linux Plumbers Conference 2010, and "NV: an
//! update", 2015; figures of the second as Linux 6.12 has them (`tcp_nv.c`).
//!
//! **Rule** (R: sample; F: segments in flight when the segment acknowledged had left)
//! ```text
//! per ACK:  A = R / 2 + A / 2;  rate = max(rate, F / A);  min = least A, of the last period of 5 s x [3/4, 5/4)
//! per round trip:  W = rate min + pad
//!   w > W, and 60 samples (30 before the first decrease) over 2 round trips:  ssthresh <- W, no growth,
//!          w <- w - max(2, 0.3 (w - W)), or W if that is at most 2 below;   with fewer after 10: no growth
//!   w <= W - 2, and 20 samples:  growth is allowed
//!   either decision begins a new period of samples and rates
//! growth:   as Reno, w 2^k in place of w: k + 1 per timeout (8 at most), k - 1 per 9 round trips without congestion
//! loss, ECN:  ssthresh, w <- 0.8 w;  timeout: ssthresh <- 0.8 w, w <- 1
//! after these nothing grows, slow start neither, until 20 samples allow it;  A and min begin anew
//! ```
//! After a timeout the window is thus one segment until all is repaired (what was sent twice gives no sample) and 20
//! more round trips; slow start then leads to ssthresh.
//!
//! Deviations: no base round trip from outside; the least window that Linux adapts to segmentation offload is left out,
//! as every segment here is a packet. In the eras of ns-2 slow start is the agent's, which grows at once.
//!
//! Defaults by era: the same in all; in era `linux` windows are whole segments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::usage::{growth, in_use};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::{Purpose, Stream};
use crate::units::{Span, Time};

/// Below W by this much the window may grow.
const PAD_BUFFER: f64 = 2.0;
/// Fewest acknowledged segments for one of growth, where it is not slowed.
const LEAST_PER_SEGMENT: f64 = 4.0;
/// Least window that NV leaves without a loss.
const LEAST: f64 = 2.0;
/// Samples that a decision takes: to grow, to decrease, to decrease for the first time.
const TO_GROW: u32 = 20;
const TO_DECREASE: u32 = 60;
const TO_END_SLOW_START: u32 = 30;
/// Round trips before a decrease, and round trips after which growth stops without one.
const LEAST_ROUNDS: u32 = 2;
const STOP_ROUNDS: u32 = 10;
/// Growth is slowed by at most two to this power.
const SLOWEST: u32 = 8;
/// When the smallest round trip is first begun anew.
const FIRST_PERIOD: Span = Span::from_millis(2000);

/// Parameters of TCP-NV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NvParams {
    /// Segments that may be queued in the network.
    #[schemars(range(min = 2), extend("x-unit" = "segments"))]
    pub pad: f64,
    /// Mean time for which the smallest round trip is kept.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub reset_period: Span,
    /// Part of what is too much that one decrease takes.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub decrease: f64,
    /// Factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub loss_factor: f64,
    /// Round trips without congestion after which growth that a timeout slowed is doubled; 0: timeouts slow
    /// nothing.
    #[schemars(extend("x-unit" = "round trips"))]
    pub slow_rounds: u32,
}

impl Default for NvParams {
    fn default() -> Self {
        Self {
            pad: 10.0,
            reset_period: Span::from_millis(5000),
            decrease: 0.3,
            loss_factor: 0.8,
            slow_rounds: 8,
        }
    }
}

/// TCP-NV.
pub struct Nv {
    params: NvParams,
    era: Era,
    growth: Growth,
    stream: Stream,
    may_grow: bool,
    /// Growth is divided by two to this power.
    slowed: u32,
    /// Averaged round trip in seconds; 0: it begins anew.
    rtt: f64,
    min_rtt: f64,
    /// The smallest of the present period, which becomes `min_rtt` at its end.
    next_min_rtt: f64,
    period_end: Option<Time>,
    round: Option<u64>,
    /// Largest rate since the last decision in segments per second.
    rate: f64,
    samples: u32,
    rounds: u32,
    calm_rounds: u32,
}

impl About<CcEnv> for Nv {
    type Params = NvParams;
    const INFO: Info = Info {
        name: "nv",
        title: "TCP-NV",
        source: "Brakmo, TCP-NV: Congestion Avoidance for Data Centers, Linux Plumbers Conference 2010; \
                 Linux 6.12, tcp_nv.c",
        status: Status::Variant,
    };
    const ALSO: &'static [&'static str] = &["tcp-nv"];

    fn new(params: NvParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            era: env.era,
            growth: Growth::of(env.era),
            stream: Stream::new(0, Purpose::Control, 0),
            may_grow: true,
            slowed: 0,
            rtt: 0.0,
            min_rtt: f64::INFINITY,
            next_min_rtt: f64::INFINITY,
            period_end: None,
            round: None,
            rate: 0.0,
            samples: 0,
            rounds: 0,
            calm_rounds: 0,
        })
    }
}

impl Nv {
    /// Takes a sample, and decides once per round trip.
    fn measure(&mut self, window: &mut Window, ack: &Ack) {
        let Some(sample) = ack.rtt.map(Span::seconds) else { return };
        let flight = f64::from(ack.newest.in_flight);
        if sample <= 0.0 || flight == 0.0 {
            return;
        }
        if self.rtt > 0.0 {
            self.rtt = f64::midpoint(self.rtt, sample);
        } else {
            (self.rtt, self.min_rtt) = (sample, sample);
        }
        self.rate = self.rate.max(flight / self.rtt);
        self.samples = self.samples.saturating_add(1);
        self.min_rtt = self.min_rtt.min(self.rtt);
        self.next_min_rtt = self.next_min_rtt.min(self.rtt);
        let end = *self.period_end.get_or_insert(ack.now + FIRST_PERIOD);
        if ack.now >= end {
            self.min_rtt = self.next_min_rtt;
            self.next_min_rtt = f64::INFINITY;
            let fraction = 0.75 + 0.5 * self.stream.uniform();
            let period = Span::from_seconds(self.params.reset_period.seconds() * fraction);
            self.period_end = Some(ack.now + period);
        }
        if *self.round.get_or_insert(ack.round) != ack.round {
            self.round = Some(ack.round);
            self.rounds = self.rounds.saturating_add(1);
            if self.decide(window) {
                (self.rate, self.samples, self.rounds) = (0.0, 0, 0);
            }
        }
    }

    /// The decision of a round trip; false if there is none.
    fn decide(&mut self, window: &mut Window) -> bool {
        let most = self.rate * self.min_rtt + self.params.pad;
        if window.cwnd > most {
            if self.rounds < LEAST_ROUNDS {
                return false;
            }
            let first = window.ssthresh.is_infinite();
            if self.samples < if first { TO_END_SLOW_START } else { TO_DECREASE } {
                self.may_grow &= first || self.rounds <= STOP_ROUNDS;
                return false;
            }
            self.may_grow = false;
            self.calm_rounds = 0;
            let excess = window.cwnd - most;
            let decrease =
                if excess > 2.0 { (self.params.decrease * excess).max(2.0) } else { excess };
            window.ssthresh = most.max(2.0);
            window.cwnd = (window.cwnd - decrease).max(LEAST);
            return true;
        }
        if window.cwnd > most - PAD_BUFFER || self.samples < TO_GROW {
            return false;
        }
        self.may_grow = true;
        self.calm_rounds += 1;
        if self.slowed > 0 && self.calm_rounds > self.params.slow_rounds {
            (self.slowed, self.calm_rounds) = (self.slowed - 1, 0);
        }
        true
    }
}

impl CongestionControl for Nv {
    fn on_slow_start(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(window, ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(window, ack);
        if !self.may_grow {
            return;
        }
        if window.cwnd < window.ssthresh {
            // The acknowledgement that allows growth; slow start handles those that follow.
            window.cwnd = (window.cwnd + growth(ack, self.era)).min(window.ssthresh);
            return;
        }
        // Linux has the least of four only where growth is not slowed.
        let least = if self.slowed > 0 { 1.0 } else { LEAST_PER_SEGMENT };
        let per = (window.cwnd * f64::from(1 << self.slowed)).max(least);
        if self.era == Era::Linux {
            self.growth.add_one_per(window, ack, per as u32);
        } else {
            window.cwnd += growth(ack, self.era) / per;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if event.signal == Signal::Spurious {
            return;
        }
        if matches!(event.signal, Signal::Rto { .. }) && self.params.slow_rounds > 0 {
            self.slowed = (self.slowed + 1).min(SLOWEST);
        }
        self.may_grow = false;
        (self.rtt, self.rate, self.samples, self.rounds, self.calm_rounds) = (0.0, 0.0, 0, 0, 0);
        let remaining = self.params.loss_factor * in_use(window, event, self.era);
        self.growth.reduce_to(window, event, remaining);
    }

    fn uses_slow_start(&self) -> bool {
        self.may_grow || self.era.is_ns2()
    }

    fn take_stream(&mut self, stream: Stream) {
        self.stream = stream;
    }

    fn keeps_queued(&self) -> Option<f64> {
        Some(self.params.pad)
    }

    fn phase(&self) -> &'static str {
        if self.may_grow { "growing" } else { "held" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate_segments_per_s", self.rate);
        out("min_rtt_s", if self.min_rtt.is_finite() { self.min_rtt } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;

    fn nv() -> Nv {
        Nv::new(NvParams::default(), &env(Era::Rfc)).unwrap()
    }

    /// `count` samples of `ms` in each of `rounds` round trips, and the first of the next.
    fn run(nv: &mut Nv, window: &mut Window, round: &mut u64, rounds: u64, count: u32, ms: u64) {
        for _ in 0..rounds {
            for _ in 0..count {
                ack(nv, window, *round, ms);
            }
            *round += 1;
        }
        ack(nv, window, *round, ms);
    }

    fn ack(nv: &mut Nv, window: &mut Window, round: u64, ms: u64) {
        let mut ack = Ack { rtt: Some(Span::from_millis(ms)), round, ..Ack::at(Time::ZERO, 0) };
        ack.newest.in_flight = 100;
        nv.measure(window, &ack);
    }

    /// 100 segments in flight, round trips of 100 ms and then 125 ms: the rate is 1000, then 800 segments/s. With 80
    /// segments/0.1 s and 10 queued a window of 90 is enough; of 100 too much by 10: 3 are taken. (The average of
    /// 100 and 125 needs a new period to forget 100 ms: the rate of the last samples, 800, is met by the first
    /// decision after a new period.)
    #[test]
    fn three_tenths_of_what_is_too_much_are_taken() {
        let mut nv = nv();
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
        (nv.rtt, nv.min_rtt, nv.round) = (0.125, 0.1, Some(0));
        let mut round = 0;
        run(&mut nv, &mut window, &mut round, 2, 30, 125);
        assert!((window.ssthresh - 90.0).abs() < 1e-9, "{}", window.ssthresh);
        assert!((window.cwnd - 97.0).abs() < 1e-9, "{}", window.cwnd);
        assert!(!nv.may_grow);
        nv.on_ack(&mut window, &Ack::at(Time::ZERO, 97));
        assert!((window.cwnd - 97.0).abs() < 1e-9, "held");
    }

    #[test]
    fn a_decrease_takes_sixty_samples_in_two_round_trips_and_thirty_at_first() {
        for (ssthresh, rounds, count, decreases) in [
            (50.0, 2, 29, false),
            (50.0, 2, 30, true),
            (50.0, 1, 100, false),
            (f64::INFINITY, 2, 15, true),
        ] {
            let mut nv = nv();
            let mut window = Window { cwnd: 100.0, ssthresh };
            (nv.rtt, nv.min_rtt, nv.round) = (0.125, 0.1, Some(0));
            run(&mut nv, &mut window, &mut 0, rounds, count, 125);
            assert_eq!(window.cwnd < 100.0, decreases, "{ssthresh} {rounds} {count}");
        }
    }

    /// 100 in flight at 100 ms, no queue: W = 100 + 10. At 108 growth goes on, at 109 nothing is decided, 111 is
    /// one too many: the window becomes W.
    #[test]
    fn within_two_segments_of_the_pad_nothing_is_decided() {
        for (cwnd, after, grows) in
            [(108.0, 108.0, true), (109.0, 109.0, false), (111.0, 110.0, false)]
        {
            let mut nv = nv();
            nv.may_grow = false;
            (nv.rtt, nv.min_rtt, nv.round) = (0.1, 0.1, Some(0));
            let mut window = Window { cwnd, ssthresh: 50.0 };
            run(&mut nv, &mut window, &mut 0, 2, 30, 100);
            assert!((window.cwnd - after).abs() < 1e-9, "{cwnd}: {}", window.cwnd);
            assert_eq!(nv.may_grow, grows, "{cwnd}");
        }
    }

    #[test]
    fn a_loss_keeps_eight_tenths_and_a_timeout_halves_growth_for_nine_calm_round_trips() {
        let mut nv = nv();
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
        let lost = Signal::FastRetransmit { lost: 1 };
        nv.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 100));
        assert_eq!((window.cwnd, window.ssthresh, nv.rtt), (80.0, 80.0, 0.0));
        nv.on_congestion(
            &mut window,
            &Congestion::at(Time::ZERO, Signal::Rto { consecutive: 1 }, 80),
        );
        assert_eq!((window.cwnd, window.ssthresh, nv.slowed), (1.0, 64.0, 1));
        // A window of 50 at 100 in flight and no queue may grow: half a segment per round trip.
        let mut round = 0;
        window = Window { cwnd: 50.0, ssthresh: 2.0 };
        run(&mut nv, &mut window, &mut round, 1, 20, 100);
        nv.on_ack(&mut window, &Ack::at(Time::ZERO, 50));
        assert!((window.cwnd - 50.5).abs() < 1e-9, "{}", window.cwnd);
        for _ in 0..8 {
            assert_eq!(nv.slowed, 1);
            run(&mut nv, &mut window, &mut round, 1, 20, 100);
        }
        assert_eq!(nv.slowed, 0);
    }

    /// `tcpnv_cong_avoid`: ssthresh outlives the time in which nothing grows, and slow start goes on to it when 20 samples
    /// allow growth.
    #[test]
    fn after_a_timeout_the_window_is_held_and_slow_start_then_leads_to_ssthresh() {
        let mut nv = nv();
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
        let timeout = Signal::Rto { consecutive: 1 };
        nv.on_congestion(&mut window, &Congestion::at(Time::ZERO, timeout, 100));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 80.0));
        let sample = |round| {
            let mut ack =
                Ack { rtt: Some(Span::from_millis(100)), round, ..Ack::at(Time::ZERO, 1) };
            ack.newest.in_flight = 1;
            ack
        };
        for round in 0..19 {
            assert!(!nv.uses_slow_start());
            nv.on_ack(&mut window, &sample(round));
            assert_eq!((window.cwnd, window.ssthresh), (1.0, 80.0), "{round}");
        }
        nv.on_ack(&mut window, &sample(19));
        assert!(nv.uses_slow_start());
        assert_eq!((window.cwnd, window.ssthresh), (2.0, 80.0));
    }
}
