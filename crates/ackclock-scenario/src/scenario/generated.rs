//! Networks that are drawn at random or built by a published rule.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::{fifo, one_bdp};
use crate::registry::Spec;
use crate::units::{BitRate, BufferSize, Span};

/// How the capacity of a link follows from its depth: the smaller distance of its two ends from an edge
/// node, counted so that a leaf link has depth 1 (McCullough et al. 2010, section 6.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capacities {
    /// `rate` times depth.
    Arithmetic,
    /// `rate` times 10^(depth - 1).
    #[default]
    Geometric,
    /// `rate` for every link.
    Uniform,
}

/// What "the radius" of a network is where edge nodes may attach no nearer to the centre than half of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Radius {
    /// The smallest eccentricity of all nodes: the radius of graph theory.
    #[default]
    Graph,
    /// The eccentricity of the central node, the one of greatest betweenness.
    Centre,
}

/// A random graph of Erdos and Renyi: `edges` of the nodes^2 ordered pairs, each as likely, its largest
/// connected component; routers `c0..`.
///
/// With `edge_nodes`: leaves next to a node with more than one link to non-leaves go, then edge nodes
/// `e0..` attach at random to nodes at least half the radius from the centre until there are so many
/// (McCullough et al. 2010, section 6.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErdosRenyi {
    /// Nodes before anything is cut off.
    #[schemars(range(min = 2, max = 4_000_000))]
    pub nodes: u32,
    /// Pairs drawn; loops and a pair's second direction add no link.
    #[schemars(range(min = 1, max = 50_000_000))]
    pub edges: u32,
    /// Nodes of degree one in the end. Left out: the graph as drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub edge_nodes: Option<u32>,
    /// The radius of which edge nodes keep half.
    #[serde(default)]
    pub radius: Radius,
    /// Capacity by depth.
    #[serde(default)]
    pub capacities: Capacities,
    /// Rate of a leaf link.
    #[serde(default = "leaf_rate")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// One-way delay of every link.
    #[serde(default = "hop_delay")]
    #[schemars(range(max = 9_000_000))]
    pub delay: Span,
    /// Buffer of every link.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of every link.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
    /// Seed of the network: the run's own seed leaves it as it is.
    #[serde(default = "one")]
    pub seed: u64,
}

/// A random graph by preferential attachment: nodes come one by one, each is linked to edges/nodes others
/// with probability in proportion to their degrees; its largest connected component; routers `c0..`.
///
/// With `edge_nodes`: as in `erdos-renyi` (McCullough et al. 2010, section 6.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Barabasi {
    /// Nodes before anything is cut off.
    #[schemars(range(min = 2, max = 4_000_000))]
    pub nodes: u32,
    /// Requested links: node i brings floor((i+1) edges/nodes) - floor(i edges/nodes), if so many others are there.
    #[schemars(range(min = 1, max = 50_000_000))]
    pub edges: u32,
    /// Nodes of degree one in the end. Left out: the graph as drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub edge_nodes: Option<u32>,
    /// The radius of which edge nodes keep half.
    #[serde(default)]
    pub radius: Radius,
    /// Capacity by depth.
    #[serde(default)]
    pub capacities: Capacities,
    /// Rate of a leaf link.
    #[serde(default = "leaf_rate")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// One-way delay of every link.
    #[serde(default = "hop_delay")]
    #[schemars(range(max = 9_000_000))]
    pub delay: Span,
    /// Buffer of every link.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of every link.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
    /// Seed of the network: the run's own seed leaves it as it is.
    #[serde(default = "one")]
    pub seed: u64,
}

/// The heuristically optimal topology of 939 nodes and 988 links: 49 backbone routers `r0..`, 122 access
/// routers `a0..`, 768 edge nodes `e0..` (Li et al. 2004, as published with Orbis by Mahadevan et al. 2007).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hot {
    /// Capacity by depth.
    #[serde(default)]
    pub capacities: Capacities,
    /// Rate of a leaf link.
    #[serde(default = "leaf_rate")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub rate: BitRate,
    /// One-way delay of every link.
    #[serde(default = "hop_delay")]
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

/// A network of three tiers after Doar's generator `tiers`, its eleven arguments in their order: a WAN
/// `w0..`, MANs `m{i}.0..`, LANs `l{i}.{j}.0..`. The defaults are those of Legout & Biersack 1999.
///
/// Nodes lie at random in squares; a network's nodes are joined by a minimum spanning tree (a LAN's by a
/// star) and by its redundancy less one of the shortest links that are missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tiers {
    /// NW, WANs: the generator knows one.
    #[serde(default = "one_wan")]
    #[schemars(range(min = 1, max = 1))]
    pub wans: u32,
    /// NM, MANs on the WAN.
    #[serde(default = "twenty")]
    pub mans: u32,
    /// NL, LANs on each MAN.
    #[serde(default = "nine")]
    pub lans: u32,
    /// SW, nodes of the WAN.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 3000))]
    pub wan_nodes: u32,
    /// SM, nodes of each MAN.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 3000))]
    pub man_nodes: u32,
    /// SL, nodes of each LAN.
    #[serde(default = "one_node")]
    #[schemars(range(min = 1, max = 3000))]
    pub lan_nodes: u32,
    /// RW, redundancy inside the WAN: links beyond the tree, plus 1.
    #[serde(default = "three")]
    #[schemars(range(min = 1))]
    pub wan_redundancy: u32,
    /// RM, redundancy inside each MAN.
    #[serde(default = "one_node")]
    #[schemars(range(min = 1))]
    pub man_redundancy: u32,
    /// RL, redundancy inside each LAN.
    #[serde(default = "one_node")]
    #[schemars(range(min = 1))]
    pub lan_redundancy: u32,
    /// RMW, links from each MAN to the WAN.
    #[serde(default = "one_node")]
    #[schemars(range(min = 1))]
    pub man_wan_redundancy: u32,
    /// RLM, links from each LAN to its MAN.
    #[serde(default = "one_node")]
    #[schemars(range(min = 1))]
    pub lan_man_redundancy: u32,
    /// Rate of the WAN's links.
    #[serde(default = "wan_rate")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub wan_rate: BitRate,
    /// Rate of a MAN's links, those to the WAN included.
    #[serde(default = "man_rate")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub man_rate: BitRate,
    /// Rate of a LAN's links, those to the MAN included.
    #[serde(default = "lan_rate")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub lan_rate: BitRate,
    /// Rate of links between a MAN and the WAN. Left out: `man_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub man_wan_rate: Option<BitRate>,
    /// Rate of links between a LAN and its MAN. Left out: `lan_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000_000_000_000_u64))]
    pub lan_man_rate: Option<BitRate>,
    /// Side of the WAN's square.
    #[serde(default = "wan_km")]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "km"))]
    pub wan_km: f64,
    /// Side of each MAN's square.
    #[serde(default = "man_km")]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "km"))]
    pub man_km: f64,
    /// Side of each LAN's square.
    #[serde(default = "lan_km")]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "km"))]
    pub lan_km: f64,
    /// Speed of signals, by which lengths give delays.
    #[serde(default = "signal_speed")]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "m/s"))]
    pub signal_speed: f64,
    /// Buffer of every link.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of every link.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
    /// Seed of the network: the run's own seed leaves it as it is.
    #[serde(default = "one")]
    pub seed: u64,
}

/// A synthetic backbone of points of presence `p0..` with OC-192, OC-48 and OC-12 links: random places in
/// a rectangle, joined where no third lies between (Gabriel graph), the busiest links the fastest.
///
/// For use where no annotated map of an operator is available. Defaults: 66 points as in the Level 3
/// map of McCullough et al. 2010; shares of the speeds as NTT's global backbone had them in March 2011.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OcBackbone {
    /// Points of presence.
    #[serde(default = "sixty_six")]
    #[schemars(range(min = 2, max = 1000))]
    pub pops: u32,
    /// Share of links, those of greatest betweenness, that are OC-192 (9.95328 Gbit/s).
    #[serde(default = "oc192_share")]
    #[schemars(range(min = 0, max = 1))]
    pub oc192: f64,
    /// Share of links, next in betweenness, that are OC-48 (2.48832 Gbit/s); the others are OC-12 (622.08 Mbit/s).
    #[serde(default = "oc48_share")]
    #[schemars(range(min = 0, max = 1))]
    pub oc48: f64,
    /// Width of the rectangle; it is half as high.
    #[serde(default = "width_km")]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "km"))]
    pub width_km: f64,
    /// Buffer of every link.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of every link.
    #[serde(default = "fifo")]
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Spec,
    /// Seed of the network: the run's own seed leaves it as it is.
    #[serde(default = "one")]
    pub seed: u64,
}

fn leaf_rate() -> BitRate {
    BitRate(100_000_000)
}
fn hop_delay() -> Span {
    Span::from_millis(1)
}
fn one() -> u64 {
    1
}
fn one_wan() -> u32 {
    1
}
fn one_node() -> u32 {
    1
}
fn two() -> u32 {
    2
}
fn three() -> u32 {
    3
}
fn five() -> u32 {
    5
}
fn nine() -> u32 {
    9
}
fn twenty() -> u32 {
    20
}
fn sixty_six() -> u32 {
    66
}
fn wan_rate() -> BitRate {
    BitRate(155_000_000)
}
fn man_rate() -> BitRate {
    BitRate(55_000_000)
}
fn lan_rate() -> BitRate {
    BitRate(10_000_000)
}
fn wan_km() -> f64 {
    1000.0
}
fn man_km() -> f64 {
    10.0
}
fn lan_km() -> f64 {
    0.1
}
fn signal_speed() -> f64 {
    2e8
}
fn oc192_share() -> f64 {
    0.82
}
fn oc48_share() -> f64 {
    0.10
}
fn width_km() -> f64 {
    4000.0
}

#[cfg(test)]
mod tests {
    use super::Tiers;
    use crate::registry::Ranges;

    #[test]
    fn the_bounds_are_those_of_the_fields_attributes() {
        let ranges = Ranges::<3>::of::<Tiers>(["wan_nodes", "wan_km", "signal_speed"]);
        assert_eq!(ranges.check("net", [3000.0, 1e-9, 2e8]), Ok(()));
        let problems = ranges.check("net", [0.0, 0.0, f64::NAN]).unwrap_err();
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "net.wan_nodes: 0 is out of range; expected from 1 to 3000",
                "net.wan_km: 0 km is out of range; expected more than 0 (km)",
                "net.signal_speed: NaN m/s is out of range; expected more than 0 (m/s)",
            ]
        );
    }
}
