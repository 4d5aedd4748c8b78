//! Appending to the ring.

use super::format::{encode, header, path};
use super::read::{last_record, numbers};
use super::{RecordingError, format::HEADER_BYTES};
use crate::{Record, RecordId};
use rialto_disk::{Access, Disk, File};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of files of a full ring. One file is removed at a time.
const PARTS: u64 = 8;

/// The capacity of a ring. Beyond it, the oldest file is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingBounds {
    /// The most bytes of all files; at least 64 KiB.
    pub bytes_max: u64,
    /// The most files, at least two: every process begins one of its own.
    pub files_max: u32,
}

impl Default for RingBounds {
    /// 16 MiB in at most 64 files.
    fn default() -> RingBounds {
        RingBounds { bytes_max: 16 << 20, files_max: 64 }
    }
}

/// Appends records to a ring of files. One process at a time writes to a directory.
pub struct RecordingWriter {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    bounds: RingBounds,
    /// The files that are there, the oldest first, with their lengths; the open one not among them.
    before: VecDeque<(u64, u64)>,
    number_next: u64,
    open: Option<Open>,
    last: RecordId,
}

struct Open {
    number: u64,
    file: Box<dyn File>,
    bytes: u64,
}

impl std::fmt::Debug for RecordingWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut told = f.debug_struct("RecordingWriter");
        told.field("dir", &self.dir).field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

impl RecordingWriter {
    /// Opens the ring in this directory, which is created if it does not exist. An incomplete file
    /// of an earlier process is left as it is: this one begins a new file with its first record.
    ///
    /// # Errors
    /// The disk fails.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        bounds: RingBounds,
    ) -> Result<RecordingWriter, RecordingError> {
        let bounds = RingBounds {
            bytes_max: bounds.bytes_max.max(64 << 10),
            files_max: bounds.files_max.max(2),
        };
        disk.create_dir_all(dir)?;
        let numbers = numbers(&*disk, dir)?;
        let last = last_record(&*disk, dir, &numbers)?;
        let mut before = VecDeque::new();
        for &number in &numbers {
            before.push_back((number, disk.open(&path(dir, number), Access::Read)?.len()?));
        }
        let number_next = numbers.last().map_or(1, |last| last + 1);
        let dir = dir.to_owned();
        Ok(RecordingWriter { disk, dir, bounds, before, number_next, open: None, last })
    }

    /// The largest known record number: records of this process are to be numbered after it.
    #[must_use]
    pub fn last(&self) -> RecordId {
        self.last
    }

    fn file_bytes_max(&self) -> u64 {
        self.bounds.bytes_max / PARTS
    }

    /// Appends records, which readers then see. They survive the process, and a power failure only
    /// after [`RecordingWriter::sync`].
    ///
    /// # Errors
    /// The disk fails, or a record does not fit. Those before it are stored, it and those after it
    /// are not, and the next attempt begins where this one failed.
    pub fn append(&mut self, records: &[Record]) -> Result<(), RecordingError> {
        let mut written = Vec::new();
        let mut one = Vec::new();
        for record in records {
            one.clear();
            let id = record.id();
            encode(record, &mut one).map_err(|source| RecordingError::Encode { id, source })?;
            let bytes = one.len() as u64;
            let bytes_max = self.file_bytes_max() - HEADER_BYTES as u64;
            if bytes > bytes_max {
                self.write(&written)?;
                return Err(RecordingError::TooLong { id, bytes, bytes_max });
            }
            let is_full = self.open.as_ref().is_none_or(|open| {
                open.bytes + written.len() as u64 + bytes > self.file_bytes_max()
            });
            if is_full {
                self.write(&written)?;
                written.clear();
                self.begin_file()?;
            }
            written.extend_from_slice(&one);
            self.last = self.last.max(id);
        }
        self.write(&written)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        if let (false, Some(open)) = (bytes.is_empty(), &mut self.open) {
            open.file.write_all_at(open.bytes, bytes)?;
            open.bytes += bytes.len() as u64;
        }
        Ok(())
    }

    fn begin_file(&mut self) -> Result<(), RecordingError> {
        if let Some(open) = self.open.take() {
            self.before.push_back((open.number, open.bytes));
        }
        self.make_room()?;
        let number = self.number_next;
        // A file that could be made but not begun is not used again.
        self.number_next += 1;
        let file = self.disk.create(&path(&self.dir, number), Access::Buffered)?;
        file.write_all_at(0, &header(self.last))?;
        self.open = Some(Open { number, file, bytes: HEADER_BYTES as u64 });
        Ok(())
    }

    /// Removes the oldest files until another fits.
    fn make_room(&mut self) -> Result<(), RecordingError> {
        let room = self.bounds.bytes_max - self.file_bytes_max();
        let total =
            |files: &VecDeque<(u64, u64)>| files.iter().map(|(_, bytes)| bytes).sum::<u64>();
        while let Some(&(oldest, _)) = self.before.front() {
            let fits = self.before.len() < self.bounds.files_max as usize;
            if fits && total(&self.before) <= room {
                break;
            }
            match self.disk.remove(&path(&self.dir, oldest)) {
                // The file was removed from outside.
                Err(error) if error.is_not_found() => {}
                removed => removed?,
            }
            self.before.pop_front();
        }
        Ok(())
    }

    /// Returns when everything that was appended is durable.
    ///
    /// # Errors
    /// The disk fails.
    pub fn sync(&mut self) -> Result<(), RecordingError> {
        if let Some(open) = &self.open {
            open.file.sync_data()?;
            self.disk.sync_dir(&self.dir)?;
        }
        Ok(())
    }
}
