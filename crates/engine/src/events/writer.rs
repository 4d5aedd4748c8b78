//! Publishes released events and writes them to the event log.

use super::{Chain, GroupNote};
use crate::Level;
use crate::batch::Batch;
use crate::health::Fault;
use crate::io_watch::Watched;
use crate::marks::Phase;
use crate::prepare::PreparedWriter;
use crate::signal::Progress;
use crate::state::EngineState;
use rialto_log::{Commit, WriteError};
use rialto_model::Seq;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// Takes batches from the journal, whose commands are released; publishes their events in memory,
/// writes them to the event log, and returns the batches to the sequencer.
///
/// The event log is never synced by itself: after a power failure it is completed from the journal.
pub(crate) struct EventWriter {
    /// `None` only after the end.
    log: Option<PreparedWriter>,
    inbox: rtrb::Consumer<Box<Batch>>,
    free: rtrb::Producer<Box<Batch>>,
    chain: Chain,
    state: Arc<EngineState>,
    level: Level,
}

impl EventWriter {
    pub(crate) fn new(
        log: PreparedWriter,
        inbox: rtrb::Consumer<Box<Batch>>,
        free: rtrb::Producer<Box<Batch>>,
        chain: Chain,
        state: Arc<EngineState>,
        level: Level,
    ) -> Self {
        Self { log: Some(log), inbox, free, chain, state, level }
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.log.is_none() {
            return Progress::Finished;
        }
        let result = match self.inbox.pop() {
            Ok(batch) => self.record(batch).map(|()| Progress::Worked),
            Err(_) if self.inbox.is_abandoned() && self.inbox.is_empty() => {
                self.close().map(|()| Progress::Finished)
            }
            Err(_) => return Progress::Idle(None),
        };
        result.unwrap_or_else(|error| {
            self.log = None;
            self.state.fail(Fault::EventLog(error));
            Progress::Finished
        })
    }

    fn record(&mut self, mut batch: Box<Batch>) -> Result<(), WriteError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let events = &mut batch.events;
        let (first, records) = (Seq(events.first_seq()), u64::from(events.records()));
        debug_assert!(Seq(events.last_seq()) <= self.state.progression.released());
        self.state.events.publish(first, records, events.body());
        self.chain.extend(records, events.body());
        let note = GroupNote { chain: self.chain.value(), level: self.level };
        events.set_caller(note.encode());
        let io = self.state.io.begin(Watched::EventLog, self.state.clock.passed());
        log.writer.set_rules_version(batch.rules_version);
        let written = log.write(events, Commit::Written)?;
        drop(io);
        self.state.stats.count_event_group(written);
        let last = Seq(events.last_seq());
        self.state.progression.advance_recorded(last);
        // As in `Engine::on_recorded`: one of the two sees the other.
        fence(Ordering::SeqCst);
        if let Some(tell) = self.state.on_recorded.get() {
            tell(last);
        }
        // If the sequencer is gone, the batch is not needed.
        let _ = self.free.push(batch);
        self.state.sequencer.notify();
        Ok(())
    }

    fn close(&mut self) -> Result<(), WriteError> {
        if let Some(log) = self.log.take() {
            let io = self.state.io.begin(Watched::EventLog, self.state.clock.passed());
            log.writer.close()?;
            drop(io);
        }
        self.state.enter(Phase::Stopped);
        Ok(())
    }
}

impl Drop for EventWriter {
    fn drop(&mut self) {
        if self.log.is_some() && self.state.progression.phase() < Phase::Stopped {
            self.state.fail(Fault::Panicked("event log"));
        }
    }
}
