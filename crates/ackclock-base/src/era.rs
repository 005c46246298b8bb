//! Eras: whose defaults apply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Defaults of TCP and of queue disciplines where the scenario is silent.
///
/// The ns-2 eras take the defaults that ns-2 had when the papers of that year were written;
/// `ns2` is ns-2.35 with its documented habits, event for event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Era {
    /// Today's standards-track RFCs.
    #[default]
    #[serde(rename = "rfc")]
    Rfc,
    /// As `rfc`, but flows are carried by QUIC (RFC 9000, 9002) unless they say otherwise.
    #[serde(rename = "quic")]
    Quic,
    /// Linux 6.x as it comes: IW 10, smallest RTO 200 ms, quick ACKs, RACK-TLP, CUBIC with `HyStart` in the
    /// kernel's arithmetic, bursts as its segmentation offload makes them.
    #[serde(rename = "linux")]
    Linux,
    /// ns-2 of 1999: initial window 1, 100 ms ticks, no SYN, no minimum RTO.
    #[serde(rename = "1999")]
    Y1999,
    /// ns-2 of May to October 2002: initial window 2, 10 ms ticks, minimum RTO 1 s, 40-byte headers.
    #[serde(rename = "2002")]
    Y2002,
    /// ns-2.31 of 2007: as 2002 with minimum RTO 0.2 s.
    #[serde(rename = "2007")]
    Y2007,
    /// ns-2.35 with its habits.
    #[serde(rename = "ns2")]
    Ns2,
}

impl Era {
    /// Name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rfc => "rfc",
            Self::Quic => "quic",
            Self::Linux => "linux",
            Self::Y1999 => "1999",
            Self::Y2002 => "2002",
            Self::Y2007 => "2007",
            Self::Ns2 => "ns2",
        }
    }

    /// Whether senders and sinks are ns-2's.
    #[must_use]
    pub fn is_ns2(self) -> bool {
        matches!(self, Self::Y1999 | Self::Y2002 | Self::Y2007 | Self::Ns2)
    }

    /// The era whose defaults algorithms and queues have: `quic` differs from `rfc` in transport alone.
    #[must_use]
    pub fn of_algorithms(self) -> Self {
        if self == Self::Quic { Self::Rfc } else { self }
    }
}
