//! Controls whose signal is the routers' mark of each packet.

pub mod dcqcn;
pub mod dctcp;
pub mod decbit;
pub mod hpcc;
pub mod prague;
