//! Controls whose signal is loss (or the mark that stands for it).

pub mod cubic;
