//! The receiving endpoint: ns-2's sinks (plain, `DelAck`, `Sack1`, `Sack1/DelAck`).
//!
//! **Rule**: every packet is acknowledged at once, unless acknowledgements are delayed, the packet
//! is the last one in order, nothing beyond it has come and it is not packet 0, which mostly is the connection request:
//! then the second such packet or the delay's end sends the acknowledgement. With SACK an acknowledgement carries up to three
//! blocks: the one with the packet that caused it, then the ones reported most recently.

use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::record::FlowSample;
use crate::tcp::TcpConfig;
use crate::wire::{Flags, MAX_SACK_BLOCKS, Packet, SackBlock, Timestamps, timestamp};

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
    /// A packet since the last acknowledgement was marked CE, or carried CWR.
    marked: bool,
    answered: bool,
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
            marked: false,
            answered: false,
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
        let index = self.beyond.partition_point(|b| b.1 < number);
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
        match self.beyond.get(index).copied() {
            Some((left, right)) if left <= number && number < right => return false,
            Some((_, right)) if right == number => {
                self.beyond[index].1 += 1;
                if let Some(&(left, end)) = self.beyond.get(index + 1)
                    && left == number + 1
                {
                    self.beyond[index].1 = end;
                    self.beyond.remove(index + 1);
                }
            }
            Some((left, _)) if left == number + 1 => self.beyond[index].0 = number,
            _ => self.beyond.insert(index, (number, number + 1)),
        }
        true
    }

    /// Puts the block with `number` in front of those reported, and drops what it or the
    /// cumulative acknowledgement contains.
    fn report(&mut self, number: u32) {
        let index = self.beyond.partition_point(|b| b.1 <= number);
        let current = self.beyond.get(index).copied().filter(|b| b.0 <= number);
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
        // Of all packets that it acknowledges: CWR ends the echo, and a mark begins it again.
        let answered = std::mem::take(&mut self.answered);
        self.echo = std::mem::take(&mut self.marked) || (self.echo && !answered);
        if self.echo {
            flags.set(Flags::ECE);
        }
        let ack = ctx.out.send(self.flow, self.next, 0, flags);
        // ns-2's clocks are exact; a packet without the option gets an answer without it.
        if self.ts != 0 {
            let clocks = Timestamps { sender: self.ts, receiver: timestamp(ctx.now) };
            ack.options.tcp_mut().timestamps = Some(clocks);
        }
        if self.sack && self.recent_count > 0 {
            ack.options.tcp_mut().set_blocks(&self.recent[..self.recent_count]);
            size += BLOCK_BYTES * self.recent_count as u32;
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
        self.marked |= packet.flags.has(Flags::CE);
        self.answered |= packet.flags.has(Flags::CWR);
        // The echo is the clock of the newest packet that does not lie beyond a gap.
        if packet.seq <= self.acked {
            self.ts = packet.timestamps().map_or(0, |clocks| clocks.sender);
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
            || packet.seq == 0
            || !in_order
            || self.waiting >= self.config.delayed_ack
        {
            self.acknowledge(ctx);
        } else if self.timer == Deadline::NEVER {
            let expiry = ctx.now + self.config.delayed_ack_timeout;
            self.timer = Deadline { at: expiry, armed: ctx.now };
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
            held_bytes: (self.received - self.duplicates - self.delivered)
                * u64::from(self.config.mss),
            received_packets: self.received,
            duplicate_packets: self.duplicates,
            acks_sent: self.acks_sent,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.snapshot().delivered_bytes;
        row.received_bytes = (self.received - self.duplicates) * u64::from(self.config.mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::Era;
    use crate::record::Recorder;
    use crate::rng::{Purpose, Stream};
    use crate::units::Time;

    /// Gives `sink` packets and returns (cumulative number, blocks, ECN-Echo) of the
    /// acknowledgements.
    fn feed(sink: &mut Ns2Sink, packets: &[(u32, Flags)]) -> Vec<(u32, Vec<SackBlock>, bool)> {
        let mut out = crate::outbox::Outbox::default();
        let (mut rng, mut record) = (Stream::new(1, Purpose::Receiver, 0), Recorder::default());
        let mut ctx = EndpointCtx::new(Time::ZERO, &mut out, &mut rng, &mut record);
        for &(seq, flags) in packets {
            sink.on_packet(Packet::new(FlowId(0), seq, 1000, flags), &mut ctx);
        }
        out.take()
            .iter()
            .map(|a| (a.seq, a.sack_blocks().to_vec(), a.flags.has(Flags::ECE)))
            .collect()
    }

    fn sink(delayed_ack: u32) -> Ns2Sink {
        let config = TcpConfig { delayed_ack, ..TcpConfig::of_era(Era::Ns2) };
        Ns2Sink::new(FlowId(0), config, true)
    }

    #[test]
    fn the_newest_block_comes_first_and_the_fourth_is_forgotten() {
        let none = Flags::default();
        let packets = [0, 2, 4, 6, 8, 5, 1].map(|n| (n, if n == 0 { Flags::SYN } else { none }));
        let blocks: Vec<_> = feed(&mut sink(1), &packets).into_iter().map(|a| (a.0, a.1)).collect();
        assert_eq!(
            blocks,
            [
                (1, vec![]),
                (1, vec![(2, 3)]),
                (1, vec![(4, 5), (2, 3)]),
                (1, vec![(6, 7), (4, 5), (2, 3)]),
                (1, vec![(8, 9), (6, 7), (4, 5)]),
                (1, vec![(4, 7), (8, 9)]),
                (3, vec![(4, 7), (8, 9)]),
            ]
        );
    }

    #[test]
    fn only_packets_in_order_without_a_gap_above_are_delayed() {
        let none = Flags::default();
        let mut sink = sink(2);
        let acks = |s: &mut Ns2Sink, n: &[u32]| -> Vec<u32> {
            let packets: Vec<_> = n.iter().map(|&n| (n, none)).collect();
            feed(s, &packets).into_iter().map(|a| a.0).collect()
        };
        assert_eq!(feed(&mut sink, &[(0, Flags::SYN)]).len(), 1);
        assert!(acks(&mut sink, &[1]).is_empty());
        assert_eq!(sink.deadline().at, Time(100_000_000_000));
        assert_eq!(acks(&mut sink, &[2]), [3]);
        assert_eq!(sink.deadline(), Deadline::NEVER);
        assert_eq!(acks(&mut sink, &[5, 3, 4]), [3, 4, 6]);
        // A second copy of the last packet waits, one of an older packet does not.
        assert!(acks(&mut sink, &[5]).is_empty());
        assert_eq!(acks(&mut sink, &[2]), [6]);
        assert_eq!(sink.snapshot().delivered_packets, 5);
        assert_eq!(sink.snapshot().duplicate_packets, 2);
    }

    #[test]
    fn packet_0_is_acknowledged_at_once_whether_or_not_it_is_a_request() {
        let none = Flags::default();
        assert_eq!(feed(&mut sink(2), &[(0, none), (1, none)]), [(1, vec![], false)]);
    }

    #[test]
    fn ecn_echo_lasts_until_the_sender_says_cwr() {
        let mut ce = Flags::ECT;
        ce.set(Flags::CE);
        let cwr = Flags::ECT | Flags::CWR;
        let packets = [(0, Flags::SYN), (1, ce), (2, Flags::ECT), (3, cwr)];
        let echoes: Vec<bool> = feed(&mut sink(1), &packets).into_iter().map(|a| a.2).collect();
        assert_eq!(echoes, [false, true, true, false]);
    }

    /// ns-2 looks at both packets of a delayed acknowledgement: CWR on one does not hide the mark of the other.
    #[test]
    fn a_mark_on_the_held_packet_outlasts_cwr_on_the_next() {
        let mut ce = Flags::ECT;
        ce.set(Flags::CE);
        let cwr = Flags::ECT | Flags::CWR;
        for flags in [[ce, cwr], [cwr, ce]] {
            let packets = [(0, Flags::SYN), (1, flags[0]), (2, flags[1])];
            let echoes: Vec<bool> = feed(&mut sink(2), &packets).into_iter().map(|a| a.2).collect();
            assert_eq!(echoes, [false, true]);
        }
    }
}
