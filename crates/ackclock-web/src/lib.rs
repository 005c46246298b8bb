//! `ackclock-core` as a WebAssembly module with two imports: the progress of a run, and the parts of what it records.
//!
//! The host writes text into memory that it got from [`border::allocate`] and calls a function of
//! [`border`]; it gets a [`block`] back. No logic lives here: the scenario crosses the border as
//! text, so that the serde types of the core stay the only definition of the file format.

pub mod answers;
pub mod block;
pub mod border;
pub mod toml_text;
