//! The engine's public interface.

use crate::config::EngineConfig;
use crate::events::EventReader;
use crate::health::{Fault, Health};
use crate::ingress::Producer;
use crate::lineage::{self, Ancestor, LineageError};
use crate::marks::{Marks, Phase};
use crate::parts::{Parts, Sources, assemble};
use crate::recovery::{RecoveryReport, StartError};
use crate::shutdown::{self, ShutdownReport};
use crate::snapshot::{SnapshotStore, SnapshotTicket};
use crate::stamp::ClockReport;
use crate::state::EngineState;
use crate::stats::Stats;
use crate::storage::Storage;
use crate::threads::Threads;
use rialto_disk::{DirLock, Disk};
use rialto_log::Segments;
use rialto_model::Seq;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A running engine: one collateral pool with its journal, event log and snapshots.
///
/// Dropping it finishes accepted commands, as [`Engine::shutdown`] does, without a snapshot and a
/// report.
pub struct Engine {
    pub(crate) state: Arc<EngineState>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) config: EngineConfig,
    pub(crate) journal: Segments,
    pub(crate) events: Segments,
    pub(crate) store: SnapshotStore,
    pub(crate) sources: Sources,
    /// Taken by the thread that waits for them.
    threads: Mutex<Option<Threads>>,
    /// The lock of the data directory. Released when nothing more is written.
    lock: Mutex<Option<Box<dyn DirLock>>>,
}

impl Engine {
    /// Recovers the data directory and starts. The report displays as one line.
    ///
    /// # Errors
    /// The data directory is in use, damaged or of a newer version; the error says what to do.
    pub fn start(
        config: EngineConfig,
        disk: Arc<dyn Disk>,
    ) -> Result<(Engine, RecoveryReport), StartError> {
        Self::start_with(config, disk, Sources::system())
    }

    /// The same with another clock or random source.
    ///
    /// # Errors
    /// See [`Engine::start`].
    pub fn start_with(
        config: EngineConfig,
        disk: Arc<dyn Disk>,
        sources: Sources,
    ) -> Result<(Engine, RecoveryReport), StartError> {
        let (engine, parts, report) = Self::assemble(config, disk, &sources)?;
        let threads = Threads::spawn(parts, &engine.state).map_err(StartError::Thread)?;
        *engine.threads() = Some(threads);
        Ok((engine, report))
    }

    pub(crate) fn assemble(
        config: EngineConfig,
        disk: Arc<dyn Disk>,
        sources: &Sources,
    ) -> Result<(Engine, Parts, RecoveryReport), StartError> {
        let assembled = assemble(&config, &disk, sources)?;
        let engine = Engine {
            state: assembled.state,
            disk,
            config,
            journal: assembled.journal_segments,
            events: assembled.event_segments,
            store: assembled.store,
            sources: sources.clone(),
            threads: Mutex::new(None),
            lock: Mutex::new(Some(assembled.lock)),
        };
        Ok((engine, assembled.parts, assembled.report))
    }

    /// Opens a producer. There may be [`PRODUCERS_MAX`](crate::PRODUCERS_MAX) at a time.
    #[must_use]
    pub fn producer(&self) -> Producer {
        let producer = self.state.producers.open(self.config.producer_capacity, &self.state);
        self.state.sequencer.notify();
        producer
    }

    /// A reader of all released events from a sequence on.
    #[must_use]
    pub fn events(&self, from: Seq) -> EventReader {
        EventReader::new(from, Arc::clone(&self.state), self.events.clone())
    }

    /// The event log, for direct reading up to [`Marks::recorded`].
    #[must_use]
    pub fn event_log(&self) -> &Segments {
        &self.events
    }

    /// The journal, from which the event log can be rebuilt.
    #[must_use]
    pub fn journal(&self) -> &Segments {
        &self.journal
    }

    /// The epochs of the journals that this venue's journal is a copy of, if it is from a backup.
    ///
    /// # Errors
    /// The file of the lineage cannot be read.
    pub fn ancestors(&self) -> Result<Vec<Ancestor>, LineageError> {
        lineage::read(&*self.disk, &self.config.data_dir)
    }

    /// Calls `tell` with the last sequence of the event log: now, and after each written group. It
    /// runs on the thread of the event log and must not block. Only one can be set; returns false
    /// if there is one already.
    pub fn on_recorded(&self, tell: impl Fn(Seq) + Send + Sync + 'static) -> bool {
        let is_first = self.state.on_recorded.set(Box::new(tell)).is_ok();
        // Either the event log's writer sees the callback, or its last sequence is seen here.
        fence(Ordering::SeqCst);
        // The callback has not seen what was recorded before.
        if is_first && let Some(tell) = self.state.on_recorded.get() {
            tell(self.state.progression.recorded());
        }
        is_first
    }

    /// The free space of the disk. The engine's owner updates it, and gateways read it.
    #[must_use]
    pub fn storage(&self) -> &Arc<Storage> {
        &self.state.storage
    }

    /// The last sequence that is visible.
    #[must_use]
    pub fn released(&self) -> Seq {
        self.state.progression.released()
    }

    /// The engine's progress.
    #[must_use]
    pub fn marks(&self) -> Marks {
        self.state.progression.all()
    }

    /// Requests that the disk confirms the commands through `seq`, or all there are if that is beyond the
    /// last one, whatever the venue's level. Returns the sequence that was requested: [`Marks::synced`]
    /// says when it is confirmed.
    pub fn request_sync(&self, seq: Seq) -> Seq {
        // The journal ignores a request beyond its last command.
        let wanted = seq.min(self.marks().applied);
        self.state.sync_wanted.fetch_max(wanted.0, Ordering::AcqRel);
        self.state.journal.notify();
        wanted
    }

    /// Measurements since the start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.state.stats.read()
    }

    /// The engine's health.
    #[must_use]
    pub fn health(&self) -> Health {
        self.state.health()
    }

    /// The state of the clocks.
    #[must_use]
    pub fn clock(&self) -> ClockReport {
        self.state.clock.report()
    }

    /// Follows the wall clock again after a step of more than [`EngineConfig::clock_step_max`]. If
    /// the wall clock is ahead, stamped time jumps to it; if it is behind, time runs a tenth slower
    /// until the wall clock has caught up.
    pub fn accept_clock(&self) -> ClockReport {
        let report = self.state.clock.accept();
        // Work may be due now.
        self.state.sequencer.notify();
        report
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Requests a snapshot of everything applied so far. It is made in the background.
    #[must_use]
    pub fn request_snapshot(&self) -> SnapshotTicket {
        let through = self.marks().applied;
        self.state.snapshots.request(through);
        self.state.follower.notify();
        SnapshotTicket::new(through, Arc::clone(&self.state))
    }

    /// Stops accepting commands. Accepted ones are finished; [`Engine::shutdown`] waits for that.
    pub fn close_intake(&self) {
        self.state.enter(Phase::Draining);
    }

    /// Stops accepting commands, finishes accepted ones, confirms and closes the logs and makes a
    /// snapshot. Nothing is lost. Work that is not finished by the deadline continues in the
    /// background while the process lives. Only the first call waits; later ones return the
    /// engine's state.
    pub fn shutdown(&self, deadline: Duration) -> ShutdownReport {
        self.close_intake();
        let threads = self.threads().take();
        match threads {
            Some(threads) => {
                let report = shutdown::finish(self, threads, deadline);
                if report.finished {
                    *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
                }
                report
            }
            None => ShutdownReport::new(self, matches!(self.health(), Health::Stopped), None),
        }
    }

    /// Whether it failed because the disk did not return.
    fn hangs(&self) -> bool {
        matches!(self.health(), Health::Failed(fault) if matches!(&*fault, Fault::Hung(_)))
    }

    fn threads(&self) -> MutexGuard<'_, Option<Threads>> {
        // The lock covers only putting them in and taking them out.
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let threads = self.threads().take();
        if let Some(threads) = threads {
            self.close_intake();
            while !threads.are_finished() && !self.hangs() {
                std::thread::park_timeout(Duration::from_millis(1));
            }
            if threads.are_finished() {
                drop(threads.join());
            }
        }
        if self.hangs() {
            // A thread may wait for the disk for ever, so that it is not joined. It may still
            // complete its write, so that the directory's lock is not released.
            let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
            std::mem::forget(lock);
        }
    }
}
