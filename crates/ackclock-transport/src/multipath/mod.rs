//! Connections over several paths: their subflows are TCP flows, and one stream of data is divided among them.
//!
//! What: each subflow has a sender and a receiver of `tcp`, with sequence numbers, round trips, a window and loss recovery. Its
//! segments carry segments of the connection, numbered from 0; the receiver delivers these in order.
//!
//! **Source**: RFC 8684 (MPTCP v1), sections 3.3 (mapping, acknowledgement, receive window, retransmission) and 3.3.8
//! (data of a subflow is acknowledged by itself); the schedulers of Linux's MPTCP v0.95 (`default`, `roundrobin`, `redundant`;
//! behaviour), C. Paasch, S. Ferlin, O. Alay, O. Bonaventure, "Experimental Evaluation of Multipath TCP Schedulers", CSWS 2014,
//! doi:10.1145/2630088.2631977.
//!
//! **Rule**
//! ```text
//! window:      the segments of a connection beyond those acknowledged to it fit into one receiver window
//! data:        a subflow whose window has room takes the next segments, up to what siblings with room come before it for:
//!              lowest-rtt: those with a shorter smoothed round trip; round-robin: one segment each in turn
//! redundant:   each subflow sends all segments in order, but for those acknowledged to the connection by then
//! again:       at each timeout of a subflow other subflows send what it has outstanding before new segments
//! received:    in order on its subflow, then in order of the connection; what has come before is discarded
//! acknowledgement: every one carries the next segment that the connection expects
//! end:         when all is acknowledged to the connection its subflows end, each when its own segments are acknowledged
//! ```
//!
//! Deviations: a segment of a subflow carries one of the connection, whole. MPTCP's options take no room on the wire unless
//! `tcp.header` says so, but one SACK block fewer fits. Subflows open their connections by themselves (`after` delays
//! one), without keys and addresses. No checksum, no priorities, no opportunistic retransmission and penalty where the receiver's
//! window is full (Raiciu et al., NSDI 2012).

mod receiver;
mod repeats;
mod scheduler;
mod sender;

pub use receiver::{ReceivingSide, SubflowReceiver};
pub use sender::{SendingSide, SubflowSender};

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::scenario::Scheduler;
use crate::tcp::segments_of;
use crate::units::Bytes;

/// What is to be sent, and how.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionParts {
    /// Which subflow gets data.
    pub scheduler: Scheduler,
    /// Number of subflows.
    pub subflows: usize,
    /// Payload to transfer; `None`: endless.
    pub size: Option<Bytes>,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The receiver's window in segments.
    pub receiver_window: u32,
}

impl ConnectionParts {
    /// Segments of the whole; `u32::MAX` if endless.
    fn total(&self) -> u32 {
        self.size.map_or(u32::MAX, |size| segments_of(size, self.mss))
    }

    /// Bytes by which the last segment is shorter than the others.
    pub fn missing_bytes(&self) -> u32 {
        let Some(Bytes(size)) = self.size else { return 0 };
        let whole = u64::from(self.total()) * u64::from(self.mss);
        whole.saturating_sub(size) as u32
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
