//! What a packet carries beside its header, by transport.
//!
//! Whether something is there is a case of a type, never the value of another field: 0 is a delay, a segment, a
//! count like any other.

/// Most SACK blocks that one acknowledgement carries (RFC 2018 with room for timestamps).
pub const MAX_SACK_BLOCKS: usize = 3;

/// A block of received segments: first, and one past the last.
pub type SackBlock = (u32, u32);

/// What a packet carries for the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Options {
    /// Nothing.
    #[default]
    None,
    /// TCP's options.
    Tcp(TcpOptions),
    /// Data of a QUIC stream.
    QuicData {
        /// Segment of the stream.
        segment: u32,
        /// The part of a frame that it holds, in a call.
        frame_part: Option<FramePart>,
    },
    /// An ACK frame of QUIC.
    QuicAck(AckFrame),
    /// A `STOP_SENDING` frame of QUIC; the stream is the packet's `seq`.
    StopSending {
        /// Group of frames that is cancelled.
        group: u32,
    },
    /// Data of TFRC.
    TfrcData {
        /// The sender's clock, in ticks.
        clock: u32,
        /// Round-trip time, in ticks; 0: not known yet.
        round_trip: u32,
    },
    /// A report of TFRC's receiver.
    TfrcReport {
        /// Clock of the last data packet.
        echo: u32,
        /// Ticks since its arrival.
        delay: u32,
        /// Rate received \[B/s\].
        rate: f32,
        /// Loss event rate.
        p: f32,
    },
    /// The rate at which packets arrive, as a receiver reports it \[bit/s\].
    Goodput(f32),
    /// The place of bytes that are kept elsewhere until the packet leaves the network.
    Place(u32),
    /// When a datagram was sent: upper and lower half of the picoseconds. It takes no room on the wire.
    Sent([u32; 2]),
}

/// TCP's timestamp option in either direction (RFC 7323).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// Clock of the sender of data, which an ACK echoes; 0: nothing to echo.
    pub sender: u32,
    /// Clock of the receiver of data, which data echo; 0: nothing to echo.
    pub receiver: u32,
}

/// Options of TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    space: Places,
}

/// Part of a frame of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramePart {
    /// Stream.
    pub stream: u32,
    /// Number of the frame.
    pub frame: u32,
    /// Place of the part in its frame, in bytes.
    pub offset: u32,
    /// Bytes of the frame.
    pub size: u32,
}

/// What a packet says of the credit that a receiver gives its sender, in units of [`CREDIT_UNIT`] from the beginning of the flow,
/// modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditOption {
    /// Of data: up to where the sender has use for credit. Of a grant: up to where it has been given.
    pub total: u32,
    /// Of data: it left without credit, when the timer ran out.
    pub is_without: bool,
}

/// Bytes of a unit of credit.
pub const CREDIT_UNIT: u64 = 256;

/// Counts of ECN in an ACK frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkCounts {
    /// Packets received that were ECN-capable, those with CE included.
    pub capable: u32,
    /// Those of them with CE.
    pub marked: u32,
}

/// An ACK frame of QUIC (RFC 9000 section 19.3); the largest number is the packet's `seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFrame {
    /// Smallest number of the range that ends with the largest.
    pub first: u32,
    /// The delay of the ACK in units of 8 us.
    pub delay: u32,
    space: Places,
}

/// Blocks, and in the last place something else where there is something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Places {
    Blocks { count: u8, blocks: [SackBlock; MAX_SACK_BLOCKS] },
    Queued { count: u8, blocks: [SackBlock; MAX_SACK_BLOCKS - 1], ticks: u32 },
    Counts { count: u8, blocks: [SackBlock; MAX_SACK_BLOCKS - 1], counts: MarkCounts },
    Connection { count: u8, blocks: [SackBlock; MAX_SACK_BLOCKS - 1], segment: u32 },
    Credit { count: u8, blocks: [SackBlock; MAX_SACK_BLOCKS - 1], credit: CreditOption },
}

impl Default for Places {
    fn default() -> Self {
        Self::Blocks { count: 0, blocks: [(0, 0); MAX_SACK_BLOCKS] }
    }
}

/// The first of `blocks` that find a place, and how many do.
fn fill<const N: usize>(blocks: &[SackBlock]) -> (u8, [SackBlock; N]) {
    let mut entries = [(0, 0); N];
    let count = blocks.len().min(N);
    entries[..count].copy_from_slice(&blocks[..count]);
    (count as u8, entries)
}

impl Places {
    #[inline]
    fn blocks(&self) -> &[SackBlock] {
        match self {
            Self::Blocks { count, blocks } => &blocks[..usize::from(*count)],
            Self::Queued { count, blocks, .. }
            | Self::Counts { count, blocks, .. }
            | Self::Connection { count, blocks, .. }
            | Self::Credit { count, blocks, .. } => &blocks[..usize::from(*count)],
        }
    }
}

impl TcpOptions {
    /// SACK blocks, most recent first.
    #[inline]
    pub fn blocks(&self) -> &[SackBlock] {
        self.space.blocks()
    }

    /// Puts these SACK blocks on; those that find no place are left out.
    #[inline]
    pub fn set_blocks(&mut self, new: &[SackBlock]) {
        self.space = if let Places::Queued { ticks, .. } = self.space {
            let (count, blocks) = fill(new);
            Places::Queued { count, blocks, ticks }
        } else {
            let (count, blocks) = fill(new);
            Places::Blocks { count, blocks }
        };
    }

    /// Puts the time spent in queues on, in ticks; the last block gives it its place.
    pub fn set_queued(&mut self, ticks: u32) {
        let (count, blocks) = fill(self.space.blocks());
        self.space = Places::Queued { count, blocks, ticks };
    }

    /// Puts the number of a connection's segment on (MPTCP's DSS option): of data the segment itself, of an acknowledgement
    /// the next one expected. The last block gives it its place.
    pub fn set_segment_of_connection(&mut self, segment: u32) {
        let (count, blocks) = fill(self.space.blocks());
        self.space = Places::Connection { count, blocks, segment };
    }

    /// Puts on what a sender or a receiver says of credit. The last block gives it its place.
    pub fn set_credit(&mut self, credit: CreditOption) {
        let (count, blocks) = fill(self.space.blocks());
        self.space = Places::Credit { count, blocks, credit };
    }

    /// What it says of credit, if it does.
    pub fn credit(&self) -> Option<CreditOption> {
        match self.space {
            Places::Credit { credit, .. } => Some(credit),
            _ => None,
        }
    }

    /// The number of a connection's segment, if it is there.
    pub fn segment_of_connection(&self) -> Option<u32> {
        match self.space {
            Places::Connection { segment, .. } => Some(segment),
            _ => None,
        }
    }
}

impl AckFrame {
    /// A frame with the newest of the `older` ranges, newest first, that find a place: three, with ECN two.
    pub fn new(first: u32, delay: u32, older: &[SackBlock], counts: Option<MarkCounts>) -> Self {
        let encoded = if let Some(counts) = counts {
            let (count, blocks) = fill(older);
            Places::Counts { count, blocks, counts }
        } else {
            let (count, blocks) = fill(older);
            Places::Blocks { count, blocks }
        };
        Self { first, delay, space: encoded }
    }

    /// How many older ranges find a place.
    pub fn room(ecn: bool) -> usize {
        MAX_SACK_BLOCKS - usize::from(ecn)
    }

    /// Ranges of numbers below the first one, newest first.
    pub fn older(&self) -> &[SackBlock] {
        self.space.blocks()
    }

    /// The counts of ECN, if it has them.
    pub fn counts(&self) -> Option<MarkCounts> {
        match self.space {
            Places::Counts { counts, .. } => Some(counts),
            _ => None,
        }
    }
}

impl Options {
    /// TCP's options, to be written; without any they begin empty.
    #[inline]
    pub fn tcp_mut(&mut self) -> &mut TcpOptions {
        if !matches!(self, Self::Tcp(_)) {
            *self = Self::Tcp(TcpOptions::default());
        }
        match self {
            Self::Tcp(options) => options,
            _ => unreachable!("they were just put there"),
        }
    }

    /// The segment of a QUIC stream, if it is data of one.
    #[inline]
    pub fn segment(&self) -> Option<u32> {
        match self {
            Self::QuicData { segment, .. } => Some(*segment),
            _ => None,
        }
    }

    /// Ticks spent in queues, if the option for that is there.
    #[inline]
    pub(super) fn queued(&self) -> Option<u32> {
        match self {
            Self::Tcp(TcpOptions { space: Places::Queued { ticks, .. }, .. }) => Some(*ticks),
            _ => None,
        }
    }

    /// Blocks of numbers as the table of packets has them: SACK blocks, further ranges of an ACK frame, the part of
    /// a frame.
    pub fn recorded_blocks(&self) -> (u8, [SackBlock; MAX_SACK_BLOCKS]) {
        match self {
            Self::Tcp(options) => fill(options.blocks()),
            Self::QuicAck(frame) => fill(frame.older()),
            Self::QuicData { frame_part: Some(chunk), .. } => {
                fill(&[(chunk.stream, chunk.frame), (chunk.offset, chunk.size)])
            }
            Self::TfrcReport { rate, p, .. } => fill(&[(rate.to_bits(), p.to_bits())]),
            Self::Goodput(rate) => fill(&[(rate.to_bits(), 0)]),
            _ => (0, [(0, 0); MAX_SACK_BLOCKS]),
        }
    }
}
