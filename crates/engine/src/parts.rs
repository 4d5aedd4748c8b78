//! The steps of one engine, assembled.

use crate::batch::Batch;
use crate::batch_builder::BatchBuilder;
use crate::config::EngineConfig;
use crate::events::{EventRing, EventWriter};
use crate::io_watch::IoWatch;
use crate::journal_writer::JournalWriter;
use crate::marks::{Phase, Progression};
use crate::prepare::{PreparedWriter, Preparer, SegmentHandoff};
use crate::recovery::{self, RecoveryReport, StartError};
use crate::replay::{EVENTS_DIR, JOURNAL_DIR};
use crate::sabotage::Sabotage;
use crate::sequencer::Sequencer;
use crate::signal::Progress;
use crate::snapshot::{Follower, SnapshotRequests, SnapshotStore};
use crate::stamp::StampClock;
use crate::state::EngineState;
use crate::time_share::TimeShare;
use crate::watcher::Watcher;
use rialto_clock::Clock;
use rialto_disk::{DirLock, Disk};
use rialto_log::Segments;
use std::sync::Arc;
use std::time::Duration;

/// The number of batches that circulate between the steps: one is being filled, one journaled, and
/// the event log may be behind by the rest.
const BATCHES: usize = 8;

/// The sources of an engine's time and random values.
#[derive(Clone)]
pub struct Sources {
    /// The wall clock and the monotonic clock.
    pub clock: Arc<dyn Clock>,
    /// Random values for the salts of logs and the keys of lookup tables. They never affect a
    /// result.
    pub random: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Sources {
    /// The system's clock and random source.
    #[must_use]
    pub fn system() -> Self {
        // Encryption depends on unique salts.
        let random = || {
            let mut half = [0; 8];
            half.copy_from_slice(&rialto_log::fresh_salt()[..8]);
            u64::from_le_bytes(half)
        };
        Self { clock: Arc::new(crate::SystemClock), random: Arc::new(random) }
    }

    pub(crate) fn salt(&self) -> [u8; 16] {
        let mut salt = [0; 16];
        salt[..8].copy_from_slice(&(self.random)().to_le_bytes());
        salt[8..].copy_from_slice(&(self.random)().to_le_bytes());
        salt
    }
}

/// A step of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Takes commands, journals them in memory, and applies them.
    Sequencer,
    /// Writes the journal and advances the marks.
    Journal,
    /// Publishes events and writes the event log.
    Events,
    /// Makes snapshots.
    Follower,
    /// Makes segments in advance.
    Preparer,
    /// Checks for a hanging disk.
    Watcher,
}

impl Step {
    /// All steps.
    pub const ALL: [Step; 6] = [
        Step::Sequencer,
        Step::Journal,
        Step::Events,
        Step::Follower,
        Step::Preparer,
        Step::Watcher,
    ];
}

/// The steps of one engine, driven by threads or by one loop.
pub(crate) struct Parts {
    pub(crate) sequencer: Sequencer,
    pub(crate) journal: JournalWriter,
    pub(crate) events: EventWriter,
    pub(crate) follower: Follower,
    pub(crate) preparer: Preparer,
    pub(crate) watcher: Watcher,
}

impl Parts {
    /// The engine's phase.
    pub(crate) fn phase(&self) -> Phase {
        self.sequencer.phase()
    }

    pub(crate) fn step(&mut self, step: Step) -> Progress {
        match step {
            Step::Sequencer => self.sequencer.step(),
            Step::Journal => self.journal.step(),
            Step::Events => self.events.step(),
            Step::Follower => self.follower.step(),
            Step::Preparer => self.preparer.step(),
            Step::Watcher => self.watcher.step(),
        }
    }
}

pub(crate) struct EngineHandles {
    pub(crate) parts: Parts,
    pub(crate) state: Arc<EngineState>,
    pub(crate) journal_segments: Segments,
    pub(crate) event_segments: Segments,
    pub(crate) store: SnapshotStore,
    pub(crate) lock: Box<dyn DirLock>,
    pub(crate) report: RecoveryReport,
}

fn check(config: &EngineConfig) -> Result<(), StartError> {
    let setting = |setting, got: usize, fits: bool, range| {
        if fits { Ok(()) } else { Err(StartError::Setting { setting, got: got as u64, range }) }
    };
    let group = config.group_bytes_max;
    let groups = EngineConfig::GROUP_BYTES_MIN..=rialto_log::GROUP_BYTES_MAX;
    setting("group_bytes_max", group, groups.contains(&group), "256 KiB to 1 MiB")?;
    let capacity = config.producer_capacity;
    setting("producer_capacity", capacity, (1..=1 << 20).contains(&capacity), "1 to 1048576")?;
    let blocks = config.event_ring_blocks;
    setting("event_ring_blocks", blocks, (2..=1 << 16).contains(&blocks), "2 to 65536")?;
    let (stalled, failed) = (config.io_stalled_after, config.io_failed_after);
    let got = usize::try_from(failed.as_millis()).unwrap_or(usize::MAX);
    setting("io_failed_after_ms", got, failed >= stalled, "not less than io_stalled_after_ms")
}

/// Recovers the data directory and assembles the steps.
pub(crate) fn assemble(
    config: &EngineConfig,
    disk: &Arc<dyn Disk>,
    sources: &Sources,
) -> Result<EngineHandles, StartError> {
    check(config)?;
    let hash_key = (sources.random)();
    let recovered = recovery::recover(config, disk, sources, hash_key)?;
    let last = recovered.report.last;
    let state = Arc::new(EngineState::new(
        Progression::new(config.level, last),
        config.wait,
        EventRing::new(config.event_ring_blocks),
        SnapshotRequests::new(config.snapshot_every, recovered.newest_snapshot),
        config.switch(),
        StampClock::new(
            Arc::clone(&sources.clock),
            match config.switch().is(Sabotage::FollowEveryStep) {
                true => Duration::MAX,
                false => config.clock_step_max,
            },
            recovered.core.time(),
        ),
        IoWatch::new(
            config.io_stalled_after,
            config.io_failed_after,
            [JOURNAL_DIR, EVENTS_DIR].map(|dir| config.data_dir.join(dir)),
        ),
    ));

    let (mut to_sequencer, free) = rtrb::RingBuffer::new(BATCHES);
    let (to_journal, sealed) = rtrb::RingBuffer::new(BATCHES);
    let (to_events, journaled) = rtrb::RingBuffer::new(BATCHES);
    for _ in 0..BATCHES {
        // The ring was made for as many.
        let _ = to_sequencer.push(Box::new(Batch::new(config.group_bytes_max)));
    }
    let journal_segments = recovered.journal.segments();
    let event_segments = recovered.events.segments();
    let [journal_shelf, events_shelf] = [(); 2].map(|()| Arc::new(SegmentHandoff::default()));
    let preparer = Preparer::new(
        (Arc::clone(&journal_shelf), recovered.journal.preparer()),
        (Arc::clone(&events_shelf), recovered.events.preparer()),
        Arc::clone(&state),
    );
    let supplied = |writer, shelf| {
        PreparedWriter::new(writer, shelf, Arc::clone(&state), config.segment_bytes)
    };
    let builder = BatchBuilder::new(recovered.core, free, to_journal, Arc::clone(&state));
    let parts = Parts {
        sequencer: Sequencer::new(
            builder,
            Arc::clone(&state),
            config.level,
            TimeShare::new(config.background_share),
        ),
        journal: JournalWriter::new(
            supplied(recovered.journal, journal_shelf),
            sealed,
            to_events,
            Arc::clone(&state),
            config.level,
            config.flush_every,
        ),
        events: EventWriter::new(
            supplied(recovered.events, events_shelf),
            journaled,
            to_sequencer,
            recovered.chain,
            Arc::clone(&state),
            config.level,
        ),
        follower: Follower::new(
            recovered.store.clone(),
            config.snapshots_kept,
            journal_segments.clone(),
            Arc::clone(&state),
            hash_key,
        ),
        preparer,
        watcher: Watcher::new(Arc::clone(&state), config.io_stalled_after),
    };
    Ok(EngineHandles {
        parts,
        state,
        journal_segments,
        event_segments,
        store: recovered.store,
        lock: recovered.lock,
        report: recovered.report,
    })
}
