//! Searches the volumes for bytes that no record names, and quarantines them.
//!
//! A volume is paged through, so that memory does not grow with its files. Bytes without a record
//! are suspects first: the removal of a file that just ended may be on its way. Those that still have
//! none a while later are moved into the quarantine.

use super::due::Due;
use crate::history::Garbage;
use crate::pool::Pool;
use crate::record::FileRecord;
use crate::volume::{FoundFile, ScanCursor, VolumeError, VolumeNumber};
use crate::{DepotError, FileId};
use rialto_clock::Timestamp;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The most stored files that a round looks at.
const PAGE_FILES: usize = 1_024;
/// How long bytes are suspects before they are quarantined.
const SUSPECT: Duration = Duration::from_secs(2);
/// The first search begins this long after the opening, unless the period is shorter.
const FIRST_SEARCH: Duration = Duration::from_secs(60);
/// The ids that are looked up under one lock of the history.
const IDS_PER_LOOK: usize = 64;

/// What the searches for bytes without a record found since the pool was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrphanStatus {
    /// Searches of all volumes that came to their end.
    pub searches: u64,
    /// Stored files that were looked at.
    pub searched: u64,
    /// Stored files without a record.
    pub found: u64,
    /// Those of them that were moved into the quarantine.
    pub quarantined: u64,
    /// Those that could not be moved, for which the log has the reasons.
    pub failed: u64,
    /// When the last search ended.
    pub last_search: Option<Timestamp>,
}

/// The counters of the searches.
#[derive(Debug, Default)]
pub(crate) struct Orphans {
    status: Mutex<OrphanStatus>,
}

impl Orphans {
    pub(crate) fn status(&self) -> OrphanStatus {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, count: impl FnOnce(&mut OrphanStatus)) {
        count(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Where the search stands.
#[derive(Default)]
pub(super) struct Search {
    due: Option<Due>,
    /// The volumes that are still to be searched.
    volumes: Vec<VolumeNumber>,
    now: Option<Searching>,
}

/// The volume that is being searched.
struct Searching {
    volume: VolumeNumber,
    cursor: ScanCursor,
    searched: u64,
    found: u64,
    quarantined: u64,
    /// Files without a record, and when they are looked at again.
    suspects: Vec<FileId>,
    again_at: Timestamp,
}

impl Searching {
    fn new(volume: VolumeNumber) -> Self {
        Self {
            volume,
            cursor: ScanCursor::default(),
            searched: 0,
            found: 0,
            quarantined: 0,
            suspects: Vec::new(),
            again_at: Timestamp(0),
        }
    }
}

impl Pool {
    /// One step of the search. Returns whether it goes on.
    pub(super) fn search_step(&self, search: &mut Search) -> Result<bool, DepotError> {
        let (now, period) = (self.now(), self.options.upkeep.orphan_period);
        let Some(searching) = &mut search.now else {
            if let Some(volume) = search.volumes.pop() {
                search.now = Some(Searching::new(volume));
                return Ok(true);
            }
            let due =
                search.due.get_or_insert_with(|| Due::at(now.after(period.min(FIRST_SEARCH))));
            if due.is_due(now, period) {
                // It is due again from the end of this search on.
                due.next(now, period);
                search.volumes = self.volumes.list().iter().map(|volume| volume.number).collect();
            }
            return Ok(!search.volumes.is_empty());
        };
        match self.search_volume(searching, now) {
            Ok(true) => return Ok(true),
            Ok(false) => {
                let Searching { volume, searched, found, quarantined, .. } = *searching;
                let (volume, foreign) = (volume.0, searching.cursor.foreign());
                tracing::info!(
                    volume,
                    searched,
                    found,
                    quarantined,
                    foreign,
                    "a volume was searched for bytes without a record"
                );
            }
            // It was unmounted meanwhile.
            Err(DepotError::Volume(VolumeError::NotMounted { .. })) => {}
            Err(error) => {
                let volume = searching.volume.0;
                tracing::warn!(volume, "a volume was not searched to its end: {error}");
            }
        }
        search.now = None;
        if search.volumes.is_empty() {
            search.due.get_or_insert_default().next(now, period);
            self.upkeep.orphans.count(|status| {
                status.searches += 1;
                status.last_search = Some(now);
            });
        }
        Ok(!search.volumes.is_empty())
    }

    fn search_volume(&self, searching: &mut Searching, now: Timestamp) -> Result<bool, DepotError> {
        if !searching.suspects.is_empty() {
            if now < searching.again_at && searching.again_at <= now.after(SUSPECT) {
                return Ok(true);
            }
            self.quarantine_suspects(searching)?;
        }
        let page = self.volumes.scan(searching.volume, &mut searching.cursor, PAGE_FILES)?;
        if page.is_empty() {
            return Ok(false);
        }
        searching.searched += page.len() as u64;
        self.upkeep.orphans.count(|status| status.searched += page.len() as u64);
        let age_min = self.options.upkeep.orphan_age_min;
        let is_old = |found: &&FoundFile| found.modified.after(age_min) <= now;
        let mut ids = page.iter().filter(is_old).map(|found| found.id).collect();
        self.leave_out_recorded(searching.volume, &mut ids)?;
        searching.suspects = ids.into_iter().collect();
        searching.suspects.sort_unstable();
        searching.again_at = now.after(SUSPECT);
        Ok(true)
    }

    fn quarantine_suspects(&self, searching: &mut Searching) -> Result<(), DepotError> {
        let volume = searching.volume;
        let mut ids: HashSet<FileId> = searching.suspects.drain(..).collect();
        self.leave_out_recorded(volume, &mut ids)?;
        for id in ids {
            let moved = self.volumes.quarantine(id, volume);
            let is_moved = match moved {
                Ok(()) => true,
                // It was removed meanwhile.
                Err(VolumeError::Missing { .. }) => continue,
                Err(error) => {
                    tracing::warn!(file = %id, volume = volume.0, "bytes without a record stay: {error}");
                    false
                }
            };
            let (moved, failed) = (u64::from(is_moved), u64::from(!is_moved));
            (searching.found, searching.quarantined) =
                (searching.found + 1, searching.quarantined + moved);
            self.upkeep.orphans.count(|status| {
                (status.found, status.quarantined) = (status.found + 1, status.quarantined + moved);
                status.failed += failed;
            });
        }
        Ok(())
    }

    /// Leaves out the files whose bytes on this volume belong to a record, to an upload, or to a file
    /// that ended and is about to be removed.
    pub(super) fn leave_out_recorded(
        &self,
        volume: VolumeNumber,
        ids: &mut HashSet<FileId>,
    ) -> Result<(), DepotError> {
        // An upload is looked for before its record: it leaves the one when it is in the other.
        ids.retain(|id| !self.upkeep.in_hand.contains(*id));
        let is_here =
            |file: &FileRecord| file.place.stored().is_some_and(|stored| stored.volume == volume);
        let tenants = self.all_tenants();
        for tenant in &tenants {
            let files = tenant.files();
            ids.retain(|id| !files.has_ended(*id));
            // The smaller side is gone through.
            if files.len() < ids.len() {
                let here = files.after(None).filter(|file| is_here(&file.record));
                here.for_each(|file| {
                    ids.remove(&file.record.id);
                });
            } else {
                ids.retain(|id| !files.get(*id).is_some_and(|file| is_here(&file.record)));
            }
        }
        // A bounded number of rows is read at a time.
        let candidates: Vec<FileId> = ids.iter().copied().collect();
        for candidates in candidates.chunks(IDS_PER_LOOK) {
            self.history.read(|state| {
                for id in candidates {
                    if state.is_recorded_on(*id, volume) {
                        ids.remove(id);
                    }
                }
            })?;
        }
        self.history.read(|state| {
            ids.retain(|id| !state.ended.contains_key(id));
            // Results of a file whose end is recorded are published when its message is met.
            let ended = state.ended.values().flat_map(|ended| &ended.published);
            ended.for_each(|file| {
                ids.remove(&file.id);
            });
        })?;
        self.removals.each(|Garbage { id, .. }| {
            ids.remove(id);
        });
        Ok(())
    }
}
