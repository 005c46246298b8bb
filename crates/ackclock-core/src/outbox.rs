//! The hatch through which endpoints send.

use crate::ids::FlowId;
use crate::wire::{Flags, Packet};

/// What an endpoint sends during a call: packets written in place, because a packet that is built
/// elsewhere and moved at once stalls the move.
#[derive(Debug, Default)]
pub struct Outbox {
    packets: Vec<Packet>,
    sent: usize,
}

impl Outbox {
    /// Sends a packet without options; they may be added to what is returned.
    #[inline(always)]
    pub fn send(&mut self, flow: FlowId, seq: u32, size: u16, flags: Flags) -> &mut Packet {
        if self.sent == self.packets.len() {
            self.packets.push(Packet::new(flow, seq, size, flags));
        }
        let packet = &mut self.packets[self.sent];
        self.sent += 1;
        packet.seq = seq;
        packet.ts = 0;
        packet.ts_peer = 0;
        packet.flow = flow;
        packet.size = size;
        packet.flags = flags;
        packet.sack_count = 0;
        packet
    }

    /// The packets that were sent, in order.
    #[inline(always)]
    pub fn sent(&self) -> &[Packet] {
        &self.packets[..self.sent]
    }

    /// Forgets what was sent.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.sent = 0;
    }

    /// Takes the packets that were sent, in order.
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
    fn places_are_used_again_and_carry_nothing_over() {
        let mut out = Outbox::default();
        let first = out.send(FlowId(1), 5, 1000, Flags::ECT);
        first.ts = 9;
        first.sack_count = 1;
        assert_eq!(out.sent().len(), 1);
        out.clear();
        out.send(FlowId(2), 6, 40, Flags::ACK);
        assert_eq!(out.take(), [Packet::new(FlowId(2), 6, 40, Flags::ACK)]);
        assert!(out.sent().is_empty());
    }
}
