//! Bursty loss: a channel that is good or bad for a while.
//!
//! **Source**: E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39(5), 1960,
//! doi:10.1002/j.1538-7305.1960.tb03959.x; E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise
//! Channels", BSTJ 42(5), 1963, doi:10.1002/j.1538-7305.1963.tb00955.x.
//!
//! **Rule** (per packet; states G and B)
//! ```text
//! P(G -> B) = p,  P(B -> G) = r, once before each packet
//! lost with probability loss_good in G, loss_bad in B
//! stationary: P(B) = p / (p + r);  loss = (r loss_good + p loss_bad) / (p + r);  mean stay in B = 1 / r
//! ```
//! Deviations: none. The state changes per packet, not per time, as in the source; the first packet finds
//! the stationary distribution.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fate, Impairment, ImpairmentEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::wire::Packet;

/// Parameters of the Gilbert-Elliott channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GilbertElliottParams {
    /// Probability p that a good channel is bad for the next packet.
    #[schemars(range(min = 0, max = 1))]
    pub to_bad: f64,
    /// Probability r that a bad channel is good for the next packet.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub to_good: f64,
    /// Loss ratio while the channel is good.
    #[schemars(range(min = 0, max = 1))]
    pub loss_good: f64,
    /// Loss ratio while the channel is bad.
    #[schemars(range(min = 0, max = 1))]
    pub loss_bad: f64,
}

impl Default for GilbertElliottParams {
    fn default() -> Self {
        Self { to_bad: 0.001, to_good: 0.2, loss_good: 0.0, loss_bad: 1.0 }
    }
}

/// A Gilbert-Elliott channel.
pub struct GilbertElliott {
    params: GilbertElliottParams,
    is_bad: Option<bool>,
}

impl About<ImpairmentEnv> for GilbertElliott {
    type Params = GilbertElliottParams;
    const INFO: Info = Info {
        name: "gilbert-elliott",
        title: "Bursty loss",
        source: "Gilbert, BSTJ 39(5), 1960, doi:10.1002/j.1538-7305.1960.tb03959.x; Elliott, BSTJ \
                 42(5), 1963, doi:10.1002/j.1538-7305.1963.tb00955.x",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["gilbert-elliot"];

    fn new(params: GilbertElliottParams, _: &ImpairmentEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params, is_bad: None })
    }
}

impl Impairment for GilbertElliott {
    fn pass(&mut self, _: &Packet, fate: &mut Fate, rng: &mut Stream) {
        let GilbertElliottParams { to_bad, to_good, loss_good, loss_bad } = self.params;
        let becomes_bad = match self.is_bad {
            None => to_bad / (to_bad + to_good),
            Some(true) => 1.0 - to_good,
            Some(false) => to_bad,
        };
        let is_bad = rng.uniform() < becomes_bad;
        self.is_bad = Some(is_bad);
        fate.is_lost |= rng.uniform() < if is_bad { loss_bad } else { loss_good };
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fates, rng};
    use super::*;
    use crate::units::Span;

    #[test]
    fn the_loss_ratio_and_the_length_of_bursts_are_those_of_the_chain() {
        // P(B) = 0.01 / 0.26; with all lost in B and none in G bursts last 1 / 0.25 = 4 packets.
        let params =
            GilbertElliottParams { to_bad: 0.01, to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
        let env = ImpairmentEnv { delay: Span::ZERO };
        let mut channel = GilbertElliott::new(params, &env).unwrap();
        let n = 400_000;
        let packet_fates = fates(&mut channel, n, Span::from_seconds(0.001), &mut rng(1));
        let lost: Vec<bool> = packet_fates.iter().map(|(_, fate)| fate.is_lost).collect();
        let count = lost.iter().filter(|&&l| l).count();
        let bursts = lost.windows(2).filter(|w| w[1] && !w[0]).count() + usize::from(lost[0]);
        assert!((count as f64 / f64::from(n) / (0.01 / 0.26) - 1.0).abs() < 0.06, "{count}");
        let length = count as f64 / bursts as f64;
        // Lengths are geometric with deviation sqrt(12): five errors of the mean of some 3800.
        assert!((length - 4.0).abs() < 5.0 * (12.0 / bursts as f64).sqrt(), "{length}");
    }

    /// A channel is met at any time: the first packet finds it bad with P(B) = 0.1 / 0.4.
    #[test]
    fn the_first_packet_finds_the_channel_as_any_other_does() {
        let params =
            GilbertElliottParams { to_bad: 0.1, to_good: 0.3, loss_good: 0.0, loss_bad: 1.0 };
        let n = 4000;
        let is_lost = |seed: u64| {
            let env = ImpairmentEnv { delay: Span::ZERO };
            let mut channel = GilbertElliott::new(params.clone(), &env).unwrap();
            fates(&mut channel, 1, Span::from_seconds(0.001), &mut rng(seed))[0].1.is_lost
        };
        let share = (0..n).filter(|&seed| is_lost(seed)).count() as f64 / n as f64;
        assert!((share - 0.25).abs() < 5.0 * (0.25 * 0.75 / n as f64).sqrt(), "{share}");
    }

    #[test]
    fn losses_in_both_states_add_up() {
        let params =
            GilbertElliottParams { to_bad: 0.1, to_good: 0.3, loss_good: 0.02, loss_bad: 0.5 };
        let env = ImpairmentEnv { delay: Span::ZERO };
        let mut channel = GilbertElliott::new(params, &env).unwrap();
        let packet_fates = fates(&mut channel, 200_000, Span::from_seconds(0.001), &mut rng(2));
        let ratio = packet_fates.iter().filter(|(_, fate)| fate.is_lost).count() as f64 / 200_000.0;
        // (0.3 * 0.02 + 0.1 * 0.5) / 0.4 = 0.14
        assert!((ratio - 0.14).abs() < 0.006, "{ratio}");
    }
}
