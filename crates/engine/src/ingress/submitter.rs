//! The submitting half of a producer.

use super::PRODUCERS_MAX;
use super::lane::LaneShared;
use crate::Level;
use crate::marks::Phase;
use crate::venue::Venue;
use rialto_model::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A command with what comes back with its reply.
#[derive(Clone, Copy, Debug)]
pub struct Submission {
    /// Comes back with the reply; the engine does not look at it.
    pub token: u64,
    /// The command.
    pub command: Command,
    /// A higher level than the venue's for this reply, or `None`.
    pub level: Option<Level>,
}

/// Why nothing was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// As many submissions as the producer's capacity have not been answered; take replies first.
    #[error("the producer has as many commands in flight as it may; take replies and try again")]
    Busy,
    /// The engine is stopping or has stopped.
    #[error("the engine takes no more commands")]
    Stopped,
    /// The engine had as many producers as it may when this one was made.
    #[error("the engine has {PRODUCERS_MAX} producers already; drop one and make this one anew")]
    TooManyProducers,
}

/// The submitting half of a [`Producer`](crate::Producer).
pub struct Submitter {
    ring: Option<rtrb::Producer<Submission>>,
    capacity: u64,
    submitted: u64,
    /// The last known count of replies handed out; behind the truth, never ahead of it.
    taken: u64,
    shared: Arc<LaneShared>,
    venue: Arc<Venue>,
}

impl Submitter {
    pub(super) fn new(
        ring: Option<rtrb::Producer<Submission>>,
        capacity: usize,
        shared: Arc<LaneShared>,
        venue: Arc<Venue>,
    ) -> Self {
        Self { ring, capacity: capacity as u64, submitted: 0, taken: 0, shared, venue }
    }

    /// Submits a command; see [`Producer::submit`](crate::Producer::submit).
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
        self.room()?;
        let ring = self.ring.as_mut().ok_or(SubmitError::TooManyProducers)?;
        ring.push(Submission { token, command: *command, level }).map_err(|_| SubmitError::Busy)?;
        self.submitted += 1;
        self.venue.sequencer.notify();
        Ok(())
    }

    /// Submits as many of these as there is room for, from the front, and says how many.
    ///
    /// # Errors
    /// None was submitted; the error says why.
    pub fn submit_batch(&mut self, submissions: &[Submission]) -> Result<usize, SubmitError> {
        let room = self.room()?;
        let ring = self.ring.as_mut().ok_or(SubmitError::TooManyProducers)?;
        let count = submissions.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let (pushed, _) = ring.push_partial_slice(&submissions[..count]);
        let pushed = pushed.len();
        self.submitted += pushed as u64;
        self.venue.sequencer.notify();
        Ok(pushed)
    }

    /// How many submissions have not been answered with a reply taken by the other half.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        (self.submitted - self.shared.taken.0.load(Ordering::Acquire)) as usize
    }

    /// Room for more, or why there is none.
    #[inline]
    fn room(&mut self) -> Result<u64, SubmitError> {
        if self.venue.progression.phase() != Phase::Running {
            return Err(SubmitError::Stopped);
        }
        if self.submitted - self.taken >= self.capacity {
            self.taken = self.shared.taken.0.load(Ordering::Acquire);
            if self.submitted - self.taken >= self.capacity {
                self.venue.stats.count_busy();
                return Err(SubmitError::Busy);
            }
        }
        Ok(self.capacity - (self.submitted - self.taken))
    }
}

impl Drop for Submitter {
    /// Has the sequencer let go of a lane that nobody will submit to again.
    fn drop(&mut self) {
        self.ring = None;
        self.venue.sequencer.notify();
    }
}
