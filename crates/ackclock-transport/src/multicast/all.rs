//! All layers, always.
//!
//! A receiver joins every layer and keeps it, whatever is lost: plain IP multicast without congestion
//! control, the reference for the controls.
//!
//! **Source**: host group model, Deering, RFC 1112 (1989): membership is independent of the rate.
//!
//! **Rule**
//! ```text
//! n = number of layers
//! ```
//! Deviations: none.
//!
//! Defaults by era: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlEnv, LayerControl, Seen};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Time;

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AllParams {}

/// Holds all layers.
pub struct All {
    layers: u32,
}

impl About<ControlEnv> for All {
    type Params = AllParams;
    const INFO: Info = Info {
        name: "all",
        title: "All layers",
        source: "Deering, RFC 1112 (1989)",
        status: Status::Specified,
    };

    fn new(_: AllParams, env: &ControlEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { layers: env.count() })
    }
}

impl LayerControl for All {
    fn start(&mut self, _: Time, _: &mut Stream) -> u32 {
        self.layers
    }

    fn on_packet(&mut self, _: &Seen, _: &mut Stream) -> u32 {
        self.layers
    }

    fn on_timer(&mut self, _: Time, _: &mut Stream) -> u32 {
        self.layers
    }
}
