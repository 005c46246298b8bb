//! The packets that an endpoint sends during a call.

use crate::ids::FlowId;
use crate::wire::{Flags, Options, Packet};

/// Packets that an endpoint sends during a call. They are written in place: moving a packet right after it
/// was written in parts stalls.
#[derive(Debug, Default)]
pub struct Outbox {
    packets: Vec<Packet>,
    sent: usize,
}

impl Outbox {
    /// Sends a packet without options and returns it, so that options can be added.
    #[inline(always)]
    pub fn send(&mut self, flow: FlowId, seq: u32, size: u16, flags: Flags) -> &mut Packet {
        if self.sent == self.packets.len() {
            self.packets.push(Packet::new(flow, seq, size, flags));
        }
        let packet = &mut self.packets[self.sent];
        self.sent += 1;
        packet.seq = seq;
        packet.flow = flow;
        packet.size = size;
        packet.flags = flags;
        packet.options = Options::None;
        packet
    }

    /// The packets that were sent, in order.
    #[inline(always)]
    pub fn sent(&self) -> &[Packet] {
        &self.packets[..self.sent]
    }

    /// The packets that were sent, in order, to be changed before they leave.
    pub fn sent_mut(&mut self) -> &mut [Packet] {
        &mut self.packets[..self.sent]
    }

    /// Removes all packets.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.sent = 0;
    }

    /// Removes and returns the packets that were sent, in order.
    pub fn take(&mut self) -> Vec<Packet> {
        let taken = self.packets.drain(..self.sent).collect();
        self.sent = 0;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_reused_and_keep_no_options() {
        let mut out = Outbox::default();
        let first = out.send(FlowId(1), 5, 1000, Flags::ECT);
        first.options = Options::Place(9);
        assert_eq!(out.sent().len(), 1);
        out.clear();
        out.send(FlowId(2), 6, 40, Flags::ACK);
        assert_eq!(out.take(), [Packet::new(FlowId(2), 6, 40, Flags::ACK)]);
        assert!(out.sent().is_empty());
    }
}
