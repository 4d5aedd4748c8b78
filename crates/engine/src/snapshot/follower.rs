//! Makes snapshots in the background: replays the journal into a separate core.

use super::SnapshotStore;
use crate::Level;
use crate::marks::Phase;
use crate::replay::{self, ReplayError};
use crate::signal::Progress;
use crate::state::EngineState;
use rialto_core::{Core, EventCount};
use rialto_log::{Reader, Segments};
use rialto_model::Seq;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Follows the journal when a snapshot is due or requested, and writes it. The sequencer never
/// pauses for it.
pub(crate) struct Follower {
    /// The state after the last snapshot; restored from it at first use.
    core: Option<Core>,
    reader: Option<Reader>,
    target: Option<Seq>,
    store: SnapshotStore,
    kept: usize,
    journal: Segments,
    state: Arc<EngineState>,
    hash_key: u64,
}

impl Follower {
    pub(crate) fn new(
        store: SnapshotStore,
        kept: usize,
        journal: Segments,
        state: Arc<EngineState>,
        hash_key: u64,
    ) -> Self {
        Self { core: None, reader: None, target: None, store, kept, journal, state, hash_key }
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.state.progression.phase() >= Phase::Stopped {
            return Progress::Finished;
        }
        let Some(target) = self.target.or_else(|| self.next_target()) else {
            return Progress::Idle(None);
        };
        self.target = Some(target);
        match self.advance(target) {
            Ok(false) => {}
            Ok(true) => {
                self.target = None;
                self.state.stats.count_snapshot(true);
                tracing::info!(seq = target.0, "a snapshot was made");
                self.state.snapshots.made(target);
                self.state.sequencer.notify();
            }
            Err(error) => {
                (self.core, self.reader, self.target) = (None, None, None);
                self.state.stats.count_snapshot(false);
                let told = replay::tell(&error);
                tracing::warn!(seq = target.0, "no snapshot could be made: {told}");
                self.state.snapshots.failed(target, told);
                self.state.sequencer.notify();
            }
        }
        Progress::Worked
    }

    fn next_target(&self) -> Option<Seq> {
        let synced = self.state.progression.of(Level::Synced);
        match self.state.snapshots.wanted() {
            Some(wanted) if wanted <= synced => Some(wanted),
            Some(wanted) => {
                self.state.sync_wanted.fetch_max(wanted.0, Ordering::AcqRel);
                self.state.journal.notify();
                None
            }
            None => self.state.snapshots.is_due(synced).then_some(synced),
        }
    }

    /// Applies one group towards the target; true when the snapshot is written.
    fn advance(&mut self, target: Seq) -> Result<bool, ReplayError> {
        let core = match &mut self.core {
            Some(core) => core,
            empty => {
                let newest = self.state.snapshots.durable();
                empty.insert(self.store.load(newest, self.hash_key)?.1)
            }
        };
        if core.seq() < target {
            let mut reader = match self.reader.take() {
                Some(reader) => reader,
                None => Reader::open(&self.journal, core.seq().0 + 1)?,
            };
            reader.set_end(target.0);
            replay::next_group(core, &mut reader, &mut EventCount::default())?;
            self.reader = Some(reader);
            return Ok(false);
        }
        let epoch = self.journal.position_of(target.0).map_or(0, |position| position.epoch);
        self.store.write(core, epoch)?;
        self.store.prune(self.kept)?;
        // A reader keeps its segment open, and the next snapshot is far away.
        self.reader = None;
        Ok(true)
    }
}
