//! The outbox and the inbox of a store on a log.

use super::LogStore;
use crate::Timestamp;
use crate::outbox::{InboxStore, OutboxStore};
use crate::store::Store;
use crate::store::message::{
    Accepted, Backlog, ClaimedMessage, DeadMessage, DeliveryResult, InboxMark, MessageNumber,
    OutboxMessage,
};
use crate::store::record::Settlement;
use crate::store::types::StoreError;
use std::time::Duration;

impl LogStore {
    fn settle_dead(
        &self,
        message: MessageNumber,
        settlement: Settlement,
    ) -> Result<bool, StoreError> {
        let found =
            self.log.change(|state, records| state.settle_dead(records, message, settlement))?;
        self.commit_messages()?;
        Ok(found)
    }
}

impl OutboxStore for LogStore {
    fn post(&self, messages: Vec<OutboxMessage>) -> Result<(), StoreError> {
        self.accept(Vec::new(), messages).map(drop)
    }

    fn claim_messages(
        &self,
        now: Timestamp,
        lease: Duration,
        max: usize,
    ) -> Result<Vec<ClaimedMessage>, StoreError> {
        let claimed = self.log.change_unlogged(|state| state.messages.claim(now, lease, max))?;
        // A message that is forwarded before its step is confirmed may turn out to have no cause.
        // Flows have mostly confirmed the step already.
        if !claimed.is_empty() {
            self.commit_messages()?;
        }
        Ok(claimed)
    }

    fn settle(&self, claim: &ClaimedMessage, delivery: DeliveryResult) -> Result<bool, StoreError> {
        self.log.change(|state, records| state.settle(records, claim, delivery))
    }

    fn commit_messages(&self) -> Result<(), StoreError> {
        Ok(self.log.commit(self.log.taken()?)?)
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read(|state| state.messages.next_due())
    }

    fn backlog(&self) -> Result<Backlog, StoreError> {
        self.read(|state| state.messages.backlog())
    }

    fn dead_letters(
        &self,
        after: Option<MessageNumber>,
        max: usize,
    ) -> Result<Vec<DeadMessage>, StoreError> {
        self.read(|state| state.messages.dead_letters(after, max))
    }

    fn requeue(&self, message: MessageNumber) -> Result<bool, StoreError> {
        self.settle_dead(message, Settlement::Requeued)
    }

    fn discard(&self, message: MessageNumber) -> Result<bool, StoreError> {
        self.settle_dead(message, Settlement::Gone)
    }

    fn maintain_messages(&self, now: Timestamp) -> Result<(), StoreError> {
        self.maintain(now)
    }
}

impl InboxStore for LogStore {
    fn accept(
        &self,
        marks: Vec<InboxMark>,
        then: Vec<OutboxMessage>,
    ) -> Result<Accepted, StoreError> {
        let accepted = self.log.change(|state, records| state.accept(records, marks, then))?;
        // Duplicates wait too: their senders rely on the answer, and the mark may belong to a write
        // that is not confirmed yet.
        self.commit_messages()?;
        Ok(accepted)
    }

    fn is_marked(&self, from: &str, key: &str) -> Result<bool, StoreError> {
        self.read(|state| state.messages.is_marked(from, key))
    }
}
