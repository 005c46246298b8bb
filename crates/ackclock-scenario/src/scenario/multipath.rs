//! Multipath connections as the user describes them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::Spec;
use crate::units::Span;

/// A connection of several TCP flows, its subflows (MPTCP, RFC 8684): each has sequence numbers, a window and loss recovery of a
/// flow, and together they deliver one stream in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Multipath {
    /// The subflows, two to eight; an empty table is one over the flow's route.
    pub paths: Vec<SubflowPath>,
    /// Which subflow gets data where several have room in their windows.
    #[serde(default)]
    pub scheduler: Scheduler,
}

/// One subflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SubflowPath {
    /// Nodes that its data passes, from `src` to `dst`. Left out: the flow's `route`, else by `routing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// Nodes that its acknowledgements pass, from `dst` to `src`. Left out: the flow's `ack_route`, else by `routing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_route: Option<Vec<String>>,
    /// Congestion control of this subflow. Left out: the flow's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "cc"))]
    pub cc: Option<Spec>,
    /// It begins so long after the flow's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Span>,
}

/// Which subflow gets data where several have room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The one with the shortest smoothed round trip; those without a sample come last.
    #[default]
    LowestRtt,
    /// One segment each in turn.
    RoundRobin,
    /// Each subflow sends all data, but for what has been acknowledged to the connection.
    Redundant,
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LowestRtt => "lowest-rtt",
            Self::RoundRobin => "round-robin",
            Self::Redundant => "redundant",
        })
    }
}
