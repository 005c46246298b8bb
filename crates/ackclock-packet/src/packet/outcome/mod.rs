//! What a run leaves: recorded tables, counts, the ledger, results.

pub(crate) mod beginning;
pub(crate) mod branches;
pub(crate) mod conservation;
pub(crate) mod fabric;
pub(crate) mod hand_on;
pub(crate) mod join;
pub(crate) mod laws;
pub(crate) mod ledger;
pub(crate) mod ledger_table;
pub(crate) mod link_sample;
pub(crate) mod marks;
pub(crate) mod observe;
pub(crate) mod parallelism;
pub(crate) mod piece;
pub(crate) mod queue_table;
pub(crate) mod results;
pub(crate) mod run_end;
