//! Networks of data centres.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::{fifo, one_bdp};
use crate::registry::Spec;
use crate::units::{BitRate, BufferSize, Span};

/// A three-level fat tree of switches with `k` ports (Al-Fares et al. 2008): `k` pods of k/2 edge and k/2
/// aggregation switches, and (k/2)^2 core switches.
///
/// Hosts `h0..`, edge switches `e0..`, aggregation switches `a0..`, core switches `c0..`, each numbered pod by pod.
/// Pair i goes from `h{i}` to the host at the same place half the pods on, over the core. Flows are spread over equal
/// paths unless the scenario says `equal_paths = "first"`. A host's queue is plain FIFO without a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of a switch, an even number.
    #[schemars(range(min = 2, max = 250))]
    pub k: u32,
    /// Pods, at most k: core switches have ports left if there are fewer. Left out: k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 250))]
    pub pods: Option<u32>,
    /// Hosts of each edge switch. Left out: k/2, so that no level is oversubscribed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_000_000))]
    pub hosts: Option<u32>,
    /// Rate of the hosts' links.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// Rate of the links between switches. Left out: `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub switch_rate: Option<BitRate>,
    /// One-way delay of the hosts' links.
    #[schemars(range(max = 9_000_000))]
    pub delay: Span,
    /// One-way delay of the links between switches. Left out: `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_000_000))]
    pub switch_delay: Option<Span>,
    /// Buffer of every port of a switch.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of every port of a switch.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
}

/// Leaf switches `l0..`, each linked to every spine switch `s0..`, with hosts `h0..` numbered leaf by leaf.
///
/// Pair i goes from `h{i}` to the host at the same place half the leaves on, over a spine. Flows are spread over
/// equal paths unless the scenario says `equal_paths = "first"`. A host's queue is plain FIFO without a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaf switches.
    #[schemars(range(min = 2, max = 100_000))]
    pub leaves: u32,
    /// Number of spine switches.
    #[schemars(range(min = 1, max = 100_000))]
    pub spines: u32,
    /// Hosts of each leaf switch.
    #[schemars(range(min = 1, max = 4_000_000))]
    pub hosts: u32,
    /// Rate of the hosts' links.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// Rate of the links between leaves and spines. Left out: `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub switch_rate: Option<BitRate>,
    /// One-way delay of the hosts' links.
    #[schemars(range(max = 9_000_000))]
    pub delay: Span,
    /// One-way delay of the links between leaves and spines. Left out: `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_000_000))]
    pub switch_delay: Option<Span>,
    /// Buffer of every port of a switch.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of every port of a switch.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
}
