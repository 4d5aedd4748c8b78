//! Telling apart what has come before.

use super::InboxStore;
use crate::Timestamp;
use crate::store::{Accepted, InboxMark, OutboxMessage, StoreError};
use crate::{Clock, SystemClock};
use std::sync::Arc;
use std::time::Duration;

/// The receiving end: lets each message have its effect once, however often it comes.
///
/// A message is identified by its sender and its key. Its mark is kept for a stated time; a later duplicate
/// is taken for a new message, so that time must be longer than any sender goes on
/// trying. When the store holds its limit of marks, further messages are refused with
/// [`StoreError::Full`]: their senders keep them and come again.
#[derive(Clone)]
pub struct Inbox {
    store: Arc<dyn InboxStore>,
    keep: Duration,
    clock: Arc<dyn Clock>,
}

impl Inbox {
    /// For how long marks are kept if nothing else is said: a week.
    pub const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);

    /// An inbox that keeps its marks in a store for [`Inbox::KEEP`].
    pub fn new(store: Arc<dyn InboxStore>) -> Self {
        Self { store, keep: Self::KEEP, clock: Arc::new(SystemClock) }
    }

    /// Sets for how long marks are kept.
    #[must_use]
    pub fn keep(self, keep: Duration) -> Self {
        Self { keep, ..self }
    }

    /// Sets where the time comes from.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Marks a message as dealt with and stores the messages that follow from it, in one atomic
    /// write. When this returns, it is confirmed, and the sender can be told that its message is
    /// here; tell it the same of a duplicate.
    pub fn accept(
        &self,
        from: &str,
        key: &str,
        then: Vec<OutboxMessage>,
    ) -> Result<Accepted, StoreError> {
        self.store.accept(vec![self.mark(from, key)], then)
    }

    /// The mark of a message, for a step that deals with it:
    /// [`Step::mark`](crate::Step::mark) stores it with the end of the step.
    #[must_use]
    pub fn mark(&self, from: &str, key: &str) -> InboxMark {
        let keep_until: Timestamp = self.clock.now().after(self.keep);
        InboxMark { from: from.to_owned(), key: key.to_owned(), keep_until }
    }

    /// Whether a message has been dealt with, as far as marks are kept. Two threads that ask at once
    /// may both hear no: only [`Inbox::accept`] decides.
    pub fn is_known(&self, from: &str, key: &str) -> Result<bool, StoreError> {
        self.store.is_marked(from, key)
    }
}
