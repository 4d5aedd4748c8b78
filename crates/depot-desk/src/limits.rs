//! The limits of clients of the depot.

use rialto_bus::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The limits of clients of the depot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepotLimits {
    /// The most uploads at a time. Each takes a thread and about 2 MiB of memory.
    pub uploads_max: usize,
    /// The most uploads of one key at a time.
    pub key_uploads_max: usize,
    /// The fewest bytes per second of an upload.
    pub upload_rate_min: u64,
    /// The most downloads at a time. Each takes about 2 MiB of memory.
    pub downloads_max: usize,
    /// The most downloads of one key at a time.
    pub key_downloads_max: usize,
    /// The most tenants with names in a grant, when a key's file would create one. Operators are
    /// exempt.
    pub grant_tenants_max: usize,
    /// The directories of this machine below which folders may be watched; none without any.
    pub watch_roots: Vec<PathBuf>,
}

impl Default for DepotLimits {
    fn default() -> Self {
        DepotLimits {
            uploads_max: 64,
            key_uploads_max: 16,
            upload_rate_min: 16 << 10,
            downloads_max: 256,
            key_downloads_max: 64,
            grant_tenants_max: 100,
            watch_roots: Vec::new(),
        }
    }
}

/// The transfers of one direction in progress, by client.
#[derive(Clone)]
pub(crate) struct Transfers {
    what: &'static str,
    code: &'static str,
    max: usize,
    client_max: usize,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Default)]
struct Counts {
    all: usize,
    by_client: HashMap<String, usize>,
}

/// A transfer in progress, until it is dropped.
pub struct TransferSlot {
    transfers: Transfers,
    client: String,
}

impl Transfers {
    pub(crate) fn uploads(limits: &DepotLimits) -> Transfers {
        let (max, client_max) = (limits.uploads_max, limits.key_uploads_max);
        let counts = Arc::default();
        Transfers { what: "uploads", code: "too_many_uploads", max, client_max, counts }
    }

    pub(crate) fn downloads(limits: &DepotLimits) -> Transfers {
        let (max, client_max) = (limits.downloads_max, limits.key_downloads_max);
        let counts = Arc::default();
        Transfers { what: "downloads", code: "too_many_downloads", max, client_max, counts }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // No section behind this lock leaves the counts inconsistent when it panics.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of transfers in progress.
    pub(crate) fn count(&self) -> usize {
        self.counts().all
    }

    /// Begins a transfer of a client.
    pub(crate) fn begin(&self, client: &str) -> Result<TransferSlot> {
        let mut counts = self.counts();
        let own = counts.by_client.get(client).copied().unwrap_or_default();
        if counts.all >= self.max || own >= self.client_max {
            let message = format!(
                "There are as many {} as there may be at a time: {} of a key, {} in all.",
                self.what, self.client_max, self.max
            );
            return Err(Error::new(ErrorKind::Busy, self.code, message));
        }
        counts.all += 1;
        counts.by_client.insert(client.to_owned(), own + 1);
        Ok(TransferSlot { transfers: self.clone(), client: client.to_owned() })
    }
}

impl Drop for TransferSlot {
    fn drop(&mut self) {
        let mut counts = self.transfers.counts();
        counts.all -= 1;
        if let Some(own) = counts.by_client.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                counts.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_are_bounded_for_each_client_and_in_all() {
        let limits = DepotLimits { uploads_max: 3, key_uploads_max: 2, ..DepotLimits::default() };
        let uploads = Transfers::uploads(&limits);
        let begin = |client| uploads.begin(client).map_err(|error| error.code());
        let (first, _second) = (begin("one").unwrap(), begin("one").unwrap());
        assert_eq!(begin("one").err(), Some("too_many_uploads"));
        let _third = begin("other").unwrap();
        assert_eq!(begin("third").err(), Some("too_many_uploads"));
        drop(first);
        assert_eq!(uploads.count(), 2);
        assert!(begin("one").is_ok());
    }
}
