//! What the processor and the allocator are told of memory.

/// Tells the processor that a value will be used soon.
#[inline(always)]
#[expect(unsafe_code, reason = "there is no safe way to say it")]
pub(crate) fn soon<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let begin = std::ptr::from_ref(value).cast::<i8>();
        for line in (0..size_of_val(value)).step_by(64) {
            // SAFETY: a prefetch is a hint. It reads and writes nothing that the program could see, and
            // no address makes it fault, so it has nothing to ask of its pointer.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Gives memory that is free back to the operating system: where large tables have been made and thrown
/// away, the allocator keeps it.
#[expect(unsafe_code, reason = "there is no safe way to say it")]
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function may be called at any time by any thread; it takes the allocator's locks, and
    // touches nothing but memory that is free.
    unsafe {
        libc::malloc_trim(0)
    };
}
