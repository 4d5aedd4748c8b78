//! Making the next file of a lane while the one before is filled: begun when a quarter of that is
//! full, and done when three quarters are. A lane with few messages then needs one file, and what is
//! written of the next one at any time is no more than twice what messages take, so that those who
//! wait for the disk do not wait for a whole file.

use rialto_log::{Level, Preparation, PreparedSegment, SegmentPreparer, Space};

/// How files are made. Where every write is synchronous, each should find zeros.
pub(crate) fn space(level: Level) -> Space {
    if level == Level::Synced { Space::Zeroed } else { Space::Reserved }
}

pub(crate) enum FileRequest {
    New(SegmentPreparer),
    Begun(Preparation),
}

/// How far the next file of a lane is.
#[derive(Default)]
pub(crate) enum Next {
    /// None is needed yet, or it is ready.
    #[default]
    Nothing,
    /// A thread is at work on it.
    UnderWay,
    /// It waits for messages to be written.
    Resting(Preparation),
    /// It could not be made. The writer will try itself, and say what is wrong.
    Failed,
}

/// How much of the next file, which takes `next_bytes`, should be made when the current one is filled so
/// far.
fn wanted_bytes(filled_bytes: u64, segment_bytes: u64, next_bytes: u64) -> u64 {
    let (filled, all) = (u128::from(filled_bytes), u128::from(segment_bytes.max(1)));
    let wanted = (4 * filled).saturating_sub(all) * u128::from(next_bytes) / (2 * all);
    u64::try_from(wanted).unwrap_or(u64::MAX)
}

impl Next {
    /// Gives up what waits for messages. What cannot be removed goes with the next opening.
    pub(crate) fn give_up(&mut self) {
        match std::mem::take(self) {
            Next::Resting(begun) => drop(begun.discard()),
            other => *self = other,
        }
    }

    /// What is to be done now, when the file is filled so far and none is ready.
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

/// Goes on with a file until enough of it is made.
pub(crate) fn go_on(
    making: FileRequest,
    segment_bytes: u64,
    filled_bytes: impl Fn() -> u64,
) -> Result<PreparedSegment, Next> {
    let mut begun = match making {
        FileRequest::New(preparer) => preparer.begin().map_err(|_| Next::Failed)?,
        FileRequest::Begun(begun) => begun,
    };
    loop {
        match begun.step() {
            Ok(Ok(prepared)) => return Ok(prepared),
            Ok(Err(unfinished)) => begun = unfinished,
            Err(_) => return Err(Next::Failed),
        }
        if begun.done_bytes() >= wanted_bytes(filled_bytes(), segment_bytes, begun.bytes()) {
            return Err(Next::Resting(begun));
        }
    }
}
