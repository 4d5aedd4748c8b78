//! Runs by their ids.

use super::hashing::IdHashing;
use super::record::RunNumber;
use super::table::Table;
use crate::FlowId;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// Finds runs by their ids without holding the ids, which are stored with the runs: a table of
/// hashes is a quarter as large.
#[derive(Default)]
pub(super) struct Index {
    hashing: IdHashing,
    numbers: Table,
    /// The runs whose ids have the hash of another run, which are rare.
    clashes: HashMap<FlowId, RunNumber>,
}

impl Index {
    /// The run with this id. `is_it` tells whether a run has it.
    pub(super) fn find(
        &self,
        id: &FlowId,
        is_it: impl FnOnce(RunNumber) -> bool,
    ) -> Option<RunNumber> {
        self.find_by(self.hashing.hash_one(id), id, is_it)
    }

    /// Prefetches the entry of an id.
    pub(super) fn approach(&self, id: &FlowId) {
        self.numbers.approach(self.hashing.hash_one(id));
    }

    /// Adds a run. It replaces a run with the same id, as `is_it` tells.
    pub(super) fn insert(
        &mut self,
        id: FlowId,
        number: RunNumber,
        is_it: impl FnOnce(RunNumber) -> bool,
    ) {
        self.insert_by(self.hashing.hash_one(id), id, number, is_it);
    }

    pub(super) fn remove(&mut self, id: &FlowId, number: RunNumber) {
        self.remove_by(self.hashing.hash_one(id), id, number);
    }

    fn find_by(
        &self,
        hash: u64,
        id: &FlowId,
        is_it: impl FnOnce(RunNumber) -> bool,
    ) -> Option<RunNumber> {
        let found = self.numbers.get(hash).filter(|number| is_it(*number));
        if found.is_some() || self.clashes.is_empty() {
            return found;
        }
        self.clashes.get(id).copied()
    }

    fn insert_by(
        &mut self,
        hash: u64,
        id: FlowId,
        number: RunNumber,
        is_it: impl FnOnce(RunNumber) -> bool,
    ) {
        if !self.clashes.is_empty() {
            self.clashes.remove(&id);
        }
        match self.numbers.get(hash) {
            Some(held) if !is_it(held) => drop(self.clashes.insert(id, number)),
            _ => self.numbers.set(hash, number),
        }
    }

    fn remove_by(&mut self, hash: u64, id: &FlowId, number: RunNumber) {
        if self.numbers.get(hash) == Some(number) {
            self.numbers.remove(hash);
        } else if self.clashes.get(id) == Some(&number) {
            self.clashes.remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_a_table_of_ids_finds_however_many_hashes_clash(
            changes in prop::collection::vec((0_u64..12, any::<bool>()), 0..60),
        ) {
            // Three hashes for twelve ids.
            let hash = |id: u64| id % 3;
            let mut index = Index::default();
            let mut model: HashMap<u64, RunNumber> = HashMap::new();
            for (count, (id, begins)) in changes.into_iter().enumerate() {
                let number = RunNumber(count as u64 + 1);
                let key = FlowId::from(id);
                if begins {
                    let before = model.insert(id, number);
                    index.insert_by(hash(id), key, number, |held| Some(held) == before);
                } else if let Some(number) = model.remove(&id) {
                    index.remove_by(hash(id), &key, number);
                }
                for id in 0..12 {
                    let expected = model.get(&id).copied();
                    let found = index.find_by(hash(id), &FlowId::from(id), |held| {
                        Some(held) == expected
                    });
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
