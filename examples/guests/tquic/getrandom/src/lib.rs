//! The interface of getrandom 0.2 with numbers that follow a seed: in a guest, random numbers are the scenario's. Nothing
//! that this program encrypts is secret.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static STATE: AtomicU64 = AtomicU64::new(0);

/// Sets the seed.
pub fn seed(value: u64) {
    STATE.store(value, Relaxed);
}

/// SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
fn draw() -> u64 {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut z = STATE.fetch_add(STEP, Relaxed).wrapping_add(STEP);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// Fills `dest`.
///
/// # Errors
/// None.
pub fn getrandom(dest: &mut [u8]) -> Result<(), Error> {
    for part in dest.chunks_mut(8) {
        part.copy_from_slice(&draw().to_le_bytes()[..part.len()]);
    }
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
