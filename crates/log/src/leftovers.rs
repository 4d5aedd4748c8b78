//! Files in the directory that HEAD does not name: a crash may leave some; all others are refused.

use crate::error::OpenError;
use crate::format::SegmentName;
use crate::prepare::TMP_SUFFIX;
use crate::segments::{Segment, holds_a_group};
use rialto_disk::Disk;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a log's directory.
pub(crate) struct Listing {
    pub(crate) segments: Vec<SegmentName>,
    pub(crate) unfinished: Vec<PathBuf>,
}

pub(crate) fn list(disk: &dyn Disk, dir: &Path) -> Result<Listing, OpenError> {
    let mut listing = Listing { segments: Vec::new(), unfinished: Vec::new() };
    for file in disk.list(dir)? {
        if file.ends_with(TMP_SUFFIX) {
            listing.unfinished.push(dir.join(file));
        } else if let Some(name) = SegmentName::parse(&file) {
            listing.segments.push(name);
        } else if file.ends_with(".log") {
            let why = "its name is not that of a segment";
            return Err(OpenError::ExtraSegment { file: dir.join(file), why });
        }
    }
    Ok(listing)
}

/// Checks the segments that are not live: returns the removable ones, and refuses one that no crash
/// explains.
pub(crate) fn superfluous(
    disk: &dyn Disk,
    dir: &Path,
    listing: &Listing,
    live: &[Arc<Segment>],
) -> Result<Vec<PathBuf>, OpenError> {
    let mut superfluous = Vec::new();
    for name in &listing.segments {
        if live.iter().any(|segment| segment.name() == *name) {
            continue;
        }
        let path = dir.join(name.to_string());
        if retired(*name, live) || superseded(*name, live) {
            superfluous.push(path);
            continue;
        }
        // The rest can only be a segment that was created before a crash and not named by HEAD. No
        // group is stored before HEAD names its segment, so that it must be empty.
        let segment = match Segment::load(disk, dir, *name, &path, 0) {
            Ok(segment) => segment,
            // It was made in full before it got its name. There is nothing to bring back from a
            // copy: this log has never used it.
            Err(OpenError::Corrupt { .. } | OpenError::Unsupported { .. }) => {
                let why = "HEAD does not name it, and its header is none of this log's";
                return Err(OpenError::ExtraSegment { file: path, why });
            }
            Err(error) => return Err(error),
        };
        if holds_a_group(disk, &segment)? {
            let why = "it holds groups, but HEAD does not name it and no segment replaces it";
            return Err(OpenError::ExtraSegment { file: path, why });
        }
        superfluous.push(path);
    }
    Ok(superfluous)
}

/// Below the oldest live segment: retention had given it up, but was interrupted before removing it.
fn retired(name: SegmentName, live: &[Arc<Segment>]) -> bool {
    live.first().is_some_and(|oldest| name < oldest.name() && name.epoch <= oldest.name().epoch)
}

/// Whether a later segment's header says that it replaced this one.
fn superseded(name: SegmentName, live: &[Arc<Segment>]) -> bool {
    live.iter().any(|segment| {
        let by = segment.name();
        name.epoch < by.epoch
            && by.first_seq <= name.first_seq
            && name.first_seq <= segment.header.superseded_through + 1
    })
}
