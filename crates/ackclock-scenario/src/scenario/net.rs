//! The network as the user describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data_centre::{FatTree, LeafSpine};
use super::defaults::{fifo, one_bdp};
use super::generated::{Barabasi, ErdosRenyi, Hot, OcBackbone, Tiers};
use crate::registry::Spec;
use crate::units::{BitRate, BufferSize, Bytes, Span};

/// A network: one of the standard shapes, or a graph given node by node and link by link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Net {
    /// Pairs of hosts that share one bottleneck.
    Dumbbell(Box<Dumbbell>),
    /// A chain of bottlenecks, one long path and a cross path over each.
    ParkingLot(ParkingLot),
    /// Routers in a ring, one host each.
    Ring(Ring),
    /// Hosts around one router.
    Star(Star),
    /// Links drawn at random.
    ErdosRenyi(ErdosRenyi),
    /// Preferential attachment.
    Barabasi(Barabasi),
    /// The HOT topology that comes with Orbis.
    Hot(Hot),
    /// A WAN, MANs and LANs.
    Tiers(Tiers),
    /// A synthetic backbone of SONET links.
    OcBackbone(OcBackbone),
    /// A data centre in three levels.
    FatTree(FatTree),
    /// A data centre in two levels.
    LeafSpine(LeafSpine),
    /// Any network.
    Graph(Graph),
}

/// Pairs of hosts that share one bottleneck: `s0..` - `r0` - `r1` - `d0..`.
///
/// Flows may say `pair = i` for `s{i}` to `d{i}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Number of host pairs.
    #[schemars(range(min = 1, max = 4_000_000))]
    pub pairs: u32,
    /// Rate of the bottleneck.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// Round-trip propagation time between the hosts of each pair; excludes `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Span>,
    /// Round-trip time of each pair, one by one; excludes `rtt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtts: Option<Vec<Span>>,
    /// One-way delay of the bottleneck. Left out: the whole of the smallest round trip less the access delays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_000_000))]
    pub delay: Option<Span>,
    /// Rate of the access links. Left out: ten times the bottleneck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub access_rate: Option<BitRate>,
    /// One-way delay of each left-hand access link.
    #[serde(default = "access_delay")]
    #[schemars(range(max = 9_000_000))]
    pub access_delay: Span,
    /// One-way delays of the right-hand access links, one by one; excludes `rtt` and `rtts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right_delays: Option<Vec<Span>>,
    /// Buffer of the bottleneck, both directions.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of the bottleneck.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
    /// Queue discipline of the bottleneck, right to left. Left out: `qdisc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub back_qdisc: Option<Spec>,
    /// Buffer of the access links.
    #[serde(default = "unlimited")]
    pub access_buffer: BufferSize,
    /// Random loss ratio on the bottleneck, left to right.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub loss: f64,
    /// Rate and loss of the bottleneck over time, left to right; overrides `rate` and `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<RateSpec>,
    /// Arrivals at the bottleneck, left to right, that are dropped: numbers from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<u64>,
    /// Arrivals at the bottleneck, right to left, that are dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back_drop: Vec<u64>,
    /// What the wire of the bottleneck does to packets, left to right: jitter, reordering, bursty loss, ...
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-room" = "impairment"))]
    pub impairments: Vec<Spec>,
    /// What the wire of the bottleneck does to packets, right to left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-room" = "impairment"))]
    pub back_impairments: Vec<Spec>,
}

/// A chain of `hops` bottlenecks `r0 - r1 - ..`; a long pair `s0`-`d0` over all of them and, for each
/// hop i from 1, a cross pair `s{i}`-`d{i}` over it alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkingLot {
    /// Number of bottlenecks.
    #[schemars(range(min = 1, max = 4_000_000))]
    pub hops: u32,
    /// Rate of each bottleneck.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// One-way delay of each bottleneck.
    #[schemars(range(max = 9_000_000))]
    pub delay: Span,
    /// Rate of the access links. Left out: ten times the bottleneck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub access_rate: Option<BitRate>,
    /// One-way delay of the access links.
    #[serde(default = "access_delay")]
    #[schemars(range(max = 9_000_000))]
    pub access_delay: Span,
    /// Buffer of each bottleneck.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of each bottleneck.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
}

/// Routers `r0..` in a ring, a host `h0..` at each. Pair i goes from `h{i}` over `span` ring links
/// to `h{i + span}` (Akella et al. 2002, footnote 6: two bottlenecks on every path is `span = 2`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Number of routers.
    #[schemars(range(min = 3, max = 4_000_000))]
    pub routers: u32,
    /// Ring links that each pair crosses, fewer than half of all.
    #[serde(default = "two")]
    #[schemars(range(min = 1))]
    pub span: u32,
    /// Rate of each ring link.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// One-way delay of each ring link.
    #[schemars(range(max = 9_000_000))]
    pub delay: Span,
    /// Rate of the access links. Left out: ten times the ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub access_rate: Option<BitRate>,
    /// One-way delay of the access links.
    #[serde(default = "access_delay")]
    #[schemars(range(max = 9_000_000))]
    pub access_delay: Span,
    /// Buffer of each ring link.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of each ring link.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
}

/// Hosts `h0..` around one router `r`. Pair i goes from `h{i}` to `h{i + 1}`, the last to `h0`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts.
    #[schemars(range(min = 2, max = 4_000_000))]
    pub hosts: u32,
    /// Rate of every link.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// One-way delay of every link.
    #[schemars(range(max = 9_000_000))]
    pub delay: Span,
    /// Buffer of every link.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of every link.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
}

/// Any network: nodes and full-duplex links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Nodes; those that links name need not be listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeSpec>,
    /// Links.
    pub links: Vec<LinkSpec>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Name, unique in the network.
    pub id: String,
    /// Latitude in degrees, for maps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Longitude in degrees, for maps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
}

/// A full-duplex link from `a` to `b`; its directions are named `a->b` and `b->a`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
    /// Name; left out: `a->b` and `b->a`. Given: the directions are `name` and `name:back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Rate of each direction.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// Rate from b to a where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub back_rate: Option<BitRate>,
    /// One-way propagation delay.
    #[schemars(range(max = 9_000_000))]
    pub delay: Span,
    /// Largest packet in bytes on the wire.
    #[serde(default = "mtu")]
    #[schemars(range(min = 1, max = 65535))]
    pub mtu: Bytes,
    /// Buffer of each direction.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Buffer from b to a where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_buffer: Option<BufferSize>,
    /// Queue discipline of each direction.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
    /// Queue discipline from b to a where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub back_qdisc: Option<Spec>,
    /// Routing weight.
    #[serde(default = "unit_weight")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
    /// Random loss ratio, from a to b.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub loss: f64,
    /// Random loss ratio, from b to a.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub back_loss: f64,
    /// Rate and loss over time from a to b; overrides `rate` and `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<RateSpec>,
    /// Rate and loss over time from b to a.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_schedule: Option<RateSpec>,
    /// Arrivals from a to b that are dropped: numbers from 0 in order of arrival.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<u64>,
    /// Arrivals from b to a that are dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back_drop: Vec<u64>,
    /// What the wire does to packets from a to b: jitter, reordering, bursty loss, ...
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-room" = "impairment"))]
    pub impairments: Vec<Spec>,
    /// What the wire does to packets from b to a.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-room" = "impairment"))]
    pub back_impairments: Vec<Spec>,
}

/// What is different at single directions of links, whatever the network's shape. What is left out stays
/// as the network has it; of several changes of one direction the last counts, setting by setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// Names of directions, as `explain` lists them: `r0->r1`. In a name `*` stands for anything.
    pub link: Names,
    /// Rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: Option<BitRate>,
    /// One-way propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_000_000))]
    pub delay: Option<Span>,
    /// Largest packet in bytes on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub mtu: Option<Bytes>,
    /// Buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// Queue discipline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Option<Spec>,
    /// Routing weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: Option<f64>,
    /// Random loss ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub loss: Option<f64>,
    /// Rate and loss over time; overrides `rate` and `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<RateSpec>,
    /// Arrivals that are dropped: numbers from 0 in order of arrival, at each of the links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop: Option<Vec<u64>>,
    /// What the wire does to packets: jitter, reordering, bursty loss, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "impairment"))]
    pub impairments: Option<Vec<Spec>>,
    /// When the link has failed: packets that reach it meanwhile are lost. Routes stay, but for `reroute_after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<Vec<DownTime>>,
    /// What becomes of packets in its queue and on its wire when it fails; `lost` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<InFlight>,
}

/// A time in which a link has failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DownTime {
    /// From this time on.
    #[schemars(extend("x-bare" = true))]
    pub from: Span,
    /// Until this time. Left out: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-bare" = true))]
    pub until: Option<Span>,
}

/// What becomes of packets that a link has accepted and not yet delivered when it fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InFlight {
    /// Lost are those on the wire at any time at which the link is down: on it when the link fails, or put on it out of
    /// the queue before the link is back.
    #[default]
    Lost,
    /// Delivered are all that reached the link before it failed, as where a handover is prepared.
    Delivered,
}

/// One name, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Names {
    /// The one.
    One(String),
    /// All of them.
    Several(Vec<String>),
}

impl Default for Names {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

/// A rate, and a loss ratio, that change over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateSpec {
    /// Steps: each rate and each loss ratio holds from its time on until the next, the last for ever; before the
    /// first the link's own.
    Steps(Vec<LinkStep>),
    /// A Mahimahi packet-delivery trace: milliseconds at each of which up to 1500 bytes may leave, repeated
    /// with the period of the last one.
    Mahimahi(Vec<u64>),
}

/// One step of a link's schedule: a rate, a loss ratio, or both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkStep {
    /// From this time on.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// This rate (0 = outage). Left out: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// This random loss ratio. Left out: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub loss: Option<f64>,
}

fn access_delay() -> Span {
    Span::from_millis(1)
}
fn unlimited() -> BufferSize {
    BufferSize::Unlimited
}
fn mtu() -> Bytes {
    Bytes(65_535)
}
fn unit_weight() -> f64 {
    1.0
}
fn two() -> u32 {
    2
}
