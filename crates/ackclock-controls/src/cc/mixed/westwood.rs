//! Westwood+: after a loss the window is what the measured rate fills at the smallest round trip.
//!
//! A loss that no queue caused leaves the rate, and thus the window, as it was; a loss after a queue has filled takes
//! what waited in it.
//!
//! **Source**: S. Mascolo, C. Casetti, M. Gerla, M. Sanadidi, R. Wang, "TCP Westwood: Bandwidth Estimation for Enhanced
//! Transport over Wireless Links", `MobiCom` 2001, section 3; L. Grieco, S. Mascolo, "Performance Evaluation and
//! Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control", ACM Computer Communication Review 34(2),
//! 2004, section 2, doi:10.1145/997150.997155.
//!
//! **Rule** (once per max(SRTT, 50 ms), D segments delivered in the time d)
//! ```text
//! BWE <- g BWE + (1 - g) D / d        the first sample as it is
//! ACK:       w += acked / w
//! loss, ECN: ssthresh <- max(BWE RTTmin, 2),  w <- min(w, ssthresh)
//! timeout:   ssthresh <- max(BWE RTTmin, 2),  w <- 1
//! ```
//! Deviations: BWE is 0 before the first sample; a loss in the first round trip halves. g = 0.9 is the source's (ns-3's
//! `TcpWestwood` has it too, on the mean of two samples).
//!
//! Defaults by era: g = 0.9. In era `linux`, as in Linux 6.12 (`tcp_westwood.c`), g = 7/8 in two filters, one after the
//! other, `RTTmin` begins anew after a timeout, and windows are whole segments. There the window after a loss is first
//! halved and becomes BWE `RTTmin` when recovery ends; here it is that from the beginning of recovery.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::usage::{growth, in_use};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// Least length of a sample of the rate.
const LEAST: Span = Span::from_millis(50);

/// Parameters of Westwood+.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WestwoodParams {
    /// Weight of the old estimate of the rate. Left out: 0.9; in era `linux` 0.875.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub gain: Option<f64>,
}

/// Westwood+.
pub struct Westwood {
    gain: f64,
    era: Era,
    growth: Growth,
    /// Estimate in segments per second; 0 before the first sample.
    rate: f64,
    /// The first of Linux's two filters.
    first_filter: f64,
    /// Linux's smallest round trip since the last timeout, in seconds.
    min_rtt: f64,
    /// When the present sample began, and what had been delivered then.
    began: Option<(Time, u64)>,
}

impl About<CcEnv> for Westwood {
    type Params = WestwoodParams;
    const INFO: Info = Info {
        name: "westwood",
        title: "TCP Westwood+",
        source: "Mascolo et al., MobiCom 2001, section 3; Grieco, Mascolo, ACM Computer Communication \
                 Review 34(2), 2004, section 2, doi:10.1145/997150.997155",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["westwood+"];

    fn new(params: WestwoodParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let usual = if env.era == Era::Linux { 0.875 } else { 0.9 };
        Ok(Self {
            gain: params.gain.unwrap_or(usual),
            era: env.era,
            growth: Growth::of(env.era),
            rate: 0.0,
            first_filter: 0.0,
            min_rtt: f64::INFINITY,
            began: None,
        })
    }
}

impl Westwood {
    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = self.min_rtt.min(rtt.seconds());
        }
        let (began, delivered) = *self.began.get_or_insert((ack.now, ack.delivered));
        let span = ack.now.since(began);
        if span >= LEAST.max(ack.srtt) {
            let sample = ack.delivered.saturating_sub(delivered) as f64 / span.seconds();
            self.filter(sample);
            self.began = Some((ack.now, ack.delivered));
        }
    }

    fn filter(&mut self, sample: f64) {
        if self.rate == 0.0 {
            (self.rate, self.first_filter) = (sample, sample);
            return;
        }
        let mean = |old: f64, new: f64| self.gain * old + (1.0 - self.gain) * new;
        self.first_filter = mean(self.first_filter, sample);
        let input = if self.era == Era::Linux { self.first_filter } else { sample };
        self.rate = mean(self.rate, input);
    }

    fn smallest_rtt(&self, event: &Congestion) -> f64 {
        let is_known = self.era == Era::Linux && self.min_rtt.is_finite();
        if is_known { self.min_rtt } else { event.min_rtt.seconds() }
    }
}

impl CongestionControl for Westwood {
    fn on_slow_start(&mut self, _window: &mut Window, ack: &Ack) {
        self.measure(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(ack);
        if self.era == Era::Linux {
            return self.growth.add(window, ack, 1.0);
        }
        window.cwnd += growth(ack, self.era) / window.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        let remaining =
            if self.rate > 0.0 { self.rate * self.smallest_rtt(event) } else { used / 2.0 };
        self.growth.reduce_to(window, event, remaining);
        if matches!(event.signal, Signal::Rto { .. }) {
            self.min_rtt = f64::INFINITY;
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("bwe_segments_per_s", self.rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;

    fn westwood() -> Westwood {
        Westwood::new(WestwoodParams::default(), &env(Era::Rfc)).unwrap()
    }

    /// Acknowledgements of 10 segments each 10 ms: 1000 segments/s, at round trips of 120 ms of which 80 ms are path.
    fn run(control: &mut Westwood, window: &mut Window, from_ms: u64, until_ms: u64, each: u32) {
        for t in (from_ms..until_ms).step_by(10) {
            let srtt = Span::from_millis(120);
            let delivered = control.began.map_or(0, |b| b.1)
                + control.began.map_or(0, |b| {
                    let since = (Time::ZERO + Span::from_millis(t)).since(b.0);
                    since.0 / Span::from_millis(10).0 * u64::from(each)
                });
            let now = Time::ZERO + Span::from_millis(t);
            control.on_ack(window, &Ack { srtt, delivered, ..Ack::at(now, 0) });
        }
    }

    fn event(signal: Signal) -> Congestion {
        let min_rtt = Span::from_millis(80);
        Congestion { min_rtt, ..Congestion::at(Time::ZERO, signal, 120) }
    }

    #[test]
    fn ssthresh_is_the_rate_times_the_smallest_round_trip() {
        let mut control = westwood();
        let mut window = Window { cwnd: 120.0, ssthresh: 2.0 };
        run(&mut control, &mut window, 0, 2000, 10);
        assert!((control.rate - 1000.0).abs() < 1e-6, "{}", control.rate);
        // 1000 segments/s x 80 ms = 80: the 40 that waited are taken.
        control.on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }));
        assert!((window.cwnd - 80.0).abs() < 1e-6 && (window.ssthresh - 80.0).abs() < 1e-6);
        // A window below it stays.
        window.cwnd = 60.0;
        control.on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }));
        assert_eq!(window.cwnd, 60.0);
        window.cwnd = 120.0;
        control.on_congestion(&mut window, &event(Signal::Rto { consecutive: 1 }));
        assert!(window.cwnd == 1.0 && (window.ssthresh - 80.0).abs() < 1e-6);
    }

    #[test]
    fn the_window_grows_by_a_segment_for_each_window_acknowledged() {
        let mut window = Window { cwnd: 10.0, ssthresh: 5.0 };
        westwood().on_ack(&mut window, &Ack::at(Time::ZERO, 1));
        assert!((window.cwnd - 10.1).abs() < 1e-12);
    }

    #[test]
    fn the_first_sample_counts_fully_and_later_ones_a_tenth() {
        let mut control = westwood();
        let mut window = Window { cwnd: 120.0, ssthresh: 2.0 };
        run(&mut control, &mut window, 0, 130, 10); // a sample at 120 ms
        assert!((control.rate - 1000.0).abs() < 1e-6, "{}", control.rate);
        run(&mut control, &mut window, 130, 250, 5); // half the rate: 900 + 50
        assert!((control.rate - 950.0).abs() < 1e-6, "{}", control.rate);
    }

    /// Half the rate after a first sample of 1000: the first filter 937.5, the second 7/8 1000 + 937.5/8 = 992.1875;
    /// times 80 ms 79.375, whole 79. After a timeout the smallest round trip is that of the samples since: 100 ms, 99.
    #[test]
    fn in_era_linux_two_filters_follow_each_other_and_a_timeout_forgets_the_round_trip() {
        let mut control = Westwood::new(WestwoodParams::default(), &env(Era::Linux)).unwrap();
        let mut window = Window { cwnd: 120.0, ssthresh: 2.0 };
        control.filter(1000.0);
        control.filter(500.0);
        assert_eq!((control.first_filter, control.rate), (937.5, 992.1875));
        // 7/8 937.5 + 500/8 = 882.8125; 7/8 992.1875 + 882.8125/8 = 978.515625.
        let mut third = Westwood::new(WestwoodParams::default(), &env(Era::Linux)).unwrap();
        for sample in [1000.0, 500.0, 500.0] {
            third.filter(sample);
        }
        assert_eq!((third.first_filter, third.rate), (882.8125, 978.515_625));
        let ack = |ms| Ack { rtt: Some(Span::from_millis(ms)), ..Ack::at(Time::ZERO, 0) };
        control.on_ack(&mut window, &ack(80));
        control.on_congestion(&mut window, &event(Signal::Rto { consecutive: 1 }));
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 79.0));
        window = Window { cwnd: 120.0, ssthresh: 2.0 };
        control.on_ack(&mut window, &ack(100));
        control.on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }));
        assert_eq!((window.cwnd, window.ssthresh), (99.0, 99.0));
    }

    #[test]
    fn without_a_sample_a_loss_halves() {
        let mut window = Window { cwnd: 120.0, ssthresh: 2.0 };
        westwood().on_congestion(&mut window, &event(Signal::FastRetransmit { lost: 1 }));
        assert_eq!(window.cwnd, 60.0);
    }
}
