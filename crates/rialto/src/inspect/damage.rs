//! What a data directory that is not in order says of itself: where, and what to do.

use rialto_engine::{ReplayError, SnapshotFileError, StartError, VerifyError};
use rialto_log::{BlobError, OpenError, ReadError};
use std::path::{Path, PathBuf};

/// The damage that caused an error, if a file caused it.
enum Cause<'a> {
    Open(&'a OpenError),
    Read(&'a ReadError),
    Snapshot(&'a SnapshotFileError),
    Differs(&'a Path),
    Other,
}

fn cause(error: &VerifyError) -> Cause<'_> {
    match error {
        VerifyError::Journal(open) | VerifyError::EventLog(open) => of_open(open),
        VerifyError::ReadEvents(read) => Cause::Read(read),
        VerifyError::Snapshot(snapshot) => Cause::Snapshot(snapshot),
        VerifyError::Replay(replay) | VerifyError::Events(StartError::Replay(replay)) => {
            match replay {
                ReplayError::Open(open) => of_open(open),
                ReplayError::Read(read) => Cause::Read(read),
                ReplayError::Snapshot(snapshot) => Cause::Snapshot(snapshot),
                _ => Cause::Other,
            }
        }
        VerifyError::Events(StartError::ReadEvents(read)) => Cause::Read(read),
        VerifyError::Events(StartError::EventsDiffer { dir, .. }) => Cause::Differs(dir),
        VerifyError::StateDiffers { file, .. } => Cause::Differs(file),
        VerifyError::NoStart { dir } => Cause::Differs(dir),
        _ => Cause::Other,
    }
}

fn of_open(error: &OpenError) -> Cause<'_> {
    match error {
        OpenError::Read(read) => Cause::Read(read),
        open => Cause::Open(open),
    }
}

/// The file and the offset of the damage, as far as they are known.
pub(super) fn place(error: &VerifyError) -> (Option<PathBuf>, Option<u64>) {
    let (file, offset) = match cause(error) {
        Cause::Open(open) => in_open(open),
        Cause::Read(
            ReadError::Corrupt { file, offset, .. } | ReadError::UnknownKey { file, offset, .. },
        ) => (Some(file), Some(*offset)),
        Cause::Snapshot(snapshot) => in_snapshot(snapshot),
        Cause::Differs(path) => return (Some(path.to_owned()), None),
        Cause::Read(_) | Cause::Other => (None, None),
    };
    (file.cloned(), offset)
}

/// Whether nothing is damaged and only a key was not given.
fn lacks_key(error: &VerifyError) -> bool {
    matches!(
        cause(error),
        Cause::Open(OpenError::UnknownKey { .. })
            | Cause::Read(ReadError::UnknownKey { .. })
            | Cause::Snapshot(SnapshotFileError::Sealed {
                error: BlobError::UnknownKey { .. },
                ..
            })
    )
}

/// The advice for the operator.
pub(super) fn advice(error: &VerifyError, data_dir: &Path) -> &'static str {
    if lacks_key(error) {
        return "give the keys that the directory was written with: --log-keys FILE, or the \
                variable RIALTO_LOG_KEYS";
    }
    match error {
        VerifyError::Disk(_) => "correct the problem that the system reports, and verify again",
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
        _ => "restore the data directory, or the named file, from a backup",
    }
}

fn is_first_snapshot(file: &Path, data_dir: &Path) -> bool {
    file.parent().and_then(Path::parent) == Some(data_dir)
        && file.file_stem().is_some_and(|stem| stem == "00000000000000000000")
}

fn in_open(error: &OpenError) -> (Option<&PathBuf>, Option<u64>) {
    match error {
        OpenError::Corrupt { file, offset, .. }
        | OpenError::Unsupported { file, offset, .. }
        | OpenError::UnknownKey { file, offset, .. }
        | OpenError::Acknowledged { file, offset, .. } => (Some(file), Some(*offset)),
        OpenError::HeadDamaged { file, .. } => (Some(file), Some(0)),
        OpenError::HeadMissing { file, .. }
        | OpenError::MissingSegment { file, .. }
        | OpenError::ExtraSegment { file, .. } => (Some(file), None),
        OpenError::SegmentCount { head, .. } => (Some(head), None),
        _ => (None, None),
    }
}

fn in_snapshot(error: &SnapshotFileError) -> (Option<&PathBuf>, Option<u64>) {
    match error {
        SnapshotFileError::Damaged { file, offset, .. } => (Some(file), Some(*offset)),
        SnapshotFileError::NewerFormat { file, .. }
        | SnapshotFileError::UnknownRules { file, .. }
        | SnapshotFileError::Sealed { file, .. }
        | SnapshotFileError::Content { file, .. } => (Some(file), None),
        _ => (None, None),
    }
}
