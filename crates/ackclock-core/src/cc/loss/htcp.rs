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
//! ACK:    w += 2 (1 - beta) alpha acked / w;  with rtt_scaling times SRTT / 100 ms in [0.5, 10]
//! loss, ECN: w <- beta w;   timeout: ssthresh as on loss, w <- 1
//! ```
//! `RTTmax` is the largest sample since the last reduction. Deviations: Linux scales by the round trip by default
//! and lets `RTTmax` rise by at most 20 ms a sample; here scaling is an option, as in the draft, and each sample counts.
//! An interval that ends with a timeout counts as one.
//!
//! Defaults by era: the same in all: `delta_l` 1 s, beta in [0.5, 0.8], no scaling.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{growth, in_use, reduce_to};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::scenario::Era;
use crate::units::{Span, Time};

/// Round trip to which `rtt_scaling` refers, in seconds.
const REFERENCE_RTT: f64 = 0.1;
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
    /// Scale the increase by the round trip, so that the rate grows equally for all.
    pub rtt_scaling: bool,
}

impl Default for HtcpParams {
    fn default() -> Self {
        Self {
            delta_l: Span::from_millis(1000),
            beta_min: 0.5,
            beta_max: 0.8,
            adaptive_backoff: true,
            rtt_scaling: false,
        }
    }
}

/// H-TCP.
pub struct Htcp {
    params: HtcpParams,
    era: Era,
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
            params,
            era: env.era,
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

    fn adapt_backoff(&mut self, min_rtt: Span) {
        let HtcpParams { beta_min, beta_max, adaptive_backoff, .. } = self.params;
        let steady = (self.rate - self.last_rate).abs() <= RATE_CHANGE * self.last_rate;
        self.beta = if adaptive_backoff && steady && self.rtt_max > 0.0 && self.last_rate > 0.0 {
            (min_rtt.seconds() / self.rtt_max).clamp(beta_min, beta_max)
        } else {
            beta_min
        };
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
        let scale = if self.params.rtt_scaling {
            (ack.srtt.seconds() / REFERENCE_RTT).clamp(0.5, 10.0)
        } else {
            1.0
        };
        self.alpha = 2.0 * (1.0 - self.beta) * factor * scale;
        // No more than slow start's growth.
        window.cwnd += growth(ack, self.era) * (self.alpha / window.cwnd).min(1.0);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if event.signal == Signal::Spurious {
            return;
        }
        let used = in_use(window, event, self.era);
        self.adapt_backoff(event.min_rtt);
        self.reduced_at = Some(event.now);
        reduce_to(window, event, self.era, self.beta * used);
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

    #[test]
    fn scaling_multiplies_the_increase_by_the_round_trip() {
        for (rtt_ms, grown) in [(20, 0.5), (100, 1.0), (300, 3.0), (2000, 10.0)] {
            let mut control = htcp(|p| p.rtt_scaling = true);
            let mut window = Window { cwnd: 1000.0, ssthresh: 2.0 };
            let srtt = Span::from_millis(rtt_ms);
            control.on_ack(&mut window, &Ack { srtt, ..Ack::at(ms(0), 1000) });
            near::<9>(window.cwnd, 1000.0 + grown);
        }
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
