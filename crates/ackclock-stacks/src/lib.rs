//! Shipped QUIC stacks in virtual time over a simulated path, beside ackclock's own QUIC sender on the same path.
//!
//! A simulated control is a claim about real code; here the claim is tested. `quinn-proto` runs its whole
//! connections, TLS included, without sockets or clock: this crate is the network between them. Nothing of it is part
//! of the core or of the Python package.
//!
//! Not deterministic to the bit: connection IDs and keys are random. What is sent when does not depend on them, but
//! for packet numbers that quinn skips at random.

mod ours;
mod path;
mod quinn;
mod trace;

pub use ours::run_ours;
pub use path::Path;
pub use quinn::run_quinn;
pub use trace::{Sample, Trace};

/// A control that both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Reno: quinn's `NewReno`, here `aimd` (RFC 9002 section 7.3).
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
}

impl Control {
    /// The control of this name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "reno" => Some(Self::Reno),
            "cubic" => Some(Self::Cubic),
            _ => None,
        }
    }
}
