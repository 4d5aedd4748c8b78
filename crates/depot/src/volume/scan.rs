//! Pages through the stored files of a volume.

use crate::FileId;
use rialto_clock::Timestamp;

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
pub struct ScanCursor {}
