//! Memory of switches and priority flow control: packets that a switch takes and frees, pause frames that it sends
//! and that transmitters obey.
//!
//! A pause frame travels as a packet does, over the link in the other direction, at whose end no endpoint but
//! [`Sim::receive_pause`] gets it. So processes, channels and lookaheads need nothing new. It goes before all that waits,
//! after the packet in transmission, and is not paused itself.

use crate::ids::FlowId;
use crate::packet::network::fabric::FRAME;
use crate::packet::network::link::Service;
use crate::packet::network::memory::Way;
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Kind, Stage, What};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::simulator::Sim;
use crate::wire::{Flags, Packet};

impl<C: Clock> Sim<C> {
    /// Where a packet waits in the switch that a link leaves, with the number of the switch.
    fn way(&self, link_id: u32, packet: &Packet) -> Option<(usize, Way)> {
        let (switch, egress) = self.fabric.ports[link_id as usize].leaves?;
        let came_by = self.routes.link_before(packet.route);
        let ingress = came_by.and_then(|link| self.fabric.ports[link as usize].reaches);
        let disc = &self.links.list[link_id as usize].disc;
        let memory = &self.fabric.switches[switch as usize];
        let class = disc.as_ref().map_or(0, |managed| managed.disc.queue_of(packet));
        let way = Way {
            ingress: ingress.map(|(_, number)| number as usize),
            egress: egress as usize,
            class: class.min(memory.classes - 1),
        };
        Some((switch as usize, way))
    }

    /// A packet arrives at a link; returns whether the switch that the link leaves has room for it.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_into_memory(&mut self, link_id: u32, packet: &Packet, now: u64) -> bool {
        let Some((switch, way)) = self.way(link_id, packet) else { return true };
        let has_room = self.fabric.switches[switch].take(way, packet.size);
        self.announce(switch, way, now);
        has_room
    }

    /// A packet leaves a link's queue: by its transmission, or dropped.
    #[cold]
    #[inline(never)]
    pub(crate) fn free_memory(&mut self, link_id: u32, packet: &Packet, now: u64) {
        let Some((switch, way)) = self.way(link_id, packet) else { return };
        self.fabric.switches[switch].free(way, packet.size);
        self.announce(switch, way, now);
    }

    /// Sends a pause frame if the ingress of a packet is to be paused or resumed, as soon as its transmitter is free.
    fn announce(&mut self, switch: usize, way: Way, now: u64) {
        let Some(number) = way.ingress else { return };
        let memory = &self.fabric.switches[switch];
        let (p, ingress) = (memory.process as usize, &memory.ingress[number]);
        if ingress.paused == ingress.announced {
            return;
        }
        let back = ingress.back;
        let link = &mut self.links.list[back as usize];
        if link.service.end == Service::IDLE {
            self.send_pause(p, back, now);
        } else {
            link.hold_for_frame(true);
        }
    }

    /// The transmitter of a link is free, and a pause frame is to be sent before its next packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_frame_due(&mut self, p: usize, link_id: u32, now: u64) {
        self.links.list[link_id as usize].hold_for_frame(false);
        if !self.send_pause(p, link_id, now) {
            // What was to be announced has passed.
            self.transmit(p, link_id, now);
        }
    }

    /// Sends a pause frame over a link whose transmitter is free, if there is anything to announce.
    fn send_pause(&mut self, p: usize, link_id: u32, now: u64) -> bool {
        let port = self.fabric.ports[link_id as usize];
        let (Some((switch, _)), Some(number)) = (port.leaves, port.back_of) else { return false };
        let ingress = &mut self.fabric.switches[switch as usize].ingress[number as usize];
        if ingress.paused == ingress.announced {
            return false;
        }
        ingress.announced = ingress.paused;
        ingress.frames += 1;
        let (route, classes) = (ingress.route, ingress.paused);
        let link = &mut self.links.list[link_id as usize];
        let arrival = link.send_frame(now, FRAME);
        let (end, stage) = (link.service.end, link.stage);
        let frame = Packet::new(FlowId(0), classes, FRAME, Flags::default());
        let ticket = Ticket::of(&frame, route + 1, arrival, &mut self.wires.options);
        self.launch(route, ticket);
        let event = What::new(Kind::Free, link_id);
        self.schedule.add_local(p, stage, Key::new(end, C::ps(end) - C::ps(now), event.0));
        true
    }

    /// A pause frame reaches the node whose transmitter it is for.
    pub(crate) fn receive_pause(&mut self, p: usize, way: usize, ticket: Ticket) {
        let link_id = self.fabric.pausers[way];
        let (now, classes, response) = (ticket.at, ticket.seq(), self.fabric.response);
        let link = &mut self.links.list[link_id as usize];
        let pauses = link.pauses_mut();
        pauses.frames += 1;
        if response == 0 {
            return self.pause(p, link_id, classes, now);
        }
        pauses.due.push_back(classes);
        let event = What::new(Kind::Pause, link_id);
        let due = C::after(now, C::word(response));
        self.schedule.add_local(p, Stage::Node, Key::new(due, response, event.0));
    }

    /// The oldest pause frame of a link takes effect.
    pub(crate) fn obey_pause(&mut self, p: usize, link_id: u32, now: u64) {
        let due = self.links.list[link_id as usize].pauses_mut().due.pop_front();
        if let Some(classes) = due {
            self.pause(p, link_id, classes, now);
        }
    }

    /// Pauses the classes whose bits are set, and resumes the others.
    fn pause(&mut self, p: usize, link_id: u32, classes: u32, now: u64) {
        self.sample_link(link_id as usize, now);
        let link = &mut self.links.list[link_id as usize];
        let pauses = link.pauses_mut();
        pauses.spells.length = self.fabric.spell;
        pauses.set(classes, C::ps(now));
        link.hold();
        if link.service.end == Service::IDLE {
            self.transmit(p, link_id, now);
        }
    }
}

#[cfg(test)]
mod tests;
