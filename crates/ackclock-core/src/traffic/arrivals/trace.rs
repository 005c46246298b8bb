//! Transfers as a list says.
//!
//! **Source**: none; a replay.
//!
//! **Rule**
//! ```text
//! one transfer per entry, until `count` are made or an entry is at or after `until`
//! ```
//! Deviations: none. Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrival, Arrivals, ArrivalsEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Bytes, Span, Time};

/// Parameters of the replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceArrivalsParams {
    /// Transfers in order of time.
    #[schemars(extend("x-file" = true))]
    pub arrivals: Vec<TraceArrival>,
    /// No arrival at or after this time of the run.
    #[schemars(extend("x-bare" = true))]
    pub until: Option<Span>,
    /// Most arrivals.
    pub count: Option<u64>,
}

/// A transfer of the list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceArrival {
    /// When, counted from the start of the run.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// Payload; left out: endless.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Host pair; left out: the template's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<u32>,
}

/// The replay.
pub struct TraceArrivals {
    entries: std::vec::IntoIter<TraceArrival>,
}

impl About<ArrivalsEnv> for TraceArrivals {
    type Params = TraceArrivalsParams;
    const INFO: Info = Info {
        name: "trace",
        title: "Replay of a list of transfers",
        source: "none; a replay",
        status: Status::Variant,
    };

    fn new(params: TraceArrivalsParams, _: &ArrivalsEnv) -> Result<Self, Vec<Problem>> {
        let mut entries = params.arrivals;
        if !entries.is_sorted_by_key(|e| e.at) {
            return Err(Problem::new("arrivals", "are not in order of time").into());
        }
        if let Some(until) = params.until {
            entries.retain(|e| e.at < until);
        }
        if let Some(count) = params.count {
            entries.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        }
        Ok(Self { entries: entries.into_iter() })
    }
}

impl Arrivals for TraceArrivals {
    fn next(&mut self, _: &mut Stream) -> Option<Arrival> {
        let entry = self.entries.next()?;
        Some(Arrival::at_once(Time::ZERO + entry.at, entry.size, entry.pair))
    }
}
