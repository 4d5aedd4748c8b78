//! Logs that share their spare files while one of them removes some.

use rialto_disk::{
    Access, DirEntry, DirLock, Disk, DiskError, Faults, File, GroupedSync, Metadata, Operation,
    SimDisk,
};
use rialto_log::{Commit, Group, Options, SpareFiles, Writer, open};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SEGMENT_BYTES: u64 = 32 << 10;
/// Groups take a block each, and the header one.
const GROUPS: u64 = 7;
/// How long to wait for what comes at once, unless it never does.
const LONG: Duration = Duration::from_secs(5);

type Hook = Box<dyn Fn(&Path) + Send + Sync>;

/// A disk on which something can be done while a file is removed, and when there is no room for one.
struct Watched {
    disk: SimDisk,
    as_a_file_goes: Mutex<Option<Hook>>,
    as_none_is_made: Mutex<Option<Hook>>,
    full: io::ErrorKind,
}

fn watched(full: io::ErrorKind) -> Arc<Watched> {
    let (as_a_file_goes, as_none_is_made) = (Mutex::default(), Mutex::default());
    Arc::new(Watched { disk: SimDisk::new(1), as_a_file_goes, as_none_is_made, full })
}

impl Watched {
    /// The hook must not block the others.
    fn call(hook: &Mutex<Option<Hook>>, path: &Path) {
        let taken = hook.lock().unwrap().take();
        if let Some(hook) = taken {
            hook(path);
        }
    }

    fn fill_up(&self) {
        let bytes = |path: &PathBuf| self.disk.bytes_of(path).unwrap().len() as u64;
        let capacity_bytes = Some(self.disk.paths().iter().map(bytes).sum());
        self.disk.set_faults(Faults { capacity_bytes, ..Faults::default() });
    }
}

impl Disk for Watched {
    fn create(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        if self.disk.free_bytes(Path::new("/"))? >= SEGMENT_BYTES {
            return self.disk.create(path, access);
        }
        Self::call(&self.as_none_is_made, path);
        let (operation, path) = (Operation::Create, path.to_owned());
        Err(DiskError::Io { operation, path, source: self.full.into() })
    }

    fn remove(&self, path: &Path) -> Result<(), DiskError> {
        Self::call(&self.as_a_file_goes, path);
        self.disk.remove(path)
    }

    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        self.disk.open(path, access)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.disk.rename(from, to)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        self.disk.list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> Result<(), DiskError> {
        self.disk.create_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), DiskError> {
        self.disk.sync_dir(dir)
    }

    fn lock(&self, dir: &Path) -> Result<Box<dyn DirLock>, DiskError> {
        self.disk.lock(dir)
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        self.disk.free_bytes(dir)
    }

    fn list_each(
        &self,
        dir: &Path,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        self.disk.list_each(dir, visit)
    }

    fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        self.disk.metadata(path)
    }

    fn grouped_sync(&self, dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
        self.disk.grouped_sync(dir)
    }

    fn total_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        self.disk.total_bytes(dir)
    }
}

fn log(disk: &Arc<Watched>, dir: &str, spares: &SpareFiles) -> Writer {
    let spares = spares.clone();
    let options = Options { segment_bytes: SEGMENT_BYTES, spares, ..Options::new([1; 16]) };
    open(disk.clone(), Path::new(dir), options).unwrap().0
}

fn fill(writer: &mut Writer, groups: u64) {
    for _ in 0..groups {
        let mut group = Group::new(4096);
        group.begin(writer.next_seq());
        group.append(b"a record").unwrap();
        writer.write(&mut group, Commit::Synced).unwrap();
    }
}

/// Fills `segments` segments and another, and drops all but the last.
fn drop_segments(writer: &mut Writer, segments: u64) {
    fill(writer, (segments + 1) * GROUPS);
    let kept_from = writer.next_seq() - GROUPS;
    assert_eq!(writer.retain_from(kept_from).unwrap().removed.len() as u64, segments);
}

fn signal() -> (Sender<()>, Mutex<Receiver<()>>) {
    let (sender, receiver) = channel();
    (sender, Mutex::new(receiver))
}

#[test]
fn a_log_that_finds_the_disk_full_waits_for_the_room_that_another_is_making() {
    let disk = watched(io::ErrorKind::StorageFull);
    let spares = SpareFiles::up_to(2 * SEGMENT_BYTES);
    let [mut a, mut b, mut c] = ["/a", "/b", "/c"].map(|dir| log(&disk, dir, &spares));
    drop_segments(&mut c, 2);
    fill(&mut a, GROUPS);
    fill(&mut b, GROUPS);
    assert_eq!(spares.bytes(), 2 * SEGMENT_BYTES);
    disk.fill_up();
    let (removing, has_begun) = signal();
    let (seen_full, may_go_on) = signal();
    *disk.as_a_file_goes.lock().unwrap() = Some(Box::new(move |_| {
        removing.send(()).unwrap();
        may_go_on.lock().unwrap().recv_timeout(LONG).unwrap();
    }));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| fill(&mut a, 1));
        has_begun.lock().unwrap().recv_timeout(LONG).unwrap();
        *disk.as_none_is_made.lock().unwrap() = Some(Box::new(move |path| {
            assert!(path.starts_with("/b"), "{}", path.display());
            seen_full.send(()).unwrap();
        }));
        fill(&mut b, 1);
        first.join().unwrap();
    });
    assert_eq!((a.position().seq, b.position().seq, spares.bytes()), (GROUPS + 1, GROUPS + 1, 0));
}

#[test]
fn spare_files_make_room_where_a_quota_is_used_up() {
    let disk = watched(io::ErrorKind::QuotaExceeded);
    let spares = SpareFiles::up_to(2 * SEGMENT_BYTES);
    let [mut a, mut b] = ["/a", "/b"].map(|dir| log(&disk, dir, &spares));
    drop_segments(&mut b, 2);
    fill(&mut a, GROUPS);
    disk.fill_up();
    fill(&mut a, 1);
    assert_eq!(spares.bytes(), 0);
}

#[test]
fn no_log_waits_while_another_removes_what_is_over_the_bound() {
    let disk = watched(io::ErrorKind::StorageFull);
    let spares = SpareFiles::up_to(2 * SEGMENT_BYTES);
    let [mut a, b] = ["/a", "/b"].map(|dir| log(&disk, dir, &spares));
    let b = Arc::new(Mutex::new(b));
    drop_segments(&mut b.lock().unwrap(), 2);
    let (done, has_rolled) = channel();
    let other = b.clone();
    *disk.as_a_file_goes.lock().unwrap() = Some(Box::new(move |path| {
        assert!(path.starts_with("/b"), "{}", path.display());
        let (rolled, has_rolled) = channel();
        let other = other.clone();
        std::thread::spawn(move || {
            // Its next segment is made of the file that is still kept.
            fill(&mut other.lock().unwrap(), 1);
            rolled.send(()).unwrap();
        });
        done.send(has_rolled.recv_timeout(LONG).is_ok()).unwrap();
    }));
    drop_segments(&mut a, 1);
    assert!(has_rolled.recv_timeout(LONG).unwrap(), "the other log waited");
    assert_eq!(b.lock().unwrap().position().seq, 3 * GROUPS + 1);
    assert_eq!(spares.bytes(), SEGMENT_BYTES);
}
