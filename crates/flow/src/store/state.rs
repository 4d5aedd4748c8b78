//! The common part of both stores: keeps the state in memory and records every change.

use super::message::{
    Accepted, ClaimedMessage, DeliveryResult, InboxMark, MARK_BYTES_MAX, MESSAGE_BYTES_MAX,
    MessageNumber, OutboxMessage,
};
use super::messages::Messages;
use super::record::{Advance, Beginning, Record, RunNumber, Settlement};
use super::runs::{Run, Runs, SLOTS_MAX};
use super::types::{Appended, Begun, FencingToken, NewRun, StoreError, StoredRun, Ticket, Write};
use crate::{FlowId, Timestamp};
use rialto_statelog::InvalidRecord;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// The capacities of a store, and how long it keeps ended runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLimits {
    /// The most unfinished runs. At the limit, no run is begun: [`StoreError::Full`].
    pub live_runs_max: usize,
    /// Ended runs that are kept, so that starting one again finds it. When there are more, the
    /// oldest are forgotten before their time, 64 at once.
    pub ended_runs_max: usize,
    /// How long an ended run is kept. One whose parent has not ended is kept until it has.
    pub retention: Duration,
    /// Messages in the outbox, dead letters included. At the limit, no run is begun and no message
    /// posted; unfinished runs may still add messages.
    pub messages_max: usize,
    /// Marks in the inbox. At the limit, no message is accepted and no run is begun.
    pub marks_max: usize,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            live_runs_max: 100_000,
            ended_runs_max: 100_000,
            retention: Duration::from_secs(7 * 24 * 3600),
            messages_max: 100_000,
            marks_max: 1_000_000,
        }
    }
}

/// The number of ended runs that are removed at once when there are too many.
const FORGET_BATCH: usize = 64;
/// The most runs and marks that are removed in one piece of housekeeping.
const FORGET_MAX: usize = 4096;

/// The distance, in writes, at which memory is prefetched.
const AHEAD: usize = 4;

/// The journal of changes.
pub(super) trait Journal {
    /// Takes a record. An error means that it was not taken and nothing changed.
    fn record(&mut self, record: &Record<'_>) -> Result<Ticket, StoreError>;
}

struct Worker {
    renewed: Timestamp,
    lease: Duration,
}

pub(super) struct State {
    pub(super) limits: StoreLimits,
    pub(super) runs: Runs,
    pub(super) messages: Messages,
    workers: BTreeMap<FencingToken, Worker>,
    next_fence: u64,
    /// Runs whose beginning was not read yet.
    orphans: BTreeMap<RunNumber, Ticket>,
}

impl State {
    /// An empty state. The fences of its workers are greater than `fences_above`.
    pub(super) fn new(limits: StoreLimits, fences_above: u64) -> Self {
        Self {
            limits,
            runs: Runs::default(),
            messages: Messages::default(),
            workers: BTreeMap::new(),
            next_fence: fences_above + 1,
            orphans: BTreeMap::new(),
        }
    }

    // --- Reading records.

    /// Applies a record of an earlier process.
    pub(super) fn read(&mut self, ticket: Ticket, record: Record<'_>) {
        match record {
            Record::Started(beginning) => self.runs.restore(&beginning, None, &[]),
            Record::Advanced(advance) => {
                self.messages.add(advance.first_message, advance.messages.into_owned());
                self.messages.mark(advance.marks.into_owned());
                if !self.runs.advance(advance.run, advance.entries, advance.ended) {
                    // Its beginning may have been deleted, if its image is still to come.
                    self.orphans.entry(advance.run).or_insert(ticket);
                }
            }
            Record::Forgotten(runs) => {
                for run in runs {
                    self.orphans.remove(&run);
                    self.runs.forget(run);
                }
            }
            Record::Image { beginning, ended, history } => {
                self.orphans.remove(&beginning.run);
                self.runs.restore(&beginning, ended, history);
            }
            Record::Posted { first_message, messages, marks } => {
                self.messages.add(first_message, messages);
                self.messages.mark(marks);
            }
            Record::Settled { message, outcome } => self.messages.settle(message, &outcome),
            Record::MessageImage { message, content, standing } => {
                self.messages.restore(message, content, standing);
            }
            Record::MarkImages(marks) => self.messages.mark(marks),
            Record::Reopened { run, entries } => {
                if !self.runs.reopen(run, None, entries) {
                    self.orphans.entry(run).or_insert(ticket);
                }
            }
            Record::Counters { next_run, next_message } => {
                self.runs.set_end_at_least(next_run);
                self.messages.set_next_at_least(next_message);
            }
        }
    }

    /// Ends the reading: every run must have had its beginning.
    pub(super) fn finish_reading(&mut self) -> Result<(), InvalidRecord> {
        if let Some((run, ticket)) = self.orphans.first_key_value() {
            let reason = format!("run {} has no beginning", run.0);
            return Err(InvalidRecord::new(ticket.0, reason));
        }
        self.runs.settle();
        Ok(())
    }

    // --- Workers.

    pub(super) fn join(&mut self, now: Timestamp, lease: Duration) -> FencingToken {
        let fence = FencingToken(self.next_fence);
        self.next_fence += 1;
        self.workers.insert(fence, Worker { renewed: now, lease });
        fence
    }

    pub(super) fn renew(&mut self, worker: FencingToken, now: Timestamp) -> Result<(), StoreError> {
        let known = self.workers.get_mut(&worker).ok_or(StoreError::Fenced(worker))?;
        known.renewed = known.renewed.max(now);
        Ok(())
    }

    pub(super) fn leave(&mut self, worker: FencingToken) {
        if self.workers.remove(&worker).is_some() {
            self.runs.release(worker);
        }
    }

    fn expel_lapsed(&mut self, worker: FencingToken, now: Timestamp) {
        let lapsed = self
            .workers
            .iter()
            .filter(|(fence, other)| **fence != worker && other.renewed.after(other.lease) <= now);
        let lapsed: Vec<_> = lapsed.map(|(fence, _)| *fence).collect();
        lapsed.into_iter().for_each(|fence| self.leave(fence));
    }

    fn check_worker(&self, worker: FencingToken) -> Result<(), StoreError> {
        let known = self.workers.contains_key(&worker);
        if known { Ok(()) } else { Err(StoreError::Fenced(worker)) }
    }

    pub(super) fn claim(
        &mut self,
        worker: FencingToken,
        now: Timestamp,
        max: usize,
    ) -> Result<Vec<StoredRun>, StoreError> {
        self.renew(worker, now)?;
        self.expel_lapsed(worker, now);
        Ok(self.runs.claim(worker, max))
    }

    // --- Runs.

    pub(super) fn find(&self, id: &FlowId) -> Option<StoredRun> {
        self.runs.find(id).and_then(|run| self.runs.stored(run))
    }

    pub(super) fn begin(
        &mut self,
        journal: &mut impl Journal,
        worker: FencingToken,
        new: &NewRun<'_>,
    ) -> Result<Begun, StoreError> {
        self.check_worker(worker)?;
        if let Some(known) = self.runs.find(&new.id).and_then(|run| self.runs.stored(run)) {
            return Ok(Begun::Known(Box::new(known)));
        }
        // A child is part of a run that is in progress already, and that must be able to continue.
        if new.parent.is_none() {
            let limits = &self.limits;
            has_room("unfinished runs", self.runs.live(), 1, limits.live_runs_max)?;
            has_room("messages", self.messages.len(), 1, limits.messages_max)?;
            has_room("marks", self.messages.marks(), 1, limits.marks_max)?;
        }
        let limit = SLOTS_MAX;
        let run = self.runs.next().ok_or(StoreError::Full { what: "runs", limit })?;
        let beginning = Beginning {
            run,
            id: new.id,
            flow: new.flow,
            version: new.version,
            parent: new.parent,
            at: new.at,
            input: new.input,
        };
        let ticket = journal.record(&Record::Started(beginning))?;
        self.runs.begin(run, new, Some(worker));
        Ok(Begun::New { run, ticket })
    }

    pub(super) fn append(
        &mut self,
        journal: &mut impl Journal,
        worker: FencingToken,
        writes: &[Write],
    ) -> Result<Appended, StoreError> {
        let mut appended = Appended::default();
        for (nth, write) in writes.iter().enumerate() {
            if let Some(later) = writes.get(nth + 2 * AHEAD) {
                self.runs.approach(later.run);
            }
            if let Some(later) = writes.get(nth + AHEAD) {
                self.runs.approach_history(later.run, later.entries.len());
            }
            if self.runs.get(write.run).and_then(|run| run.holder) != Some(worker) {
                appended.fenced.push(write.run);
                continue;
            }
            let first_message = self.messages.next();
            let advance = Advance {
                run: write.run,
                ended: write.ended,
                entries: &write.entries,
                first_message,
                messages: Cow::Borrowed(&write.messages),
                marks: Cow::Borrowed(&write.marks),
            };
            appended.ticket = journal.record(&Record::Advanced(advance))?;
            self.runs.advance(write.run, &write.entries, write.ended);
            self.messages.add(first_message, write.messages.iter().cloned());
            self.messages.mark(write.marks.iter().cloned());
        }
        if self.runs.ended() >= self.limits.ended_runs_max + FORGET_BATCH {
            self.runs.approach_ended(FORGET_BATCH);
            self.forget(journal, Timestamp(0), FORGET_BATCH)?;
        }
        Ok(appended)
    }

    pub(super) fn reopen(
        &mut self,
        journal: &mut impl Journal,
        worker: FencingToken,
        run: RunNumber,
        entries: &[u8],
    ) -> Result<Option<(StoredRun, Ticket)>, StoreError> {
        self.check_worker(worker)?;
        if !self.runs.get(run).is_some_and(Run::is_stuck) {
            return Ok(None);
        }
        let ticket = journal.record(&Record::Reopened { run, entries })?;
        self.runs.reopen(run, Some(worker), entries);
        Ok(self.runs.stored(run).map(|stored| (stored, ticket)))
    }

    fn forget(
        &mut self,
        journal: &mut impl Journal,
        before: Timestamp,
        max: usize,
    ) -> Result<(), StoreError> {
        let mut forgotten = Vec::new();
        while forgotten.len() < max
            && let Some(run) = self.runs.oldest_ended(self.limits.ended_runs_max, before)
        {
            self.runs.forget(run);
            forgotten.push(run);
        }
        if !forgotten.is_empty() {
            journal.record(&Record::Forgotten(forgotten))?;
        }
        Ok(())
    }

    /// Removes what need not be kept any longer.
    pub(super) fn expire(
        &mut self,
        journal: &mut impl Journal,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let retention = u64::try_from(self.limits.retention.as_nanos()).unwrap_or(u64::MAX);
        self.forget(journal, Timestamp(now.0.saturating_sub(retention)), FORGET_MAX)?;
        self.messages.expire(now, FORGET_MAX);
        Ok(())
    }

    // --- Messages.

    pub(super) fn accept(
        &mut self,
        journal: &mut impl Journal,
        marks: Vec<InboxMark>,
        messages: Vec<OutboxMessage>,
    ) -> Result<Accepted, StoreError> {
        if marks.iter().any(|mark| self.messages.is_marked(&mark.from, &mark.key)) {
            return Ok(Accepted::Duplicate);
        }
        check_bytes(messages.iter().map(OutboxMessage::bytes), MESSAGE_BYTES_MAX)?;
        check_bytes(marks.iter().map(InboxMark::bytes), MARK_BYTES_MAX)?;
        has_room("messages", self.messages.len(), messages.len(), self.limits.messages_max)?;
        has_room("marks", self.messages.marks(), marks.len(), self.limits.marks_max)?;
        let first_message = self.messages.next();
        let record = Record::Posted { first_message, messages, marks };
        journal.record(&record)?;
        if let Record::Posted { messages, marks, .. } = record {
            self.messages.add(first_message, messages);
            self.messages.mark(marks);
        }
        Ok(Accepted::New)
    }

    pub(super) fn settle(
        &mut self,
        journal: &mut impl Journal,
        claim: &ClaimedMessage,
        delivery: DeliveryResult,
    ) -> Result<bool, StoreError> {
        if !self.messages.holds(claim) {
            return Ok(false);
        }
        self.settle_now(journal, claim.number, delivery.into())?;
        Ok(true)
    }

    /// Applies the decision on a dead letter. False if there is none with that number.
    pub(super) fn settle_dead(
        &mut self,
        journal: &mut impl Journal,
        message: MessageNumber,
        settlement: Settlement,
    ) -> Result<bool, StoreError> {
        if !self.messages.is_dead(message) {
            return Ok(false);
        }
        self.settle_now(journal, message, settlement)?;
        Ok(true)
    }

    fn settle_now(
        &mut self,
        journal: &mut impl Journal,
        message: MessageNumber,
        outcome: Settlement,
    ) -> Result<(), StoreError> {
        let record = Record::Settled { message, outcome };
        journal.record(&record)?;
        if let Record::Settled { message, outcome } = record {
            self.messages.settle(message, &outcome);
        }
        Ok(())
    }
}

fn check_bytes(mut lengths: impl Iterator<Item = usize>, limit: usize) -> Result<(), StoreError> {
    match lengths.find(|bytes| *bytes > limit) {
        Some(bytes) => Err(StoreError::TooLarge { bytes, limit }),
        None => Ok(()),
    }
}

fn has_room(what: &'static str, held: usize, more: usize, limit: usize) -> Result<(), StoreError> {
    if held + more > limit { Err(StoreError::Full { what, limit }) } else { Ok(()) }
}
