//! The reading half of a producer, which holds replies until their mark has passed.

use super::producers::{PendingReply, ProducerShared};
use crate::Level;
use crate::marks::Phase;
use crate::state::EngineState;
use rialto_model::{Amount, DoneReason, Outcome, Seq, Timestamp};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The reason why a submitted command has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The engine stopped before it confirmed the command, which may have taken effect. After the
    /// restart, the journal decides.
    #[error("the engine stopped before the command was confirmed: its outcome is unknown")]
    OutcomeUnknown,
    /// A change of the rules version needs a durable snapshot before it. The snapshot failed, and
    /// the command was not journaled.
    #[error("the snapshot that must precede a change of the rules version failed")]
    NoSnapshot,
}

/// The answer to a command: its sequence and outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The command's sequence.
    pub seq: Seq,
    /// The command's time.
    pub time: Timestamp,
    /// The outcome.
    pub outcome: Outcome,
    /// The execution of its order.
    pub execution: Execution,
}

/// The fills of a command's incoming order within the command, and the reason of its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// The sum of price times quantity, in price units times quantity units.
    pub product: i128,
    /// The fees that it paid, in the smallest unit of the quote currency.
    pub fee: Amount,
    /// The reason why the new order ended in the same command without being filled.
    pub done: Option<DoneReason>,
}

/// The reply to a submitted command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The submission's token.
    pub token: u64,
    /// The answer.
    pub answer: Result<Answer, NoAnswer>,
}

impl Reply {
    /// The outcome of the command.
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
    /// The marks by level, as last read.
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
        // A command that was not journaled needs no mark.
        let seq = reply.answer.map_or(Seq::ZERO, |answer| answer.seq);
        if seq > self.passed[gate as usize] {
            let marks = &self.state.progression;
            // The phase is read first, so that a mark before the end is seen.
            let over = marks.phase() >= Phase::Stopped;
            self.passed[gate as usize] = marks.of(gate);
            if seq > self.passed[gate as usize] {
                let unknown = Reply { answer: Err(NoAnswer::OutcomeUnknown), ..reply };
                return if over { self.hand_out(unknown) } else { None };
            }
        }
        self.hand_out(reply)
    }

    /// Waits up to `timeout` for the next reply.
    pub fn reply_timeout(&mut self, timeout: Duration) -> Option<Reply> {
        let shared = Arc::clone(&self.shared);
        let wait = self.state.wait;
        let mut deadline = None;
        loop {
            let mut left = Some(timeout);
            let reply = shared.signal.wait(wait, || match self.try_reply() {
                Some(reply) => Ok(reply),
                None => {
                    // The clock is read only when there is nothing else to do.
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

    /// Sets a callback for new replies. The engine's threads call it; it must not block.
    pub fn set_waker(&mut self, waker: Arc<dyn Fn() + Send + Sync>) {
        self.shared.set_waker(waker);
        self.shared.wake();
    }

    fn hand_out(&mut self, reply: Reply) -> Option<Reply> {
        let _ = self.ring.pop();
        self.count();
        Some(reply)
    }

    /// Submissions that were too late to be sequenced: known once the sequencer has ended.
    fn leftover(&mut self) -> Option<Reply> {
        if self.state.progression.phase() < Phase::Stopped {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        let mut abandoned = shared.abandoned.lock().ok()?;
        let submissions = abandoned.as_mut()?;
        if !self.ring.is_empty() {
            // Answers from before the sequencer's end come first.
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
