//! Bounds how many files are imported at once.

use std::sync::{Condvar, Mutex, PoisonError};

/// A number of permits.
#[derive(Debug)]
pub(super) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

/// One of them, until it is dropped.
pub(super) struct Permit<'p>(&'p Permits);

impl Permits {
    pub(super) fn new(permits: usize) -> Self {
        Self { free: Mutex::new(permits.max(1)), freed: Condvar::new() }
    }

    /// Waits for a permit.
    pub(super) fn take(&self) -> Permit<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
