//! The state of a venue that was killed, from its data directory.

use rialto_disk::{Disk, RealDisk};
use rialto_engine::{At, Core, KeyRing, replay_to};
use rialto_model::Timestamp;
use std::path::Path;
use std::sync::Arc;

/// The state after the last command that is in the journal.
pub(crate) fn state_of(data: &Path) -> Core {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    replay_to(&disk, data, &KeyRing::empty(), At::Time(Timestamp::MAX)).expect("it can be replayed")
}

/// Whether work is left that takes further commands, in the background or before any other.
pub(crate) fn has_work_left(state: &Core) -> bool {
    state.has_background_work() || state.next_due() == Timestamp::ZERO
}
