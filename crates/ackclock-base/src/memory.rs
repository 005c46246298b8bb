//! Hints to the processor and the allocator about memory, and tables that grow until there is none left.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::Problem;

/// A table of so many equal values. Where there is no memory for it the work ends, and [`until_it_ends`] returns.
pub fn filled<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut table = Vec::new();
    reserve(&mut table, count);
    table.resize(count, value);
    table
}

/// Makes room in a table for so many more values, as [`filled`].
pub fn reserve<T>(table: &mut Vec<T>, more: usize) {
    let values = table.len().saturating_add(more);
    if !is_allowed(values.saturating_mul(size_of::<T>())) || table.try_reserve_exact(more).is_err()
    {
        raise::<T>(values);
    }
}

/// Whether there may be a table of so many bytes: tests say so, in place of a machine without memory.
#[cfg(not(any(test, feature = "testing")))]
#[inline(always)]
const fn is_allowed(_: usize) -> bool {
    true
}

#[cfg(any(test, feature = "testing"))]
fn is_allowed(bytes: usize) -> bool {
    bytes <= MOST_BYTES.get()
}

#[cfg(any(test, feature = "testing"))]
thread_local! {
    static MOST_BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

/// Does some work on this thread as if there were no memory for a table of more bytes.
#[cfg(any(test, feature = "testing"))]
pub fn with_tables_of_at_most<R>(bytes: usize, work: impl FnOnce() -> R) -> R {
    MOST_BYTES.set(bytes);
    let outcome = work();
    MOST_BYTES.set(usize::MAX);
    outcome
}

#[cold]
fn raise<T>(values: usize) -> ! {
    let bytes = values.saturating_mul(size_of::<T>());
    let size = if bytes < 1 << 20 {
        format!("{bytes} bytes")
    } else {
        format!("{:.3} GiB", bytes as f64 / f64::from(1 << 30))
    };
    let message = format!(
        "the run needs a table of {size}, for which there is no memory; simulate fewer flows or smaller windows"
    );
    end_with(Problem::new("", message))
}

/// Ends the work of this thread, for which there is not the memory or the time, as [`until_it_ends`] returns. It prints
/// no message as a panic does: nothing is wrong with the program.
#[cold]
pub fn end_with(problem: Problem) -> ! {
    resume_unwind(Box::new(problem))
}

/// Makes room for one more value in a table that is twice as large each time that it is full, as [`filled`].
#[inline(always)]
pub fn make_room<T>(table: &mut Vec<T>) {
    if table.len() == table.capacity() {
        double(table);
    }
}

/// [`make_room`] in a queue.
#[inline(always)]
pub fn make_room_in_queue<T>(queue: &mut VecDeque<T>) {
    let count = queue.len();
    if count == queue.capacity() {
        double_queue(queue);
    }
}

#[cold]
#[inline(never)]
fn double_queue<T>(queue: &mut VecDeque<T>) {
    let more = queue.len().max(4);
    if !is_allowed((queue.len() + more).saturating_mul(size_of::<T>()))
        || queue.try_reserve_exact(more).is_err()
    {
        raise::<T>(queue.len() + more);
    }
}

#[cold]
#[inline(never)]
fn double<T>(table: &mut Vec<T>) {
    reserve(table, table.len().max(4));
}

/// Does some work, or as much of it as there is memory for.
///
/// # Errors
/// Why it ended early; what it had is dropped.
pub fn until_it_ends<R>(work: impl FnOnce() -> R) -> Result<R, Problem> {
    // What the work changes is dropped with it, so that nobody sees it half-changed.
    catch_unwind(AssertUnwindSafe(work)).map_err(|thrown| {
        thrown.downcast::<Problem>().map_or_else(|other| resume_unwind(other), |problem| *problem)
    })
}

/// Makes the processor load the cache lines of a value that will be used soon.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    prefetch_at(address(value), size_of_val(value));
}

/// The address of a value.
#[inline(always)]
pub fn address<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).cast::<u8>().addr()
}

/// Makes the processor load so many bytes from an address on.
#[inline(always)]
#[allow(unsafe_code, reason = "there is no safe prefetch instruction")]
pub fn prefetch_at(address: usize, bytes: usize) {
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
pub fn use_large_pages<T>(table: &Vec<T>) {
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
pub fn release_free_memory() {
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
    fn work_without_memory_ends_with_what_it_would_have_needed() {
        let problem = until_it_ends(|| filled(0u64, 1 << 60).len()).unwrap_err();
        // 2^63 bytes.
        assert!(problem.message.contains("8589934592.000 GiB"), "{problem}");
        assert_eq!(until_it_ends(|| filled(7u64, 3)), Ok(vec![7; 3]));
        let mut table = vec![1u8; 5];
        table.shrink_to_fit();
        for _ in 0..20 {
            make_room(&mut table);
            assert!(table.capacity() > table.len());
            table.push(1);
        }
    }

    #[test]
    #[should_panic(expected = "a fault")]
    fn other_panics_go_on() {
        let _ = until_it_ends(|| panic!("a fault"));
    }

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
