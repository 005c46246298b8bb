//! What a user says: the types that define the file format ([`scenario`]), and the standard shapes of networks,
//! spelled out as nodes and links ([`topology`]).

pub mod scenario;
pub mod topology;

use ackclock_base::{dscp, era, error, ids, registry, rng, units};
