//! Pages through the stored files of a volume.

use super::{MountedVolume, VolumeError};
use crate::FileId;
use rialto_clock::Timestamp;
use rialto_disk::{DiskError, Metadata};
use std::collections::VecDeque;
use std::ffi::OsString;

/// The most names that a cursor holds.
const LISTED_MAX: usize = 4096;

/// A stored file that a scan found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The file.
    pub id: FileId,
    /// The length of the stored file in bytes.
    pub stored_bytes: u64,
    /// When it was last written.
    pub modified: Timestamp,
}

/// Where a scan continues. The default is the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanCursor {
    /// The shard to list from.
    shard: u32,
    /// The last name of it that was listed.
    after: Option<OsString>,
    /// What is left of the names that were listed last.
    listed: VecDeque<(FileId, Option<Metadata>)>,
    /// Files whose names are no ids.
    foreign: u64,
}

impl ScanCursor {
    /// The files so far whose names are no ids, and that the depot therefore did not make.
    #[must_use]
    pub fn foreign(&self) -> u64 {
        self.foreign
    }
}

impl MountedVolume {
    /// Up to `max` further files, shard by shard, each shard in order of ids; none at the end.
    pub(super) fn scan(
        &self,
        cursor: &mut ScanCursor,
        max: usize,
    ) -> Result<Vec<FoundFile>, VolumeError> {
        let mut found = Vec::new();
        while found.len() < max {
            let Some((id, known)) = cursor.listed.front().copied() else {
                if cursor.shard >= self.layout.shards() {
                    break;
                }
                self.list_shard(cursor).map_err(|error| self.read_failed(error))?;
                continue;
            };
            match self.find(id, known) {
                Ok(file) => found.push(file),
                // It was removed after its directory was listed.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(self.read_failed(error)),
            }
            cursor.listed.pop_front();
        }
        Ok(found)
    }

    /// Lists the next names of a shard.
    fn list_shard(&self, cursor: &mut ScanCursor) -> Result<(), DiskError> {
        let dir = self.layout.shard_dir(cursor.shard);
        let page = self.place.list_files(&*self.disk, &dir, cursor.after.as_deref(), LISTED_MAX);
        let page = match page {
            Ok(page) => page,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error),
        };
        for (entry, known) in &page {
            let id = entry.name.to_str().and_then(|name| name.parse::<FileId>().ok());
            match id.filter(|id| self.layout.shard(*id) == cursor.shard) {
                Some(id) => cursor.listed.push_back((id, *known)),
                None => cursor.foreign += 1,
            }
        }
        if page.len() < LISTED_MAX {
            cursor.shard += 1;
            cursor.after = None;
        } else {
            cursor.after = page.last().map(|(entry, _)| entry.name.clone());
        }
        Ok(())
    }

    /// A file whose directory was listed, with what the list said of it.
    fn find(&self, id: FileId, known: Option<Metadata>) -> Result<FoundFile, DiskError> {
        let metadata = match known {
            Some(known) => known,
            None => self.disk.metadata(&self.layout.path(id))?,
        };
        let modified = Timestamp(u64::try_from(metadata.modified_ns).unwrap_or(0));
        Ok(FoundFile { id, stored_bytes: metadata.len_bytes, modified })
    }
}
