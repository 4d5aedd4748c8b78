//! The way in and the way of the answer: one pair of bounded rings for each producer.

mod producers;
mod replies;
mod submitter;

pub(crate) use producers::{PendingReply, ProducerRings, ProducerSet, ProducerTable};
pub use replies::{Answer, Execution, NoAnswer, Replies, Reply};
pub use submitter::{Submission, SubmitError, Submitter};

use crate::Level;
use rialto_model::Command;
use std::sync::Arc;
use std::time::Duration;

/// How many producers an engine can have at a time. One more is turned away at its first
/// submission with [`SubmitError::TooManyProducers`].
pub const PRODUCERS_MAX: usize = 256;

/// One way into the engine: submits commands and takes their replies, in order of submission.
///
/// It belongs to one thread; [`Producer::split`] makes it two halves for two threads. Dropping it
/// does not take back what it has submitted.
pub struct Producer {
    submitter: Submitter,
    replies: Replies,
}

impl Producer {
    pub(crate) fn new(submitter: Submitter, replies: Replies) -> Self {
        Self { submitter, replies }
    }

    /// Submits a command. `token` comes back with its reply; `level` asks for a higher level than
    /// the venue's for that reply.
    ///
    /// # Errors
    /// Nothing was submitted; the error says why.
    #[inline]
    pub fn submit(
        &mut self,
        token: u64,
        command: &Command,
        level: Option<Level>,
    ) -> Result<(), SubmitError> {
        self.submitter.submit(token, command, level)
    }

    /// Submits as many of these as there is room for, from the front, and says how many.
    ///
    /// # Errors
    /// None was submitted; the error says why.
    pub fn submit_batch(&mut self, submissions: &[Submission]) -> Result<usize, SubmitError> {
        self.submitter.submit_batch(submissions)
    }

    /// The next reply, if there is one.
    #[inline]
    pub fn try_reply(&mut self) -> Option<Reply> {
        self.replies.try_reply()
    }

    /// The next reply, waiting up to `timeout` for it.
    pub fn reply_timeout(&mut self, timeout: Duration) -> Option<Reply> {
        self.replies.reply_timeout(timeout)
    }

    /// Has `waker` called whenever replies may have become available.
    pub fn set_waker(&mut self, waker: Arc<dyn Fn() + Send + Sync>) {
        self.replies.set_waker(waker);
    }

    /// How many submissions have not been answered with a reply taken from here.
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
