//! Counts of what passed a link and of what was dropped there.

use crate::wire::DropReason;

/// What passed through a link so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::packet) struct Counts {
    pub(in crate::packet) arrived_packets: u64,
    pub(in crate::packet) departed_packets: u64,
    pub(in crate::packet) departed_bytes: u64,
    pub(in crate::packet) dropped_packets: u64,
    /// Sum of waiting times of departed packets.
    pub(in crate::packet) wait_ps: u128,
}

/// What was dropped at a link: acknowledgements among it, and reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::packet) struct Drops {
    pub(in crate::packet) acks: u64,
    pub(in crate::packet) by_reason: [u64; DropReason::COUNT],
}
