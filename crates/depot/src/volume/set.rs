//! The set of volumes.

use super::{
    Described, FoundFile, ScanCursor, StoredBytes, StoredReader, StoredWriter, VolumeError,
    VolumeIdentity, VolumeNumber, VolumeOptions, VolumeSpec, VolumeStatus, VolumeTotals,
};
use crate::FileId;
use rialto_disk::Disk;
use std::sync::Arc;

/// The volumes of a pool.
pub struct Volumes {}

#[allow(unused_variables, clippy::todo, clippy::missing_errors_doc)]
impl Volumes {
    /// A set without volumes.
    pub fn new(disk: Arc<dyn Disk>, options: VolumeOptions) -> Self {
        todo!()
    }
    /// Mounts a volume and locks its directory. Returns its identity, which the caller keeps in the
    /// specification: later mounts then refuse another directory in its place.
    pub fn mount(
        &self,
        number: VolumeNumber,
        spec: &VolumeSpec,
    ) -> Result<VolumeIdentity, VolumeError> {
        todo!()
    }
    /// Begins or ends the draining of a volume: one that drains takes no new files.
    pub fn set_draining(&self, number: VolumeNumber, draining: bool) -> Result<(), VolumeError> {
        todo!()
    }
    /// Unmounts a volume that no file is being written to. Open readers keep working.
    pub fn unmount(&self, number: VolumeNumber) -> Result<(), VolumeError> {
        todo!()
    }
    /// The mounted volumes, by number.
    pub fn list(&self) -> Vec<VolumeStatus> {
        todo!()
    }
    /// The space of all volumes.
    pub fn totals(&self) -> VolumeTotals {
        todo!()
    }
    /// Probes every volume: refreshes its free space; a failed one is written to, and takes files
    /// again if that succeeds. Returns the volumes whose state changed.
    pub fn probe(&self) -> Vec<VolumeNumber> {
        todo!()
    }
    /// Begins a file on the best volume: the product of weight and free space decides. `not` are
    /// volumes that failed for this file. The first block is kept in memory, so that until it is
    /// written the writer itself changes to another volume if one fails.
    pub fn begin(
        &self,
        id: FileId,
        len_hint: Option<u64>,
        not: &[VolumeNumber],
    ) -> Result<StoredWriter, VolumeError> {
        todo!()
    }
    /// Opens a stored file; its footer and block table are checked.
    pub fn open(&self, id: FileId, stored: &StoredBytes) -> Result<StoredReader, VolumeError> {
        todo!()
    }
    /// What the footer of a stored file says of it, for a file whose record is lost.
    pub fn describe(&self, id: FileId, volume: VolumeNumber) -> Result<Described, VolumeError> {
        todo!()
    }
    /// Removes a stored file. False if it was not there.
    pub fn remove(&self, id: FileId, volume: VolumeNumber) -> Result<bool, VolumeError> {
        todo!()
    }
    /// Up to `max` further stored files of a volume; none at the end.
    pub fn scan(
        &self,
        volume: VolumeNumber,
        cursor: &mut ScanCursor,
        max: usize,
    ) -> Result<Vec<FoundFile>, VolumeError> {
        todo!()
    }
    /// Moves a stored file into the directory `quarantine` of its volume.
    pub fn quarantine(&self, id: FileId, volume: VolumeNumber) -> Result<(), VolumeError> {
        todo!()
    }
}
