//! Token buckets: a policer drops what exceeds them, a shaper holds it back.

pub(in crate::qdisc) mod bucket;
pub mod gated;
pub mod policer;
pub mod shaper;
