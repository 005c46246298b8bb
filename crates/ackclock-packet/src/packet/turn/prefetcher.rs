//! What is prefetched in a network of this size, and the processes that will run soon.

use crate::memory::address;
use crate::packet::network::end::End;
use crate::packet::network::link::Link;
use crate::packet::network::route::Routes;
use crate::packet::process::channel_heads::Heads;
use crate::packet::process::event::Stage;
use crate::packet::process::logical_process::{Pending, Process};

/// Numbers of processes from which on prefetching processes, and packets too, pays: each process takes some
/// kilobytes. Tests always prefetch.
const LARGE: usize = if cfg!(test) { 1 } else { 1000 };
const VERY_LARGE: usize = if cfg!(test) { 1 } else { 5000 };

/// Channels of a cluster that takes packets in windows, from which on prefetching packets pays.
const MANY_CHANNELS: usize = if cfg!(test) { 1 } else { 4096 };

/// Settings and state of prefetching.
#[derive(Debug, Default)]
pub(crate) struct Prefetcher {
    /// Whether processes are prefetched.
    pub(crate) processes: bool,
    /// Whether packets are.
    pub(crate) packets: bool,
    /// The processes that were found to be among the next, newest at `count`.
    seen: [u32; 16],
    count: usize,
    /// By end, if there are clusters.
    pub(crate) ends: Vec<EndAddresses>,
}

/// The addresses that a packet for an endpoint touches. They follow from its [`End`] too, but that is itself
/// not in the cache: two loads would wait one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndAddresses {
    pub(crate) endpoint: usize,
    /// The link that the endpoint's answer enters.
    pub(crate) answer: usize,
}

impl Prefetcher {
    /// For a network of these processes.
    pub(crate) fn new(processes: &[Process]) -> Self {
        let is_wide = |process: &Process| {
            let Pending { heads, channels, .. } = &process.stages[Stage::Node as usize];
            matches!(heads, Heads::Windows(_)) && channels.len() >= MANY_CHANNELS
        };
        Self {
            processes: processes.len() >= LARGE,
            packets: processes.len() >= VERY_LARGE || processes.iter().any(is_wide),
            ..Self::default()
        }
    }

    /// Notes the addresses of all endpoints and of the links that they send to.
    pub(crate) fn note_addresses<C>(&mut self, ends: &[End], routes: &Routes, links: &[Link<C>]) {
        let addresses = |end: &End| {
            let endpoint = end.endpoint.as_deref().map_or(0, address);
            let link = links.get(routes.at(end.route as usize).link as usize);
            EndAddresses { endpoint, answer: link.map_or(0, address) }
        };
        self.ends = ends.iter().map(addresses).collect();
    }

    /// Notes a process that is among the next; returns those noted 2, 4, 6 and 8 processes before.
    #[inline(always)]
    pub(crate) fn note_process(&mut self, p: u32) -> [usize; 4] {
        self.count = self.count.wrapping_add(1);
        let position = self.count;
        self.seen[position % 16] = p;
        [2, 4, 6, 8].map(|ago| self.seen[position.wrapping_sub(ago) % 16] as usize)
    }
}
