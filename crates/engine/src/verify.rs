//! Verifies that journal, event log and snapshots of a data directory agree.

use crate::batch::EVENT_RECORD_BYTES_MAX;
use crate::events::Chain;
use crate::recovery::{EventCheck, Replay, StartError};
use crate::replay::{EVENTS_DIR, JOURNAL_DIR, ReplayError};
use crate::snapshot::{SnapshotCipher, SnapshotFileError, SnapshotStore};
use rialto_core::StateHash;
use rialto_disk::{Disk, DiskError};
use rialto_log::{GROUP_BYTES_MAX, KeyRing, OpenError, ReadError, Verify};
use rialto_model::{EngineId, Seq};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of a successful verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    /// The last sequence of the journal.
    pub last: Seq,
    /// Commands replayed.
    pub commands: u64,
    /// The last compared sequence of the event log. After a crash, the event log may end before the
    /// journal; the next start completes it.
    pub events_last: Seq,
    /// The snapshots that were compared, each with its state hash.
    pub snapshots: Vec<(Seq, StateHash)>,
    /// The state after the last command.
    pub state_hash: StateHash,
}

/// The reason why a data directory is invalid. Nothing has been changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The disk failed, or an engine uses the directory.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The journal is damaged.
    #[error("the journal is not in order")]
    Journal(#[source] OpenError),
    /// The event log is damaged.
    #[error("the event log is not in order")]
    EventLog(#[source] OpenError),
    /// The event log could not be read.
    #[error("the event log cannot be read")]
    ReadEvents(#[source] ReadError),
    /// A snapshot is damaged.
    #[error(transparent)]
    Snapshot(#[from] SnapshotFileError),
    /// The journal could not be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Journal and event log differ.
    #[error(transparent)]
    Events(StartError),
    /// A snapshot is undamaged, but differs from the state that the journal yields.
    #[error(
        "{} has the state {got}, but the journal yields {expected}",
        file.display()
    )]
    StateDiffers {
        /// The snapshot.
        file: PathBuf,
        /// The state hash that the journal yields.
        expected: StateHash,
        /// The state hash of the snapshot.
        got: StateHash,
    },
    /// There is no snapshot to begin with.
    #[error("there is no snapshot in {} at or below the beginning of the journal", dir.display())]
    NoStart {
        /// The data directory.
        dir: PathBuf,
    },
}

/// Reads every byte of a data directory and replays the whole journal. It checks all checksums, and
/// compares every recorded event, the chained hash and the state at every snapshot. `progress` is
/// called several times a second with the present and the last sequence. `keys` are those of an
/// encrypted directory.
///
/// # Errors
/// The first error, with file and offset or sequence.
pub fn verify(
    disk: &Arc<dyn Disk>,
    data_dir: &Path,
    keys: &KeyRing,
    mut progress: impl FnMut(Seq, Seq),
) -> Result<VerifyReport, VerifyError> {
    let _lock = disk.lock(data_dir)?;
    let store = SnapshotStore::new(
        Arc::clone(disk),
        data_dir,
        EngineId::default(),
        SnapshotCipher::reading(keys),
    );
    let inspect =
        |name| rialto_log::inspect(Arc::clone(disk), &data_dir.join(name), Verify::Whole, keys);
    let (journal, journal_report) = inspect(JOURNAL_DIR).map_err(VerifyError::Journal)?;
    let (events, events_report) = inspect(EVENTS_DIR).map_err(VerifyError::EventLog)?;
    let last = Seq(journal_report.last_seq);
    let events_last = Seq(events_report.last_seq);

    let mut snapshots = store.list()?;
    snapshots.reverse();
    let begin = Seq(journal.first_seq() - 1);
    let first = snapshots.first().copied().filter(|seq| *seq <= begin);
    let Some(first) = first else {
        return Err(VerifyError::NoStart { dir: data_dir.to_owned() });
    };
    let (_, mut core) = store.load(first, 0)?;
    let events_dir = data_dir.join(EVENTS_DIR);
    let mut check =
        EventCheck::new(&events, &events_dir, Chain::start()).map_err(VerifyError::ReadEvents)?;
    let replay = Replay::new(journal, GROUP_BYTES_MAX.max(EVENT_RECORD_BYTES_MAX));
    let mut passed = Vec::new();
    // From snapshot to snapshot, so that the state can be compared at each.
    let stops = snapshots.iter().copied().filter(|seq| *seq <= last).chain([last]);
    for stop in stops {
        // The event log may end earlier; up to there every byte is compared.
        for end in [stop.min(events_last), stop] {
            if end <= core.seq() {
                continue;
            }
            let compare = end <= events_last;
            replay
                .run(&mut core, end, |group, _| {
                    let (first, last_made) = (Seq(group.first_seq()), Seq(group.last_seq()));
                    progress(last_made, last);
                    if compare { check.compare(first, last_made, group.body()) } else { Ok(()) }
                })
                .map_err(VerifyError::Events)?;
        }
        if snapshots.contains(&stop) {
            passed.push((stop, check_snapshot(&store, stop, core.state_hash())?));
        }
    }
    passed.dedup();
    if let Some(beyond) = snapshots.last().filter(|seq| **seq > last) {
        let wanted = *beyond;
        return Err(ReplayError::BeyondEnd { last, wanted }.into());
    }
    if events_last > last {
        let what = "events of commands that the journal does not hold";
        let seq = last.next();
        return Err(VerifyError::Events(StartError::EventsDiffer { dir: events_dir, seq, what }));
    }
    Ok(VerifyReport {
        last,
        commands: last.0 - first.0,
        events_last,
        snapshots: passed,
        state_hash: core.state_hash(),
    })
}

fn check_snapshot(
    store: &SnapshotStore,
    seq: Seq,
    expected: StateHash,
) -> Result<StateHash, VerifyError> {
    // The hash in the file may be of an older format; both states are hashed in the present one.
    let (_, restored) = store.load(seq, 0)?;
    let got = restored.state_hash();
    if got != expected {
        return Err(VerifyError::StateDiffers { file: store.path(seq), expected, got });
    }
    Ok(got)
}
