//! Logical processes: the units that run late, in batches.
//!
//! A process is a node with flow endpoints, together with its outgoing links and the links that
//! routers have to it; or a single link between routers. Whatever reaches a process at time t has no
//! effect elsewhere before t + lookahead, where lookahead is the least (propagation delay + shortest
//! transmission) of the links to be passed on the way through. So a process may wait until that
//! moment and then handle, in one go, everything that reached it up to then, and whatever else is
//! certain by then to come first (Chandy & Misra 1979, CACM 24(4), doi:10.1145/358598.358613, with
//! one clock). Processes that could wait hardly at all are made one (`turn/cluster.rs`); hosts with one way out
//! wait for the link that they lead to (`turn/stub_hosts.rs`). The order in which
//! processes run cannot change any result: within a process events run by (time, time of scheduling,
//! identity), and none of these depends on other processes' progress.

use std::ops::Range;

use smallvec::SmallVec;

use crate::packet::process::channel_heads::Heads;
use crate::packet::process::clock::Timescale;
use crate::packet::process::event::{Key, Stage};
use crate::packet::process::event_heap::Heap;

/// How far a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::packet) struct Clock {
    /// Nothing before this is left to do.
    pub(in crate::packet) done: u64,
    /// Its next event, as far as is known.
    pub(in crate::packet) next: u64,
}

/// Numbers that are mostly few: those of a host, of which a large network has many, lie within.
type Few = SmallVec<[u32; 4]>;

/// Pending events of one stage.
#[derive(Debug)]
pub(in crate::packet) struct Pending {
    /// Channels by the arrival of their heads.
    pub(in crate::packet) heads: Heads,
    /// Its channels.
    pub(in crate::packet) channels: Range<u32>,
    /// Timers and ends of transmission.
    pub(in crate::packet) locals: Heap<Key>,
    /// What happens here has no effect outside the process sooner than this.
    pub(in crate::packet) lookahead: u64,
    /// The one computed FIFO link that all packets of this stage enter, if it has no more to do.
    pub(in crate::packet) relay: u32,
    /// The number of the outlet that the process leads to, if it is a stub (`turn/stub_hosts.rs`).
    pub(in crate::packet) outlet: u32,
}

impl Pending {
    /// In place of a link: more than one, or one of another kind, or endpoints.
    pub(in crate::packet) const NO_RELAY: u32 = u32::MAX;

    /// In place of an outlet: the process is no stub.
    pub(in crate::packet) const NO_OUTLET: u32 = u32::MAX;

    fn new() -> Self {
        Self {
            heads: Heads::many(0),
            channels: 0..0,
            locals: Heap::new(),
            lookahead: u64::MAX,
            relay: Self::NO_RELAY,
            outlet: Self::NO_OUTLET,
        }
    }

    /// The key of the next local event.
    #[inline(always)]
    pub(in crate::packet) fn local(&self) -> Key {
        self.locals.peek().copied().unwrap_or(Key::NEVER)
    }

    /// The time of the next event.
    #[inline]
    pub(in crate::packet) fn next(&self) -> u64 {
        self.heads.first().min(self.local().at())
    }
}

/// A logical process.
#[derive(Debug)]
pub(in crate::packet) struct Process {
    /// By [`Stage`].
    pub(in crate::packet) stages: [Pending; 2],
    /// When its endpoints are next sampled.
    pub(in crate::packet) next_mark: u64,
    /// Its endpoints: 2 flow (sender), 2 flow + 1 (receiver).
    pub(in crate::packet) endpoints: Few,
    /// The processes that packets come from, and the shortest time that each takes.
    pub(in crate::packet) sources: SmallVec<[(u32, u64); 1]>,
}

impl Process {
    pub(in crate::packet) fn new() -> Self {
        Self {
            stages: [Pending::new(), Pending::new()],
            next_mark: u64::MAX,
            endpoints: Few::new(),
            sources: SmallVec::new(),
        }
    }

    /// Whether it is a cluster, whose packets are handled one by one.
    #[inline(always)]
    pub(in crate::packet) fn is_cluster(&self) -> bool {
        matches!(self.stages[Stage::Node as usize].heads, Heads::One(_))
    }

    /// Gives back the memory that building left over.
    pub(in crate::packet) fn settle_down(&mut self) {
        self.endpoints.shrink_to_fit();
        self.sources.shrink_to_fit();
    }

    /// The first local event of a stage, and the time of that or of an earlier mark.
    #[inline(always)]
    pub(in crate::packet) fn local(&self, stage: Stage) -> (Key, u64) {
        let local = self.stages[stage as usize].local();
        let mark = if stage == Stage::Node { self.next_mark } else { u64::MAX };
        (local, local.at().min(mark))
    }

    /// The time of its next event, and the soonest that any event it has can have an effect outside;
    /// `expected` is when something may come to its first stage that it does not have yet.
    #[inline]
    pub(in crate::packet) fn due(&self, scale: Timescale, expected: u64) -> (u64, u64) {
        let [entry, node] = [self.stages[0].next().min(expected), self.stages[1].next()];
        let effect = scale
            .bound(entry, self.stages[0].lookahead)
            .min(scale.bound(node, self.stages[1].lookahead));
        (entry.min(node), effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Networks with a hundred thousand flows have two hosts a flow.
    #[test]
    fn a_host_is_small_and_has_no_lists_elsewhere() {
        assert!(size_of::<Process>() <= 232);
        let mut host = Process::new();
        host.endpoints.push(0);
        host.sources.push((0, 0));
        assert!(!host.endpoints.spilled() && !host.sources.spilled());
    }
}
