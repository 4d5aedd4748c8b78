//! What the pool does in the background with the bytes of its files, in bounded steps.
//!
//! Housekeeping changes records; upkeep reads and writes bytes, and may have to wait for a device. So
//! each has a thread of its own, and the probes of volumes one more.

mod adopt;
mod completed;
mod damage;
mod due;
mod failed;
mod in_hand;
mod moving;
mod options;
mod orphans;
mod probe;
mod scrub;
mod sweep;

pub use adopt::{Adoption, AdoptionReport, NotAdopted};
pub(crate) use completed::Completing;
pub use damage::{DAMAGED_FILES_MAX, DamagedFile};
pub(crate) use in_hand::{Holding, InHand};
pub use options::{FailedDisposition, UpkeepOptions};

use crate::pool::Pool;
use crate::{Depot, DepotError};
use damage::Damage;
use failed::Failed;
use moving::Moves;
pub use orphans::OrphanStatus;
use orphans::{Orphans, Search};
use probe::Probing;
use scrub::{Scrub, Scrubbed};
pub use scrub::{ScrubStatus, VerifiedFiles};
use std::sync::{Mutex, PoisonError};

/// What upkeep knows between its rounds.
pub(crate) struct Upkeep {
    /// Whether the pool has no threads.
    is_stepped: bool,
    probing: Probing,
    pub(crate) in_hand: InHand,
    /// The inline files that are being completed, each by one caller. Their uploads may still be among
    /// those in hand.
    pub(crate) completing: InHand,
    pub(crate) damage: Damage,
    orphans: Orphans,
    scrubbed: Scrubbed,
    /// Taken for a round.
    rounds: Mutex<Rounds>,
}

/// Where the parts of upkeep stand.
#[derive(Default)]
struct Rounds {
    search: Search,
    moves: Moves,
    scrub: Scrub,
    failed: Failed,
}

impl Upkeep {
    pub(crate) fn new(is_stepped: bool) -> Self {
        Self {
            is_stepped,
            probing: Probing::default(),
            in_hand: InHand::default(),
            completing: InHand::default(),
            damage: Damage::default(),
            orphans: Orphans::default(),
            scrubbed: Scrubbed::default(),
            rounds: Mutex::default(),
        }
    }
}

impl Depot {
    /// What the searches for bytes without a record found.
    #[must_use]
    pub fn orphans(&self) -> OrphanStatus {
        self.pool.upkeep.orphans.status()
    }
}

impl Pool {
    /// One round. Returns whether the next should follow soon. An error of one part does not keep
    /// the others from their turn.
    pub(crate) fn keep_up(&self) -> Result<bool, DepotError> {
        let mut rounds = self.upkeep.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut is_busy, mut first_error) = (false, None);
        let mut note = |result: Result<bool, DepotError>| match result {
            Ok(goes_on) => is_busy |= goes_on,
            Err(error) => {
                first_error.get_or_insert(error);
            }
        };
        let Rounds { search, moves, scrub, failed } = &mut *rounds;
        note(self.failed_step(failed));
        note(self.move_step(moves));
        note(self.search_step(search));
        note(self.scrub_step(scrub));
        first_error.map_or(Ok(is_busy), Err)
    }
}
