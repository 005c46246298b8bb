//! The simulation core of ackclock.
//!
//! Data goes one way: [`scenario`] (what the user said) is turned by [`compile`] into a plan,
//! which the [`packet`] engine runs, which leaves [`record`]s. The [`fluid`] engine works on rates
//! instead. Beside the stages are rooms, each a folder of interchangeable algorithms: [`qdisc`],
//! [`cc`], [`slow_start`], [`recovery`], [`credits`], [`topology`], [`traffic`], [`multicast`], [`multipath`], [`impairment`], and of the fluid [`sharing`] and
//! [`policy`]; and the endpoints, [`tcp`], [`quic`] and, for studies that compare with ns-2, [`tcp_ns2`]. A room imports units and packet types,
//! never an engine. Nothing here reads a clock, opens a file or keeps global state.
//!
//! This crate is the face of those that are the core's layers, under one name: `ackclock-base`, `-endpoint`,
//! `-scenario`, `-controls`, `-queues`, `-fluid`, `-transport` and `-packet`.

#[cfg(test)]
mod registry_tests;

pub use ackclock_base::{dscp, era, error, ids, percentiles, registry, rng, units, warm_up, wire};
pub use ackclock_controls::{cc, recovery, scoreboard, slow_start};
pub use ackclock_endpoint::{datagrams, endpoint, outbox, record};
pub use ackclock_fluid::{fluid, policy, sharing};
pub use ackclock_packet::{api, compile, packet};
pub use ackclock_queues::{impairment, qdisc};
pub use ackclock_scenario::{scenario, topology};
pub use ackclock_transport::{credits, multicast, multipath, quic, tcp, tcp_ns2, traffic};
