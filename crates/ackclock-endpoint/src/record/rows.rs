//! Rows of the tables of events, and their columns.

use super::column::Columned;
use crate::columns;
use crate::ids::FlowId;
use crate::units::{Span, Time};
use crate::wire::{DropReason, SackBlock};

/// A row of a table that is recorded event by event.
pub trait Row: Columned {
    /// When the event was.
    fn time(&self) -> Time;

    /// Which of several rows of one time is first: the lower.
    fn rank(&self) -> (bool, u32);

    /// The flow, whose rows may be left out.
    fn flow(&self) -> FlowId;
}

/// Rows of flows: ordered by time, then by flow.
macro_rules! rows_of_flows {
    ($($row:ty),+) => {
        $(impl Row for $row {
            fn time(&self) -> Time {
                self.at
            }

            fn rank(&self) -> (bool, u32) {
                (false, self.flow.0)
            }

            fn flow(&self) -> FlowId {
                self.flow
            }
        })+
    };
}

rows_of_flows!(WindowRow, RttRow, StateRow, LayersRow, FrameRow, ProbeRow);

/// A row of the `windows` table, written after every acknowledgement and timeout when recorded exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRow {
    /// Time of the event.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// cwnd in segments.
    pub cwnd: f64,
    /// ssthresh in segments.
    pub ssthresh: f64,
    /// Segments in flight.
    pub in_flight: u32,
    /// Next expected segment at the receiver, as acknowledged.
    pub acked: u32,
}

columns!(WindowRow, (_), {
    /// When.
    time_s: F64 = |r| r.at.seconds(),
    /// The flow.
    flow: U32 = |r| r.flow.0,
    /// Congestion window.
    cwnd_segments: F64 = |r| r.cwnd,
    /// Slow start threshold.
    ssthresh_segments: F64 = |r| r.ssthresh,
    /// Sent and neither acknowledged nor declared lost.
    in_flight_segments: U32 = |r| r.in_flight,
    /// The next segment that the receiver expects, as acknowledged.
    acked: U32 = |r| r.acked,
});

/// An RTT sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttRow {
    /// Time of the event.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// The sample.
    pub rtt: Span,
}

columns!(RttRow, (_), {
    /// When the acknowledgement came.
    time_s: F64 = |r| r.at.seconds(),
    /// The flow.
    flow: U32 = |r| r.flow.0,
    /// Round-trip time.
    rtt_s: F64 = |r| r.rtt.seconds(),
});

/// A sender's change of state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateRow {
    /// Time of the event.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// The state entered: `slow-start`, `avoidance`, `recovery`, `loss`, `idle`, `done`, or a state of the control.
    pub state: &'static str,
}

columns!(StateRow, (_), {
    /// When.
    time_s: F64 = |r| r.at.seconds(),
    /// The flow.
    flow: U32 = |r| r.flow.0,
    /// The state entered: `slow-start`, `avoidance`, `recovery`, `loss`, `idle`, `done`, or a state of the control.
    state: Text = |r| r.state,
});

/// A change of the layers that a receiver of a multicast group holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayersRow {
    /// Time of the event.
    pub at: Time,
    /// The flow whose packets reach the receiver.
    pub flow: FlowId,
    /// Layers held from now on.
    pub layers: u32,
}

columns!(LayersRow, (_), {
    /// When.
    time_s: F64 = |r| r.at.seconds(),
    /// The flow whose packets reach the receiver.
    flow: U32 = |r| r.flow.0,
    /// Layers held from then on.
    layers: U32 = |r| r.layers,
});

/// A frame of audio or video that is delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRow {
    /// When it is delivered.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// Which of its streams.
    pub stream: u32,
    /// Number of the frame in its stream.
    pub frame: u32,
    /// When it was made.
    pub made: Time,
    /// Payload [bytes].
    pub size: u32,
}

columns!(FrameRow, (names), {
    /// When it was delivered.
    time_s: F64 = |r| r.at.seconds(),
    /// The flow.
    flow: U32 = |r| r.flow.0,
    /// The stream.
    stream: Names = |r| names.stream(r.flow, r.stream),
    /// Number of the frame in its stream.
    frame: U32 = |r| r.frame,
    /// When it was made.
    made_s: F64 = |r| r.made.seconds(),
    /// From when it was made to its delivery.
    delay_s: F64 = |r| r.at.since(r.made).seconds(),
    /// Payload.
    size_bytes: U32 = |r| r.size,
});

/// A change of a control's inner state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeRow {
    /// Time of the event.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// Which of the control's variables.
    pub probe: &'static str,
    /// What it is from now on; NaN: it has no value.
    pub value: f64,
}

columns!(ProbeRow, (_), {
    /// When.
    time_s: F64 = |r| r.at.seconds(),
    /// The flow.
    flow: U32 = |r| r.flow.0,
    /// Which of the control's variables; its name ends in its unit.
    probe: Text = |r| r.probe,
    /// What it was from then on; NaN: it had no value.
    value: F64 = |r| r.value,
});

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
    /// So many of its bytes were cut off where it waits.
    Trim,
}

impl Event {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Departure => "departure",
            Self::Drop => "drop",
            Self::Loss => "loss",
            Self::Trim => "trim",
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

impl Row for PacketRow {
    fn time(&self) -> Time {
        self.at
    }

    // A packet that passes an empty queue arrives before it departs.
    fn rank(&self) -> (bool, u32) {
        (self.event == Event::Departure, self.link)
    }

    fn flow(&self) -> FlowId {
        FlowId(self.flow)
    }
}

columns!(PacketRow, (_), {
    /// When.
    time_s: F64 = |r| r.at.seconds(),
    /// The link.
    link: U32 = |r| r.link,
    /// The flow.
    flow: U32 = |r| r.flow,
    /// `arrival` at the queue, `departure` (its transmission began), `drop` before it, `loss` on the wire.
    event: Text = |r| r.event.name(),
    /// Segment number, or the next segment expected.
    seq: U32 = |r| r.seq,
    /// Whether it is an acknowledgement.
    is_ack: Bool = |r| r.flags & 1 == 1,
    /// Header bits.
    flags: U32 = |r| u32::from(r.flags),
    /// Size on the wire.
    size_bytes: U32 = |r| u32::from(r.size),
    /// SACK blocks in use.
    sack_count: U32 = |r| u32::from(r.sack_count),
    /// First segment of the first block.
    sack1_start: U32 = |r| r.sack[0].0,
    /// The segment after its last.
    sack1_end: U32 = |r| r.sack[0].1,
    /// First segment of the second block.
    sack2_start: U32 = |r| r.sack[1].0,
    /// The segment after its last.
    sack2_end: U32 = |r| r.sack[1].1,
    /// First segment of the third block.
    sack3_start: U32 = |r| r.sack[2].0,
    /// The segment after its last.
    sack3_end: U32 = |r| r.sack[2].1,
});

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

impl Row for DropRow {
    fn time(&self) -> Time {
        self.at
    }

    fn rank(&self) -> (bool, u32) {
        (false, self.link)
    }

    fn flow(&self) -> FlowId {
        FlowId(self.flow)
    }
}

columns!(DropRow, (_), {
    /// When.
    time_s: F64 = |r| r.at.seconds(),
    /// The link.
    link: U32 = |r| r.link,
    /// The flow.
    flow: U32 = |r| r.flow,
    /// Segment number, or the next segment expected.
    seq: U32 = |r| r.seq,
    /// Whether it was an acknowledgement.
    is_ack: Bool = |r| r.is_ack,
    /// Size on the wire.
    size_bytes: U32 = |r| u32::from(r.size),
    /// Why: the names of `drops_...` in the table `links`.
    reason: Text = |r| r.reason.name(),
});
