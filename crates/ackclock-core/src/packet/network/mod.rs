//! Links and the ends of flows: rate, queue, delay, counts, and the packets on wires.

pub(in crate::packet) mod branch;
pub(in crate::packet) mod computed_fifo;
pub(in crate::packet) mod counts;
pub(in crate::packet) mod end;
pub(in crate::packet) mod impaired;
pub(in crate::packet) mod link;
pub(in crate::packet) mod links;
pub(in crate::packet) mod queue_length;
pub(in crate::packet) mod rare;
pub(in crate::packet) mod rate;
pub(in crate::packet) mod route;
pub(in crate::packet) mod wires;
