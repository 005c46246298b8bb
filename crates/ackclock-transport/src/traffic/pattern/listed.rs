//! Transfers as a list says, of which some wait for others.
//!
//! **Source**: none; a replay. Files: connection matrices of htsim (ultraethernet/uet-htsim, `connection_matrix.cpp`); GOAL
//! (T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language - A Flexible Way to Express Collective
//! Communication", ICPP 2009, doi:10.1109/ICPP.2009.70).
//!
//! **Rule**
//! ```text
//! one transfer per entry, between hosts by their place in the list of hosts
//! it starts at its time or, with `after`, once each of these has arrived (where this one's host received it) or is
//! acknowledged (where it sent it), and so much later as it says
//! ```
//! Deviations: none. As a pattern that only draws flows it has the pairs of the list, and numbers beyond the last host begin
//! again at the first.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Pattern, PatternEnv, Transfer, Wait};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Bytes, Span};

/// Parameters of the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListedParams {
    /// Transfers, each after those that it waits for.
    #[schemars(extend("x-file" = "A connection matrix of htsim (`.cm`, `.tm`) or a schedule in GOAL (`.goal`); path relative to the scenario file."))]
    pub transfers: Vec<ListedTransfer>,
}

/// A transfer of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedTransfer {
    /// Sending host, by its place among the hosts, from 0.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Payload.
    #[schemars(range(min = 1))]
    pub size: Bytes,
    /// Start, counted from that of the flows; of one that waits, the earliest.
    #[schemars(extend("x-bare" = true))]
    #[serde(default)]
    pub at: Span,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<ListedWait>,
}

/// What a transfer of the list waits for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedWait {
    /// Place of the other transfer in the list, from 0, before this one.
    pub transfer: u32,
    /// Time from its completion at the host that sends this one.
    #[serde(default)]
    pub pause: Span,
}

/// A list of transfers.
pub struct Listed {
    transfers: Vec<ListedTransfer>,
}

impl About<PatternEnv> for Listed {
    type Params = ListedParams;
    const INFO: Info = Info {
        name: "listed",
        title: "Transfers of a list",
        source: "none; a replay",
        status: Status::Variant,
    };

    fn new(params: ListedParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        let transfers = params.transfers;
        let mut problems = Vec::new();
        if transfers.is_empty() {
            problems.push(Problem::new("transfers", "is empty, expected at least one transfer"));
        }
        for (i, transfer) in transfers.iter().enumerate() {
            let ListedTransfer { from, to, .. } = transfer;
            let mut wrong = |key: &str, message: String| {
                problems.push(Problem::new(format!("transfers[{i}].{key}"), message));
            };
            if from == to {
                wrong("to", format!("is {to}, the sending host; expected another"));
            }
            for (j, wait) in transfer.after.iter().enumerate() {
                let key = format!("after[{j}].transfer");
                let number = wait.transfer;
                match transfers.get(number as usize).filter(|_| (number as usize) < i) {
                    None => {
                        wrong(&key, format!("is {number}, expected one before this, number {i}"));
                    }
                    Some(other) if other.from != *from && other.to != *from => {
                        let message = format!(
                            "is {number}, from host {} to host {}; expected one that begins or ends at host {from}, where \
                             this one begins: hosts know of others what arrives",
                            other.from, other.to
                        );
                        wrong(&key, message);
                    }
                    Some(_) => {}
                }
            }
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        if problems.is_empty() { Ok(Self { transfers }) } else { Err(problems) }
    }
}

/// So many problems of a list are reported.
const MOST_PROBLEMS: usize = 20;

impl Pattern for Listed {
    fn draw(&self, hosts: u32, flows: Option<u32>, _rng: &mut Stream) -> Vec<Demand> {
        let count = flows.map_or(self.transfers.len(), |flows| flows as usize);
        let pairs = self.transfers.iter().map(|t| {
            let [from, to] = [t.from, t.to].map(|host| host % hosts);
            Demand { from, to: if to == from { (to + 1) % hosts } else { to }, weight: 1.0 }
        });
        pairs.cycle().take(count).collect()
    }

    fn transfers(&self, hosts: u32, size: Option<Bytes>) -> Result<Option<Vec<Transfer>>, String> {
        if size.is_some() {
            return Err("has the sizes of its transfers; expected no size beside it".to_owned());
        }
        let most = self.transfers.iter().map(|t| t.from.max(t.to)).max().unwrap_or_default();
        if most >= hosts {
            return Err(format!(
                "names host {most} and there are {hosts} hosts; expected 0 to {}",
                hosts - 1
            ));
        }
        let transfer = |t: &ListedTransfer| Transfer {
            from: t.from,
            to: t.to,
            size: t.size,
            start: t.at,
            after: t.after.iter().map(|w| Wait { transfer: w.transfer, pause: w.pause }).collect(),
        };
        Ok(Some(self.transfers.iter().map(transfer).collect()))
    }

    fn transfer_count(&self, _hosts: u32) -> u64 {
        self.transfers.len() as u64
    }
}
