//! What a run leaves: recorded tables, counts, the ledger, results.

pub(in crate::packet) mod beginning;
pub(in crate::packet) mod branches;
pub(in crate::packet) mod conservation;
pub(in crate::packet) mod hand_on;
pub(in crate::packet) mod join;
pub(in crate::packet) mod laws;
pub(in crate::packet) mod ledger;
pub(in crate::packet) mod ledger_table;
pub(in crate::packet) mod marks;
pub(in crate::packet) mod observe;
pub(in crate::packet) mod parallelism;
pub(in crate::packet) mod piece;
pub(in crate::packet) mod queue_table;
pub(in crate::packet) mod results;
pub(in crate::packet) mod rows;
pub(in crate::packet) mod run_end;
