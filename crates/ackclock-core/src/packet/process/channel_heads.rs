//! The channels of a stage by the arrival of their first packets.

use crate::agenda::Agenda;
use crate::packet::process::min_tree::Least;

/// When each of a fixed number of channels has something; `u64::MAX` for one that has nothing.
#[derive(Debug)]
pub(in crate::packet) enum Heads {
    /// Emptied in batches: which channel is first does not matter.
    Many(Least),
    /// Emptied one packet at a time. Few processes are clusters: a box keeps the others small.
    One(Box<Agenda>),
}

impl Heads {
    /// Of so many channels, to be emptied in batches.
    pub(in crate::packet) fn many(channels: usize) -> Self {
        Self::Many(Least::new(channels))
    }

    /// Of so many channels, to be emptied one packet at a time.
    pub(in crate::packet) fn one(channels: usize) -> Self {
        Self::One(Box::new(Agenda::new(channels)))
    }

    /// The time of the first.
    #[inline(always)]
    pub(in crate::packet) fn first(&self) -> u64 {
        match self {
            Self::Many(least) => least.first(),
            Self::One(agenda) => agenda.first().time,
        }
    }

    /// Changes the time of a channel.
    #[inline(always)]
    pub(in crate::packet) fn set(&mut self, channel: u32, time: u64) {
        match self {
            Self::Many(least) => least.set(channel, time),
            Self::One(agenda) => agenda.set(channel, time),
        }
    }

    /// Appends every channel below `bound` to a list, in the order in which they are to be visited; of
    /// those that are emptied one packet at a time, none.
    pub(in crate::packet) fn list_below(&self, bound: u64, list: &mut Vec<u32>) {
        match self {
            Self::Many(least) => least.list_below(bound, list),
            Self::One(_) => {}
        }
    }

    /// Visits every channel below `bound`; each takes the time that `visit` returns, which must not
    /// be below it.
    #[inline(always)]
    pub(in crate::packet) fn below(&mut self, bound: u64, mut visit: impl FnMut(u32) -> u64) {
        match self {
            Self::Many(least) => least.below(bound, visit),
            Self::One(agenda) => {
                while agenda.first().time < bound {
                    let channel = agenda.first().who;
                    agenda.set(channel, visit(channel));
                }
            }
        }
    }
}
