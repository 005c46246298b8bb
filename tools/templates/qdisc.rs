//! <Title>: <what it does, in a sentence>.
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

use super::store::Store;
use super::{Limit, QdiscCtx, QdiscEnv, QueueDisc};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::Bytes;
use crate::wire::{DropReason, Packet, Timed};

/// Parameters of [`{{Name}}`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// <What it does, in a phrase>.
#[derive(Debug)]
pub struct {{Name}} {
    store: Store,
    limit: Limit,
}

impl About<QdiscEnv> for {{Name}} {
    type Params = Params;
    const INFO: Info = Info {
        name: "{{name}}",
        title: "<Title>",
        source: "<authors year, section, doi>",
        status: Status::Variant,
    };

    fn new(_: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { store: Store::default(), limit: env.limit })
    }
}

impl QueueDisc for {{Name}} {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        if self.limit.admits(self.store.len(), self.store.backlog(), packet.size) {
            self.store.push(ctx.now, packet);
        } else {
            ctx.drop(packet, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, _ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        self.store.pop()
    }

    fn len(&self) -> usize {
        self.store.len()
    }

    fn backlog(&self) -> Bytes {
        self.store.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, env};
    use super::*;

    #[test]
    fn what_finds_no_room_is_dropped() {
        let env = QdiscEnv { limit: Limit { packets: 2, ..Limit::NONE }, ..env() };
        let mut bench = Bench::new({{Name}}::new(Params {}, &env).unwrap());
        let sent: Vec<u32> = (0..3).map(|key| bench.arrive(key, 100)).collect();
        assert_eq!(bench.drops(), [(sent[2], DropReason::Overflow)]);
        assert_eq!(bench.depart().map(|t| t.packet.seq), Some(sent[0]));
    }
}
