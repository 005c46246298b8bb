//! Routes of packets: steps in one flat table.

use crate::ids::FlowId;
use crate::packet::storage::ticket::Ticket;

/// One step of a route: the link to enter and the channel that the link's output takes from there.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Hop {
    pub(in crate::packet) link: u32,
    pub(in crate::packet) channel: u32,
}

impl Hop {
    /// In place of a link: the end of a route. The packet is handed to an endpoint, whose number
    /// stands in place of the channel.
    pub(in crate::packet) const DELIVER: u32 = u32::MAX;
    /// In place of a channel: the next link of the route follows at once. All that reaches that
    /// link comes over this one, in order, and it is a plain FIFO: what it does with a packet is
    /// known as soon as the packet is sent to it.
    pub(in crate::packet) const ON: u32 = u32::MAX;
}

/// Whose packet it is: the end of its route tells.
pub(in crate::packet) fn owner(hops: &[Hop], ticket: Ticket) -> FlowId {
    let end = hops[ticket.route()..].iter().find(|hop| hop.link == Hop::DELIVER);
    FlowId(end.map_or(u32::MAX, |hop| hop.channel / 2))
}
