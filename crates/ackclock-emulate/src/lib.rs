//! A scenario's bottleneck in real time: our queue disciplines between hosts that are not ours.
//!
//! The two sides of the network are TUN devices, each in a network namespace with nothing else in it. A [`scope::Scope`]
//! says what a scenario requires of the hosts, or why it cannot be emulated. [`emulator::Emulator`] carries packets between
//! the devices through the links of the scenario, [`ackclock_core::packet::Live`], under the machine's clock, and keeps
//! how late it was. Namespaces, sockets and everything else about the hosts is the caller's.

pub mod ip;
pub mod lateness;
pub mod scope;

#[cfg(target_os = "linux")]
mod carry;
#[cfg(target_os = "linux")]
pub mod emulator;
#[cfg(target_os = "linux")]
mod under_way;
