//! Binomial controls: increase by alpha / w^k per round trip, decrease by beta w^l.
//!
//! k = 0, l = 1 is AIMD. IIAD (k = 1, l = 0) and SQRT (k = l = 1/2) reduce the window less at a loss and pay
//! for it with a slower increase, so that rates vary less; with k + l = 1 they compete fairly with TCP.
//!
//! **Source**: D. Bansal, H. Balakrishnan, "Binomial Congestion Control Algorithms", IEEE INFOCOM 2001,
//! sections II and III, doi:10.1109/INFCOM.2001.916251. Floors: RFC 5681 sections 3.1 and 3.2.
//!
//! **Rule** (w = window in segments)
//! ```text
//! per round trip:    w <- w + alpha / w^k           alpha / w^(k+1) for each acknowledged segment
//! loss or ECN-Echo:  w <- w - beta w^l,  ssthresh <- max(w, 2);  w >= 2 after a fast retransmit, >= 1 else
//! timeout:           ssthresh as on loss, w <- 1
//! mean window        about (alpha / (beta p))^(1/(k+l+1)) at the loss rate p;  TCP-friendly iff k + l = 1
//! ```
//! Deviations: none. Outside the RFC era growth counts acknowledgements, as ns-2's.
//!
//! Defaults by era: the same in all: alpha 1, beta 2/3, with which sqrt(alpha / (beta p)) is TCP's
//! sqrt(1.5 / p).

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cc::usage::{in_use, may_grow};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};

const SOURCE: &str = "Bansal and Balakrishnan, IEEE INFOCOM 2001, sections II and III, \
                      doi:10.1109/INFCOM.2001.916251";

/// With this decrease, beside an increase of 1, the response function is TCP's.
const TCP_DECREASE: f64 = 2.0 / 3.0;

/// The four numbers of a binomial control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    alpha: f64,
    beta: f64,
    k: f64,
    l: f64,
}

/// Parameters of one named rule.
pub trait Named: Default + Serialize + DeserializeOwned + JsonSchema {
    /// Identity and source.
    const INFO: Info;
    /// The four numbers.
    fn rule(&self) -> Rule;
}

/// Parameters of the general binomial control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BinomialParams {
    /// Factor of the increase.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub alpha: f64,
    /// Factor of the decrease; below 1 if l is 1.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub beta: f64,
    /// The increase is proportional to 1 / w^k.
    #[schemars(range(min = -1, max = 10))]
    pub k: f64,
    /// The decrease is proportional to w^l.
    #[schemars(range(min = -10, max = 1))]
    pub l: f64,
}

impl Default for BinomialParams {
    fn default() -> Self {
        Self { alpha: 1.0, beta: 0.5, k: 0.0, l: 1.0 }
    }
}

impl Named for BinomialParams {
    const INFO: Info = Info {
        name: "binomial",
        title: "Binomial control",
        source: SOURCE,
        status: Status::Specified,
    };

    fn rule(&self) -> Rule {
        let Self { alpha, beta, k, l } = *self;
        Rule { alpha, beta, k, l }
    }
}

macro_rules! named {
    ($params:ident, $alias:ident, $name:literal, $title:literal, $k:literal, $l:literal) => {
        #[doc = concat!("Parameters of ", $title, ".")]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $params {
            /// Factor of the increase.
            #[schemars(extend("exclusiveMinimum" = 0))]
            pub alpha: f64,
            /// Factor of the decrease.
            #[schemars(extend("exclusiveMinimum" = 0))]
            pub beta: f64,
        }

        impl Default for $params {
            fn default() -> Self {
                Self { alpha: 1.0, beta: TCP_DECREASE }
            }
        }

        impl Named for $params {
            const INFO: Info =
                Info { name: $name, title: $title, source: SOURCE, status: Status::Specified };

            fn rule(&self) -> Rule {
                Rule { alpha: self.alpha, beta: self.beta, k: $k, l: $l }
            }
        }

        #[doc = concat!("The control `", $name, "`.")]
        pub type $alias = Control<$params>;
    };
}

named!(IiadParams, Iiad, "iiad", "Inverse increase, additive decrease", 1.0, 0.0);
named!(SqrtParams, Sqrt, "sqrt", "Square-root increase and decrease", 0.5, 0.5);

/// The control `binomial`.
pub type Binomial = Control<BinomialParams>;

/// A binomial control under one of its names.
pub struct Control<N> {
    rule: Rule,
    era: Era,
    name: PhantomData<fn() -> N>,
}

impl<N: Named> About<CcEnv> for Control<N> {
    type Params = N;
    const INFO: Info = N::INFO;

    fn new(params: N, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let rule = params.rule();
        if rule.l >= 1.0 && rule.beta >= 1.0 {
            return Err(Problem::out_of_range("beta", rule.beta, "less than 1 with l = 1").into());
        }
        Ok(Self { rule, era: env.era, name: PhantomData })
    }
}

impl<N: Named> CongestionControl for Control<N> {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if may_grow(ack, self.era) {
            let units = if self.era.is_ns2() { 1.0 } else { f64::from(ack.acked) };
            // No more than twofold at once: with k = -1 that is slow start's bound too.
            let step = self.rule.alpha * window.cwnd.powf(-self.rule.k - 1.0) * units;
            window.cwnd += step.min(window.cwnd);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        let used = in_use(window, event, self.era).max(1.0);
        let cut = used - self.rule.beta * used.powf(self.rule.l);
        if let Signal::Rto { consecutive } = event.signal {
            if self.era.is_ns2() || consecutive <= 1 {
                window.ssthresh = cut.max(2.0);
            }
            window.cwnd = 1.0;
        } else if event.signal != Signal::Spurious {
            let fast = matches!(event.signal, Signal::FastRetransmit { .. });
            let floor = if fast && !self.era.is_ns2() { 2.0 } else { 1.0 };
            window.ssthresh = cut.max(2.0);
            window.cwnd = cut.max(floor).min(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::test_support::env;
    use crate::registry::refusal;
    use crate::units::Time;

    fn control(alpha: f64, beta: f64, k: f64, l: f64) -> Binomial {
        Binomial::new(BinomialParams { alpha, beta, k, l }, &env(Era::Rfc)).unwrap()
    }

    fn lose(control: &mut Binomial, window: &mut Window) {
        let flight = window.cwnd.ceil() as u32;
        let event = Congestion::at(Time::ZERO, Signal::FastRetransmit { lost: 1 }, flight);
        control.on_congestion(window, &event);
    }

    /// Mean window where every `period`-th segment is lost: segments per round trip, a round trip being a
    /// window of segments. Losses before the 100th do not count. It begins near its end, since convergence
    /// takes about as many losses as the window has segments.
    fn mean_window(control: &mut Binomial, period: u32) -> f64 {
        let Rule { alpha, beta, k, l } = control.rule;
        let guess = (alpha * f64::from(period) / beta).powf(1.0 / (k + l + 1.0));
        let mut window = Window { cwnd: guess, ssthresh: 2.0 };
        let mut rounds = 0.0;
        for cycle in 0..200 {
            for _ in 0..period {
                if cycle >= 100 {
                    rounds += 1.0 / window.cwnd;
                }
                control.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
            }
            lose(control, &mut window);
        }
        100.0 * f64::from(period) / rounds
    }

    #[test]
    fn steps_and_cuts_by_hand() {
        let near = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12, "{got}");
        // IIAD: 1 / 16^2 a segment; 16 - 2/3. SQRT: 1 / 16^1.5 = 1/64 a segment; 16 - 2/3 x 4.
        for (k, l, step, cut) in
            [(1.0, 0.0, 1.0 / 256.0, 15.0 + 1.0 / 3.0), (0.5, 0.5, 1.0 / 64.0, 13.0 + 1.0 / 3.0)]
        {
            let mut control = control(1.0, TCP_DECREASE, k, l);
            let mut window = Window { cwnd: 16.0, ssthresh: 2.0 };
            control.on_ack(&mut window, &Ack::at(Time::ZERO, 1));
            near(window.cwnd, 16.0 + step);
            window.cwnd = 16.0;
            lose(&mut control, &mut window);
            near(window.cwnd, cut);
            near(window.ssthresh, cut);
        }
        // A decrease that would leave less than two segments leaves two.
        let mut control = control(1.0, 5.0, 1.0, 0.0);
        let mut window = Window { cwnd: 4.0, ssthresh: 2.0 };
        lose(&mut control, &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (2.0, 2.0));
    }

    /// Section II of the source: throughput is proportional to p^(-1/(k+l+1)).
    #[test]
    fn the_response_function_has_the_exponent_of_the_source() {
        for (k, l, exponent) in [
            (1.0, 0.0, 0.5),
            (0.5, 0.5, 0.5),
            (0.0, 1.0, 0.5),
            (0.25, 0.75, 0.5),
            (1.0, 1.0, 1.0 / 3.0),
            (0.0, 0.5, 1.0 / 1.5),
            (0.5, 0.0, 1.0 / 1.5),
        ] {
            let mut control = control(1.0, 0.5, k, l);
            let (few, many) = (mean_window(&mut control, 20_000), mean_window(&mut control, 200));
            let slope = (few / many).log10() / 2.0;
            assert!((slope - exponent).abs() < 0.01, "k {k} l {l}: {slope}");
        }
    }

    /// The defaults give the window of AIMD(1, 1/2) at every loss rate, and a rule with k + l != 1 does not.
    #[test]
    fn a_control_is_tcp_friendly_only_if_k_and_l_add_up_to_one() {
        for (period, least, most) in [(1000, 0.97, 1.03), (10_000, 0.97, 1.03)] {
            let tcp = mean_window(&mut control(1.0, 0.5, 0.0, 1.0), period);
            for (k, l) in [(1.0, 0.0), (0.5, 0.5)] {
                let ratio = mean_window(&mut control(1.0, TCP_DECREASE, k, l), period) / tcp;
                assert!(ratio > least && ratio < most, "k {k} l {l} at 1/{period}: {ratio}");
            }
        }
        let ratio = |period| {
            mean_window(&mut control(1.0, TCP_DECREASE, 1.0, 1.0), period)
                / mean_window(&mut control(1.0, 0.5, 0.0, 1.0), period)
        };
        assert!(ratio(10_000) < 0.7 * ratio(1000));
    }

    /// One cycle of IIAD in closed form: from W - b to W in (W^2 - (W - b)^2) / 2a round trips, in which
    /// (W^3 - (W - b)^3) / 3a segments leave. W = 20, a = 1, b = 2: 38 round trips, 722.67 segments.
    #[test]
    fn iiad_draws_the_sawtooth_of_the_closed_form() {
        let mut control = control(1.0, 2.0, 1.0, 0.0);
        let mean = mean_window(&mut control, 723);
        assert!((mean - 722.667 / 38.0).abs() < 0.06, "{mean}");
    }

    #[test]
    fn values_out_of_range_are_named() {
        for (params, expected) in [
            (json!({ "alpha": 0 }), "alpha: 0 is out of range; expected more than 0"),
            (json!({ "beta": 1 }), "beta: 1 is out of range; expected less than 1 with l = 1"),
            (json!({ "k": -2 }), "k: -2 is out of range; expected"),
            (json!({ "l": 1.5 }), "l: 1.5 is out of range; expected"),
        ] {
            let message = refusal::<CcEnv, Binomial>(params, &env(Era::Rfc));
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
