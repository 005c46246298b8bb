//! All links of a run, and what calls to their queue disciplines need.

use crate::memory::use_large_pages;
use crate::packet::network::impaired::Impaired;
use crate::packet::network::link::Link;
use crate::packet::network::link::foreseen::Fate;
use crate::packet::process::clock::Clock;
use crate::wire::{DropReason, Packet, Timed};

/// The links of a run.
pub(crate) struct Links<C> {
    pub(crate) list: Vec<Link<C>>,
    /// By flow, the class keys of its data and of its acknowledgements.
    keys: Vec<[u32; 2]>,
    /// Packets that the discipline that was called last has dropped.
    pub(crate) dropped: Vec<(Packet, DropReason)>,
}

impl<C: Clock> Links<C> {
    pub(crate) fn new(list: Vec<Link<C>>, keys: Vec<[u32; 2]>) -> Self {
        Self { list, keys, dropped: Vec::new() }
    }

    /// Moves the links to large pages.
    pub(crate) fn use_large_pages(&self) {
        use_large_pages(&self.list);
    }

    /// Offers a packet, of which `packet` is a copy, to a link whose discipline judges it, as [`Link::judge`].
    #[inline(always)]
    pub(crate) fn judge(
        &mut self,
        link: u32,
        packet: &Packet,
        now: u64,
        is_before_end: bool,
    ) -> Fate {
        self.list[link as usize].judge(now, packet, is_before_end, &self.keys)
    }

    /// Gives a packet to the discipline of a link.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, link: u32, packet: Packet, now: u64) {
        self.list[link as usize].enqueue(packet, now, &self.keys, &mut self.dropped);
    }

    /// Begins the next transmission of a link with a discipline, as [`Link::transmit`].
    #[inline(always)]
    pub(crate) fn transmit(&mut self, link: u32, now: u64) -> (&mut Link<C>, Option<Timed>) {
        let link = &mut self.list[link as usize];
        let next = link.transmit(now, &self.keys, &mut self.dropped);
        (link, next)
    }

    /// Runs the timer of a link's discipline.
    pub(crate) fn run_timer(&mut self, link: u32, now: u64) {
        self.list[link as usize].run_timer(now, &self.keys, &mut self.dropped);
    }

    /// Packets that impairments hold.
    pub(crate) fn held(&self) -> usize {
        self.list.iter().filter_map(Link::impaired).map(Impaired::len).sum()
    }
}
