//! A row of the table that samples links.

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
