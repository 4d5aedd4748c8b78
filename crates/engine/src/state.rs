//! State that the threads of one engine share.

use crate::events::EventRing;
use crate::health::{Fault, Health, Stall, tell_all};
use crate::ingress::ProducerTable;
use crate::io_watch::IoWatch;
use crate::marks::{Phase, Progression};
use crate::sabotage::{Sabotage, SabotageSwitch};
use crate::signal::{Signal, WaitStrategy};
use crate::snapshot::SnapshotRequests;
use crate::stamp::StampClock;
use crate::stats::Counters;
use crate::storage::Storage;
use rialto_model::Seq;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock};

/// The shared state of one engine: progress, wake-up signals, and data for queries. Commands and
/// events flow through the rings between the steps.
pub(crate) struct EngineState {
    pub(crate) progression: Progression,
    pub(crate) wait: WaitStrategy,
    /// Wake-up signals of the threads that drive the steps.
    pub(crate) sequencer: Signal,
    pub(crate) journal: Signal,
    pub(crate) event_writer: Signal,
    pub(crate) follower: Signal,
    pub(crate) preparer: Signal,
    pub(crate) watcher: Signal,
    /// The number of batches that the journal has not finished.
    pub(crate) in_flight: AtomicUsize,
    /// The sequence through which a sync was requested, at any level.
    pub(crate) sync_wanted: AtomicU64,
    pub(crate) producers: ProducerTable,
    pub(crate) events: EventRing,
    pub(crate) snapshots: SnapshotRequests,
    pub(crate) stats: Counters,
    pub(crate) switch: SabotageSwitch,
    pub(crate) storage: Arc<Storage>,
    pub(crate) clock: StampClock,
    pub(crate) io: IoWatch,
    /// Called with the last sequence of the event log.
    pub(crate) on_recorded: OnceLock<Box<dyn Fn(Seq) + Send + Sync>>,
    fault: Mutex<Option<Arc<Fault>>>,
}

impl EngineState {
    pub(crate) fn new(
        progression: Progression,
        wait: WaitStrategy,
        events: EventRing,
        snapshots: SnapshotRequests,
        switch: SabotageSwitch,
        clock: StampClock,
        io: IoWatch,
    ) -> Self {
        Self {
            progression,
            wait,
            sequencer: Signal::default(),
            journal: Signal::default(),
            event_writer: Signal::default(),
            follower: Signal::default(),
            preparer: Signal::default(),
            watcher: Signal::default(),
            in_flight: AtomicUsize::new(0),
            sync_wanted: AtomicU64::new(0),
            producers: ProducerTable::new(),
            events,
            snapshots,
            stats: Counters::new(),
            switch,
            storage: Arc::default(),
            clock,
            io,
            on_recorded: OnceLock::new(),
            fault: Mutex::new(None),
        }
    }

    /// Ends the engine: nothing more is released. Only the first fault is reported.
    pub(crate) fn fail(&self, fault: Fault) {
        if let Ok(mut told) = self.fault.lock()
            && told.is_none()
        {
            tracing::error!("the engine ends: {}", tell_all(&fault));
            *told = Some(Arc::new(fault));
        }
        self.progression.enter(Phase::Failed);
        self.wake_everyone();
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.progression.enter(phase);
        self.wake_everyone();
    }

    fn wake_everyone(&self) {
        for signal in [
            &self.sequencer,
            &self.journal,
            &self.event_writer,
            &self.follower,
            &self.preparer,
            &self.watcher,
        ] {
            signal.notify();
        }
        self.producers.wake_all();
        self.events.wake();
        self.snapshots.wake();
    }

    /// Whether the disk hung at the last check: then nothing is accepted.
    #[inline]
    pub(crate) fn is_stalled(&self) -> bool {
        self.io.is_stalled() && !self.switch.is(Sabotage::IgnoreStall)
    }

    /// Checks for a hanging disk; ends the engine if it hangs for too long.
    pub(crate) fn watch_io(&self) -> Option<Stall> {
        let (stall, changed) = self.io.look(self.clock.passed());
        match &stall {
            Some(stall) if changed => {
                tracing::error!("{stall}; commands are answered `busy` until it goes on");
            }
            None if changed => {
                tracing::warn!("the disk goes on; commands are taken again");
                self.sequencer.notify();
            }
            _ => {}
        }
        if let Some(stall) = &stall
            && stall.lasting >= self.io.failed_after
            && self.progression.phase() < Phase::Stopped
        {
            self.fail(Fault::Hung(stall.clone()));
        }
        stall
    }

    pub(crate) fn health(&self) -> Health {
        let is_over = self.progression.phase() >= Phase::Stopped;
        if !is_over
            && let Some(stall) = self.watch_io()
            && self.progression.phase() < Phase::Stopped
        {
            return Health::Stalled(stall);
        }
        match self.progression.phase() {
            Phase::Running => Health::Running,
            Phase::Draining => Health::Draining,
            Phase::Stopped => Health::Stopped,
            Phase::Failed => {
                let fault = self.fault.lock().unwrap_or_else(|poison| poison.into_inner());
                // The phase is entered after the fault is stored, in the same function.
                Health::Failed(fault.clone().unwrap_or_else(|| Arc::new(Fault::Panicked("engine"))))
            }
        }
    }
}
