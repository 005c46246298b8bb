//! Streams of frames over one connection: a call of audio and video.
//!
//! What: the application makes frames at regular times, whatever the control lets through; they wait in one queue for
//! each stream. What the control lets through is filled from the stream of the highest priority.
//!
//! **Source**: RFC 9000 sections 2 (streams; 2.3: priorities are the sender's), 3.5 and 19.5 (`STOP_SENDING`), 13.3
//! (what of a stream is sent again); RFC 9221 (datagrams); the media simulations of draft-huitema-ccwg-c4-test, section
//! "Handling of Multimedia Applications".
//!
//! **Rule** (G = frames of a group, k = number of a frame, f = frames per second)
//! ```text
//! made:      frame k at the start of the flow + k / f, until the flow's stop; of `first` bytes where G divides k
//! sent:      what waits in the stream of the smallest priority number, lost data of it before new; a packet holds data
//!            of one frame
//! lost:      data of streams is sent again; datagrams and cancelled groups are not
//! delivered: when all of it has arrived and all frames before it in its group are delivered; a datagram at once
//! cancelled: a frame is delivered more than `cancel_after` after it was made: the receiver sends STOP_SENDING with
//!            each such frame; the sender gives up what is left of the group, and goes on with the next one
//! ```
//! On the wire of the engine the place of SACK blocks in a data packet has stream and number of the frame, and the
//! place and size of the data in it. `STOP_SENDING` is a packet with the flags ACK and FIN, the stream as `seq` and the
//! group as `ts`.
//!
//! Deviations: flow control of streams has no model. A receiver that cancels is not informed of it (`RESET_STREAM`):
//! it ignores nothing that still arrives.

mod sink;
mod source;

use std::sync::Arc;

pub(super) use sink::FrameSink;
pub(super) use source::FrameSource;

use crate::scenario::FrameStream;
use crate::units::Time;

/// The streams of a flow, their settings complete.
pub type FrameStreams = Arc<[FrameStream]>;

/// Bytes of a packet with a `STOP_SENDING` frame: short header and tag (29), type (1), stream (4), error (2).
const STOP_BYTES: u32 = 36;

/// When a frame of a flow that starts at `start` is made.
fn made_at(stream: &FrameStream, frame: u32, start: Time) -> Time {
    Time(start.0.saturating_add(stream.due(frame).0))
}
