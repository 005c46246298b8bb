//! What collective operations share: their parameters, and how operations follow each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Transfer, Wait};
use crate::units::{Bytes, Span};

/// Parameters of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CollectiveParams {
    /// So many operations, one after another: a host takes part in the next when its part of the one before is over.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub operations: u32,
    /// Time that a host computes between the end of its part of an operation and the next.
    pub compute: Span,
}

impl Default for CollectiveParams {
    fn default() -> Self {
        Self { operations: 1, compute: Span::ZERO }
    }
}

/// One operation: its transfers, and by host those of them whose arrival ends the host's part.
#[derive(Debug, Default)]
pub(super) struct Operation {
    pub(super) transfers: Vec<Transfer>,
    pub(super) last: Vec<Vec<u32>>,
}

impl Operation {
    /// One between so many hosts, still without transfers.
    pub(super) fn new(hosts: u32) -> Self {
        Self { transfers: Vec::new(), last: vec![Vec::new(); hosts as usize] }
    }

    /// Adds a transfer that waits for others to arrive at its host; returns its place.
    pub(super) fn send(&mut self, from: u32, to: u32, size: Bytes, after: &[u32]) -> u32 {
        let after = after.iter().map(|&transfer| Wait { transfer, pause: Span::ZERO }).collect();
        let place = self.transfers.len() as u32;
        self.transfers.push(Transfer { from, to, size, start: Span::ZERO, after });
        place
    }

    /// The operation so many times: every transfer of a later one waits for the last ones of its host in the one before.
    pub(super) fn repeat(self, params: &CollectiveParams) -> Vec<Transfer> {
        let count = self.transfers.len() as u32;
        let mut all = self.transfers.clone();
        for begin in (1..params.operations).map(|operation| operation * count) {
            all.extend(self.transfers.iter().map(|transfer| {
                let own = transfer
                    .after
                    .iter()
                    .map(|wait| Wait { transfer: begin + wait.transfer, pause: wait.pause });
                let before = self.last[transfer.from as usize]
                    .iter()
                    .map(|last| Wait { transfer: begin - count + last, pause: params.compute });
                Transfer { after: before.chain(own).collect(), ..transfer.clone() }
            }));
        }
        all
    }
}

/// Part `part` of `parts` about equal ones of `size`, at least a byte.
pub(super) fn part_of(size: Bytes, part: u32, parts: u32) -> Bytes {
    let end = |part: u32| u128::from(size.0) * u128::from(part) / u128::from(parts);
    Bytes(((end(part + 1) - end(part)) as u64).max(1))
}

/// What a collective operation is on.
///
/// # Errors
/// It is not said.
pub(super) fn size_of(size: Option<Bytes>) -> Result<Bytes, String> {
    size.ok_or_else(|| {
        "is a collective operation; expected size beside it, what it is on".to_owned()
    })
}

/// The hosts between which an operation transfers, as flows: so many, from the first again after the last.
pub(super) fn pairs_of(operation: &Operation, flows: Option<u32>) -> Vec<Demand> {
    let transfers = &operation.transfers;
    let count = flows.map_or(transfers.len(), |flows| flows as usize);
    let demand = |t: &Transfer| Demand { from: t.from, to: t.to, weight: 1.0 };
    transfers.iter().cycle().take(count).map(demand).collect()
}
