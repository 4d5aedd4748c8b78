//! Restarts the control log after a disk failure.
//!
//! Records that are not known to be written are cut, and a checkpoint writes the whole state.
//! Memory may be ahead of the log, never behind: a call that failed may have taken effect, but a
//! call that was confirmed is never undone.

use super::{Control, ControlHost, Record, Store, lock};
use crate::control::Moved;
use crate::error::QueueError;
use crate::runtime::Reached;
use crate::sabotage::Sabotage;
use std::borrow::Cow;
use std::time::Duration;

/// The time from a failure to a restart, and between attempts.
pub(super) const RETRY_EVERY: Duration = Duration::from_secs(1);

impl Control {
    /// Stops all writes until the log is restarted.
    pub(super) fn fail(&self, store: &mut Store, error: &QueueError) {
        if let Some(writer) = &store.writer {
            store.reached.get_or_insert_with(|| Reached::by(writer));
        }
        store.next_try = self.runtime.now().after(RETRY_EVERY);
        self.fault.failed(error);
        self.rounds.wake_all();
    }

    /// Whether it has failed, and it is time to try again.
    pub(crate) fn is_revival_due(&self) -> bool {
        self.failure().is_some() && lock(&self.store).next_try <= self.runtime.now()
    }

    /// Restarts the log if it is due, and syncs everything. `None` if it is not due, or if a change
    /// is in progress.
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

    /// Restarts the log. The gate is locked for writing, so that every noted record is applied in
    /// memory or was refused.
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
        self.fault.mended();
        self.deliver_below(written, told)
    }
}

impl super::Pending {
    /// Writes again the messages of transactions whose records are not known to be written. The
    /// images include what they acknowledged. If the first record was written after all, both have
    /// the same number, and the topics take the messages once.
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
