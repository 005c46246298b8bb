//! Conservation of packets, flow by flow.
//!
//! For each direction of each flow
//!
//! ```text
//! sent + duplicated by impairments = received + dropped + on wires + in queues
//! ```
//!
//! where packets on wires and in queues are counted one by one. User-defined disciplines are not called after
//! the end of the run: the packets that wait there are known by number only.

use crate::compile::Plan;
use crate::packet::network::end::Flows;
use crate::packet::outcome::run_end::EndedRun;
use crate::packet::process::clock::Clock;
use crate::wire::Packet;

impl<C: Clock> EndedRun<C> {
    /// Checks every flow. The packets that links of the registry's disciplines still hold are removed.
    ///
    /// # Errors
    /// If a count does not balance: the flow and its counts.
    pub(crate) fn check_flows(&mut self, plan: &Plan) -> Result<(), String> {
        let mut under_way = vec![0u64; self.flows.ends.len()];
        let hidden = self.count_under_way(plan, &mut under_way);
        let Flows { ends, losses, .. } = &self.flows;
        for (f, (flow, lost)) in plan.flows.iter().zip(losses).enumerate() {
            let ways = [("data", lost.data + lost.requests), ("acknowledgement", lost.acks)];
            for (from, (kind, dropped)) in ways.into_iter().enumerate() {
                let (near, far) = (2 * f + from, 2 * f + 1 - from);
                let (sent, copied) = (ends[near].sent, lost.copies[from]);
                let (received, on_way) = (ends[far].received, under_way[far]);
                let accounted = received + dropped + on_way;
                if !(accounted..=accounted + hidden).contains(&(sent + copied)) {
                    return Err(format!(
                        "flow {}: {sent} {kind} packets sent, but {received} received, {dropped} \
                         dropped, {on_way} under way, {copied} copied on wires",
                        flow.name
                    ));
                }
            }
        }
        Ok(())
    }

    /// Counts the packets under way to each end; returns how many others disciplines keep.
    fn count_under_way(&mut self, plan: &Plan, under_way: &mut [u64]) -> u64 {
        let Self { links, wires, routes, end, .. } = self;
        let in_channels = wires.channels.iter().flat_map(|c| c.queue.iter(&wires.store));
        for ticket in in_channels.chain(&wires.beyond) {
            // Those of pause frames are no flow's.
            if let Some(count) = routes.destination(*ticket).and_then(|far| under_way.get_mut(far))
            {
                *count += 1;
            }
        }
        let mut hidden = 0;
        let mut registered: Option<Vec<&str>> = None;
        for l in 0..links.list.len() {
            if let Some(impaired) = links.list[l].impaired_mut() {
                while let Some(packet) = impaired.release() {
                    if let Some(far) = routes.destination(packet.ticket) {
                        under_way[far] += 1;
                    }
                }
            }
            if links.list[l].held() == 0 {
                continue;
            }
            let registered = registered.get_or_insert_with(crate::qdisc::names);
            if let Some(managed) = &mut links.list[l].disc {
                managed.disc.hold(0);
            }
            if registered.contains(&plan.links[l].settings.qdisc.kind()) {
                let mut count = |packet: &Packet| {
                    let far = 2 * packet.flow.index() + usize::from(!packet.is_ack());
                    under_way[far] += 1;
                };
                let mut now = *end;
                loop {
                    let (link, next) = links.transmit(l as u32, now);
                    let later = if next.is_none() { link.held_until(now) } else { Some(now) };
                    if let Some(timed) = &next {
                        count(&timed.packet);
                    }
                    links.dropped.drain(..).for_each(|(packet, _)| count(&packet));
                    // What a shaper holds back leaves later, or after the clock's end.
                    match later {
                        Some(later) if later > now || next.is_some() => now = later,
                        _ => break,
                    }
                }
            }
            hidden += links.list[l].held() as u64;
        }
        hidden
    }
}
