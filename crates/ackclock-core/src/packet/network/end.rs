//! The ends of flows: endpoints, and what was sent, received and lost.

use crate::tcp::Endpoint;

/// One end of a flow: one cache line.
#[repr(align(64))]
pub(in crate::packet) struct End {
    pub(in crate::packet) endpoint: Option<Box<dyn Endpoint>>,
    /// Where its packets enter the route table.
    pub(in crate::packet) route: u32,
    /// Time of its pending entry among the local events.
    pub(in crate::packet) pending: u64,
    /// Packets handed to the network and got from it.
    pub(in crate::packet) sent: u64,
    pub(in crate::packet) received: u64,
}

/// Losses of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::packet) struct Losses {
    pub(in crate::packet) data: u64,
    pub(in crate::packet) acks: u64,
    /// Connection requests.
    pub(in crate::packet) requests: u64,
    /// Data lost after the warm-up.
    pub(in crate::packet) window_data: u64,
    /// Copies that impairments made: of data, of acknowledgements.
    pub(in crate::packet) copies: [u64; 2],
}
