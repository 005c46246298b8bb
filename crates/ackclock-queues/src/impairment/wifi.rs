//! The delay of a Wi-Fi link that shares its channel with others.
//!
//! Packets wait while stations back off after collisions, and much longer, now and then, while frames that
//! collided are sent again.
//!
//! **Source**: C. Huitema, "Testing of Christian's Congestion Control Code (C4)",
//! draft-huitema-ccwg-c4-test, section "Handling of High Jitter Environments".
//!
//! **Rule** (per packet; J = average jitter)
//! ```text
//! r ~ U(0, 1 ms);  N1 ~ Poisson(1);  x = 0 if J <= 1 ms, 1 if J >= 91 ms, else (J - 1 ms) / 90 ms
//! N2 = 0 with probability 1 - x, else N2 ~ Poisson(12)
//! latency = N1 * 1 ms + N2 * 7.5 ms, less r if N1 >= 1
//! ```
//! Deviations: the source does not say whether packets may overtake each other; a Wi-Fi station sends frames
//! of one queue in order, so here they do not unless `keep_order` is false. The mean of the rule is
//! 1 ms - 0.5 ms (1 - 1/e) + 90 ms x, below J by 0.32 ms.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::order::Order;
use super::{Fate, Impairment, ImpairmentEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Span;
use crate::wire::Packet;

/// Mean number of collisions that a packet waits for.
const COLLISIONS: f64 = 1.0;
/// Mean number of transmissions again, where there are any.
const REPEATS: f64 = 12.0;
const COLLISION_S: f64 = 0.001;
const REPEAT_S: f64 = 0.0075;

/// Parameters of Wi-Fi delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WifiParams {
    /// Average jitter J from 0 s; the source's bad Wi-Fi has 7 ms, a fading one 12 ms.
    pub jitter: Span,
    /// Whether packets are released in the order in which they came.
    pub keep_order: bool,
    /// Times from which on the average jitter is another one, ascending.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WifiStep>,
}

/// An average jitter from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WifiStep {
    /// From when.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// The average jitter.
    pub jitter: Span,
}

impl Default for WifiParams {
    fn default() -> Self {
        Self { jitter: Span::from_seconds(0.007), keep_order: true, steps: Vec::new() }
    }
}

/// Wi-Fi delay.
pub struct Wifi {
    /// Share of packets that wait for frames to be sent again, from a time on.
    shares: Vec<(u64, f64)>,
    passed: usize,
    order: Option<Order>,
}

/// The share x of packets that wait for frames to be sent again.
fn share(jitter: Span) -> f64 {
    ((jitter.seconds() - 0.001) / 0.090).clamp(0.0, 1.0)
}

impl About<ImpairmentEnv> for Wifi {
    type Params = WifiParams;
    const INFO: Info = Info {
        name: "wifi",
        title: "Delay of a shared Wi-Fi channel",
        source: "draft-huitema-ccwg-c4-test, section \"Handling of High Jitter Environments\"",
        status: Status::Specified,
    };

    fn new(params: WifiParams, _: &ImpairmentEnv) -> Result<Self, Vec<Problem>> {
        if params.steps.windows(2).any(|w| w[1].at <= w[0].at) {
            return Err(Problem::new("steps", "are not in order of time without repetition").into());
        }
        let first = (0, share(params.jitter));
        let later = params.steps.iter().map(|step| (step.at.0, share(step.jitter)));
        Ok(Self {
            shares: [first].into_iter().chain(later).collect(),
            passed: 0,
            order: params.keep_order.then(Order::default),
        })
    }
}

/// A draw of the Poisson distribution by the product of uniforms (Knuth, TAOCP 2, 3.4.1); for small means.
fn poisson(mean: f64, rng: &mut Stream) -> u32 {
    let (least, mut product, mut count) = ((-mean).exp(), rng.uniform(), 0);
    while product > least {
        product *= rng.uniform();
        count += 1;
    }
    count
}

impl Impairment for Wifi {
    fn pass(&mut self, _: &Packet, fate: &mut Fate, rng: &mut Stream) {
        while self.shares.get(self.passed + 1).is_some_and(|step| step.0 <= fate.release.0) {
            self.passed += 1;
        }
        let deferral = rng.uniform() * COLLISION_S;
        let collisions = poisson(COLLISIONS, rng);
        let is_repeated = rng.uniform() < self.shares[self.passed].1;
        let repeats = if is_repeated { poisson(REPEATS, rng) } else { 0 };
        let mut seconds = f64::from(collisions) * COLLISION_S + f64::from(repeats) * REPEAT_S;
        if collisions > 0 {
            seconds -= deferral;
        }
        fate.hold(Span::from_seconds(seconds.max(0.0)));
        if let Some(order) = &mut self.order {
            order.keep(fate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fates, mean_hold, rng};
    use super::*;
    use crate::units::Time;

    fn wifi(jitter_ms: f64, keep_order: bool) -> Wifi {
        let params =
            WifiParams { jitter: Span::from_seconds(jitter_ms / 1e3), keep_order, steps: vec![] };
        Wifi::new(params, &ImpairmentEnv { delay: Span::ZERO }).unwrap()
    }

    #[test]
    fn means_are_those_of_the_rule() {
        // 1 - 0.5 (1 - 1/e) = 0.684 ms, and 90 ms times x = 0, 6/90, 1. Variances in ms^2: N1 and r give
        // about 1; N2 has x (12 + 144) 56.25 - (90 x)^2.
        for (jitter, mean, variance) in
            [(1.0, 0.684, 1.0), (7.0, 6.684, 550.0), (91.0, 90.684, 676.0)]
        {
            let n = 100_000;
            let packet_fates =
                fates(&mut wifi(jitter, false), n, Span::from_seconds(1.0), &mut rng(1));
            let measured = 1e3 * mean_hold(&packet_fates);
            let error = f64::sqrt(variance / f64::from(n));
            assert!((measured - mean).abs() < 5.0 * error, "{jitter} ms: {measured} for {mean}");
        }
    }

    #[test]
    fn bad_wifi_has_several_spikes_a_second() {
        // "an average of 7 ms implies multiple spikes of 100 to 200 ms every second" (section 4.1): at
        // 10 Mbit/s, 833 packets a second, the share x of 6.7 % with 90 ms on average.
        let gap = Span::from_seconds(1.0 / 833.0);
        let packet_fates = fates(&mut wifi(7.0, false), 8330, gap, &mut rng(2));
        let spikes =
            packet_fates.iter().filter(|(s, f)| f.release.since(*s).seconds() > 0.1).count();
        assert!(spikes > 20, "{spikes} in 10 s");
    }

    #[test]
    fn steps_change_the_jitter_when_their_time_comes() {
        let steps = [(1.0, 91.0), (2.0, 1.0)];
        let steps = steps.map(|(time, ms)| WifiStep {
            at: Span::from_seconds(time),
            jitter: Span::from_seconds(ms / 1e3),
        });
        let params = WifiParams {
            jitter: Span::from_seconds(0.001),
            keep_order: false,
            steps: steps.to_vec(),
        };
        let mut fading = Wifi::new(params, &ImpairmentEnv { delay: Span::ZERO }).unwrap();
        let packet_fates = fates(&mut fading, 3000, Span::from_seconds(0.001), &mut rng(3));
        let mean = |from, to| {
            let in_interval = |(sent, _): &&(Time, Fate)| (from..to).contains(&sent.seconds());
            mean_hold(&packet_fates.iter().filter(in_interval).copied().collect::<Vec<_>>())
        };
        assert!(mean(0.0, 1.0) < 0.001 && mean(2.0, 3.0) < 0.001);
        assert!(mean(1.0, 2.0) > 0.085);
    }

    #[test]
    fn frames_stay_in_order() {
        let packet_fates =
            fates(&mut wifi(7.0, true), 5000, Span::from_seconds(0.001), &mut rng(4));
        assert!(packet_fates.windows(2).all(|w| w[0].1.release <= w[1].1.release));
    }
}
