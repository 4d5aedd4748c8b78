//! Writes stored files.

use super::{StoredBytes, VolumeError, VolumeNumber};

/// Writes one stored file. Dropped without [`StoredWriter::finish`], it removes what it wrote.
pub struct StoredWriter {}

#[allow(unused_variables, clippy::todo, clippy::missing_errors_doc)]
impl StoredWriter {
    /// Appends to the content.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), VolumeError> {
        todo!()
    }
    /// Ends the content. The bytes are written when this returns, and not durable. `description`
    /// is kept in the stored file, so that a file whose record is lost can be adopted.
    pub fn finish(self, description: &[u8]) -> Result<Finished, VolumeError> {
        todo!()
    }
    /// The volume. It may change until the first block is written.
    pub fn volume(&self) -> VolumeNumber {
        todo!()
    }
    /// The length of the content so far, in bytes.
    pub fn written(&self) -> u64 {
        todo!()
    }
}

/// A stored file that is written whole. Dropping it keeps the file.
pub struct Finished {}

#[allow(unused_variables, clippy::todo, clippy::missing_errors_doc)]
impl Finished {
    /// What the record of the file says of it.
    pub fn stored(&self) -> &StoredBytes {
        todo!()
    }
    /// Returns when the file is durable. Concurrent calls share a sync.
    pub fn make_durable(&self) -> Result<(), VolumeError> {
        todo!()
    }
    /// Removes the file.
    pub fn discard(self) {
        todo!()
    }
}
