//! The receiving end of a TCP flow.
//!
//! What: puts data in order and answers with acknowledgements.
//!
//! **Source**: RFC 5681 section 4.2 and RFC 9293 section 3.8.6.3 (delayed ACK), RFC 2018 section 4
//! (SACK), Linux 6.12, `net/ipv4/tcp_input.c` (quick ACKs, compressed SACKs; behaviour), RFC 2883 (DSACK), RFC 7323 section 4.3 (which timestamp is echoed), RFC 3168 section 6.1.3 (ECN), RFC 8257
//! section 3.2 (an acknowledgement at once where CE begins or ends); M. Handley et al., SIGCOMM 2017,
//! doi:10.1145/3098822.3098825 (NDP: headers are answered by NACKs).
//!
//! **Rule**
//! ```text
//! at once:   every delayed_ack-th segment in order; out of order; duplicate; filling a gap;
//!            first CE after none or none after CE; last segment of the transfer; SYN
//! quick:     (an option) the first quick_acks at once, and so many again after a duplicate or after a pause of more
//!            than min_rto
//! PSH:       (with `frame_acks` or one of the options of Linux) a segment in order that has it at once
//! sack_delay: (an option) beyond a gap three ACKs at once; then one for all that arrives within
//!            min(sack_delay, RTT / 20); any other ACK ends the wait
//! else:      when the first segment not acknowledged has waited delayed_ack_timeout
//! SACK:      first the block with the segment that caused this ACK, then the blocks most recently
//!            reported first, 3 at most
//! DSACK:     (an option) before them, the segment that has come again
//! echo:      TS.Recent, taken from a segment with seq <= last ACK sent and a timestamp not older; one that
//!            is half a turn of the clock old (134 s) gives way to any (RFC 7323 section 5.5)
//! ECN:       ECE on every ACK from a CE until a CWR
//! AccECN:    (an option, RFC 9768) in place of ECE and CWR the number of CE marks modulo 8 on every ACK
//! trimming:  (an option) a header whose payload was cut off: a NACK of its segment at once, which acknowledges nothing; an
//!            ACK if the segment is here; every marked segment is acknowledged at once
//! AQT:       the time that the segment which caused this ACK waited in queues; none on a delayed ACK's timeout
//! wire size: ack_size + 12 with timestamps + 8 n + 4 with n SACK blocks
//! ```
//! The option of n blocks has 8 n + 2 bytes, and TCP headers are a multiple of four long.
//!
//! Deviations: the window is static; data beyond it is not refused, as no sender sends it.

use std::mem::offset_of;

use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::memory::prefetch;
use crate::ranges::Ranges;
use crate::record::FlowSample;
use crate::tcp::TcpConfig;
use crate::units::{Bytes, Span, Time};
use crate::wire::{
    Flags, MAX_SACK_BLOCKS, Packet, SackBlock, TIMESTAMP_TICK, Timestamps, timestamp,
};

/// Bytes of the timestamp option with its padding (RFC 7323 appendix A).
pub const TIMESTAMP_BYTES: u32 = 12;

/// First value of the counts of AccECN (RFC 9768 section 3.2.1).
pub(super) const FIRST_COUNT: u32 = 5;

/// Blocks reported lately that are remembered: more than one ACK carries, as blocks merge.
const HISTORY: usize = 8;

/// Acknowledgements beyond a gap that do not wait (`TCP_FASTRETRANS_THRESH`).
const DUPLICATES_AT_ONCE: u32 = 3;
/// Most that are withheld (`tcp_comp_sack_nr`).
const MOST_WITHHELD: u32 = 44;

/// What a receiver is made of.
#[derive(Clone, Debug)]
pub struct ReceiverParts {
    /// Owner.
    pub flow: FlowId,
    /// Settings.
    pub config: TcpConfig,
    /// Send SACK blocks.
    pub sack: bool,
    /// Payload of the whole transfer, if it is finite.
    pub size: Option<Bytes>,
}

/// The receiving end. What every packet touches comes first, as in [`super::Sender`].
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    flow: FlowId,
    /// Next segment expected (RCV.NXT).
    next: u32,
    /// Segments received in order and not acknowledged.
    pending: u32,
    delayed_ack: u32,
    ack_size: u32,
    /// Segments of the whole transfer; `u32::MAX` if endless.
    total: u32,
    last_ack_sent: u32,
    mss: u32,
    sack: bool,
    /// Duplicates are reported.
    dsack: bool,
    timestamps: bool,
    /// Acknowledgements carry a count of marks in place of ECE.
    accecn: bool,
    /// There are quick acknowledgements or withheld ones.
    hastes: bool,
    /// ECE is to be set.
    echo_ce: bool,
    /// The last data packet carried CE.
    last_ce: bool,
    history_len: u8,
    /// Segments that arrived out of order.
    early: Ranges,
    deadline: Deadline,
    received: u64,
    acks_sent: u64,
    /// One segment of each of the blocks reported lately, latest first.
    history: [u32; HISTORY],
    // So far what every packet touches.
    delayed_ack_timeout: Span,
    /// When `ts_recent` came: after half a turn of the clock a new timestamp looks older, and is not.
    ts_recent_at: Time,
    ts_recent: u32,
    total_bytes: u64,
    duplicates: u64,
    /// Marked packets, counted from [`FIRST_COUNT`] (`r.cep`).
    marks: u32,
    /// A segment received again that the next acknowledgement reports.
    duplicate: Option<u32>,
    quick_acks: u32,
    /// Acknowledgements that leave at once yet.
    quick: u32,
    sack_delay: Span,
    pause: Span,
    received_at: Time,
    /// Acknowledgements of data out of order since `next` last moved, and those withheld of them.
    duplicates_sent: u32,
    withheld: u32,
    /// Headers whose payload had been cut off.
    trimmed: u64,
}

impl Receiver {
    /// The bytes at its beginning that most packets touch.
    pub const BUSY_BYTES: usize = offset_of!(Self, delayed_ack_timeout);

    /// A receiver that has got nothing.
    pub fn new(setup: &ReceiverParts) -> Self {
        let ReceiverParts { flow, config, sack, size } = setup;
        let total = size.map_or(u32::MAX, |bytes| segments_of(bytes, config.mss));
        Self {
            flow: *flow,
            next: 0,
            early: Ranges::default(),
            history: [0; HISTORY],
            history_len: 0,
            sack: *sack,
            dsack: *sack && config.dsack,
            duplicate: None,
            timestamps: config.timestamps,
            accecn: config.accecn,
            hastes: config.quick_acks > 0 || config.sack_delay > Span::ZERO || config.frame_acks,
            quick: 0,
            quick_acks: config.quick_acks,
            sack_delay: config.sack_delay,
            pause: config.min_rto,
            received_at: Time::ZERO,
            duplicates_sent: 0,
            withheld: 0,
            trimmed: 0,
            marks: FIRST_COUNT,
            echo_ce: false,
            last_ce: false,
            pending: 0,
            delayed_ack: config.delayed_ack.max(1),
            delayed_ack_timeout: config.delayed_ack_timeout,
            deadline: Deadline::NEVER,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            last_ack_sent: 0,
            ack_size: config.ack_size,
            mss: config.mss,
            total,
            total_bytes: size.map_or(0, |bytes| bytes.0),
            received: 0,
            duplicates: 0,
            acks_sent: 0,
        }
    }

    fn delivered_bytes(&self) -> u64 {
        if self.next == self.total {
            self.total_bytes
        } else {
            u64::from(self.next) * u64::from(self.mss)
        }
    }

    /// Payload that has arrived, in order or not.
    fn received_bytes(&self) -> u64 {
        let payload = (self.received - self.duplicates) * u64::from(self.mss);
        // The last segment of a transfer may be shorter.
        if self.total == u32::MAX { payload } else { payload.min(self.total_bytes) }
    }

    fn remember_timestamp(&mut self, seq: u32, ts: u32, now: Time) {
        let not_older = self.ts_recent == 0
            || ts.wrapping_sub(self.ts_recent) < 1 << 31
            || now.since(self.ts_recent_at) >= TIMESTAMP_TICK * (1 << 31);
        if ts != 0 && seq <= self.last_ack_sent && not_older {
            (self.ts_recent, self.ts_recent_at) = (ts, now);
        }
    }

    /// Stores a segment beyond a gap; false if it was here before.
    fn store(&mut self, seq: u32) -> bool {
        let mut fresh = false;
        self.early.insert((seq, seq + 1), |_, _| fresh = true);
        if self.sack {
            self.report_first(seq);
        }
        fresh
    }

    /// Puts the block of `seq` first in the history, each block once.
    fn report_first(&mut self, seq: u32) {
        let block = self.early.find(seq).unwrap_or((seq, seq + 1));
        let mut history = [seq; HISTORY];
        let mut len = 1;
        for &other in &self.history[..usize::from(self.history_len)] {
            let elsewhere = other < block.0 || other >= block.1;
            if elsewhere && len < HISTORY {
                history[len] = other;
                len += 1;
            }
        }
        self.history = history;
        self.history_len = len as u8;
    }

    /// Takes the segments that the filled gap has freed.
    #[cold]
    fn take_freed(&mut self) {
        if let Some(end) = self.early.take_front_at(self.next) {
            self.next = end;
        }
        let next = self.next;
        let len = usize::from(self.history_len);
        let mut remaining = 0;
        for i in 0..len {
            if self.history[i] >= next {
                self.history[remaining] = self.history[i];
                remaining += 1;
            }
        }
        self.history_len = remaining as u8;
    }

    /// The blocks of an acknowledgement that also has to report a duplicate, or the time in queues.
    #[cold]
    #[inline(never)]
    fn fill_rare(&mut self, queued: Option<Span>, packet: &mut Packet) {
        let mut room = MAX_SACK_BLOCKS;
        if let Some(queued) = queued {
            // The option takes the room of a block.
            packet.set_queued(queued);
            room -= 1;
        }
        if self.sack && (!self.early.is_empty() || self.duplicate.is_some()) {
            let first = self.duplicate.take().map(|seq| (seq, seq + 1));
            self.fill_sack(first, room, packet);
        }
    }

    /// Writes at most `most` SACK blocks, of which the first reports a `duplicate` if there is one.
    #[inline(always)]
    fn fill_sack(&self, duplicate: Option<SackBlock>, most: usize, packet: &mut Packet) {
        let mut sack = [duplicate.unwrap_or_default(); MAX_SACK_BLOCKS];
        let first = usize::from(duplicate.is_some());
        let mut count = first;
        let remembered = self.history[..usize::from(self.history_len)]
            .iter()
            .filter_map(|&seq| self.early.find(seq));
        // Blocks that fell out of the history come last, newest data first.
        let early = self.early.as_slice().iter().rev().copied();
        for block in remembered.chain(early) {
            if count == most {
                break;
            }
            // The block that the duplicate lies in follows it.
            if !sack[first..count].contains(&block) {
                sack[count] = block;
                count += 1;
            }
        }
        packet.options.tcp_mut().set_blocks(&sack[..count]);
        packet.size += (8 * count + 4) as u16;
    }

    #[inline]
    fn acknowledge(&mut self, extra: Flags, queued: Option<Span>, ctx: &mut EndpointCtx<'_>) {
        let mut flags = Flags::ACK | extra;
        if self.accecn {
            flags.set_ace(self.marks);
        } else if self.echo_ce {
            flags.set(Flags::ECE);
        }
        let packet = ctx.out.send(self.flow, self.next, self.ack_size as u16, flags);
        if self.timestamps {
            let clocks = Timestamps { sender: self.ts_recent, receiver: timestamp(ctx.now) };
            packet.options.tcp_mut().timestamps = Some(clocks);
            packet.size += TIMESTAMP_BYTES as u16;
        }
        if self.duplicate.is_some() || queued.is_some() {
            self.fill_rare(queued, packet);
        } else if self.sack && !self.early.is_empty() {
            self.fill_sack(None, MAX_SACK_BLOCKS, packet);
        }
        self.acks_sent += 1;
        if self.hastes {
            self.quick = self.quick.saturating_sub(1);
            self.withheld = 0;
        }
        self.pending = 0;
        self.last_ack_sent = self.next;
        self.deadline = Deadline::NEVER;
    }

    /// Whether the acknowledgement of a segment that arrives leaves at once because others did not lately, or because
    /// it is the next one and has PSH, so that the application has read all (Linux 6.7, `tcp_measure_rcv_mss`).
    #[inline(never)]
    fn is_hasty(&mut self, packet: &Packet, now: Time) -> bool {
        let is_next = packet.seq == self.next;
        if self.received == 1 || now.since(self.received_at) > self.pause {
            self.quick = self.quick_acks;
        }
        self.received_at = now;
        if is_next {
            self.duplicates_sent = 0;
        }
        self.quick > 0 || is_next && packet.flags.has(Flags::PUSH)
    }

    /// Whether the acknowledgement of a new segment out of order waits for others.
    #[cold]
    fn withhold(&mut self, packet: &Packet, now: Time) -> bool {
        if self.sack_delay == Span::ZERO || self.withheld >= MOST_WITHHELD {
            return false;
        }
        if self.duplicates_sent < DUPLICATES_AT_ONCE {
            self.duplicates_sent += 1;
            return false;
        }
        self.withheld += 1;
        if self.withheld == 1 {
            let mut wait = self.sack_delay;
            if let Some(Timestamps { receiver, .. }) = packet.timestamps()
                && receiver != 0
            {
                let ticks = timestamp(now).wrapping_sub(receiver);
                wait = wait.min(Span((TIMESTAMP_TICK * u64::from(ticks)).0 / 20));
            }
            let expiry = (now + wait).min(self.deadline.at);
            self.deadline = Deadline { at: expiry, armed: now };
        }
        true
    }

    #[inline]
    fn on_data(&mut self, packet: &Packet, ctx: &mut EndpointCtx<'_>) {
        self.received += 1;
        let seq = packet.seq;
        if self.timestamps
            && let Some(clocks) = packet.timestamps()
        {
            self.remember_timestamp(seq, clocks.sender, ctx.now);
        }
        let ce = packet.flags.has(Flags::CE);
        let ce_changed = ce != self.last_ce;
        if ce {
            self.marks = self.marks.wrapping_add(1);
        }
        self.last_ce = ce;
        if packet.flags.has(Flags::CWR) {
            self.echo_ce = false;
        }
        self.echo_ce |= ce;

        let mut at_once = ce_changed || ce && packet.flags.has(Flags::TRIMMABLE);
        if self.hastes {
            at_once |= self.is_hasty(packet, ctx.now);
        }
        if seq == self.next {
            self.next += 1;
            self.pending += 1;
            at_once |= self.pending >= self.delayed_ack || self.next == self.total;
            if !self.early.is_empty() {
                self.take_freed();
                at_once = true;
            }
        } else {
            if seq > self.next && self.store(seq) {
                if self.hastes && !at_once && self.withhold(packet, ctx.now) {
                    return;
                }
            } else {
                self.duplicates += 1;
                self.quick = self.quick_acks;
                if self.dsack {
                    self.duplicate = Some(seq);
                }
            }
            at_once = true;
        }
        if at_once {
            self.acknowledge(Flags::default(), packet.queued(), ctx);
        } else if self.pending == 1 {
            self.deadline = Deadline { at: ctx.now + self.delayed_ack_timeout, armed: ctx.now };
        }
    }
}

impl Receiver {
    /// The payload of a segment was cut off: the sender learns of it at once, unless the segment is here.
    #[cold]
    #[inline(never)]
    fn on_header(&mut self, packet: &Packet, ctx: &mut EndpointCtx<'_>) {
        self.trimmed += 1;
        let seq = packet.seq;
        if seq < self.next || self.early.find(seq).is_some() {
            return self.acknowledge(Flags::default(), None, ctx);
        }
        ctx.out.send(self.flow, seq, self.ack_size as u16, Flags::ACK | Flags::NACK);
        self.acks_sent += 1;
    }
}

/// Segments of a transfer of `bytes`.
pub(crate) fn segments_of(bytes: Bytes, mss: u32) -> u32 {
    u32::try_from(bytes.0.div_ceil(u64::from(mss.max(1)))).unwrap_or(u32::MAX - 1)
}

impl Endpoint for Receiver {
    fn start(&mut self, _ctx: &mut EndpointCtx<'_>) {}

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if packet.flags.has(Flags::SYN) {
            if let Some(clocks) = packet.timestamps()
                && self.ts_recent == 0
            {
                (self.ts_recent, self.ts_recent_at) = (clocks.sender, ctx.now);
            }
            self.acknowledge(Flags::SYN, packet.queued(), ctx);
        } else if !packet.is_ack() {
            if packet.flags.has(Flags::TRIMMED) {
                self.on_header(&packet, ctx);
            } else {
                self.on_data(&packet, ctx);
            }
        }
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.pending + self.withheld > 0 && ctx.now >= self.deadline.at {
            self.acknowledge(Flags::default(), None, ctx);
        }
    }

    fn deadline(&self) -> Deadline {
        self.deadline
    }

    fn prefetch(&self) {
        self.early.as_slice().last().inspect(|range| prefetch(*range));
    }

    fn is_complete(&self) -> bool {
        Self::is_complete(self)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered_bytes: self.delivered_bytes(),
            held_bytes: self.received_bytes().saturating_sub(self.delivered_bytes()),
            delivered_packets: u64::from(self.next),
            received_packets: self.received,
            duplicate_packets: self.duplicates,
            trimmed_packets: self.trimmed,
            acks_sent: self.acks_sent,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.delivered_bytes();
        row.received_bytes = self.received_bytes();
    }
}

impl Receiver {
    /// Whether the whole of a finite transfer has arrived.
    pub fn is_complete(&self) -> bool {
        self.next == self.total
    }

    /// The next segment expected.
    pub(crate) fn next_expected(&self) -> u32 {
        self.next
    }

    /// Segments that have come, each counted once.
    pub(crate) fn arrived_segments(&self) -> u32 {
        (self.received - self.duplicates) as u32
    }

    /// Acknowledges at once what waits to be acknowledged.
    pub(crate) fn acknowledge_now(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.acknowledge(Flags::default(), None, ctx);
    }

    /// When the pending acknowledgement is due; [`Time::MAX`] if none is.
    pub fn ack_due(&self) -> Time {
        self.deadline.at
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
