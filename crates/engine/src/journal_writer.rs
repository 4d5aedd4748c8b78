//! Writes batches to the journal, one group at a time, and advances the marks that release them.

use crate::Level;
use crate::batch::Batch;
use crate::health::Fault;
use crate::io_watch::Watched;
use crate::marks::Phase;
use crate::prepare::PreparedWriter;
use crate::sabotage::Sabotage;
use crate::signal::Progress;
use crate::state::EngineState;
use rialto_log::{Commit, WriteError};
use rialto_model::Seq;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// After this time without writes, an idle journal confirms its last group, so that a later loss
/// can be distinguished from an incomplete write.
const CONFIRM_AFTER: Duration = Duration::from_secs(1);

/// The duration from which a write or sync is logged as slow.
const SLOW: Duration = Duration::from_millis(100);

/// Takes sealed batches, journals them, advances the marks, wakes waiting threads, and passes the
/// batches on to the event log.
pub(crate) struct JournalWriter {
    /// `None` only after the end.
    log: Option<PreparedWriter>,
    inbox: rtrb::Consumer<Box<Batch>>,
    /// Dropped at the end, so that the event log sees it.
    outbox: Option<rtrb::Producer<Box<Batch>>>,
    state: Arc<EngineState>,
    level: Level,
    flush_every: Duration,
    last: Seq,
    synced: Seq,
    /// The monotonic time at which the oldest unsynced group was written.
    unsynced_since: Option<Duration>,
    /// The time at which the last group was written, if it is not confirmed.
    unconfirmed_since: Option<Duration>,
}

impl JournalWriter {
    pub(crate) fn new(
        log: PreparedWriter,
        inbox: rtrb::Consumer<Box<Batch>>,
        outbox: rtrb::Producer<Box<Batch>>,
        state: Arc<EngineState>,
        level: Level,
        flush_every: Duration,
    ) -> Self {
        let last = state.progression.of(Level::Synced);
        Self {
            log: Some(log),
            inbox,
            outbox: Some(outbox),
            state,
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
            // The failure is reported first, so that the event log does not take the end for a
            // normal one.
            self.state.fail(Fault::Journal(error));
            self.end();
            Progress::Finished
        })
    }

    fn write(&mut self, mut batch: Box<Batch>) -> Result<(), WriteError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let state = Arc::clone(&self.state);
        let before = state.clock.passed();
        let sync = self.level == Level::Synced || batch.sync;
        let skip = self.state.switch.is(Sabotage::SkipSync);
        let commit = if sync && !skip { Commit::Synced } else { Commit::Written };
        let marks = &self.state.progression;
        if self.state.switch.is(Sabotage::ReleaseBeforeWrite) {
            marks.advance(Level::Buffered, batch.last());
            marks.advance(Level::Synced, batch.last());
        }
        if self.state.switch.is(Sabotage::PublishBeforeRelease) {
            let (first, records) = (Seq(batch.events.first_seq()), batch.commands());
            self.state.events.publish(first, records, batch.events.body());
        }
        let io = state.io.begin(Watched::Journal, before);
        if !state.switch.is(Sabotage::MislabelSegments) {
            log.writer.set_rules_version(batch.rules_version);
        }
        let written = log.write(&mut batch.journal, commit);
        if written.is_err() && self.state.switch.is(Sabotage::ReleaseAfterFailure) {
            marks.advance(Level::Buffered, batch.last());
            marks.advance(Level::Synced, batch.last());
        }
        let written = written?;
        let mut after = state.clock.passed();
        // No release passes a group that has waited too long for its flush: however slow the disk,
        // a power failure loses at most the acknowledgements of `flush_every`.
        let flush = !sync
            && self.flush_left(after) == Some(Duration::ZERO)
            && !self.state.switch.is(Sabotage::ReleaseBeforeFlush);
        if flush && let Some(log) = &mut self.log {
            log.writer.sync()?;
            after = state.clock.passed();
        }
        let sync = sync || flush;
        drop(io);
        tell_slow(after.saturating_sub(before), written.stored_bytes);
        if marks.phase() >= Phase::Stopped {
            // After a long hang the engine has failed already, which is not reported again.
            self.end();
            return Ok(());
        }
        self.last = batch.last();
        marks.advance(Level::Buffered, self.last);
        if sync {
            self.synced = self.last;
            marks.advance(Level::Synced, self.synced);
        }
        self.state.in_flight.fetch_sub(1, Ordering::AcqRel);
        self.state.sequencer.notify();
        self.state.producers.wake(&batch.producers);

        self.unconfirmed_since = Some(after);
        self.unsynced_since = if sync { None } else { self.unsynced_since.or(Some(after)) };
        self.state.stats.count_group(
            batch.commands(),
            written,
            nanos(after.saturating_sub(before)),
            batch
                .stamps()
                .iter()
                .map(|(stamp, count)| (nanos(after.saturating_sub(*stamp)), *count)),
        );
        if self.state.snapshots.is_due(self.synced) {
            self.state.follower.notify();
        }
        if let Some(outbox) = &mut self.outbox {
            // The ring has room for all batches; it refuses only when its reader is gone.
            let _ = outbox.push(batch);
            self.state.event_writer.notify();
        }
        // After the release, so that only the next group waits for it.
        if self.is_sync_asked() { self.flush() } else { Ok(()) }
    }

    /// Whether a sync is requested beyond the present one, and that much is written.
    fn is_sync_asked(&self) -> bool {
        let wanted = Seq(self.state.sync_wanted.load(Ordering::Acquire));
        self.synced < wanted && wanted <= self.last
    }

    /// The time until a sync is due.
    fn flush_left(&self, now: Duration) -> Option<Duration> {
        match self.level {
            Level::Buffered => left(self.unsynced_since, self.flush_every, now),
            Level::Memory | Level::Synced => None,
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if let Some(log) = &mut self.log {
            let before = self.state.clock.passed();
            let io = self.state.io.begin(Watched::Journal, before);
            log.writer.sync()?;
            drop(io);
            tell_slow(self.state.clock.passed().saturating_sub(before), 0);
            self.all_synced();
        }
        Ok(())
    }

    /// Without groups to write: syncs, confirms or closes when it is due.
    fn idle(&mut self) -> Result<Progress, WriteError> {
        if self.inbox.is_abandoned() && self.inbox.is_empty() {
            self.close()?;
            return Ok(Progress::Finished);
        }
        let asked = self.is_sync_asked();
        if !asked && self.unsynced_since.is_none() && self.unconfirmed_since.is_none() {
            return Ok(Progress::Idle(None));
        }
        let now = self.state.clock.passed();
        let flush_left = self.flush_left(now);
        let confirm_left = left(self.unconfirmed_since, CONFIRM_AFTER, now);
        if confirm_left == Some(Duration::ZERO) {
            let Some(log) = &mut self.log else { return Ok(Progress::Finished) };
            let io = self.state.io.begin(Watched::Journal, now);
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
            let io = self.state.io.begin(Watched::Journal, self.state.clock.passed());
            log.writer.close()?;
            drop(io);
            self.all_synced();
        }
        self.end();
        Ok(())
    }

    fn all_synced(&mut self) {
        if self.state.progression.phase() >= Phase::Stopped {
            // As above: the engine has failed already.
            return;
        }
        self.synced = self.last;
        self.unsynced_since = None;
        self.state.progression.advance(Level::Synced, self.synced);
        self.state.producers.wake_all();
        self.state.follower.notify();
    }

    fn end(&mut self) {
        self.log = None;
        self.outbox = None;
        self.state.event_writer.notify();
    }
}

/// The rest of this duration since then.
fn left(since: Option<Duration>, much: Duration, now: Duration) -> Option<Duration> {
    since.map(|since| since.saturating_add(much).saturating_sub(now))
}

/// Logs a slow write or sync.
fn tell_slow(took: Duration, bytes: u64) {
    if took >= SLOW {
        let took_ms = nanos(took) / 1_000_000;
        tracing::warn!(took_ms, bytes, "a write or sync of the journal was slow");
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Drop for JournalWriter {
    /// A journal writer that ends before the last batch has failed.
    fn drop(&mut self) {
        if self.log.is_some() && self.state.progression.phase() < Phase::Stopped {
            self.state.fail(Fault::Panicked("journal"));
        }
    }
}
