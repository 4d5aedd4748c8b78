//! Asking the processor for memory ahead of its use.
//!
//! With thousands of runs under way, or tens of thousands kept, the next one that is touched has been
//! left alone for so long that it is in no cache any more. Which one that is, is known beforehand.

/// What the processor fetches at once, in bytes.
const LINE_BYTES: usize = 64;

/// Asks for the memory of a value.
#[inline]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    prefetch_at(std::ptr::from_ref(value).cast(), size_of_val(value));
}

/// Prefetches bytes from an address on. The address need not be valid.
#[inline]
pub(crate) fn prefetch_at(begin: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        for at in (0..bytes).step_by(LINE_BYTES) {
            // SAFETY: a prefetch reads nothing and faults on nothing, whatever the address. SSE,
            // which it belongs to, is part of every x86-64 processor.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(at).cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (begin, bytes, LINE_BYTES);
}
