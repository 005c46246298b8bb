//! Jitter: each packet is held for a random time of a given distribution.
//!
//! **Source**: the delay distributions that network emulators offer (S. Hemminger, "Network Emulation with
//! `NetEm`", linux.conf.au 2005, section 3); the Pareto distribution with mean m and tail a has scale m (a-1)/a.
//!
//! **Rule** (per packet, independent draws; m = mean, s = spread)
//! ```text
//! uniform:      hold ~ U(m - s, m + s)            exponential:  hold ~ Exp(m)
//! normal:       hold ~ N(m, s), not below 0       pareto:       hold ~ Pareto(mean m, shape a)
//! samples:      hold = one of the list, each as likely as the others
//! keep_order:   release = max(arrival + hold, release of the packet ahead)
//! ```
//! Deviations: with `keep_order` a packet also waits for the one ahead of it, so the mean hold is above m;
//! a normal distribution cut off at 0 has a mean above m too.
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

/// The shape of a distribution of holding times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Uniform from `mean - spread` to `mean + spread`.
    Uniform,
    /// Normal with `mean` and standard deviation `spread`, cut off at 0.
    Normal,
    /// Exponential with `mean`.
    #[default]
    Exponential,
    /// Pareto with `mean` and shape `tail`.
    Pareto,
    /// One of `samples`.
    Samples,
}

/// Parameters of jitter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JitterParams {
    /// Shape of the distribution.
    pub shape: Shape,
    /// Mean holding time.
    pub mean: Span,
    /// Half the width of `uniform` (at most `mean`), standard deviation of `normal`.
    pub spread: Span,
    /// Shape parameter of `pareto`.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub tail: f64,
    /// Holding times of `samples`, at least one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Span>,
    /// Whether packets are released in the order in which they came.
    pub keep_order: bool,
}

impl Default for JitterParams {
    fn default() -> Self {
        Self {
            shape: Shape::default(),
            mean: Span::from_seconds(0.001),
            spread: Span::ZERO,
            tail: 2.5,
            samples: Vec::new(),
            keep_order: true,
        }
    }
}

/// Jitter.
pub struct Jitter {
    params: JitterParams,
    order: Order,
}

impl About<ImpairmentEnv> for Jitter {
    type Params = JitterParams;
    const INFO: Info = Info {
        name: "jitter",
        title: "Random holding times",
        source: "S. Hemminger, \"Network Emulation with NetEm\", linux.conf.au 2005, section 3",
        status: Status::Specified,
    };

    fn new(params: JitterParams, _: &ImpairmentEnv) -> Result<Self, Vec<Problem>> {
        if params.shape == Shape::Uniform && params.spread > params.mean {
            let (spread, mean) = (params.spread.seconds(), params.mean.seconds());
            let range = format!("at most mean, {mean} s: no packet is held for less than 0 s");
            return Err(Problem::out_of_range("spread", format!("{spread} s"), &range).into());
        }
        if (params.shape == Shape::Samples) == params.samples.is_empty() {
            let message = "go with the shape \"samples\" only; expected both or neither";
            return Err(Problem::new("samples", message).into());
        }
        Ok(Self { params, order: Order::default() })
    }
}

/// A draw of the standard normal distribution: the cosine of a uniform angle, scaled by a Rayleigh radius
/// (Box & Muller 1958).
fn standard_normal(rng: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - rng.uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.uniform()).cos()
}

impl Jitter {
    fn draw(&self, rng: &mut Stream) -> Span {
        let JitterParams { shape, mean, spread, tail, samples, .. } = &self.params;
        let (mean, spread) = (mean.seconds(), spread.seconds());
        let seconds = match shape {
            Shape::Uniform => mean + spread * (2.0 * rng.uniform() - 1.0),
            Shape::Normal => mean + spread * standard_normal(rng),
            Shape::Exponential => rng.exponential(mean),
            Shape::Pareto => rng.pareto(mean, *tail),
            Shape::Samples => return samples[rng.below(samples.len() as u64) as usize],
        };
        Span::from_seconds(seconds.max(0.0))
    }
}

impl Impairment for Jitter {
    fn pass(&mut self, _: &Packet, fate: &mut Fate, rng: &mut Stream) {
        fate.hold(self.draw(rng));
        if self.params.keep_order {
            self.order.keep(fate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fates, mean_hold, rng};
    use serde_json::json;

    use super::*;
    use crate::registry::refusal;

    fn jitter(params: JitterParams) -> Jitter {
        Jitter::new(params, &ImpairmentEnv { delay: Span::from_seconds(0.01) }).unwrap()
    }

    fn free(shape: Shape, spread_s: f64) -> Jitter {
        jitter(JitterParams {
            shape,
            mean: Span::from_seconds(0.010),
            spread: Span::from_seconds(spread_s),
            samples: if shape == Shape::Samples {
                [0.0, 0.005, 0.025].map(Span::from_seconds).to_vec()
            } else {
                Vec::new()
            },
            keep_order: false,
            ..JitterParams::default()
        })
    }

    #[test]
    fn means_and_spreads_are_those_of_the_distributions() {
        // Standard deviations of 10 ms shapes: uniform s/sqrt 3, normal s, exponential m; samples of
        // 0, 5, 25 ms: sqrt((100 + 25 + 225) / 3) = 10.8 ms.
        for (shape, spread, deviation) in [
            (Shape::Uniform, 0.006, 0.006 / 3f64.sqrt()),
            (Shape::Normal, 0.002, 0.002),
            (Shape::Exponential, 0.0, 0.010),
            (Shape::Samples, 0.0, (350e-6f64 / 3.0).sqrt()),
        ] {
            let n = 40_000;
            let packet_fates =
                fates(&mut free(shape, spread), n, Span::from_seconds(1.0), &mut rng(1));
            let mean = mean_hold(&packet_fates);
            let error = deviation / f64::from(n).sqrt();
            assert!((mean - 0.010).abs() < 5.0 * error, "{shape:?}: {mean}");
            let square: f64 = packet_fates
                .iter()
                .map(|(sent, fate)| (fate.release.seconds() - sent.seconds() - mean).powi(2))
                .sum();
            let measured = (square / f64::from(n)).sqrt();
            assert!(
                (measured / deviation - 1.0).abs() < 0.03,
                "{shape:?}: {measured} for {deviation}"
            );
        }
    }

    #[test]
    fn a_pareto_tail_falls_with_its_exponent() {
        let mut heavy = free(Shape::Pareto, 0.0);
        let packet_fates = fates(&mut heavy, 100_000, Span::from_seconds(1.0), &mut rng(2));
        // Scale 10 ms * 1.5 / 2.5 = 6 ms; P(hold > 60 ms) = 10^-2.5 = 0.316 %.
        let late = |(sent, fate): &&(_, Fate)| fate.release.since(*sent).seconds() > 0.060;
        let share = packet_fates.iter().filter(late).count() as f64 / 100_000.0;
        assert!((share - 0.003_16).abs() < 0.000_9, "{share}");
        assert!(
            packet_fates.iter().all(|(sent, fate)| fate.release.since(*sent).seconds() >= 0.006)
        );
    }

    #[test]
    fn order_is_kept_or_not() {
        let gap = Span::from_seconds(0.001);
        let mut params = free(Shape::Exponential, 0.0).params;
        for keep_order in [true, false] {
            params.keep_order = keep_order;
            let packet_fates = fates(&mut jitter(params.clone()), 1000, gap, &mut rng(3));
            let overtaken =
                packet_fates.windows(2).filter(|w| w[1].1.release < w[0].1.release).count();
            assert_eq!(overtaken == 0, keep_order, "{overtaken}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let env = ImpairmentEnv { delay: Span::ZERO };
        let of = |params| refusal::<ImpairmentEnv, Jitter>(params, &env);
        let wide = json!({ "shape": "uniform", "spread": "1 s" });
        assert!(of(wide).starts_with("spread"));
        assert_eq!(of(json!({ "tail": 1 })), "tail: 1 is out of range; expected more than 1");
        assert!(of(json!({ "shape": "samples" })).starts_with("samples"));
    }
}
