//! H-TCP: the increase grows with the time since the last loss; the decrease adapts to the queue.
//!
//! In the first second after a loss it is Reno. Then the increase per round trip rises quadratically, so that long
//! intervals between losses, which a large bandwidth-delay product brings, are climbed quickly.
//!
//! **Source**: D. Leith, R. Shorten, "H-TCP: TCP for high-speed and long-distance networks", `PFLDnet` 2004;
//! draft-leith-tcp-htcp-06, section 3.
//!
//! **Rule** (D = time since the last reduction, B = largest delivery rate since then)
//! ```text
//! alpha = 1                                                   D <= delta_l
//!       = 1 + 10 (D - delta_l) + ((D - delta_l) / 2)^2        D > delta_l
//! beta  = RTTmin / RTTmax in [0.5, 0.8], if B differs by at most 20 % from that of the interval before; else 0.5
//! ACK:    w += 2 (1 - beta) alpha acked / w
//! rtt_scaling: alpha <- max(alpha s, 1) for D > delta_l, s = SRTT / 100 ms in [0.1, 2]
//! loss, ECN: w <- beta w;   timeout: ssthresh as on loss, w <- 1
//! ```
//! `RTTmax` is the largest sample since the last reduction. Where beta is 0.8, the first second has 0.4 segments a round trip, as
//! in Linux; FreeBSD (`cc_htcp.c`) has one at least.
//!
//! Deviations: each sample counts for `RTTmax`, which begins anew at each reduction; Linux and FreeBSD keep it, let it fall by 5 %
//! of the way to `RTTmin` at each, and Linux lets it rise by at most 20 ms a sample. D counts from the beginning of
//! recovery, in Linux from its end. Linux adapts beta only where `RTTmin` is over 10 ms and from the second interval in a
//! row that is steady; here from the first. An interval that ends with a timeout counts as one. The limits of the scale are
//! those of FreeBSD, which has them from the draft, and of Linux.
//!
//! Defaults by era: `delta_l` 1 s, beta in [0.5, 0.8], no scaling. Era `linux` is as Linux 6.12 (`tcp_htcp.c`) in these: scaling is on, by
//! `RTTmin` in place of SRTT and from the beginning (s in [0.1, 2], whole alpha of at least 1), beta in 1/128, windows in whole
//! segments, and the adaptation of beta.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::usage::in_use;
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// Round trip to which `rtt_scaling` refers, in seconds.
const REFERENCE_RTT: f64 = 0.1;
/// Limits of what it multiplies the increase by.
const SCALES: (f64, f64) = (0.1, 2.0);
/// Smallest round trip at which Linux adapts the decrease, in seconds.
const LINUX_LEAST_RTT: f64 = 0.01;
/// Relative change of the rate beyond which the decrease is not adapted.
const RATE_CHANGE: f64 = 0.2;

/// Parameters of H-TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HtcpParams {
    /// Time after a reduction in which it is Reno.
    pub delta_l: Span,
    /// Least factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_min: f64,
    /// Largest factor kept after a loss, `beta_min` or more.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_max: f64,
    /// Adapt the decrease to the queue; without it, `beta_min` is kept.
    pub adaptive_backoff: bool,
    /// Scale the increase by the round trip, so that the rate grows equally for all. Left out: false; in era `linux` true.
    pub rtt_scaling: Option<bool>,
}

impl Default for HtcpParams {
    fn default() -> Self {
        Self {
            delta_l: Span::from_millis(1000),
            beta_min: 0.5,
            beta_max: 0.8,
            adaptive_backoff: true,
            rtt_scaling: None,
        }
    }
}

/// H-TCP.
pub struct Htcp {
    params: HtcpParams,
    era: Era,
    growth: Growth,
    scales: bool,
    /// The interval before was steady too (Linux).
    was_steady: bool,
    reduced_at: Option<Time>,
    beta: f64,
    alpha: f64,
    rtt_max: f64,
    rate: f64,
    last_rate: f64,
}

impl About<CcEnv> for Htcp {
    type Params = HtcpParams;
    const INFO: Info = Info {
        name: "htcp",
        title: "H-TCP",
        source: "Leith, Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06, section 3",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["h-tcp"];

    fn new(params: HtcpParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        if params.beta_max < params.beta_min {
            let range = format!("at least beta_min, {}", params.beta_min);
            return Err(Problem::out_of_range("beta_max", params.beta_max, &range).into());
        }
        Ok(Self {
            beta: params.beta_min,
            scales: params.rtt_scaling.unwrap_or(env.era == Era::Linux),
            params,
            era: env.era,
            growth: Growth::of(env.era),
            was_steady: false,
            reduced_at: None,
            alpha: 1.0,
            rtt_max: 0.0,
            rate: 0.0,
            last_rate: 0.0,
        })
    }
}

impl Htcp {
    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt_max = self.rtt_max.max(rtt.seconds());
        }
        self.rate = self.rate.max(ack.delivery_rate);
    }

    /// The increase for this round trip.
    fn scale(&self, factor: f64, after_reno: bool, ack: &Ack) -> f64 {
        let by = |rtt: Span| (rtt.seconds() / REFERENCE_RTT).clamp(SCALES.0, SCALES.1);
        match self.era {
            Era::Linux => (factor.floor() * by(ack.min_rtt)).floor().max(1.0),
            _ if after_reno => (factor * by(ack.srtt)).max(1.0),
            _ => factor,
        }
    }

    fn adapt_backoff(&mut self, min_rtt: Span) {
        let HtcpParams { beta_min, beta_max, adaptive_backoff, .. } = self.params;
        let steady = (self.rate - self.last_rate).abs() <= RATE_CHANGE * self.last_rate;
        let linux = self.era == Era::Linux;
        let in_time = !linux || (self.was_steady && min_rtt.seconds() > LINUX_LEAST_RTT);
        self.was_steady = steady;
        let adapts = adaptive_backoff && steady && in_time;
        self.beta = if adapts && self.rtt_max > 0.0 && self.last_rate > 0.0 {
            (min_rtt.seconds() / self.rtt_max).clamp(beta_min, beta_max)
        } else {
            beta_min
        };
        if linux {
            self.beta = (128.0 * self.beta).floor() / 128.0;
        }
        self.last_rate = self.rate;
        (self.rate, self.rtt_max) = (0.0, 0.0);
    }
}

impl CongestionControl for Htcp {
    fn on_slow_start(&mut self, _window: &mut Window, ack: &Ack) {
        self.measure(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.measure(ack);
        let since = ack.now.since(*self.reduced_at.get_or_insert(ack.now));
        let over = since.seconds() - self.params.delta_l.seconds();
        let factor = if over > 0.0 { 1.0 + 10.0 * over + (over / 2.0).powi(2) } else { 1.0 };
        let factor = if self.scales { self.scale(factor, over > 0.0, ack) } else { factor };
        self.alpha = 2.0 * (1.0 - self.beta) * factor;
        // No more than slow start's growth.
        self.growth.add(window, ack, self.alpha);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if event.signal == Signal::Spurious {
            return;
        }
        let used = in_use(window, event, self.era);
        self.adapt_backoff(event.min_rtt);
        self.reduced_at = Some(event.now);
        self.growth.reduce_to(window, event, self.beta * used);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
        out("beta", self.beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{env, mean_window};
    use crate::near::near;

    fn htcp(change: impl Fn(&mut HtcpParams)) -> Htcp {
        let mut params = HtcpParams::default();
        change(&mut params);
        Htcp::new(params, &env(Era::Rfc)).unwrap()
    }

    fn ms(t: u64) -> Time {
        Time::ZERO + Span::from_millis(t)
    }

    const LOSS: Signal = Signal::FastRetransmit { lost: 1 };

    #[test]
    fn the_increase_is_renos_for_a_second_and_then_quadratic() {
        let mut control = htcp(|_| ());
        let mut window = Window { cwnd: 2000.0, ssthresh: 2.0 };
        control.on_congestion(&mut window, &Congestion::at(ms(0), LOSS, 2000));
        near::<9>(window.cwnd, 1000.0);
        // 2 (1 - 1/2) alpha: 1 until 1 s; at 3 s 1 + 20 + 1 = 22; at 5 s 1 + 40 + 4 = 45.
        for (t, alpha) in [(1000, 1.0), (3000, 22.0), (5000, 45.0)] {
            window.cwnd = 1000.0;
            control.on_ack(&mut window, &Ack::at(ms(t), 1000));
            near::<9>(window.cwnd, 1000.0 + alpha);
        }
    }

    #[test]
    fn the_decrease_is_the_ratio_of_the_round_trips_while_the_rate_is_steady() {
        let mut control = htcp(|_| ());
        let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
        let mut interval = |rate, rtt_ms, expected| {
            window.cwnd = 1000.0;
            let rtt = Some(Span::from_millis(rtt_ms));
            control.on_ack(&mut window, &Ack { rtt, delivery_rate: rate, ..Ack::at(ms(0), 0) });
            let min_rtt = Span::from_millis(70);
            let event = Congestion { min_rtt, ..Congestion::at(ms(0), LOSS, 1000) };
            control.on_congestion(&mut window, &event);
            near::<9>(window.cwnd, expected);
        };
        interval(1000.0, 100, 500.0); // nothing to compare with
        interval(1100.0, 100, 700.0); // 70 / 100
        interval(1000.0, 80, 800.0); // 70 / 80 is more than 0.8
        interval(1000.0, 200, 500.0); // less than 0.5
        interval(1500.0, 100, 500.0); // half as much again
    }

    /// Between losses T apart the window grows by A(T) / R segments, A the integral of alpha:
    /// T + 5 (T - 1)^2 + (T - 1)^3 / 12, and halves; the mean is N R / T for N = (T A + integral of A) / R^2 segments.
    /// R = 0.1 s: T = 1: A = 1, N = 150; T = 2: A = 7.08333, N = 1785.4; T = 5: A = 90.3333, N = 57,616.7;
    /// T = 10: A = 475.75, N = 615,918.75.
    #[test]
    fn the_window_at_a_loss_rate_is_that_of_the_integrals() {
        for (segments, mean) in
            [(150.0, 15.0), (1785.4, 89.27), (57_616.7, 1152.33), (615_918.75, 6159.19)]
        {
            let mut control = htcp(|p| p.adaptive_backoff = false);
            let got = mean_window(&mut control, 1.0 / segments, Span::from_millis(100), mean);
            assert!((got / mean - 1.0).abs() < 0.04, "{segments}: {got}, expected {mean}");
        }
    }

    /// FreeBSD's `cc_htcp.c` has SRTT / 100 ms in [0.1, 2] and a product of at least one: at 3 s alpha is 22, times 0.1
    /// (10 ms and less), 0.2, 1, 2 (200 ms and more). In the first second nothing is scaled.
    #[test]
    fn scaling_multiplies_the_increase_by_the_round_trip_within_a_tenth_and_two() {
        for (rtt_ms, grown) in [(5, 2.2), (20, 4.4), (100, 22.0), (300, 44.0), (2000, 44.0)] {
            let mut control = htcp(|p| p.rtt_scaling = Some(true));
            let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
            let srtt = Span::from_millis(rtt_ms);
            control.on_ack(&mut window, &Ack { srtt, ..Ack::at(ms(0), 1000) });
            near::<9>(window.cwnd, 1001.0);
            window.cwnd = 1000.0;
            control.on_ack(&mut window, &Ack { srtt, ..Ack::at(ms(3000), 1000) });
            near::<9>(window.cwnd, 1000.0 + grown);
        }
        let mut control = htcp(|p| p.rtt_scaling = Some(true));
        let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
        control.on_ack(&mut window, &Ack::at(ms(0), 0));
        let srtt = Span::from_millis(10);
        control.on_ack(&mut window, &Ack { srtt, ..Ack::at(ms(1100), 1000) }); // 2.0025 x 0.1
        near::<9>(window.cwnd, 1001.0);
    }

    /// `tcp_htcp.c`: 22 at 3 s; a factor of `RTTmin` / 100 ms in [0.1, 2], whole and at least 1, from the beginning. (At 44 one
    /// segment in 22 counts: 45 of 1000.)
    #[test]
    fn in_era_linux_the_scale_is_of_the_smallest_round_trip_and_beta_waits_for_a_second_steady_interval()
     {
        for (rtt_ms, first, later) in [(5, 1.0, 2.0), (50, 1.0, 11.0), (300, 2.0, 45.0)] {
            let mut control = Htcp::new(HtcpParams::default(), &env(Era::Linux)).unwrap();
            let min_rtt = Span::from_millis(rtt_ms);
            for (t, grown) in [(0, first), (3000, later)] {
                let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
                control.growth = Growth::of(Era::Linux);
                control.on_ack(&mut window, &Ack { min_rtt, ..Ack::at(ms(t), 1000) });
                assert_eq!(window.cwnd, 1000.0 + grown, "{rtt_ms} {t}");
            }
        }
        let mut control = Htcp::new(HtcpParams::default(), &env(Era::Linux)).unwrap();
        let mut left = Vec::new();
        for rate in [1000.0, 1000.0, 1000.0] {
            let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
            let rtt = Some(Span::from_millis(100));
            control.on_ack(&mut window, &Ack { rtt, delivery_rate: rate, ..Ack::at(ms(0), 0) });
            let min_rtt = Span::from_millis(70);
            let event = Congestion { min_rtt, ..Congestion::at(ms(0), LOSS, 1000) };
            control.on_congestion(&mut window, &event);
            left.push(window.cwnd);
        }
        // 89/128, the whole part of 0.7 x 128, of 1000.
        assert_eq!(left, [500.0, 500.0, 695.0]);
    }

    #[test]
    fn slow_start_counts_for_the_rate_before_the_first_loss() {
        let mut control = htcp(|_| ());
        let mut window = Window { cwnd: 1000.0, ssthresh: f64::INFINITY };
        let rtt = Some(Span::from_millis(100));
        let ack = |rate| Ack { rtt, delivery_rate: rate, ..Ack::at(ms(0), 0) };
        let loss =
            Congestion { min_rtt: Span::from_millis(70), ..Congestion::at(ms(0), LOSS, 1000) };
        control.on_slow_start(&mut window, &ack(1000.0));
        control.on_congestion(&mut window, &loss);
        near::<9>(window.cwnd, 500.0);
        // A tenth more than in slow start is steady: 70 / 100.
        window.cwnd = 1000.0;
        control.on_ack(&mut window, &ack(1100.0));
        control.on_congestion(&mut window, &loss);
        near::<9>(window.cwnd, 700.0);
    }
}
