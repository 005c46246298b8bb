//! Controls that combine loss and delay.

pub mod compound;
pub mod illinois;
pub mod nscc;
pub mod scream;
pub mod veno;
pub mod westwood;
pub mod yeah;
