//! Hints to the processor and the allocator about memory.

/// Makes the processor load the cache lines of a value that will be used soon.
#[inline(always)]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    prefetch_at(address(value), size_of_val(value));
}

/// The address of a value.
#[inline(always)]
pub(crate) fn address<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).cast::<u8>().addr()
}

/// Makes the processor load so many bytes from an address on.
#[inline(always)]
#[allow(unsafe_code, reason = "there is no safe prefetch instruction")]
pub(crate) fn prefetch_at(address: usize, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let begin = std::ptr::without_provenance::<i8>(address);
        for line in (0..bytes).step_by(64) {
            // SAFETY: a prefetch is a hint. It reads and writes nothing that the program could observe,
            // and no address makes it fault, so it has no requirements of its pointer.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (address, bytes);
}

/// Requests large pages for a table of some megabytes, for the part in use and for the part into which
/// it will grow. Its records are accessed in no order, and translating the address of a record on a
/// small page takes longer than loading the record.
#[allow(unsafe_code, reason = "there is no safe interface to madvise")]
pub(crate) fn use_large_pages<T>(table: &Vec<T>) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // The smallest page size of any machine; advice on part of a page is refused.
        const PAGE: usize = 4096;
        const LARGE_PAGE: usize = 1 << 21;
        if table.capacity() * size_of::<T>() < 2 * LARGE_PAGE {
            return;
        }
        let begin = table.as_ptr().addr().next_multiple_of(PAGE);
        let page_end =
            |items: usize| (table.as_ptr().addr() + items * size_of::<T>()) / PAGE * PAGE;
        for (end, advice) in [
            (page_end(table.capacity()), libc::MADV_HUGEPAGE),
            (page_end(table.len()), libc::MADV_COLLAPSE),
        ] {
            if end > begin {
                let first = table.as_ptr().with_addr(begin).cast_mut().cast();
                // SAFETY: both are advice on how to back memory that lies within one allocation of this
                // program. Neither changes its content; a system that does not support it ignores it.
                unsafe { libc::madvise(first, end - begin, advice) };
            }
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = table;
}

/// Returns free memory to the operating system: the allocator keeps what temporary large tables used.
#[allow(unsafe_code, reason = "there is no safe interface to malloc_trim")]
pub(crate) fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function may be called at any time by any thread; it takes the allocator's locks and
    // changes only memory that is free.
    unsafe {
        libc::malloc_trim(0)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_large_pages_keeps_its_content_and_grows() {
        // Miri interprets each step: it gets a table that is a thousand times smaller.
        let scale = if cfg!(miri) { 1 } else { 1000 };
        let mut table: Vec<u64> = Vec::with_capacity(2000 * scale);
        table.extend(0..=1000 * scale as u64);
        use_large_pages(&table);
        table.extend(1000 * scale as u64 + 1..3000 * scale as u64);
        use_large_pages(&table);
        assert!(table.into_iter().eq(0..3000 * scale as u64));
        use_large_pages(&Vec::<u64>::new());
    }
}
