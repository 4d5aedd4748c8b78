//! What a data directory that is not in order says of itself: where, and what to do.

use rialto_engine::{ReplayError, SnapshotFileError, StartError, VerifyError};
use rialto_log::{OpenError, ReadError};
use std::path::{Path, PathBuf};

/// The file and the offset of the damage, as far as they are known.
pub(super) fn place(error: &VerifyError) -> (Option<PathBuf>, Option<u64>) {
    match error {
        VerifyError::Journal(open) | VerifyError::EventLog(open) => of_open(open),
        VerifyError::ReadEvents(read) => of_read(read),
        VerifyError::Snapshot(snapshot) => of_snapshot(snapshot),
        VerifyError::Replay(replay) | VerifyError::Events(StartError::Replay(replay)) => {
            of_replay(replay)
        }
        VerifyError::Events(StartError::ReadEvents(read)) => of_read(read),
        VerifyError::Events(StartError::EventsDiffer { dir, .. }) => (Some(dir.clone()), None),
        VerifyError::StateDiffers { file, .. } => (Some(file.clone()), None),
        VerifyError::NoStart { dir } => (Some(dir.clone()), None),
        _ => (None, None),
    }
}

/// What to do about it.
pub(super) fn advice(error: &VerifyError, data_dir: &Path) -> &'static str {
    match error {
        VerifyError::Disk(_) => "mend what the system names, and verify again",
        VerifyError::EventLog(_) | VerifyError::ReadEvents(_) => {
            "restore the event log from a backup; or stop the venue and move the directory \
             `events` away: the next start makes it again from the journal"
        }
        VerifyError::Events(StartError::ReadEvents(_)) => {
            "restore the event log from a backup; or stop the venue and move the directory \
             `events` away: the next start makes it again from the journal"
        }
        VerifyError::Snapshot(_) | VerifyError::StateDiffers { .. }
            if place(error).0.is_some_and(|file| !is_first_snapshot(&file, data_dir)) =>
        {
            "restore the snapshot from a backup, or remove the file: the next start begins with \
             an older one and replays more of the journal"
        }
        VerifyError::Events(StartError::EventsDiffer { .. }) => {
            "restore journal and event log together from a backup; what the event log says was \
             released, and the journal no longer yields it"
        }
        _ => "restore the data directory, or the file that is named, from a backup",
    }
}

fn is_first_snapshot(file: &Path, data_dir: &Path) -> bool {
    file.parent().and_then(Path::parent) == Some(data_dir)
        && file.file_stem().is_some_and(|stem| stem == "00000000000000000000")
}

fn of_open(error: &OpenError) -> (Option<PathBuf>, Option<u64>) {
    match error {
        OpenError::Corrupt { file, offset, .. }
        | OpenError::Unsupported { file, offset, .. }
        | OpenError::Acknowledged { file, offset, .. } => (Some(file.clone()), Some(*offset)),
        OpenError::HeadDamaged { file, .. } => (Some(file.clone()), Some(0)),
        OpenError::HeadMissing { file, .. }
        | OpenError::MissingSegment { file, .. }
        | OpenError::ExtraSegment { file, .. } => (Some(file.clone()), None),
        OpenError::SegmentCount { head, .. } => (Some(head.clone()), None),
        OpenError::Read(read) => of_read(read),
        _ => (None, None),
    }
}

fn of_read(error: &ReadError) -> (Option<PathBuf>, Option<u64>) {
    match error {
        ReadError::Corrupt { file, offset, .. } => (Some(file.clone()), Some(*offset)),
        _ => (None, None),
    }
}

fn of_replay(error: &ReplayError) -> (Option<PathBuf>, Option<u64>) {
    match error {
        ReplayError::Open(open) => of_open(open),
        ReplayError::Read(read) => of_read(read),
        ReplayError::Snapshot(snapshot) => of_snapshot(snapshot),
        _ => (None, None),
    }
}

fn of_snapshot(error: &SnapshotFileError) -> (Option<PathBuf>, Option<u64>) {
    match error {
        SnapshotFileError::Damaged { file, offset, .. } => (Some(file.clone()), Some(*offset)),
        SnapshotFileError::NewerFormat { file, .. }
        | SnapshotFileError::UnknownRules { file, .. }
        | SnapshotFileError::Content { file, .. } => (Some(file.clone()), None),
        _ => (None, None),
    }
}
