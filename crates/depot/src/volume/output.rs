//! Appends to a new stored file, in large aligned writes.

use super::bucket::PART_BYTES;
use super::buffers::Buffer;
use super::format::BLOCK_CONTENT_BYTES;
use super::set::Shared;
use super::sync_group::SyncEpoch;
use super::write_behind::WriteBehind;
use super::{MountedVolume, VolumeError, VolumeNumber};
use crate::FileId;
use rialto_disk::{Access, BLOCK_BYTES, File, IoMode};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bytes of one file that are not durable, as they count against the limits.
pub(super) struct Charge {
    volume: Arc<MountedVolume>,
    shared: Arc<Shared>,
    bytes: u64,
}

impl Charge {
    fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.volume.unsynced_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.shared.unsynced_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The file is durable, or no longer of interest.
    pub(super) fn clear(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.volume.unsynced_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.shared.unsynced_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn is_too_much(&self) -> bool {
        let options = &self.shared.options;
        self.volume.unsynced_bytes.load(Ordering::Relaxed) > options.volume_unsynced_bytes_max
            || self.shared.unsynced_bytes.load(Ordering::Relaxed) > options.unsynced_bytes_max
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The memory that the writer of an object holds until the object is complete.
pub(super) struct BucketMemory {
    shared: Arc<Shared>,
}

impl BucketMemory {
    fn take(shared: &Arc<Shared>, volume: &MountedVolume) -> Result<Self, VolumeError> {
        let max = shared.options.bucket_bytes_max;
        let more = |held: u64| held.checked_add(PART_BYTES as u64).filter(|held| *held <= max);
        match shared.bucket_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Self { shared: Arc::clone(shared) }),
            Err(_) => {
                Err(VolumeError::TooManyBucketWriters { name: volume.name().to_owned(), max })
            }
        }
    }
}

impl Drop for BucketMemory {
    fn drop(&mut self) {
        self.shared.bucket_bytes.fetch_sub(PART_BYTES as u64, Ordering::Relaxed);
    }
}

/// A writer's hold on a volume, which cannot be unmounted meanwhile.
pub(super) struct Placed {
    pub(super) volume: Arc<MountedVolume>,
}

impl Placed {
    pub(super) fn new(volume: Arc<MountedVolume>) -> Self {
        volume.writers.fetch_add(1, Ordering::Relaxed);
        Self { volume }
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        // The record of the file was published before.
        self.volume.writers.fetch_sub(1, Ordering::Release);
    }
}

/// A file that was created.
pub(super) struct Created {
    pub(super) file: Arc<dyn File>,
    pub(super) path: PathBuf,
    pub(super) charge: Charge,
    pub(super) epoch: SyncEpoch,
    /// Of a long file in a bucket, until it is complete.
    bucket_memory: Option<BucketMemory>,
}

impl Created {
    /// Writes the first `filled` bytes of a buffer at `offset`. Only the last write of a file may
    /// have another length than a multiple of [`BLOCK_BYTES`].
    pub(super) fn write(
        &mut self,
        buffer: &mut Buffer,
        filled: usize,
        offset: u64,
    ) -> Result<(), VolumeError> {
        let volume = &self.charge.volume;
        let mut bytes = filled;
        if self.file.mode() != IoMode::Buffered {
            bytes = bytes.next_multiple_of(BLOCK_BYTES);
            buffer[filled..bytes].fill(0);
        }
        let written = match self.file.write_all_at(offset, &buffer[..bytes]) {
            // The zeros behind the end were written for direct I/O alone.
            Ok(()) if bytes > filled => self.file.set_len(offset + filled as u64),
            written => written,
        };
        written.map_err(|error| volume.change_failed(error))?;
        volume.bytes_were_written(filled as u64);
        if volume.place.is_durable_when_complete() {
            return Ok(());
        }
        self.charge.add(filled as u64);
        if self.charge.is_too_much() {
            let volume = &self.charge.volume;
            self.file.sync_data().map_err(|error| volume.change_failed(error))?;
            self.charge.clear();
        }
        Ok(())
    }
}

/// A new stored file. Dropped without [`Output::finish`], it removes the file.
pub(super) struct Output {
    shared: Arc<Shared>,
    placed: Placed,
    id: FileId,
    len_hint: Option<u64>,
    not: Vec<VolumeNumber>,
    created: Option<Arc<Mutex<Created>>>,
    behind: Option<WriteBehind>,
    buffer: Buffer,
    filled: usize,
    /// The bytes that were written.
    offset: u64,
}

impl Output {
    pub(super) fn new(
        shared: &Arc<Shared>,
        placed: Placed,
        id: FileId,
        len_hint: Option<u64>,
        not: &[VolumeNumber],
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            placed,
            id,
            len_hint,
            not: not.to_vec(),
            created: None,
            behind: None,
            buffer: shared.buffers.take(),
            filled: 0,
            offset: 0,
        }
    }

    pub(super) fn volume(&self) -> &Arc<MountedVolume> {
        &self.placed.volume
    }

    /// The file as messages name it.
    pub(super) fn path(&self) -> PathBuf {
        self.volume().layout.path(self.id)
    }

    /// Appends; a full buffer is written when more comes.
    pub(super) fn append(&mut self, mut bytes: &[u8]) -> Result<(), VolumeError> {
        while !bytes.is_empty() {
            if self.filled >= BLOCK_CONTENT_BYTES {
                self.flush(false)?;
            }
            let room = BLOCK_CONTENT_BYTES - self.filled;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
        }
        Ok(())
    }

    /// Appends the last bytes and writes everything.
    pub(super) fn finish(
        mut self,
        tail: &[u8],
    ) -> Result<(Placed, Arc<Mutex<Created>>, u64), VolumeError> {
        if self.filled + tail.len() <= self.buffer.len() {
            self.buffer[self.filled..][..tail.len()].copy_from_slice(tail);
            self.filled += tail.len();
        } else {
            self.append(tail)?;
        }
        self.flush(true)?;
        let created = self.created.take().ok_or(VolumeError::WriterFailed { id: self.id })?;
        let placed = Placed::new(Arc::clone(self.volume()));
        Ok((placed, created, self.offset))
    }

    /// Writes the buffer. Until the first write succeeds nothing is lost, so that every volume is
    /// tried.
    fn flush(&mut self, is_last: bool) -> Result<(), VolumeError> {
        match self.created.clone() {
            None => self.write_first(is_last)?,
            Some(_) if self.filled == 0 => self.end_write_behind()?,
            Some(created) if is_last || !self.shared.options.write_behind => {
                self.end_write_behind()?;
                lock(&created).write(&mut self.buffer, self.filled, self.offset)?;
            }
            Some(created) => {
                let behind = self.behind.get_or_insert_with(|| WriteBehind::new(created));
                let full = std::mem::replace(&mut self.buffer, self.shared.buffers.take());
                behind.write(full, self.filled, self.offset)?;
            }
        }
        self.offset += self.filled as u64;
        self.filled = 0;
        match (&self.created, is_last) {
            (Some(created), true) => {
                let mut created = lock(created);
                self.volume().complete(&*created.file)?;
                created.bucket_memory = None;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end_write_behind(&mut self) -> Result<(), VolumeError> {
        self.behind.take().map_or(Ok(()), WriteBehind::end)
    }

    fn write_first(&mut self, is_last: bool) -> Result<(), VolumeError> {
        loop {
            match self.create(is_last) {
                Ok(created) => {
                    self.created = Some(Arc::new(Mutex::new(created)));
                    return Ok(());
                }
                Err(error) if error.may_succeed_elsewhere() && !error.is_crash() => {
                    self.not.push(self.volume().number());
                    match self.shared.place(self.id, self.len_hint, &self.not) {
                        Ok(placed) => self.placed = placed,
                        Err(_) => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Creates the file and writes the buffer to it.
    fn create(&mut self, is_last: bool) -> Result<Created, VolumeError> {
        let known = self.len_hint.unwrap_or(0).max(self.filled as u64);
        let direct = known >= self.shared.options.direct_bytes_min && self.filled >= BLOCK_BYTES;
        let access = if direct { Access::Direct } else { Access::Buffered };
        let volume = Arc::clone(self.volume());
        // A file of one block is stored by one request, from memory that every writer has.
        let is_held = volume.place.is_durable_when_complete() && !is_last;
        let bucket_memory =
            is_held.then(|| BucketMemory::take(&self.shared, &volume)).transpose()?;
        let epoch = volume.sync.epoch();
        let (file, path) = volume.create(self.id, access)?;
        let charge =
            Charge { volume: Arc::clone(&volume), shared: Arc::clone(&self.shared), bytes: 0 };
        let mut created = Created { file: Arc::from(file), path, charge, epoch, bucket_memory };
        let written = created.write(&mut self.buffer, self.filled, self.offset);
        let written = match is_last {
            true => written.and_then(|()| volume.complete(&*created.file)),
            false => written,
        };
        match written {
            Ok(()) => Ok(created),
            Err(error) => {
                // If this fails, too, the bytes have no record.
                let _ = volume.disk.remove(&created.path);
                Err(error)
            }
        }
    }
}

/// The file, which its writer and the thread that writes behind it use in turns.
pub(super) fn lock(created: &Mutex<Created>) -> MutexGuard<'_, Created> {
    created.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Output {
    fn drop(&mut self) {
        let _ = self.end_write_behind();
        if let Some(created) = &self.created {
            // If this fails, the bytes have no record, and the search for orphans finds them.
            let _ = self.placed.volume.disk.remove(&lock(created).path);
        }
    }
}
