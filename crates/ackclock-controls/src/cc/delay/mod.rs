//! Controls whose signal is queueing delay.

pub(crate) mod calm;
pub mod cdg;
pub mod copa;
pub mod fast;
pub mod fast_corrected;
pub mod fast_rate_reduction;
pub mod fast_self_tuning;
pub mod ledbat;
pub mod ledbat_pp;
pub mod lp;
pub mod nv;
pub mod swift;
pub mod timely;
pub mod vegas;
