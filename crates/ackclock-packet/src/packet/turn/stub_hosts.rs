//! Stubs: hosts whose only way out leads to one link between routers, their outlet.
//!
//! A stub takes no separate turns. What it sends affects nothing before its outlet's turn, so that turn
//! begins with the stubs: those with events that can reach the outlet within the turn run as far as they can.
//! No packet on its way to the outlet then waits for a host, so the outlet's turns last about twice as long
//! as if hosts took turns themselves, and hosts run less often, with larger batches. They run in the order of
//! their memory, and a packet on its way to a stub changes two numbers instead of an entry of the agenda.
//! Packets that reach the outlet within its turn go directly into the batch of that turn
//! ([`Batch::collect_for`](crate::packet::turn::batch::Batch::collect_for)).
//!
//! Horizons are defined as for other processes: the earliest effect of a stub on its outlet counts as an
//! event of the outlet, and in place of its stubs an outlet has their sources as its own sources, with the
//! times of both ways added (`setup/partition.rs`).

use crate::packet::process::clock::Clock;
use crate::packet::turn::simulator::{Failure, Sim};

impl<C: Clock> Sim<C> {
    /// Runs the stubs of an outlet whose events can reach it before `until`. `soonest` is the earliest effect
    /// that any pending event can have on another process. Ends early if an algorithm fails.
    pub(crate) fn run_stubs(
        &mut self,
        outlet: u32,
        until: u64,
        soonest: u64,
        failure: Failure<'_>,
    ) {
        let mut due = std::mem::take(&mut self.batch.due_stubs);
        due.clear();
        self.schedule.stubs.take_due(outlet, until, &mut due);
        let process = self.schedule.stubs.process(outlet);
        let begin = self.schedule.progress[process as usize].next;
        self.batch.collect_for(process, begin, until);
        for (index, &stub) in due.iter().enumerate() {
            self.prefetch_next_stub(&due, index);
            let p = stub as usize;
            let horizon = self.schedule.horizon(p, soonest);
            let turn_end = self.run_turn(p, horizon);
            self.schedule.set_done(p, turn_end);
            self.schedule.schedule_stub(p);
            self.tally.turns += 1;
            if self.has_failed(failure) {
                break;
            }
        }
        self.batch.due_stubs = due;
        self.batch.end_collecting();
    }
}
