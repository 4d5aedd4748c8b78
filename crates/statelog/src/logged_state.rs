//! The states that a log can keep.

use crate::error::StateLogError;
use crate::pending::PendingRecords;
use std::fmt::Display;

/// A state that is folded from the records of a log.
///
/// # What a log may begin with
/// A checkpoint repeats everything above a position of the log, its *floor*, while changes
/// continue; then everything below the floor is deleted. A log may therefore begin with changes of
/// an object whose beginning was deleted. The object's image follows, or the record that removed
/// the object. [`LoggedState::read`] skips such a change, because the image replaces everything that was
/// recorded of the object before it. [`LoggedState::finish_reading`] refuses a state in which an image
/// is still missing.
pub trait LoggedState: Send + 'static {
    /// Where a checkpoint stands: what must still be written.
    type Cursor: Send;

    /// Applies a record while the log is read at the opening.
    ///
    /// # Errors
    /// If the record cannot be decoded or contradicts the state. The log is not opened then.
    fn read(&mut self, seq: u64, record: &[u8]) -> Result<(), InvalidRecord>;

    /// Called once, when everything has been read.
    ///
    /// # Errors
    /// If something is missing. The log is not opened then.
    fn finish_reading(&mut self) -> Result<(), InvalidRecord> {
        Ok(())
    }

    /// The approximate bytes of the images of everything. Called often, so it must be cheap.
    fn weight(&self) -> usize;

    /// Begins a checkpoint of everything that exists now. Objects that are added later are recorded
    /// above the floor anyway, and need no image.
    fn begin_checkpoint(&self) -> Self::Cursor;

    /// Appends images until about `bytes` are written; true when the last one is. Changes of the
    /// state happen between two calls. An image is of the object as it is now, and objects that were
    /// removed meanwhile are skipped.
    ///
    /// # Errors
    /// If a record cannot be appended. The log accepts no more changes then.
    fn write_images(
        &self,
        cursor: &mut Self::Cursor,
        records: &mut PendingRecords,
        bytes: usize,
    ) -> Result<bool, StateLogError>;
}

/// A record that the state cannot apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {seq} is invalid: {reason}")]
pub struct InvalidRecord {
    /// Its sequence in the log.
    pub seq: u64,
    /// The fault.
    pub reason: String,
}

impl InvalidRecord {
    /// The record of this sequence, with its fault.
    pub fn new(seq: u64, reason: impl Display) -> Self {
        Self { seq, reason: reason.to_string() }
    }
}
