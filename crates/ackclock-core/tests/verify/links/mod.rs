//! Links: what changes at single directions of them, the packets that they carry, what their flows get.

mod goodput;
mod link_changes;
mod typical_packets;
