//! ROOM: topologies. Each standard shape is one file that spells itself out as nodes and links.

mod adjacency;
mod barabasi;
mod drawn;
mod dumbbell;
mod edge_nodes;
mod erdos_renyi;
mod graph;
mod hot;
mod oc_backbone;
mod parking_lot;
mod ring;
mod star;
mod tiers;

use std::collections::HashMap;

use crate::error::Problem;
use crate::scenario::{LinkSpec, Net};
use crate::units::{BitRate, BufferSize, Bytes, Span};

/// A network spelled out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Node names in order.
    pub nodes: Vec<String>,
    /// Full-duplex links, each with the path of its description in the scenario; see [`key_path`].
    pub links: Vec<(String, LinkSpec)>,
    /// Host pairs for `pair = i`: sender and receiver.
    pub pairs: Vec<(String, String)>,
    /// Where flows may begin and end; empty: wherever its links say.
    pub ends: Vec<String>,
}

impl Layout {
    /// Where flows of a traffic pattern begin and end: the network's `ends` or, if it names none, the
    /// nodes with one link, or all nodes where fewer than two have one.
    pub fn hosts(&self) -> Vec<&str> {
        if !self.ends.is_empty() {
            return self.ends.iter().map(String::as_str).collect();
        }
        let mut links: HashMap<&str, u32> = HashMap::with_capacity(self.nodes.len());
        for end in self.links.iter().flat_map(|(_, link)| [&link.a, &link.b]) {
            *links.entry(end).or_insert(0) += 1;
        }
        let all = self.nodes.iter().map(String::as_str);
        let hosts: Vec<&str> = all.clone().filter(|n| links.get(n) == Some(&1)).collect();
        if hosts.len() < 2 { all.collect() } else { hosts }
    }
}

/// A network shape.
pub trait Topology {
    /// Spells the shape out, or tells everything that is wrong with its description at `path`.
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>>;
}

impl Topology for Net {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        let shape: &dyn Topology = match self {
            Self::Dumbbell(x) => x,
            Self::ParkingLot(x) => x,
            Self::Ring(x) => x,
            Self::Star(x) => x,
            Self::ErdosRenyi(x) => x,
            Self::Barabasi(x) => x,
            Self::Hot(x) => x,
            Self::Tiers(x) => x,
            Self::OcBackbone(x) => x,
            Self::Graph(x) => x,
        };
        shape.layout(path)
    }
}

/// Path of a link's key, of a link described at `path`. A path that ends in `*` is the beginning of
/// keys: those of access links begin with `access_` and stand beside those of the bottleneck.
pub fn key_path(path: &str, key: &str) -> String {
    match path.strip_suffix('*') {
        Some(beginning) => format!("{beginning}{key}"),
        None => format!("{path}.{key}"),
    }
}

/// The path of a shape's access links.
fn access_path(path: &str) -> String {
    format!("{path}.access_*")
}

/// Most nodes a network may have.
const MAX_NODES: u64 = 4_000_000;

/// Fastest access link that is made up, in bit/s.
const MAX_RATE: u64 = 1_000_000_000_000_000;

/// A plain FIFO link with room for every packet; shapes change what they need.
fn link(a: impl Into<String>, b: impl Into<String>, rate: BitRate, delay: Span) -> LinkSpec {
    LinkSpec {
        a: a.into(),
        b: b.into(),
        id: None,
        rate,
        back_rate: None,
        delay,
        mtu: Bytes(65_535),
        buffer: BufferSize::Unlimited,
        back_buffer: None,
        qdisc: "fifo".into(),
        back_qdisc: None,
        weight: 1.0,
        loss: 0.0,
        back_loss: 0.0,
        schedule: None,
        back_schedule: None,
        drop: Vec::new(),
        back_drop: Vec::new(),
    }
}

/// The rate of a shape's access links: as given, else ten times the bottleneck's.
fn access_rate(path: &str, given: Option<BitRate>, rate: BitRate) -> Result<BitRate, Problem> {
    match given {
        Some(BitRate(0)) => Err(Problem::new(
            format!("{path}.access_rate"),
            "is 0 bit/s, expected more than zero; left out it is ten times the bottleneck's",
        )),
        Some(given) => Ok(given),
        // A bottleneck beyond the limits is told by itself.
        None => Ok(BitRate(rate.0.saturating_mul(10).clamp(1, MAX_RATE))),
    }
}

/// A count that must lie in `[least, MAX_NODES]`.
fn count(path: &str, key: &str, value: u64, least: u64) -> Result<(), Vec<Problem>> {
    if value < least {
        return Err(vec![Problem::new(
            format!("{path}.{key}"),
            format!("is {value}, expected at least {least}"),
        )]);
    }
    if value > MAX_NODES {
        return Err(vec![Problem::new(
            format!("{path}.{key}"),
            format!("is {value}, expected at most {MAX_NODES}"),
        )]);
    }
    Ok(())
}
