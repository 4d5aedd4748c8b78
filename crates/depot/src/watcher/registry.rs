//! The watches of an open pool.

use super::WatcherOptions;
use super::permits::Permits;
use super::running::Watch;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The most watches of a pool.
pub const WATCHES_MAX: usize = 256;

/// The watches of an open pool.
pub(crate) struct Watches {
    by_name: RwLock<BTreeMap<String, Arc<Watch>>>,
    /// Taken while watches come, change and go.
    pub(super) changing: Mutex<()>,
    pub(super) permits: Permits,
    /// Set when the pool is being closed.
    pub(super) is_stopping: AtomicBool,
}

impl Watches {
    pub(crate) fn new(options: &WatcherOptions) -> Self {
        Self {
            by_name: RwLock::default(),
            changing: Mutex::default(),
            permits: Permits::new(options.imports_at_once),
            is_stopping: AtomicBool::new(false),
        }
    }

    pub(super) fn insert(&self, watch: Arc<Watch>) {
        let mut watches = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        watches.insert(watch.spec.name.clone(), watch);
    }

    pub(super) fn remove(&self, name: &str) -> Option<Arc<Watch>> {
        self.by_name.write().unwrap_or_else(PoisonError::into_inner).remove(name)
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<Watch>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Watch>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Ends scans that are under way, soon.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.all().iter().for_each(|watch| watch.signal.stop());
    }
}
