//! Encodes the records of the log.

use crate::store::message::{InboxMark, OutboxMessage};
use crate::store::record::{Record, Settlement};
use crate::store::state::Journal;
use crate::store::types::{StoreError, Ticket};
use rialto_log::RECORD_BYTES_MAX;
use rialto_statelog::{PendingRecords, StateLogError};

/// The most bytes of a record besides the texts and bytes in it.
const OVERHEAD_BYTES: usize = 256;

impl Journal for PendingRecords {
    fn record(&mut self, record: &Record<'_>) -> Result<Ticket, StoreError> {
        append(self, record).map_err(|error| match error {
            // The bound on the length holds for every record, or none would be written at all.
            StateLogError::TooLarge { bytes } | StateLogError::Encoding { len_max: bytes } => {
                StoreError::TooLarge { bytes, limit: RECORD_BYTES_MAX - OVERHEAD_BYTES }
            }
            other => other.into(),
        })
    }
}

/// Appends a record and returns its ticket.
pub(super) fn append(
    records: &mut PendingRecords,
    record: &Record<'_>,
) -> Result<Ticket, StateLogError> {
    records.append(bound(record), |room| {
        postcard::to_slice(record, room).ok().map(|encoded| encoded.len())
    })
}

/// The most bytes that a record takes.
fn bound(record: &Record<'_>) -> usize {
    /// A varint of 64 bits.
    const NUMBER: usize = 10;
    let messages = |messages: &[OutboxMessage]| -> usize {
        messages.iter().map(OutboxMessage::stored_bytes).sum()
    };
    let marks = |marks: &[InboxMark]| -> usize { marks.iter().map(InboxMark::stored_bytes).sum() };
    let held = match record {
        Record::Started(beginning) => beginning.flow.len() + beginning.input.len(),
        Record::Advanced(advance) => {
            advance.entries.len() + messages(&advance.messages) + marks(&advance.marks)
        }
        Record::Forgotten(runs) => runs.len() * NUMBER,
        Record::Image { beginning, history, .. } => {
            beginning.flow.len() + beginning.input.len() + history.len()
        }
        Record::Posted { messages: posted, marks: marked, .. } => messages(posted) + marks(marked),
        Record::Settled { outcome: Settlement::Dead { reason }, .. } => reason.len(),
        Record::MessageImage { content, standing, .. } => {
            content.bytes() + standing.dead.as_ref().map_or(0, String::len)
        }
        Record::MarkImages(images) => marks(images),
        Record::Settled { .. } | Record::Counters { .. } => 0,
        Record::Reopened { entries, .. } => entries.len(),
    };
    held + OVERHEAD_BYTES
}
