//! Controls that model the path: its rate and its round-trip time, from rate samples.

pub mod bbr;
pub mod bbr3;
pub mod c4;
pub mod c4_02;
mod filters;
pub mod vivace;
