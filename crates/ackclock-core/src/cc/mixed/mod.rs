//! Controls that combine loss and delay.

pub mod compound;
