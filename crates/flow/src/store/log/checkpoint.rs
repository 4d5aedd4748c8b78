//! Writes a checkpoint of the state, so that the log before it can be deleted.
//!
//! Changes continue meanwhile. The checkpoint records the end of the log when it began, the
//! *floor*, and writes an image of everything that existed then, a bounded piece at a time. Images
//! are interleaved with changes, and each is correct at its own position. When the last image is
//! durable, everything below the floor has been repeated above it.

use super::groups::Groups;
use super::{Files, Inner, LogStore, lock};
use crate::Timestamp;
use crate::store::message::{InboxMark, MessageNumber};
use crate::store::record::{Record, RunNumber};
use crate::store::state::{Journal, State};
use crate::store::types::StoreError;

/// The bytes of images that are written in one piece.
const PIECE_BYTES: usize = 512 << 10;
const MARKS_PER_RECORD: usize = 256;

/// A checkpoint that is being written.
pub(super) struct Checkpoint {
    /// The first sequence that need not be repeated.
    floor: u64,
    /// The runs that are not written yet, the next one last.
    runs: Vec<RunNumber>,
    /// The next message to be written.
    message: MessageNumber,
    /// Messages from here on were stored after the floor.
    messages_end: MessageNumber,
    /// The last mark that was written.
    mark: Option<(Timestamp, String, String)>,
    marks_done: bool,
}

impl Checkpoint {
    fn begin(state: &State, groups: &Groups) -> Self {
        let mut runs = state.runs.numbers();
        runs.reverse();
        Self {
            floor: groups.next_seq(),
            runs,
            message: MessageNumber(0),
            messages_end: state.messages.next(),
            mark: None,
            marks_done: false,
        }
    }

    fn write_piece(&mut self, state: &State, groups: &mut Groups) -> Result<bool, StoreError> {
        let mut written = 0;
        while written < PIECE_BYTES {
            if let Some(number) = self.runs.pop() {
                // It may have been removed since.
                let Some((beginning, run)) = state.runs.beginning(number) else { continue };
                let history = run.history();
                written += history.len() + beginning.input.len() + 64;
                groups.record(&Record::Image { beginning, ended: run.ended, history })?;
            } else if let Some((message, content, standing)) =
                state.messages.image_from(self.message).filter(|it| it.0 < self.messages_end)
            {
                written += content.payload.len() + 128;
                self.message = MessageNumber(message.0 + 1);
                groups.record(&Record::MessageImage {
                    message,
                    content: content.clone(),
                    standing: standing.clone(),
                })?;
            } else if !self.marks_done {
                let marks = state.messages.marks_from(self.mark.as_ref(), MARKS_PER_RECORD);
                self.marks_done = marks.len() < MARKS_PER_RECORD;
                self.mark = marks.last().cloned().or(self.mark.take());
                written += marks.len() * 64;
                let marks = marks.into_iter().map(|(keep_until, from, key)| InboxMark {
                    from,
                    key,
                    keep_until,
                });
                groups.record(&Record::MarkImages(marks.collect()))?;
            } else {
                let (next_run, next_message) = (state.runs.end(), state.messages.next());
                groups.record(&Record::Counters { next_run, next_message })?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl LogStore {
    /// Begins a checkpoint if the log has grown enough, continues one, or ends it.
    pub(super) fn advance_checkpoint(&self, files: &mut Files) -> Result<(), StoreError> {
        let mut guard = lock(&self.inner);
        let Inner { state, groups } = &mut *guard;
        let weight = (state.runs.weight() + state.messages.weight()) as u64;
        if files.checkpoint.is_none() {
            if files.grown_bytes < files.checkpoint_bytes.max(4 * weight) {
                return Ok(());
            }
            files.grown_bytes = 0;
            files.checkpoint = Some(Checkpoint::begin(state, groups));
        }
        let Some(checkpoint) = &mut files.checkpoint else { return Ok(()) };
        let last = checkpoint.write_piece(state, groups)?;
        let floor = checkpoint.floor;
        drop(guard);
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
