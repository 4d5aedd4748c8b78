//! Records that wait to be written to the log.

use crate::error::StateLogError;
use rialto_log::{AppendError, GROUP_BYTES_MAX, Group};
use std::collections::VecDeque;

/// The most full groups that wait to be written; a thread that adds more writes them first.
pub(crate) const WAITING_GROUPS_MAX: usize = 4;

/// The position of a record among all records of a log. Records are confirmed up to a ticket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// The records that changes have appended and that are not written yet.
pub struct PendingRecords {
    /// Groups that fill up while others are being written.
    full: VecDeque<Group>,
    open: Group,
    spare: Vec<Group>,
}

impl PendingRecords {
    pub(crate) fn new(next_seq: u64) -> Self {
        let mut open = Group::new(GROUP_BYTES_MAX);
        open.begin(next_seq);
        Self { full: VecDeque::new(), open, spare: Vec::new() }
    }

    /// Appends a record of at most `len_max` bytes. `encode` writes it to the front of the buffer
    /// that it is given, of `len_max` bytes, and returns its length. Returns the record's ticket.
    ///
    /// # Errors
    /// [`StateLogError::TooLarge`] if no group can hold `len_max` bytes, and
    /// [`StateLogError::Encoding`] if `encode` returns `None`. Nothing was appended then.
    #[inline]
    pub fn append(
        &mut self,
        len_max: usize,
        encode: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Result<Ticket, StateLogError> {
        match self.open.reserve(len_max) {
            Ok(_) => {}
            Err(AppendError::Full) => self.begin_group(),
            Err(AppendError::TooLong { len, .. }) => {
                return Err(StateLogError::TooLarge { bytes: len });
            }
        }
        let room = self.open.reserve(len_max);
        let room = room.map_err(|_| StateLogError::TooLarge { bytes: len_max })?;
        let len = encode(room).filter(|len| *len <= len_max);
        let len = len.ok_or(StateLogError::Encoding { len_max })?;
        Ok(Ticket(self.open.commit(len)))
    }

    /// Appends a record that is encoded already, and returns its ticket.
    ///
    /// # Errors
    /// [`StateLogError::TooLarge`] if no group can hold it. Nothing was appended then.
    pub fn append_bytes(&mut self, record: &[u8]) -> Result<Ticket, StateLogError> {
        self.append(record.len(), |room| {
            room.copy_from_slice(record);
            Some(record.len())
        })
    }

    /// The sequence that the next record gets.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.open.next_seq()
    }

    /// The number of full groups that wait to be written.
    pub(crate) fn waiting(&self) -> usize {
        self.full.len()
    }

    /// Moves everything that waits to be written to `groups`, which must be empty.
    pub(crate) fn take(&mut self, groups: &mut VecDeque<Group>) {
        if !self.open.is_empty() {
            self.begin_group();
        }
        // The buffers of both are used again and again.
        std::mem::swap(&mut self.full, groups);
    }

    /// Takes written groups back for reuse.
    pub(crate) fn give_back(&mut self, groups: &mut VecDeque<Group>) {
        let room = WAITING_GROUPS_MAX.saturating_sub(self.spare.len());
        self.spare.extend(groups.drain(..).take(room));
    }

    #[cold]
    fn begin_group(&mut self) {
        let mut next = self.spare.pop().unwrap_or_else(|| Group::new(GROUP_BYTES_MAX));
        next.begin(self.open.next_seq());
        self.full.push_back(std::mem::replace(&mut self.open, next));
    }
}
