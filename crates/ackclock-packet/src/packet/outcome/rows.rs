//! Rows of the tables that the engine records: packets, drops, samples of links.

use crate::units::Time;
use crate::wire::{DropReason, SackBlock};

/// What happened to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// It arrived at the queue.
    Arrival,
    /// Its transmission began.
    Departure,
    /// It was dropped before its transmission.
    Drop,
    /// It was lost on the wire, after its transmission.
    Loss,
}

impl Event {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Departure => "departure",
            Self::Drop => "drop",
            Self::Loss => "loss",
        }
    }
}

/// A row of the `packets` table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRow {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: u32,
    /// What happened.
    pub event: Event,
    /// Index of the flow.
    pub flow: u32,
    /// Segment number, or next segment expected.
    pub seq: u32,
    /// The segment of the stream that it carries, which QUIC numbers apart from packets; else `seq`.
    pub segment: u32,
    /// Header bits.
    pub flags: u16,
    /// Bytes on the wire.
    pub size: u16,
    /// Why it was dropped or lost.
    pub reason: Option<DropReason>,
    /// SACK blocks in use.
    pub sack_count: u8,
    /// SACK blocks.
    pub sack: [SackBlock; 3],
}

/// A row of the `drops` table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRow {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Segment number, or next segment expected.
    pub seq: u32,
    /// Whether it was an acknowledgement.
    pub is_ack: bool,
    /// Bytes on the wire.
    pub size: u16,
    /// Why.
    pub reason: DropReason,
}

/// A link at a sampling time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkSample {
    /// Packets waiting.
    pub queue_packets: u32,
    /// Bytes waiting.
    pub queue_bytes: u64,
    /// Bytes whose transmission has begun.
    pub departed_bytes: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Packets marked.
    pub marks: u64,
}
