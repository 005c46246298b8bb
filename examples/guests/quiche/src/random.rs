//! The random numbers of this program follow the seed of the run.
//!
//! quiche draws them by BoringSSL's `RAND_bytes`. The linker puts the function below in its place (`build.rs`), so that
//! both are what their packages are. What BoringSSL draws by itself for keys changes neither size nor time of a packet.

use std::ffi::c_int;
use std::slice;
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

/// Takes the place of BoringSSL's `RAND_bytes`.
///
/// # Safety
/// `bytes` points to `count` bytes that may be written, as for the function that it replaces.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_RAND_bytes(bytes: *mut u8, count: usize) -> c_int {
    if count > 0 {
        // SAFETY: the caller's promise; a slice of no bytes might come with a null pointer.
        for part in unsafe { slice::from_raw_parts_mut(bytes, count) }.chunks_mut(8) {
            part.copy_from_slice(&draw().to_le_bytes()[..part.len()]);
        }
    }
    1
}
