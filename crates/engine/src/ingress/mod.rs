//! Submissions and replies: bounded rings between each producer and the sequencer.

mod entry;
mod producers;
mod replies;
mod submitter;

pub(crate) use entry::Entry;
pub(crate) use producers::{PendingReply, ProducerRings, ProducerSet, ProducerTable};
pub use replies::{Answer, Execution, NoAnswer, Replies, Reply};
pub use submitter::{Submission, SubmitError, Submitter};

use crate::Level;
use rialto_model::{Attribution, Command};
use std::sync::Arc;
use std::time::Duration;

/// The most producers of an engine. A further one gets [`SubmitError::TooManyProducers`] at its
/// first submission.
pub const PRODUCERS_MAX: usize = 256;

/// The most attributed commands of a producer that wait to be sequenced. A further one is
/// [`SubmitError::Busy`].
pub const ATTRIBUTED_MAX: usize = 64;

/// A connection to the engine: submits commands and receives their replies, in order of submission.
///
/// It belongs to one thread; [`Producer::split`] makes two halves for two threads. Dropping it does
/// not cancel submitted commands.
pub struct Producer {
    submitter: Submitter,
    replies: Replies,
}

impl Producer {
    pub(crate) fn new(submitter: Submitter, replies: Replies) -> Self {
        Self { submitter, replies }
    }

    /// Submits a command. Its reply has the same `token`; `level` asks for a higher durability
    /// level than the venue's.
    ///
    /// # Errors
    /// Nothing was submitted.
    #[inline]
    pub fn submit(
        &mut self,
        token: u64,
        command: &Command,
        level: Option<Level>,
    ) -> Result<(), SubmitError> {
        self.submitter.submit(token, command, level)
    }

    /// Submits an operator's command, with who sent it and why. The journal and the events have it;
    /// under rules that know no attributions it is dropped.
    ///
    /// # Errors
    /// Nothing was submitted.
    pub fn submit_attributed(
        &mut self,
        token: u64,
        command: &Command,
        level: Option<Level>,
        attribution: &Attribution,
    ) -> Result<(), SubmitError> {
        self.submitter.submit_attributed(token, command, level, attribution)
    }

    /// Submits as many of these as there is known to be room for, at least one, from the first on, and returns
    /// their number. Replies that were taken meanwhile may leave room for more: call it again with the rest.
    ///
    /// # Errors
    /// Nothing was submitted.
    pub fn submit_batch(&mut self, submissions: &[Submission]) -> Result<usize, SubmitError> {
        self.submitter.submit_batch(submissions)
    }

    /// The next reply, if there is one.
    #[inline]
    pub fn try_reply(&mut self) -> Option<Reply> {
        self.replies.try_reply()
    }

    /// Waits up to `timeout` for the next reply.
    pub fn reply_timeout(&mut self, timeout: Duration) -> Option<Reply> {
        self.replies.reply_timeout(timeout)
    }

    /// Sets a callback for new replies.
    pub fn set_waker(&mut self, waker: Arc<dyn Fn() + Send + Sync>) {
        self.replies.set_waker(waker);
    }

    /// The number of submissions whose replies have not been taken.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.submitter.outstanding()
    }

    /// The two halves, for use in two threads.
    #[must_use]
    pub fn split(self) -> (Submitter, Replies) {
        (self.submitter, self.replies)
    }
}
