//! Beginning the control log anew after the disk failed it.
//!
//! What was not known to be written is cut, whatever became of it, and everything is written anew in a
//! checkpoint. Memory is ahead of the log then, never behind: what a caller was told had failed may have
//! happened, but nothing that it was told had happened is undone.

use super::{Control, ControlHost, Record, Store, lock};
use crate::control::Moved;
use crate::error::QueueError;
use crate::runtime::Reached;
use crate::sabotage::Sabotage;
use std::borrow::Cow;
use std::time::Duration;

/// How long after a failure the log is begun anew, and how often that is tried.
pub(super) const RETRY_EVERY: Duration = Duration::from_secs(1);

impl Control {
    /// Nothing is written from here on, until the log can be begun anew.
    pub(super) fn fail(&self, store: &mut Store, error: &QueueError) {
        if let Some(writer) = &store.writer {
            store.reached.get_or_insert_with(|| Reached::by(writer));
        }
        store.next_try = self.runtime.now().after(RETRY_EVERY);
        self.trouble.failed(error);
        self.rounds.wake_all();
    }

    /// Whether it has failed, and it is time to try again.
    pub(crate) fn is_revival_due(&self) -> bool {
        self.failure().is_some() && lock(&self.store).next_try <= self.runtime.now()
    }

    /// Begins the log anew if it is time for that; nothing if it is not, or if it is being changed
    /// something just now. Otherwise everything is synced.
    pub(super) fn revive_in_time(
        &self,
        store: &mut Store,
        told: &impl ControlHost,
    ) -> Result<Option<bool>, QueueError> {
        if self.runtime.now() < store.next_try {
            return Ok(None);
        }
        let Ok(_gate) = self.gate.try_write() else { return Ok(None) };
        self.revive(store, told)?;
        Ok(Some(true))
    }

    /// Begins the log anew. The gate is held to write, so that whatever was noted is true in memory or
    /// was refused.
    pub(super) fn revive(
        &self,
        store: &mut Store,
        told: &impl ControlHost,
    ) -> Result<(), QueueError> {
        if let Some(writer) = store.writer.take() {
            store.reached.get_or_insert_with(|| Reached::by(&writer));
        }
        let reached = store.reached.as_ref().ok_or(QueueError::Closed)?;
        let writer = self.runtime.resume_log(&self.place, reached)?;
        {
            let mut pending = lock(&self.pending);
            pending.full.clear();
            pending.open.begin(writer.next_seq());
        }
        store.writer = Some(writer);
        if self.runtime.sabotage.is(Sabotage::ReviveWithoutTransactions) {
            lock(&self.pending).transactions.clear();
        }
        self.append_checkpoint(told, super::Pending::append_waiting);
        self.write_all(store)?;
        let written = lock(&self.pending).open.next_seq();
        store.reached = None;
        self.trouble.mended();
        self.deliver_below(written, told)
    }
}

impl super::Pending {
    /// Says again what transactions publish whose records were not known to be written. What they
    /// acknowledged stands in the images. Where the first record is there after all, both have the same
    /// number, and the topics take the messages once.
    fn append_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.transactions);
        for transaction in &mut waiting {
            let message = |moved: &Moved<'static>| Moved {
                record: Cow::Owned(moved.record.to_vec()),
                ..*moved
            };
            let messages = transaction.messages.iter().map(message).collect();
            let (id, finished) = (transaction.id, Vec::new());
            transaction.seq = self.append(&Record::Transaction { id, messages, finished });
        }
        self.transactions = waiting;
    }
}
