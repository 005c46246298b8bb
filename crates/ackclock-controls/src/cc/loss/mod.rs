//! Controls whose signal is loss (or the mark that stands for it).

pub mod aild;
pub mod bic;
pub mod binomial;
pub mod cubic;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod rtt_squared;
pub mod scalable;
