//! Lists the topics of a queue that is not open.

use crate::control::read_state;
use crate::error::QueueError;
use crate::shared::topic_dir;
use rialto_disk::Disk;
use rialto_log::{KeyRing, Verify, inspect};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directories of the topics of a queue that is not open, as its control log has them; each
/// holds a log for each priority that was used. Other directories beside them belong to deleted
/// topics. Nothing is changed.
pub fn topic_dirs(
    disk: Arc<dyn Disk>,
    dir: &Path,
    keys: &KeyRing,
) -> Result<Vec<PathBuf>, QueueError> {
    let control = dir.join("control");
    let (segments, _) = inspect(disk, &control, Verify::Newest, keys)?;
    let state = read_state(&segments, &control)?;
    let own = state.topics.iter().filter(|(_, topic)| topic.mounted.is_none());
    Ok(own.map(|(id, _)| topic_dir(dir, *id)).collect())
}
