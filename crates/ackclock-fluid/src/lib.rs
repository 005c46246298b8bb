//! The fluid engine: rates on flat arrays ([`fluid`]), how a link shares its capacity ([`sharing`]), how fast a sender
//! sends ([`policy`]).

pub mod fluid;
pub mod policy;
pub mod sharing;

use ackclock_base::{error, registry, rng};
