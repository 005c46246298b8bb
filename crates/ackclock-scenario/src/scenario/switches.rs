//! Memory and flow control of switches as the user describes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Span};

/// Memory and flow control of every switch: each node that passes packets on.
///
/// It takes the place of the `buffer` of the links that leave a switch. What waits at a switch is counted by the link
/// over which it came and by the link over which it goes; a packet leaves the memory when its transmission begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Switches {
    /// Memory of each switch, which all its ports share. Left out: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub memory: Option<Bytes>,
    /// What a queue may hold for each byte of the shared memory that is free: the threshold is alpha (B - Q) (Choudhury
    /// and Hahne 1998). Left out: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_000_000), extend("exclusiveMinimum" = 0))]
    pub alpha: Option<f64>,
    /// Priority flow control (IEEE 802.1Qbb): a switch pauses the link over which too much comes. Left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc: Option<Pfc>,
}

/// Priority flow control.
///
/// X-OFF and X-ON count the bytes in the switch that came over one link and belong to one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pfc {
    /// Names of the queues that are lossless, at ports whose discipline has several (`priority`, `wrr`). Left out: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossless: Option<Vec<String>>,
    /// X-OFF: a packet that would bring the link's bytes above it pauses the link. Left out: the threshold of the shared
    /// memory, alpha (B - Q).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub xoff: Option<Bytes>,
    /// X-ON: the link resumes when its bytes are no more. Left out: two of the largest packets below X-OFF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Bytes>,
    /// Memory of each link and lossless class for what arrives after X-OFF. Left out: what can arrive at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Bytes>,
    /// Time from the arrival of a pause frame to its effect on the transmitter.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1))]
    pub response: Span,
    /// A link that was paused for more than this share of `storm_time` is named in a warning, as a pause storm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub storm_share: Option<f64>,
    /// The times of which `storm_share` is a share: the first from the start of the run on, one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001))]
    pub storm_time: Option<Span>,
}

impl Pfc {
    /// The share of time above which pauses are a storm, and of what time.
    pub fn storm(&self) -> (f64, Span) {
        (self.storm_share.unwrap_or(0.5), self.storm_time.unwrap_or(Span::from_millis(1)))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(span: &Span) -> bool {
    span.0 == 0
}
