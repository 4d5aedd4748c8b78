//! Errors of a start.

use crate::Level;
use crate::replay::ReplayError;
use crate::snapshot::SnapshotFileError;
use rialto_disk::DiskError;
use rialto_log::{OpenError, ReadError, WriteError};
use rialto_model::{EngineId, Seq, Timestamp};
use std::path::PathBuf;

const DAY_NS: u64 = 86_400 * Timestamp::SECOND;

/// The reason why an engine cannot start. Acknowledged commands are never cut or overwritten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A setting is out of range.
    #[error("{setting} = {got} is out of range: {range}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// Its value.
        got: u64,
        /// The allowed values.
        range: &'static str,
    },
    /// The disk failed, or another process uses the data directory.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A required snapshot cannot be used.
    #[error(transparent)]
    Snapshot(#[from] SnapshotFileError),
    /// The journal cannot be opened.
    #[error("the journal cannot be opened")]
    Journal(#[source] OpenError),
    /// The event log cannot be opened.
    #[error(
        "the event log cannot be opened; if it cannot be restored, move its directory away and it \
         is rebuilt from the journal"
    )]
    EventLog(#[source] OpenError),
    /// The event log cannot be read.
    #[error(
        "the event log cannot be read; if it cannot be restored, move its directory away and it is \
         rebuilt from the journal"
    )]
    ReadEvents(#[source] ReadError),
    /// Recovered events could not be written.
    #[error("the event log could not be completed")]
    WriteEvents(#[source] WriteError),
    /// The journal could not be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Released events differ from the events that the journal yields.
    #[error(
        "the event log in {} does not hold at sequence {seq} what the journal yields: {what}; \
         one of them is damaged, or another program wrote them",
        dir.display()
    )]
    EventsDiffer {
        /// The event log.
        dir: PathBuf,
        /// The first sequence that differs.
        seq: Seq,
        /// The difference.
        what: &'static str,
    },
    /// A synced journal is missing the commands of released events.
    #[error(
        "the journal in {} ends at sequence {journal_last}, but the event log holds events through \
         {events_last} that were released under {level}: acknowledged commands are lost; restore \
         the journal from a copy",
        dir.display()
    )]
    JournalBehindEvents {
        /// The journal.
        dir: PathBuf,
        /// Its last sequence.
        journal_last: Seq,
        /// The last sequence of the event log.
        events_last: Seq,
        /// The level at which the events were released.
        level: Level,
    },
    /// The data directory belongs to another engine.
    #[error(
        "{} is the data directory of engine {got}, and engine {expected} was to be started; \
         set the engine id or the directory right",
        dir.display()
    )]
    OtherEngine {
        /// The directory.
        dir: PathBuf,
        /// The configured engine.
        expected: EngineId,
        /// The engine of the directory.
        got: EngineId,
    },
    /// No snapshot can be used, and the journal does not begin at sequence 1.
    #[error(
        "none of the snapshots in {} can be used, and the journal begins only at sequence {first}; \
         restore a snapshot from a copy",
        dir.display()
    )]
    NoStart {
        /// The directory of snapshots.
        dir: PathBuf,
        /// The journal's first sequence.
        first: Seq,
    },
    /// The wall clock differs too much from the last time in the journal.
    #[error(
        "the wall clock shows {now} ({} days {} the last time in the journal of {}, {journaled}): \
         set the clock right, or if it is right, start once with --accept-clock",
        now.0.abs_diff(journaled.0) / DAY_NS,
        if now < journaled { "before" } else { "after" },
        dir.display()
    )]
    ClockGap {
        /// The data directory.
        dir: PathBuf,
        /// The last time in the journal.
        journaled: Timestamp,
        /// The wall clock.
        now: Timestamp,
    },
    /// A thread could not be started.
    #[error("a thread could not be started")]
    Thread(#[source] std::io::Error),
}
