//! Pages through the stored files of a volume.

use super::{MountedVolume, VolumeError};
use crate::FileId;
use rialto_clock::Timestamp;
use rialto_disk::{Access, DiskError};
use std::collections::VecDeque;

/// A stored file that a scan found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The file.
    pub id: FileId,
    /// The length of the stored file in bytes.
    pub stored_bytes: u64,
    /// When it was last written, if the disk says it.
    pub modified: Option<Timestamp>,
}

/// Where a scan continues. The default is the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanCursor {
    /// The next shard to list.
    shard: u32,
    /// What is left of the shard that was listed last.
    listed: VecDeque<FileId>,
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
            let Some(id) = cursor.listed.front().copied() else {
                if cursor.shard >= self.layout.shards() {
                    break;
                }
                self.list_shard(cursor).map_err(|error| self.read_failed(error))?;
                continue;
            };
            match self.find(id) {
                Ok(file) => found.push(file),
                // It was removed after its directory was listed.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(self.read_failed(error)),
            }
            cursor.listed.pop_front();
        }
        Ok(found)
    }

    fn list_shard(&self, cursor: &mut ScanCursor) -> Result<(), DiskError> {
        let names = match self.disk.list(&self.layout.shard_dir(cursor.shard)) {
            Ok(names) => names,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error),
        };
        for name in names {
            match name.parse::<FileId>() {
                Ok(id) if self.layout.shard(id) == cursor.shard => cursor.listed.push_back(id),
                _ => cursor.foreign += 1,
            }
        }
        cursor.shard += 1;
        Ok(())
    }

    fn find(&self, id: FileId) -> Result<FoundFile, DiskError> {
        let file = self.disk.open(&self.layout.path(id), Access::Read)?;
        Ok(FoundFile { id, stored_bytes: file.len()?, modified: None })
    }
}
