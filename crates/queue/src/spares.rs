//! Buffers that are at hand.

use rialto_log::{GROUP_BYTES_MAX, Group};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many buffers are kept for another use, unless it was said that there shall be more.
const KEPT: usize = 32;

/// How many buffers a busy queue has ahead.
const AHEAD: usize = 4;

/// Buffers of a megabyte for another use, and some ahead of their first. What costs in a buffer that
/// is new is not to allocate it: it is the system that hands out and clears each page when it is
/// first written to, which often takes longer than filling it.
pub(crate) struct Spares {
    groups: Mutex<Vec<Group>>,
    kept: usize,
    is_asked: AtomicBool,
}

impl Spares {
    /// With as many buffers as fit into `bytes`, which are kept for good.
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        let ready = bytes / GROUP_BYTES_MAX;
        let groups = std::iter::repeat_with(|| Group::touched(GROUP_BYTES_MAX)).take(ready);
        Arc::new(Self {
            groups: Mutex::new(groups.collect()),
            kept: ready.max(KEPT),
            is_asked: AtomicBool::new(false),
        })
    }

    fn groups(&self) -> MutexGuard<'_, Vec<Group>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self) -> Group {
        let spare = self.groups().pop();
        spare.unwrap_or_else(|| Group::new(GROUP_BYTES_MAX))
    }

    pub(crate) fn give_back(&self, group: Group) {
        let mut groups = self.groups();
        if groups.len() < self.kept {
            groups.push(group);
        }
    }

    /// Whether more should be made before they are needed. After it has said so, it does not until
    /// [`Spares::make_ahead`] was called.
    pub(crate) fn wants_more(&self) -> bool {
        self.groups().len() < AHEAD && !self.is_asked.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn make_ahead(&self) {
        while self.groups().len() < AHEAD {
            self.give_back(Group::touched(GROUP_BYTES_MAX));
        }
        self.is_asked.store(false, Ordering::Relaxed);
    }
}
