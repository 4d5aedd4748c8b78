//! The mapped segments.

use crate::mapped::Mapped;
use crate::segments::{Segment, lock};
use rialto_disk::{Disk, DiskError};
use std::collections::VecDeque;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, Weak};

/// Keeps the segments mapped that were read last, so that the next reader finds them mapped and
/// checked. Any number of logs can share one; clones do.
///
/// Beyond the number that it keeps, a segment stays mapped only as long as a reader is in it or
/// a caller holds records of it.
#[derive(Clone, Debug)]
pub struct Maps {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    segments_max: usize,
    /// Ordered from the least recently read. Deleting a segment drops its slot and the mapping in
    /// it.
    kept: Mutex<VecDeque<Weak<Slot>>>,
}

/// A segment's place for its mapping.
#[derive(Default)]
pub(crate) struct Slot {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Option<Arc<Mapped>>,
    /// As long as it is in use, no second one is made.
    known: Weak<Mapped>,
}

/// The values behind these locks are replaced as a whole, so that a panic elsewhere leaves them
/// consistent.
impl Maps {
    /// Keeps at most `segments_max` segments mapped.
    #[must_use]
    pub fn keeping(segments_max: usize) -> Self {
        Self { shared: Arc::new(Shared { segments_max, kept: Mutex::default() }) }
    }

    /// The number of segments that it keeps mapped now.
    #[must_use]
    pub fn count(&self) -> usize {
        let kept = lock(&self.shared.kept);
        let is_mapped = |slot: &Weak<Slot>| slot.upgrade().is_some_and(|slot| slot.keeps());
        kept.iter().filter(|slot| is_mapped(slot)).count()
    }

    /// The mapping of a segment, if there can be one.
    pub(crate) fn of(
        &self,
        disk: &dyn Disk,
        segment: &Segment,
    ) -> Result<Option<Arc<Mapped>>, DiskError> {
        let Some(mapped) = segment.slot.fill(disk, segment)? else { return Ok(None) };
        let mut kept = lock(&self.shared.kept);
        kept.retain(|slot| slot.strong_count() > 0 && slot.as_ptr() != Arc::as_ptr(&segment.slot));
        kept.push_back(Arc::downgrade(&segment.slot));
        while kept.len() > self.shared.segments_max {
            let oldest = kept.pop_front().and_then(|slot| slot.upgrade());
            oldest.inspect(|slot| slot.let_go());
        }
        Ok(Some(mapped))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for slot in lock(&self.kept).drain(..) {
            slot.upgrade().inspect(|slot| slot.let_go());
        }
    }
}

impl Slot {
    fn fill(&self, disk: &dyn Disk, segment: &Segment) -> Result<Option<Arc<Mapped>>, DiskError> {
        let mut state = lock(&self.state);
        let mapped = match state.known.upgrade() {
            Some(mapped) => mapped,
            None => match Mapped::of(disk, segment)? {
                Some(mapped) => Arc::new(mapped),
                None => return Ok(None),
            },
        };
        state.known = Arc::downgrade(&mapped);
        state.kept = Some(mapped.clone());
        Ok(Some(mapped))
    }

    fn keeps(&self) -> bool {
        lock(&self.state).kept.is_some()
    }

    /// Drops the mapping, and returns whether it is unused. Not to be called while a new one can be
    /// made.
    pub(crate) fn ends(&self) -> bool {
        let mut state = lock(&self.state);
        state.kept = None;
        let is_mapped = state.known.upgrade().is_some();
        // Earlier users' reads happen before what follows.
        fence(Ordering::Acquire);
        !is_mapped
    }

    /// Drops the mapping; its users may keep it.
    pub(crate) fn let_go(&self) {
        lock(&self.state).kept = None;
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}
