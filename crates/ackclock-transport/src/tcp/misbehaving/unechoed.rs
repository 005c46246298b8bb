//! A receiver that does not report ECN marks.
//!
//! What: its sender never learns of a CE mark, by ECN-Echo or by AccECN's counts.
//!
//! **Source**: RFC 3168 section 8.1; N. Spring, D. Wetherall, D. Ely, RFC 3540, section 1
//!
//! **Rule**
//! ```text
//! every data packet is taken as if it had no CE mark
//! ```

use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::record::FlowSample;
use crate::tcp::Receiver;
use crate::wire::{Flags, Packet};

/// The receiver around one that follows the rules.
#[derive(Debug)]
pub(super) struct Unechoed {
    inner: Receiver,
}

impl Unechoed {
    /// Hides marks from `inner`.
    pub(super) fn new(inner: Receiver) -> Self {
        Self { inner }
    }
}

impl Endpoint for Unechoed {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.inner.start(ctx);
    }

    fn on_packet(&mut self, mut packet: Packet, ctx: &mut EndpointCtx<'_>) {
        packet.flags.clear(Flags::CE);
        self.inner.on_packet(packet, ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.inner.on_timer(ctx);
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
