//! The simulation core of ackclock.
//!
//! Data goes one way: [`scenario`] (what the user said) is turned by [`compile`] into a plan,
//! which the [`packet`] engine runs, which leaves [`record`]s. The [`fluid`] engine works on rates
//! instead. Beside the stages are rooms, each a folder of interchangeable algorithms: [`qdisc`],
//! [`cc`], [`slow_start`], [`recovery`], [`topology`], [`traffic`], [`multicast`], [`impairment`], and of the fluid [`sharing`] and
//! [`policy`]; and the endpoints, [`tcp`] and, for studies that compare with ns-2, [`tcp_ns2`]. A room imports units and packet types,
//! never an engine. Nothing here reads a clock, opens a file or keeps global state.

mod agenda;
pub mod api;
pub mod cc;
pub mod compile;
pub mod dscp;
pub mod error;
pub mod fluid;
pub mod ids;
pub mod impairment;
mod memory;
pub mod multicast;
#[cfg(test)]
mod near;
pub mod outbox;
pub mod packet;
pub mod percentiles;
pub mod policy;
pub mod qdisc;
pub mod quic;
pub mod record;
pub mod recovery;
#[cfg(test)]
mod reference_data;
pub mod registry;
pub mod rng;
pub mod scenario;
pub mod sharing;
pub mod slow_start;
pub mod tcp;
pub mod tcp_ns2;
pub mod topology;
pub mod traffic;
pub mod units;
pub mod warm_up;
pub mod wire;
