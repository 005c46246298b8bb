//! Counts of what passed a link and of what was dropped there.

use crate::wire::DropReason;

/// What passed through a link so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) arrived_packets: u64,
    pub(crate) departed_packets: u64,
    pub(crate) departed_bytes: u64,
    pub(crate) dropped_packets: u64,
    /// Sum of waiting times of departed packets.
    pub(crate) wait_ps: u128,
}

/// What was dropped at a link: acknowledgements among it, and reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drops {
    pub(crate) acks: u64,
    pub(crate) by_reason: [u64; DropReason::COUNT],
}
