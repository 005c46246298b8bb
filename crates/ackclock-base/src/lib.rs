//! What every part of ackclock's core uses.
//!
//! Quantities ([`units`]), packets ([`wire`]), identifiers ([`ids`]), random numbers ([`rng`]), the registry of
//! algorithms ([`registry`]), problems of the user's input ([`error`]), and some structures of data. Nothing here
//! knows of a congestion control, a queue or an engine.

pub mod agenda;
pub mod dscp;
pub mod era;
pub mod error;
pub mod ids;
pub mod memory;
#[cfg(any(test, feature = "testing"))]
pub mod near;
pub mod percentiles;
pub mod ranges;
#[cfg(any(test, feature = "testing"))]
pub mod reference_data;
pub mod registry;
pub mod rng;
pub mod units;
pub mod warm_up;
pub mod wire;
