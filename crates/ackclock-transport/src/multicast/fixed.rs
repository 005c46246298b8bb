//! A fixed number of layers.
//!
//! A receiver joins the first `layers` layers and keeps them, as a user who selects a quality by hand.
//!
//! **Source**: static subscription, the starting point of McCanne, Jacobson & Vetterli, SIGCOMM 1996,
//! section 1, doi:10.1145/248156.248168.
//!
//! **Rule**
//! ```text
//! n = min(layers, number of layers)
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

/// Parameters of the fixed subscription.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FixedParams {
    /// Layers to hold; a group with fewer has all of them held.
    #[schemars(range(min = 1, max = 32))]
    pub layers: u32,
}

impl Default for FixedParams {
    fn default() -> Self {
        Self { layers: 1 }
    }
}

/// Holds a fixed number of layers.
pub struct Fixed {
    layers: u32,
}

impl About<ControlEnv> for Fixed {
    type Params = FixedParams;
    const INFO: Info = Info {
        name: "fixed",
        title: "Fixed number of layers",
        source: "McCanne, Jacobson & Vetterli, SIGCOMM 1996, section 1",
        status: Status::Specified,
    };

    fn new(params: FixedParams, env: &ControlEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { layers: params.layers.min(env.count()) })
    }
}

impl LayerControl for Fixed {
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
