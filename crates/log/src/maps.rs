//! Which segments are mapped.

use crate::mapped::Mapped;
use crate::segments::{Segment, lock};
use rialto_disk::{Disk, DiskError};
use std::collections::VecDeque;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, Weak};

/// Keeps mapped what was read last, so that who comes next finds it mapped and checked. Any number of
/// logs can share one; clones do.
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
    /// From the one that was entered least recently. Deleting a segment ends its slot, and with it
    /// what the slot keeps.
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
    /// As long as anybody has it there is no second one.
    known: Weak<Mapped>,
}

/// What lies behind these locks is replaced whole, so a panic elsewhere leaves it sound.
impl Maps {
    /// Keeps at most so many segments mapped.
    #[must_use]
    pub fn keeping(segments_max: usize) -> Self {
        Self { shared: Arc::new(Shared { segments_max, kept: Mutex::default() }) }
    }

    /// How many segments it keeps mapped now.
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

    /// Keeps the mapping no longer, and says whether nobody else has it. Not to be called while there
    /// can be a new one.
    pub(crate) fn ends(&self) -> bool {
        let mut state = lock(&self.state);
        state.kept = None;
        let is_mapped = state.known.upgrade().is_some();
        // What they read who had it last was read before what is done now.
        fence(Ordering::Acquire);
        !is_mapped
    }

    /// Keeps the mapping no longer than others do.
    pub(crate) fn let_go(&self) {
        lock(&self.state).kept = None;
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}
