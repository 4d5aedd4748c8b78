//! A prefix of a bucket as a disk.

use super::object::{ObjectReader, ObjectWriter};
use super::{Bucket, BucketError, ObjectInfo, PART_BYTES};
use rialto_disk::{
    Access, DirEntry, DirLock, Disk, DiskError, EntryKind, File, GroupedSync, Metadata, Operation,
};
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many names are listed at a time.
const LISTED_MAX: usize = 1_000;

/// A prefix of a bucket as a disk, with what volumes use of one.
///
/// A file is written from its beginning to its end, and exists when [`File::sync_data`] has returned;
/// it is durable then. Directories are not made, and need no sync. There is no lock, and no limit of
/// space that the bucket would tell.
pub(in super::super) struct BucketDisk {
    bucket: Arc<dyn Bucket>,
    /// The paths below it are keys.
    root: PathBuf,
    prefix: String,
}

impl BucketDisk {
    /// A disk whose paths begin with `root`, and whose keys begin with `prefix`.
    pub(in super::super) fn new(bucket: Arc<dyn Bucket>, root: PathBuf, prefix: &str) -> Self {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Self { bucket, root, prefix }
    }

    fn key(&self, operation: Operation, path: &Path) -> Result<String, DiskError> {
        let below = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
        let outside = || DiskError::io(operation, path, io::ErrorKind::InvalidInput);
        below.map(|below| format!("{}{below}", self.prefix)).ok_or_else(outside)
    }

    /// Stores a file unless there is one. Returns whether it was stored.
    pub(in super::super) fn create_whole(
        &self,
        path: &Path,
        bytes: Vec<u8>,
    ) -> Result<bool, DiskError> {
        let key = self.key(Operation::Create, path)?;
        self.bucket.create(&key, bytes).map_err(failed(Operation::Create, path))
    }

    /// As [`Disk::list_page`], with what is known of each file.
    pub(in super::super) fn list_files(
        &self,
        dir: &Path,
        after: Option<&OsStr>,
        max: usize,
    ) -> Result<Vec<(DirEntry, Metadata)>, DiskError> {
        let prefix = format!("{}/", self.key(Operation::List, dir)?);
        let after = after.map(|after| format!("{prefix}{}", after.to_string_lossy()));
        let objects = self.bucket.list(&prefix, after.as_deref(), max);
        let objects = objects.map_err(failed(Operation::List, dir))?;
        let file = |object: ObjectInfo| {
            let name = object.key.strip_prefix(&prefix)?.into();
            Some((DirEntry { name, kind: EntryKind::File }, metadata(&object)))
        };
        Ok(objects.into_iter().filter_map(file).collect())
    }

    /// Copies a file part by part, so that each request is short.
    fn copy_in_parts(&self, from: &str, to: &str, bytes: u64) -> Result<(), BucketError> {
        let mut parts = self.bucket.begin(to)?;
        let mut copy = || {
            let mut offset = 0;
            while offset < bytes {
                let mut part = vec![0; (bytes - offset).min(PART_BYTES as u64) as usize];
                let read = self.bucket.read(from, offset, &mut part)?;
                if read < part.len() {
                    return Err(BucketError::Failed(
                        "the object ends before its length".to_owned(),
                    ));
                }
                offset += read as u64;
                parts.add(part)?;
            }
            parts.complete()
        };
        let copied = copy();
        if copied.is_err() {
            // The first error is told. Parts that stay are no object.
            let _ = parts.abort();
        }
        copied
    }
}

fn failed(operation: Operation, path: &Path) -> impl Fn(BucketError) -> DiskError + '_ {
    move |error| DiskError::io(operation, path, error)
}

fn metadata(object: &ObjectInfo) -> Metadata {
    let modified_ns = i64::try_from(object.modified.0).unwrap_or(i64::MAX);
    Metadata { kind: EntryKind::File, len_bytes: object.bytes, modified_ns, device: 0 }
}

fn unsupported(operation: Operation, path: &Path) -> DiskError {
    DiskError::io(operation, path, io::ErrorKind::Unsupported)
}

impl Disk for BucketDisk {
    fn create(&self, path: &Path, _: Access) -> Result<Box<dyn File>, DiskError> {
        let key = self.key(Operation::Create, path)?;
        Ok(Box::new(ObjectWriter::new(Arc::clone(&self.bucket), key, path)))
    }

    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        if access != Access::Read {
            return Err(unsupported(Operation::Open, path));
        }
        let key = self.key(Operation::Open, path)?;
        Ok(Box::new(ObjectReader::new(Arc::clone(&self.bucket), key, path)))
    }

    /// Copies the file and removes the first one; a crash between leaves both.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        let (old, new) = (self.key(Operation::Rename, from)?, self.key(Operation::Rename, to)?);
        let rename = || {
            let bytes = self.bucket.head(&old)?.bytes;
            match bytes <= PART_BYTES as u64 {
                true => self.bucket.copy(&old, &new)?,
                false => self.copy_in_parts(&old, &new, bytes)?,
            }
            self.bucket.remove(&old)
        };
        rename().map_err(failed(Operation::Rename, from))
    }

    fn remove(&self, path: &Path) -> Result<(), DiskError> {
        let key = self.key(Operation::Remove, path)?;
        self.bucket.remove(&key).map_err(failed(Operation::Remove, path))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        let mut names = Vec::new();
        self.list_each(dir, &mut |entry| {
            names.extend(entry.name.into_string().ok());
            ControlFlow::Continue(())
        })?;
        Ok(names)
    }

    fn list_each(
        &self,
        dir: &Path,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        let mut after = None;
        loop {
            let page = self.list_page(dir, after.as_deref(), LISTED_MAX)?;
            let is_last = page.len() < LISTED_MAX;
            after = page.last().map(|entry| entry.name.clone());
            if page.into_iter().try_for_each(&mut *visit).is_break() || is_last {
                return Ok(());
            }
        }
    }

    fn list_page(
        &self,
        dir: &Path,
        after: Option<&OsStr>,
        max: usize,
    ) -> Result<Vec<DirEntry>, DiskError> {
        let files = self.list_files(dir, after, max)?;
        Ok(files.into_iter().map(|(entry, _)| entry).collect())
    }

    fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        let key = self.key(Operation::Metadata, path)?;
        let object = self.bucket.head(&key).map_err(failed(Operation::Metadata, path))?;
        Ok(metadata(&object))
    }

    fn create_dir_all(&self, _: &Path) -> Result<(), DiskError> {
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> Result<(), DiskError> {
        Ok(())
    }

    fn grouped_sync(&self, dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
        Err(unsupported(Operation::GroupedSync, dir))
    }

    fn lock(&self, dir: &Path) -> Result<Box<dyn DirLock>, DiskError> {
        Err(unsupported(Operation::Lock, dir))
    }

    fn free_bytes(&self, _: &Path) -> Result<u64, DiskError> {
        Ok(u64::MAX)
    }

    fn total_bytes(&self, _: &Path) -> Result<u64, DiskError> {
        Ok(0)
    }
}
