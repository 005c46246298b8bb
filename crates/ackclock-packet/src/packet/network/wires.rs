//! The packets on wires: a channel from each link to each stage of a process that its packets reach next.

use crate::memory::use_large_pages;
use crate::packet::process::event::Stage;
use crate::packet::storage::ticket::{OptionStore, Ticket};
use crate::packet::storage::wire_queue::{Queue, Store};

/// Packets on the wire from one link to one stage of a process, in order of arrival.
#[derive(Debug)]
#[repr(align(32))]
pub(crate) struct Channel {
    pub(crate) queue: Queue,
    /// The process that the packets reach.
    pub(crate) to: u32,
    /// The channel's number among those of that stage.
    pub(crate) entrant: u32,
    /// The stage that the packets reach.
    pub(crate) stage: Stage,
    /// A link, if packets of one size take the same time over the links of all channels to that stage as over it. Then
    /// those of one size that arrive at one time are in order by the channels' numbers.
    pub(crate) alike: u32,
}

impl Channel {
    /// In place of a link: the links differ.
    pub(crate) const NOT_ALIKE: u32 = u32::MAX;
}

/// All packets on wires.
pub(crate) struct Wires {
    /// Those of one stage are consecutive.
    pub(crate) channels: Vec<Channel>,
    /// The packets of all channels.
    pub(crate) store: Store,
    /// Options of packets on wires.
    pub(crate) options: OptionStore,
    /// Packets that arrive somewhere only after the end of the run.
    pub(crate) beyond: Vec<Ticket>,
}

impl Wires {
    pub(crate) fn new(channels: Vec<Channel>) -> Self {
        Self { channels, store: Store::new(), options: OptionStore::default(), beyond: Vec::new() }
    }

    /// Moves the tables of a run with so many flows to large pages.
    pub(crate) fn use_large_pages(&mut self, flows: usize) {
        self.store.reserve(2 * flows);
        self.options.reserve(flows);
        use_large_pages(&self.channels);
    }

    /// The number of packets.
    pub(crate) fn count(&self) -> usize {
        let in_channels = self.channels.iter().map(|c| c.queue.iter(&self.store).count());
        in_channels.sum::<usize>() + self.beyond.len()
    }
}
