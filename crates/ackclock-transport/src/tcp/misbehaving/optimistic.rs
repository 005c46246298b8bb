//! A receiver that acknowledges what has not arrived.
//!
//! What: hides losses, and with segments ahead makes the round trip look shorter.
//!
//! **Source**: S. Savage, N. Cardwell, D. Wetherall, T. Anderson, "TCP Congestion Control with a Misbehaving
//! Receiver", ACM CCR 29(5), 1999, section 2.3, doi:10.1145/505696.505704
//!
//! **Rule**
//! ```text
//! h    one past the highest segment that has arrived
//! acknowledgement: h + ahead in place of the next segment expected, no SACK blocks
//! ```
//! At most the end of a finite transfer is acknowledged. A sender ignores an acknowledgement of what it has not
//! sent (RFC 9293 section 3.10.7.4), so that too many segments ahead stop the flow until its timeout.

use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::record::FlowSample;
use crate::tcp::ReceiverParts;
use crate::tcp::receiver::segments_of;
use crate::wire::{Flags, Packet};

/// The receiver around `inner`.
#[derive(Debug)]
pub(super) struct Optimistic<R> {
    inner: R,
    ahead: u32,
    highest: u32,
    total: u32,
}

impl<R: Endpoint> Optimistic<R> {
    /// Acknowledges `ahead` segments beyond the highest that has arrived.
    pub(super) fn new(inner: R, ahead: u32, setup: &ReceiverParts) -> Self {
        let total = setup.size.map_or(u32::MAX, |bytes| segments_of(bytes, setup.config.mss));
        Self { inner, ahead, highest: 0, total }
    }

    fn claim(&self, ctx: &mut EndpointCtx<'_>) {
        let claimed = self.highest.saturating_add(self.ahead).min(self.total);
        for packet in ctx.out.sent_mut() {
            if self.highest > 0 && packet.is_ack() && !packet.flags.has(Flags::SYN) {
                packet.seq = packet.seq.max(claimed);
                let blocks = packet.sack_blocks().len() as u16;
                if blocks > 0 {
                    packet.size -= 8 * blocks + 4;
                    packet.options.tcp_mut().set_blocks(&[]);
                }
            }
        }
    }
}

impl<R: Endpoint> Endpoint for Optimistic<R> {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.inner.start(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if !packet.is_ack() && !packet.flags.has(Flags::SYN) {
            self.highest = self.highest.max(packet.seq + 1);
        }
        self.inner.on_packet(packet, ctx);
        self.claim(ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.inner.on_timer(ctx);
        self.claim(ctx);
    }

    fn deadline(&self) -> Deadline {
        self.inner.deadline()
    }

    fn is_complete(&self) -> bool {
        self.inner.is_complete()
    }

    fn prefetch(&self) {
        self.inner.prefetch();
    }

    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }

    fn sample(&self, row: &mut FlowSample) {
        self.inner.sample(row);
    }
}
