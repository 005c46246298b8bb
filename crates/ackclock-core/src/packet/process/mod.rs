//! Logical processes: their clock, their pending events, and the choice of the next one.

pub(in crate::packet) mod channel_heads;
pub(in crate::packet) mod clock;
pub(in crate::packet) mod event;
pub(in crate::packet) mod event_heap;
pub(in crate::packet) mod exchange;
pub(in crate::packet) mod logical_process;
pub(in crate::packet) mod min_tree;
pub(in crate::packet) mod schedule;
pub(in crate::packet) mod stubs;
