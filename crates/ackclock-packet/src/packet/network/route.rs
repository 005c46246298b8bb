//! Routes of packets: the steps of all routes in one flat table.

use crate::ids::FlowId;
use crate::memory::use_large_pages;
use crate::packet::storage::ticket::Ticket;

/// One step of a route: the link to enter and the channel that the link's output takes from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: u32,
    pub(crate) channel: u32,
}

impl Hop {
    /// In place of a link: the end of a route. The packet is delivered to the endpoint whose number is in
    /// place of the channel.
    pub(crate) const DELIVER: u32 = u32::MAX;
    /// In place of a channel: the packet enters the next link of the route at once. That link is a plain FIFO
    /// that only this link leads to, so the packet's departure there is known as soon as it is sent.
    pub(crate) const ON: u32 = u32::MAX;
}

/// The route table.
#[derive(Debug)]
pub(crate) struct Routes {
    hops: Vec<Hop>,
    /// By position of the table, the flow whose route it is.
    owners: Vec<FlowId>,
}

impl Routes {
    pub(crate) fn new(hops: Vec<Hop>) -> Self {
        let mut owners = vec![FlowId(u32::MAX); hops.len()];
        let mut owner = FlowId(u32::MAX);
        for (hop, owns) in hops.iter().zip(&mut owners).rev() {
            if hop.link == Hop::DELIVER {
                owner = FlowId(hop.channel / 2);
            }
            *owns = owner;
        }
        Self { hops, owners }
    }

    /// Moves the table to large pages.
    pub(crate) fn use_large_pages(&self) {
        use_large_pages(&self.hops);
        use_large_pages(&self.owners);
    }

    /// The step at a position of the table.
    #[inline(always)]
    pub(crate) fn at(&self, position: usize) -> &Hop {
        &self.hops[position]
    }

    /// The step that a packet takes now.
    #[inline(always)]
    pub(crate) fn hop(&self, ticket: Ticket) -> Hop {
        self.hops[ticket.route()]
    }

    /// The link that a packet has left last.
    #[inline(always)]
    pub(crate) fn last_link(&self, ticket: Ticket) -> u32 {
        self.hops[ticket.route() - 1].link
    }

    /// The link over which a packet came that is at a position of the table; none where a route begins.
    pub(crate) fn link_before(&self, position: u32) -> Option<u32> {
        let before = self.hops.get((position as usize).checked_sub(1)?)?;
        Some(before.link).filter(|&link| link != Hop::DELIVER)
    }

    /// The flow of a packet.
    #[inline(always)]
    pub(crate) fn owner(&self, ticket: Ticket) -> FlowId {
        self.owners[ticket.route()]
    }

    /// The endpoint that a packet is to reach.
    pub(crate) fn destination(&self, ticket: Ticket) -> Option<usize> {
        let end = self.hops[ticket.route()..].iter().find(|hop| hop.link == Hop::DELIVER)?;
        Some(end.channel as usize)
    }
}
