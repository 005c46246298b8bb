//! What a run yields: observations, tables, results.

pub(in crate::packet) mod observe;
pub(in crate::packet) mod queue_table;
pub(in crate::packet) mod results;
