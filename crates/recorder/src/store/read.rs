//! Reads stored records.

use super::format::{FormatFault, HEADER_BYTES, decode, number, path, read_header};
use crate::{Record, RecordId, RecordingError, Tree};
use rialto_disk::{Access, Disk, DiskError};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The records of a directory, as they stood in it when they were read.
#[derive(Debug, Default)]
pub struct Recordings {
    records: BTreeMap<RecordId, Record>,
    unreadable: Vec<Unreadable>,
}

/// An unreadable part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
    /// The version of the format, if another one wrote the file.
    pub version: Option<u32>,
}

impl Recordings {
    /// Reads all records of a directory. A directory that does not exist holds none.
    /// [`Recordings::unreadable`] lists unreadable parts: the end of a file that a process was
    /// writing when it was killed, damage, or a format of another version.
    ///
    /// # Errors
    /// The disk fails.
    pub fn read(disk: &dyn Disk, dir: &Path) -> Result<Recordings, RecordingError> {
        let mut recordings = Recordings::default();
        let numbers = numbers(disk, dir)?;
        for number in &numbers {
            let is_newest = Some(number) == numbers.last();
            recordings.read_file(disk, &path(dir, *number), is_newest)?;
        }
        Ok(recordings)
    }

    fn read_file(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        is_newest: bool,
    ) -> Result<(), RecordingError> {
        let bytes = match read_whole(disk, path) {
            // The ring has gone on meanwhile.
            Err(error) if error.is_not_found() => return Ok(()),
            bytes => bytes?,
        };
        let unreadable = |offset: usize, version| Unreadable {
            path: path.to_owned(),
            offset: offset as u64,
            bytes: (bytes.len() - offset) as u64,
            version,
        };
        match read_header(&bytes) {
            Ok(_) => {}
            Err(FormatFault::Version(version)) => {
                self.unreadable.push(unreadable(0, Some(version)));
                return Ok(());
            }
            // It is just being made.
            Err(FormatFault::NoRecording) if is_newest && bytes.len() < HEADER_BYTES => {
                return Ok(());
            }
            Err(FormatFault::NoRecording) => {
                self.unreadable.push(unreadable(0, None));
                return Ok(());
            }
        }
        let mut at = HEADER_BYTES;
        while let Some((record, length)) = decode(&bytes[at..]) {
            self.records.insert(record.id(), record);
            at += length;
        }
        // The end of the newest may be incomplete because it is being written.
        if at < bytes.len() && !is_newest {
            self.unreadable.push(unreadable(at, None));
        }
        Ok(())
    }

    /// All records, in the order in which they began.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Record> {
        self.records.values()
    }

    /// The number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// One record.
    #[must_use]
    pub fn get(&self, id: RecordId) -> Option<&Record> {
        self.records.get(&id)
    }

    /// A record with its descendants.
    #[must_use]
    pub fn tree(&self, id: RecordId) -> Option<Tree> {
        let from = self.records.range(id..).map(|(_, record)| record.clone());
        Tree::of(from.collect(), id)
    }

    /// The unreadable parts.
    #[must_use]
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        if let Some(version) = self.version {
            return write!(
                f,
                "{path} is of format version {version}, which this build cannot read"
            );
        }
        let Unreadable { offset, bytes, .. } = self;
        write!(f, "{path}: {bytes} bytes from offset {offset} on are no whole records")
    }
}

/// The numbers of the files of a ring, in their order.
pub(super) fn numbers(disk: &dyn Disk, dir: &Path) -> Result<Vec<u64>, DiskError> {
    let names = match disk.list(dir) {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        names => names?,
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The largest number of a record that is known in the newest file that can be read.
pub(super) fn last_record(
    disk: &dyn Disk,
    dir: &Path,
    numbers: &[u64],
) -> Result<RecordId, DiskError> {
    for number in numbers.iter().rev() {
        let bytes = read_whole(disk, &path(dir, *number))?;
        let Ok(mut last) = read_header(&bytes) else { continue };
        let mut at = HEADER_BYTES;
        while let Some((record, length)) = decode(&bytes[at..]) {
            last = last.max(record.id());
            at += length;
        }
        return Ok(last);
    }
    Ok(RecordId::NONE)
}

fn read_whole(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, DiskError> {
    let file = disk.open(path, Access::Read)?;
    // A file of a ring is not long, and memory is bounded by what is there.
    let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
    let read = file.read_full_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
