//! Bursts as segmentation offload makes them: how many segments a burst has, and when it waits for more room.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_output.c` (behaviour of `tcp_tso_autosize` and `tcp_tso_should_defer`) and
//! `tcp_input.c` (`tcp_update_pacing_rate`); `Documentation/networking/ip-sysctl.rst`: `tcp_min_tso_segs` 2,
//! `tcp_tso_rtt_log` 9, `tcp_tso_win_divisor` 3, `tcp_pacing_ss_ratio` 200, `tcp_pacing_ca_ratio` 120.
//!
//! **Rule** (room = min(cwnd - pipe, receiver window - outstanding), rate = ratio max(cwnd, outstanding) MSS / SRTT)
//! ```text
//! ratio:  2 while cwnd < ssthresh / 2, else 1.2
//! burst:  (rate x 2^-10 s + 64 KiB / 2^(min RTT / 512 us)) in whole segments, at least 2, at most 64 KiB
//! leaves: room >= burst, or a third of the window, or what is left of a transfer; in recovery always
//!         or nothing left for 1 ms, or the next ACK is further off than min(1 ms, SRTT/2)
//! else:   new data waits for the next ACK
//! ```
//! The next ACK is expected an SRTT after the first outstanding segment left. The last segment of a burst of several has PSH
//! (`__tcp_transmit_skb`).

use super::Sender;
use crate::outbox::Outbox;
use crate::recovery::Phase;
use crate::units::{Span, Time};
use crate::wire::Flags;

/// Bytes of the largest burst (`GSO_LEGACY_MAX_SIZE`).
const LARGEST: f64 = 65_536.0;
/// Seconds of data in a burst, `sk_pacing_shift`.
const SECONDS: f64 = 1.0 / 1024.0;
const FEWEST: f64 = 2.0;
const FRACTION: u32 = 3;
const PATIENCE: Span = Span::from_millis(1);
/// A smallest round trip so long halves what a burst may have beyond `SECONDS`.
const HALVES: Span = Span::from_micros(512);

/// The bursts that leave in one call, counted by what may yet leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    /// What may yet leave when the present burst began, and when it is complete.
    begin: u32,
    pub(super) end: u32,
    /// What could when it was last looked at.
    seen: u32,
    /// Packets that have left in the call, the last new segment included.
    last: usize,
}

impl Bursts {
    pub(super) fn new(left: u32) -> Self {
        Self { begin: left, end: left, seen: left, last: 0 }
    }

    /// So much may yet leave.
    pub(super) fn note(&mut self, left: u32, out: &Outbox) {
        if left < self.seen {
            (self.seen, self.last) = (left, out.sent().len());
        }
    }

    /// The present burst is complete: of several segments the last has PSH.
    pub(super) fn close(&mut self, left: u32, out: &mut Outbox) {
        if self.begin - left > 1
            && let Some(packet) = out.sent_mut().get_mut(self.last.wrapping_sub(1))
        {
            packet.flags.set(Flags::PUSH);
        }
        self.begin = left;
    }
}

impl Sender {
    /// Segments of a full burst.
    fn full_burst(&self) -> u32 {
        let mss = f64::from(self.config.mss);
        let srtt = self.rto.srtt().seconds();
        let mut bytes = LARGEST;
        if srtt > 0.0 {
            let starts = self.window.cwnd < self.window.ssthresh / 2.0;
            let ratio = if starts { 2.0 } else { 1.2 };
            let window = self.window.cwnd.max(f64::from(self.board.outstanding()));
            let halvings = (self.min_rtt().0 / HALVES.0).min(64) as i32;
            bytes = ratio * window * mss / srtt * SECONDS + LARGEST * 0.5f64.powi(halvings);
        }
        (bytes.min(LARGEST) / mss).floor().max(FEWEST) as u32
    }

    /// Segments that leave together now; 0: new data waits for the next acknowledgement.
    #[inline(never)]
    pub(super) fn burst_now(&self, now: Time) -> u32 {
        if self.recovery.phase() != Phase::Open || self.board.outstanding() == 0 {
            return u32::MAX;
        }
        let cwnd = self.window.cwnd.max(1.0) as u32;
        let window = self.receive_window();
        let room = cwnd
            .saturating_sub(self.recovery.pipe(&self.board))
            .min(window.saturating_sub(self.board.outstanding()));
        let full = self.full_burst();
        let left = self.transfer.available - self.board.nxt();
        if room >= full.min(left) || room >= cwnd.min(window) / FRACTION {
            return full;
        }
        let srtt = self.rto.srtt();
        let expected = self.board.sent_at(self.board.una()) + srtt;
        let soon = now + PATIENCE.min(Span(srtt.0 / 2));
        if now > self.last_sent_at + PATIENCE || expected > soon { full } else { 0 }
    }
}
