//! The reading half of a producer: where replies are held back until their mark has passed.

use super::producers::{PendingReply, ProducerShared};
use crate::Level;
use crate::marks::Phase;
use crate::state::EngineState;
use rialto_model::{Amount, DoneReason, Outcome, Seq, Timestamp};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Why a submitted command has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The engine stopped before it could promise anything about the command: it may have taken
    /// effect or not. What the journal holds after the restart decides.
    #[error("the engine stopped before the command was confirmed: its outcome is unknown")]
    OutcomeUnknown,
    /// A change of the rules needs a durable snapshot before it. None could be made, and the
    /// command was not journaled.
    #[error("no snapshot could be made, which must be there before the rules change")]
    NoSnapshot,
}

/// The answer to a command: its place in the journal and what it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The command's place in the journal.
    pub seq: Seq,
    /// The time that the command was stamped with.
    pub time: Timestamp,
    /// What it came to.
    pub outcome: Outcome,
    /// What its order traded.
    pub execution: Execution,
}

/// What the incoming order of a command traded in that command, and why it ended there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// The sum of price times quantity, in price units times quantity units.
    pub product: i128,
    /// The fees that it paid, in the quote currency's smallest unit.
    pub fee: Amount,
    /// Why the command's new order ended in the same command without being filled.
    pub done: Option<DoneReason>,
}

/// A submitted command is answered, or will have no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// As submitted.
    pub token: u64,
    /// What the engine says of the command.
    pub answer: Result<Answer, NoAnswer>,
}

impl Reply {
    /// What the command came to.
    ///
    /// # Errors
    /// There is no answer.
    pub fn outcome(&self) -> Result<Outcome, NoAnswer> {
        self.answer.map(|answer| answer.outcome)
    }
}

/// The reading half of a [`Producer`](crate::Producer).
pub struct Replies {
    ring: rtrb::Consumer<PendingReply>,
    /// The marks by level as they were last read.
    passed: [Seq; Level::ALL.len()],
    taken: u64,
    shared: Arc<ProducerShared>,
    state: Arc<EngineState>,
}

impl Replies {
    pub(super) fn new(
        ring: rtrb::Consumer<PendingReply>,
        shared: Arc<ProducerShared>,
        state: Arc<EngineState>,
    ) -> Self {
        Self { ring, passed: [Seq::ZERO; Level::ALL.len()], taken: 0, shared, state }
    }

    /// The next reply, if there is one.
    #[inline]
    pub fn try_reply(&mut self) -> Option<Reply> {
        let Ok(&pending) = self.ring.peek() else { return self.leftover() };
        let PendingReply { reply, gate } = pending;
        // A command that was not journaled waits for no mark.
        let seq = reply.answer.map_or(Seq::ZERO, |answer| answer.seq);
        if seq > self.passed[gate as usize] {
            let marks = &self.state.progression;
            // The phase is read first: a mark that was reached before the end is then seen.
            let over = marks.phase() >= Phase::Stopped;
            self.passed[gate as usize] = marks.of(gate);
            if seq > self.passed[gate as usize] {
                let unknown = Reply { answer: Err(NoAnswer::OutcomeUnknown), ..reply };
                return if over { self.hand_out(unknown) } else { None };
            }
        }
        self.hand_out(reply)
    }

    /// The next reply, waiting up to `timeout` for it.
    pub fn reply_timeout(&mut self, timeout: Duration) -> Option<Reply> {
        let shared = Arc::clone(&self.shared);
        let wait = self.state.wait;
        let mut deadline = None;
        loop {
            let mut left = Some(timeout);
            let reply = shared.signal.wait(wait, || match self.try_reply() {
                Some(reply) => Ok(reply),
                None => {
                    // The clock is asked only when there is nothing to do anyway.
                    let now = Instant::now();
                    let end = *deadline.get_or_insert_with(|| now.checked_add(timeout));
                    left = end.map(|end| end.saturating_duration_since(now));
                    Err(left)
                }
            });
            if reply.is_some() || left == Some(Duration::ZERO) {
                return reply;
            }
        }
    }

    /// Has `waker` called, by a thread of the engine, whenever replies may have become available.
    /// It must not block.
    pub fn set_waker(&mut self, waker: Arc<dyn Fn() + Send + Sync>) {
        self.shared.set_waker(waker);
        self.shared.wake();
    }

    fn hand_out(&mut self, reply: Reply) -> Option<Reply> {
        let _ = self.ring.pop();
        self.count();
        Some(reply)
    }

    /// What was submitted too late to be sequenced: known once the sequencer has ended.
    fn leftover(&mut self) -> Option<Reply> {
        if self.state.progression.phase() < Phase::Stopped {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        let mut abandoned = shared.abandoned.lock().ok()?;
        let submissions = abandoned.as_mut()?;
        if !self.ring.is_empty() {
            // The sequencer answered some more before it ended; those answers come first.
            drop(abandoned);
            return self.try_reply();
        }
        let submission = submissions.pop().ok()?;
        self.count();
        Some(Reply { token: submission.token, answer: Err(NoAnswer::OutcomeUnknown) })
    }

    fn count(&mut self) {
        self.taken += 1;
        self.shared.taken.0.store(self.taken, Ordering::Release);
    }
}
