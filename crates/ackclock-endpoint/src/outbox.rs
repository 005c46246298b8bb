//! The packets that an endpoint sends during a call.

use crate::error::Problem;
use crate::ids::FlowId;
use crate::memory::{end_with, make_room};
use crate::wire::{Flags, Options, Packet};

/// Packets that an endpoint can send during a call: those of 256 bytes that fill the largest window of TCP (RFC 7323
/// section 2.3).
pub const MOST_AT_ONCE: usize = if cfg!(test) { 1 << 16 } else { 1 << 22 };

/// Packets that an endpoint sends during a call. They are written in place: moving a packet right after it
/// was written in parts stalls.
#[derive(Debug, Default)]
pub struct Outbox {
    packets: Vec<Packet>,
    sent: usize,
    woken: Option<FlowId>,
}

impl Outbox {
    /// The deadline of the end of this flow on the same host may have become earlier. Heard only of a call that sends something.
    pub fn wake(&mut self, flow: FlowId) {
        self.woken = Some(flow);
    }

    /// The flow whose end is to be looked at, once.
    #[inline(always)]
    pub fn take_woken(&mut self) -> Option<FlowId> {
        self.woken.take()
    }

    /// Sends a packet without options and returns it, so that options can be added.
    #[inline(always)]
    pub fn send(&mut self, flow: FlowId, seq: u32, size: u16, flags: Flags) -> &mut Packet {
        if self.sent == self.packets.len() {
            self.grow();
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

    /// Makes room for one more packet.
    #[inline(never)]
    fn grow(&mut self) {
        if self.sent >= MOST_AT_ONCE {
            let message = format!(
                "a flow sends {MOST_AT_ONCE} packets at one instant, more than a window of 2^30 bytes (RFC 7323) holds; \
                 expected smaller windows (receiver_window, or the parameters of its control)"
            );
            end_with(Problem::new("", message));
        }
        make_room(&mut self.packets);
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
        let packets = self.packets.drain(..self.sent).collect();
        self.sent = 0;
        packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::until_it_ends;

    #[test]
    fn a_burst_beyond_any_window_ends_the_run_with_a_sentence() {
        let problem = until_it_ends(|| {
            let mut out = Outbox::default();
            (0..u32::MAX).for_each(|seq| _ = out.send(FlowId(1), seq, 40, Flags::ACK));
        });
        assert!(problem.unwrap_err().message.contains("65536 packets at one instant"));
    }

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
