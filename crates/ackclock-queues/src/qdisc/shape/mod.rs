//! Token buckets: a policer drops what exceeds them, a shaper holds it back.

pub(crate) mod bucket;
pub mod gated;
pub mod policer;
pub mod shaper;
