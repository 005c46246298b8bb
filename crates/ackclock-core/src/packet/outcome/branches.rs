//! Conservation of the packets of multicast groups, branch by branch.
//!
//! For each branch the copies made are those sent on the flows that begin there; and of each flow, data and
//! membership messages alike,
//!
//! ```text
//! sent + duplicated by impairments = received + dropped + on wires + in queues
//! ```
//!
//! where packets on wires and in queues are counted one by one.

use crate::packet::outcome::run_end::EndedRun;
use crate::packet::process::clock::Clock;

impl<C: Clock> EndedRun<C> {
    /// Checks every branch. The packets that links still hold are removed.
    ///
    /// # Errors
    /// If a count does not balance.
    pub(in crate::packet) fn check_branches(&mut self) -> Result<(), String> {
        let mut under_way = vec![0u64; self.flows.ends.len()];
        let hidden = self.count_under_way(&mut under_way);
        let (ends, losses) = (&self.flows.ends, &self.flows.losses);
        for (number, branch) in self.groups.branches.iter().enumerate() {
            let sent: u64 = branch.children.iter().map(|c| ends[c.end as usize].sent).sum();
            if sent != branch.copies {
                return Err(format!("branch {number}: {} copies made, {sent} sent", branch.copies));
            }
            for child in &branch.children {
                let flow = child.end as usize / 2;
                let lost = losses[flow];
                for (from, lost) in [(0, lost.data + lost.requests), (1, lost.acks)] {
                    let (end, far) = (2 * flow + from, 2 * flow + 1 - from);
                    let sent = ends[end].sent + losses[flow].copies[from];
                    let done = ends[far].received + lost + under_way[far];
                    if !(done..=done + hidden).contains(&sent) {
                        return Err(format!(
                            "branch {number}, flow {flow}: {sent} packets sent, but {} received, \
                             {lost} dropped, {} under way",
                            ends[far].received, under_way[far]
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts the packets under way to each end; returns how many disciplines keep back that do not dequeue
    /// them now.
    fn count_under_way(&mut self, under_way: &mut [u64]) -> u64 {
        let Self { links, wires, routes, end, .. } = self;
        let in_channels = wires.channels.iter().flat_map(|c| c.queue.iter(&wires.store));
        for ticket in in_channels.chain(&wires.beyond) {
            if let Some(far) = routes.destination(*ticket) {
                under_way[far] += 1;
            }
        }
        let mut hidden = 0;
        for l in 0..links.list.len() {
            if let Some(impaired) = links.list[l].impaired_mut() {
                while let Some(held) = impaired.release() {
                    if let Some(far) = routes.destination(held.ticket) {
                        under_way[far] += 1;
                    }
                }
            }
            if links.list[l].disc.is_none() {
                continue;
            }
            let mut count = |packet: &crate::wire::Packet| {
                let far = 2 * packet.flow.index() + usize::from(!packet.is_ack());
                under_way[far] += 1;
            };
            loop {
                let next = links.transmit(l as u32, *end).1;
                if let Some(timed) = &next {
                    count(&timed.packet);
                }
                links.dropped.drain(..).for_each(|(packet, _)| count(&packet));
                if next.is_none() {
                    break;
                }
            }
            hidden += links.list[l].waiting().0 as u64;
        }
        hidden
    }
}
