//! Reads stored files.

use super::VolumeError;

/// Reads one stored file. Every block that it touches is checked.
pub struct StoredReader {}

#[allow(unused_variables, clippy::todo, clippy::missing_errors_doc)]
impl StoredReader {
    /// The length of the content in bytes.
    pub fn len(&self) -> u64 {
        todo!()
    }
    /// Whether the content is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The description that the file was finished with.
    pub fn description(&mut self) -> Result<Vec<u8>, VolumeError> {
        todo!()
    }
    /// Reads at `offset` into some prefix of `out` and returns its length; 0 at the end.
    pub fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, VolumeError> {
        todo!()
    }
    /// Checks every block, the description and the SHA-256.
    pub fn verify(&mut self) -> Result<(), VolumeError> {
        todo!()
    }
}
