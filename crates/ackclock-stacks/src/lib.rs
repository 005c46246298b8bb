//! Shipped QUIC stacks in virtual time, in any scenario, beside ackclock's own senders.
//!
//! A simulated control is a claim about real code; here the claim is tested, in two ways. [`controls`] are the
//! congestion controllers of released libraries in the place of our own. `connections` (a feature) are whole
//! connections of quinn, TLS included, as the two ends of a flow. The binding in `py/` offers both to Python.
//!
//! Their clock and their random numbers are those of the engine, so that runs repeat.

#[cfg(feature = "connections")]
pub mod connections;
pub mod controls;
mod single;
mod trace;

pub use single::{DATAGRAM, Path, run_single};
pub use trace::{Sample, Trace};
