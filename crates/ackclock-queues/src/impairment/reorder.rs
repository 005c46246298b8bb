//! Reordering: some packets are held so that others overtake them.
//!
//! **Source**: the packets that are late by a given extent are those of RFC 4737 section 4 (reordered
//! ratio, late-time offset).
//!
//! **Rule** (per packet)
//! ```text
//! with probability p:  hold = extent;  otherwise: hold = 0
//! ```
//! A packet held for `extent` is overtaken by those whose transmissions end within that time.
//! Deviations: none.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fate, Impairment, ImpairmentEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Span;
use crate::wire::Packet;

/// Parameters of reordering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReorderParams {
    /// Share of packets that are late.
    #[schemars(range(min = 0, max = 1))]
    pub probability: f64,
    /// How late they are.
    pub extent: Span,
}

impl Default for ReorderParams {
    fn default() -> Self {
        Self { probability: 0.01, extent: Span::from_seconds(0.005) }
    }
}

/// Reordering.
pub struct Reorder {
    params: ReorderParams,
}

impl About<ImpairmentEnv> for Reorder {
    type Params = ReorderParams;
    const INFO: Info = Info {
        name: "reorder",
        title: "Packets that others overtake",
        source: "RFC 4737, section 4",
        status: Status::Specified,
    };

    fn new(params: ReorderParams, _: &ImpairmentEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

impl Impairment for Reorder {
    fn pass(&mut self, _: &Packet, fate: &mut Fate, rng: &mut Stream) {
        if rng.uniform() < self.params.probability {
            fate.hold(self.params.extent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fates, rng};
    use super::*;

    #[test]
    fn the_late_ones_are_late_by_the_extent_and_as_many_as_said() {
        let params = ReorderParams { probability: 0.1, extent: Span::from_seconds(0.0035) };
        let mut late = Reorder::new(params, &ImpairmentEnv { delay: Span::ZERO }).unwrap();
        let packet_fates = fates(&mut late, 100_000, Span::from_seconds(0.001), &mut rng(1));
        let delays: Vec<f64> =
            packet_fates.iter().map(|(sent, fate)| fate.release.since(*sent).seconds()).collect();
        assert!(delays.iter().all(|&h| h == 0.0 || h == 0.0035));
        // Five standard deviations of a binomial count: 474.
        let count = delays.iter().filter(|&&h| h > 0.0).count();
        assert!(count.abs_diff(10_000) < 474, "{count}");
        // Three packets overtake each that is late: those 1, 2 and 3 ms behind it, unless late themselves.
        let overtaken = (0..packet_fates.len() - 3)
            .filter(|&i| delays[i] > 0.0 && (1..=3).all(|k| delays[i + k] == 0.0))
            .all(|i| packet_fates[i + 3].1.release < packet_fates[i].1.release);
        assert!(overtaken);
    }
}
