//! Logical processes: the units that run in turns, each turn a batch of events.
//!
//! A process is a node with flow endpoints, together with its outgoing links and the links from routers
//! to it; or a single link between routers; or a cluster of nearby nodes (`turn/cluster.rs`). What reaches
//! a process at time t has no effect elsewhere before t + lookahead, where lookahead is the least sum of
//! propagation delay and shortest transmission on the way through. So a process can wait until then and
//! handle all packets that arrived in the meantime in one batch (Chandy & Misra 1979, CACM 24(4),
//! doi:10.1145/358598.358613, here with one thread and a global order). Within a process events run in the
//! order of (time, time of scheduling, identity), none of which depends on other processes' progress, so
//! no schedule of the processes can change a result. `docs/explanation/engine.md` explains it in full.

use std::ops::Range;

use smallvec::SmallVec;

use crate::packet::process::channel_heads::Heads;
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Stage};
use crate::packet::process::event_heap::Heap;

/// How far a process has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// All events before this time have been handled.
    pub(crate) done: u64,
    /// A lower bound of its next event.
    pub(crate) next: u64,
}

impl Progress {
    /// The time before which the process handles nothing any more, if what it does not have yet arrives at `soonest`
    /// or later.
    #[inline(always)]
    pub(crate) fn clock(self, soonest: u64) -> u64 {
        self.done.max(self.next.min(soonest))
    }
}

/// A list that is mostly short: that of a host, of which a large network has many, is stored inline.
type Few = SmallVec<[u32; 4]>;

/// Pending events of one stage.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Channels by the arrival of their first packets.
    pub(crate) heads: Heads,
    /// Its channels.
    pub(crate) channels: Range<u32>,
    /// Timers, ends of transmissions, starts of flows.
    pub(crate) locals: Heap<Key>,
    /// Least time from an event here to its effect outside the process.
    pub(crate) lookahead: u64,
    /// The computed FIFO link that is all of this stage, or [`Self::NO_RELAY`].
    pub(crate) relay: u32,
    /// The number of the process's outlet, if it is a stub (`turn/stub_hosts.rs`).
    pub(crate) outlet: u32,
}

impl Pending {
    /// In place of a link: the stage has several links, one of another kind, or endpoints.
    pub(crate) const NO_RELAY: u32 = u32::MAX;

    /// In place of an outlet: the process is no stub.
    pub(crate) const NO_OUTLET: u32 = u32::MAX;

    fn new() -> Self {
        Self {
            heads: Heads::for_batches(0),
            channels: 0..0,
            locals: Heap::new(),
            lookahead: u64::MAX,
            relay: Self::NO_RELAY,
            outlet: Self::NO_OUTLET,
        }
    }

    /// The key of the next local event.
    #[inline(always)]
    pub(crate) fn local(&self) -> Key {
        self.locals.peek().copied().unwrap_or(Key::NEVER)
    }

    /// The time of the next event.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.heads.first().min(self.local().at())
    }
}

/// A logical process.
#[derive(Debug)]
pub(crate) struct Process {
    /// By [`Stage`].
    pub(crate) stages: [Pending; 2],
    /// When its endpoints are next sampled.
    pub(crate) next_mark: u64,
    /// Its endpoints: 2 flow (sender), 2 flow + 1 (receiver).
    pub(crate) endpoints: Few,
    /// The processes that packets come from, with the shortest time from each.
    pub(crate) sources: SmallVec<[(u32, u64); 1]>,
}

impl Process {
    pub(crate) fn new() -> Self {
        Self {
            stages: [Pending::new(), Pending::new()],
            next_mark: u64::MAX,
            endpoints: Few::new(),
            sources: SmallVec::new(),
        }
    }

    /// Whether it is a cluster.
    #[inline(always)]
    pub(crate) fn is_cluster(&self) -> bool {
        !matches!(self.stages[Stage::Node as usize].heads, Heads::Batched(_))
    }

    /// Releases the spare memory of its lists.
    pub(crate) fn shrink(&mut self) {
        self.endpoints.shrink_to_fit();
        self.sources.shrink_to_fit();
    }

    /// The first local event of a stage, and its time or that of an earlier sample.
    #[inline(always)]
    pub(crate) fn local(&self, stage: Stage) -> (Key, u64) {
        let local = self.stages[stage as usize].local();
        let mark = if stage == Stage::Node { self.next_mark } else { u64::MAX };
        (local, local.at().min(mark))
    }

    /// The time of its next event, and the earliest effect outside of any of its events; `expected` is the
    /// earliest arrival at its first stage of a packet that has not been sent yet.
    #[inline]
    pub(crate) fn due<C: Clock>(&self, expected: u64) -> (u64, u64) {
        let [entry, node] = [self.stages[0].next().min(expected), self.stages[1].next()];
        let effect =
            C::bound(entry, self.stages[0].lookahead).min(C::bound(node, self.stages[1].lookahead));
        (entry.min(node), effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Networks with a hundred thousand flows have two hosts a flow.
    #[test]
    fn a_host_is_small_and_stores_its_lists_inline() {
        assert!(size_of::<Process>() <= 232);
        let mut host = Process::new();
        host.endpoints.push(0);
        host.sources.push((0, 0));
        assert!(!host.endpoints.spilled() && !host.sources.spilled());
    }
}
