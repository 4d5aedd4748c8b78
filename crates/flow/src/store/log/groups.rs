//! Records that wait to be written to the log.

use crate::store::message::{InboxMark, OutboxMessage};
use crate::store::record::{Record, Settlement};
use crate::store::state::Journal;
use crate::store::types::{StoreError, Ticket};
use rialto_log::{AppendError, GROUP_BYTES_MAX, Group, RECORD_BYTES_MAX};
use std::collections::VecDeque;

/// The most bytes of a record besides the texts and bytes in it.
const OVERHEAD_BYTES: usize = 256;

/// Groups that fill up while others are being written.
pub(super) struct Groups {
    full: VecDeque<Group>,
    open: Group,
    spare: Vec<Group>,
}

impl Groups {
    pub(super) fn new(next_seq: u64) -> Self {
        let mut open = Group::new(GROUP_BYTES_MAX);
        open.begin(next_seq);
        Self { full: VecDeque::new(), open, spare: Vec::new() }
    }

    /// The sequence that the next record gets.
    pub(super) fn next_seq(&self) -> u64 {
        self.open.next_seq()
    }

    /// The number of full groups that wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.full.len()
    }

    /// Takes everything that waits to be written.
    pub(super) fn take(&mut self) -> VecDeque<Group> {
        if !self.open.is_empty() {
            self.begin_group();
        }
        std::mem::take(&mut self.full)
    }

    /// Takes groups back for reuse.
    pub(super) fn give_back(&mut self, groups: VecDeque<Group>) {
        let room = super::WAITING_GROUPS_MAX.saturating_sub(self.spare.len());
        self.spare.extend(groups.into_iter().take(room));
    }

    fn begin_group(&mut self) {
        let mut next = self.spare.pop().unwrap_or_else(|| Group::new(GROUP_BYTES_MAX));
        next.begin(self.open.next_seq());
        self.full.push_back(std::mem::replace(&mut self.open, next));
    }

    fn append(&mut self, len_max: usize, record: &Record<'_>) -> Result<Ticket, AppendError> {
        let room = self.open.reserve(len_max)?;
        let encoded = postcard::to_slice(record, room);
        // The bound on the length holds for every record, or none would be written at all.
        let len = encoded.map(|bytes| bytes.len()).map_err(|_| AppendError::Full)?;
        Ok(Ticket(self.open.commit(len)))
    }
}

impl Journal for Groups {
    fn record(&mut self, record: &Record<'_>) -> Result<Ticket, StoreError> {
        let len_max = bound(record);
        let too_large =
            StoreError::TooLarge { bytes: len_max, limit: RECORD_BYTES_MAX - OVERHEAD_BYTES };
        match self.append(len_max, record) {
            Ok(ticket) => Ok(ticket),
            Err(AppendError::TooLong { .. }) => Err(too_large),
            Err(AppendError::Full) => {
                self.begin_group();
                self.append(len_max, record).map_err(|_| too_large)
            }
        }
    }
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
