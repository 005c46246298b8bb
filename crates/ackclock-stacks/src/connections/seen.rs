//! What a congestion controller was last called with, for those who watch it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes and counts of a watched controller.
#[derive(Debug, Default)]
pub(super) struct Seen {
    in_flight: AtomicU64,
    acked: AtomicU64,
    reductions: AtomicU64,
    lost: AtomicU64,
    rtt_min_ns: AtomicU64,
}

impl Seen {
    /// Bytes in flight.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Bytes acknowledged in total.
    pub(super) fn acked(&self) -> u64 {
        self.acked.load(Ordering::Relaxed)
    }

    /// Congestion events that reduced the window.
    pub(super) fn reductions(&self) -> u64 {
        self.reductions.load(Ordering::Relaxed)
    }

    /// Packets declared lost, where the library reports them one by one.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Shortest round trip in nanoseconds, as of the last acknowledgement.
    pub(super) fn rtt_min_ns(&self) -> u64 {
        self.rtt_min_ns.load(Ordering::Relaxed)
    }

    pub(super) fn sends(&self, bytes: u64) {
        self.in_flight.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn acknowledges(&self, bytes: u64, rtt_min: std::time::Duration) {
        self.acked.fetch_add(bytes, Ordering::Relaxed);
        self.rtt_min_ns.store(rtt_min.as_nanos() as u64, Ordering::Relaxed);
    }

    pub(super) fn ends_acks(&self, in_flight: u64) {
        self.in_flight.store(in_flight, Ordering::Relaxed);
    }

    pub(super) fn loses_packet(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// A congestion event in which this many bytes were lost took the window from one size to another.
    pub(super) fn reduces(&self, lost: u64, before: u64, after: u64) {
        self.in_flight.fetch_sub(lost.min(self.in_flight()), Ordering::Relaxed);
        if after < before {
            self.reductions.fetch_add(1, Ordering::Relaxed);
        }
    }
}
