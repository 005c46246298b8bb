//! Clusters: nodes so near one another that they are one process.
//!
//! Where a packet travels between nodes within the transmission time of a few packets, as between the leaves
//! of one campus, batches would hold hardly a packet, and taking turns would cost more than the packets.
//! Such nodes are one process (`setup/partition.rs` selects them), which handles its packets one by one, the
//! earliest of all its channels first, and takes turns only with processes that are further away.
//!
//! A cluster of very many links, as a fat tree is one, gets many packets even within the shortest time from one of its
//! links to the next: there each such window is a batch.

use crate::memory::prefetch;
use crate::packet::process::channel_heads::Heads;
use crate::packet::process::clock::Clock;
use crate::packet::process::event::Stage;
use crate::packet::process::logical_process::Pending;
use crate::packet::turn::simulator::Sim;

/// Events of a cluster's turn, so that a run that is one cluster can be interrupted. Tests have short turns.
const TURN: u32 = if cfg!(test) { 3 } else { 1024 };

impl<C: Clock> Sim<C> {
    /// Handles the events of a cluster before `until`, in order. Returns the time before which nothing is left
    /// to do: `until`, or earlier at the end of its turn.
    pub(crate) fn run_cluster(&mut self, p: usize, until: u64) -> u64 {
        self.find_next_local(p);
        for _ in 0..TURN {
            let local_at = self.schedule.next_local;
            let Pending { heads, channels: own_channels, .. } =
                &mut self.schedule.processes[p].stages[Stage::Node as usize];
            let heads = match heads {
                Heads::Single(heads) => heads,
                Heads::Windows(windows) => {
                    let length = windows.length;
                    return self.run_windows(p, length, until);
                }
                Heads::Batched(_) => return until,
            };
            let first = heads.first();
            if first.time.min(local_at) >= until {
                return until;
            }
            if local_at < first.time {
                let (local, local_at) = self.schedule.processes[p].local(Stage::Node);
                self.run_local(p, Stage::Node, local, local_at, first.time.min(until - 1));
                self.send_deferred(p);
                self.find_next_local(p);
                continue;
            }
            let queue = &mut self.wires.channels[(own_channels.start + first.who) as usize].queue;
            let store = &mut self.wires.store;
            let Some((ticket, next)) = queue.pop(store) else { return until };
            heads.set(first.who, next);
            // The channel's next packet is handled after packets of other channels.
            queue.front(store).inspect(|next| prefetch(self.routes.at(next.route())));
            queue.prefetch_ahead(store);
            if first.time < heads.first().time.min(local_at) {
                self.prefetch_endpoint_of(ticket);
                self.forward(p, ticket);
                self.send_deferred(p);
            } else {
                // Several events at one time are ordered by their keys.
                queue.put_back(store, ticket);
                heads.set(first.who, first.time);
                self.advance(p, Stage::Node, first.time + 1);
                self.find_next_local(p);
            }
        }
        // Packets from other processes that arrive at `until` or later can be earlier than the next event.
        self.schedule.processes[p].stages[Stage::Node as usize].next().min(until)
    }

    /// The same for a cluster in which many packets arrive within the time that the nearest of its links are apart: all
    /// that arrive within such a window are a batch, as those of any other process are.
    fn run_windows(&mut self, p: usize, length: u64, until: u64) -> u64 {
        let mut handled = 0;
        while handled < TURN as usize {
            let process = &self.schedule.processes[p];
            let first = process.stages[Stage::Node as usize].heads.first();
            let first = first.min(process.local(Stage::Node).1);
            if first >= until {
                return until;
            }
            self.batch.order.clear();
            self.advance(p, Stage::Node, C::bound(first, length).min(until));
            handled += 1 + self.batch.order.len();
        }
        self.schedule.processes[p].stages[Stage::Node as usize].next().min(until)
    }

    #[inline(always)]
    fn find_next_local(&mut self, p: usize) {
        self.schedule.next_local = self.schedule.processes[p].local(Stage::Node).1;
    }
}
