//! Random numbers of the system, for controllers that draw a seed from them and offer no other way.
//!
//! Both BBR of quinn and BBR version 3 of noq seed a generator of their own with `rand::rng()` when they are made, and
//! draw from nothing else. Crate `getrandom` lets a program supply the system's random numbers (its backend `custom`,
//! which `.cargo/config.toml` of this crate chooses): while a controller is made they are those of the flow's stream.
//! Without that backend these controls are not offered.

use std::cell::RefCell;

use ackclock_core::rng::Stream;

thread_local! {
    /// The stream that stands in for the system on this thread.
    static STREAM: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

/// Runs `make` with a thread's generator that is seeded from this stream.
pub(super) fn seeded<T>(stream: Stream, make: impl FnOnce() -> T) -> T {
    // A thread's generator seeds itself when it is first used: before the stream begins.
    let mut rng = rand::rng();
    STREAM.set(Some(stream));
    // The backend below does not fail while there is a stream.
    let reseeded = rng.reseed();
    let result = make();
    STREAM.set(None);
    debug_assert!(reseeded.is_ok());
    result
}

/// Fills `bytes` from the stream of this thread, or from the system.
fn fill(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    let filled = STREAM.with_borrow_mut(|stream| {
        let Some(stream) = stream else { return false };
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&stream.bits().to_le_bytes()[..chunk.len()]);
        }
        true
    });
    if filled { Ok(()) } else { from_system(bytes) }
}

fn from_system(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    use std::io::Read;
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(bytes));
    read.map_err(|_| getrandom::Error::UNSUPPORTED)
}

/// The backend's entry.
///
/// # Safety
/// `dest` points to `len` bytes that may be written, as `getrandom` documents.
#[expect(unsafe_code, reason = "the interface of getrandom's backend")]
// SAFETY: no other symbol of a program has this name, which getrandom keeps for this purpose.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    dest: *mut u8,
    len: usize,
) -> Result<(), getrandom::Error> {
    // SAFETY: the caller hands over `len` writable bytes for the time of the call; zeros initialise them.
    let bytes = unsafe {
        std::ptr::write_bytes(dest, 0, len);
        std::slice::from_raw_parts_mut(dest, len)
    };
    fill(bytes)
}

#[cfg(test)]
mod tests {
    use ackclock_core::rng::Purpose;
    use rand::RngExt;

    use super::*;

    fn draw(seed: u64) -> u64 {
        seeded(Stream::new(seed, Purpose::Control, 0), || rand::rng().random())
    }

    #[test]
    fn what_is_made_draws_from_the_stream_and_others_from_the_system() {
        assert_eq!((draw(1), draw(1) == draw(2)), (draw(1), false));
        let mut draws = [[0; 16]; 2];
        for bytes in &mut draws {
            getrandom::fill(bytes).unwrap();
        }
        assert_ne!(draws[0], draws[1]);
    }
}
