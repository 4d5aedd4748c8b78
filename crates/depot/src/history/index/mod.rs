//! The cold index: the rows of kept and completed files, which are not held in memory.
//!
//! It is a fold of the history, and can be deleted. Changes gather in memory and are stored together
//! with the position of the history that they reflect. format: docs/formats/depot.md

mod keys;
mod memory;
mod rows;
mod stored;

pub(super) use keys::Key;
pub(super) use memory::MemoryRows;
#[cfg(test)]
pub(super) use rows::Row;
pub(super) use rows::{Changes, IndexError, Rows};
pub use stored::INDEX_DESCRIPTORS;
pub(super) use stored::StoredRows;

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

/// The rows as the history changes them.
///
/// The first failure is noted, and what was read is then missing: the owner of the log looks at
/// [`ColdIndex::failure`] after every use, and stops. The next opening makes the rows again.
pub(super) struct ColdIndex {
    rows: Arc<dyn Rows>,
    /// What is not stored yet.
    changes: Changes,
    /// What is being stored.
    saving: Option<Arc<Changes>>,
    bytes: usize,
    failure: OnceLock<String>,
}

impl Default for ColdIndex {
    fn default() -> Self {
        Self::of(Arc::new(MemoryRows::default()))
    }
}

impl std::fmt::Debug for ColdIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColdIndex").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl ColdIndex {
    pub(super) fn of(rows: Arc<dyn Rows>) -> Self {
        let (changes, saving, failure) = (Changes::new(), None, OnceLock::new());
        Self { rows, changes, saving, bytes: 0, failure }
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// The approximate bytes of the changes that are not stored.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn note<T>(&self, result: Result<T, IndexError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.failure.get_or_init(|| {
                    self.rows.invalidate();
                    error.to_string()
                });
                None
            }
        }
    }

    fn decoded<T: DeserializeOwned>(&self, value: &[u8]) -> Option<T> {
        self.note(postcard::from_bytes(value).map_err(IndexError::new))
    }

    pub(super) fn get<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        let key = key.as_bytes();
        let pending = self.changes.get(key).or_else(|| self.saving.as_ref()?.get(key));
        match pending {
            Some(value) => self.decoded(value.as_deref()?),
            None => self.decoded(&self.note(self.rows.get(key))??),
        }
    }

    pub(super) fn put(&mut self, key: Key, value: &impl Serialize) {
        if let Some(value) = self.note(postcard::to_allocvec(value).map_err(IndexError::new)) {
            self.change(key, Some(value));
        }
    }

    pub(super) fn remove(&mut self, key: Key) {
        self.change(key, None);
    }

    fn change(&mut self, key: Key, value: Option<Vec<u8>>) {
        let key = key.into_bytes();
        let len = key.len();
        self.bytes += change_bytes(len, &value);
        if let Some(before) = self.changes.insert(key, value) {
            self.bytes -= change_bytes(len, &before);
        }
    }

    /// Shows `visit` the rows from `from` on whose keys begin with `prefix`, in order, until it
    /// returns false.
    pub(super) fn scan<T: DeserializeOwned>(
        &self,
        prefix: &Key,
        from: Bound<&Key>,
        mut visit: impl FnMut(&[u8], T) -> bool,
    ) {
        // A range without an end would look through all removed rows up to the next row.
        let end = prefix.end();
        let from = match from {
            Bound::Included(key) => Bound::Included(key.as_bytes()),
            Bound::Excluded(key) => Bound::Excluded(key.as_bytes()),
            Bound::Unbounded => Bound::Included(prefix.as_bytes()),
        };
        let range = (from, end.as_ref().map(Vec::as_slice));
        if let (Bound::Included(from) | Bound::Excluded(from), Bound::Excluded(end)) = range
            && from >= end
        {
            return;
        }
        let mut newest = self.changes.range::<[u8], _>(range).peekable();
        let none = Changes::new();
        let saving = self.saving.as_deref().unwrap_or(&none);
        let mut newer = saving.range::<[u8], _>(range).peekable();
        let mut stored = self.rows.range(range.0, range.1).peekable();
        loop {
            let ahead = stored.next_if(Result::is_err);
            if let Some(Err(error)) = ahead {
                self.note::<()>(Err(error));
                return;
            }
            let keys = [
                newest.peek().map(|(key, _)| key.as_slice()),
                newer.peek().map(|(key, _)| key.as_slice()),
                stored.peek().and_then(|row| row.as_ref().ok()).map(|(key, _)| key.as_slice()),
            ];
            let Some(key) = keys.into_iter().flatten().min().map(<[u8]>::to_vec) else { return };
            // All three go on behind the key; the newest of them counts.
            let old = stored.next_if(|row| row.as_ref().is_ok_and(|(it, _)| *it == key));
            let new = newer.next_if(|(it, _)| **it == key).map(|(_, value)| value);
            let value = match newest.next_if(|(it, _)| **it == key).map(|(_, value)| value).or(new)
            {
                Some(value) => value.clone(),
                None => old.and_then(Result::ok).map(|(_, value)| value),
            };
            if let Some(value) = value {
                let Some(value) = self.decoded(&value) else { return };
                if !visit(&key, value) {
                    return;
                }
            }
        }
    }

    /// Takes the changes to be stored. They are still found, until [`ColdIndex::end_saving`].
    pub(super) fn begin_saving(&mut self) -> Arc<Changes> {
        let changes = Arc::new(std::mem::take(&mut self.changes));
        self.bytes = 0;
        self.saving = Some(changes.clone());
        changes
    }

    pub(super) fn end_saving(&mut self) {
        self.saving = None;
    }

    /// Takes back changes that could not be stored, below the changes that were made since.
    pub(super) fn resume(&mut self) {
        let Some(saving) = self.saving.take() else { return };
        let newer = std::mem::replace(&mut self.changes, Arc::unwrap_or_clone(saving));
        self.changes.extend(newer);
        self.bytes = self.changes.iter().map(|(key, value)| change_bytes(key.len(), value)).sum();
    }

    /// Stores the changes while the history is read. The index has no position until it is saved.
    pub(super) fn spill(&mut self) {
        let mut changes = std::mem::take(&mut self.changes);
        self.bytes = 0;
        changes.insert(Key::head().into_bytes(), None);
        self.note(self.rows.write(&changes));
    }
}

/// The approximate bytes of a change in memory.
fn change_bytes(key: usize, value: &Option<Vec<u8>>) -> usize {
    64 + key + value.as_ref().map_or(0, Vec::len)
}

#[cfg(test)]
mod tests;
