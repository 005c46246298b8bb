//! Clusters: nodes so near one another that they are one process.
//!
//! Where what leaves a node is at the next within the transmission of a few packets, as between the
//! leaves of one campus, batches hold hardly a packet, and taking turns costs more than the packets do.
//! Such nodes are one process (`setup/partition.rs` says which), which handles its packets one by one and takes
//! turns only with what lies further away.

use crate::memory::soon;
use crate::packet::process::channel_heads::Heads;
use crate::packet::process::event::Stage;
use crate::packet::process::logical_process::Pending;
use crate::packet::turn::simulator::Sim;

/// Events after which a cluster lets others have a turn: so a run that is one cluster can be stopped.
/// Tests have short ones.
const TURN: u32 = if cfg!(test) { 3 } else { 1024 };

impl Sim {
    /// Handles the events of a cluster before `until`, in order. The time before which nothing is left
    /// to do: `until`, or earlier at the end of its turn.
    pub(in crate::packet) fn take_turn(&mut self, p: usize, until: u64) -> u64 {
        self.find_next_local(p);
        for _ in 0..TURN {
            let Self { processes, channels, wires, hops, .. } = self;
            let local_at = self.next_local;
            let Pending { heads, channels: own, .. } =
                &mut processes[p].stages[Stage::Node as usize];
            let Heads::One(heads) = heads else { return until };
            let first = heads.first();
            if first.time.min(local_at) >= until {
                return until;
            }
            if local_at < first.time {
                let (local, local_at) = self.processes[p].local(Stage::Node);
                self.run_local(p, Stage::Node, local, local_at, first.time.min(until - 1));
                self.send_onward(p);
                self.find_next_local(p);
                continue;
            }
            let queue = &mut channels[(own.start + first.who) as usize].queue;
            let Some((ticket, next)) = queue.pop(wires) else { return until };
            heads.set(first.who, next);
            // Its turn comes when others have had theirs.
            queue.front(wires).inspect(|next| soon(&hops[next.route()]));
            queue.call_up_ahead(wires);
            if first.time < heads.first().time.min(local_at) {
                self.call_up_end_of(ticket);
                self.forward(p, ticket);
                self.send_onward(p);
            } else {
                // What happens at the same time has an order of its own.
                queue.put_back(wires, ticket);
                heads.set(first.who, first.time);
                self.advance(p, Stage::Node, first.time + 1);
                self.find_next_local(p);
            }
        }
        // What comes from others at `until` or later may yet come first.
        self.processes[p].stages[Stage::Node as usize].next().min(until)
    }

    #[inline(always)]
    fn find_next_local(&mut self, p: usize) {
        self.next_local = self.processes[p].local(Stage::Node).1;
    }
}
