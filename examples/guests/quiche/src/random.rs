//! The random numbers of this program follow the seed of the run.
//!
//! quiche draws them by BoringSSL's `RAND_bytes`. The linker puts the function below in its place (`build.rs`), so that
//! both are what their packages are. What BoringSSL draws by itself for keys changes neither size nor time of a packet.

use std::ffi::c_int;
use std::slice;

use crate::seeded;

/// Takes the place of BoringSSL's `RAND_bytes`.
///
/// # Safety
/// `bytes` points to `count` bytes that may be written, as for the function that it replaces.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_RAND_bytes(bytes: *mut u8, count: usize) -> c_int {
    if count > 0 {
        // SAFETY: the caller's promise; a slice of no bytes might come with a null pointer.
        seeded::fill(unsafe { slice::from_raw_parts_mut(bytes, count) });
    }
    1
}
