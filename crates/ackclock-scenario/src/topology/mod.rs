//! ROOM: topologies. Each standard shape is one file that spells itself out as nodes and links.

mod adjacency;
mod barabasi;
mod data_centre;
mod drawn;
mod dumbbell;
mod edge_nodes;
mod erdos_renyi;
mod fat_tree;
mod graph;
mod hot;
mod leaf_spine;
mod oc_backbone;
mod parking_lot;
mod ring;
mod star;
mod tiers;

use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Spec;
use crate::scenario::{LinkSpec, Net};
use crate::units::{BitRate, BufferSize, Bytes, Span};

/// A network spelled out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Node names in order.
    pub nodes: Vec<String>,
    /// What its links are like.
    pub kinds: Vec<LinkKind>,
    /// Full-duplex links.
    pub links: Vec<DuplexLink>,
    /// Host pairs for `pair = i`: sender and receiver.
    pub pairs: Vec<(NodeId, NodeId)>,
    /// Where flows may begin and end; empty: wherever its links say.
    pub ends: Vec<NodeId>,
    /// Whether it is a map of routers only, without hosts: a node with one link is a router like others.
    pub is_map: bool,
    /// Whether flows are spread over equal paths where the scenario does not say.
    pub has_equal_paths: bool,
}

/// What links that are described together have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkKind {
    /// The path of the description in the scenario; see [`key_path`].
    pub path: String,
    /// The description. Ends, rate and delay are kept for each link.
    pub spec: LinkSpec,
}

/// A full-duplex link. A network may have very many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplexLink {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Its place among the kinds.
    pub kind: u32,
    /// Rate of each direction, if its kind has none for the way back.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Span,
}

impl Layout {
    /// Where flows of a traffic pattern begin and end: the network's `ends`; if it names none, all nodes of a
    /// map of routers, else the nodes with one link, or all nodes where fewer than two have one.
    pub fn hosts(&self) -> Vec<NodeId> {
        if !self.ends.is_empty() {
            return self.ends.clone();
        }
        if self.is_map {
            return (0..self.nodes.len() as u32).map(NodeId).collect();
        }
        let mut links = vec![0u32; self.nodes.len()];
        for end in self.links.iter().flat_map(|link| [link.a, link.b]) {
            links[end.index()] += 1;
        }
        let all = (0..self.nodes.len() as u32).map(NodeId);
        let hosts: Vec<NodeId> = all.clone().filter(|n| links[n.index()] == 1).collect();
        if hosts.len() < 2 { all.collect() } else { hosts }
    }

    /// The nodes with one neighbour, to which several links may lead.
    pub fn leaves(&self) -> Vec<NodeId> {
        let mut ends: Vec<(NodeId, NodeId)> =
            self.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]).collect();
        ends.sort_unstable();
        ends.dedup();
        ends.chunk_by(|neighbour, other| neighbour.0 == other.0)
            .filter(|neighbours| neighbours.len() == 1)
            .map(|neighbours| neighbours[0].0)
            .collect()
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()]
    }

    fn node(&mut self, name: String) -> NodeId {
        self.nodes.push(name);
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn kind(&mut self, path: impl Into<String>, spec: LinkSpec) -> u32 {
        self.kinds.push(LinkKind { path: path.into(), spec });
        self.kinds.len() as u32 - 1
    }

    /// Plain FIFO access links of the shape at `path`.
    fn access_kind(&mut self, path: &str, buffer: BufferSize) -> u32 {
        self.kind(format!("{path}.access_*"), links(buffer, &"fifo".into()))
    }

    fn link(&mut self, kind: u32, [a, b]: [NodeId; 2], rate: BitRate, delay: Span) {
        self.links.push(DuplexLink { a, b, kind, rate, delay });
    }
}

/// A network shape.
pub trait Topology {
    /// Spells the shape out, or reports everything that is wrong with its description at `path`.
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>>;
}

impl Topology for Net {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        let shape: &dyn Topology = match self {
            Self::Dumbbell(x) => &**x,
            Self::ParkingLot(x) => x,
            Self::Ring(x) => x,
            Self::Star(x) => x,
            Self::ErdosRenyi(x) => x,
            Self::Barabasi(x) => x,
            Self::Hot(x) => x,
            Self::Tiers(x) => x,
            Self::OcBackbone(x) => x,
            Self::FatTree(x) => x,
            Self::LeafSpine(x) => x,
            Self::Graph(x) => x,
        };
        shape.layout(path)
    }
}

/// Path of a link's key, of a link described at `path`. A path that ends in `*` is the beginning of
/// keys: those of access links begin with `access_` and are beside those of the bottleneck.
pub fn key_path(path: &str, key: &str) -> String {
    match path.strip_suffix('*') {
        Some(beginning) => format!("{beginning}{key}"),
        None => format!("{path}.{key}"),
    }
}

/// Most nodes a network may have, where they are counted in sum. Fields that are such a number have it as the
/// maximum of their range.
const MAX_NODES: u64 = 4_000_000;

/// Checks that a shape of so many `nodes`, which the number `count` at `key` makes, is not too large, before it is expanded.
fn check_nodes(path: &str, key: &str, count: u32, nodes: u64) -> Result<(), Vec<Problem>> {
    if nodes <= MAX_NODES {
        return Ok(());
    }
    let message =
        format!("is {count}, which makes {nodes} nodes in all, expected at most {MAX_NODES}");
    Err(vec![Problem::new(format!("{path}.{key}"), message)])
}

/// Fastest access link that is made up, in bit/s.
const MAX_RATE: u64 = 1_000_000_000_000_000;

/// Links that have nothing but a buffer and a discipline; shapes add what they need.
fn links(buffer: BufferSize, qdisc: &Spec) -> LinkSpec {
    LinkSpec {
        a: String::new(),
        b: String::new(),
        id: None,
        rate: BitRate(0),
        back_rate: None,
        delay: Span::ZERO,
        mtu: Bytes(65_535),
        buffer,
        back_buffer: None,
        qdisc: qdisc.clone(),
        back_qdisc: None,
        weight: 1.0,
        loss: 0.0,
        back_loss: 0.0,
        schedule: None,
        back_schedule: None,
        drop: Vec::new(),
        back_drop: Vec::new(),
        impairments: Vec::new(),
        back_impairments: Vec::new(),
    }
}

/// The rate of a shape's access links: as given, else ten times the bottleneck's.
fn access_rate(path: &str, access: Option<BitRate>, rate: BitRate) -> Result<BitRate, Problem> {
    match access {
        Some(BitRate(0)) => Err(Problem::new(
            format!("{path}.access_rate"),
            "is 0 bit/s, expected more than zero; left out it is ten times the bottleneck's",
        )),
        Some(access) => Ok(access),
        // A bottleneck beyond the limits is reported separately.
        None => Ok(BitRate(rate.0.saturating_mul(10).clamp(1, MAX_RATE))),
    }
}
