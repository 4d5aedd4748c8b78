//! One mounted volume.

use super::identity::Identity;
use super::known_dirs::KnownDirs;
use super::layout::Layout;
use super::place::{Found, MountedPlace};
use super::sync_group::SyncGroup;
use super::{
    BucketSpec, VolumeError, VolumeIdentity, VolumeNumber, VolumeOptions, VolumePlace, VolumeSpec,
    VolumeState, VolumeStatus,
};
use crate::FileId;
use rialto_disk::{Access, Disk, DiskError, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A mounted volume. Its state and sizes are one atomic load each.
pub struct MountedVolume {
    number: VolumeNumber,
    name: String,
    weight: u32,
    identity: VolumeIdentity,
    pub(super) layout: Layout,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) sync: SyncGroup,
    known: Mutex<KnownDirs<u32>>,
    draining: AtomicBool,
    failed: AtomicBool,
    free_bytes: AtomicU64,
    total_bytes: AtomicU64,
    device: AtomicU64,
    files_written: AtomicU64,
    bytes_written: AtomicU64,
    pub(super) unsynced_bytes: AtomicU64,
    pub(super) writers: AtomicU64,
    last_error: Mutex<Option<String>>,
    pub(super) place: MountedPlace,
    /// Where its bucket is, if it is in one.
    bucket: Option<BucketSpec>,
}

impl std::fmt::Debug for MountedVolume {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MountedVolume({} {})", self.number, self.name)
    }
}

impl MountedVolume {
    pub(super) fn mount(
        disk: &Arc<dyn Disk>,
        number: VolumeNumber,
        spec: &VolumeSpec,
        options: &VolumeOptions,
    ) -> Result<Self, VolumeError> {
        check_name(&spec.name)?;
        let name = spec.name.clone();
        let failed = |source| VolumeError::disk(&spec.name, source);
        let Found { place, disk, layout, identity, grouped } =
            MountedPlace::find(disk, spec, options)?;
        let bucket = match &spec.place {
            VolumePlace::Bucket(bucket) => Some(bucket.clone()),
            VolumePlace::Directory(_) => None,
        };
        let volume = Self {
            number,
            name,
            weight: spec.weight,
            identity,
            layout,
            disk,
            sync: SyncGroup::new(grouped),
            known: Mutex::new(KnownDirs::new(options.known_dirs_max)),
            draining: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            free_bytes: AtomicU64::new(0),
            total_bytes: AtomicU64::new(0),
            device: AtomicU64::new(0),
            files_written: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
            unsynced_bytes: AtomicU64::new(0),
            writers: AtomicU64::new(0),
            last_error: Mutex::new(None),
            place,
            bucket,
        };
        volume.measure().map_err(failed)?;
        Ok(volume)
    }

    /// Refuses while files are being written to it.
    pub(super) fn check_unwritten(&self) -> Result<(), VolumeError> {
        match self.writers.load(Ordering::Acquire) {
            0 => Ok(()),
            writers => Err(VolumeError::Busy { name: self.name.clone(), writers }),
        }
    }

    /// Its number.
    pub fn number(&self) -> VolumeNumber {
        self.number
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its share of new files.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Its identity.
    pub fn identity(&self) -> VolumeIdentity {
        self.identity
    }

    /// Whether it takes new files.
    pub fn state(&self) -> VolumeState {
        match (self.failed.load(Ordering::Relaxed), self.draining.load(Ordering::Relaxed)) {
            (true, _) => VolumeState::Failed,
            (false, true) => VolumeState::Draining,
            (false, false) => VolumeState::Up,
        }
    }

    /// The free space of its file system in bytes: as the disk last said it, less what was written
    /// since. The greatest number for a bucket, which has no limit.
    pub fn free_bytes(&self) -> u64 {
        self.free_bytes.load(Ordering::Relaxed)
    }

    /// The size of its file system in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }

    /// The device number of its file system.
    pub fn device(&self) -> u64 {
        self.device.load(Ordering::Relaxed)
    }

    /// The volume at this moment.
    pub fn status(&self) -> VolumeStatus {
        let has_free_space = self.place.has_free_space();
        VolumeStatus {
            number: self.number,
            name: self.name.clone(),
            dir: self.layout.dir().to_owned(),
            bucket: self.bucket.clone(),
            identity: self.identity,
            weight: self.weight,
            state: self.state(),
            free_bytes: has_free_space.then(|| self.free_bytes()),
            total_bytes: has_free_space.then(|| self.total_bytes()),
            device: self.device(),
            files_written: self.files_written.load(Ordering::Relaxed),
            bytes_written: self.bytes_written.load(Ordering::Relaxed),
            unsynced_bytes: self.unsynced_bytes.load(Ordering::Relaxed),
            last_error: self.last_error().clone(),
        }
    }

    fn last_error(&self) -> MutexGuard<'_, Option<String>> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_draining(&self, draining: bool) {
        self.draining.store(draining, Ordering::Relaxed);
    }

    pub(super) fn set_failed(&self, failed: bool) {
        if self.failed.swap(failed, Ordering::Relaxed) != failed {
            let (volume, state) = (&self.name, self.state());
            tracing::warn!(volume, %state, "the state of a volume changed");
        }
    }

    /// Asks for the space and the device.
    pub(super) fn measure(&self) -> Result<(), DiskError> {
        let dir = self.layout.dir();
        self.free_bytes.store(self.disk.free_bytes(dir)?, Ordering::Relaxed);
        if !self.place.has_free_space() {
            return Ok(());
        }
        self.total_bytes.store(self.disk.total_bytes(dir)?, Ordering::Relaxed);
        let device = self.disk.metadata(dir)?.device;
        self.device.store(device, Ordering::Relaxed);
        Ok(())
    }

    /// The error of a failed change. Unless space is what lacks, the volume takes no new files
    /// until a probe succeeds.
    pub(super) fn change_failed(&self, source: DiskError) -> VolumeError {
        if source.is_out_of_space() {
            // The quota of a user is not in the free space that the file system reports.
            let free = self.disk.free_bytes(self.layout.dir()).unwrap_or(0);
            self.free_bytes.store(free, Ordering::Relaxed);
        } else {
            self.set_failed(true);
        }
        self.note(VolumeError::disk(&self.name, source))
    }

    /// The error of a failed read: files are still written.
    pub(super) fn read_failed(&self, source: DiskError) -> VolumeError {
        self.note(VolumeError::disk(&self.name, source))
    }

    /// Keeps an error as the last one.
    pub(super) fn note(&self, error: VolumeError) -> VolumeError {
        *self.last_error() = Some(error.to_string());
        error
    }

    /// Forgets the last error: what it says is over.
    pub(super) fn forget_error(&self) {
        *self.last_error() = None;
    }

    /// Fails unless the directory still is this volume.
    pub(super) fn check_identity(&self) -> Result<(), VolumeError> {
        let (name, dir) = (self.name.clone(), self.layout.dir().to_owned());
        match Identity::read(&*self.disk, &self.name, &self.layout)? {
            Some(found) if found.identity == self.identity => Ok(()),
            Some(found) => {
                let (expected, found) = (Some(self.identity), found.identity);
                Err(VolumeError::Foreign { name, dir, expected, found })
            }
            None => Err(VolumeError::Gone { name, dir }),
        }
    }

    /// Creates a stored file, and its shard directory unless that is known to exist.
    pub(super) fn create(
        &self,
        id: FileId,
        access: Access,
    ) -> Result<(Box<dyn File>, PathBuf), VolumeError> {
        let path = self.layout.path(id);
        let shard = self.layout.shard(id);
        if self.known().contains(&shard) {
            match self.disk.create(&path, access) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.is_not_found() => self.known().clear(),
                Err(error) => return Err(self.change_failed(error)),
            }
        }
        // Without this check, directories would be created below the mount point of a file system
        // that is gone.
        self.check_identity().inspect_err(|error| {
            self.set_failed(true);
            *self.last_error() = Some(error.to_string());
        })?;
        let dir = self.layout.shard_dir(shard);
        let created = self.create_shard(&dir);
        let file = created.and_then(|()| self.disk.create(&path, access));
        let file = file.map_err(|error| self.change_failed(error))?;
        self.known().insert(shard);
        Ok((file, path))
    }

    /// Creates the directory of a shard. Its name becomes durable with its first durable file, so that
    /// the shards of a new volume do not cost a sync each.
    fn create_shard(&self, dir: &Path) -> Result<(), DiskError> {
        let files = self.layout.files();
        let missing: Vec<_> = dir.ancestors().take_while(|level| *level != files).collect();
        if missing.is_empty() {
            return self.disk.create_dir_all(dir);
        }
        for level in missing.into_iter().rev() {
            let create = || self.disk.create_dir(level);
            let created = match level.parent() {
                Some(above) => self.sync.create_in(above, create),
                None => create(),
            };
            match created {
                Ok(()) => {}
                // What is above it was removed.
                Err(error) if error.is_not_found() => return self.disk.create_dir_all(dir),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, KnownDirs<u32>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes a written file. In a bucket the object exists only after this.
    pub(super) fn complete(&self, file: &dyn File) -> Result<(), VolumeError> {
        if !self.place.is_durable_when_complete() {
            return Ok(());
        }
        file.sync_data().map_err(|error| self.change_failed(error))
    }

    pub(super) fn bytes_were_written(&self, bytes: u64) {
        self.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        if !self.place.has_free_space() {
            return;
        }
        let less = |free: u64| Some(free.saturating_sub(bytes));
        let _ = self.free_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    pub(super) fn file_was_written(&self) {
        self.files_written.fetch_add(1, Ordering::Relaxed);
    }
}

fn check_name(name: &str) -> Result<(), VolumeError> {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    let why =
        "its name has 1 to 64 of `a` to `z`, `0` to `9`, `-`, `_` and `.`, and not dots alone";
    let is_dots = name.bytes().all(|byte| byte == b'.');
    if (1..=64).contains(&name.len()) && name.bytes().all(fits) && !is_dots {
        return Ok(());
    }
    let name = name.chars().take(80).collect();
    Err(VolumeError::InvalidSpec { name, field: "name", why: why.to_owned() })
}
