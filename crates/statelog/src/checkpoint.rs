//! Writes a checkpoint of the state, so that the log before it can be deleted.
//!
//! Changes continue meanwhile. The checkpoint notes the end of the log when it began, the *floor*,
//! and writes an image of everything that existed then, a bounded piece at a time. Images are
//! interleaved with changes, and each is correct at its own position. When the last image is
//! durable, everything below the floor has been repeated above it.

use crate::error::StateLogError;
use crate::logged_state::LoggedState;
use crate::state_log::{Files, Inner, StateLog};

/// The bytes of images that are written in one piece.
const PIECE_BYTES: usize = 512 << 10;
/// The log is rewritten when it has grown by this many times the state.
const GROWTH_MIN: u64 = 4;

/// A checkpoint that is being written.
pub(crate) struct Checkpoint<C> {
    /// The first sequence that need not be repeated.
    floor: u64,
    cursor: C,
}

impl<S: LoggedState> StateLog<S> {
    /// Begins a checkpoint if the log has grown enough, continues one, or ends it.
    pub(crate) fn advance_checkpoint(
        &self,
        files: &mut Files<S::Cursor>,
    ) -> Result<(), StateLogError> {
        let mut inner = self.lock_inner()?;
        let Inner { state, records } = &mut *inner;
        if files.checkpoint.is_none() {
            // The weight may take long to find, and mostly need not be known.
            if files.grown_bytes < files.checkpoint_bytes
                || files.grown_bytes < GROWTH_MIN.saturating_mul(state.weight() as u64)
            {
                return Ok(());
            }
            files.grown_bytes = 0;
            let floor = records.next_seq();
            files.checkpoint = Some(Checkpoint { floor, cursor: state.begin_checkpoint() });
        }
        let Some(checkpoint) = &mut files.checkpoint else { return Ok(()) };
        let last = state.write_images(&mut checkpoint.cursor, records, PIECE_BYTES);
        // An image that was left out would be missing when the log before it is deleted.
        let last = last.map_err(|error| self.fail(&error))?;
        let floor = checkpoint.floor;
        drop(inner);
        self.write_out(files)?;
        if last {
            files.checkpoint = None;
            // The images must be durable before what they repeat is deleted, whatever the level.
            files.writer.sync().map_err(|error| self.fail(&error))?;
            files.writer.retain_from(floor).map_err(|error| self.fail(&error))?;
        }
        Ok(())
    }
}
