//! The submitting half of a producer.

use super::PRODUCERS_MAX;
use super::entry::{Entry, OtherSender};
use super::producers::{AttributedAt, ProducerShared};
use crate::Level;
use crate::marks::Phase;
use crate::state::EngineState;
use rialto_model::{Attribution, Command};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A command with its token.
#[derive(Clone, Copy, Debug)]
pub struct Submission {
    /// Returned with the reply; the engine does not use it.
    pub token: u64,
    /// The command.
    pub command: Command,
    /// A higher durability level than the venue's for this reply, or `None`.
    pub level: Option<Level>,
}

/// The reason why nothing was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The producer's capacity of commands in flight is used up; take replies first. Or the disk
    /// hangs, and the engine is [stalled](crate::Health::Stalled).
    #[error(
        "the producer's limit of commands in flight is reached, or the disk hangs; take replies and \
         try again"
    )]
    Busy,
    /// The engine is stopping or has stopped.
    #[error("the engine accepts no more commands")]
    Stopped,
    /// The engine's limit of producers was reached when this one was opened.
    #[error("the engine already has {PRODUCERS_MAX} producers; drop one and open this one again")]
    TooManyProducers,
}

/// The submitting half of a [`Producer`](crate::Producer).
pub struct Submitter {
    ring: Option<rtrb::Producer<Entry>>,
    others: OtherSender,
    /// Attributions wait beside the submissions, whose entries stay as short as they are.
    attributions: rtrb::Producer<AttributedAt>,
    capacity: u64,
    submitted: u64,
    /// The last known count of taken replies; never ahead of the real one.
    taken: u64,
    shared: Arc<ProducerShared>,
    state: Arc<EngineState>,
}

impl Submitter {
    pub(super) fn new(
        ring: Option<rtrb::Producer<Entry>>,
        others: OtherSender,
        attributions: rtrb::Producer<AttributedAt>,
        capacity: usize,
        shared: Arc<ProducerShared>,
        state: Arc<EngineState>,
    ) -> Self {
        Self {
            ring,
            others,
            attributions,
            capacity: capacity as u64,
            submitted: 0,
            taken: 0,
            shared,
            state,
        }
    }

    /// Submits a command; see [`Producer::submit`](crate::Producer::submit).
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
        self.room()?;
        self.push(token, command, level)
    }

    /// Submits an attributed command; see
    /// [`Producer::submit_attributed`](crate::Producer::submit_attributed).
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
        self.room()?;
        // The submission must fit: an attribution without one would go to the next.
        if self.ring.as_ref().ok_or(SubmitError::TooManyProducers)?.is_full() {
            return Err(SubmitError::Busy);
        }
        // It comes before its submission, so that the sequencer finds it.
        let at = AttributedAt { submission: self.submitted, attribution: *attribution };
        if self.attributions.push(at).is_err() {
            self.state.stats.count_busy();
            return Err(SubmitError::Busy);
        }
        self.push(token, command, level)
    }

    #[inline]
    fn push(
        &mut self,
        token: u64,
        command: &Command,
        level: Option<Level>,
    ) -> Result<(), SubmitError> {
        let ring = self.ring.as_mut().ok_or(SubmitError::TooManyProducers)?;
        if ring.is_full() {
            return Err(SubmitError::Busy);
        }
        // It has room.
        let _ = ring.push(self.others.entry(token, command, level));
        self.submitted += 1;
        self.tell();
        Ok(())
    }

    /// Wakes the sequencer. The engine may have ended since the check for room: then the reading
    /// half has the answer, and its wake-up may have come too early.
    #[inline]
    fn tell(&self) {
        // Its fence is between the push and the check of the phase.
        self.state.sequencer.notify();
        if self.state.progression.phase() >= Phase::Stopped {
            self.shared.wake();
        }
    }

    /// Submits as many of these as there is known to be room for, at least one, from the first on, and returns
    /// their number. Replies that were taken meanwhile may leave room for more: call it again with the rest.
    ///
    /// # Errors
    /// Nothing was submitted.
    pub fn submit_batch(&mut self, submissions: &[Submission]) -> Result<usize, SubmitError> {
        let room = self.room()?;
        let ring = self.ring.as_mut().ok_or(SubmitError::TooManyProducers)?;
        let count = submissions.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        // The sequencer's position is read only if the one that was read last leaves too little room.
        let count = if ring.cached_slots() < count { count.min(ring.slots()) } else { count };
        let chunk = ring.write_chunk_uninit(count).expect("the ring has this many free slots");
        let entries = submissions[..count].iter().map(|submission| {
            self.others.entry(submission.token, &submission.command, submission.level)
        });
        let pushed = chunk.fill_from_iter(entries);
        self.submitted += pushed as u64;
        self.tell();
        Ok(pushed)
    }

    /// The number of submissions whose replies the other half has not taken.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        (self.submitted - self.shared.taken.0.load(Ordering::Acquire)) as usize
    }

    /// The room for submissions, or the reason why there is none.
    #[inline]
    fn room(&mut self) -> Result<u64, SubmitError> {
        if self.state.progression.phase() != Phase::Running {
            return Err(SubmitError::Stopped);
        }
        if self.state.is_stalled() {
            self.state.stats.count_busy();
            return Err(SubmitError::Busy);
        }
        if self.submitted - self.taken >= self.capacity {
            self.taken = self.shared.taken.0.load(Ordering::Acquire);
            if self.submitted - self.taken >= self.capacity {
                self.state.stats.count_busy();
                return Err(SubmitError::Busy);
            }
        }
        Ok(self.capacity - (self.submitted - self.taken))
    }
}

impl Drop for Submitter {
    /// Lets the sequencer release the producer.
    fn drop(&mut self) {
        self.ring = None;
        self.state.sequencer.notify();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineConfig, Sources, Stepped};
    use rialto_disk::SimDisk;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_submission_that_the_end_overtakes_wakes_its_caller_and_is_answered() {
        let config = EngineConfig { segment_bytes: 2 << 20, ..EngineConfig::default() };
        let disk = Arc::new(SimDisk::new(1));
        let (engine, mut stepped, _) =
            Stepped::start(config, disk, &Sources::system()).expect("an empty disk");
        let (mut submitter, mut replies) = engine.producer().split();
        let woken = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&woken);
        replies.set_waker(Arc::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        }));

        assert!(submitter.room().is_ok(), "the engine runs");
        engine.close_intake();
        stepped.run_until_idle();
        let before = woken.load(Ordering::Relaxed);
        assert_eq!(submitter.push(7, &Command::Tick, None), Ok(()));

        assert!(woken.load(Ordering::Relaxed) > before, "nobody else would wake the caller");
        let reply = replies.try_reply().expect("an answer");
        assert_eq!((reply.token, reply.outcome()), (7, Err(crate::NoAnswer::OutcomeUnknown)));
        assert_eq!(replies.try_reply(), None, "one answer");
    }

    #[test]
    fn a_producer_opened_when_the_sequencer_has_ended_is_answered() {
        let config = EngineConfig { segment_bytes: 2 << 20, ..EngineConfig::default() };
        let disk = Arc::new(SimDisk::new(1));
        let (engine, stepped, _) =
            Stepped::start(config, disk, &Sources::system()).expect("an empty disk");
        // As after a panic: the sequencer is gone, and its fault is reported slightly later.
        drop(stepped);
        let (mut submitter, mut replies) = engine.producer().split();
        assert_eq!(submitter.push(7, &Command::Tick, None), Ok(()));
        engine.state.fail(crate::Fault::Panicked("sequencer"));
        let reply = replies.try_reply().expect("an answer");
        assert_eq!((reply.token, reply.outcome()), (7, Err(crate::NoAnswer::OutcomeUnknown)));
    }
}
