//! STAGE 1: what the user said. These types are the file format (TOML, JSON and Python alike).
//!
//! Nothing here is computed: names become ids, units become numbers and defaults are filled in by
//! `compile` of the packet engine.

mod data_centre;
mod defaults;
mod flow;
mod frames;
mod generated;
mod group;
mod guest;
mod media;
mod multipath;
mod net;
mod quic;
mod switches;

pub use data_centre::{FatTree, LeafSpine};
pub use flow::{AppStep, Flow, RouteMove, TcpOptions, Traffic};
pub use frames::FrameStream;
pub use generated::{Barabasi, Capacities, ErdosRenyi, Hot, OcBackbone, Radius, Tiers};
pub use group::Group;
pub use guest::Guest;
pub use media::{Media, Pause};
pub use multipath::{Multipath, Scheduler, SubflowPath};
pub use net::{DownTime, InFlight};
pub use net::{Dumbbell, Graph, Net, NodeSpec, ParkingLot, Ring, Star};
pub use net::{LinkChange, LinkSpec, LinkStep, Names, RateSpec};
pub use quic::{QuicOptions, Transport};
pub use switches::{Pfc, Switches};

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ackclock_endpoint::record::Table;

use crate::era::Era;
use crate::units::Span;

/// A simulation: a network, the flows on it, and how long it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for titles and file names.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The network.
    pub net: Net,
    /// What is different at single links of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkChange>,
    /// Memory and flow control of its switches. Left out: every port has its `buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches: Option<Switches>,
    /// Flows named one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// Generators of flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// Multicast groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// Simulated time.
    #[schemars(extend("x-bare" = true))]
    #[schemars(range(max = 9_000_000), extend("exclusiveMinimum" = 0))]
    pub duration: Span,
    /// Time before measurement begins; rates and means are over `warmup` to `duration`.
    #[serde(default)]
    #[schemars(extend("x-bare" = true))]
    pub warmup: Span,
    /// Seed of every random number of the run.
    #[serde(default = "one")]
    pub seed: u64,
    /// Whose defaults apply where a value is left out.
    #[serde(default)]
    pub era: Era,
    /// TCP settings of every flow that does not set its own.
    #[serde(default)]
    pub tcp: TcpOptions,
    /// QUIC settings of every flow over QUIC that does not set its own.
    #[serde(default)]
    pub quic: QuicOptions,
    /// What routes minimise.
    #[serde(default)]
    pub routing: Routing,
    /// Which of several equal paths a flow takes. Left out: `hash` in `fat-tree` and `leaf-spine`, else `first`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal_paths: Option<EqualPaths>,
    /// So long after links have failed or come back (`links[].down`), routes avoid the failed ones and use the others
    /// again; packets that were sent before keep the old route. Left out: routes stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9_000_000))]
    pub reroute_after: Option<Span>,
    /// What queues that serve several classes take for a class.
    #[serde(default)]
    pub classes: Classes,
    /// What is recorded besides the summary.
    #[serde(default)]
    pub record: Record,
}

fn one() -> u64 {
    1
}

/// What routes minimise. `equal_paths` decides between equal ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// Number of links.
    #[default]
    Hops,
    /// Sum of propagation delays.
    Delay,
    /// Sum of the links' `weight`.
    Weight,
}

/// Which of several equal paths a flow or a packet takes. Multicast groups take the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EqualPaths {
    /// The one whose nodes come first in the network's order, all flows the same.
    First,
    /// Per flow (ECMP): at each node, a hash of the run's seed, the flow's number and its direction decides between
    /// the links that lie on a shortest path, each as likely (RFC 2992).
    Hash,
    /// Per packet: each packet, data or acknowledgement, takes one of all shortest paths, each as likely, so that
    /// packets of a flow overtake each other. At most 1024 paths between two nodes.
    Spray,
    /// Per packet (REPS): a packet of data takes a path of which an acknowledgement without a mark came back last, the one that
    /// waits longest of at most eight, or else one of all, each as likely. Acknowledgements are sprayed.
    Reps,
}

impl EqualPaths {
    /// Whether the packets of a flow take several paths at a time.
    pub fn is_per_packet(self) -> bool {
        matches!(self, Self::Spray | Self::Reps)
    }
}

impl fmt::Display for EqualPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Hash => "hash",
            Self::Spray => "spray",
            Self::Reps => "reps",
        })
    }
}

/// What shares a queue in disciplines that keep flows apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Classes {
    /// A flow's data is one class, its acknowledgements another.
    #[default]
    Stream,
    /// A flow's data and acknowledgements are one class.
    Flow,
    /// All packets sent by one node are one class (ns-2's DRR).
    Source,
    /// All packets between two nodes, either way, are one class.
    Pair,
}

/// What is recorded besides the summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// Tables: event by event, sampled at every `interval` (`flow_samples`, `link_samples`), or of the end of the run
    /// (`probes`, `ledger`).
    pub tables: Vec<Table>,
    /// Interval of the sampled tables; 100 ms if left out.
    #[schemars(extend("x-bare" = true))]
    #[schemars(range(min = 0.000_001))]
    pub interval: Option<Span>,
    /// Flows whose rows are kept in event tables and `flow_samples`; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<u32>>,
    /// Names of links whose rows are kept in `queues`, `packets` and `link_samples`; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
}
