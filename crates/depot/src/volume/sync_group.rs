//! Many files share one sync.

use rialto_disk::{Disk, DiskError, File, GroupedSync};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The number of grouped syncs of a volume that had failed when a file was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SyncEpoch(u64);

/// A file that is to become durable: its bytes and its name.
pub(super) struct Unsynced {
    file: Arc<dyn File>,
    dir: PathBuf,
    created: SyncEpoch,
    result: Mutex<Option<Result<(), DiskError>>>,
}

impl Unsynced {
    /// `created` is the epoch before the file was written, and `file` a handle that has been open
    /// since then: it reports if its bytes were lost.
    pub(super) fn new(file: Arc<dyn File>, dir: &Path, created: SyncEpoch) -> Arc<Self> {
        Arc::new(Self { file, dir: dir.to_owned(), created, result: Mutex::new(None) })
    }

    /// The directories whose syncs make the name of the file durable: its own, and those above it in
    /// which a directory is new.
    fn dirs<'a>(&'a self, parents: &'a Unsure) -> impl Iterator<Item = &'a Path> {
        let above = self.dir.ancestors().skip(1).filter(|dir| parents.contains_key(*dir));
        std::iter::once(&*self.dir).chain(above)
    }

    /// Whether a grouped sync in this epoch that succeeds makes it durable: no failure since it was
    /// created, or since a directory above it was, can have been of its bytes or of their names.
    fn is_covered(&self, epoch: SyncEpoch, parents: &Unsure) -> bool {
        let is_covered = |dir: &Path| parents.get(dir).is_none_or(|names| names.since == epoch);
        self.created == epoch && self.dir.ancestors().skip(1).all(is_covered)
    }

    fn result(&self) -> MutexGuard<'_, Option<Result<(), DiskError>>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of one volume that wait for a sync.
///
/// The first caller becomes the leader and syncs. Callers that come meanwhile form the next group,
/// whose leader is one of them: no file waits for more than the sync in progress and its own.
pub(super) struct SyncGroup {
    state: Mutex<State>,
    woken: Condvar,
    /// None where the disk has no grouped sync.
    grouped: Mutex<Option<Box<dyn GroupedSync>>>,
    /// A failure of the grouped sync may be of any file that was written before, and is reported
    /// once. A file of an earlier epoch is therefore synced by itself, even if the grouped sync
    /// succeeds by then.
    failures: AtomicU64,
    parents: Mutex<Parents>,
    groups: AtomicU64,
}

/// The directories in which others were created whose names are not known to be durable.
type Unsure = BTreeMap<PathBuf, NewNames>;

/// The names of new directories in one that is above them.
#[derive(Clone, Copy)]
struct NewNames {
    /// The epoch before the first of them.
    since: SyncEpoch,
    /// What [`Parents::created`] was after the last of them.
    created: u64,
    /// How many are being created.
    begun: u32,
}

#[derive(Default)]
struct Parents {
    /// The number of directories that were created so far.
    created: u64,
    unsure: Unsure,
}

impl Parents {
    /// A sync covered the names in `dir` that were known before it.
    fn was_synced(&mut self, dir: &Path, before: &NewNames) {
        let is_all = |now: &NewNames| now.begun == 0 && now.created == before.created;
        if self.unsure.get(dir).is_some_and(is_all) {
            self.unsure.remove(dir);
        }
    }
}

#[derive(Default)]
struct State {
    waiting: Vec<Arc<Unsynced>>,
    leading: bool,
}

impl SyncGroup {
    pub(super) fn new(grouped: Option<Box<dyn GroupedSync>>) -> Self {
        Self {
            state: Mutex::default(),
            woken: Condvar::new(),
            grouped: Mutex::new(grouped),
            failures: AtomicU64::new(0),
            parents: Mutex::default(),
            groups: AtomicU64::new(0),
        }
    }

    /// The epoch of a file that is created after this call.
    pub(super) fn epoch(&self) -> SyncEpoch {
        SyncEpoch(self.failures.load(Ordering::SeqCst))
    }

    /// Creates a directory in `dir`. The sync of a file below makes the name of the new directory
    /// durable, too, also that of a file which another thread writes as soon as the directory exists.
    pub(super) fn create_in<T>(&self, dir: &Path, create: impl FnOnce() -> T) -> T {
        let epoch = self.epoch();
        {
            let unsure = &mut self.parents().unsure;
            let fresh = NewNames { since: epoch, created: 0, begun: 0 };
            let names = unsure.entry(dir.to_owned()).or_insert(fresh);
            names.since = names.since.min(epoch);
            names.begun += 1;
        }
        let done = create();
        let mut parents = self.parents();
        parents.created += 1;
        let created = parents.created;
        if let Some(names) = parents.unsure.get_mut(dir) {
            names.begun -= 1;
            names.created = created;
        }
        done
    }

    fn parents(&self) -> MutexGuard<'_, Parents> {
        self.parents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when each of the files is durable or has failed.
    pub(super) fn sync(
        &self,
        disk: &dyn Disk,
        files: &[Arc<Unsynced>],
    ) -> Vec<Result<(), DiskError>> {
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
            self.sync_all(disk, &group);
            state = self.lock();
            state.leading = false;
            self.woken.notify_all();
        }
        drop(state);
        files.iter().map(|file| file.result().take().unwrap_or(Ok(()))).collect()
    }

    /// Syncs a group and gives every file its result.
    fn sync_all(&self, disk: &dyn Disk, group: &[Arc<Unsynced>]) {
        let parents = self.parents().unsure.clone();
        let mut grouped = self.grouped.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(grouped) = &mut *grouped else { return self.sync_each(disk, group, &parents) };
        let epoch = self.epoch();
        let (covered, mut alone): (Vec<_>, Vec<_>) =
            group.iter().cloned().partition(|file| file.is_covered(epoch, &parents));
        if !covered.is_empty() {
            match grouped.sync() {
                Ok(()) => {
                    covered.iter().for_each(|file| *file.result() = Some(Ok(())));
                    let mut known = self.parents();
                    let covered = parents.iter().filter(|(_, names)| names.since == epoch);
                    covered.for_each(|(dir, names)| known.was_synced(dir, names));
                }
                Err(error) => {
                    self.failures.fetch_add(1, Ordering::SeqCst);
                    tracing::warn!(%error, "a grouped sync failed; each file is synced by itself");
                    alone.extend(covered);
                }
            }
        }
        self.sync_each(disk, &alone, &parents);
    }

    /// Syncs every file through its own handle, then every directory once, and gives every file its
    /// result: a failure refuses the damaged file only. `parents` are those from before the first
    /// sync.
    fn sync_each(&self, disk: &dyn Disk, group: &[Arc<Unsynced>], parents: &Unsure) {
        let mut dirs: BTreeMap<&Path, Result<(), DiskError>> = BTreeMap::new();
        for file in group {
            let synced = file.file.sync_data();
            if synced.is_ok() {
                dirs.extend(file.dirs(parents).map(|dir| (dir, Ok(()))));
            }
            *file.result() = Some(synced);
        }
        for (dir, result) in &mut dirs {
            *result = disk.sync_dir(dir);
            if let (Ok(()), Some(names)) = (&*result, parents.get(*dir)) {
                self.parents().was_synced(dir, names);
            }
        }
        for file in group {
            let mut result = file.result();
            let failure = file.dirs(parents).find_map(|dir| dirs.get(dir)?.as_ref().err());
            if let (Some(Ok(())), Some(error)) = (&*result, failure) {
                *result = Some(Err(again(error)));
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_disk::{Access, SimDisk};
    use std::sync::mpsc;

    const DIRS: [&str; 2] = ["/a", "/b"];

    fn files(disk: &SimDisk, number: usize) -> Vec<Arc<Unsynced>> {
        DIRS.iter().for_each(|dir| disk.create_dir_all(Path::new(dir)).unwrap());
        let file = |nth: usize| {
            let dir = Path::new(DIRS[nth % 2]);
            let file = disk.create(&dir.join(nth.to_string()), Access::Buffered).unwrap();
            file.write_all_at(0, b"written").unwrap();
            Unsynced::new(Arc::from(file), dir, SyncEpoch(0))
        };
        (0..number).map(file).collect()
    }

    #[test]
    fn callers_that_come_during_a_sync_share_the_next_one() {
        let disk = SimDisk::new(1);
        let files = files(&disk, 10);
        let group = SyncGroup::new(None);
        let (hangs, has_begun) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        disk.hang(Path::new("/"), 1, move || {
            hangs.send(()).unwrap();
            released.recv().unwrap();
        });
        std::thread::scope(|scope| {
            let sync = |file: &Arc<Unsynced>| group.sync(&disk, &[Arc::clone(file)]).remove(0);
            let (first, others) = files.split_first().unwrap();
            let first = scope.spawn(move || sync(first));
            has_begun.recv().unwrap();
            let others: Vec<_> =
                others.iter().map(|file| scope.spawn(move || sync(file))).collect();
            while group.lock().waiting.len() < others.len() {
                std::thread::yield_now();
            }
            release.send(()).unwrap();
            assert!(first.join().unwrap().is_ok());
            assert!(others.into_iter().all(|other| other.join().unwrap().is_ok()));
        });
        assert_eq!(group.groups(), 2);
        disk.crash();
        for nth in 0..10 {
            let path = Path::new(DIRS[nth % 2]).join(nth.to_string());
            assert_eq!(disk.bytes_of(&path).as_deref(), Some(&b"written"[..]), "{nth}");
        }
    }

    #[test]
    fn a_failed_sync_refuses_the_damaged_file_or_the_files_of_the_damaged_directory() {
        // Four files, then two directories with two files each.
        for (failing, refused) in [(1, 1), (3, 1), (5, 2), (6, 2)] {
            let disk = SimDisk::new(2);
            let files = files(&disk, 4);
            disk.fail_sync(failing);
            SyncGroup::new(None).sync_all(&disk, &files);
            let results = files.iter().filter_map(|file| file.result().take());
            assert_eq!(results.filter(Result::is_err).count(), refused, "sync {failing}");
        }
    }

    #[test]
    fn a_file_of_a_new_directory_is_durable_with_the_names_of_the_directories_above_it() {
        let new = Path::new("/volume/files/00/01");
        for seed in 0..40 {
            for is_grouped in [false, true] {
                let disk = SimDisk::new(seed);
                disk.create_dir_all(Path::new("/volume/files")).unwrap();
                let grouped = disk.grouped_sync(Path::new("/")).unwrap();
                let group = SyncGroup::new(is_grouped.then_some(grouped));
                for dir in [Path::new("/volume/files/00"), new] {
                    group.create_in(dir.parent().unwrap(), || disk.create_dir(dir).unwrap());
                }
                let file = disk.create(&new.join("a"), Access::Buffered).unwrap();
                file.write_all_at(0, b"written").unwrap();
                let file = Unsynced::new(Arc::from(file), new, SyncEpoch(0));
                group.sync(&disk, &[file]).remove(0).unwrap();
                assert!(group.parents().unsure.is_empty());
                disk.crash();
                assert!(disk.bytes_of(&new.join("a")).is_some(), "seed {seed}, {is_grouped}");
            }
        }
    }

    #[test]
    fn a_failed_sync_of_a_directory_above_refuses_the_file_and_is_done_again_for_the_next() {
        let (files, shard) = (Path::new("/files"), Path::new("/files/00"));
        let disk = SimDisk::new(4);
        disk.create_dir_all(files).unwrap();
        let group = SyncGroup::new(None);
        group.create_in(files, || disk.create_dir(shard).unwrap());
        let sync = |name: &str| {
            let file = disk.create(&shard.join(name), Access::Buffered).unwrap();
            group.sync(&disk, &[Unsynced::new(Arc::from(file), shard, SyncEpoch(0))]).remove(0)
        };
        // Its bytes come first, then the directory above, then its own.
        disk.fail_sync(2);
        assert!(sync("a").is_err());
        assert!(!group.parents().unsure.is_empty());
        assert!(sync("b").is_ok());
        assert!(group.parents().unsure.is_empty());
    }

    #[test]
    fn the_names_above_a_file_are_synced_again_if_a_grouped_sync_failed_since_they_were_new() {
        let (files, shard) = (Path::new("/files"), Path::new("/files/00"));
        let disk = SimDisk::new(6);
        disk.create_dir_all(files).unwrap();
        let grouped = disk.grouped_sync(Path::new("/")).unwrap();
        let group = SyncGroup::new(Some(grouped));
        group.create_in(files, || disk.create_dir(shard).unwrap());
        let write = |path: &Path| {
            let file = disk.create(path, Access::Buffered).unwrap();
            file.write_all_at(0, b"written").unwrap();
            Unsynced::new(Arc::from(file), path.parent().unwrap(), group.epoch())
        };
        let elsewhere = write(Path::new("/b"));
        disk.fail_sync(1);
        let _ = group.sync(&disk, &[elsewhere]);
        assert!(group.parents().unsure.contains_key(files));
        // The next grouped sync succeeds and says nothing of what was lost before.
        let elsewhere = write(Path::new("/c"));
        assert!(group.sync(&disk, &[elsewhere]).remove(0).is_ok());
        assert!(group.parents().unsure.contains_key(files));
        disk.fail_sync(2);
        let below = write(&shard.join("a"));
        assert!(group.sync(&disk, &[below]).remove(0).is_err());
        let below = write(&shard.join("d"));
        assert!(group.sync(&disk, &[below]).remove(0).is_ok());
        assert!(group.parents().unsure.is_empty());
    }

    #[test]
    fn a_sync_while_a_directory_is_created_does_not_forget_its_name() {
        let (files, shard) = (Path::new("/files"), Path::new("/files/00"));
        let disk = SimDisk::new(7);
        disk.create_dir_all(files).unwrap();
        let group = SyncGroup::new(None);
        let write = |path: &Path| {
            let file = disk.create(path, Access::Buffered).unwrap();
            Unsynced::new(Arc::from(file), path.parent().unwrap(), SyncEpoch(0))
        };
        group.create_in(files, || {
            let beside = write(&files.join("a"));
            assert!(group.sync(&disk, &[beside]).remove(0).is_ok());
            disk.create_dir(shard).unwrap();
            assert!(group.parents().unsure.contains_key(files));
        });
        // Its bytes come first, then the directory above.
        disk.fail_sync(2);
        let below = write(&shard.join("b"));
        assert!(group.sync(&disk, &[below]).remove(0).is_err());
    }

    #[test]
    fn one_grouped_sync_makes_every_file_durable() {
        let disk = SimDisk::new(3);
        let group = SyncGroup::new(Some(disk.grouped_sync(Path::new("/")).unwrap()));
        let files = files(&disk, 8);
        let before = disk.operations();
        assert!(group.sync(&disk, &files).iter().all(Result::is_ok));
        assert_eq!(disk.operations(), before + 1);
        disk.crash();
        assert_eq!(disk.paths().len(), 8);
    }

    #[test]
    fn a_failed_grouped_sync_refuses_the_damaged_file_only_in_whichever_group_it_comes() {
        for seed in 0..40 {
            let disk = SimDisk::new(seed);
            let group = SyncGroup::new(Some(disk.grouped_sync(Path::new("/")).unwrap()));
            let files = files(&disk, 6);
            disk.fail_sync(1);
            // The grouped sync of the first two fails, also if the damage is to one of the others,
            // which come later, when the grouped sync succeeds again.
            let results: Vec<bool> = [&files[..2], &files[2..]]
                .into_iter()
                .flat_map(|some| {
                    group.sync_all(&disk, some);
                    some.iter().map(|file| file.result().take().is_some_and(|it| it.is_ok()))
                })
                .collect();
            assert_eq!(results.iter().filter(|ok| !**ok).count(), 1, "seed {seed}");
            disk.crash();
            for (nth, durable) in results.into_iter().enumerate() {
                let path = Path::new(DIRS[nth % 2]).join(nth.to_string());
                let whole = disk.bytes_of(&path).as_deref() == Some(&b"written"[..]);
                assert!(whole || !durable, "seed {seed}, file {nth}");
            }
        }
    }
}
