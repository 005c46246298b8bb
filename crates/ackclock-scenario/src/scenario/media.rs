//! What a flow of video carries, as the user describes it. The rule is in the sender, beside the encoder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Bytes, Span, Time};

/// A video encoder that follows the flow's congestion control (RFC 8593, section 5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Media {
    /// Smallest rate of the encoder, and its first.
    #[schemars(range(max = 1_000_000_000_000_000_u64), extend("exclusiveMinimum" = 0))]
    pub min: BitRate,
    /// Largest rate of the encoder.
    #[schemars(range(max = 1_000_000_000_000_000_u64), extend("exclusiveMinimum" = 0))]
    pub max: BitRate,
    /// Frames per second.
    #[schemars(range(max = 1000), extend("exclusiveMinimum" = 0, "x-unit" = "1/s"))]
    pub fps: f64,
    /// The rate changes no sooner than this after its last change.
    pub lag: Span,
    /// Scale of the Laplace distribution of (interval - 1/fps) fps.
    #[schemars(range(min = 0, max = 1))]
    pub scale_t: f64,
    /// Scale of the Laplace distribution of a frame's relative deviation from the mean size.
    #[schemars(range(min = 0, max = 1))]
    pub scale_b: f64,
    /// Size of the first frame after a change of the rate by more than a tenth; left out: as any other.
    #[schemars(range(min = 1))]
    pub burst: Option<Bytes>,
    /// Frames that such a burst is made good in.
    #[schemars(range(min = 2, max = 1000), extend("x-unit" = "frames"))]
    pub burst_frames: u32,
    /// No frame is made while what waits would take longer than this.
    pub patience: Span,
    /// Times in which nothing is made.
    pub pauses: Vec<Pause>,
}

/// A time in which the encoder makes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// From this time of the run on.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// To this time of the run.
    #[schemars(extend("x-bare" = true))]
    pub until: Span,
}

impl Default for Media {
    fn default() -> Self {
        Self {
            min: BitRate(150_000),
            max: BitRate(1_500_000),
            fps: 30.0,
            lag: Span::from_millis(100),
            scale_t: 0.15,
            scale_b: 0.15,
            burst: None,
            burst_frames: 8,
            patience: Span::from_millis(100),
            pauses: Vec::new(),
        }
    }
}

impl Media {
    /// When the pause ends in which `now` lies.
    pub fn pause(&self, now: Time) -> Option<Time> {
        let inside = |pause: &&Pause| (pause.at.0..pause.until.0).contains(&now.0);
        self.pauses.iter().find(inside).map(|pause| Time(pause.until.0))
    }
}
