//! An incast: many hosts send to one.
//!
//! **Source**: V. Vasudevan et al., "Safe and Effective Fine-grained TCP Retransmissions for Datacenter Communication",
//! SIGCOMM 2009, doi:10.1145/1592568.1592604, section 2.
//!
//! **Rule**
//! ```text
//! the hosts but the receiver send to it, in order; with more flows than these, they begin again
//! random: the receiver is drawn, then the order of the senders
//! ```
//! Deviations: none.
//!
//! Defaults by era: the same in all. Left out, the receiver is the last host, and every other one sends once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Pattern, PatternEnv, shuffle};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;

/// Parameters of an incast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IncastParams {
    /// Place of the receiver among the hosts, from 0; counted round if there are fewer. Left out: the last.
    pub receiver: Option<u32>,
    /// Receiver and senders are drawn at random; excludes `receiver`.
    pub random: bool,
}

/// An incast.
pub struct Incast {
    params: IncastParams,
}

impl About<PatternEnv> for Incast {
    type Params = IncastParams;
    const INFO: Info = Info {
        name: "incast",
        title: "Incast: all to one",
        source: "Vasudevan et al., SIGCOMM 2009, section 2",
        status: Status::Specified,
    };

    fn new(params: IncastParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        if params.random && params.receiver.is_some() {
            return Err(Problem::new("random", "excludes receiver; expected one of them").into());
        }
        Ok(Self { params })
    }
}

impl Pattern for Incast {
    fn draw(&self, hosts: u32, flows: Option<u32>, rng: &mut Stream) -> Vec<Demand> {
        let (to, order) = if self.params.random {
            (rng.below(u64::from(hosts)) as u32, shuffle(hosts - 1, rng))
        } else {
            let to = self.params.receiver.map_or(hosts - 1, |place| place % hosts);
            (to, (0..hosts - 1).collect())
        };
        let senders = order.into_iter().cycle().take(flows.unwrap_or(hosts - 1) as usize);
        senders.map(|from| Demand { from: from + u32::from(from >= to), to, weight: 1.0 }).collect()
    }
}
