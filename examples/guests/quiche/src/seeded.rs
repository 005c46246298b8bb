//! Random numbers that follow the seed of the run. Nothing that this program encrypts is secret.

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

/// Fills `bytes`.
pub fn fill(bytes: &mut [u8]) {
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&draw().to_le_bytes()[..part.len()]);
    }
}
