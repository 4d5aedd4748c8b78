//! Images of a state outside its log, from which an opening can go on.

use crate::error::StateLogError;
use crate::logged_state::LoggedState;
use crate::state_log::StateLog;
use rialto_log::{Position, Segments};

/// The last record that an image of a state reflects. Stored with the image, it lets
/// [`StateLog::open_saved`] read only what was recorded since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavePoint {
    /// The sequence of the record.
    pub seq: u64,
    /// The epoch that wrote it.
    pub epoch: u64,
    /// The salt of that epoch: a log that was put back from a copy may count an epoch again.
    pub salt: [u8; 16],
    /// The bytes by which the log had grown since its last checkpoint.
    pub grown_bytes: u64,
}

/// The records that a log holds at its opening.
pub struct LogContents {
    segments: Segments,
    epoch: u64,
}

impl LogContents {
    pub(crate) fn new(segments: Segments, epoch: u64) -> Self {
        Self { segments, epoch }
    }

    /// The epoch that begins with this opening.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether the log holds the record of a save point, and everything recorded since. It does not
    /// if that record was lost, if it is of another log, or if a checkpoint has replaced it.
    #[must_use]
    pub fn holds(&self, saved: &SavePoint) -> bool {
        let SavePoint { seq, epoch, salt, .. } = *saved;
        seq >= self.segments.first_seq()
            && self.segments.position_of(seq) == Some(Position { epoch, seq })
            && self.segments.epochs().contains(&(epoch, salt))
    }
}

impl<S: LoggedState> StateLog<S> {
    /// Takes an image of the state with `take`, makes the log durable up to it, and returns both the
    /// image and its save point. `None` if the log holds no record.
    ///
    /// `take` runs under the lock of the state, as the closure of [`StateLog::change`] does. An image
    /// that is stored after this returns is never ahead of the log.
    ///
    /// # Errors
    /// [`StateLogError::Failed`] if this or an earlier write failed.
    pub fn save<T>(
        &self,
        take: impl FnOnce(&mut S) -> T,
    ) -> Result<Option<(T, SavePoint)>, StateLogError> {
        let files = &mut *self.lock_files()?;
        let (image, seq) = {
            let mut inner = self.lock_inner()?;
            let seq = inner.records.next_seq() - 1;
            (take(&mut inner.state), seq)
        };
        self.write_out(files)?;
        files.writer.sync().map_err(|error| self.fail(&error))?;
        let segments = files.writer.segments();
        let Some(Position { epoch, .. }) = segments.position_of(seq) else { return Ok(None) };
        let epochs = segments.epochs();
        let Some((_, salt)) = epochs.iter().find(|(known, _)| *known == epoch) else {
            return Ok(None);
        };
        // The next opening begins a checkpoint again that was not ended.
        let grown_bytes = if files.checkpoint.is_some() { u64::MAX } else { files.grown_bytes };
        Ok(Some((image, SavePoint { seq, epoch, salt: *salt, grown_bytes })))
    }

    /// Accepts no more changes and answers no more reads, as after a write that failed: for an owner
    /// whose part of the state is lost. Returns the error.
    #[cold]
    pub fn stop(&self, reason: &dyn std::fmt::Display) -> StateLogError {
        self.fail(reason)
    }
}
