//! The exported functions.
#![expect(unsafe_code, reason = "the border to the host passes addresses; each use has its proof")]

use crate::answers;

/// A buffer of `length` bytes for the host to write into; given back by the call that reads it.
#[unsafe(no_mangle)] // SAFETY: no other crate of this module exports this name.
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Gives back a block that a function returned.
///
/// # Safety
/// `block` was returned by a function of this module and not yet given back.
#[unsafe(no_mangle)] // SAFETY: as above.
pub unsafe extern "C" fn release(block: *mut Vec<u8>) {
    // SAFETY: `hand_over` made the pointer from a box, and the caller gives it back once.
    drop(unsafe { Box::from_raw(block) });
}

/// Address of the bytes of a block.
///
/// # Safety
/// As [`release`].
#[unsafe(no_mangle)] // SAFETY: as above.
pub unsafe extern "C" fn block_start(block: *const Vec<u8>) -> *const u8 {
    // SAFETY: the block is alive, as the caller promises.
    unsafe { &*block }.as_ptr()
}

/// Length of a block in bytes.
///
/// # Safety
/// As [`release`].
#[unsafe(no_mangle)] // SAFETY: as above.
pub unsafe extern "C" fn block_length(block: *const Vec<u8>) -> usize {
    // SAFETY: the block is alive, as the caller promises.
    unsafe { &*block }.len()
}

/// See [`answers::describe`].
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn describe() -> *mut Vec<u8> {
    hand_over(answers::describe())
}

/// See [`answers::read_toml`].
///
/// # Safety
/// `text` and `length` are those of an [`allocate`] whose buffer was not used before.
#[unsafe(no_mangle)] // SAFETY: as above.
pub unsafe extern "C" fn read_toml(text: *mut u8, length: usize) -> *mut Vec<u8> {
    // SAFETY: passed on.
    hand_over(answers::read_toml(&unsafe { take(text, length) }))
}

/// See [`answers::edit_toml`].
///
/// # Safety
/// As [`read_toml`].
#[unsafe(no_mangle)] // SAFETY: as above.
pub unsafe extern "C" fn edit_toml(text: *mut u8, length: usize) -> *mut Vec<u8> {
    // SAFETY: passed on.
    hand_over(answers::edit_toml(&unsafe { take(text, length) }))
}

/// See [`answers::explain`].
///
/// # Safety
/// As [`read_toml`].
#[unsafe(no_mangle)] // SAFETY: as above.
pub unsafe extern "C" fn explain(text: *mut u8, length: usize) -> *mut Vec<u8> {
    // SAFETY: passed on.
    hand_over(answers::explain(&unsafe { take(text, length) }))
}

/// See [`answers::run`]. The host gets each part as a block, which it gives back.
///
/// # Safety
/// As [`read_toml`].
#[unsafe(no_mangle)] // SAFETY: as above.
pub unsafe extern "C" fn run(text: *mut u8, length: usize, rows: usize) -> *mut Vec<u8> {
    // SAFETY: passed on.
    let text = unsafe { take(text, length) };
    hand_over(answers::run(&text, rows, &mut report_progress, &mut give_part))
}

fn hand_over(block: Vec<u8>) -> *mut Vec<u8> {
    Box::into_raw(Box::new(block))
}

/// The host's text; what is not UTF-8 is replaced, and then refused as text.
///
/// # Safety
/// As [`read_toml`].
unsafe fn take(text: *mut u8, length: usize) -> String {
    // SAFETY: `allocate` made the buffer from a boxed slice of this length, and it is taken once.
    let bytes = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(text, length)) };
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(target_arch = "wasm32")]
fn report_progress(fraction: f64, seconds: f64) {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        fn progress(fraction: f64, seconds: f64);
    }
    // SAFETY: the host's function takes two numbers and touches no memory of this module.
    unsafe { progress(fraction, seconds) }
}

#[cfg(target_arch = "wasm32")]
fn give_part(block: Vec<u8>) {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        fn part(block: *mut u8);
    }
    // SAFETY: the host reads the block and gives it back by `release`, as it does with answers.
    unsafe { part(hand_over(block).cast()) }
}

/// Outside a browser nobody watches.
#[cfg(not(target_arch = "wasm32"))]
fn report_progress(_fraction: f64, _seconds: f64) {}

/// As `report_progress`.
#[cfg(not(target_arch = "wasm32"))]
fn give_part(_block: Vec<u8>) {}
