//! The receiving end of a QUIC flow.
//!
//! What: puts the stream in order and answers with ACK frames.
//!
//! **Source**: RFC 9000 sections 13.2 (when and what is acknowledged), 13.4 (ECN), 19.3 (ACK frames);
//! draft-ietf-quic-ack-frequency (thresholds).
//!
//! **Rule**
//! ```text
//! at once:  the packet after ack_eliciting_threshold others; CE; a number below the largest, or with numbers
//!           missing before it (RFC 9000), or instead of that
//!           largest - smallest unreported missing >= reordering_threshold, where this is given and not 0
//! else:     when the first packet not acknowledged has waited max_ack_delay
//! ranges:   of numbers received, the newest first, each number once in its range
//! delay:    time since the packet with the largest number arrived, in whole units of 8 us
//! ```
//! A number that was received before, or is older than all ranges remembered, is ignored (RFC 9000 section 12.3).
//!
//! Deviations: what `ACK_FREQUENCY` frames would set holds from the first packet. 32 ranges are remembered, without
//! regard to which ACKs have been acknowledged, and the newest four are sent, three with ECN.

use std::sync::Arc;

use super::frames::{FrameSink, FrameStreams};
use super::{ACK_DELAY_UNIT, QuicConfig};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::ranges::Ranges;
use crate::record::FlowSample;
use crate::tcp::segments_of;
use crate::units::{Bytes, Time};
use crate::wire::{AckFrame, Flags, MAX_SACK_BLOCKS, MarkCounts, Options, Packet};

use super::config::{BELOW, HANDSHAKE_BYTES};

/// Ranges of numbers that are remembered.
const REMEMBERED: usize = 32;

/// What a receiver is made of.
#[derive(Clone, Debug)]
pub struct QuicReceiverParts {
    /// Owner.
    pub flow: FlowId,
    /// Settings.
    pub config: QuicConfig,
    /// Payload of the whole transfer, if it is finite.
    pub size: Option<Bytes>,
    /// The frames that come in place of one stream, and when the flow starts.
    pub streams: Option<(FrameStreams, Time)>,
}

/// The receiving end.
#[derive(Debug)]
pub struct QuicReceiver {
    flow: FlowId,
    config: QuicConfig,
    /// Numbers received.
    numbers: Ranges,
    /// Numbers below count as received.
    floor: u32,
    /// When the packet with the largest number arrived.
    largest_at: Time,
    /// The largest number of the last ACK.
    largest_acked: Option<u32>,
    /// Packets received since the last ACK.
    pending: u32,
    deadline: Deadline,
    /// Next segment of the stream expected.
    next: u32,
    /// Segments that arrived out of order.
    early: Ranges,
    /// In place of these, the frames of a call.
    frames: Option<Box<FrameSink>>,
    /// Segments of the whole transfer; `u32::MAX` if endless.
    total: u32,
    total_bytes: u64,
    /// Packets received that were marked as ECN-capable, those of them that had CE.
    counts: MarkCounts,
    received: u64,
    duplicates: u64,
    acks_sent: u64,
}

impl QuicReceiver {
    /// A receiver that has got nothing.
    pub fn new(config_of_flow: &QuicReceiverParts) -> Self {
        let QuicReceiverParts { flow, config, size, streams } = config_of_flow;
        let frames = streams.as_ref().map(|(streams, start)| {
            Box::new(FrameSink::new(Arc::clone(streams), config.segment(), *start))
        });
        Self {
            flow: *flow,
            numbers: Ranges::default(),
            floor: 0,
            largest_at: Time::ZERO,
            largest_acked: None,
            pending: 0,
            deadline: Deadline::NEVER,
            next: 0,
            early: Ranges::default(),
            frames,
            total: size.map_or(u32::MAX, |bytes| segments_of(bytes, config.segment())),
            total_bytes: size.map_or(0, |bytes| bytes.0),
            counts: MarkCounts::default(),
            received: 0,
            duplicates: 0,
            acks_sent: 0,
            config: config.clone(),
        }
    }

    /// Whether the whole of a finite transfer has arrived.
    pub fn is_complete(&self) -> bool {
        self.next == self.total
    }

    fn delivered_bytes(&self) -> u64 {
        if let Some(frames) = &self.frames {
            frames.delivered.0
        } else if self.is_complete() {
            self.total_bytes
        } else {
            u64::from(self.next) * u64::from(self.config.segment())
        }
    }

    /// Payload that has arrived, in order or not.
    fn received_bytes(&self) -> u64 {
        let payload = (self.received - self.duplicates) * u64::from(self.config.segment());
        match &self.frames {
            Some(frames) => frames.arrived,
            None if self.total == u32::MAX => payload,
            None => payload.min(self.total_bytes),
        }
    }

    fn largest(&self) -> Option<u32> {
        self.numbers.as_slice().last().map(|&(_, end)| end - 1)
    }

    /// Enters a packet number; false if it was here before.
    fn enter(&mut self, number: u32) -> bool {
        let mut fresh = false;
        if number >= self.floor {
            self.numbers.insert((number, number + 1), |_, _| fresh = true);
            if self.numbers.as_slice().len() > REMEMBERED {
                self.floor = self.numbers.as_slice()[1].0;
                self.numbers.remove_below(self.floor);
            }
        }
        fresh
    }

    /// Whether a number has been missing so long that an ACK is due (draft-ietf-quic-ack-frequency).
    fn has_long_missing(&self, threshold: u32) -> bool {
        let Some(largest) = self.largest() else { return false };
        // Below what the last ACK made known as missing, nothing is news.
        let reported = self.largest_acked.map_or(0, |acked| acked.saturating_sub(threshold - 1));
        let ranges = self.numbers.as_slice();
        let index = ranges.partition_point(|&(_, end)| end <= reported);
        let missing = match ranges.get(index) {
            Some(&(start, end)) if start <= reported => end,
            _ => reported.max(self.floor),
        };
        missing < largest && largest - missing >= threshold
    }

    /// Puts a segment of the stream in order; false if it was here before.
    fn store(&mut self, segment: u32) -> bool {
        if segment < self.next {
            return false;
        }
        if segment > self.next {
            let mut fresh = false;
            self.early.insert((segment, segment + 1), |_, _| fresh = true);
            return fresh;
        }
        self.next += 1;
        if let Some(end) = self.early.take_front_at(self.next) {
            self.next = end;
        }
        true
    }

    fn on_data(&mut self, packet: &Packet, ctx: &mut EndpointCtx<'_>) {
        let Options::QuicData { segment, frame_part } = packet.options else { return };
        self.received += 1;
        let number = packet.seq;
        let largest_before = self.largest();
        if !self.enter(number) {
            self.duplicates += 1;
            return;
        }
        if largest_before.is_none_or(|largest| number > largest) {
            self.largest_at = ctx.now;
        }
        let is_marked = packet.flags.has(Flags::CE);
        if is_marked || packet.flags.has(Flags::ECT) {
            self.counts.capable += 1;
            self.counts.marked += u32::from(is_marked);
        }
        let is_fresh = match &mut self.frames {
            None => self.store(segment),
            Some(frames) => frames.take(frame_part, self.flow, ctx),
        };
        if !is_fresh {
            self.duplicates += 1;
        }
        self.pending += 1;
        let is_gap = match self.config.reordering_threshold {
            // RFC 9000 section 13.2.1: below the largest, or with numbers missing in between.
            None => number != largest_before.map_or(0, |largest| largest + 1),
            Some(0) => false,
            Some(threshold) => self.has_long_missing(threshold),
        };
        if is_gap || is_marked || self.pending > self.config.ack_eliciting_threshold {
            self.acknowledge(ctx);
        } else if self.pending == 1 {
            self.deadline = Deadline { at: ctx.now + self.config.max_ack_delay, armed: ctx.now };
        }
    }

    fn acknowledge(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.pending = 0;
        self.deadline = Deadline::NEVER;
        let ranges = self.numbers.as_slice();
        let Some((&(first, end), older)) = ranges.split_last() else { return };
        let mut newest = [(0, 0); MAX_SACK_BLOCKS];
        let count = older.len().min(AckFrame::room(self.config.ecn));
        for (slot, &range) in newest[..count].iter_mut().zip(older.iter().rev()) {
            *slot = range;
        }
        let delay = (ctx.now.since(self.largest_at).0 / ACK_DELAY_UNIT.0) as u32;
        let counts = self.config.ecn.then_some(self.counts);
        let size = self.config.ack_size(count as u32);
        let packet = ctx.out.send(self.flow, end - 1, size, Flags::ACK);
        packet.options = Options::QuicAck(AckFrame::new(first, delay, &newest[..count], counts));
        self.acks_sent += 1;
        self.largest_acked = Some(end - 1);
    }
}

impl Endpoint for QuicReceiver {
    fn start(&mut self, _ctx: &mut EndpointCtx<'_>) {}

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if packet.flags.has(Flags::SYN) {
            let size = (HANDSHAKE_BYTES + BELOW) as u16;
            ctx.out.send(self.flow, packet.seq, size, Flags::ACK | Flags::SYN);
            self.acks_sent += 1;
        } else if !packet.is_ack() {
            self.on_data(&packet, ctx);
        }
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.pending > 0 && ctx.now >= self.deadline.at {
            self.acknowledge(ctx);
        }
    }

    fn deadline(&self) -> Deadline {
        self.deadline
    }

    fn is_complete(&self) -> bool {
        Self::is_complete(self)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered_bytes: self.delivered_bytes(),
            held_bytes: self.received_bytes().saturating_sub(self.delivered_bytes()),
            delivered_packets: self.frames.as_ref().map_or(u64::from(self.next), |f| f.delivered.1),
            received_packets: self.received,
            duplicate_packets: self.duplicates,
            acks_sent: self.acks_sent,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.delivered_bytes();
        row.received_bytes = self.received_bytes();
    }
}
