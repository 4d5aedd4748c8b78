//! Prefetching. The only module of the crate with `unsafe`.
//!
//! An order id is known long before its entry in the index is written, since ids are sequential.
//! Reading the entry early does not help, because a read that is late keeps all that follows from
//! completing; a prefetch does not.

/// Prefetches the cache line of a value.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and faults on nothing, whatever the address; here it is
        // that of a live value. SSE, which it belongs to, is part of every x86-64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefetched_value_stays_as_it_is() {
        let values = vec![7_u64; 100_000];
        values.iter().for_each(prefetch);
        prefetch(&());
        assert!(values.iter().all(|value| *value == 7));
    }
}
