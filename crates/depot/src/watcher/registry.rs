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
            permits: Permits::new(options.imports_at_once.saturating_sub(1)),
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

#[cfg(test)]
mod tests {
    use crate::{Depot, DepotOptions, TenantName, WatchSpec};
    use std::time::{Duration, Instant};

    /// A folder that hangs has all permits.
    #[test]
    fn a_watch_imports_with_its_own_thread_when_no_other_is_free() {
        let (dir, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut options = DepotOptions::at(dir.path());
        options.volumes.free_bytes_min = 0;
        options.watcher.settle = Duration::ZERO;
        let depot = Depot::open(options).unwrap();
        let permits: Vec<_> =
            std::iter::from_fn(|| depot.pool.watches.permits.try_take()).collect();
        assert_eq!(permits.len(), 7);
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), b"x").unwrap();
        }
        let acme = TenantName::new("acme").unwrap();
        depot.add_watch(WatchSpec::new("in", folder.path(), acme)).unwrap();
        let end = Instant::now() + Duration::from_secs(30);
        while depot.watches()[0].imported < 3 {
            assert!(Instant::now() < end, "nothing is imported without a permit");
            std::thread::yield_now();
        }
    }
}
