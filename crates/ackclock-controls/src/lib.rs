//! Congestion controls ([`cc`]), slow start rules ([`slow_start`]), loss recoveries ([`recovery`]) and the scoreboard
//! that a recovery reads ([`scoreboard`]).
//!
//! Three rooms of interchangeable algorithms. None sends a packet, schedules or reads a clock. Their driver
//! reports what happened and when; it is a simulator, a transport's tests, or a loop written by hand.

pub mod cc;
pub mod recovery;
pub mod scoreboard;
pub mod slow_start;

use ackclock_base::{era, error, memory, ranges, registry, rng, units, wire};
#[cfg(test)]
use ackclock_base::{near, reference_data};
