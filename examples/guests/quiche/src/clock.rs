//! The clock of this program: what it reads as time is what the simulator says.
//!
//! Rust's standard library and BoringSSL read the time by `clock_gettime` of the C library. A symbol of that name in the
//! program itself takes its place when the program is linked, so that quiche is what its package is.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Now [ns]; all clocks begin at 2024-01-01, so that nothing is before their zero.
static NOW: AtomicU64 = AtomicU64::new(BEGIN);
const BEGIN: u64 = 1_704_067_200_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// Sets the time of the simulation [ns].
pub fn set(now: u64) {
    NOW.store(BEGIN + now, Relaxed);
}

/// Takes the place of the C library's.
///
/// # Safety
/// `time` points to a `timespec` that may be written, as for the function that it replaces.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(_clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    let now = NOW.load(Relaxed);
    // SAFETY: the caller's promise, which is that of POSIX.
    unsafe {
        (*time).tv_sec = (now / SECOND) as libc::time_t;
        (*time).tv_nsec = (now % SECOND) as libc::c_long;
    }
    0
}
