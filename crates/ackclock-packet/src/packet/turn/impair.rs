//! Packets on wires with impairments: held when they depart, released later.

use crate::packet::network::impaired::Held;
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Kind, What};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::simulator::Sim;
use crate::record::Event;
use crate::units::Time;
use crate::wire::{DropReason, Packet};

impl<C: Clock> Sim<C> {
    /// Records the departure of a packet from a watched link; returns whether impairments hold the packet now.
    #[cold]
    #[inline(never)]
    pub(crate) fn watch_departure(
        &mut self,
        p: usize,
        link_id: u32,
        packet: &Packet,
        now: u64,
    ) -> bool {
        self.observer.record_packet(now, link_id, packet, Event::Departure);
        if self.fabric.is_used() {
            self.free_memory(link_id, packet, now);
        }
        if self.ports.is_used() {
            self.note_port(link_id, packet, now);
        }
        let link = &mut self.links.list[link_id as usize];
        let (end, stage) = (link.service.end, link.stage);
        let sent = Time(C::ps(end));
        let Some(impaired) = link.impaired_mut() else { return false };
        let fate = impaired.decide(packet, sent);
        impaired.copies += u64::from(fate.copies);
        self.flows.count_copies(packet, u64::from(fate.copies));
        let held_for = fate.release.since(sent).0;
        let release = C::after(end, C::word(held_for));
        let ahead = held_for.saturating_add(sent.0 - C::ps(now));
        let lost = fate.is_lost.then_some(DropReason::Wire);
        for copy in 0..=fate.copies {
            let options = &mut self.wires.options;
            let ticket = Ticket::of(packet, packet.route + 1, release, options);
            let packet_held = Held { ticket, flow: packet.flow, lost };
            impaired.hold(release, packet_held, fate.replaces_ack && copy == 0);
            // A packet that is never released has no event.
            if release != u64::MAX {
                let event = What::new(Kind::Release, link_id);
                self.schedule.add_local(p, stage, Key::new(release, ahead, event.0));
            }
        }
        true
    }

    /// Notes what a port says of a packet that leaves it, if its flow reads that.
    fn note_port(&mut self, link_id: u32, packet: &Packet, now: u64) {
        if packet.is_ack() {
            return;
        }
        let Some(port) = self.flows.ports_passed(packet) else { return };
        let record =
            self.links.list[link_id as usize].port_record(link_id, C::ps(now), packet.size);
        self.ports.note(packet.flow, packet.seq, port as usize, record);
    }

    /// Releases the next packet that the impairments of a link hold.
    pub(crate) fn release(&mut self, p: usize, link_id: u32, now: u64) {
        self.schedule.running = p as u32;
        let link = &mut self.links.list[link_id as usize];
        let far_end = link.arrival(now);
        let Some(impaired) = link.impaired_mut() else { return };
        let Some(Held { mut ticket, flow, lost }) = impaired.release() else { return };
        if let Some(reason) = lost {
            impaired.lost += 1;
            let packet = ticket.into_packet(flow, &mut self.wires.options);
            return self.lose(link_id, &packet, reason, now);
        }
        ticket.at = impaired.space_arrival(far_end);
        self.launch(ticket.route() as u32 - 1, ticket);
    }
}
