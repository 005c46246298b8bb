//! Channels: packets on the wire from one link to one stage of a process.

use crate::packet::process::event::Stage;
use crate::packet::storage::wire_queue::Queue;

/// Packets on the wire from one link to one stage of a process, in order of arrival.
#[derive(Debug)]
#[repr(align(32))]
pub(in crate::packet) struct Channel {
    pub(in crate::packet) queue: Queue,
    /// The process that reads.
    pub(in crate::packet) to: u32,
    /// Its number among the channels of that stage.
    pub(in crate::packet) entrant: u32,
    /// The stage that reads.
    pub(in crate::packet) stage: Stage,
}
