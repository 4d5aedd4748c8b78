//! The runs in progress in this process.

use crate::run::Run;
use crate::store::RunNumber;
use std::sync::Arc;

/// Runs by the slot of their number.
#[derive(Default)]
pub(super) struct Live {
    slots: Vec<Option<Arc<Run>>>,
    count: usize,
}

impl Live {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn insert(&mut self, run: Arc<Run>) {
        let slot = run.number.slot();
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, || None);
        }
        // A slot is used again only after the store has forgotten the run that had it, which is
        // after that run was removed here.
        self.count += usize::from(self.slots[slot].is_none());
        self.slots[slot] = Some(run);
    }

    pub(super) fn get(&self, number: RunNumber) -> Option<&Arc<Run>> {
        let run = self.slots.get(number.slot())?.as_ref();
        run.filter(|run| run.number == number)
    }

    pub(super) fn remove(&mut self, number: RunNumber) {
        if self.get(number).is_some() {
            self.slots[number.slot()] = None;
            self.count -= 1;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Run>> {
        self.slots.iter().flatten()
    }

    pub(super) fn take_all(&mut self) -> Vec<Arc<Run>> {
        self.count = 0;
        std::mem::take(&mut self.slots).into_iter().flatten().collect()
    }
}
