//! Where a volume is: in a directory or in a bucket. What differs between them is here; the rest of a
//! volume uses its disk.

use super::bucket::BucketDisk;
use super::identity::Identity;
use super::layout::Layout;
use super::{BucketSpec, VolumeError, VolumeIdentity, VolumeOptions, VolumePlace, VolumeSpec};
use rialto_disk::{DirEntry, DirLock, Disk, DiskError, GroupedSync, Metadata};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The place of a mounted volume.
pub(super) enum MountedPlace {
    /// A directory, locked for as long as the volume is mounted or read.
    Directory {
        /// Held for its drop.
        _lock: Box<dyn DirLock>,
    },
    /// A prefix of a bucket. Nothing locks it: its identity is made by one pool only.
    Bucket(Arc<BucketDisk>),
}

/// A place that was found to be the volume that was asked for.
pub(super) struct Found {
    pub(super) place: MountedPlace,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) layout: Layout,
    pub(super) identity: VolumeIdentity,
    pub(super) grouped: Option<Box<dyn GroupedSync>>,
}

impl MountedPlace {
    /// Finds or makes the volume of a specification.
    pub(super) fn find(
        disk: &Arc<dyn Disk>,
        spec: &VolumeSpec,
        options: &VolumeOptions,
    ) -> Result<Found, VolumeError> {
        match &spec.place {
            VolumePlace::Directory(dir) => find_directory(disk, dir, spec, options),
            VolumePlace::Bucket(bucket) => find_bucket(bucket, spec, options),
        }
    }

    /// Whether a file exists when it is complete, and is durable then. Otherwise it exists from its
    /// first byte on, and a sync makes it durable.
    pub(super) fn is_durable_when_complete(&self) -> bool {
        matches!(self, Self::Bucket(_))
    }

    /// Whether there is a free space that can end.
    pub(super) fn has_free_space(&self) -> bool {
        matches!(self, Self::Directory { .. })
    }

    /// As [`Disk::list_page`], with what the list itself tells of each file.
    pub(super) fn list_files(
        &self,
        disk: &dyn Disk,
        dir: &Path,
        after: Option<&OsStr>,
        max: usize,
    ) -> Result<Vec<(DirEntry, Option<Metadata>)>, DiskError> {
        match self {
            Self::Directory { .. } => {
                let page = disk.list_page(dir, after, max)?;
                Ok(page.into_iter().map(|entry| (entry, None)).collect())
            }
            Self::Bucket(bucket) => {
                let page = bucket.list_files(dir, after, max)?;
                Ok(page.into_iter().map(|(entry, known)| (entry, Some(known))).collect())
            }
        }
    }
}

fn find_directory(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    spec: &VolumeSpec,
    options: &VolumeOptions,
) -> Result<Found, VolumeError> {
    let name = &spec.name;
    let failed = |source| VolumeError::disk(name, source);
    let gone = || VolumeError::Gone { name: name.clone(), dir: dir.to_owned() };
    let outside = Layout::new(dir, 0);
    match spec.identity {
        // Nothing is created where the volume should be: its file system may not be mounted.
        Some(_) if Identity::read(&**disk, name, &outside)?.is_none() => return Err(gone()),
        Some(_) => {}
        None => disk.create_dir_all(dir).map_err(failed)?,
    }
    let lock = disk.lock(dir).map_err(failed)?;
    let found = Identity::read(&**disk, name, &outside)?;
    let identity = match (found, spec.identity) {
        (Some(found), Some(expected)) if found.identity == expected => found,
        (Some(found), None) if is_empty(&**disk, &outside).map_err(failed)? => found,
        (Some(found), expected) => return Err(foreign(spec, dir, expected, found)),
        (None, Some(_)) => return Err(gone()),
        (None, None) => {
            let identity = Identity::fresh(options.shard_levels);
            identity.write(&**disk, &outside).map_err(failed)?;
            identity
        }
    };
    let layout = Layout::new(dir, identity.shard_levels);
    disk.create_dir_all(layout.files()).map_err(failed)?;
    // A hint, for the shards that are made from here on: a volume works without it.
    let _ = disk.spread_dirs(layout.files());
    // It is opened before anything is written that it is to cover.
    let grouped = match disk.grouped_sync(dir) {
        _ if !options.grouped_sync => None,
        Ok(grouped) => Some(grouped),
        Err(error) if error.is_unsupported() => {
            tracing::info!(volume = name, %error, "files of this volume are synced one by one");
            None
        }
        Err(error) => return Err(failed(error)),
    };
    let place = MountedPlace::Directory { _lock: lock };
    Ok(Found { place, disk: Arc::clone(disk), layout, identity: identity.identity, grouped })
}

fn find_bucket(
    bucket: &BucketSpec,
    spec: &VolumeSpec,
    options: &VolumeOptions,
) -> Result<Found, VolumeError> {
    let name = &spec.name;
    let invalid = |why| VolumeError::InvalidSpec { name: name.clone(), field: "bucket", why };
    bucket.check().map_err(invalid)?;
    let unusable = |why: String| VolumeError::NoBucket { name: name.clone(), why };
    let Some(buckets) = &options.buckets else {
        return Err(unusable("this program is built without buckets".to_owned()));
    };
    let opened = buckets.open(name, bucket).map_err(|error| unusable(error.to_string()))?;
    let root = PathBuf::from(bucket.to_string());
    let disk = Arc::new(BucketDisk::new(opened, root.clone(), &bucket.prefix));
    // Keys need no shards: a bucket has no directories.
    let layout = Layout::new(&root, 0);
    let read = || Identity::read(&*disk, name, &layout);
    let gone = || VolumeError::Gone { name: name.clone(), dir: root.clone() };
    let taken = |found: Identity| {
        let (name, dir, found) = (name.clone(), root.clone(), found.identity);
        // It only informs: a bucket that does not list them may have some.
        let has_files = has_objects(&disk, &layout).unwrap_or(true);
        VolumeError::PrefixTaken { name, dir, found, has_files }
    };
    let identity = match spec.identity {
        Some(expected) => {
            let found = read()?.ok_or_else(gone)?;
            if found.identity != expected {
                return Err(foreign(spec, &root, Some(expected), found));
            }
            found
        }
        None => {
            // Nothing locks a bucket, so that even an empty prefix may be in use. Some stores ignore the
            // condition of the creation and would replace the identity, so that it is read before.
            if let Some(found) = read()? {
                return Err(taken(found));
            }
            let fresh = Identity::fresh(0);
            let created = disk.create_whole(&layout.identity(), fresh.text().into_bytes());
            // Also one that was created and not answered.
            match (read(), created) {
                (Ok(Some(found)), _) if found == fresh => found,
                (Ok(Some(found)), _) => return Err(taken(found)),
                (_, Err(source)) => return Err(VolumeError::disk(name, source)),
                (read, Ok(_)) => return Err(read.err().unwrap_or_else(gone)),
            }
        }
    };
    let place = MountedPlace::Bucket(Arc::clone(&disk));
    Ok(Found { place, disk, layout, identity: identity.identity, grouped: None })
}

fn foreign(
    spec: &VolumeSpec,
    dir: &Path,
    expected: Option<VolumeIdentity>,
    found: Identity,
) -> VolumeError {
    let (name, dir, found) = (spec.name.clone(), dir.to_owned(), found.identity);
    VolumeError::Foreign { name, dir, expected, found }
}

/// Whether a prefix holds objects where a volume has its files.
fn has_objects(disk: &BucketDisk, layout: &Layout) -> Result<bool, DiskError> {
    let (files, quarantine) = (layout.files(), layout.quarantine());
    Ok(!disk.list_page(files, None, 1)?.is_empty()
        || !disk.list_page(&quarantine, None, 1)?.is_empty())
}

/// Whether a directory holds no stored files and no shards.
fn is_empty(disk: &dyn Disk, layout: &Layout) -> Result<bool, DiskError> {
    let none = |names: Result<Vec<String>, DiskError>| match names {
        Err(error) if error.is_not_found() => Ok(true),
        names => names.map(|names| names.is_empty()),
    };
    Ok(none(disk.list_dirs(layout.files()))? && none(disk.list(layout.files()))?)
}
