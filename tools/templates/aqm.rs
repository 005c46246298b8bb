//! <Title>: <what it decides, in a sentence>.
//!
//! What: <what it is good for, and what it assumes>.
//!
//! **Source**: <authors, "title", venue year, section, doi>.
//!
//! **Rule**
//! ```text
//! <at most ten lines of formulas>
//! ```
//! Deviations: <none, or what and why>.
//!
//! Defaults by era: <the same in all, or which>.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::Prototype;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::wire::{DropReason, Packet};

/// Parameters of [`{{Name}}`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Packets that may wait before arrivals are marked or dropped.
    #[schemars(range(min = 1), extend("x-unit" = "packets"))]
    pub threshold: u32,
    /// Mark packets that are capable of ECN; drop only others.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { threshold: 20, ecn: false }
    }
}

/// <What it decides, in a phrase>.
#[derive(Clone, Debug)]
pub struct {{Name}} {
    params: Params,
}

impl About<QdiscEnv> for {{Name}} {
    type Params = Params;
    const INFO: Info = Info {
        name: "{{name}}",
        title: "<Title>",
        source: "<authors year, section, doi>",
        status: Status::Variant,
    };

    fn new(params: Params, _env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

impl Plain for {{Name}} {}

impl Aqm for {{Name}} {
    /// It also serves inside DRR, FQ and others; leave this out if it needs the whole link's queue.
    fn into_prototype(self) -> Option<Box<dyn Prototype>> {
        Some(Box::new(self))
    }

    fn on_enqueue(&mut self, _: &Packet, queue: &QueueState, _rng: &mut Stream) -> Verdict {
        if queue.packets < self.params.threshold as usize {
            Verdict::Pass
        } else if self.params.ecn {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};

    #[test]
    fn what_finds_the_threshold_waiting_is_dropped() {
        let params = Params { threshold: 2, ecn: false };
        let mut bench = Bench::new(Managed::<{{Name}}>::new(params, &env()).unwrap());
        let sent: Vec<u32> = (0..3).map(|key| bench.arrive(key, 100)).collect();
        assert_eq!(bench.drops(), [(sent[2], DropReason::Early)]);
        assert_eq!(bench.depart().map(|t| t.packet.seq), Some(sent[0]));
    }
}
