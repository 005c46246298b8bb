//! Packets at rest and their containers: tickets, wire queues, rings, buckets.

pub(crate) mod bucket_sort;
pub(crate) mod buckets;
pub(crate) mod ring;
pub(crate) mod ticket;
pub(crate) mod wire_queue;
