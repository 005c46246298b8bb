//! What happens in a turn of a process: gather packets, handle them, forward them.

pub(crate) mod advance;
pub(crate) mod batch;
pub(crate) mod border;
pub(crate) mod branch;
pub(crate) mod cluster;
pub(crate) mod deliver;
pub(crate) mod divided;
pub(crate) mod flow_control;
pub(crate) mod forward;
pub(crate) mod gather;
pub(crate) mod hand_on;
pub(crate) mod impair;
pub(crate) mod member;
pub(crate) mod prefetch;
pub(crate) mod prefetcher;
pub(crate) mod record_turns;
pub(crate) mod run_part;
pub(crate) mod simulator;
pub(crate) mod stub_hosts;
