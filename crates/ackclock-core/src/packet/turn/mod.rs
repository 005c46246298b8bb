//! What happens in a turn of a process: gather packets, handle them, forward them.

pub(in crate::packet) mod advance;
pub(in crate::packet) mod batch;
pub(in crate::packet) mod border;
pub(in crate::packet) mod branch;
pub(in crate::packet) mod cluster;
pub(in crate::packet) mod deliver;
pub(in crate::packet) mod divided;
pub(in crate::packet) mod forward;
pub(in crate::packet) mod gather;
pub(in crate::packet) mod hand_on;
pub(in crate::packet) mod impair;
pub(in crate::packet) mod member;
pub(in crate::packet) mod prefetch;
pub(in crate::packet) mod prefetcher;
pub(in crate::packet) mod record_turns;
pub(in crate::packet) mod run_part;
pub(in crate::packet) mod simulator;
pub(in crate::packet) mod stub_hosts;
