//! Controls whose signal is loss (or the mark that stands for it).

pub mod aild;
pub mod binomial;
pub mod cubic;
pub mod rtt_squared;
