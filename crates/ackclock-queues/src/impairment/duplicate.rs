//! Duplication: some packets arrive twice.
//!
//! **Source**: RFC 5560, "A One-Way Packet Duplication Metric", section 2.
//!
//! **Rule** (per packet)
//! ```text
//! with probability p a copy is released together with the packet
//! ```
//! Deviations: none. Copies count in the books: sent + copied = received + lost + under way.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fate, Impairment, ImpairmentEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::wire::Packet;

/// Parameters of duplication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DuplicateParams {
    /// Share of packets that are copied.
    #[schemars(range(min = 0, max = 1))]
    pub probability: f64,
}

impl Default for DuplicateParams {
    fn default() -> Self {
        Self { probability: 0.01 }
    }
}

/// Duplication.
pub struct Duplicate {
    probability: f64,
}

impl About<ImpairmentEnv> for Duplicate {
    type Params = DuplicateParams;
    const INFO: Info = Info {
        name: "duplicate",
        title: "Packets that arrive twice",
        source: "RFC 5560, section 2",
        status: Status::Specified,
    };

    fn new(params: DuplicateParams, _: &ImpairmentEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { probability: params.probability })
    }
}

impl Impairment for Duplicate {
    fn pass(&mut self, _: &Packet, fate: &mut Fate, rng: &mut Stream) {
        fate.copies += u32::from(rng.uniform() < self.probability);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fates, rng};
    use super::*;
    use crate::units::Span;

    #[test]
    fn as_many_are_copied_as_said() {
        let params = DuplicateParams { probability: 0.2 };
        let mut twice = Duplicate::new(params, &ImpairmentEnv { delay: Span::ZERO }).unwrap();
        let packet_fates = fates(&mut twice, 100_000, Span::from_seconds(0.001), &mut rng(1));
        let copies: u32 = packet_fates.iter().map(|(_, fate)| fate.copies).sum();
        // Five standard deviations: 5 sqrt(100000 * 0.2 * 0.8) = 632.
        assert!(copies.abs_diff(20_000) < 632, "{copies}");
    }
}
