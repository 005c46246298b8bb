//! The receiving endpoint: ns-2's sinks (plain, `DelAck`, `Sack1`, `Sack1/DelAck`).
//!
//! **Rule**: every packet is acknowledged at once, unless acknowledgements are delayed, the packet
//! is the last one in order, nothing beyond it has come and it is not the connection request: then the second such packet
//! or the delay's end sends the acknowledgement. With SACK an acknowledgement carries up to three
//! blocks: the one with the packet that caused it, then the ones reported most recently.

use crate::ids::FlowId;
use crate::tcp::{Deadline, Endpoint, EndpointCtx, Snapshot, TcpConfig};
use crate::wire::{Flags, MAX_SACK_BLOCKS, Packet, SackBlock};

/// Wire bytes of a SACK block.
const BLOCK_BYTES: u32 = 8;

/// ns-2's receiver.
pub struct Ns2Sink {
    flow: FlowId,
    config: TcpConfig,
    sack: bool,
    /// Next packet expected.
    next: u32,
    /// Packets beyond `next`, as disjoint ranges in order.
    beyond: Vec<SackBlock>,
    /// Blocks reported last, most recent first.
    recent: [SackBlock; MAX_SACK_BLOCKS],
    recent_count: usize,
    /// Packets received since the last acknowledgement, and the timestamp to echo.
    waiting: u32,
    ts: u32,
    acked: u32,
    timer: Deadline,
    echo: bool,
    received: u64,
    duplicates: u64,
    delivered: u64,
    acks_sent: u64,
}

impl Ns2Sink {
    /// A sink; `sack`: acknowledgements carry SACK blocks.
    pub fn new(flow: FlowId, config: TcpConfig, sack: bool) -> Self {
        Self {
            flow,
            config,
            sack,
            next: 0,
            beyond: Vec::with_capacity(16),
            recent: [(0, 0); MAX_SACK_BLOCKS],
            recent_count: 0,
            waiting: 0,
            ts: 0,
            acked: 0,
            timer: Deadline::NEVER,
            echo: false,
            received: 0,
            duplicates: 0,
            delivered: 0,
            acks_sent: 0,
        }
    }

    /// Stores packet `number`; false if it was here before.
    fn store(&mut self, number: u32) -> bool {
        if number < self.next {
            return false;
        }
        let at = self.beyond.partition_point(|b| b.1 < number);
        if number == self.next {
            self.next += 1;
            if let Some(&(left, right)) = self.beyond.first()
                && left == self.next
            {
                self.next = right;
                self.beyond.remove(0);
            }
            return true;
        }
        // The first range that ends at or after `number` holds it, touches it, or lies beyond it.
        match self.beyond.get(at).copied() {
            Some((left, right)) if left <= number && number < right => return false,
            Some((_, right)) if right == number => {
                self.beyond[at].1 += 1;
                if let Some(&(left, end)) = self.beyond.get(at + 1)
                    && left == number + 1
                {
                    self.beyond[at].1 = end;
                    self.beyond.remove(at + 1);
                }
            }
            Some((left, _)) if left == number + 1 => self.beyond[at].0 = number,
            _ => self.beyond.insert(at, (number, number + 1)),
        }
        true
    }

    /// Puts the block with `number` in front of those reported, and drops what it or the
    /// cumulative acknowledgement contains.
    fn report(&mut self, number: u32) {
        let at = self.beyond.partition_point(|b| b.1 <= number);
        let current = self.beyond.get(at).copied().filter(|b| b.0 <= number);
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        let mut count = 0;
        if let Some(block) = current {
            blocks[0] = block;
            count = 1;
        }
        for &old in &self.recent[..self.recent_count] {
            let inside = current.is_some_and(|b| b.0 <= old.0 && old.1 <= b.1);
            if old.0 >= self.next && !inside && count < MAX_SACK_BLOCKS {
                blocks[count] = old;
                count += 1;
            }
        }
        self.recent = blocks;
        self.recent_count = count;
    }

    fn acknowledge(&mut self, ctx: &mut EndpointCtx<'_>) {
        let mut size = self.config.ack_size;
        let mut flags = Flags::ACK;
        if self.echo {
            flags.set(Flags::ECE);
        }
        let ack = ctx.out.send(self.flow, self.next, 0, flags);
        ack.ts = self.ts;
        if self.sack {
            ack.sack = self.recent;
            ack.sack_count = self.recent_count as u8;
            size += BLOCK_BYTES * u32::from(ack.sack_count);
        }
        ack.size = size as u16;
        self.acks_sent += 1;
        self.waiting = 0;
        self.acked = self.next;
        self.timer = Deadline::NEVER;
    }
}

impl Endpoint for Ns2Sink {
    fn start(&mut self, _ctx: &mut EndpointCtx<'_>) {}

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        let request = packet.flags.has(Flags::SYN);
        if packet.flags.has(Flags::CE) {
            self.echo = true;
        } else if packet.flags.has(Flags::CWR) {
            self.echo = false;
        }
        // The echo is the clock of the newest packet that does not lie beyond a gap.
        if packet.seq <= self.acked {
            self.ts = packet.ts;
        }
        let before = self.next;
        let fresh = self.store(packet.seq);
        self.delivered += u64::from(self.next - before);
        if !request {
            self.received += 1;
            self.duplicates += u64::from(!fresh);
        } else if fresh {
            self.delivered -= 1;
        }
        if self.sack {
            self.report(packet.seq);
        }
        // Also a second copy of the packet acknowledged last, as ns-2 has it.
        let in_order = packet.seq + 1 == self.next && self.beyond.is_empty();
        self.waiting += 1;
        if self.config.delayed_ack <= 1
            || request
            || !in_order
            || self.waiting >= self.config.delayed_ack
        {
            self.acknowledge(ctx);
        } else if self.timer == Deadline::NEVER {
            let at = ctx.now + self.config.delayed_ack_timeout;
            self.timer = Deadline { at, armed: ctx.now };
        }
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.timer.at <= ctx.now {
            self.acknowledge(ctx);
        }
    }

    fn deadline(&self) -> Deadline {
        self.timer
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered_packets: self.delivered,
            delivered_bytes: self.delivered * u64::from(self.config.mss),
            received_packets: self.received,
            duplicate_packets: self.duplicates,
            acks_sent: self.acks_sent,
            ..Snapshot::default()
        }
    }
}
