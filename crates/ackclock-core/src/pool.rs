//! Where packets lie while tickets of them travel, and the hatch through which endpoints send.

use crate::ids::FlowId;
use crate::wire::{Flags, Packet};

/// Packets that are in the network. Each lies still in its slot; slots are used again.
#[derive(Debug, Default)]
pub struct Pool {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Pool {
    /// A slot to be written in place.
    #[inline(always)]
    fn slot(&mut self) -> u32 {
        match self.free.pop() {
            Some(slot) => slot,
            None => self.grow(),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        self.packets.push(Packet::new(FlowId(0), 0, 0, Flags(0)));
        self.packets.len() as u32 - 1
    }

    /// Lays a packet down.
    #[inline]
    pub fn put(&mut self, packet: Packet) -> u32 {
        let slot = self.slot();
        self.packets[slot as usize] = packet;
        slot
    }

    /// Picks a packet up.
    #[inline]
    pub fn take(&mut self, slot: u32) -> Packet {
        self.free.push(slot);
        self.packets[slot as usize].moved()
    }

    /// Looks at a packet.
    #[inline]
    pub fn get(&self, slot: u32) -> &Packet {
        &self.packets[slot as usize]
    }
}

/// What an endpoint sends during a call: written straight into the pool, because a packet that is
/// built elsewhere and moved at once stalls the move.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The packets.
    pub(crate) pool: Pool,
    /// Slots of those sent and not yet taken, in order.
    pub(crate) sent: Vec<u32>,
}

impl Outbox {
    /// Sends a packet without options; they may be added to what is returned.
    #[inline(always)]
    pub fn send(&mut self, flow: FlowId, seq: u32, size: u16, flags: Flags) -> &mut Packet {
        let slot = self.pool.slot();
        self.sent.push(slot);
        let packet = &mut self.pool.packets[slot as usize];
        packet.seq = seq;
        packet.ts = 0;
        packet.flow = flow;
        packet.size = size;
        packet.flags = flags;
        packet.sack_count = 0;
        packet
    }

    /// Takes the packets that were sent, in order.
    pub fn take(&mut self) -> Vec<Packet> {
        let Self { pool, sent } = self;
        sent.drain(..).map(|slot| pool.take(slot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again_and_carry_nothing_over() {
        let mut out = Outbox::default();
        let first = out.send(FlowId(1), 5, 1000, Flags::ECT);
        first.ts = 9;
        first.sack_count = 1;
        assert_eq!(out.take().len(), 1);
        out.send(FlowId(2), 6, 40, Flags::ACK);
        assert_eq!(out.take(), [Packet::new(FlowId(2), 6, 40, Flags::ACK)]);
        assert_eq!(out.pool.packets.len(), 1);
    }
}
