//! Values that a component makes at its start, for other components.

use rialto_lifecycle::Failure;
use std::sync::{Arc, OnceLock};

/// Filled once by one component, then read by others and by the venue.
pub(super) struct Made<T> {
    by: &'static str,
    value: Arc<OnceLock<Arc<T>>>,
}

impl<T> Made<T> {
    pub(super) fn new(by: &'static str) -> Made<T> {
        Made { by, value: Arc::default() }
    }

    /// Keeps it. A component that makes it again keeps the first.
    pub(super) fn put(&self, value: impl Into<Arc<T>>) {
        self.value.get_or_init(|| value.into());
    }

    pub(super) fn get(&self) -> Result<Arc<T>, Failure> {
        let missing = || Failure::from(format!("the {} has not made what it is for", self.by));
        self.value.get().cloned().ok_or_else(missing)
    }
}

impl<T> Clone for Made<T> {
    fn clone(&self) -> Made<T> {
        Made { by: self.by, value: Arc::clone(&self.value) }
    }
}
