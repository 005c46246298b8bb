//! Copies that the branches of multicast groups made.
//!
//! For each branch the copies made are those sent on the flows that begin there. Each of these flows is
//! checked like any other (`outcome/conservation.rs`).

use crate::packet::outcome::run_end::EndedRun;
use crate::packet::process::clock::Clock;

impl<C: Clock> EndedRun<C> {
    /// Checks every branch.
    ///
    /// # Errors
    /// If a count does not balance.
    pub(crate) fn check_branches(&self) -> Result<(), String> {
        for (number, branch) in self.groups.branches.iter().enumerate() {
            let children = branch.children.iter();
            let sent: u64 = children.map(|c| self.flows.ends[c.end as usize].sent).sum();
            if sent != branch.copies {
                return Err(format!("branch {number}: {} copies made, {sent} sent", branch.copies));
            }
        }
        Ok(())
    }
}
