//! Programs as the two ends of a flow: any stack in virtual time, driven over its standard input and output.
//!
//! [`protocol`] has the frames of `docs/reference/guest-protocol.md`. [`end`] is an end of a flow that hands what happens
//! to a [`Guest`] and sends what that answers; a [`process`] is a guest. The engine sees an
//! [`Endpoint`](ackclock_core::endpoint::Endpoint) and knows of no program, file or clock.

pub mod end;
#[cfg(unix)]
pub mod placement;
#[cfg(unix)]
pub mod process;
pub mod protocol;

use protocol::{Answer, Event};

/// Why a guest cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The user ended the run; the caller knows of it.
    Interrupted,
    /// It broke a rule: what it did, to follow the guest's name, and the last lines that it wrote to standard error.
    Broke {
        /// As in "ended with exit status 1".
        breach: String,
        /// Each with a line break before it, or empty.
        last_lines: String,
    },
}

impl Failure {
    /// A broken rule of a guest of which nothing else is known.
    pub fn broke(breach: impl Into<String>) -> Self {
        Self::Broke { breach: breach.into(), last_lines: String::new() }
    }
}

/// What is at the other side of the protocol.
pub trait Guest: Send {
    /// Abilities that it announced, bits of [`protocol::abilities`].
    fn abilities(&self) -> u32;
    /// Hands over what happens at a time [ns] and takes the answer.
    ///
    /// # Errors
    /// It is gone, does not answer, or answers what is no frame.
    fn exchange(
        &mut self,
        event: &Event<'_>,
        sequence: u32,
        now_ns: u64,
        answer: &mut Answer,
    ) -> Result<(), Failure>;
    /// Ends it; what it last wrote to standard error, each line with a line break before it.
    fn last_lines(&mut self) -> String {
        String::new()
    }
}
