//! A set of volumes for tests.

use rialto_depot::FileId;
use rialto_depot::volume::{
    Finished, StoredBytes, VolumeError, VolumeNumber, VolumeOptions, VolumeSpec, Volumes,
};
use rialto_disk::{
    Access, DirEntry, DirLock, Disk, DiskError, File, GroupedSync, Metadata, SimDisk,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) const MIB: usize = 1 << 20;
pub(crate) const ONE: VolumeNumber = VolumeNumber(1);
pub(crate) const TWO: VolumeNumber = VolumeNumber(2);

/// An id as of the `nth` nanosecond.
pub(crate) fn id(nth: u64) -> FileId {
    FileId(u128::from(nth) << 64 | 0xd1ce)
}

/// Options without a minimum of free space.
pub(crate) fn options() -> VolumeOptions {
    VolumeOptions { free_bytes_min: 0, ..VolumeOptions::default() }
}

pub(crate) fn spec(name: &str, dir: &Path) -> VolumeSpec {
    VolumeSpec { name: name.to_owned(), place: dir.into(), weight: 1, identity: None }
}

/// One volume `one` in `dir`.
pub(crate) fn volumes_in(disk: Arc<dyn Disk>, dir: &Path, options: VolumeOptions) -> Volumes {
    let volumes = Volumes::new(disk, options);
    volumes.mount(ONE, &spec("one", dir)).unwrap();
    volumes
}

/// One volume `/one` on a simulated disk.
pub(crate) fn simulated(seed: u64, options: VolumeOptions) -> (SimDisk, Volumes) {
    let disk = SimDisk::new(seed);
    let volumes = volumes_in(Arc::new(disk.clone()), Path::new("/one"), options);
    (disk, volumes)
}

/// The same content for the same length and number: it neither repeats nor compresses.
pub(crate) fn content(bytes: usize, nth: u64) -> Vec<u8> {
    let mut state = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut content = Vec::with_capacity(bytes + 8);
    while content.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        content.extend_from_slice(&state.to_le_bytes());
    }
    content.truncate(bytes);
    content
}

/// Writes a file in pieces of `piece` bytes.
pub(crate) fn write(
    volumes: &Volumes,
    id: FileId,
    content: &[u8],
    piece: usize,
) -> Result<Finished, VolumeError> {
    let mut writer = volumes.begin(id, None, &[])?;
    content.chunks(piece).try_for_each(|piece| writer.write(piece))?;
    writer.finish(b"a description")
}

/// Reads and verifies a whole file.
pub(crate) fn read(
    volumes: &Volumes,
    id: FileId,
    stored: &StoredBytes,
) -> Result<Vec<u8>, VolumeError> {
    let mut reader = volumes.open(id, stored)?;
    reader.verify()?;
    let mut bytes = vec![0; stored.bytes as usize];
    let read = reader.read_at(0, &mut bytes)?;
    assert_eq!(read, bytes.len());
    assert_eq!(reader.description()?, b"a description");
    Ok(bytes)
}

/// Where `one` stores a file, on a simulated disk.
pub(crate) fn path_of(disk: &SimDisk, id: FileId) -> PathBuf {
    disk.paths().into_iter().find(|path| path.ends_with(id.to_string())).unwrap()
}

type BeforeCreate = Box<dyn Fn(&Path, Access) -> Result<(), DiskError> + Send + Sync>;

/// A simulated disk of 1 TiB that asks before it creates a file.
pub(crate) struct Watched {
    inner: SimDisk,
    before_create: BeforeCreate,
}

impl Watched {
    pub(crate) fn new(
        seed: u64,
        before_create: impl Fn(&Path, Access) -> Result<(), DiskError> + Send + Sync + 'static,
    ) -> Self {
        Self { inner: SimDisk::new(seed), before_create: Box::new(before_create) }
    }
}

impl Disk for Watched {
    fn create(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        (self.before_create)(path, access)?;
        self.inner.create(path, access)
    }
    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        self.inner.open(path, access)
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.inner.rename(from, to)
    }
    fn remove(&self, path: &Path) -> Result<(), DiskError> {
        self.inner.remove(path)
    }
    fn list(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        self.inner.list(dir)
    }
    fn list_each(
        &self,
        dir: &Path,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        self.inner.list_each(dir, visit)
    }
    fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        self.inner.metadata(path)
    }
    fn create_dir_all(&self, dir: &Path) -> Result<(), DiskError> {
        self.inner.create_dir_all(dir)
    }
    fn create_dir(&self, dir: &Path) -> Result<(), DiskError> {
        self.inner.create_dir(dir)
    }
    fn sync_dir(&self, dir: &Path) -> Result<(), DiskError> {
        self.inner.sync_dir(dir)
    }
    fn grouped_sync(&self, dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
        self.inner.grouped_sync(dir)
    }
    fn lock(&self, dir: &Path) -> Result<Box<dyn DirLock>, DiskError> {
        self.inner.lock(dir)
    }
    fn free_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        self.inner.free_bytes(dir).map(|free| free.min(1 << 40))
    }
    fn total_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        self.inner.total_bytes(dir).map(|total| total.min(1 << 40))
    }
}
