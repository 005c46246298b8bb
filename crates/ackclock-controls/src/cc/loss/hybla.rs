//! Hybla: a flow with a long round trip gets the rate of one with a reference round trip.
//!
//! The window of a satellite flow grows per unit of time as that of a flow of 25 ms, and is larger by the ratio of the
//! round trips, so that the rates are equal.
//!
//! **Source**: C. Caini, R. Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International
//! Journal of Satellite Communications and Networking 22(5), 2004, section 4, doi:10.1002/sat.799.
//! The text could not be had. Compared with its equations as lecture notes quote them (E. Cheung, Emory University, CS 558:
//! window `W(t)`, 2^rho - 1 and rho^2 / W for each acknowledgement, rho segments to begin with), with ns-3 and with Linux.
//!
//! **Rule** (rho = max(SRTT / RTT0, 1))
//! ```text
//! slow start, per acknowledgement:  w += 2^rho - 1,  up to ssthresh
//! avoidance, per segment:           w += rho^2 / w
//! first ssthresh:                   rate at which the first acknowledgements come x smallest round trip
//! w at most `largest_window`;       loss, ECN: w <- w / 2;   timeout: ssthresh <- w / 2, w <- 1
//! rate                              sqrt(1.5 / p) / RTT0 at the loss rate p, for all round trips of RTT0 and more
//! ```
//! The first ssthresh is that of J. Hoe ("Improving the Start-up Behavior of a Congestion Control Scheme for TCP", ACM
//! SIGCOMM 1996), which Hybla includes: three acknowledgements of one round trip, of segments that left together, give the
//! path's rate; until then the window grows as Reno's. Without it slow start overshoots by whole windows at the round
//! trips that Hybla is for.
//!
//! Deviations: avoidance counts segments where the source counts acknowledgements, as Reno here does, so that delayed
//! acknowledgements slow neither beside the other. rho in the exponent is at most `slow_start_rho`, and the window at most
//! 65535 segments, as in Linux. Neither the initial window nor a given ssthresh is multiplied by rho, and packets are not
//! spaced, as the source proposes.
//!
//! Defaults by era: RTT0 = 25 ms. Era `linux` has Linux's arithmetic (`hybla/linux.rs`): avoidance counts acknowledgements too,
//! rho follows from the smallest SRTT in eighths, and no first ssthresh is estimated. There the initial window is rho, and the
//! window grows as Reno's where segments are missing and until what a timeout wrote off is repaired; not here.

mod linux;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{growth, in_use, may_grow, reduce_to};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// Parameters of Hybla.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HyblaParams {
    /// Reference round trip.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rtt0: Span,
    /// Largest rho in slow start, whose growth is exponential in it.
    #[schemars(range(min = 1, max = 20))]
    pub slow_start_rho: f64,
    /// Largest window.
    #[schemars(range(min = 2), extend("x-unit" = "segments"))]
    pub largest_window: f64,
    /// Estimate the first ssthresh from the first acknowledgements. Left out: true; in era `linux` false.
    pub estimate_ssthresh: Option<bool>,
}

/// Acknowledgements of a round trip that give the rate of the path.
const FOR_ESTIMATE: u32 = 3;

impl Default for HyblaParams {
    fn default() -> Self {
        Self {
            rtt0: Span::from_millis(25),
            slow_start_rho: 16.0,
            largest_window: 65_535.0,
            estimate_ssthresh: None,
        }
    }
}

/// Hybla.
pub struct Hybla {
    params: HyblaParams,
    era: Era,
    linux: Option<linux::Arithmetic>,
    rho: f64,
    slow: bool,
    estimates: bool,
    first: Option<FirstAcks>,
}

/// The acknowledgements of one round trip from which the path's rate is estimated.
#[derive(Clone, Copy, Debug)]
struct FirstAcks {
    round: u64,
    since: Time,
    count: u32,
    /// Segments of those after the first.
    segments: u32,
}

impl About<CcEnv> for Hybla {
    type Params = HyblaParams;
    const INFO: Info = Info {
        name: "hybla",
        title: "TCP Hybla",
        source: "Caini, Firrincieli, International Journal of Satellite Communications and Networking 22(5), \
                 2004, section 4, doi:10.1002/sat.799 (compared with Linux, ns-3 and quotations of its equations)",
        status: Status::Variant,
    };

    fn new(params: HyblaParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let linux = (env.era == Era::Linux).then(|| linux::Arithmetic::new(&params));
        let estimates = params.estimate_ssthresh.unwrap_or(linux.is_none());
        Ok(Self { params, era: env.era, linux, rho: 1.0, slow: true, estimates, first: None })
    }
}

impl Hybla {
    /// Sets the first ssthresh when enough acknowledgements of one round trip have come.
    fn estimate(&mut self, window: &mut Window, ack: &Ack) {
        let first = match self.first {
            Some(first) if first.round == ack.round => {
                FirstAcks { count: first.count + 1, segments: first.segments + ack.acked, ..first }
            }
            _ => FirstAcks { round: ack.round, since: ack.now, count: 1, segments: 0 },
        };
        self.first = Some(first);
        let spread = ack.now.since(first.since).seconds();
        if first.count < FOR_ESTIMATE || spread <= 0.0 {
            return;
        }
        self.estimates = false;
        let path = f64::from(first.segments) / spread * ack.min_rtt.seconds();
        window.ssthresh = path.floor().max(2.0);
    }
}

impl CongestionControl for Hybla {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.estimates && window.ssthresh.is_infinite() {
            self.estimate(window, ack);
        }
        self.slow = window.cwnd < window.ssthresh;
        let waits = self.estimates && window.ssthresh.is_infinite();
        if let Some(linux) = &mut self.linux
            && !waits
        {
            linux.grow(window, ack);
            self.rho = linux.rho();
            return;
        }
        self.rho = (ack.srtt.seconds() / self.params.rtt0.seconds()).max(1.0);
        if !may_grow(ack, self.era) {
            return;
        }
        window.cwnd += if waits {
            // Until ssthresh is known, as Reno.
            1.0
        } else if self.slow {
            self.rho.min(self.params.slow_start_rho).exp2() - 1.0
        } else {
            growth(ack, self.era) * self.rho * self.rho / window.cwnd
        };
        if self.slow {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
        window.cwnd = window.cwnd.min(self.params.largest_window);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if let Some(linux) = &mut self.linux {
            linux.reduce(window, event);
        } else {
            let used = in_use(window, event, self.era);
            reduce_to(window, event, self.era, used / 2.0);
        }
        self.slow = window.cwnd < window.ssthresh;
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn phase(&self) -> &'static str {
        if self.slow { "slow-start" } else { "avoidance" }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rho", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{env, mean_window};

    fn hybla() -> Hybla {
        Hybla::new(HyblaParams::default(), &env(Era::Rfc)).unwrap()
    }

    fn ack(rtt_ms: u64, acked: u32) -> Ack {
        Ack { srtt: Span::from_millis(rtt_ms), ..Ack::at(Time::ZERO, acked) }
    }

    /// rho = 1, 1, 4, 24: 2^rho - 1 = 1, 1, 15 and, held at 16, 65535; rho^2 = 1, 1, 16, 576.
    #[test]
    fn the_growth_is_that_of_as_many_short_round_trips() {
        for (rtt_ms, slow, avoidance) in
            [(10, 1.0, 1.0), (25, 1.0, 1.0), (100, 15.0, 16.0), (600, 65_535.0, 576.0)]
        {
            let mut window = Window { cwnd: 10.0, ssthresh: 1e6 };
            let params = HyblaParams { largest_window: 1e6, ..HyblaParams::default() };
            let mut control = Hybla::new(params, &env(Era::Rfc)).unwrap();
            control.on_ack(&mut window, &ack(rtt_ms, 1));
            assert!((window.cwnd - 10.0 - slow).abs() < 1e-9, "{rtt_ms}: {}", window.cwnd);
            let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
            hybla().on_ack(&mut window, &ack(rtt_ms, 1000));
            assert!((window.cwnd - 1000.0 - avoidance).abs() < 1e-9, "{rtt_ms}: {}", window.cwnd);
        }
        // Slow start stops at ssthresh.
        let mut window = Window { cwnd: 10.0, ssthresh: 100.0 };
        hybla().on_ack(&mut window, &ack(600, 10));
        assert_eq!(window.cwnd, 100.0);
    }

    /// Growth is per acknowledgement in slow start (255 for 200 ms, not 510 for two segments). The window ends at 65535.
    #[test]
    fn slow_start_counts_acknowledgements_and_the_window_has_an_end() {
        let mut window = Window { cwnd: 10.0, ssthresh: 1e6 };
        hybla().on_ack(&mut window, &ack(200, 2));
        assert_eq!(window.cwnd, 265.0);
        let mut window = Window { cwnd: 65_000.0, ssthresh: 1e6 };
        hybla().on_ack(&mut window, &ack(600, 2));
        assert_eq!(window.cwnd, 65_535.0);
        let mut linux = Hybla::new(HyblaParams::default(), &env(Era::Linux)).unwrap();
        let mut window = Window { cwnd: 6400.0, ssthresh: 2.0 };
        for _ in 0..128 {
            linux.on_ack(&mut window, &ack(200, 2));
        }
        assert_eq!((window.cwnd, linux.rho), (6401.0, 8.0)); // 128 x (2 x 64^2 div 6400) / 128
    }

    /// Acknowledgements of two segments each 4 ms apart are 500 segments/s: 100 at 200 ms. A given ssthresh stays.
    #[test]
    fn the_first_ssthresh_is_what_the_path_holds_at_the_rate_of_the_first_acknowledgements() {
        let time = |ms| Time::ZERO + Span::from_millis(ms);
        let ack = |ms, round| {
            let min_rtt = Span::from_millis(200);
            Ack { min_rtt, round, srtt: min_rtt, ..Ack::at(time(ms), 2) }
        };
        for (ssthresh, expected) in [(f64::INFINITY, 100.0), (40.0, 40.0)] {
            let mut control = hybla();
            let mut window = Window { cwnd: 10.0, ssthresh };
            control.on_ack(&mut window, &ack(100, 0)); // another round trip
            assert_eq!(window.cwnd, if ssthresh.is_finite() { 40.0 } else { 11.0 });
            for ms in [200, 204, 208] {
                control.on_ack(&mut window, &ack(ms, 1));
            }
            assert_eq!(window.ssthresh, expected);
            assert!(ssthresh.is_finite() || window.cwnd == expected);
        }
        let params = HyblaParams { estimate_ssthresh: Some(false), ..HyblaParams::default() };
        let mut control = Hybla::new(params, &env(Era::Rfc)).unwrap();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        for ms in [200, 204, 208] {
            control.on_ack(&mut window, &ack(ms, 1));
        }
        assert!(window.ssthresh.is_infinite() && window.cwnd == 10.0 + 3.0 * 255.0);
    }

    /// sqrt(1.5 / p) / 25 ms: 1549.2 segments/s at 1e-3, 15,492 at 1e-5.
    #[test]
    fn the_rate_does_not_depend_on_the_round_trip() {
        for (p, rate) in [(1e-3, 1549.2), (1e-5, 15_492.0)] {
            for rtt_ms in [25, 100, 500] {
                let rtt = Span::from_millis(rtt_ms);
                let start = rate * rtt.seconds();
                let got = mean_window(&mut hybla(), p, rtt, start) / rtt.seconds();
                assert!((got / rate - 1.0).abs() < 0.03, "{p}, {rtt_ms} ms: {got}");
            }
        }
    }
}
