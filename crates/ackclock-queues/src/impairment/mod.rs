//! ROOM: impairments. What the wire of a link does to packets that the transmitter has let go.
//!
//! A link may have a list of them. Each sees a packet at the end of its transmission, or at the time
//! to which the impairment before it has held it, and decides: hold it longer, lose it, copy it. A packet
//! that is released takes the link's propagation delay to the far end, so nothing here can be sooner than
//! that. Random numbers are a stream of the link's own; a link without impairments costs nothing.
//!
//! A new impairment: one file here that implements [`About`](crate::registry::About) and [`Impairment`],
//! and one line in the registry at the end of this file.

pub mod aggregation;
pub mod arq;
pub mod delay_steps;
pub mod duplicate;
pub mod gilbert_elliott;
pub mod jitter;
mod order;
pub mod reorder;
pub mod wifi;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod testing;

use crate::rng::Stream;
use crate::units::{Span, Time};
use crate::wire::Packet;

/// What a new impairment knows about its link.
#[derive(Clone, Copy, Debug)]
pub struct ImpairmentEnv {
    /// Propagation delay.
    pub delay: Span,
}

/// What becomes of a packet: decided by the impairments of a link one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// When it is released to the wire; not before its transmission has ended.
    pub release: Time,
    /// It is lost instead of being released.
    pub is_lost: bool,
    /// Further copies that are released with it.
    pub copies: u32,
    /// An acknowledgement takes the place of one of the same flow that is still held.
    pub replaces_ack: bool,
}

impl Fate {
    /// A packet whose transmission ended at `sent` and that nothing has happened to.
    pub fn at(sent: Time) -> Self {
        Self { release: sent, is_lost: false, copies: 0, replaces_ack: false }
    }

    /// Holds the packet for `span` more.
    pub fn hold(&mut self, span: Span) {
        self.release = Time(self.release.0.saturating_add(span.0));
    }
}

/// An impairment of a link.
pub trait Impairment: Send {
    /// A packet comes: changes its `fate`. Not called for a packet that is lost already.
    fn pass(&mut self, packet: &Packet, fate: &mut Fate, rng: &mut Stream);
}

crate::registry! {
    /// Builds an impairment by name.
    "impairment": dyn Impairment, ImpairmentEnv {
        "impairment/jitter.rs" => jitter::Jitter,
        "impairment/wifi.rs" => wifi::Wifi,
        "impairment/delay_steps.rs" => delay_steps::DelaySteps,
        "impairment/reorder.rs" => reorder::Reorder,
        "impairment/duplicate.rs" => duplicate::Duplicate,
        "impairment/gilbert_elliott.rs" => gilbert_elliott::GilbertElliott,
        "impairment/arq.rs" => arq::Arq,
        "impairment/aggregation.rs" => aggregation::Aggregation,
    }
}
