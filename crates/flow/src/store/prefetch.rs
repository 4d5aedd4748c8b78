//! Asking the processor for memory ahead of its use.
//!
//! A run that is forgotten ended long ago, and nobody has touched it since. Which ones are next is
//! known, so that their memory can be on its way before they are looked at, all at once.

/// What the processor fetches at once, in bytes.
const LINE_BYTES: usize = 64;

/// Asks for the memory of some values.
#[inline]
pub(super) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let begin: *const i8 = values.as_ptr().cast();
        for at in (0..size_of_val(values)).step_by(LINE_BYTES) {
            // SAFETY: a prefetch reads nothing and faults on nothing, whatever the address; here it
            // lies in live values. SSE, which it belongs to, is part of every x86-64 processor.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(at)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, LINE_BYTES);
}
