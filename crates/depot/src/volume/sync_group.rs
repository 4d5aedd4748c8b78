//! Many files share one sync.

use rialto_disk::{Disk, DiskError, File};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A file that is to become durable: its bytes and its name.
pub(super) struct Unsynced {
    file: Arc<dyn File>,
    dir: PathBuf,
    result: Mutex<Option<Result<(), DiskError>>>,
}

impl Unsynced {
    pub(super) fn new(file: Arc<dyn File>, dir: &Path) -> Arc<Self> {
        Arc::new(Self { file, dir: dir.to_owned(), result: Mutex::new(None) })
    }

    fn result(&self) -> MutexGuard<'_, Option<Result<(), DiskError>>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of one volume that wait for a sync.
///
/// The first caller becomes the leader and syncs. Callers that come meanwhile form the next group,
/// whose leader is one of them: no file waits for more than the sync in progress and its own.
#[derive(Default)]
pub(super) struct SyncGroup {
    state: Mutex<State>,
    woken: Condvar,
    groups: AtomicU64,
}

#[derive(Default)]
struct State {
    waiting: Vec<Arc<Unsynced>>,
    leading: bool,
}

impl SyncGroup {
    /// Returns when the files are durable, or with the first failure of one of them. `root` is the
    /// directory of the volume.
    pub(super) fn sync(
        &self,
        disk: &dyn Disk,
        root: &Path,
        files: &[Arc<Unsynced>],
    ) -> Result<(), DiskError> {
        let mut state = self.lock();
        state.waiting.extend(files.iter().cloned());
        while files.iter().any(|file| file.result().is_none()) {
            if state.leading {
                state = self.woken.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.leading = true;
            let group = std::mem::take(&mut state.waiting);
            drop(state);
            self.groups.fetch_add(1, Ordering::Relaxed);
            sync_all(disk, root, &group);
            state = self.lock();
            state.leading = false;
            self.woken.notify_all();
        }
        drop(state);
        files.iter().try_for_each(|file| file.result().take().unwrap_or(Ok(())))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of syncs so far.
    #[cfg(test)]
    pub(super) fn groups(&self) -> u64 {
        self.groups.load(Ordering::Relaxed)
    }
}

/// Syncs a group and gives every file its result.
fn sync_all(disk: &dyn Disk, root: &Path, group: &[Arc<Unsynced>]) {
    let _ = root;
    sync_each(disk, group);
}

/// Syncs every file through its own handle, then every directory once.
fn sync_each(disk: &dyn Disk, group: &[Arc<Unsynced>]) {
    let mut dirs: BTreeMap<&Path, Result<(), DiskError>> = BTreeMap::new();
    for file in group {
        let synced = file.file.sync_data();
        if synced.is_ok() {
            dirs.insert(&file.dir, Ok(()));
        }
        *file.result() = Some(synced);
    }
    for (dir, result) in &mut dirs {
        *result = disk.sync_dir(dir);
    }
    for file in group {
        let mut result = file.result();
        if let (Some(Ok(())), Some(Err(error))) = (&*result, dirs.get(&*file.dir)) {
            *result = Some(Err(again(error)));
        }
    }
}

/// The same failure for another file.
fn again(error: &DiskError) -> DiskError {
    match error {
        DiskError::Io { operation, path, source } => {
            let source = match source.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(source.kind(), source.to_string()),
            };
            DiskError::io(*operation, path, source)
        }
        DiskError::Locked { path, holder } => {
            DiskError::Locked { path: path.clone(), holder: *holder }
        }
        DiskError::Crashed { operation, path } => {
            DiskError::Crashed { operation: *operation, path: path.clone() }
        }
    }
}
