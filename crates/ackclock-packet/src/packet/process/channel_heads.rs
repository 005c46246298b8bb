//! The channels of one stage, ordered by the arrival time of their first packets.

use crate::agenda::Agenda;
use crate::packet::process::min_tree::MinTree;

/// Arrival times of the first packets of a fixed number of channels; `u64::MAX` for an empty channel.
#[derive(Debug)]
pub(crate) enum Heads {
    /// Channels are emptied in batches: their order does not matter.
    Batched(MinTree),
    /// Channels are emptied one packet at a time. Few processes are clusters: a box keeps the others small.
    Single(Box<Agenda>),
    /// Channels of a cluster that are emptied in batches, each of a window of time.
    Windows(Box<Windows>),
}

/// The channels of a cluster in which many packets arrive within the shortest time between two of its links.
#[derive(Debug)]
pub(crate) struct Windows {
    pub(crate) tree: MinTree,
    /// The least time from a packet's arrival at one link of the cluster to its arrival at the next.
    pub(crate) length: u64,
}

impl Heads {
    /// For so many channels, to be emptied in batches.
    pub(crate) fn for_batches(channels: usize) -> Self {
        Self::Batched(MinTree::new(channels))
    }

    /// For so many channels, to be emptied one packet at a time.
    pub(crate) fn single(channels: usize) -> Self {
        Self::Single(Box::new(Agenda::new(channels)))
    }

    /// For so many channels, to be emptied in batches of windows of this length.
    pub(crate) fn for_windows(channels: usize, length: u64) -> Self {
        Self::Windows(Box::new(Windows { tree: MinTree::new(channels), length }))
    }

    /// The earliest arrival.
    #[inline(always)]
    pub(crate) fn first(&self) -> u64 {
        match self {
            Self::Batched(tree) => tree.first(),
            Self::Single(agenda) => agenda.first().time,
            Self::Windows(windows) => windows.tree.first(),
        }
    }

    /// Sets the time of a channel.
    #[inline(always)]
    pub(crate) fn set(&mut self, channel: u32, time: u64) {
        match self {
            Self::Batched(tree) => tree.set(channel, time),
            Self::Single(agenda) => agenda.set(channel, time),
            Self::Windows(windows) => windows.tree.set(channel, time),
        }
    }

    /// Visits every channel below `bound`; each gets the time that `visit` returns, which must not be below
    /// `bound`.
    #[inline(always)]
    pub(crate) fn visit_below(&mut self, bound: u64, mut visit: impl FnMut(u32) -> u64) {
        match self {
            Self::Batched(tree) => tree.visit_below(bound, visit),
            Self::Windows(windows) => windows.tree.visit_below(bound, visit),
            Self::Single(agenda) => {
                while agenda.first().time < bound {
                    let channel = agenda.first().who;
                    agenda.set(channel, visit(channel));
                }
            }
        }
    }
}
