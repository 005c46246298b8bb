//! Streams of frames as the user describes them: one call of audio and video over one connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Span};

/// Frames of audio or video at regular times, over one of several streams of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameStream {
    /// Name; left out: `s0`, `s1`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What waits in the stream with the smallest number leaves first; of equal ones in the earlier stream.
    #[serde(default)]
    #[schemars(range(max = 255))]
    pub priority: u32,
    /// Frames per second, the first when the flow starts.
    #[schemars(range(max = 100_000), extend("exclusiveMinimum" = 0, "x-unit" = "1/s"))]
    pub fps: f64,
    /// Payload of a frame.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub size: Bytes,
    /// Payload of the first frame of each group, as an I-frame; left out: as any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub first: Option<Bytes>,
    /// Frames of a group. A group is one stream of QUIC: its frames are delivered in order, those of different groups
    /// are not held back by each other.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000), extend("x-unit" = "frames"))]
    pub group: u32,
    /// Each frame is one datagram (RFC 9221), a group by itself that is not sent again if it is lost.
    #[serde(default)]
    pub datagrams: bool,
    /// When a frame is delivered so much later than it was made, the receiver cancels the rest of its group
    /// (`STOP_SENDING`, RFC 9000); left out: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cancel_after: Option<Span>,
}

fn one() -> u32 {
    1
}

impl FrameStream {
    /// The stream's name; it is number `index` of its flow.
    pub fn name(&self, index: u32) -> String {
        self.id.clone().unwrap_or_else(|| format!("s{index}"))
    }

    /// Payload of a frame by its number.
    pub fn frame_size(&self, frame: u32) -> u32 {
        let size = self.first.filter(|_| frame.is_multiple_of(self.group)).unwrap_or(self.size);
        u32::try_from(size.0).unwrap_or(u32::MAX)
    }

    /// Bytes of payload per second, on average.
    pub fn rate(&self) -> f64 {
        let first = self.first.unwrap_or(self.size).0 as f64;
        let all = first + self.size.0 as f64 * f64::from(self.group - 1);
        all / f64::from(self.group) * self.fps
    }

    /// How long after the start of the flow a frame is made.
    pub fn due(&self, frame: u32) -> Span {
        Span::from_seconds(f64::from(frame) / self.fps)
    }
}
