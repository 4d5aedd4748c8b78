//! The files whose bytes are being written by this process.

use crate::FileId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The ids of files in writing. Their bytes have no record yet, and are no orphans.
#[derive(Clone, Debug, Default)]
pub(crate) struct InHand {
    /// With the number of guards.
    ids: Arc<Mutex<HashMap<FileId, u32>>>,
}

/// Holds an id until it is dropped, which is when the file has a record, or its bytes are gone.
#[derive(Debug)]
pub(crate) struct Holding {
    id: FileId,
    of: InHand,
}

impl InHand {
    fn ids(&self) -> MutexGuard<'_, HashMap<FileId, u32>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hold(&self, id: FileId) -> Holding {
        *self.ids().entry(id).or_default() += 1;
        Holding { id, of: self.clone() }
    }

    /// Holds an id, unless it is held.
    pub(crate) fn hold_alone(&self, id: FileId) -> Option<Holding> {
        let mut ids = self.ids();
        if ids.contains_key(&id) {
            return None;
        }
        ids.insert(id, 1);
        Some(Holding { id, of: self.clone() })
    }

    pub(crate) fn contains(&self, id: FileId) -> bool {
        self.ids().contains_key(&id)
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let mut ids = self.of.ids();
        if let Some(guards) = ids.get_mut(&self.id) {
            *guards -= 1;
            if *guards == 0 {
                ids.remove(&self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_held_until_its_last_guard_is_dropped() {
        let in_hand = InHand::default();
        let (first, second) = (in_hand.hold(FileId(1)), in_hand.hold(FileId(1)));
        drop(first);
        assert!(in_hand.contains(FileId(1)));
        drop(second);
        assert!(!in_hand.contains(FileId(1)));
    }
}
