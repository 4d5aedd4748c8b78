//! The engine as its users see it.

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

/// A running engine: one collateral pool with its journal, its event log and its snapshots.
///
/// Dropping it lets it finish what it has taken, as [`Engine::shutdown`] does, but makes no
/// snapshot and tells nothing.
pub struct Engine {
    pub(crate) state: Arc<EngineState>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) config: EngineConfig,
    pub(crate) journal: Segments,
    pub(crate) events: Segments,
    pub(crate) store: SnapshotStore,
    pub(crate) sources: Sources,
    /// Taken out by the thread that waits for them.
    threads: Mutex<Option<Threads>>,
    /// Of the data directory. Given back when nothing more is written to it.
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

    /// As [`Engine::start`], with another clock or other randomness.
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

    /// A way in. There may be [`PRODUCERS_MAX`](crate::PRODUCERS_MAX) at a time.
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

    /// The event log, for those who read it themselves: up to [`Marks::recorded`], and not further.
    #[must_use]
    pub fn event_log(&self) -> &Segments {
        &self.events
    }

    /// The journal, of which the event log can be made again.
    #[must_use]
    pub fn journal(&self) -> &Segments {
        &self.journal
    }

    /// The epochs of the journals that this venue's is a copy of, if it comes from a backup.
    ///
    /// # Errors
    /// The file that names them cannot be read.
    pub fn ancestors(&self) -> Result<Vec<Ancestor>, LineageError> {
        lineage::read(&*self.disk, &self.config.data_dir)
    }

    /// Has somebody told the last sequence of the event log: now, and each time that a group was
    /// written. It is told by the thread that writes the event log, which must not be held up. One can
    /// be told; false if there is one already.
    pub fn on_recorded(&self, tell: impl Fn(Seq) + Send + Sync + 'static) -> bool {
        let is_first = self.state.on_recorded.set(Box::new(tell)).is_ok();
        // Either the writer of the event log sees who is to be told, or what it wrote is seen here.
        fence(Ordering::SeqCst);
        // It was not called for what was recorded before it was set.
        if is_first && let Some(tell) = self.state.on_recorded.get() {
            tell(self.state.progression.recorded());
        }
        is_first
    }

    /// What is left of the disk: told by whoever looks at it, asked by those who take requests.
    #[must_use]
    pub fn storage(&self) -> &Arc<Storage> {
        &self.state.storage
    }

    /// The last sequence that everyone may see.
    #[must_use]
    pub fn released(&self) -> Seq {
        self.state.progression.released()
    }

    /// How far the engine has come.
    #[must_use]
    pub fn marks(&self) -> Marks {
        self.state.progression.all()
    }

    /// What the engine has counted since its start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.state.stats.read()
    }

    /// Whether it runs, and if not, why.
    #[must_use]
    pub fn health(&self) -> Health {
        self.state.health()
    }

    /// What it makes of the machine's clocks.
    #[must_use]
    pub fn clock(&self) -> ClockReport {
        self.state.clock.report()
    }

    /// Follows the wall clock again after a step of more than [`EngineConfig::clock_step_max`]. Stamped
    /// time goes where the wall clock is ahead; where it is behind, time runs a tenth slower until the
    /// wall clock has caught up.
    pub fn accept_clock(&self) -> ClockReport {
        let report = self.state.clock.accept();
        // Something may be due now.
        self.state.sequencer.notify();
        report
    }

    /// The settings it was started with.
    #[must_use]
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// Asks for a snapshot through everything applied so far. It is made beside the venue.
    #[must_use]
    pub fn request_snapshot(&self) -> SnapshotTicket {
        let through = self.marks().applied;
        self.state.snapshots.request(through);
        self.state.follower.notify();
        SnapshotTicket::new(through, Arc::clone(&self.state))
    }

    /// Takes no more commands. What was taken is finished; [`Engine::shutdown`] waits for it.
    pub fn close_intake(&self) {
        self.state.enter(Phase::Draining);
    }

    /// Takes no more commands, finishes what was taken, confirms and closes the logs and makes a
    /// snapshot. Loses nothing. What is not done by the deadline goes on in the background for as
    /// long as the process lives. Only the first call waits; another one tells how the engine is.
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

    /// Whether it was given up because the disk did not answer.
    fn hangs(&self) -> bool {
        matches!(self.health(), Health::Failed(fault) if matches!(&*fault, Fault::Hung(_)))
    }

    fn threads(&self) -> MutexGuard<'_, Option<Threads>> {
        // Nothing is done under the lock but to put them in or take them out.
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
            // A thread waits for a disk that may never answer: nobody waits for that thread. It may
            // still write what it was about to, so that the directory is not given back.
            let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
            std::mem::forget(lock);
        }
    }
}
