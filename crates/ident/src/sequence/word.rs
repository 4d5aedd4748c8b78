//! The atomic word, which the model test replaces by one whose interleavings are all tried.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the sequence needs of an atomic word.
pub(crate) trait Word {
    fn new(value: u64) -> Self;
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    fn fetch_add(&self, value: u64, order: Ordering) -> u64;
    fn fetch_max(&self, value: u64, order: Ordering) -> u64;
    /// Fails with the order `Relaxed`, and with nothing that is worth looking at.
    fn compare_exchange(&self, current: u64, new: u64, order: Ordering) -> Result<(), ()>;
}

impl Word for AtomicU64 {
    fn new(value: u64) -> AtomicU64 {
        AtomicU64::new(value)
    }

    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    #[inline]
    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }

    #[inline]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.fetch_add(value, order)
    }

    #[inline]
    fn fetch_max(&self, value: u64, order: Ordering) -> u64 {
        self.fetch_max(value, order)
    }

    #[inline]
    fn compare_exchange(&self, current: u64, new: u64, order: Ordering) -> Result<(), ()> {
        self.compare_exchange(current, new, order, Ordering::Relaxed).map(drop).map_err(drop)
    }
}
