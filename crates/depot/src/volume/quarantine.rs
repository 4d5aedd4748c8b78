//! Stored files without a record, which were moved out of the way.

use super::{MountedVolume, StoredReader, VolumeError, VolumeNumber, Volumes};
use crate::FileId;
use rialto_disk::DiskError;
use std::ffi::OsString;

/// How many names are listed at a time.
const LISTED_MAX: usize = 1_024;

impl Volumes {
    /// Up to 1,024 files in the quarantine of a volume, behind `after` in the order of their ids;
    /// none at the end. Other names are passed over.
    ///
    /// # Errors
    /// If the volume is not mounted, or the disk fails.
    pub fn quarantined(
        &self,
        volume: VolumeNumber,
        after: Option<FileId>,
    ) -> Result<Vec<FileId>, VolumeError> {
        let volume = self.get(volume)?;
        let mut after = after.map(|id| OsString::from(id.to_string()));
        loop {
            let page = list(&volume, after.as_ref()).map_err(|error| volume.read_failed(error))?;
            let ids = page.iter().filter_map(|name| name.to_str()?.parse().ok());
            let ids: Vec<FileId> = ids.collect();
            if !ids.is_empty() || page.len() < LISTED_MAX {
                return Ok(ids);
            }
            after = page.last().cloned();
        }
    }

    /// Opens a file in the quarantine.
    ///
    /// # Errors
    /// As [`Volumes::open`].
    pub fn open_quarantined(
        &self,
        id: FileId,
        volume: VolumeNumber,
    ) -> Result<StoredReader, VolumeError> {
        let volume = self.get(volume)?;
        let path = volume.layout.quarantine().join(id.to_string());
        StoredReader::open_at(&volume, path, id, None, self.keys())
    }

    /// Removes a file from the quarantine. False if it was not there.
    ///
    /// # Errors
    /// If the volume is not mounted, or the disk fails.
    pub fn remove_quarantined(
        &self,
        id: FileId,
        volume: VolumeNumber,
    ) -> Result<bool, VolumeError> {
        let volume = self.get(volume)?;
        match volume.disk.remove(&volume.layout.quarantine().join(id.to_string())) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => volume.check_identity().map(|()| false),
            Err(error) => Err(volume.change_failed(error)),
        }
    }
}

fn list(volume: &MountedVolume, after: Option<&OsString>) -> Result<Vec<OsString>, DiskError> {
    let dir = volume.layout.quarantine();
    match volume.disk.list_page(&dir, after.map(OsString::as_os_str), LISTED_MAX) {
        Ok(page) => Ok(page.into_iter().map(|entry| entry.name).collect()),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
