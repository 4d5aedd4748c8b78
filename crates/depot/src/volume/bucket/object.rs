//! The files of a bucket: objects that are written once, from beginning to end, and read in ranges.

use super::super::format::{BLOCK_CONTENT_BYTES, FOOTER_BYTES};
use super::{Bucket, BucketError, ObjectParts, PART_BYTES, PARTS_MAX};
use rialto_disk::{DiskError, File, IoMode, Operation};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An object that is read.
pub(super) struct ObjectReader {
    bucket: Arc<dyn Bucket>,
    key: String,
    path: PathBuf,
}

impl ObjectReader {
    pub(super) fn new(bucket: Arc<dyn Bucket>, key: String, path: &Path) -> Self {
        Self { bucket, key, path: path.to_owned() }
    }

    fn failed(&self, operation: Operation) -> impl Fn(BucketError) -> DiskError + '_ {
        move |error| DiskError::io(operation, &self.path, error)
    }

    fn refused<T>(&self, operation: Operation) -> Result<T, DiskError> {
        Err(DiskError::io(operation, &self.path, io::ErrorKind::Unsupported))
    }
}

impl File for ObjectReader {
    fn write_at(&self, _: u64, _: &[u8]) -> Result<usize, DiskError> {
        self.refused(Operation::Write)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, DiskError> {
        if bytes.is_empty() {
            return Ok(0);
        }
        self.bucket.read(&self.key, offset, bytes).map_err(self.failed(Operation::Read))
    }

    fn sync_data(&self) -> Result<(), DiskError> {
        Ok(())
    }

    fn len(&self) -> Result<u64, DiskError> {
        let object = self.bucket.head(&self.key).map_err(self.failed(Operation::Length))?;
        Ok(object.bytes)
    }

    fn set_len(&self, _: u64) -> Result<(), DiskError> {
        self.refused(Operation::SetLength)
    }

    fn reserve(&self, _: u64) -> Result<bool, DiskError> {
        Ok(false)
    }

    fn mode(&self) -> IoMode {
        IoMode::Buffered
    }

    fn path(&self) -> &Path {
        &self.path
    }

    // One request has them all: a second one would only find the end.
    fn read_full_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, DiskError> {
        self.read_at(offset, bytes)
    }
}

/// An object that is written. It exists when [`File::sync_data`] has returned. Dropped before that, it
/// removes its parts.
///
/// Up to one block is stored by one request. A longer object is begun when it is known to be longer:
/// a bucket that fails then fails while the writer can still go to another volume.
pub(super) struct ObjectWriter {
    bucket: Arc<dyn Bucket>,
    key: String,
    path: PathBuf,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    /// The bytes that are in no part yet, at most [`PART_BYTES`].
    held: Vec<u8>,
    /// The bytes before them.
    sent: u64,
    parts: Option<Box<dyn ObjectParts>>,
    parts_sent: usize,
    /// The last bytes of all, at most [`FOOTER_BYTES`].
    end: Vec<u8>,
    stage: Stage,
}

impl Written {
    fn note_end(&mut self, bytes: &[u8]) {
        self.end.extend_from_slice(&bytes[bytes.len().saturating_sub(FOOTER_BYTES)..]);
        let surplus = self.end.len().saturating_sub(FOOTER_BYTES);
        self.end.drain(..surplus);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Open,
    Complete,
    Failed,
}

impl ObjectWriter {
    pub(super) fn new(bucket: Arc<dyn Bucket>, key: String, path: &Path) -> Self {
        Self { bucket, key, path: path.to_owned(), written: Mutex::default() }
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, written: &mut Written, mut bytes: &[u8]) -> Result<(), BucketError> {
        written.note_end(bytes);
        while !bytes.is_empty() {
            // The last part is held until the end: it is the only one that may be shorter.
            if written.held.len() == PART_BYTES {
                self.send(written)?;
            }
            let room = PART_BYTES - written.held.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            written.held.extend_from_slice(now);
            bytes = later;
        }
        if written.parts.is_none() && written.held.len() >= BLOCK_CONTENT_BYTES {
            written.parts = Some(self.bucket.begin(&self.key)?);
        }
        Ok(())
    }

    /// Sends what is held as a part.
    fn send(&self, written: &mut Written) -> Result<(), BucketError> {
        if written.parts_sent == PARTS_MAX {
            let why = format!("an object has at most {PARTS_MAX} parts of {PART_BYTES} bytes");
            return Err(BucketError::Failed(why));
        }
        let parts = match &mut written.parts {
            Some(parts) => parts,
            none => none.insert(self.bucket.begin(&self.key)?),
        };
        let bytes = std::mem::take(&mut written.held);
        written.sent += bytes.len() as u64;
        written.parts_sent += 1;
        parts.add(bytes)
    }

    fn complete(&self, written: &mut Written) -> Result<(), BucketError> {
        if written.parts.is_none() {
            let bytes = std::mem::take(&mut written.held);
            written.sent += bytes.len() as u64;
            return self.bucket.put(&self.key, bytes);
        }
        if !written.held.is_empty() {
            self.send(written)?;
        }
        let Some(parts) = &mut written.parts else { return Ok(()) };
        match parts.complete() {
            // The answer alone may be lost.
            Err(_) if self.is_stored(written) => Ok(()),
            completed => completed,
        }
    }

    /// Whether the object is there, and is what was written. An id can have an earlier object, of a copy
    /// that was never recorded. The footer tells them apart: it has the checksums of everything else.
    fn is_stored(&self, written: &Written) -> bool {
        let offset = written.sent - written.end.len() as u64;
        // One byte more, which a longer object has.
        let mut read = vec![0; written.end.len() + 1];
        match self.bucket.read(&self.key, offset, &mut read) {
            Ok(bytes) => read[..bytes] == written.end[..],
            Err(_) => false,
        }
    }

    /// Does a step of an object that has not failed.
    fn step(
        &self,
        operation: Operation,
        step: impl FnOnce(&mut Written) -> Result<(), BucketError>,
    ) -> Result<(), DiskError> {
        let mut written = self.written();
        if written.stage == Stage::Failed {
            let why = "an earlier operation on it failed".to_owned();
            return Err(DiskError::io(operation, &self.path, BucketError::Failed(why)));
        }
        step(&mut written).map_err(|error| {
            written.stage = Stage::Failed;
            DiskError::io(operation, &self.path, error)
        })
    }
}

impl File for ObjectWriter {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize, DiskError> {
        self.step(Operation::Write, |written| {
            let end = written.sent + written.held.len() as u64;
            if offset != end || written.stage == Stage::Complete {
                let why = "an object is written once, from its beginning to its end".to_owned();
                return Err(BucketError::Failed(why));
            }
            self.append(written, bytes)
        })?;
        Ok(bytes.len())
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, DiskError> {
        let failed = |error| DiskError::io(Operation::Read, &self.path, error);
        self.bucket.read(&self.key, offset, bytes).map_err(failed)
    }

    fn sync_data(&self) -> Result<(), DiskError> {
        self.step(Operation::Sync, |written| {
            if written.stage == Stage::Open {
                self.complete(written)?;
                written.stage = Stage::Complete;
            }
            Ok(())
        })
    }

    fn len(&self) -> Result<u64, DiskError> {
        let written = self.written();
        Ok(written.sent + written.held.len() as u64)
    }

    fn set_len(&self, _: u64) -> Result<(), DiskError> {
        Err(DiskError::io(Operation::SetLength, &self.path, io::ErrorKind::Unsupported))
    }

    fn reserve(&self, _: u64) -> Result<bool, DiskError> {
        Ok(false)
    }

    fn mode(&self) -> IoMode {
        IoMode::Buffered
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        let written = self.written.get_mut().unwrap_or_else(PoisonError::into_inner);
        if written.stage != Stage::Complete
            && let Some(parts) = &mut written.parts
            && let Err(error) = parts.abort()
        {
            // They are no object, and cost space until the rules of the bucket remove them.
            tracing::warn!(path = %self.path.display(), "parts stay in a bucket: {error}");
        }
    }
}
