//! Traffic that is not written flow by flow: [`source`], senders in place of TCP,
//! [`arrivals`], generators of TCP transfers, and [`pattern`], between which hosts flows go.

pub mod arrivals;
pub mod pattern;
pub mod source;

use crate::units::Bytes;

/// A packet size in bytes on the wire; in range, as the parameters' attributes have it.
fn packet_size(size: Bytes) -> u16 {
    u16::try_from(size.0).unwrap_or(u16::MAX)
}
