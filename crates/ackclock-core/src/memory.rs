//! What the processor is told of memory.

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
