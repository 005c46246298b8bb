//! Multicast groups as the user describes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::Spec;
use crate::units::{BitRate, Bytes, Span};

/// A multicast group: one source, several receivers, cumulative layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name; left out: `g0`, `g1`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Node of the source.
    pub src: String,
    /// Nodes of the receivers; none of them is on the way to another.
    pub receivers: Vec<String>,
    /// Rate of each layer, at most 32. Layers are cumulative: who holds n of them receives the first n.
    pub layers: Vec<BitRate>,
    /// How a receiver decides on its layers (`plm`, `rlm`, `fixed`, `all`).
    #[serde(default = "all")]
    #[schemars(extend("x-room" = "multicast"))]
    pub control: Spec,
    /// Packet size on the wire, 1 B to 65535 B.
    #[serde(default = "packet")]
    #[schemars(range(min = 1, max = 65535))]
    pub packet: Bytes,
    /// When the source begins to send and the first receiver joins.
    #[serde(default)]
    #[schemars(extend("x-bare" = true))]
    pub start: Span,
    /// The source is silent from this time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-bare" = true))]
    pub stop: Option<Span>,
    /// Receivers join one after another, spaced by this; left out: all at `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stagger: Option<Span>,
}

fn all() -> Spec {
    "all".into()
}

fn packet() -> Bytes {
    Bytes(500)
}
