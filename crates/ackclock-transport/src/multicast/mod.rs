//! ROOM: receiver-driven layer controls. How many layers of a multicast group a receiver holds.
//!
//! The source of a group sends all its layers at constant rates. Layers are cumulative: a receiver that
//! holds n of them receives layers 1 to n, so its rate is B(n) = L(1) + ... + L(n). Its control decides n
//! from what arrives; joins and leaves travel up the tree as messages (`receiver.rs`).
//!
//! A new control: one file here that implements [`About`](crate::registry::About) and [`LayerControl`], and
//! one line in the registry at the end of this file.

pub mod all;
pub mod fixed;
pub mod plm;
mod receiver;
pub mod rlm;
mod source;

pub use receiver::{Receiver, ReceiverParts};
pub use source::Source;

use crate::rng::Stream;
use crate::units::{BitRate, Span, Time};

/// Bits of a packet's sequence number that number the packets of a layer; the layer is above them.
const NUMBER_BITS: u32 = 27;

/// Most layers of a group.
pub const MAX_LAYERS: usize = 1 << (32 - NUMBER_BITS);

/// Size on the wire of a membership message or an announcement in bytes.
pub const MEMBERSHIP_BYTES: u16 = 40;

/// A receiver repeats its membership at this interval, so that a lost message has no lasting effect.
pub const REFRESH: Span = Span::from_millis(1000);

/// The sequence number of packet `number` of a layer; both count from 0.
pub fn sequence_number(layer: u32, number: u32) -> u32 {
    layer << NUMBER_BITS | number & ((1 << NUMBER_BITS) - 1)
}

/// The layer of a packet, counted from 0.
pub fn layer_of(seq: u32) -> u32 {
    seq >> NUMBER_BITS
}

/// What a new control is given of its group.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlEnv {
    /// Rates of the layers, at least one.
    pub layers: Vec<BitRate>,
}

impl ControlEnv {
    /// The rate B(n) of the first `n` layers in bit/s.
    fn cumulative_bps(&self, n: u32) -> f64 {
        self.layers.iter().take(n as usize).map(|rate| rate.bps()).sum()
    }

    /// The number of layers.
    fn count(&self) -> u32 {
        self.layers.len() as u32
    }
}

/// A packet of a layer that the receiver holds, as it arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Now.
    pub now: Time,
    /// Bytes on the wire.
    pub size: u16,
    /// Packets of its layer that were lost just before it.
    pub lost: u32,
    /// If it is the second packet of a pair and the first has arrived: the time since then.
    pub pair_gap: Option<Span>,
}

/// Decides how many layers a receiver holds. Never reads a clock and never schedules: it has one deadline.
pub trait LayerControl: Send {
    /// The receiver joins the group; returns the layers to hold.
    fn start(&mut self, now: Time, rng: &mut Stream) -> u32;
    /// A packet arrives; returns the layers to hold.
    fn on_packet(&mut self, arrival: &Seen, rng: &mut Stream) -> u32;
    /// The time of [`Self::deadline`] has come; returns the layers to hold.
    fn on_timer(&mut self, now: Time, rng: &mut Stream) -> u32;
    /// When [`Self::on_timer`] is due; [`Time::MAX`]: never.
    fn deadline(&self) -> Time {
        Time::MAX
    }
    /// Another receiver announces an experiment with layer `layer`, counted from 1.
    fn on_announcement(&mut self, _layer: u32, _now: Time) {}
    /// Takes the layer, counted from 1, of an experiment that is to be announced to the group before the
    /// receiver joins. Requested after [`Self::on_timer`].
    fn take_announcement(&mut self) -> Option<u32> {
        None
    }
    /// Packets of a layer that the source sends back to back: 2 for packet pairs.
    fn burst(&self) -> u32 {
        1
    }
}

crate::registry! {
    /// Builds a layer control by name.
    "layer control": dyn LayerControl, ControlEnv {
        "multicast/all.rs" => all::All,
        "multicast/fixed.rs" => fixed::Fixed,
        "multicast/plm.rs" => plm::Plm,
        "multicast/rlm.rs" => rlm::Rlm,
    }
}

#[cfg(test)]
mod contract;
