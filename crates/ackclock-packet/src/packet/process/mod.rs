//! Logical processes: their clock, their pending events, and the choice of the next one.

pub(crate) mod channel_heads;
pub(crate) mod clock;
pub(crate) mod event;
pub(crate) mod event_heap;
pub(crate) mod exchange;
pub(crate) mod logical_process;
pub(crate) mod min_tree;
pub(crate) mod schedule;
pub(crate) mod stubs;
