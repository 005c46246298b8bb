//! What the processor and the allocator are told of memory.

/// Tells the processor that a value will be used soon.
#[inline(always)]
pub(crate) fn soon<T: ?Sized>(value: &T) {
    soon_at(address(value), size_of_val(value));
}

/// Where a value is.
#[inline(always)]
pub(crate) fn address<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).cast::<u8>().addr()
}

/// Tells the processor that so many bytes from an address on will be used soon.
#[inline(always)]
#[expect(unsafe_code, reason = "there is no safe way to say it")]
pub(crate) fn soon_at(address: usize, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let begin = std::ptr::without_provenance::<i8>(address);
        for line in (0..bytes).step_by(64) {
            // SAFETY: a prefetch is a hint. It reads and writes nothing that the program could see, and
            // no address makes it fault, so it has nothing to ask of its pointer.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (address, bytes);
}

/// Asks for large pages under a table of some megabytes, both where it is in use and where it is to
/// grow. Its records are touched in no order, and to find where the small page of one lies takes a
/// processor longer than to fetch what it holds.
#[expect(unsafe_code, reason = "there is no safe way to say it")]
pub(crate) fn in_large_pages<T>(table: &Vec<T>) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // The smallest page there is on any machine; advice on a part of one is refused.
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
                // SAFETY: both are advice on how to back memory, which lies within one allocation of
                // ours: neither changes what it holds, and where the system does not know or heed it,
                // nothing happens.
                unsafe { libc::madvise(first, end - begin, advice) };
            }
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = table;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_large_pages_holds_what_it_held_and_grows() {
        let mut table: Vec<u64> = Vec::with_capacity(2_000_000);
        table.extend(0..1_000_001);
        in_large_pages(&table);
        table.extend(1_000_001..3_000_000);
        in_large_pages(&table);
        assert!(table.into_iter().eq(0..3_000_000));
        in_large_pages(&Vec::<u64>::new());
    }
}
