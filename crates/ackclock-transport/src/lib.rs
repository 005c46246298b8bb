//! Ends of flows: TCP ([`tcp`]), ns-2's TCP ([`tcp_ns2`]), QUIC ([`quic`]), credits of receivers ([`credits`]), receivers of multicast
//! groups ([`multicast`]), connections over several paths ([`multipath`]), and sources without TCP, generators and patterns of traffic ([`traffic`]).

pub mod credits;
pub mod multicast;
pub mod multipath;
pub mod quic;
pub mod tcp;
pub mod tcp_ns2;
pub mod traffic;

#[cfg(test)]
use ackclock_base::near;
use ackclock_base::{era, error, ids, memory, ranges, registry, rng, units, wire};
use ackclock_controls::{cc, recovery, scoreboard, slow_start};
use ackclock_endpoint::{endpoint, outbox, record};
use ackclock_fluid::policy;
use ackclock_scenario::scenario;
