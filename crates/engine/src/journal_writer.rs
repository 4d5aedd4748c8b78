//! Writes batches to the journal, one group in flight, and moves the marks that release them.

use crate::Level;
use crate::batch::Batch;
use crate::health::Fault;
use crate::io_watch::Watched;
use crate::marks::Phase;
use crate::prepare::Supplied;
use crate::sabotage::Sabotage;
use crate::signal::Progress;
use crate::venue::Venue;
use rialto_log::{Commit, WriteError};
use rialto_model::Seq;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// An idle journal leaves a proof of its last group after this long, so that its later loss can be
/// told from a write that never finished.
const CONFIRM_AFTER: Duration = Duration::from_secs(1);

/// Takes sealed batches, journals them, moves the marks, wakes who waits for them, and hands the
/// batches on to the event log.
pub(crate) struct JournalWriter {
    /// `None` only after the end.
    log: Option<Supplied>,
    inbox: rtrb::Consumer<Box<Batch>>,
    /// Dropped at the end: the event log sees that no more batches will come.
    outbox: Option<rtrb::Producer<Box<Batch>>>,
    venue: Arc<Venue>,
    level: Level,
    flush_every: Duration,
    last: Seq,
    synced: Seq,
    /// When the oldest unsynced group was written, on the monotonic clock.
    unsynced_since: Option<Duration>,
    /// When the last group was written, if nothing has confirmed it.
    unconfirmed_since: Option<Duration>,
}

impl JournalWriter {
    pub(crate) fn new(
        log: Supplied,
        inbox: rtrb::Consumer<Box<Batch>>,
        outbox: rtrb::Producer<Box<Batch>>,
        venue: Arc<Venue>,
        level: Level,
        flush_every: Duration,
    ) -> Self {
        let last = venue.progression.of(Level::Synced);
        Self {
            log: Some(log),
            inbox,
            outbox: Some(outbox),
            venue,
            level,
            flush_every,
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
        let venue = Arc::clone(&self.venue);
        let before = venue.clock.passed();
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
        let io = venue.io.begin(Watched::Journal, before);
        if !venue.switch.is(Sabotage::MislabelSegments) {
            log.writer.set_rules_version(batch.rules_version);
        }
        let written = log.write(&mut batch.journal, commit);
        if written.is_err() && self.venue.switch.is(Sabotage::ReleaseAfterFailure) {
            marks.advance(Level::Buffered, batch.last());
            marks.advance(Level::Synced, batch.last());
        }
        let written = written?;
        let mut after = venue.clock.passed();
        // Nothing is released past what has waited for its flush too long: however slow the disk, a
        // power failure takes no more than the acknowledgements of `flush_every`.
        let flush = !sync
            && self.flush_left(after) == Some(Duration::ZERO)
            && !self.venue.switch.is(Sabotage::ReleaseBeforeFlush);
        if flush && let Some(log) = &mut self.log {
            log.writer.sync()?;
            after = venue.clock.passed();
        }
        let sync = sync || flush;
        drop(io);
        if marks.phase() >= Phase::Stopped {
            // It hung for so long that the engine was given up: nobody is told of it any more.
            self.end();
            return Ok(());
        }
        self.last = batch.last();
        marks.advance(Level::Buffered, self.last);
        if sync {
            self.synced = self.last;
            marks.advance(Level::Synced, self.synced);
        }
        self.venue.in_flight.fetch_sub(1, Ordering::AcqRel);
        self.venue.sequencer.notify();
        self.venue.lanes.wake(&batch.lanes);

        self.unconfirmed_since = Some(after);
        self.unsynced_since = if sync { None } else { self.unsynced_since.or(Some(after)) };
        self.venue.stats.count_group(
            batch.commands(),
            written,
            nanos(after.saturating_sub(before)),
            batch
                .stamps()
                .iter()
                .map(|(stamp, count)| (nanos(after.saturating_sub(*stamp)), *count)),
        );
        if self.venue.snapshots.is_due(self.synced) {
            self.venue.follower.notify();
        }
        if let Some(outbox) = &mut self.outbox {
            // The ring holds as many batches as there are; it refuses only when its reader is gone.
            let _ = outbox.push(batch);
            self.venue.recorder.notify();
        }
        // This comes after the release, so that only the next group waits for it.
        if self.is_sync_asked() { self.flush() } else { Ok(()) }
    }

    /// Whether somebody wants more synced than is, and it has been written.
    fn is_sync_asked(&self) -> bool {
        let wanted = Seq(self.venue.sync_wanted.load(Ordering::Acquire));
        self.synced < wanted && wanted <= self.last
    }

    /// How long it is until what was written must be synced.
    fn flush_left(&self, now: Duration) -> Option<Duration> {
        match self.level {
            Level::Buffered => left(self.unsynced_since, self.flush_every, now),
            Level::Memory | Level::Synced => None,
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if let Some(log) = &mut self.log {
            let io = self.venue.io.begin(Watched::Journal, self.venue.clock.passed());
            log.writer.sync()?;
            drop(io);
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
        let now = self.venue.clock.passed();
        let flush_left = self.flush_left(now);
        let confirm_left = left(self.unconfirmed_since, CONFIRM_AFTER, now);
        if confirm_left == Some(Duration::ZERO) {
            let Some(log) = &mut self.log else { return Ok(Progress::Finished) };
            let io = self.venue.io.begin(Watched::Journal, now);
            log.writer.confirm()?;
            drop(io);
            self.unconfirmed_since = None;
            self.all_synced();
        } else if asked || flush_left == Some(Duration::ZERO) {
            self.flush()?;
        } else {
            let left = flush_left.into_iter().chain(confirm_left).min();
            return Ok(Progress::Idle(left));
        }
        Ok(Progress::Worked)
    }

    fn close(&mut self) -> Result<(), WriteError> {
        if let Some(log) = self.log.take() {
            let io = self.venue.io.begin(Watched::Journal, self.venue.clock.passed());
            log.writer.close()?;
            drop(io);
            self.all_synced();
        }
        self.end();
        Ok(())
    }

    fn all_synced(&mut self) {
        if self.venue.progression.phase() >= Phase::Stopped {
            // As above: the sync hung, and the engine was given up.
            return;
        }
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

/// How long it is until this much will have passed since then.
fn left(since: Option<Duration>, much: Duration, now: Duration) -> Option<Duration> {
    since.map(|since| since.saturating_add(much).saturating_sub(now))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Drop for JournalWriter {
    /// A journal that ends before everything was handed over has failed, whatever the reason.
    fn drop(&mut self) {
        if self.log.is_some() && self.venue.progression.phase() < Phase::Stopped {
            self.venue.fail(Fault::Panicked("journal"));
        }
    }
}
