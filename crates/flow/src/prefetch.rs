//! Prefetching of memory.
//!
//! With thousands of runs, the next one has been idle for so long that it is in no cache any more.
//! It is known beforehand, so that its memory can be prefetched.

/// The size of a cache line, in bytes.
const LINE_BYTES: usize = 64;

/// Prefetches the memory of a value.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_may_be_asked_for() {
        let last = std::ptr::without_provenance(usize::MAX);
        for address in [std::ptr::null(), std::ptr::without_provenance(1), last] {
            prefetch_at(address, 4 * LINE_BYTES);
        }
        prefetch_at(last, 0);
    }

    #[test]
    fn prefetched_memory_does_not_change() {
        let value = [7_u8; 1_000];
        prefetch(&value);
        prefetch(&value[..0]);
        assert!(value.iter().all(|byte| *byte == 7));
    }
}
