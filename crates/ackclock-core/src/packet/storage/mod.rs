//! Packets at rest and their containers: tickets, wire queues, rings, buckets.

pub(in crate::packet) mod bucket_sort;
pub(in crate::packet) mod buckets;
pub(in crate::packet) mod ring;
pub(in crate::packet) mod ticket;
pub(in crate::packet) mod wire_queue;
