//! Bounds how many threads help the threads of watches to import.

use std::sync::{Mutex, PoisonError};

/// A number of permits.
#[derive(Debug)]
pub(super) struct Permits {
    free: Mutex<usize>,
}

/// One of them, until it is dropped.
pub(super) struct Permit<'p>(&'p Permits);

impl Permits {
    pub(super) fn new(permits: usize) -> Self {
        Self { free: Mutex::new(permits) }
    }

    /// A permit, if one is free. Nobody waits for one: a folder that hangs may have all of them.
    pub(super) fn try_take(&self) -> Option<Permit<'_>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }
}
