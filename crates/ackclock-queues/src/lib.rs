//! Queue disciplines and AQMs ([`qdisc`]), and what a wire does to packets ([`impairment`]).
//!
//! Rooms of interchangeable algorithms. None reads a clock or schedules. Their driver states the time; it is a simulator, an
//! emulator, or a loop written by hand.

pub mod impairment;
pub mod qdisc;

use ackclock_base::{agenda, dscp, era, error, memory, percentiles, registry, rng, units, wire};
#[cfg(test)]
use ackclock_base::{ids, near, reference_data};
