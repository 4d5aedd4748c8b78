//! What the log of a store is read into, and the images of its checkpoints.

use super::journal::append;
use crate::Timestamp;
use crate::store::message::{InboxMark, MessageNumber};
use crate::store::record::{Record, RunNumber};
use crate::store::state::State;
use crate::store::types::Ticket;
use rialto_statelog::{InvalidRecord, PendingRecords, StateLogError};

const MARKS_PER_RECORD: usize = 256;

/// What a checkpoint must still write.
pub(crate) struct Cursor {
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

impl rialto_statelog::LoggedState for State {
    type Cursor = Cursor;

    fn read(&mut self, seq: u64, record: &[u8]) -> Result<(), InvalidRecord> {
        let record = postcard::from_bytes::<Record<'_>>(record);
        let record = record.map_err(|error| InvalidRecord::new(seq, error))?;
        self.read(Ticket(seq), record);
        Ok(())
    }

    fn finish_reading(&mut self) -> Result<(), InvalidRecord> {
        self.finish_reading()
    }

    fn weight(&self) -> usize {
        self.runs.weight() + self.messages.weight()
    }

    fn begin_checkpoint(&self) -> Cursor {
        let mut runs = self.runs.numbers();
        runs.reverse();
        Cursor {
            runs,
            message: MessageNumber(0),
            messages_end: self.messages.next(),
            mark: None,
            marks_done: false,
        }
    }

    fn write_images(
        &self,
        cursor: &mut Cursor,
        records: &mut PendingRecords,
        bytes: usize,
    ) -> Result<bool, StateLogError> {
        let mut written = 0;
        while written < bytes {
            if let Some(number) = cursor.runs.pop() {
                // It may have been removed since.
                let Some((beginning, run)) = self.runs.beginning(number) else { continue };
                let history = run.history();
                written += history.len() + beginning.input.len() + 64;
                append(records, &Record::Image { beginning, ended: run.ended, history })?;
            } else if let Some((message, content, standing)) =
                self.messages.image_from(cursor.message).filter(|it| it.0 < cursor.messages_end)
            {
                written += content.payload.len() + 128;
                cursor.message = MessageNumber(message.0 + 1);
                let image = Record::MessageImage {
                    message,
                    content: content.clone(),
                    standing: standing.clone(),
                };
                append(records, &image)?;
            } else if !cursor.marks_done {
                let marks = self.messages.marks_from(cursor.mark.as_ref(), MARKS_PER_RECORD);
                cursor.marks_done = marks.len() < MARKS_PER_RECORD;
                cursor.mark = marks.last().cloned().or(cursor.mark.take());
                written += marks.len() * 64;
                let marks = marks.into_iter().map(|(keep_until, from, key)| InboxMark {
                    from,
                    key,
                    keep_until,
                });
                append(records, &Record::MarkImages(marks.collect()))?;
            } else {
                let (next_run, next_message) = (self.runs.end(), self.messages.next());
                append(records, &Record::Counters { next_run, next_message })?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
