//! Links and the ends of flows: rate, queue, delay, counts, and the packets on wires.

pub(crate) mod branch;
pub(crate) mod computed_fifo;
pub(crate) mod counts;
pub(crate) mod end;
pub(crate) mod fabric;
pub(crate) mod failure;
pub(crate) mod impaired;
pub(crate) mod link;
pub(crate) mod links;
pub(crate) mod memory;
pub(crate) mod pausable;
pub(crate) mod queue_length;
pub(crate) mod rare;
pub(crate) mod rate;
pub(crate) mod recycle;
pub(crate) mod route;
pub(crate) mod waits;
pub(crate) mod wires;
