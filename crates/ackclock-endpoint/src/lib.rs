//! What an end of a flow is: its calls ([`endpoint`]), the packets that it sends ([`outbox`]), what they contain where that
//! is not ours ([`datagrams`]), what is recorded of it ([`record`]).
//!
//! An engine drives whatever implements [`endpoint::Endpoint`]; transports and sources do.

pub mod datagrams;
pub mod endpoint;
pub mod outbox;
pub mod record;

use ackclock_base::{error, ids, memory, percentiles, rng, units, wire};
