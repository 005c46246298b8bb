//! A program in the place of a flow's two ends, as the user describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Span;

/// A program that is both ends of a flow, driven in virtual time over its standard input and output
/// (`docs/reference/guest-protocol.md`). It runs with the user's rights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guest {
    /// The program and its arguments. It is started in the folder of the scenario's file, once for each end; without a
    /// `/` it is searched for as a shell does.
    #[schemars(length(min = 1, max = 64))]
    pub command: Vec<String>,
    /// Its name in tables and figures; left out: `guest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// It must answer within this time of the wall's clock, a safety that no result depends on. Left out: 30 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 86400))]
    pub patience: Option<Span>,
    /// The first 12 hex digits of the SHA-256 of its files, if it must be those; left out: whatever is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
