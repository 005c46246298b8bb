//! Multicast: sources send, branches copy packets and pass membership up the tree.

use crate::ids::FlowId;
use crate::multicast::{MEMBERSHIP_BYTES, REFRESH, layer_of};
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Kind, Stage, What};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::simulator::Sim;
use crate::wire::{Flags, Packet};

impl<C: Clock> Sim<C> {
    /// A packet reaches the end of a flow where a branch is in the place of an endpoint.
    #[cold]
    #[inline(never)]
    pub(crate) fn reach_branch(&mut self, p: usize, end: usize, ticket: Ticket) {
        // The ends of pause frames come after those of flows.
        if let Some(way) = end.checked_sub(2 * self.flows.losses.len()) {
            return self.receive_pause(p, way, ticket);
        }
        let branch = self.groups.of_end[end] as usize;
        if ticket.flags().has(Flags::ACK | Flags::ANNOUNCEMENT) {
            self.pass_announcement(p, branch, end as u32, ticket);
        } else if ticket.flags().has(Flags::ACK) {
            self.note_membership(p, branch, end as u32, ticket);
        } else {
            self.copy_to_children(p, branch, ticket);
        }
    }

    /// Copies a packet to the flows that begin at a branch and hold its layer.
    fn copy_to_children(&mut self, p: usize, branch: usize, ticket: Ticket) {
        let layer = layer_of(ticket.seq());
        for i in 0..self.groups.branches[branch].children.len() {
            let child = self.groups.branches[branch].children[i];
            if child.layers > layer {
                self.groups.branches[branch].copies += 1;
                self.send_from(p, child.end, ticket);
            }
        }
    }

    /// Sends a copy of a packet from an end where a branch is in the place of an endpoint.
    fn send_from(&mut self, p: usize, end: u32, ticket: Ticket) {
        let end = &mut self.flows.ends[end as usize];
        end.sent += 1;
        let copy = ticket.copy_to(end.route);
        let hop = self.routes.hop(copy);
        self.enter::<false>(p, hop, copy, true);
    }

    /// A membership message reaches a branch from below. It reports further up if its layers change, or if
    /// its last report is older than the interval at which receivers repeat theirs.
    fn note_membership(&mut self, p: usize, branch: usize, end: u32, ticket: Ticket) {
        let now = C::ps(ticket.at);
        let branch = &mut self.groups.branches[branch];
        for child in branch.children.iter_mut().filter(|child| child.end == end) {
            child.layers = ticket.seq();
        }
        let layers = branch.layers();
        let Some(parent) = branch.parent else { return };
        if layers == branch.reported && now < branch.reported_at.saturating_add(REFRESH.0) {
            return;
        }
        (branch.reported, branch.reported_at) = (layers, now);
        let flags = Flags::ACK | Flags::DATAGRAM;
        let message = Packet::new(FlowId(parent / 2), layers, MEMBERSHIP_BYTES, flags);
        let message = Ticket::of(&message, 0, ticket.at, &mut self.wires.options);
        self.send_from(p, parent, message);
    }

    /// An announcement reaches a branch from below. It goes up to the next branch, and down every other way
    /// to a receiver. From above it is copied as a packet of the first layer is.
    fn pass_announcement(&mut self, p: usize, branch: usize, end: u32, ticket: Ticket) {
        let (layer, announcement) = (ticket.seq(), Flags::DATAGRAM | Flags::ANNOUNCEMENT);
        let mut message = |flags: Flags| {
            let packet = Packet::new(FlowId(0), layer, MEMBERSHIP_BYTES, flags);
            Ticket::of(&packet, 0, ticket.at, &mut self.wires.options)
        };
        let (up, down) = (message(announcement | Flags::ACK), message(announcement));
        if let Some(parent) = self.groups.branches[branch].parent {
            self.send_from(p, parent, up);
        }
        for i in 0..self.groups.branches[branch].children.len() {
            let child = self.groups.branches[branch].children[i];
            if child.end != end && child.layers > 0 {
                self.groups.branches[branch].copies += 1;
                self.send_from(p, child.end, down);
            }
        }
    }

    /// The source of a group sends what is due.
    pub(crate) fn emit(&mut self, p: usize, group: usize, now: u64) {
        let mut numbers = std::mem::take(&mut self.groups.numbers);
        let emitter = &mut self.groups.sources[group];
        let due = emitter.due;
        emitter.source.take(due, &mut numbers);
        let (root, size) = (emitter.root as usize, emitter.source.size());
        if let Some(next) = emitter.source.next() {
            emitter.due = next;
            let event = What::new(Kind::Emit, group as u32);
            let key = Key::new(C::word(next.0), next.since(due).0, event.0);
            self.schedule.add_local(p, Stage::Node, key);
        }
        for &number in &numbers {
            let packet = Packet::new(FlowId(0), number, size, Flags::DATAGRAM);
            let ticket = Ticket::of(&packet, 0, now, &mut self.wires.options);
            self.copy_to_children(p, root, ticket);
        }
        numbers.clear();
        self.groups.numbers = numbers;
    }
}

#[cfg(test)]
mod tests;
