//! Traffic that is not written flow by flow: [`source`], unresponsive senders in place of TCP,
//! [`arrivals`], generators of TCP transfers, and [`pattern`], between which hosts flows go.

pub mod arrivals;
pub mod pattern;
pub mod source;

use crate::units::Bytes;

/// A packet size in bytes on the wire, or one sentence about it.
fn packet_size(name: &str, size: Bytes) -> Result<u16, String> {
    u16::try_from(size.0)
        .ok()
        .filter(|&size| size > 0)
        .ok_or_else(|| format!("{name} is {} B, but it must be 1 B to 65535 B", size.0))
}

/// A shape of a Pareto distribution, or one sentence about it.
fn pareto_shape(shape: f64) -> Result<f64, String> {
    if shape > 1.0 && shape.is_finite() {
        Ok(shape)
    } else {
        Err(format!("shape is {shape}, but it must be more than 1, or there is no mean"))
    }
}
