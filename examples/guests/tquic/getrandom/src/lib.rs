//! The interface of getrandom 0.2 with numbers that follow a seed: in a guest, random numbers are the scenario's. Nothing
//! that this program encrypts is secret.

use std::fmt;
use std::num::NonZeroU32;

#[path = "../../../quiche/src/seeded.rs"]
mod seeded;

pub use seeded::seed;

/// Fills `dest`.
///
/// # Errors
/// None.
pub fn getrandom(dest: &mut [u8]) -> Result<(), Error> {
    seeded::fill(dest);
    Ok(())
}

/// What getrandom reports when it fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Error(NonZeroU32);

impl Error {
    /// Codes of getrandom itself.
    pub const INTERNAL_START: u32 = 1 << 31;
    /// Codes of others.
    pub const CUSTOM_START: u32 = (1 << 31) + (1 << 30);

    /// Its number.
    #[must_use]
    pub const fn code(self) -> NonZeroU32 {
        self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}", self.0)
    }
}

impl std::error::Error for Error {}

impl From<NonZeroU32> for Error {
    fn from(code: NonZeroU32) -> Self {
        Self(code)
    }
}
