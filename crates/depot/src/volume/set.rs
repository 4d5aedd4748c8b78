//! The set of volumes.

use super::buffers::Buffers;
use super::codec::BlockSealer;
use super::output::{Output, Placed};
use super::{
    Described, FoundFile, MountedVolume, ScanCursor, StoredBytes, StoredPart, StoredReader,
    StoredWriter, VolumeError, VolumeIdentity, VolumeNumber, VolumeOptions, VolumeSpec,
    VolumeStatus, VolumeTotals, placement,
};
use crate::FileId;
use rialto_disk::{Disk, DiskError};
use rialto_log::KeyRing;
use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The volumes of a pool.
///
/// ```
/// use rialto_depot::FileId;
/// use rialto_depot::volume::{VolumeNumber, VolumeOptions, VolumeSpec, Volumes};
/// use rialto_disk::SimDisk;
/// use std::sync::Arc;
///
/// let volumes = Volumes::new(Arc::new(SimDisk::new(7)), VolumeOptions::default());
/// let place = "/files".into();
/// let spec = VolumeSpec { name: "a".to_owned(), place, weight: 1, identity: None };
/// volumes.mount(VolumeNumber(1), &spec)?;
/// let id = FileId(1 << 64);
/// let mut writer = volumes.begin(id, None, &[])?;
/// writer.write(b"an order")?;
/// let finished = writer.finish(b"orders.csv")?;
/// finished.make_durable()?;
/// let mut content = [0; 8];
/// volumes.open(id, finished.stored())?.read_at(0, &mut content)?;
/// assert_eq!(&content, b"an order");
/// # Ok::<(), rialto_depot::volume::VolumeError>(())
/// ```
#[derive(Clone)]
pub struct Volumes {
    shared: Arc<Shared>,
}

/// What writers share with the set.
pub(super) struct Shared {
    disk: Arc<dyn Disk>,
    pub(super) options: VolumeOptions,
    pub(super) buffers: Arc<Buffers>,
    pub(super) unsynced_bytes: AtomicU64,
    pub(super) bucket_bytes: AtomicU64,
    /// By number.
    volumes: RwLock<Vec<Arc<MountedVolume>>>,
}

impl Shared {
    fn volumes(&self) -> RwLockReadGuard<'_, Vec<Arc<MountedVolume>>> {
        self.volumes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn volumes_to_change(&self) -> RwLockWriteGuard<'_, Vec<Arc<MountedVolume>>> {
        self.volumes.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A volume for a new file.
    pub(super) fn place(
        &self,
        id: FileId,
        len_hint: Option<u64>,
        not: &[VolumeNumber],
    ) -> Result<Placed, VolumeError> {
        let volumes = self.volumes();
        let bytes = len_hint.unwrap_or(0);
        // It is counted as written to before the set may change.
        placement::choose(&volumes, id, bytes, self.options.free_bytes_min, not).map(Placed::new)
    }
}

impl std::fmt::Debug for Volumes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Volumes").field(&*self.shared.volumes()).finish()
    }
}

impl Volumes {
    /// A set without volumes.
    pub fn new(disk: Arc<dyn Disk>, options: VolumeOptions) -> Self {
        let shared = Shared {
            disk,
            buffers: Buffers::new(options.idle_buffers_max),
            options,
            unsynced_bytes: AtomicU64::new(0),
            bucket_bytes: AtomicU64::new(0),
            volumes: RwLock::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Mounts a volume, and locks it if it is a directory. Returns its identity, which the caller keeps in the
    /// specification: later mounts then refuse another directory in its place.
    ///
    /// # Errors
    /// If the number, the name or the directory is in use, the directory is not the volume, or the
    /// disk fails.
    pub fn mount(
        &self,
        number: VolumeNumber,
        spec: &VolumeSpec,
    ) -> Result<VolumeIdentity, VolumeError> {
        let is_mounted = |volumes: &[Arc<MountedVolume>]| {
            volumes.iter().any(|it| it.number() == number || it.name() == spec.name)
        };
        let mounted = || VolumeError::AlreadyMounted { number, name: spec.name.clone() };
        if is_mounted(&self.shared.volumes()) {
            return Err(mounted());
        }
        let volume = MountedVolume::mount(&self.shared.disk, number, spec, &self.shared.options)?;
        let identity = volume.identity();
        let mut volumes = self.shared.volumes_to_change();
        if is_mounted(&volumes) {
            return Err(mounted());
        }
        let at = volumes.partition_point(|it| it.number() < number);
        volumes.insert(at, Arc::new(volume));
        Ok(identity)
    }

    /// Begins or ends the draining of a volume: one that drains takes no new files.
    ///
    /// # Errors
    /// If it is not mounted.
    pub fn set_draining(&self, number: VolumeNumber, draining: bool) -> Result<(), VolumeError> {
        self.get(number)?.set_draining(draining);
        Ok(())
    }

    /// Unmounts a volume. Open readers keep working, and its directory stays locked for them.
    ///
    /// # Errors
    /// If it is not mounted, or files are being written to it: a [`StoredWriter`] or a
    /// [`Finished`](super::Finished) exists.
    pub fn unmount(&self, number: VolumeNumber) -> Result<(), VolumeError> {
        let mut volumes = self.shared.volumes_to_change();
        let at = volumes
            .binary_search_by_key(&number, |it| it.number())
            .map_err(|_| VolumeError::NotMounted { number })?;
        volumes[at].check_unwritten()?;
        volumes.remove(at);
        Ok(())
    }

    /// Refuses while files are being written to a volume.
    pub(crate) fn check_unwritten(&self, number: VolumeNumber) -> Result<(), VolumeError> {
        // No writer is between its choice of a volume and its count: both happen under this lock.
        let volumes = self.shared.volumes_to_change();
        let at = volumes.binary_search_by_key(&number, |it| it.number());
        at.map_err(|_| VolumeError::NotMounted { number })
            .and_then(|at| volumes[at].check_unwritten())
    }

    pub(super) fn keys(&self) -> &KeyRing {
        &self.shared.options.keys
    }

    /// A mounted volume.
    ///
    /// # Errors
    /// If it is not mounted.
    pub fn get(&self, number: VolumeNumber) -> Result<Arc<MountedVolume>, VolumeError> {
        let volumes = self.shared.volumes();
        let at = volumes.binary_search_by_key(&number, |it| it.number());
        at.map(|at| Arc::clone(&volumes[at])).map_err(|_| VolumeError::NotMounted { number })
    }

    /// The mounted volumes, by number.
    pub fn list(&self) -> Vec<VolumeStatus> {
        self.shared.volumes().iter().map(|it| it.status()).collect()
    }

    /// The space of all volumes in directories.
    pub fn totals(&self) -> VolumeTotals {
        let mut devices = HashSet::new();
        let mut totals = VolumeTotals::default();
        for volume in &*self.shared.volumes() {
            if !volume.place.has_free_space() || !devices.insert(volume.device()) {
                continue;
            }
            totals.file_systems += 1;
            totals.free_bytes = totals.free_bytes.saturating_add(volume.free_bytes());
            totals.total_bytes = totals.total_bytes.saturating_add(volume.total_bytes());
        }
        totals
    }

    /// Probes every volume: refreshes its free space; a failed one is written to, and takes files
    /// again if that succeeds. Returns the volumes whose state changed.
    pub fn probe(&self) -> Vec<VolumeNumber> {
        // A probe of a device that hangs must not stop the others: the set is not locked.
        let volumes = self.shared.volumes().clone();
        volumes.iter().filter(|it| it.probe()).map(|it| it.number()).collect()
    }

    /// Begins a file on a volume. Volumes are chosen in proportion to weight and free space. `not`
    /// are volumes that failed for this file. The first block is kept in memory, so that until it
    /// is written the writer itself changes to another volume if one fails. With a `len_hint` of
    /// the content's length in bytes, a volume is chosen that has the room.
    ///
    /// # Errors
    /// If no volume takes new files, none has room, or there is no key to encrypt with.
    pub fn begin(
        &self,
        id: FileId,
        len_hint: Option<u64>,
        not: &[VolumeNumber],
    ) -> Result<StoredWriter, VolumeError> {
        let options = &self.shared.options;
        let placed = self.shared.place(id, len_hint, not)?;
        let output = Output::new(&self.shared, placed, id, len_hint, not);
        let sealer = BlockSealer::new(options.sealing, &options.keys, id).map_err(|source| {
            let (name, path) = (output.volume().name().to_owned(), output.path());
            VolumeError::Sealing { name, path, part: StoredPart::Content, source }
        })?;
        Ok(StoredWriter::new(id, output, sealer, options.sha256))
    }

    /// Opens a stored file; its footer and block table are checked.
    ///
    /// # Errors
    /// If the volume is not mounted, or the file is missing, damaged or not the one of the record.
    pub fn open(&self, id: FileId, stored: &StoredBytes) -> Result<StoredReader, VolumeError> {
        let volume = self.get(stored.volume)?;
        StoredReader::open(&volume, id, Some(stored), &self.shared.options.keys)
    }

    /// What the footer of a stored file says of it, for a file whose record is lost. The content is
    /// not read: open the file and verify it.
    ///
    /// # Errors
    /// As of [`Volumes::open`].
    pub fn describe(&self, id: FileId, volume: VolumeNumber) -> Result<Described, VolumeError> {
        let volume = self.get(volume)?;
        StoredReader::open(&volume, id, None, &self.shared.options.keys)?.describe()
    }

    /// Removes a stored file. False if it was not there. Not durable: after a crash the bytes may
    /// be there again, without a record.
    ///
    /// # Errors
    /// If the volume is not mounted, or the disk fails.
    pub fn remove(&self, id: FileId, volume: VolumeNumber) -> Result<bool, VolumeError> {
        let volume = self.get(volume)?;
        match volume.disk.remove(&volume.layout.path(id)) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => volume.check_identity().map(|()| false),
            Err(error) => Err(volume.change_failed(error)),
        }
    }

    /// Up to `max` further stored files of a volume; none at the end. Files that are created or
    /// removed meanwhile may or may not be among them.
    ///
    /// # Errors
    /// If the volume is not mounted, or the disk fails. The scan can be continued.
    pub fn scan(
        &self,
        volume: VolumeNumber,
        cursor: &mut ScanCursor,
        max: usize,
    ) -> Result<Vec<FoundFile>, VolumeError> {
        self.get(volume)?.scan(cursor, max)
    }

    /// Moves a stored file into the directory `quarantine` of its volume, durably. In a bucket it is
    /// copied and removed.
    ///
    /// # Errors
    /// If the volume is not mounted, the file is missing, or the disk fails.
    pub fn quarantine(&self, id: FileId, volume: VolumeNumber) -> Result<(), VolumeError> {
        let volume = self.get(volume)?;
        volume.check_identity()?;
        let (from, dir) = (volume.layout.path(id), volume.layout.quarantine());
        let moved = || -> Result<(), DiskError> {
            volume.disk.create_dir_all(&dir)?;
            volume.disk.rename(&from, &dir.join(id.to_string()))?;
            volume.disk.sync_dir(&dir)?;
            volume.disk.sync_dir(&volume.layout.shard_dir(volume.layout.shard(id)))
        };
        match moved() {
            Err(error) if error.is_not_found() => {
                let name = volume.name().to_owned();
                Err(VolumeError::Missing { name, path: from })
            }
            moved => moved.map_err(|error| volume.change_failed(error)),
        }
    }
}
