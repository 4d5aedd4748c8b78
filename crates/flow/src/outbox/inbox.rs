//! The inbox recognises duplicates.

use super::InboxStore;
use crate::Timestamp;
use crate::store::{Accepted, InboxMark, OutboxMessage, StoreError};
use crate::{Clock, SystemClock};
use std::sync::Arc;
use std::time::Duration;

/// The receiving end: processes each message once, however often it arrives.
///
/// A message is identified by its sender and its key. Its mark is kept for a set time, which must
/// be longer than any sender retries: a later duplicate counts as a new message. At the store's
/// limit of marks, further messages are refused with [`StoreError::Full`], and their senders retry.
#[derive(Clone)]
pub struct Inbox {
    store: Arc<dyn InboxStore>,
    keep: Duration,
    clock: Arc<dyn Clock>,
}

impl Inbox {
    /// How long marks are kept by default: a week.
    pub const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);

    /// An inbox that keeps its marks in a store for [`Inbox::KEEP`].
    pub fn new(store: Arc<dyn InboxStore>) -> Self {
        Self { store, keep: Self::KEEP, clock: Arc::new(SystemClock) }
    }

    /// Sets how long marks are kept.
    #[must_use]
    pub fn keep(self, keep: Duration) -> Self {
        Self { keep, ..self }
    }

    /// Sets the clock.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Marks a message as processed and stores the messages that follow from it, in one atomic
    /// write. When this returns, the write is confirmed: acknowledge the message to its sender, and
    /// a duplicate likewise.
    pub fn accept(
        &self,
        from: &str,
        key: &str,
        then: Vec<OutboxMessage>,
    ) -> Result<Accepted, StoreError> {
        self.store.accept(vec![self.mark(from, key)], then)
    }

    /// The mark of a message, for a step that processes it: [`Step::mark`](crate::Step::mark)
    /// stores it with the end of the step.
    #[must_use]
    pub fn mark(&self, from: &str, key: &str) -> InboxMark {
        let keep_until: Timestamp = self.clock.now().after(self.keep);
        InboxMark { from: from.to_owned(), key: key.to_owned(), keep_until }
    }

    /// Whether a message has been processed, as far as marks are kept. Two concurrent calls may
    /// both return false: only [`Inbox::accept`] decides.
    pub fn is_known(&self, from: &str, key: &str) -> Result<bool, StoreError> {
        self.store.is_marked(from, key)
    }
}
