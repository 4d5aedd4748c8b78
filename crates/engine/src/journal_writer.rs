//! Writes batches to the journal, one group in flight, and moves the marks that release them.

use crate::Level;
use crate::batch::Batch;
use crate::clock::Clock;
use crate::health::Fault;
use crate::marks::Phase;
use crate::prepare::Supplied;
use crate::sabotage::Sabotage;
use crate::signal::Progress;
use crate::venue::Venue;
use rialto_log::{Commit, WriteError};
use rialto_model::{Seq, Timestamp};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// An idle journal leaves a proof of its last group after this long, so that its later loss can be
/// told from a write that never finished.
const CONFIRM_AFTER_NS: u64 = Timestamp::SECOND;

/// Takes sealed batches, journals them, moves the marks, wakes who waits for them, and hands the
/// batches on to the event log.
pub(crate) struct JournalWriter {
    /// `None` only after the end.
    log: Option<Supplied>,
    inbox: rtrb::Consumer<Box<Batch>>,
    /// Dropped at the end: the event log sees that no more batches will come.
    outbox: Option<rtrb::Producer<Box<Batch>>>,
    clock: Arc<dyn Clock>,
    venue: Arc<Venue>,
    level: Level,
    flush_every_ns: u64,
    last: Seq,
    synced: Seq,
    /// When the oldest unsynced group was written.
    unsynced_since: Option<Timestamp>,
    /// When the last group was written, if nothing has confirmed it.
    unconfirmed_since: Option<Timestamp>,
}

impl JournalWriter {
    pub(crate) fn new(
        log: Supplied,
        inbox: rtrb::Consumer<Box<Batch>>,
        outbox: rtrb::Producer<Box<Batch>>,
        clock: Arc<dyn Clock>,
        venue: Arc<Venue>,
        level: Level,
        flush_every: Duration,
    ) -> Self {
        let last = venue.progression.of(Level::Synced);
        Self {
            log: Some(log),
            inbox,
            outbox: Some(outbox),
            clock,
            venue,
            level,
            flush_every_ns: u64::try_from(flush_every.as_nanos()).unwrap_or(u64::MAX),
            last,
            synced: last,
            unsynced_since: None,
            unconfirmed_since: None,
        }
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.log.is_none() {
            return Progress::Finished;
        }
        let result = match self.inbox.pop() {
            Ok(batch) => self.write(batch).map(|()| Progress::Worked),
            Err(_) => self.idle(),
        };
        result.unwrap_or_else(|error| {
            // The failure is told before the event log sees the end, which it would take for a clean one.
            self.venue.fail(Fault::Journal(error));
            self.end();
            Progress::Finished
        })
    }

    fn write(&mut self, mut batch: Box<Batch>) -> Result<(), WriteError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let before = self.clock.now();
        let sync = self.level == Level::Synced || batch.sync;
        let skip = self.venue.switch.is(Sabotage::SkipSync);
        let commit = if sync && !skip { Commit::Synced } else { Commit::Written };
        let marks = &self.venue.progression;
        if self.venue.switch.is(Sabotage::ReleaseBeforeWrite) {
            marks.advance(Level::Buffered, batch.last());
            marks.advance(Level::Synced, batch.last());
        }
        if self.venue.switch.is(Sabotage::PublishBeforeRelease) {
            let (first, records) = (Seq(batch.events.first_seq()), batch.commands());
            self.venue.events.publish(first, records, batch.events.body());
        }
        let written = log.write(&mut batch.journal, commit)?;
        self.last = batch.last();
        marks.advance(Level::Buffered, self.last);
        if sync {
            self.synced = self.last;
            marks.advance(Level::Synced, self.synced);
        }
        self.venue.in_flight.fetch_sub(1, Ordering::AcqRel);
        self.venue.sequencer.notify();
        self.venue.lanes.wake(&batch.lanes);

        let after = self.clock.now();
        self.unconfirmed_since = Some(after);
        self.unsynced_since = if sync { None } else { self.unsynced_since.or(Some(after)) };
        self.venue.stats.count_group(
            batch.commands(),
            written,
            after.0.saturating_sub(before.0),
            batch.stamps().iter().map(|(stamp, count)| (after.0.saturating_sub(stamp.0), *count)),
        );
        if self.venue.snapshots.is_due(self.synced) {
            self.venue.follower.notify();
        }
        if let Some(outbox) = &mut self.outbox {
            // The ring holds as many batches as there are; it refuses only when its reader is gone.
            let _ = outbox.push(batch);
            self.venue.recorder.notify();
        }
        // A venue that is never idle must keep its promise too. This comes after the release, so
        // that only the next group waits for it.
        let due = self.flush_left(after) == Some(0) || self.is_sync_asked();
        if due { self.flush() } else { Ok(()) }
    }

    /// Whether somebody wants more synced than is, and it has been written.
    fn is_sync_asked(&self) -> bool {
        let wanted = Seq(self.venue.sync_wanted.load(Ordering::Acquire));
        self.synced < wanted && wanted <= self.last
    }

    /// How many nanoseconds are left until what was written must be synced.
    fn flush_left(&self, now: Timestamp) -> Option<u64> {
        match self.level {
            Level::Buffered => left(self.unsynced_since, self.flush_every_ns, now),
            Level::Memory | Level::Synced => None,
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if let Some(log) = &mut self.log {
            log.writer.sync()?;
            self.all_synced();
        }
        Ok(())
    }

    /// Nothing to write: syncs, confirms or closes when it is time to.
    fn idle(&mut self) -> Result<Progress, WriteError> {
        if self.inbox.is_abandoned() && self.inbox.is_empty() {
            self.close()?;
            return Ok(Progress::Finished);
        }
        let asked = self.is_sync_asked();
        if !asked && self.unsynced_since.is_none() && self.unconfirmed_since.is_none() {
            return Ok(Progress::Idle(None));
        }
        let now = self.clock.now();
        let flush_left = self.flush_left(now);
        let confirm_left = left(self.unconfirmed_since, CONFIRM_AFTER_NS, now);
        if confirm_left == Some(0) {
            let Some(log) = &mut self.log else { return Ok(Progress::Finished) };
            log.writer.confirm()?;
            self.unconfirmed_since = None;
            self.all_synced();
        } else if asked || flush_left == Some(0) {
            self.flush()?;
        } else {
            let left = flush_left.into_iter().chain(confirm_left).min();
            return Ok(Progress::Idle(left.map(Duration::from_nanos)));
        }
        Ok(Progress::Worked)
    }

    fn close(&mut self) -> Result<(), WriteError> {
        if let Some(log) = self.log.take() {
            log.writer.close()?;
            self.all_synced();
        }
        self.end();
        Ok(())
    }

    fn all_synced(&mut self) {
        self.synced = self.last;
        self.unsynced_since = None;
        self.venue.progression.advance(Level::Synced, self.synced);
        self.venue.lanes.wake_all();
        self.venue.follower.notify();
    }

    fn end(&mut self) {
        self.log = None;
        self.outbox = None;
        self.venue.recorder.notify();
    }
}

/// How many nanoseconds are left until `ns` will have passed since then.
fn left(since: Option<Timestamp>, ns: u64, now: Timestamp) -> Option<u64> {
    since.map(|since| since.0.saturating_add(ns).saturating_sub(now.0))
}

impl Drop for JournalWriter {
    /// A journal that ends before everything was handed over has failed, whatever the reason.
    fn drop(&mut self) {
        if self.log.is_some() && self.venue.progression.phase() < Phase::Stopped {
            self.venue.fail(Fault::Panicked("journal"));
        }
    }
}
