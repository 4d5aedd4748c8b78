//! Prepares the next file of a lane while the current one is filled: it begins when a quarter is
//! full, and ends at three quarters. A lane with few messages then needs one file, and preparation
//! writes at most twice as much as messages do, so that callers who wait for the disk do not wait
//! for a whole file.

use rialto_disk::DiskError;
use rialto_log::{Level, Preparation, PreparedSegment, SegmentPreparer, Space};

/// How files are prepared. Synchronous writes are fastest into files of zeros.
pub(crate) fn space(level: Level) -> Space {
    if level == Level::Synced { Space::Zeroed } else { Space::Reserved }
}

pub(crate) enum FileRequest {
    New(SegmentPreparer),
    Begun(Preparation),
}

/// The state of the next file of a lane.
#[derive(Default)]
pub(crate) enum Next {
    /// None is needed yet, or it is ready.
    #[default]
    Nothing,
    /// A thread prepares it.
    UnderWay,
    /// It waits for messages to be written.
    Resting(Preparation),
    /// The preparation failed. The writer will create the file itself and report the error.
    Failed,
}

/// The part of the next file of `next_bytes` that should be prepared at this fill of the current
/// one.
fn wanted_bytes(filled_bytes: u64, segment_bytes: u64, next_bytes: u64) -> u64 {
    let (filled, all) = (u128::from(filled_bytes), u128::from(segment_bytes.max(1)));
    let wanted = (4 * filled).saturating_sub(all) * u128::from(next_bytes) / (2 * all);
    u64::try_from(wanted).unwrap_or(u64::MAX)
}

impl Next {
    /// Gives up a file that is partly prepared. If it cannot be removed, the next opening removes
    /// it.
    pub(crate) fn give_up(&mut self) {
        match std::mem::take(self) {
            Next::Resting(begun) => drop(begun.discard()),
            other => *self = other,
        }
    }

    /// The preparation to do now at this fill of the current file, if none is ready.
    pub(crate) fn take_due(
        &mut self,
        filled_bytes: u64,
        segment_bytes: u64,
        preparer: impl FnOnce() -> SegmentPreparer,
    ) -> Option<FileRequest> {
        let wanted = |next_bytes| wanted_bytes(filled_bytes, segment_bytes, next_bytes);
        match std::mem::take(self) {
            Next::Nothing if wanted(segment_bytes) > 0 => {
                *self = Next::UnderWay;
                Some(FileRequest::New(preparer()))
            }
            Next::Resting(begun) if wanted(begun.bytes()) > begun.done_bytes() => {
                *self = Next::UnderWay;
                Some(FileRequest::Begun(begun))
            }
            same => {
                *self = same;
                None
            }
        }
    }
}

/// Continues to prepare a file until enough of it is done, and returns the file or what is begun of
/// it.
pub(crate) fn go_on(
    making: FileRequest,
    segment_bytes: u64,
    filled_bytes: impl Fn() -> u64,
) -> Result<Result<PreparedSegment, Preparation>, DiskError> {
    let mut begun = match making {
        FileRequest::New(preparer) => preparer.begin()?,
        FileRequest::Begun(begun) => begun,
    };
    loop {
        match begun.step()? {
            Ok(prepared) => return Ok(Ok(prepared)),
            Err(unfinished) => begun = unfinished,
        }
        if begun.done_bytes() >= wanted_bytes(filled_bytes(), segment_bytes, begun.bytes()) {
            return Ok(Err(begun));
        }
    }
}
